package gateway

import (
	"fmt"
	"net"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"hmsgate/internal/wiretest"
)

// L18 (waggle-dance 73), L84 (HIVE-27780): a metastore that accepts and never
// answers, or one call that takes for ever, is nobody's business but the
// callers'. Some are in it while others make a thousand calls.
func TestHungCallsStallNobodyElse(t *testing.T) {
	for _, tc := range []struct {
		name, profile string
		waits         func(seq int32) []byte
	}{
		{"metastore that hangs", "apache-3.1.3", func(seq int32) []byte {
			return wiretest.Call("get_table", seq, fields().String(1, "apache__sales").String(2, "t").Stop())
		}},
		{"metastore that never said what it is", "auto", func(seq int32) []byte {
			return wiretest.Call("get_table", seq, fields().String(1, "apache__sales").String(2, "t").Stop())
		}},
		{"list of all catalogs", "apache-3.1.3", func(seq int32) []byte {
			return wiretest.Call("get_all_databases", seq, fields().Stop())
		}},
		{"long call of the same metastore", "apache-3.1.3", func(seq int32) []byte {
			return wiretest.Call("get_all_functions", seq, fields().Stop())
		}},
	} {
		t.Run(tc.name, func(t *testing.T) { hungRun(t, tc.profile, tc.waits) })
	}
}

func hungRun(t *testing.T, profile string, waits func(seq int32) []byte) {
	var mu sync.Mutex
	waiting := 0 // calls that hang
	over := make(chan struct{})
	hang := func(m wiretest.Message) []byte {
		mu.Lock()
		waiting++
		mu.Unlock()
		<-over
		return nil
	}
	well := wiretest.NewBackend(t).Others(wiretest.Serve(func(m wiretest.Message) []byte {
		switch m.Method {
		case "get_all_functions":
			return hang(m)
		case "getVersion":
			return wiretest.Reply(m.Method, m.Seq, fields().String(0, "3.0").Stop())
		}
		return wiretest.Reply(m.Method, m.Seq, fields().Stop())
	}))
	hung := wiretest.NewBackend(t).Others(wiretest.Serve(hang))
	g := sweepGateway(t, fmt.Sprintf("listen: 127.0.0.1:0\nrouting.default-catalog: hdp\ncatalog:\n"+
		"  hdp: {uris: thrift://%s, runtime-profile: apache-3.1.3}\n  apache: {uris: thrift://%s, runtime-profile: %s}\n",
		well.Addr(), hung.Addr(), profile), nil)
	release := sync.OnceFunc(func() { close(over) })
	t.Cleanup(release)

	conns := make([]net.Conn, 8)
	for i := range conns {
		conns[i] = dialGateway(t, g)
		if _, err := exchange(conns[i], tableCall("get_table", 1)); err != nil {
			t.Fatal(err)
		}
	}
	healthy := hungCalls(t, conns)
	before := runtime.NumGoroutine()
	var callers []net.Conn
	for i := range int32(20) {
		c := dialGateway(t, g)
		if _, err := c.Write(waits(i)); err != nil {
			t.Fatal(err)
		}
		callers = append(callers, c)
	}
	wiretest.Until(t, "the callers to wait", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return waiting >= len(callers) || profile == "auto" && waiting > 0 && g.inFlight.Load() == int64(len(callers))
	})
	loaded := hungCalls(t, conns)
	if g.inFlight.Load() < int64(len(callers)) {
		t.Error("the callers did not wait until the others were done")
	}
	if a, b := tail(healthy), tail(loaded); b > 2*a+500*time.Millisecond { // a shared machine stutters; what is looked for takes seconds
		t.Errorf("99 of 100 calls took at most %v before and %v beside the callers that wait", a, b)
	}
	for _, c := range callers {
		c.(*net.TCPConn).SetLinger(0)
		c.Close()
	}
	wiretest.Until(t, "the callers' sessions to end", func() bool { return g.clients.Load() == int64(len(conns)) })
	release()
	wiretest.Until(t, "the goroutines to go", func() bool { return runtime.NumGoroutine() <= before })
}

// hungCalls makes a thousand calls and says what each took.
func hungCalls(t *testing.T, conns []net.Conn) []time.Duration {
	t.Helper()
	took := make([][]time.Duration, len(conns))
	var wg sync.WaitGroup
	for i, c := range conns {
		c.SetDeadline(time.Now().Add(wiretest.Patience))
		wg.Go(func() {
			for seq := range int32(1000 / len(conns)) {
				began := time.Now()
				if m, err := exchange(c, tableCall("get_table", seq)); err != nil || m.Seq != seq || m.Type != wiretest.TypeReply {
					t.Errorf("got %q, %v, want a reply", m.Bytes, err)
					return
				}
				took[i] = append(took[i], time.Since(began))
			}
		})
	}
	wg.Wait()
	return slices.Concat(took...)
}

// tail is what 99 of 100 stay below.
func tail(took []time.Duration) time.Duration {
	slices.Sort(took)
	if len(took) == 0 {
		return 0
	}
	return took[len(took)*99/100]
}
