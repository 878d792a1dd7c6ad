package locks_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"hmsgate/internal/locks"
	"hmsgate/internal/locks/storetest"
	"hmsgate/internal/zk"
	"hmsgate/internal/zk/zktest"
)

func TestMemory(t *testing.T) {
	var m *locks.Memory
	storetest.Run(t, func(*testing.T) { m = locks.NewMemory() }, func(*testing.T) locks.Store { return m })
}

func connect(t *testing.T, s *zktest.Server) *zk.Conn {
	t.Helper()
	c, err := zk.Open(zk.Options{Servers: []string{s.Addr()}, ConnectTimeout: 20 * time.Second, SessionTimeout: 20 * time.Second,
		BaseSleep: time.Millisecond, MaxRetries: 3})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func newStore(t *testing.T, s *zktest.Server, gateway string) *locks.ZooKeeper {
	t.Helper()
	return locks.NewZooKeeper(connect(t, s), "/gate/locks", gateway, zerolog.Nop())
}

func TestZooKeeper(t *testing.T) {
	var s *zktest.Server
	storetest.Run(t, func(t *testing.T) { s = zktest.New(t); s.Lag(true) }, func(t *testing.T) locks.Store { return newStore(t, s, "g") })
	storetest.Bounded(t, newStore(t, zktest.New(t), "g"))
}

// The layout, as doc.go and zookeeper.go have it; another format is another path.
func TestZooKeeperLayout(t *testing.T) {
	s := zktest.New(t)
	z := newStore(t, s, "g")
	one, two := locks.Lock{ID: 7, Txn: 5, By: "i", Mirrors: []locks.Mirror{{Catalog: "a", ID: 3, Acquired: true}}}, locks.Lock{ID: 8, Txn: 5}
	for _, l := range []*locks.Lock{&one, &two} {
		if err := z.Put(l); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := z.Next(); n != 1 || err != nil {
		t.Errorf("next: got %d, %v", n, err)
	}
	want := map[string]string{"/": "", "/gate": "", "/gate/locks": "", "/gate/locks/v1": `{"format":1,"gateway":"g"}`,
		"/gate/locks/v1/locks": "", "/gate/locks/v1/txns": "", "/gate/locks/v1/next": "65",
		"/gate/locks/v1/locks/7": `{"id":7,"txn":5,"by":"i","mirrors":[{"catalog":"a","id":3,"acquired":true}]}`,
		"/gate/locks/v1/locks/8": `{"id":8,"txn":5}`, "/gate/locks/v1/txns/5": "", "/gate/locks/v1/txns/5/7": "", "/gate/locks/v1/txns/5/8": ""}
	got := s.Paths()
	for p, data := range want {
		if d, ok := got[p]; !ok || d != data {
			t.Errorf("%s: got %q, %v, want %q", p, d, ok, data)
		}
		delete(got, p)
	}
	if len(got) != 0 {
		t.Errorf("more than wanted: %q", got)
	}
	for _, l := range []locks.Lock{one, two} {
		if err := z.Delete(l); err != nil {
			t.Error(err)
		}
	}
	if _, there := s.Paths()["/gate/locks/v1/txns/5"]; there {
		t.Error("the transaction's node is left")
	}
}

// Lock ids mean something at one set of metastores only.
func TestZooKeeperOfAnotherGateway(t *testing.T) {
	s := zktest.New(t)
	if err := newStore(t, s, "one").Put(&locks.Lock{ID: 1}); err != nil {
		t.Fatal(err)
	}
	other := newStore(t, s, "two")
	for what, err := range map[string]error{"put": other.Put(&locks.Lock{ID: 2}), "admit": other.Admit(locks.Lock{ID: 2}),
		"get": func() error { _, _, err := other.Get(1); return err }()} {
		if err == nil || !strings.Contains(err.Error(), "another gateway's") {
			t.Errorf("%s: got %v, want it refused", what, err)
		}
	}
}

// A put whose answer was lost is known to nobody; read again, it was made once.
func TestZooKeeperAnswerLost(t *testing.T) {
	s := zktest.New(t)
	z := newStore(t, s, "g")
	l := locks.Lock{ID: 1, Txn: 2}
	if err := z.Put(&l); err != nil {
		t.Fatal(err)
	}
	l.By = "changed"
	s.LoseAnswer()
	if err := z.Put(&l); !errors.Is(err, zk.ErrUnavailable) || errors.Is(err, locks.ErrConflict) {
		t.Errorf("got %v, want it unavailable", err)
	}
	if got, ok, err := z.Get(1); err != nil || !ok || got.By != "changed" || got.Rev != l.Rev+1 {
		t.Errorf("got %+v, %v, %v", got, ok, err)
	}
	if err := z.Put(&l); !errors.Is(err, locks.ErrConflict) {
		t.Errorf("again: got %v, want a conflict", err)
	}
}

// What cannot be read is named, and keeps nobody from the rest.
func TestZooKeeperOddNodes(t *testing.T) {
	s := zktest.New(t)
	z, c := newStore(t, s, "g"), connect(t, s)
	if err := z.Put(&locks.Lock{ID: 1}); err != nil {
		t.Fatal(err)
	}
	at := "/gate/locks/v1/locks/"
	if err := c.Multi(zk.Create(at+"2", []byte("{")), zk.Create(at+"3", []byte(`{"id":4}`)), zk.Create(at+"x", nil),
		zk.Create(at+"5", []byte(`{"id":5,"later":1}`))); err != nil {
		t.Fatal(err)
	}
	list, err := z.All()
	if err != nil || len(list) != 1 || list[0].ID != 1 {
		t.Errorf("got %v, %v, want lock 1", list, err)
	}
	for _, id := range []int64{2, 3, 5} {
		if _, ok, err := z.Get(id); ok || err == nil || !strings.Contains(err.Error(), "cannot be read") {
			t.Errorf("lock %d: got %v, %v, want that it cannot be read", id, ok, err)
		}
	}
}

// An operator removes the store: what it had is lost, which is an error and no
// empty list, and it can be used again.
func TestZooKeeperRemoved(t *testing.T) {
	s := zktest.New(t)
	z, c := newStore(t, s, "g"), connect(t, s)
	if _, err := z.Next(); err != nil {
		t.Fatal(err)
	}
	remove := func() {
		at := "/gate/locks/v1"
		for _, p := range []string{"/locks", "/txns", "/next", ""} {
			if err := c.Multi(zk.Delete(at+p, -1)); err != nil {
				t.Fatal(err)
			}
		}
	}
	remove()
	if list, err := z.All(); err == nil || !strings.Contains(err.Error(), "removed") {
		t.Errorf("all: got %v, %v, want an error", list, err)
	}
	if list, err := z.All(); err != nil || len(list) != 0 {
		t.Errorf("all, again: got %v, %v", list, err)
	}
	remove()
	l := locks.Lock{ID: 1, Txn: 1}
	if err := z.Put(&l); err == nil || errors.Is(err, locks.ErrConflict) {
		t.Errorf("put: got %v, want an error that is no conflict", err)
	}
	if err := z.Put(&l); err != nil {
		t.Errorf("put, again: %v", err)
	}
}

func TestZooKeeperAway(t *testing.T) {
	s := zktest.New(t)
	c, err := zk.Open(zk.Options{Servers: []string{s.Addr()}, ConnectTimeout: 50 * time.Millisecond, SessionTimeout: time.Second,
		BaseSleep: time.Millisecond, MaxRetries: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	z := locks.NewZooKeeper(c, "/l", "g", zerolog.Nop())
	l := locks.Lock{ID: 1}
	s.Down()
	_, _, get := z.Get(1)
	_, of := z.OfTxn(1)
	_, all := z.All()
	_, next := z.Next()
	for i, err := range slices.Concat([]error{get, of, all, next}, []error{z.Put(&l), z.Delete(l), z.Admit(l)}) {
		if !errors.Is(err, zk.ErrUnavailable) || errors.Is(err, locks.ErrConflict) {
			t.Errorf("call %d: got %v, want it unavailable", i, err)
		}
	}
}
