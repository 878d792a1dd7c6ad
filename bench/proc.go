package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// CPU time, memory and descriptors of processes and of the machine, from procfs. On a system without it
// everything is zero and the columns say so.

// A tick is the unit of /proc/pid/stat (USER_HZ, 100 on every Linux that Go runs on).
const tick = 10 * time.Millisecond

func processCPU(pid int) time.Duration {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	// the program's name may hold spaces; fields are counted from its closing bracket
	i := bytes.LastIndexByte(b, ')')
	if i < 0 {
		return 0
	}
	f := strings.Fields(string(b[i+2:]))
	user, _ := strconv.Atoi(f[11])
	system, _ := strconv.Atoi(f[12])
	return time.Duration(user+system) * tick
}

// threadCPU is the processor time of the calling thread.
func threadCPU() time.Duration {
	const thisThread = 1 // RUSAGE_THREAD, getrusage(2)
	var u syscall.Rusage
	if syscall.Getrusage(thisThread, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// statusKB reads one number of /proc/pid/status: VmRSS, VmHWM, Threads.
func statusKB(pid int, key string) int64 {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for l := range strings.Lines(string(b)) {
		if strings.HasPrefix(l, key+":") {
			v, _ := strconv.ParseInt(strings.Fields(l)[1], 10, 64)
			return v
		}
	}
	return 0
}

func descriptors(pid int) int {
	d, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	return len(d)
}

// resetPeak sets VmHWM back to VmRSS.
func resetPeak(pid int) {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0)
}

// machineCPU is the time all cores together were busy, and the time they had.
func machineCPU() (busy, total time.Duration) {
	b, _ := os.ReadFile("/proc/stat")
	first, _, _ := strings.Cut(string(b), "\n")
	f := strings.Fields(first)
	if len(f) < 9 {
		return 0, 1
	}
	for i, x := range f[1:9] {
		v, _ := strconv.Atoi(x)
		total += time.Duration(v) * tick
		if i != 3 && i != 4 { // idle, iowait
			busy += time.Duration(v) * tick
		}
	}
	return busy, total
}

// raiseFileLimit lets this process and its children have as many descriptors as the system allows.
func raiseFileLimit() {
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l) == nil {
		l.Cur = l.Max
		_ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &l)
	}
}
