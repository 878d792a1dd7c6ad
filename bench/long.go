package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// A slowReader gives at most a number of bytes a second.
type slowReader struct {
	r     io.Reader
	rate  int64
	began time.Time
	read  int64
}

func (s *slowReader) Read(p []byte) (int, error) {
	if s.began.IsZero() {
		s.began = time.Now()
	}
	due := time.Duration(float64(s.read) / float64(s.rate) * float64(time.Second))
	time.Sleep(due - time.Since(s.began))
	n, err := s.r.Read(p[:min(len(p), 64<<10)])
	s.read += int64(n)
	return n, err
}

// A haul is one long reply.
type haul struct {
	target       string
	bytes        int64
	elapsed, cpu time.Duration
	before, peak int64 // resident KB
	after        int64
	err          error
}

// long fetches one reply, at most rate bytes a second when rate is not 0. Its names are not looked at, since a client
// that walks is slower than any proxy; its length is that of a reply with every name changed.
func long(t target, l load, rate int64) haul {
	r := makeReply(l)
	h := haul{target: t.name, bytes: r.size() + int64(r.names()*(len(t.db)-len(dataDB)))}
	c, err := net.Dial("tcp", t.addr)
	if err == nil {
		err = c.SetDeadline(time.Now().Add(10 * time.Minute))
	}
	if err != nil {
		h.err = err
		return h
	}
	defer c.Close()
	k := t.caller(c, l, h.bytes)
	if rate > 0 {
		k.r = &slowReader{r: c, rate: rate}
	}
	resetPeak(t.pid)
	h.before, h.cpu = statusKB(t.pid, "VmRSS"), processCPU(t.pid)
	at := time.Now()
	h.err = k.once()
	h.elapsed, h.cpu = time.Since(at), processCPU(t.pid)-h.cpu
	h.peak, h.after = statusKB(t.pid, "VmHWM"), statusKB(t.pid, "VmRSS")
	return h
}

// A crowd is many connections that were served once and then stay.
type crowd struct {
	target       string
	served, of   int
	before, with int64 // resident KB
	threads      int64
	err          error
}

func (c crowd) each() float64 { return float64(c.with-c.before) / float64(max(c.served, 1)) }

// hold opens n connections, makes one call on each and keeps them; it ends early after three failures in a row.
// The returned function closes them.
func hold(t target, n int, wait time.Duration) (crowd, func()) {
	h := crowd{target: t.name, of: n, before: statusKB(t.pid, "VmRSS")}
	var conns []net.Conn
	for i, bad := 0, 0; i < n && bad < 3; i++ {
		c, err := net.DialTimeout("tcp", t.addr, wait)
		if err == nil {
			conns = append(conns, c)
			_, err = t.probeOn(c, loads[1], wait)
		}
		if err != nil {
			if bad++; h.err == nil {
				h.err = fmt.Errorf("connection %d: %w", i+1, err)
			}
			continue
		}
		h.served, bad = h.served+1, 0
	}
	h.with, h.threads = statusKB(t.pid, "VmRSS"), statusKB(t.pid, "Threads")
	return h, func() {
		for _, c := range conns {
			c.Close()
		}
	}
}

// A rush is connect + call + close, again and again.
type rush struct {
	calls, failed int64
	elapsed, cpu  time.Duration
}

func (r rush) rate() float64 { return float64(r.calls) / r.elapsed.Seconds() }

func short(t target, conns int, dur time.Duration) (r rush) {
	var stop atomic.Bool
	var good, bad atomic.Int64
	var wg sync.WaitGroup
	cpu, at := processCPU(t.pid), time.Now()
	timer := time.AfterFunc(dur, func() { stop.Store(true) })
	defer timer.Stop()
	for range conns {
		wg.Go(func() {
			for !stop.Load() {
				if shortCall(t) == nil {
					good.Add(1)
				} else {
					bad.Add(1)
				}
			}
		})
	}
	wg.Wait()
	return rush{good.Load(), bad.Load(), time.Since(at), processCPU(t.pid) - cpu}
}

func shortCall(t target) error {
	c, err := net.DialTimeout("tcp", t.addr, 5*time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	// Closing with a reset leaves no TIME_WAIT behind, of which a minute of this would exhaust the ports.
	if err := c.(*net.TCPConn).SetLinger(0); err != nil {
		return err
	}
	_, err = t.probeOn(c, loads[1], 5*time.Second)
	return err
}

// spin keeps every core out of its idle state without taking time from anybody: SCHED_IDLE runs only when
// nothing else wants to. It ends with the process.
func spin() {
	const schedIdle = 5
	for range runtime.NumCPU() {
		go func() {
			runtime.LockOSThread()
			var priority int32
			_, _, _ = syscall.RawSyscall(syscall.SYS_SCHED_SETSCHEDULER, 0, schedIdle, uintptr(unsafe.Pointer(&priority)))
			_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, 19)
			for {
				_ = priority
			}
		}()
	}
	s := make(chan os.Signal, 1)
	signal.Notify(s, os.Interrupt, syscall.SIGTERM)
	<-s
}
