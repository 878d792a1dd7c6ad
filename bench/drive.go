package main

import (
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A turn is what one target did while its turn lasted.
type turn struct {
	calls     int64
	elapsed   time.Duration
	p50, p99  time.Duration
	cpu       time.Duration // of the target's process
	strangers float64       // share of the machine used by processes that are not ours
	err       error
}

func (t turn) rate() float64 { return float64(t.calls) / t.elapsed.Seconds() }

// drive keeps conns connections calling for dur. ours are the processes that belong to the measurement.
func drive(t target, l load, conns int, dur time.Duration, want int64, ours []int) (r turn) {
	callers := make([]*caller, conns)
	for i := range callers {
		c, err := net.Dial("tcp", t.addr)
		if err != nil {
			return turn{err: err}
		}
		defer c.Close()
		callers[i] = t.caller(c, l, want)
	}
	// Each connection makes one call outside the clock: backends are dialled, buffers grow.
	if r.err = together(callers, (*caller).once); r.err != nil {
		return r
	}
	var stop atomic.Bool
	var mu sync.Mutex
	var all []time.Duration
	m := startMeter(t.pid, ours)
	timer := time.AfterFunc(dur, func() { stop.Store(true) })
	defer timer.Stop()
	r.err = together(callers, func(k *caller) error {
		own := make([]time.Duration, 0, 1<<12)
		var err error
		for at := time.Now(); err == nil && !stop.Load(); {
			err = k.once()
			now := time.Now()
			own = append(own, now.Sub(at))
			at = now
		}
		mu.Lock()
		defer mu.Unlock()
		all = append(all, own...)
		return err
	})
	r.elapsed, r.cpu, r.strangers = m.stop()
	slices.Sort(all)
	if r.calls = int64(len(all)); r.calls > 0 {
		r.p50, r.p99 = all[len(all)/2], all[len(all)*99/100]
	}
	return r
}

// together runs f for each caller at once and returns the first error.
func together(callers []*caller, f func(*caller) error) error {
	errs := make(chan error, len(callers))
	for _, k := range callers {
		go func() { errs <- f(k) }()
	}
	var first error
	for range callers {
		if err := <-errs; first == nil {
			first = err
		}
	}
	return first
}

// A meter takes the difference of the procfs counters over a turn.
type meter struct {
	pid                    int
	ours                   []int
	began                  time.Time
	cpu, own, busy, whole0 time.Duration
}

func startMeter(pid int, ours []int) *meter {
	m := &meter{pid: pid, ours: ours}
	m.cpu, m.own = processCPU(pid), m.ownCPU()
	m.busy, m.whole0 = machineCPU()
	m.began = time.Now()
	return m
}

func (m *meter) ownCPU() (d time.Duration) {
	for _, p := range m.ours {
		d += processCPU(p)
	}
	return d + processCPU(os.Getpid())
}

func (m *meter) stop() (elapsed, cpu time.Duration, strangers float64) {
	elapsed = time.Since(m.began)
	busy, whole := machineCPU()
	if whole > m.whole0 {
		strangers = max(0, float64((busy-m.busy)-(m.ownCPU()-m.own))/float64(whole-m.whole0))
	}
	return elapsed, processCPU(m.pid) - m.cpu, strangers
}

func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(v))
	return s[len(s)/2]
}
