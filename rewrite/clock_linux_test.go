package rewrite

import (
	"syscall"
	"time"
	"unsafe"
)

// clock is the processor time of this thread (CLOCK_THREAD_CPUTIME_ID, 3):
// what other processes take from the machine does not count.
func clock() time.Duration {
	var ts syscall.Timespec
	if _, _, e := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, 3, uintptr(unsafe.Pointer(&ts)), 0); e != 0 {
		return time.Duration(time.Now().UnixNano())
	}
	return time.Duration(ts.Nano())
}
