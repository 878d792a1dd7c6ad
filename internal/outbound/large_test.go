package outbound_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"runtime"
	"testing"

	"hmsgate/internal/wiretest"
	"hmsgate/sasl"
)

// largeReply is a table with a field of n bytes that no interface knows.
func largeReply(seq int32, n int) []byte {
	table := wiretest.Struct(nil).String(1, "t").String(2, "sales").String(99, string(bytes.Repeat([]byte("large"), n/5))).Stop()
	return wiretest.Reply("get_table", seq, wiretest.Struct(nil).Struct(0, table).Stop())
}

var qopNames = map[sasl.QOP]string{sasl.Auth: "authentication", sasl.AuthInt: "integrity", sasl.AuthConf: "privacy"}

// Java seals a whole reply in one token. It passes in the memory of a window
// and of one buffer for tokens, whatever its length.
func TestLargeReplyInBoundedMemory(t *testing.T) {
	const size, most = 48 << 20, 8 << 20
	kdc, own, theirs := newRealm(t)
	reply := largeReply(1, size)
	want := sha256.Sum256(reply)
	for _, q := range []sasl.QOP{sasl.Auth, sasl.AuthInt, sasl.AuthConf} {
		t.Run(q.String(), func(t *testing.T) {
			sealed, send := make(chan struct{}), make(chan struct{})
			m := newMetastore(t, secured(theirs, q), func(m *metastore) {
				m.whole, m.large = true, reply
				m.ready = func(token []byte) {
					if len(token) >= size {
						close(sealed)
						<-send
					}
				}
			})
			s := newSite(t, m, sasled+qopNames[q], kerberos(kdc, own))
			c := s.client()
			if _, err := c.Write(wiretest.Call("get_table", 1, someTable)); err != nil {
				t.Fatal(err)
			}
			<-sealed
			before := heap(true)
			close(send)
			sum, peak, buf := sha256.New(), uint64(0), make([]byte, 1<<20)
			for n := 0; n < len(reply); {
				k, err := io.ReadFull(c, buf[:min(len(buf), len(reply)-n)])
				if err != nil {
					t.Fatalf("after %d bytes: %v\n%s", n, err, s.log)
				}
				sum.Write(buf[:k])
				if n += k; n>>20%4 == 0 {
					peak = max(peak, heap(false))
				}
			}
			if !bytes.Equal(sum.Sum(nil), want[:]) {
				t.Error("the reply is not what the metastore said")
			}
			t.Logf("%d KB more for %d MB", (int64(peak)-int64(before))>>10, size>>20)
			if peak > before+most {
				t.Errorf("took %d bytes, want at most %d", peak-before, most)
			}
		})
	}
}

func heap(collect bool) uint64 {
	if collect {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// A damaged token never completes a message, however long it is.
func TestDamagedToken(t *testing.T) {
	kdc, own, theirs := newRealm(t)
	for _, q := range []sasl.QOP{sasl.AuthInt, sasl.AuthConf} {
		for _, size := range []int{100, 6 << 20} {
			t.Run(fmt.Sprint(q, size), func(t *testing.T) {
				reply := largeReply(1, size)
				m := newMetastore(t, secured(theirs, q), func(m *metastore) {
					m.whole, m.large = true, reply
					m.ready = func(token []byte) {
						if len(token) >= len(reply) {
							token[len(token)/2] ^= 1
						}
					}
				})
				s := newSite(t, m, sasled+qopNames[q], kerberos(kdc, own))
				c := s.client()
				if _, err := c.Write(wiretest.Call("get_table", 1, someTable)); err != nil {
					t.Fatal(err)
				}
				if size < 1000 { // the read is asked for twice, then given up
					msg := make([]byte, 4096)
					n, _ := c.Read(msg)
					wantText(t, wiretest.Message{Bytes: msg[:n]}, "without an answer")
					return
				}
				got, err := io.ReadAll(c)
				if err != nil || len(got) >= len(reply) {
					t.Errorf("the client got %d bytes of %d, %v", len(got), len(reply), err)
				}
			})
		}
	}
}

// A reply whose token goes on behind it is not verified when it ends, so its
// end does not go on.
func TestMessageThatEndsInsideItsToken(t *testing.T) {
	kdc, own, theirs := newRealm(t)
	for _, q := range []sasl.QOP{sasl.AuthInt, sasl.AuthConf} {
		t.Run(q.String(), func(t *testing.T) {
			reply := largeReply(1, 4<<20)
			m := newMetastore(t, secured(theirs, q), func(m *metastore) {
				m.whole, m.large = true, append(reply[:len(reply):len(reply)], make([]byte, 4<<20)...)
			})
			s := newSite(t, m, sasled+qopNames[q], kerberos(kdc, own))
			c := s.client()
			if _, err := c.Write(wiretest.Call("get_table", 1, someTable)); err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(c); err != nil || len(got) >= len(reply) {
				t.Errorf("the client got %d bytes of %d, %v", len(got), len(reply), err)
			}
		})
	}
}
