package answer_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"hmsgate/internal/config"
	"hmsgate/internal/gateway"
	"hmsgate/internal/hms"
	"hmsgate/internal/memhms"
	"hmsgate/internal/wiretest"
	"hmsgate/profiles"
)

func TestMain(m *testing.M) { wiretest.CheckLeaks(m) }

const patience = 20 * time.Second

// seen is a call that a metastore got.
type seen struct {
	conn   int
	method string
	args   hms.Struct
}

// store is an in-memory metastore that remembers what it was asked.
type store struct {
	*memhms.Server
	addr string
	done chan struct{}
	mu   sync.Mutex
	all  []seen
}

// newStore serves a metastore with the databases of Demo.
func newStore(t *testing.T, name, profile string) *store {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &store{addr: ln.Addr().String(), done: make(chan struct{})}
	s.Server = memhms.New(memhms.Config{Inventory: inventory(t, profile), Name: name,
		OnCall: func(conn int, method string, args hms.Struct) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.all = append(s.all, seen{conn, method, args})
		}})
	memhms.Demo(name)(s.Server)
	go func() {
		defer close(s.done)
		s.Serve(ln)
	}()
	t.Cleanup(s.stop)
	return s
}

func (s *store) stop() {
	s.Close()
	<-s.done
}

func inventory(t *testing.T, profile string) *profiles.Inventory {
	t.Helper()
	inv, err := profiles.Load(profile)
	if err != nil {
		t.Fatal(err)
	}
	return inv
}

// calls are those of some methods, in order.
func (s *store) calls(methods ...string) []seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []seen
	for _, c := range s.all {
		if slices.Contains(methods, c.method) {
			out = append(out, c)
		}
	}
	return out
}

// front is a gateway before two metastores, as in the fixture of the cases:
// hdp, the default, and apache.
type front struct {
	t           *testing.T
	g           *gateway.Gateway
	hdp, apache *store
}

func newFront(t *testing.T, settings ...string) *front {
	t.Helper()
	return frontOf(t, newStore(t, "hdp", "apache-3.1.3"), newStore(t, "apache", "apache-3.1.3"), settings...)
}

func frontOf(t *testing.T, hdp, apache *store, settings ...string) *front {
	t.Helper()
	text := fmt.Sprintf("listen: 127.0.0.1:0\nadmin: 127.0.0.1:0\nrouting.default-catalog: hdp\n"+
		"routing.connect-patience-ms: 300\ncatalog:\n  hdp: {uris: thrift://%s}\n  apache: {uris: thrift://%s}\n%s\n",
		hdp.addr, apache.addr, strings.Join(settings, "\n"))
	cfg, err := config.Parse("two.yaml", config.YAML, []byte(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	g, err := gateway.New(cfg, zerolog.Nop(), "test")
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return &front{t, g, hdp, apache}
}

// caller is a client of the gateway.
type caller struct {
	*hms.Client
	t *testing.T
}

func (f *front) dial(profile string) *caller {
	f.t.Helper()
	return f.dialTo(f.g.Addr().String(), profile)
}

func (f *front) dialTo(addr, profile string) *caller {
	f.t.Helper()
	c, err := hms.Dial(context.Background(), addr, inventory(f.t, profile), hms.Options{})
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { c.Close() })
	return &caller{c, f.t}
}

func (c *caller) try(method string, args hms.Struct) (any, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return c.Call(ctx, method, args)
}

func (c *caller) must(method string, args hms.Struct) any {
	c.t.Helper()
	v, err := c.try(method, args)
	if err != nil {
		c.t.Fatalf("%s: %v", method, err)
	}
	return v
}

// wantNames checks a list of strings, its order included.
func (c *caller) wantNames(method string, args hms.Struct, want ...string) {
	c.t.Helper()
	if got := hms.Strings(c.must(method, args)); !slices.Equal(got, want) {
		c.t.Errorf("%s %v: got %q, want %q", method, args, got, want)
	}
}

// wantMetric waits for a metric to have a value: a call is counted behind its
// reply.
func (f *front) wantMetric(name, labels string, want float64) {
	f.t.Helper()
	got := f.metric(name, labels)
	for end := time.Now().Add(patience); got != want && time.Now().Before(end); got = f.metric(name, labels) {
		<-time.After(5 * time.Millisecond)
	}
	if got != want {
		f.t.Errorf("%s{%s}: got %v, want %v", name, labels, got, want)
	}
}

// metric is the sum of a family's series whose labels hold a text.
func (f *front) metric(name, labels string) float64 {
	f.t.Helper()
	resp, err := http.Get("http://" + f.g.AdminAddr().String() + "/metrics")
	if err != nil {
		f.t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	sum := 0.0
	for _, line := range strings.Split(string(b), "\n") {
		series, value, ok := strings.Cut(line, " ")
		if n, l, _ := strings.Cut(series, "{"); ok && n == name && strings.Contains(l, labels) {
			var v float64
			fmt.Sscan(value, &v)
			sum += v
		}
	}
	return sum
}

func names(s ...string) []string { return s }

// rawCall sends bytes on a connection of its own and reads n of the answer.
func rawCall(t *testing.T, f *front, msg []byte, n int) []byte {
	t.Helper()
	c, err := net.Dial("tcp", f.g.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(patience))
	if _, err := c.Write(msg); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, n)
	m, err := io.ReadFull(c, b)
	if err != nil {
		t.Errorf("reply ends after %d of %d bytes: %v", m, n, err)
	}
	return b[:m]
}
