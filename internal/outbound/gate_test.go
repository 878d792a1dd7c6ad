//go:build !race

// The race detector allocates, so gates are not built with it.

package outbound_test

import (
	"bytes"
	"io"
	"runtime"
	"runtime/debug"
	"testing"

	"hmsgate/internal/wiretest"
	"hmsgate/sasl"
)

// A forwarded message costs no allocation under any protection.
func TestGateAllocations(t *testing.T) {
	const calls, warm, most = 20_000, 1_000, 60
	kdc, own, theirs := newRealm(t)
	call := wiretest.Call("get_table", 7, someTable)
	reply := wiretest.Reply("get_table", 7, wiretest.Struct(nil).Struct(0, wiretest.Struct(nil).String(1, "t").String(2,
		"sales").Stop()).Stop())
	for _, q := range []sasl.QOP{sasl.Auth, sasl.AuthInt, sasl.AuthConf} {
		t.Run(q.String(), func(t *testing.T) {
			m := newMetastore(t, secured(theirs, q), func(m *metastore) {
				m.loop = func(c *tokens) {
					buf := make([]byte, 4096)
					for {
						n := 0
						for n < len(call) {
							k, err := c.Source.Read(buf[n:])
							if n += k; err != nil {
								return
							}
						}
						if !bytes.Equal(buf[:n], call) {
							return
						}
						if _, err := c.Sink.Write(reply); err != nil || c.Sink.End() != nil {
							return
						}
					}
				}
			})
			s := newSite(t, m, sasled+qopNames[q], kerberos(kdc, own))
			c := s.client()
			answer := make([]byte, len(reply))
			run := func(n int) {
				for range n {
					if _, err := c.Write(call); err != nil {
						t.Fatal(err)
					}
					if _, err := io.ReadFull(c, answer); err != nil || !bytes.Equal(answer, reply) {
						t.Fatalf("got %q, %v\n%s", answer, err, s.log)
					}
				}
			}
			run(warm)
			defer debug.SetGCPercent(debug.SetGCPercent(-1))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			run(calls)
			runtime.ReadMemStats(&after)
			n := after.Mallocs - before.Mallocs
			t.Logf("%d allocations in %d calls, the probes' included", n, calls)
			if n > most {
				t.Errorf("got %d allocations in %d calls, want at most %d", n, calls, most)
			}
		})
	}
}
