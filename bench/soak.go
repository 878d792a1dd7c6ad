package main

import (
	"flag"
	"fmt"
	"os"
	"time"
)

// Limits of the soak, all on the gateway's process.
const (
	mayGrowKB  = 2 << 10 // resident memory, while 1 GB passes
	mayKeepKB  = 4 << 10 // resident memory, after thousands of short connections
	idleMostKB = 24      // an idle client with its backend connection
	slowRate   = 200_000_000
)

// soak puts a gateway under long and wide load and fails on memory, descriptors and wrong replies.
func soak(args []string) error {
	fs := flag.NewFlagSet("soak", flag.ExitOnError)
	gateway := fs.String("gateway", "bin/hmsgate", "the hmsgate program")
	clients := fs.Int("clients", idleClients, "idle clients")
	if err := fs.Parse(args); err != nil {
		return err
	}
	raiseFileLimit()
	dir, err := os.MkdirTemp("", "hmsgate-soak-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	f := &fleet{dir: dir}
	defer f.stop()
	backend, _, err := f.self("backend", "127.0.0.1:0")
	if err != nil {
		return err
	}
	addr, pid, err := f.gateway(*gateway, backend)
	if err != nil {
		return err
	}
	s := &soaker{t: target{name: renaming, addr: addr, db: renamed, pid: pid}}
	if err := warm(s.t); err != nil {
		return err
	}
	s.long("1 GB, every name changed", 0)
	s.long("the same, read at 200 MB/s", slowRate)
	s.names()
	s.short()
	s.idle(*clients)
	if s.failed > 0 {
		return fmt.Errorf("soak: %d checks failed", s.failed)
	}
	fmt.Println("soak: all within the limits")
	return nil
}

type soaker struct {
	t      target
	failed int
}

func (s *soaker) check(name string, good bool, format string, args ...any) {
	word := "ok    "
	if !good {
		word, s.failed = "FAILED", s.failed+1
	}
	fmt.Printf("%s %s: %s\n", word, name, fmt.Sprintf(format, args...))
}

func (s *soaker) long(name string, rate int64) {
	h := long(s.t, longLoad, rate)
	if h.err != nil {
		s.check(name, false, "%v", h.err)
		return
	}
	grown := h.peak - h.before
	s.check(name, grown <= mayGrowKB, "resident memory grew by %d KB (limit %d), %d MB in %s, %.0f MB/s",
		grown, mayGrowKB, h.bytes/1e6, short3(h.elapsed), float64(h.bytes)/h.elapsed.Seconds()/1e6)
}

// names walks the reply of 1 GB and counts.
func (s *soaker) names() {
	p, err := s.t.probe(longLoad, 10*time.Minute)
	want := makeReply(longLoad).names()
	s.check("1 GB, walked", err == nil && p.renamed == want && p.plain == 0,
		"%d names changed, want %d; %d left, want 0; error: %v", p.renamed, want, p.plain, err)
}

// short connects, calls and closes for a while; nothing may stay behind.
func (s *soaker) short() {
	short(s.t, 16, time.Second)
	fds, rss := s.settledFDs(0), statusKB(s.t.pid, "VmRSS")
	r := short(s.t, 16, 3*time.Second)
	s.check("connect + call + close", r.failed == 0 && r.calls > 0, "%d calls, %d failed, %.0f a second", r.calls, r.failed, r.rate())
	after := s.settledFDs(fds)
	grown := statusKB(s.t.pid, "VmRSS") - rss
	s.check("connect + call + close", after <= fds, "%d descriptors after, %d before", after, fds)
	s.check("connect + call + close", grown <= mayKeepKB, "resident memory grew by %d KB (limit %d)", grown, mayKeepKB)
}

func (s *soaker) idle(n int) {
	fds := s.settledFDs(0)
	h, end := hold(s.t, n, 5*time.Second)
	s.check("idle clients", h.served == n, "%d of %d served, first failure: %v", h.served, n, h.err)
	s.check("idle clients", h.each() <= idleMostKB, "%.1f KB each with its backend connection (limit %d)", h.each(), idleMostKB)
	end()
	after := s.settledFDs(fds)
	s.check("idle clients", after <= fds, "%d descriptors after they left, %d before", after, fds)
}

// settledFDs waits until the gateway has at most want descriptors, or their number has stopped falling.
func (s *soaker) settledFDs(want int) int {
	last := descriptors(s.t.pid)
	for still := 0; last > want && still < 10; still++ {
		time.Sleep(100 * time.Millisecond)
		if n := descriptors(s.t.pid); n != last {
			last, still = n, 0
		}
	}
	return last
}
