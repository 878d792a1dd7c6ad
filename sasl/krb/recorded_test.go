package krb

import (
	"bytes"
	"encoding/hex"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jcmturner/gokrb5/v8/types"

	"hmsgate/sasl"
	"hmsgate/sasl/internal/recorded"
)

func eachRecording(t *testing.T, do func(t *testing.T, version string, q sasl.QOP, c *recorded.Conversation)) {
	for _, v := range []string{"3.1.3", "4.1.0"} {
		for _, q := range []sasl.QOP{sasl.Auth, sasl.AuthInt, sasl.AuthConf} {
			name := v + "-gssapi-" + q.String()
			t.Run(name, func(t *testing.T) {
				c, err := recorded.Load("../testdata/" + name + ".wire")
				if err != nil {
					t.Fatal(err)
				}
				do(t, v, q, c)
			})
		}
	}
}

func keyFact(t *testing.T, s string) types.EncryptionKey {
	id, h, _ := strings.Cut(s, " ")
	n, err1 := strconv.Atoi(id)
	b, err2 := hex.DecodeString(h)
	if err1 != nil || err2 != nil {
		t.Fatalf("key %q", s)
	}
	return types.EncryptionKey{KeyType: int32(n), KeyValue: b}
}

func number(t *testing.T, c *recorded.Conversation, name string) uint64 {
	n, err := strconv.ParseUint(c.Facts[name], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A real client's AP-REQ, with the recorded keytab and clock.
func TestRecordedAPReq(t *testing.T) {
	eachRecording(t, func(t *testing.T, v string, q sasl.QOP, c *recorded.Conversation) {
		kt, err := OpenKeytab("../testdata/" + v + "-hms.keytab")
		if err != nil {
			t.Fatal(err)
		}
		a, err := NewAcceptor(AcceptorConfig{Keytab: kt, Principals: []string{"hms/localhost@RIG.TEST"}, QOP: 7, ShortName: shortName})
		if err != nil {
			t.Fatal(err)
		}
		clock, err := time.Parse(time.RFC3339Nano, c.Facts["clock"])
		if err != nil {
			t.Fatal(err)
		}
		token := c.Negotiation()[1].Body
		a.verifier.now = func() time.Time { return clock.Add(10 * time.Minute) }
		if _, _, err := a.Begin(netip.Addr{}).Step(token); sasl.ReasonOf(err) != sasl.Skew {
			t.Errorf("ten minutes later: got %v", err)
		}
		a.verifier.now = func() time.Time { return clock.Add(48 * time.Hour) }
		if _, _, err := a.Begin(netip.Addr{}).Step(token); sasl.ReasonOf(err) != sasl.Expired {
			t.Errorf("two days later: got %v", err)
		}
		a.verifier.now = func() time.Time { return clock.Add(time.Second) }
		r, err := a.verifier.verify(token, netip.Addr{})
		if err != nil {
			t.Fatal(err)
		}
		if r.principal != c.Facts["client"] || r.flags != 0x3e || uint64(r.auth.SeqNumber) != number(t, c, "client-seq") || r.offset != -time.Second {
			t.Errorf("got %s, flags %#x, seq %d, offset %v", r.principal, r.flags, r.auth.SeqNumber, r.offset)
		}
		if want := keyFact(t, c.Facts["context"]); !bytes.Equal(r.auth.SubKey.KeyValue, want.KeyValue) {
			t.Error("subkey differs from the recorded one")
		}
		if _, _, err := a.Begin(netip.Addr{}).Step(token); sasl.ReasonOf(err) != sasl.Replay {
			t.Errorf("again: got %v", err)
		}
	})
}

// The server's AP-REP, checked as its client had to.
func TestRecordedAPRep(t *testing.T) {
	eachRecording(t, func(t *testing.T, _ string, _ sasl.QOP, c *recorded.Conversation) {
		clock, _ := time.Parse(time.RFC3339Nano, c.Facts["clock"])
		auth := types.Authenticator{CTime: clock.Truncate(time.Second), Cusec: clock.Nanosecond() / 1000,
			SubKey: keyFact(t, c.Facts["context"]), SeqNumber: int64(number(t, c, "client-seq"))}
		session := keyFact(t, c.Facts["session"])
		token := c.Negotiation()[2].Body
		k, err := readAPRep(token, session, auth)
		if err != nil || k.subkey || k.recvSeq != number(t, c, "server-seq") || k.sendSeq != number(t, c, "client-seq") {
			t.Fatalf("got %+v, %v", k, err)
		}
		late := auth
		late.Cusec++
		if _, err := readAPRep(token, session, late); sasl.ReasonOf(err) != sasl.Credentials {
			t.Errorf("answer to another authenticator: got %v", err)
		}
		for i := 48; i < len(token); i++ { // the encrypted part; before it ASN.1 has bits that say nothing
			bad := append([]byte(nil), token...)
			bad[i] ^= 0x10
			if k, err := readAPRep(bad, session, auth); err == nil {
				t.Errorf("byte %d damaged: accepted, sequence %d", i, k.recvSeq)
			}
		}
	})
}

func contextOf(t *testing.T, c *recorded.Conversation, acceptor bool) *wrapContext {
	k := contextKeys{acceptor: acceptor, key: keyFact(t, c.Facts["context"]), sendSeq: number(t, c, "client-seq"), recvSeq: number(t, c, "server-seq")}
	if acceptor {
		k.sendSeq, k.recvSeq = k.recvSeq, k.sendSeq
	}
	w, err := newWrapContext(k)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Both sides of the recorded layer: what came opens, and what is not sealed
// (no random confounder) is made again to the byte.
func TestRecordedTokens(t *testing.T) {
	eachRecording(t, func(t *testing.T, _ string, q sasl.QOP, c *recorded.Conversation) {
		for _, acceptor := range []bool{true, false} {
			w := contextOf(t, c, acceptor)
			l := newLayer(w, q)
			for i, m := range c.Messages {
				if len(m.Body) < wrapHead || m.Body[0] != 5 {
					continue
				}
				open, head := w.check, wrapHead
				if m.Status == "DATA" {
					open, head = l.Open, l.Head()
				}
				if m.Client == acceptor {
					got, err := open(append([]byte(nil), m.Body...))
					if err != nil || !bytes.Equal(got, m.Plain) {
						t.Fatalf("message %d: got %x, %v\nwant %x", i, got, err, m.Plain)
					}
					continue
				}
				b := make([]byte, head+len(m.Plain)+64)
				copy(b[head:], m.Plain)
				var got []byte
				if m.Status == "DATA" {
					got, _ = l.Seal(b, len(m.Plain))
				} else {
					got = w.sign(b, len(m.Plain))
				}
				if len(got) != len(m.Body) || m.Body[2]&isSealed == 0 && !bytes.Equal(got, m.Body) {
					t.Fatalf("message %d: made %x\nwant %x", i, got, m.Body)
				}
			}
		}
	})
}
