package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"hmsgate/internal/locks"
	"hmsgate/internal/locks/storetest"
	"hmsgate/internal/wiretest"
	"hmsgate/internal/zk"
	"hmsgate/internal/zk/zktest"
)

// TestRealPeersZooKeeper runs what the tests of the lock store want of a server
// against a real one, which is also killed and started again. What it needs and
// when it may be left out is as for TestRealPeers.
func TestRealPeersZooKeeper(t *testing.T) {
	missing := missingTools()
	if testing.Short() {
		missing = "-short"
	}
	if missing != "" {
		leaveOut(t, missing)
	}
	root, err := wiretest.Root()
	if err != nil {
		t.Fatal(err)
	}
	p := &peers{rig: filepath.Join(root, "testdata", "rig"), env: os.Environ()}
	p.fetch(t, "zookeeper", "fetch")
	s := &realZooKeeper{t: t, run: filepath.Join(p.rig, "zookeeper"), dir: t.TempDir()}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.addr = ln.Addr().String()
	ln.Close()
	s.start()
	t.Cleanup(s.stop)

	t.Run("calls", func(t *testing.T) { zktest.Calls(t, s.open(t), "/calls/below") })
	t.Run("store", func(t *testing.T) {
		n := 0
		storetest.Run(t, func(*testing.T) { n++ }, func(t *testing.T) locks.Store { return s.store(t, fmt.Sprintf("/store/%d", n)) })
		storetest.Bounded(t, s.store(t, "/bounded"))
	})
	t.Run("restart", func(t *testing.T) {
		z := s.store(t, "/restart")
		l := locks.Lock{ID: 1, Txn: 2}
		if err := z.Put(&l); err != nil {
			t.Fatal(err)
		}
		s.stop()
		s.start()
		if got, ok, err := z.Get(1); err != nil || !ok || got.Rev != l.Rev {
			t.Errorf("after a restart: got %+v, %v, %v", got, ok, err)
		}
		l.By = "again"
		if err := z.Put(&l); err != nil {
			t.Errorf("a change after a restart: %v", err)
		}
	})
	t.Run("ACL", func(t *testing.T) {
		acl, err := zk.ParseACL("digest:gate:l95T0T/2EvGR8SnqoqMf9oyZutE=:cdrwa") // base64(sha1("gate:secret"))
		if err != nil {
			t.Fatal(err)
		}
		own := s.open(t, func(o *zk.Options) { o.ACL, o.Digest = acl, "gate:secret" })
		if err := own.Multi(zk.Create("/own", []byte("x"))); err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.open(t).Get("/own"); err == nil {
			t.Error("somebody else could read it")
		}
		s.stop()
		s.start()
		if data, _, err := own.Get("/own"); err != nil || string(data) != "x" {
			t.Errorf("after a restart: got %q, %v", data, err)
		}
	})
}

type realZooKeeper struct {
	t              *testing.T
	run, dir, addr string
	cmd            *exec.Cmd
}

func (s *realZooKeeper) start() {
	s.t.Helper()
	_, port, _ := net.SplitHostPort(s.addr)
	s.cmd = exec.Command(s.run, "run", "--dir", s.dir, "--port", port, "--while", strconv.Itoa(os.Getpid()))
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); ; <-time.After(50 * time.Millisecond) {
		c, err := net.Dial("tcp", s.addr)
		if err == nil {
			c.Close()
			return
		}
		if time.Now().After(end) {
			s.t.Fatalf("ZooKeeper did not come up: %v", err)
		}
	}
}

// stop kills it: what it has confirmed must be there after that.
func (s *realZooKeeper) stop() {
	if s.cmd != nil {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		s.cmd = nil
	}
}

func (s *realZooKeeper) open(t *testing.T, change ...func(*zk.Options)) *zk.Conn {
	t.Helper()
	o := zk.Options{Servers: []string{s.addr}, ConnectTimeout: time.Minute, SessionTimeout: 20 * time.Second,
		BaseSleep: 100 * time.Millisecond, MaxRetries: 5}
	for _, f := range change {
		f(&o)
	}
	c, err := zk.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func (s *realZooKeeper) store(t *testing.T, root string) locks.Store {
	return locks.NewZooKeeper(s.open(t), root, "g", zerolog.Nop())
}
