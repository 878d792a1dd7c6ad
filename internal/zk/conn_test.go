package zk_test

import (
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hmsgate/internal/wiretest"
	"hmsgate/internal/zk"
	"hmsgate/internal/zk/zktest"
)

func TestMain(m *testing.M) { wiretest.CheckLeaks(m) }

const patience = 20 * time.Second

func open(t *testing.T, addr string, change func(*zk.Options)) *zk.Conn {
	t.Helper()
	o := zk.Options{Servers: []string{addr}, ConnectTimeout: patience, SessionTimeout: patience, BaseSleep: time.Millisecond, MaxRetries: 3}
	if change != nil {
		change(&o)
	}
	c, err := zk.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestCalls(t *testing.T) { zktest.Calls(t, open(t, zktest.New(t).Addr(), nil), "/deep/er") }

func TestConnectionLost(t *testing.T) {
	s := zktest.New(t)
	c := open(t, s.Addr(), nil)
	if err := c.Multi(zk.Create("/a", nil)); err != nil {
		t.Fatal(err)
	}
	s.Drop()
	if _, _, err := c.Get("/a"); err != nil {
		t.Errorf("a read over a broken connection: %v, want it asked again", err)
	}
	if n := s.Sessions(); n != 1 {
		t.Errorf("%d sessions, want the first to go on", n)
	}
	s.Expire()
	if _, _, err := c.Get("/a"); err != nil {
		t.Errorf("a read after the session's end: %v", err)
	}
	if n := s.Sessions(); n != 2 {
		t.Errorf("%d sessions, want a second", n)
	}
	s.Down()
	s.Up()
	if _, _, err := c.Get("/a"); err != nil {
		t.Errorf("a read after a restart: %v", err)
	}
}

// A write whose answer is lost is not done again: what became of it is unknown.
func TestAnswerLost(t *testing.T) {
	s := zktest.New(t)
	c := open(t, s.Addr(), nil)
	if err := c.Multi(zk.Create("/a", nil)); err != nil {
		t.Fatal(err)
	}
	s.LoseAnswer()
	if err := c.Multi(zk.Set("/a", []byte("new"), 0)); !errors.Is(err, zk.ErrUnavailable) {
		t.Errorf("got %v, want it unavailable", err)
	}
	if data, v, err := c.Get("/a"); err != nil || string(data) != "new" || v != 1 {
		t.Errorf("got %q of version %d, %v, want it done once", data, v, err)
	}
}

// A server that is away fails calls in bounded time, after the connect timeout
// at once, and comes back.
func TestAway(t *testing.T) {
	s := zktest.New(t)
	s.Down()
	var mu sync.Mutex
	var told []bool
	up := make(chan struct{})
	c := open(t, s.Addr(), func(o *zk.Options) {
		o.ConnectTimeout = 50 * time.Millisecond
		o.Changed = func(err error) {
			mu.Lock()
			defer mu.Unlock()
			if told = append(told, err == nil); len(told) == 1 {
				close(up)
			}
		}
	})
	for range 3 {
		_, _, err := c.Get("/a")
		if !errors.Is(err, zk.ErrUnavailable) || !strings.Contains(err.Error(), "get /a") {
			t.Fatalf("got %v, want it unavailable", err)
		}
	}
	if err := c.Multi(zk.Create("/a", nil)); !errors.Is(err, zk.ErrUnavailable) || !strings.Contains(err.Error(), s.Addr()) {
		t.Errorf("got %v, want it unavailable, with the server's address", err)
	}
	if c.Err() == nil || c.Session() == nil {
		t.Error("there is a session with a server that is down")
	}
	s.Up()
	select {
	case <-up:
	case <-time.After(patience):
		t.Fatal("no session after the server came back")
	}
	if err := c.Err(); err != nil {
		t.Errorf("got %v, want a session", err)
	}
	mu.Lock()
	defer mu.Unlock()
	if !slices.Equal(told, []bool{true}) {
		t.Errorf("told %v, want once that a session came up", told)
	}
}

// A server that takes calls and never answers.
func TestMute(t *testing.T) {
	s := zktest.New(t)
	c := open(t, s.Addr(), func(o *zk.Options) { o.ConnectTimeout = 2 * time.Second })
	if err := c.Multi(zk.Create("/a", nil)); err != nil {
		t.Fatal(err)
	}
	s.Mute(true)
	var calls sync.WaitGroup
	for what, call := range map[string]func() error{
		"get":    func() error { _, _, err := c.Get("/a"); return err },
		"list":   func() error { _, err := c.Children("/a"); return err },
		"sync":   func() error { return c.Fresh("/a") },
		"delete": func() error { return c.Multi(zk.Delete("/a", -1)) },
	} {
		calls.Go(func() {
			if err := call(); !errors.Is(err, zk.ErrUnavailable) {
				t.Errorf("%s: got %v, want it unavailable", what, err)
			}
		})
	}
	calls.Wait()
}

// One that accepts connections and says nothing at all.
func TestSilentServer(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	c := open(t, ln.Addr().String(), func(o *zk.Options) { o.ConnectTimeout = 50 * time.Millisecond })
	if _, err := c.Children("/"); !errors.Is(err, zk.ErrUnavailable) {
		t.Errorf("got %v, want it unavailable", err)
	}
}

// A server that is starting accepts a connection and forgets it.
func TestServerStarts(t *testing.T) {
	s := zktest.New(t)
	s.Ignore(1)
	c := open(t, s.Addr(), func(o *zk.Options) { o.ConnectTimeout = 4 * time.Second })
	if err := c.Multi(zk.Create("/a", nil)); err != nil {
		t.Errorf("got %v, want the second connection to do", err)
	}
}

func TestSecondServer(t *testing.T) {
	away, s := zktest.New(t), zktest.New(t)
	away.Down()
	c := open(t, s.Addr(), func(o *zk.Options) { o.Servers = []string{away.Addr(), "no-such-host.invalid:1", s.Addr()} })
	if err := c.Multi(zk.Create("/a", nil)); err != nil {
		t.Error(err)
	}
}

// Reads may lag behind what others have written, until Fresh.
func TestFresh(t *testing.T) {
	s := zktest.New(t)
	a, b := open(t, s.Addr(), nil), open(t, s.Addr(), nil)
	if _, err := b.Children("/"); err != nil {
		t.Fatal(err)
	}
	s.Lag(true)
	if err := a.Multi(zk.Create("/a", nil)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.Get("/a"); !errors.Is(err, zk.ErrNoNode) {
		t.Fatalf("got %v, want a view that lags", err)
	}
	if err := b.Fresh("/"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.Get("/a"); err != nil {
		t.Errorf("after Fresh: %v", err)
	}
}

func TestACL(t *testing.T) {
	s := zktest.New(t)
	sum := sha1.Sum([]byte("gate:secret"))
	acl, err := zk.ParseACL(fmt.Sprintf("digest:gate:%s:cdrwa", base64.StdEncoding.EncodeToString(sum[:])))
	if err != nil {
		t.Fatal(err)
	}
	own := open(t, s.Addr(), func(o *zk.Options) { o.ACL, o.Digest = acl, "gate:secret" })
	other := open(t, s.Addr(), nil)
	if err := own.Multi(zk.Create("/a", nil)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := other.Get("/a"); !errors.Is(err, zk.ErrAccess) {
		t.Errorf("somebody else: got %v, want no access", err)
	}
	s.Expire()
	if _, _, err := own.Get("/a"); err != nil {
		t.Errorf("after a new session: %v, want it authenticated again", err)
	}
}

func TestParseACL(t *testing.T) {
	for text, want := range map[string]string{
		"sasl:hive/h@R:cdrwa, world:anyone:r": "", "digest:u:h=:rw": "", "": "is empty", "world": "scheme:id:perms",
		"world:anyone": "scheme:id:perms", "world:anyone:x": "permission other", "world:anyone:": "without permissions",
	} {
		_, err := zk.ParseACL(text)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

func TestServers(t *testing.T) {
	for _, c := range []struct {
		in, servers, root, err string
	}{
		{"a:1, b/x/y", "a:1 b:2181", "/x/y", ""},
		{"[::1]:5", "[::1]:5", "", ""},
		{"[::1]", "[::1]:2181", "", ""},
		{"a/", "a:2181", "", ""},
		{"", "", "", "no server"},
		{"/x", "", "", "no server"},
		{"a:1:2", "", "", "not host:port"},
		{":1", "", "", "not host:port"},
		{"a//x", "", "", "no node's name"},
		{"a/../x", "", "", "no node's name"},
	} {
		servers, root, err := zk.Servers(c.in)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q: got %v, want %q", c.in, err, c.err)
			}
			continue
		}
		if got := strings.Join(servers, " "); err != nil || got != c.servers || root != c.root {
			t.Errorf("%q: got %q, %q, %v", c.in, got, root, err)
		}
	}
}

func TestClosed(t *testing.T) {
	c := open(t, zktest.New(t).Addr(), nil)
	if err := c.Multi(zk.Create("/a", nil)); err != nil {
		t.Fatal(err)
	}
	c.Close()
	if _, _, err := c.Get("/a"); !errors.Is(err, zk.ErrUnavailable) {
		t.Errorf("got %v, want it unavailable", err)
	}
}
