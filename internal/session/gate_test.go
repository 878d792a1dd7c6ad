//go:build !race

// The race detector allocates and slows each side of a ratio differently, so gates are not built with it.

package session

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"hmsgate/internal/wiretest"
	"hmsgate/sasl"
)

// Gates count; none looks at how long something took. Both ends are played by
// connections without goroutines: the client's next call arrives when it is
// asked for, the backend's reply when the call has been written.

// counted is a connection that counts what is done to it.
type counted struct {
	reads, writes, deadlines int
}

func (c *counted) Close() error                     { return nil }
func (c *counted) LocalAddr() net.Addr              { return nowhereAddr }
func (c *counted) RemoteAddr() net.Addr             { return nowhereAddr }
func (c *counted) SetDeadline(time.Time) error      { c.deadlines++; return nil }
func (c *counted) SetReadDeadline(time.Time) error  { c.deadlines++; return nil }
func (c *counted) SetWriteDeadline(time.Time) error { c.deadlines++; return nil }

var nowhereAddr net.Addr = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}

// caller makes calls, one after the reply to the other.
type caller struct {
	counted
	call  []byte
	left  int
	owed  int            // replies not seen yet
	got   []byte         // the last reply
	each  func(left int) // before a call is handed out
	block chan struct{}  // when set, waits there instead of leaving
	idle  chan<- struct{}
}

func (c *caller) Read(p []byte) (int, error) {
	if c.owed > 0 {
		return 0, errors.New("the session reads on before it has answered")
	}
	if c.each != nil {
		c.each(c.left)
	}
	if c.left == 0 {
		if c.block != nil {
			c.idle <- struct{}{}
			<-c.block
		}
		return 0, io.EOF
	}
	c.left--
	c.owed++
	c.reads++
	return copy(p, c.call), nil
}

func (c *caller) Write(p []byte) (int, error) {
	c.writes++
	c.owed--
	c.got = append(c.got[:0], p...)
	return len(p), nil
}

// metastore gives the same reply to each call.
type metastore struct {
	counted
	want, reply []byte
	owed        int
	bad         []byte // a call that was not the wanted one
}

func (m *metastore) Write(p []byte) (int, error) {
	m.writes++
	m.owed++
	if !bytes.Equal(p, m.want) {
		m.bad = bytes.Clone(p)
	}
	return len(p), nil
}

func (m *metastore) Read(p []byte) (int, error) {
	if m.owed == 0 {
		return 0, errors.New("read without a call")
	}
	m.owed--
	m.reads++
	return copy(p, m.reply), nil
}

// gateCase is a message that is forwarded.
type gateCase struct {
	name          string
	profile       string // of the backend; "" for 3.1.3
	framed        bool
	auth          bool // the client has authenticated; its messages are not sealed
	call, want    []byte
	reply, answer []byte
}

func gateCases() []gateCase {
	get := func(db string) []byte { return getTable(7, db, "t") }
	re := func(db string) []byte { return wiretest.Reply("get_table", 7, tableResult(db, "t")) }
	cases := []gateCase{
		{name: "names as they are", call: get("sales"), want: get("sales"), reply: re("sales"), answer: re("sales")},
		{name: "names renamed", call: get("apache__sales"), want: get("sales"), reply: re("sales"),
			answer: re("apache__sales")},
		{name: "write", call: dropTable(7, "apache__sales", "t"), want: dropTable(7, "sales", "t"),
			reply: wiretest.Reply("drop_table", 7, void), answer: wiretest.Reply("drop_table", 7, void)},
		bridged("sales", "sales"), bridged("apache__sales", "sales"),
	}
	for _, c := range cases {
		c.name, c.auth = c.name+", SASL auth", true
		c.call, c.answer = wiretest.Framed(c.call), wiretest.Framed(c.answer)
		cases = append(cases, c)
	}
	for _, c := range cases[:len(cases)/2] {
		c.name, c.framed = c.name+", framed", true
		c.call, c.want = wiretest.Framed(c.call), wiretest.Framed(c.want)
		c.reply, c.answer = wiretest.Framed(c.reply), wiretest.Framed(c.answer)
		cases = append(cases, c)
	}
	return cases
}

// bridged is a call that its backend has by another name and in another form.
func bridged(db, inner string) gateCase {
	req := wiretest.Struct(nil).String(1, inner).String(2, "t").Stop()
	value := wiretest.Struct(nil).String(1, "t").String(2, inner).Stop()
	return gateCase{name: "bridged, " + db, profile: "apache-4.1.0", call: getTable(7, db, "t"),
		want: wiretest.Call("get_table_req", 7, wiretest.Struct(nil).Struct(1, req).Stop()),
		reply: wiretest.Reply("get_table_req", 7, wiretest.Struct(nil).Struct(0, wiretest.Struct(nil).Struct(1,
			value).Stop()).Stop()),
		answer: wiretest.Reply("get_table", 7, tableResult(db, "t"))}
}

// let is a door that lets everybody in.
func let(in *sasl.Session) Door { return openDoor{in} }

type openDoor struct{ in *sasl.Session }

func (d openDoor) Enter(conn net.Conn) (*Entry, error) { return &Entry{Conn: conn, SASL: d.in}, nil }
func (d openDoor) Away(conn net.Conn, _ string, _ time.Duration) (*Entry, error) {
	return d.Enter(conn)
}

// play runs a session of n calls; each is called before every call.
func (g *gateCase) play(t *testing.T, n int, each func(left int)) (*caller, []*metastore) {
	t.Helper()
	tab := table(t, "127.0.0.1:1", "127.0.0.1:2")
	for _, c := range tab.Catalogs() {
		if g.profile != "" {
			c.Backend().URIs()[0].SetProfile(g.profile)
		}
	}
	r, e := newEnv(t, tab, g.framed)
	e.Log = zerolog.New(r.log).Level(zerolog.WarnLevel)
	var dialled []*metastore
	e.Dial = func(context.Context, int, string, string) (net.Conn, error) {
		m := &metastore{want: g.want, reply: g.reply}
		dialled = append(dialled, m)
		return m, nil
	}
	prepare(t, e)
	if g.auth {
		r.opt.Door = let(&sasl.Session{Outcome: sasl.Outcome{QOP: sasl.Auth, Identity: sasl.Identity{User: "alice"}}})
	}
	c := &caller{call: g.call, left: n, each: each}
	New(func() *Env { return e }, c, r.opt).Run()
	if c.left != 0 || c.owed != 0 || !bytes.Equal(c.got, g.answer) {
		t.Fatalf("%d calls left, %d replies owed\ngot  %q\nwant %q\n%s", c.left, c.owed, c.got, g.answer, r.log)
	}
	for _, m := range dialled {
		if m.bad != nil {
			t.Fatalf("backend got %q\nwant         %q", m.bad, g.want)
		}
	}
	return c, dialled
}

func TestGateAllocations(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	const calls, warm, most = 20_000, 1_000, 20
	for _, g := range gateCases() {
		t.Run(g.name, func(t *testing.T) {
			var before, after runtime.MemStats
			g.play(t, calls+warm, func(left int) {
				switch left {
				case calls:
					runtime.ReadMemStats(&before)
				case 0:
					runtime.ReadMemStats(&after)
				}
			})
			n := after.Mallocs - before.Mallocs
			t.Logf("%d allocations in %d calls", n, calls)
			if n > most {
				t.Errorf("got %d allocations in %d calls, want at most %d", n, calls, most)
			}
		})
	}
}

func TestGateReadsWritesDeadlines(t *testing.T) {
	const calls = 10_000
	for _, g := range gateCases() {
		t.Run(g.name, func(t *testing.T) {
			began := time.Now()
			c, backs := g.play(t, calls, nil)
			if len(backs) != 1 {
				t.Fatalf("got %d backend connections, want 1", len(backs))
			}
			b := backs[0]
			if c.writes != calls || b.writes != calls {
				t.Errorf("got %d writes to the client and %d to the backend, want %d each", c.writes, b.writes, calls)
			}
			if c.reads > calls || b.reads > calls {
				t.Errorf("got %d reads of the client and %d of the backend, want at most %d each", c.reads, b.reads, calls)
			}
			most := 2 * (2 + int(time.Since(began)/time.Second))
			if c.deadlines > most || b.deadlines > most {
				t.Errorf("got %d deadline calls for the client and %d for the backend, want at most %d each",
					c.deadlines, b.deadlines, most)
			}
		})
	}
}

// A large reply from full chunks.
func TestGateWritesOfALargeReply(t *testing.T) {
	b := binary.BigEndian.AppendUint32([]byte{wiretest.WireList, 0, 0, wiretest.WireStruct}, 10_000)
	for range 10_000 {
		b = append(b, wiretest.Struct(nil).Strings(1, strings.Repeat("x", 1000)).String(2, "sales").String(3,
			"t").Stop()...)
	}
	reply := wiretest.Reply("get_partitions", 7, append(b, 0))
	r, e := newEnv(t, table(t, "127.0.0.1:1", "127.0.0.1:2"), false)
	e.Dial = func(context.Context, int, string, string) (net.Conn, error) { return &stream{left: reply}, nil }
	prepare(t, e)
	c := &counter{call: wiretest.Call("get_partitions", 7, wiretest.Struct(nil).String(1, "apache__sales").String(2,
		"t").Stop())}
	New(func() *Env { return e }, c, r.opt).Run()
	if want := len(reply) + 10_000*len("apache__"); c.bytes != want {
		t.Fatalf("got a reply of %d bytes, want %d\n%s", c.bytes, want, r.log)
	}
	if most := c.bytes/(256<<10) + 2; c.writes > most {
		t.Errorf("got %d writes for %d bytes, want at most %d", c.writes, c.bytes, most)
	}
}

// stream is a backend that fills every read.
type stream struct {
	counted
	left []byte
}

func (s *stream) Write(p []byte) (int, error) { return len(p), nil }
func (s *stream) Read(p []byte) (int, error) {
	n := copy(p, s.left)
	s.left = s.left[n:]
	return n, nil
}

// counter makes one call and counts what comes.
type counter struct {
	counted
	call  []byte
	bytes int
}

func (c *counter) Read(p []byte) (int, error) {
	if c.call == nil {
		return 0, io.EOF
	}
	n := copy(p, c.call)
	c.call = nil
	return n, nil
}

func (c *counter) Write(p []byte) (int, error) {
	c.writes++
	c.bytes += len(p)
	return len(p), nil
}

func TestGateIdleMemory(t *testing.T) {
	const sessions, most = 1_000, 14 << 10
	g := gateCases()[1]
	r, e := newEnv(t, table(t, "127.0.0.1:1", "127.0.0.1:2"), false)
	e.Dial = func(context.Context, int, string, string) (net.Conn, error) {
		return &metastore{want: g.want, reply: g.reply}, nil
	}
	prepare(t, e)
	current := func() *Env { return e }
	idle, block, over := make(chan struct{}), make(chan struct{}), make(chan struct{}, sessions)
	start := func() {
		go func() {
			New(current, &caller{call: g.call, left: 3, block: block, idle: idle}, r.opt).Run()
			over <- struct{}{}
		}()
		<-idle
	}
	start()
	live := func() uint64 {
		runtime.GC()
		runtime.GC() // pools let go at the second one
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc + m.StackInuse
	}
	before := live()
	for range sessions {
		start()
	}
	each := (int64(live()) - int64(before)) / sessions
	t.Logf("%d bytes for an idle session", each)
	if each > most {
		t.Errorf("got %d bytes for an idle session that has made calls, want at most %d", each, most)
	}
	close(block)
	for range sessions + 1 {
		<-over
	}
}

// serving counts the goroutines of sessions.
func serving() int {
	buf := make([]byte, 4<<20)
	n := 0
	for _, g := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		if strings.Contains(g, "session.(*Session).Run(") || strings.Contains(g, "session.(*Call).Fanout.func") {
			n++
		}
	}
	return n
}

func TestGateGoroutines(t *testing.T) {
	gate := wiretest.NewGate()
	var backs []*wiretest.Backend
	for range 2 {
		backs = append(backs, backendOf(t, false).Others(wiretest.Expect("get_table"),
			wiretest.Answer(tableResult("sales", "t")),
			wiretest.Expect("get_all_databases"), wiretest.Stall(gate), wiretest.Answer(wiretest.Struct(nil).Strings(0,
				"a").Stop())))
	}
	r := newRig(t, table(t, backs[0].Addr(), backs[1].Addr()), false)
	before := serving()
	const clients = 10
	var cs []*client
	for range clients {
		c := r.dial(false)
		c.call(getTable(1, "sales", "t"))
		c.call(getTable(2, "apache__sales", "t"))
		cs = append(cs, c)
	}
	if got := serving() - before; got != clients {
		t.Errorf("got %d goroutines for %d clients with two backends each, want one each", got, clients)
	}
	for _, c := range cs {
		c.send(wiretest.Call("get_all_databases", 3, void))
	}
	wiretest.Until(t, "all shares to be asked", func() bool {
		return len(backs[0].Calls()) == 2*clients &&
			len(backs[1].Calls()) == 2*clients
	})
	if got := serving() - before; got != 2*clients {
		t.Errorf("got %d goroutines for %d clients that ask two backends each, want two each", got, clients)
	}
	gate.Open()
	for _, c := range cs {
		c.recv()
	}
	wiretest.Until(t, "the goroutines of the fan-out to end", func() bool { return serving()-before == clients })
}
