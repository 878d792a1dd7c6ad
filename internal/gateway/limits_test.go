package gateway

import (
	"bytes"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"hmsgate/internal/session"
	"hmsgate/internal/wiretest"
	"hmsgate/route"
)

// Over the limit of connections: an error and the end, never silence.
func TestConnectionsOverTheLimit(t *testing.T) {
	b := answering(t, nil)
	g, _ := startGateway(t, b.Addr(), "limits.connections: 2")
	for range 2 {
		if m, err := exchange(dialGateway(t, g), tableCall("get_table", 1)); err != nil || m.Type != wiretest.TypeReply {
			t.Fatalf("got %q, %v, want a reply", m.Bytes, err)
		}
	}
	for name, call := range map[string][]byte{
		"small": tableCall("get_table", 7),
		"large": wiretest.Call("get_table", 7, wiretest.Struct(nil).String(1, strings.Repeat("x", 1<<20)).Stop()),
	} {
		for _, framed := range []bool{false, true} {
			c := dialGateway(t, g)
			if framed {
				call = wiretest.Framed(call)
			}
			if _, err := c.Write(call); err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(c)
			if err != nil || !bytes.Contains(got, []byte("too many clients (limits.connections)")) {
				t.Errorf("%s call, framed %v: got %q, %v, want an error that names the limit", name, framed, got, err)
			}
		}
	}
	silent := dialGateway(t, g) // says nothing: closed all the same
	if n, err := silent.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("silent client: got %d bytes, %v, want the end", n, err)
	}
	wiretest.Until(t, "places of those turned away", func() bool { return g.away.Load() == 0 })
	if n := g.clients.Load(); n != 2 {
		t.Errorf("got %d clients, want 2", n)
	}
}

// A client that is turned away cannot stretch its time by sending slowly.
func TestTurnedAwayClientThatTrickles(t *testing.T) {
	g, _ := startGateway(t, answering(t, nil).Addr(), "limits.connections: 1")
	if _, err := exchange(dialGateway(t, g), tableCall("get_table", 1)); err != nil {
		t.Fatal(err)
	}
	c := dialGateway(t, g)
	began := time.Now()
	call := wiretest.Call("get_table", 7, wiretest.Struct(nil).String(1, strings.Repeat("x", 1<<20)).Stop())
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for i := range call {
		if _, err := c.Write(call[i : i+1]); err != nil {
			break
		}
		<-tick.C
	}
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("the connection lived for %v, want about %v", took, awayPatience)
	}
}

func TestCallsOverTheLimit(t *testing.T) {
	gate := make(chan struct{})
	b := answering(t, gate)
	g, _ := startGateway(t, b.Addr(), "limits.calls-in-flight: 1")
	first := dialGateway(t, g)
	half := dialGateway(t, g) // a call that has not arrived takes no place
	half.Write(tableCall("get_table", 1)[:20])
	if _, err := first.Write(tableCall("get_fields", 1)); err != nil {
		t.Fatal(err)
	}
	wiretest.Until(t, "the first call to arrive", func() bool {
		for _, m := range b.Calls() {
			if m.Method == "get_fields" {
				return true
			}
		}
		return false
	})
	c := dialGateway(t, g)
	m, err := exchange(c, tableCall("get_table", 5))
	if err != nil || m.Type != wiretest.TypeException || m.Seq != 5 || !bytes.Contains(m.Bytes, []byte("limits.calls-in-flight")) {
		t.Errorf("got %q, %v, want an error that names the limit", m.Bytes, err)
	}
	close(gate)
	if m, err := readMessage(first); err != nil || m.Type != wiretest.TypeReply {
		t.Errorf("first call: got %q, %v, want its reply", m.Bytes, err)
	}
	wiretest.Until(t, "the place to be free", func() bool { return g.inFlight.Load() == 0 })
	if m, err := exchange(c, tableCall("get_table", 6)); err != nil || m.Type != wiretest.TypeReply {
		t.Errorf("got %q, %v, want a reply", m.Bytes, err)
	}
}

// What may be held, by one call and by all, and how long a call may be.
func TestHeldAndCallLimits(t *testing.T) {
	b := answering(t, nil)
	// A call that must be held whole: update_table_params has several tables.
	held := func(size int) []byte {
		v := wiretest.Struct(nil).String(5, strings.Repeat("x", size)).Stop()
		return wiretest.Call("update_table_params", 3, wiretest.Struct(nil).List(1, wiretest.WireStruct, v).Stop())
	}
	for _, tc := range []struct {
		name, settings, want string
		size                 int
		closes               bool
	}{
		{"fits", "limits.held-call: 2MB", "", 1 << 20, false},
		{"held-call", "limits.held-call: 1MB", "limits.held-call", 3 << 20, false},
		{"held-total", "limits.held-call: 2MB\nlimits.held-total: 2MB", "limits.held-total", 1900 << 10, false},
		{"call-bytes", "limits.call-bytes: 1MB", "limits.call-bytes", 3 << 20, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g, _ := startGateway(t, b.Addr(), tc.settings)
			c := dialGateway(t, g)
			go func() {
				_, _ = c.Write(held(tc.size))
			}()
			m, err := readMessage(c)
			if err != nil && !tc.closes {
				t.Fatalf("got %v, want an answer", err)
			}
			if err == nil && !bytes.Contains(m.Bytes, []byte(tc.want)) {
				t.Errorf("got %q, want %q in it", m.Bytes, tc.want)
			}
			wiretest.Until(t, "the budget to be whole again", func() bool { return g.budget.Used() == 0 })
			if tc.closes {
				return
			}
			if m, err := exchange(c, tableCall("get_table", 6)); err != nil || m.Type != wiretest.TypeReply || m.Seq != 6 {
				t.Errorf("next call: got %q, %v, want a reply", m.Bytes, err)
			}
		})
	}
}

// L60: what a load balancer's health check does.
func TestL60ConnectAndClose(t *testing.T) {
	b := answering(t, nil)
	g, log := startGateway(t, b.Addr())
	wiretest.Until(t, "the metastore to be known", func() bool { return strings.Contains(log.String(), "metastore answers") })
	accepted := b.Accepted()
	said := len(log.String())
	live := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := live()
	n := 10_000
	if testing.Short() {
		n = 2_000
	}
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range n / 4 {
				c, err := net.Dial("tcp", g.Addr().String())
				if err != nil {
					t.Error(err)
					return
				}
				if w%2 == 0 {
					c.(*net.TCPConn).SetLinger(0)
				}
				c.Close()
			}
		}()
	}
	wg.Wait()
	wiretest.Until(t, "all sessions to end", func() bool { return g.clients.Load() == 0 })
	if got := b.Accepted() - accepted; got > 1 { // one may be a probe
		t.Errorf("got %d backend connections, want none", got)
	}
	if text := log.String()[said:]; strings.Contains(text, `"client"`) {
		t.Errorf("got log lines, want none above debug: %.500s", text)
	}
	if after := live(); after > before+uint64(n)<<10 {
		t.Errorf("got %d bytes more than before, want less than 1 KB a connection", after-before)
	}
}

// L61: clients that leave by a reset, in every state of a call.
func TestL61Resets(t *testing.T) {
	b := answering(t, nil)
	g, _ := startGateway(t, b.Addr())
	call := tableCall("get_table", 1)
	for i := range 300 {
		c := dialGateway(t, g)
		switch i % 3 {
		case 0:
			if _, err := exchange(c, call); err != nil {
				t.Fatal(err)
			}
		case 1:
			c.Write(call)
		case 2:
			c.Write(call[:i%len(call)])
		}
		c.(*net.TCPConn).SetLinger(0)
		c.Close()
	}
	wiretest.Until(t, "all sessions to end", func() bool { return g.clients.Load() == 0 && g.inFlight.Load() == 0 })
	if n := g.budget.Used(); n != 0 {
		t.Errorf("%d bytes are still held", n)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.sessions) != 0 {
		t.Errorf("%d sessions are still listed", len(g.sessions))
	}
}

// One client's defect must not take the others down.
func TestPanicEndsOneSession(t *testing.T) {
	g, log := newGateway(t, answering(t, nil).Addr())
	for _, env := range g.envs {
		env.Checks = []session.Check{func(call *session.Call) *route.Refusal {
			if call.Seq() == 13 {
				panic("made by a test")
			}
			return nil
		}}
	}
	begin(t, g)
	c, other := dialGateway(t, g), dialGateway(t, g)
	for _, conn := range []net.Conn{c, other} {
		if _, err := exchange(conn, tableCall("get_table", 1)); err != nil {
			t.Fatal(err)
		}
	}
	if m, err := exchange(c, tableCall("get_table", 13)); err == nil {
		t.Errorf("got %q, want a closed connection", m.Bytes)
	}
	wiretest.Until(t, "the session to end", func() bool { return g.clients.Load() == 1 && g.inFlight.Load() == 0 })
	if !strings.Contains(log.String(), "made by a test") || !strings.Contains(log.String(), "limits_test.go") {
		t.Errorf("got log %q, want the panic and where it came from", log.String())
	}
	if m, err := exchange(other, tableCall("get_table", 2)); err != nil || m.Seq != 2 {
		t.Errorf("other client: got %q, %v, want a reply", m.Bytes, err)
	}
}
