package session

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"hmsgate/frame"
	"hmsgate/internal/metrics"
	"hmsgate/internal/wiretest"
	"hmsgate/profiles"
	"hmsgate/rewrite"
	"hmsgate/route"
)

func TestMain(m *testing.M) { wiretest.CheckLeaks(m) }

// rig is sessions on a port in front of scripted backends: the first is the
// default catalog hdp, the second apache.
type rig struct {
	t       testing.TB
	env     *Env
	opt     Options
	ln      net.Listener
	log     *wiretest.Log
	proved  Identity // of every client
	budget  *frame.Budget
	alive   atomic.Int64 // answers of Alive that are left
	asked   atomic.Int64 // how often Alive was asked
	drain   atomic.Bool
	inside  atomic.Int64
	mu      sync.Mutex
	serving map[*Session]bool
	wg      sync.WaitGroup
}

// setup changes a rig before it serves.
type setup func(r *rig)

// refused is an address nobody listens on.
func refused(t testing.TB) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

// table routes hdp, the default, and apache to addresses; one address is the
// default catalog alone.
func table(t testing.TB, addrs ...string) *route.Table {
	t.Helper()
	rc := route.Config{Default: "hdp", Separator: "__", PreserveBackendCatalog: true}
	for i, a := range addrs {
		rc.Catalogs = append(rc.Catalogs, route.CatalogConfig{Name: []string{"hdp", "apache"}[i], URIs: strings.Split(a, ",")})
	}
	tab, err := route.New(rc)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range tab.Catalogs() {
		for _, u := range c.Backend().URIs() {
			u.SetProfile("apache-3.1.3")
		}
	}
	return tab
}

// newEnv is an environment without a port.
func newEnv(t testing.TB, tab *route.Table, framedBack bool) (*rig, *Env) {
	r := &rig{t: t, log: &wiretest.Log{}, serving: map[*Session]bool{}, budget: frame.NewBudget(0)}
	e := &Env{Table: tab, Plans: profiles.Auto(), Budget: r.budget, Metrics: metrics.New(metrics.Options{}),
		Log: zerolog.New(r.log), Draining: &r.drain, InFlight: &r.inside,
		Limits: Limits{Patience: 50 * time.Millisecond, Fanout: 5 * time.Second},
		Alive:  func(*route.URI, int) bool { r.asked.Add(1); return r.alive.Add(-1) >= 0 }}
	e.Dial = func(ctx context.Context, _ int, addr, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", addr)
	}
	for range tab.Catalogs() {
		e.Targets = append(e.Targets, Target{Framed: framedBack})
	}
	r.env = e
	r.opt = Options{Raw: true, Framed: true, Idle: time.Minute}
	return r, e
}

// stubs are answers that do the least: forward, or ask everybody and give the
// first one's reply.
func stubs(p *profiles.Plans) map[string]Answer {
	out := map[string]Answer{}
	for _, n := range p.Methods() {
		switch a := p.Method([]byte(n)).Answer; a {
		case "":
		case "merge-names":
			out[a] = everybody
		case "nothing":
			out[a] = func(*Call) error { return nil }
		default:
			out[a] = func(c *Call) error { c.Forward(); return nil }
		}
	}
	return out
}

func everybody(c *Call) error {
	var asked []Asked
	for _, cat := range c.Env().Table.Catalogs() {
		asked = append(asked, Asked{Catalog: cat, Names: func(at bool) (call, reply rewrite.Names) {
			call, _ = c.Names().ForCatalog(cat, at)
			return call, c.Names().From(cat)
		}})
	}
	for _, p := range c.Fanout(asked) {
		if p.Err != nil {
			c.Unreachable(p.Catalog, p.Err)
			return nil
		}
	}
	c.Reply(func(dst []byte) []byte { return append(dst, frame.Stop) })
	return nil
}

// compiled are the plans of all tests: they take their time.
var compiled = sync.OnceValues(func() (*versions, error) {
	set, err := profiles.Builtin()
	if err != nil {
		return nil, err
	}
	v, err := newVersions(set, profiles.AutoLabel)
	if err == nil {
		err = (&Env{versions: v}).Warm("apache-3.1.3")
	}
	return v, err
})

func prepare(t testing.TB, e *Env) {
	t.Helper()
	err := e.Prepare(stubs(e.Plans))
	if err == nil {
		e.versions, err = compiled()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// newRig serves on a port until the test ends.
func newRig(t testing.TB, tab *route.Table, framedBack bool, setups ...setup) *rig {
	t.Helper()
	r, e := newEnv(t, tab, framedBack)
	for _, f := range setups {
		f(r)
	}
	prepare(t, e)
	var err error
	if r.ln, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	r.wg.Add(1)
	go r.accept()
	t.Cleanup(r.close)
	return r
}

func (r *rig) accept() {
	defer r.wg.Done()
	for {
		c, err := r.ln.Accept()
		if err != nil {
			return
		}
		s := New(func() *Env { return r.env }, c, r.opt)
		s.proved = r.proved
		r.mu.Lock()
		r.serving[s] = true
		r.mu.Unlock()
		r.wg.Add(1)
		go func() {
			defer r.wg.Done()
			defer func() {
				r.mu.Lock()
				delete(r.serving, s)
				r.mu.Unlock()
			}()
			s.Run()
		}()
	}
}

func (r *rig) close() {
	r.ln.Close()
	r.mu.Lock()
	for s := range r.serving {
		s.Cut()
	}
	r.mu.Unlock()
	r.wg.Wait()
	if n := r.budget.Used(); n != 0 {
		r.t.Errorf("%d bytes of the budget were not given back", n)
	}
	if n := r.inside.Load(); n != 0 {
		r.t.Errorf("%d calls are still counted as in flight", n)
	}
}

// clients is how many sessions are being served.
func (r *rig) clients() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.serving)
}

// client is a test's end of a connection.
type client struct {
	net.Conn
	t      testing.TB
	framed bool
	buf    []byte
}

func (r *rig) dial(framed bool) *client {
	r.t.Helper()
	return dialTo(r.t, r.ln.Addr().String(), framed)
}

func dialTo(t testing.TB, addr string, framed bool) *client {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	c.SetDeadline(time.Now().Add(wiretest.Patience))
	t.Cleanup(func() { c.Close() })
	return &client{Conn: c, t: t, framed: framed}
}

// wire is a message in the client's transport.
func (c *client) wire(msg []byte) []byte {
	if c.framed {
		return wiretest.Framed(msg)
	}
	return msg
}

func (c *client) send(msg []byte) {
	c.t.Helper()
	if _, err := c.Write(c.wire(msg)); err != nil {
		c.t.Fatalf("send: %v", err)
	}
}

// next reads a message; io.EOF when the connection ended in front of one.
func (c *client) next() (wiretest.Message, error) {
	var tmp [32 << 10]byte
	for {
		m, used, err := c.parse()
		if err == nil && used > 0 {
			c.buf = c.buf[used:]
			return m, nil
		}
		if err != nil && !wiretest.IsShort(err) {
			return m, err
		}
		n, err := c.Read(tmp[:])
		c.buf = append(c.buf, tmp[:n]...)
		if n == 0 && err != nil {
			if len(c.buf) > 0 {
				return m, io.ErrUnexpectedEOF
			}
			var ne net.Error
			if errors.As(err, &ne) && ne.Timeout() {
				return m, err
			}
			return m, io.EOF
		}
	}
}

func (c *client) parse() (wiretest.Message, int, error) {
	b := c.buf
	if len(b) < 4 {
		return wiretest.Message{}, 0, nil
	}
	if !c.framed {
		m, err := wiretest.Parse(b)
		return m, len(m.Bytes), err
	}
	n := int(binary.BigEndian.Uint32(b))
	if len(b) < 4+n {
		return wiretest.Message{}, 0, nil
	}
	m, err := wiretest.Parse(b[4 : 4+n])
	return m, 4 + n, err
}

func (c *client) recv() wiretest.Message {
	c.t.Helper()
	m, err := c.next()
	if err != nil {
		c.t.Fatalf("no reply: %v", err)
	}
	return m
}

func (c *client) call(msg []byte) wiretest.Message {
	c.t.Helper()
	c.send(msg)
	return c.recv()
}

// wantReply checks a reply's every byte.
func (c *client) wantReply(want []byte) {
	c.t.Helper()
	if m := c.recv(); !bytes.Equal(m.Bytes, want) {
		c.t.Errorf("got  %q\nwant %q", m.Bytes, want)
	}
}

// wantClosed checks that nothing but the end comes.
func (c *client) wantClosed() {
	c.t.Helper()
	m, err := c.next()
	if err == nil {
		c.t.Errorf("got reply %q, want a closed connection", m.Bytes)
	} else if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		c.t.Errorf("got %v, want a closed connection", err)
	}
}

// reset closes the connection with a reset.
func (c *client) reset() {
	c.Conn.(*net.TCPConn).SetLinger(0)
	c.Close()
}

// wantFault checks an application exception's type and a part of its text.
func (c *client) wantFault(method string, seq int32, kind frame.AppType, part string) {
	c.t.Helper()
	m := c.recv()
	if m.Type != wiretest.TypeException || m.Method != method || m.Seq != seq {
		c.t.Errorf("got %q, want an application exception for %s, sequence id %d", m.Bytes, method, seq)
		return
	}
	tail := binary.BigEndian.AppendUint32([]byte{wiretest.WireI32, 0, 2}, uint32(kind))
	if !bytes.HasSuffix(m.Bytes, append(tail, 0)) || !bytes.Contains(m.Bytes, []byte(part)) {
		c.t.Errorf("got %q\nwant type %d and a text with %q", m.Bytes, kind, part)
	}
	noReplayWords(c.t, string(m.Bytes))
}

// wantThrown checks a declared exception's field and a part of its text.
func (c *client) wantThrown(method string, seq int32, id int16, part string) {
	c.t.Helper()
	m := c.recv()
	if m.Type != wiretest.TypeReply || m.Method != method || m.Seq != seq {
		c.t.Errorf("got %q, want a declared exception of %s, sequence id %d", m.Bytes, method, seq)
		return
	}
	body := m.Bytes[m.Body:]
	if body[0] != wiretest.WireStruct || int16(binary.BigEndian.Uint16(body[1:])) != id || !bytes.Contains(body, []byte(part)) {
		c.t.Errorf("got %q\nwant exception field %d and a text with %q", m.Bytes, id, part)
	}
	noReplayWords(c.t, string(m.Bytes))
}
