package route

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// network is a dial function over addresses that are up or down.
type network struct {
	mu    sync.Mutex
	up    map[string]bool
	hang  map[string]bool
	tried []string
	each  func(tried int)
}

var errDown = errors.New("connection refused")

func (n *network) dial(ctx context.Context, addr string) (net.Conn, error) {
	n.mu.Lock()
	n.tried = append(n.tried, addr)
	up, hang, tried := n.up[addr], n.hang[addr], len(n.tried)
	n.mu.Unlock()
	if n.each != nil {
		n.each(tried)
	}
	switch {
	case hang:
		<-ctx.Done()
		return nil, ctx.Err()
	case !up:
		return nil, errDown
	}
	c, far := net.Pipe()
	far.Close()
	return c, nil
}

func backend(t *testing.T, uris ...string) *Backend {
	t.Helper()
	be, err := newBackend(CatalogConfig{Name: "apache", URIs: uris})
	if err != nil {
		t.Fatal(err)
	}
	return be
}

func mustDial(t *testing.T, be *Backend, n *network, want string) {
	t.Helper()
	c, u, err := be.Dial(context.Background(), n.dial, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if u.Addr() != want {
		t.Errorf("connected to %s, want %s", u.Addr(), want)
	}
}

func TestDialOrder(t *testing.T) {
	be := backend(t, "thrift://a:1", "thrift://b:1", "c:1")
	n := &network{up: map[string]bool{"b:1": true, "c:1": true}}
	mustDial(t, be, n, "b:1")
	// a failed a moment ago: it is not tried first, although it is back.
	n.up["a:1"] = true
	mustDial(t, be, n, "b:1")
	if want := []string{"a:1", "b:1", "b:1"}; !slices.Equal(n.tried, want) {
		t.Errorf("tried: got %v, want %v", n.tried, want)
	}
	// It is tried last, and then counts as well again.
	n.up["b:1"], n.up["c:1"] = false, false
	mustDial(t, be, n, "a:1")
	mustDial(t, be, n, "a:1")
	if want := []string{"a:1", "b:1", "b:1", "b:1", "c:1", "a:1", "a:1"}; !slices.Equal(n.tried, want) {
		t.Errorf("tried: got %v, want %v", n.tried, want)
	}
	// A failure long ago is forgotten.
	u := be.URIs()[0]
	u.mu.Lock()
	u.failed = time.Now().Add(-2 * lately)
	u.mu.Unlock()
	if got := be.order(time.Now())[0]; got != u {
		t.Errorf("first in order: got %s, want %s", got.addr, u.addr)
	}
}

func TestDialRandom(t *testing.T) {
	be := backend(t, "a:1", "b:1", "c:1")
	be.random = true
	seen := map[string]bool{}
	for range 200 {
		order := be.order(time.Now())
		if len(order) != 3 {
			t.Fatalf("order of %d URIs, want 3", len(order))
		}
		seen[order[0].addr] = true
	}
	if len(seen) != 3 {
		t.Errorf("first ones: got %v, want each of three", seen)
	}
}

// A backend that comes back while there is patience is found.
func TestDialPatience(t *testing.T) {
	be := backend(t, "a:1", "b:1")
	n := &network{up: map[string]bool{}}
	n.each = func(tried int) {
		if tried == 4 {
			n.mu.Lock()
			n.up["a:1"] = true
			n.mu.Unlock()
		}
	}
	mustDial(t, be, n, "a:1")
	if want := []string{"a:1", "b:1", "a:1", "b:1", "a:1"}; !slices.Equal(n.tried, want) {
		t.Errorf("tried: got %v, want %v", n.tried, want)
	}
}

func TestDialUnreachable(t *testing.T) {
	be := backend(t, "a:1", "b:1")
	n := &network{}
	c, u, err := be.Dial(context.Background(), n.dial, 0)
	var de *DialError
	if c != nil || u != nil || !errors.As(err, &de) || !errors.Is(err, errDown) {
		t.Fatalf("got %v, %v, %v", c, u, err)
	}
	want := "catalog 'apache': no metastore reachable: a:1: connection refused; b:1: connection refused"
	if err.Error() != want || de.Catalog != "apache" || len(de.Causes) != 2 {
		t.Errorf("got %q, want %q", err, want)
	}
	if len(n.tried) != 2 {
		t.Errorf("tried %v, want each once", n.tried)
	}
}

// One that hangs leaves the next its share of the time.
func TestDialHanging(t *testing.T) {
	be := backend(t, "a:1", "b:1")
	n := &network{up: map[string]bool{"b:1": true}, hang: map[string]bool{"a:1": true}}
	c, u, err := be.Dial(context.Background(), n.dial, 10*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if u.Addr() != "b:1" {
		t.Errorf("connected to %s, want b:1", u.Addr())
	}
}

func TestDialCancelled(t *testing.T) {
	be := backend(t, "a:1")
	ctx, cancel := context.WithCancel(context.Background())
	n := &network{each: func(int) { cancel() }}
	if _, _, err := be.Dial(ctx, n.dial, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context canceled in it", err)
	}
	ctx, cancel = context.WithCancel(context.Background())
	n = &network{hang: map[string]bool{"a:1": true}, each: func(int) { cancel() }}
	_, _, err := be.Dial(ctx, n.dial, time.Hour)
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "catalog 'apache'") {
		t.Errorf("got %v, want context canceled and the catalog in it", err)
	}
}

func TestProfile(t *testing.T) {
	u := backend(t, "a:1").URIs()[0]
	if label, epoch := u.Profile(); label != "" || epoch != 0 {
		t.Errorf("at first: got %q, %d", label, epoch)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := u.AwaitProfile(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("bounded wait: got %v, want context canceled", err)
	}
	got := make(chan string)
	for range 2 {
		go func() {
			label, _, err := u.AwaitProfile(context.Background())
			if err != nil {
				label = err.Error()
			}
			got <- label
		}()
	}
	u.SetProfile("3.1.3")
	for range 2 {
		if label := <-got; label != "3.1.3" {
			t.Errorf("waiter: got %q, want 3.1.3", label)
		}
	}
	_, before := u.Profile()
	u.SetProfile("3.1.3")
	if _, same := u.Profile(); same != before {
		t.Errorf("same profile: epoch %d became %d", before, same)
	}
	u.SetProfile("4.1.0")
	if label, after := u.Profile(); label != "4.1.0" || after == before {
		t.Errorf("other profile: got %q, epoch %d as before", label, after)
	}
}

// Dialling for real: a port that nobody listens on, then one that does.
func TestDialTCP(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	open, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	closed.Close()
	be := backend(t, "thrift://"+closed.Addr().String(), "thrift://"+open.Addr().String())
	var d net.Dialer
	c, u, err := be.Dial(context.Background(), func(ctx context.Context, addr string) (net.Conn, error) {
		return d.DialContext(ctx, "tcp", addr)
	}, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if u.Addr() != open.Addr().String() {
		t.Errorf("connected to %s, want %s", u.Addr(), open.Addr())
	}
	srv, err := open.Accept()
	if err != nil {
		t.Fatal(err)
	}
	srv.Close()
	if _, err := c.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("read: got %v, want EOF", err)
	}
}
