package krb

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"net/netip"
	"testing"

	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/types"

	"hmsgate/sasl"
)

func contextPair(t testing.TB, id int32, subkey bool) (initiator, acceptor *wrapContext) {
	key := testKey(t, id)
	i, err := newWrapContext(contextKeys{key: key, subkey: subkey, sendSeq: 100, recvSeq: 200})
	if err != nil {
		t.Fatal(err)
	}
	a, err := newWrapContext(contextKeys{acceptor: true, key: key, subkey: subkey, sendSeq: 200, recvSeq: 100})
	if err != nil {
		t.Fatal(err)
	}
	return i, a
}

func sealWith(l sasl.Layer, p []byte) []byte {
	b := make([]byte, l.Head()+len(p)+l.Tail())
	copy(b[l.Head():], p)
	return must(l.Seal(b, len(p)))
}

func eachLayer(t *testing.T, do func(t *testing.T, id int32, q sasl.QOP)) {
	for _, e := range enctypes {
		for _, q := range []sasl.QOP{sasl.AuthInt, sasl.AuthConf} {
			t.Run(fmt.Sprintf("%d %v", e.id, q), func(t *testing.T) { do(t, e.id, q) })
		}
	}
}

// Our tokens against gokrb5's own primitives, all sizes around a block.
func TestAgainstGokrb5(t *testing.T) {
	for _, e := range enctypes {
		key := testKey(t, e.id)
		g := must(crypto.GetEtype(e.id))
		for n := 0; n < 70; n++ {
			c := must(newWrapContext(contextKeys{key: key, sendSeq: 7, recvSeq: 9}))
			p := make([]byte, n)
			rand.Read(p)
			tok := sealWith(sealing{c}, p)
			plain, err := g.DecryptMessage(key.KeyValue, tok[wrapHead:], usageInitiatorSeal)
			if err != nil || !bytes.Equal(plain[:n], p) || !bytes.Equal(plain[n:], tok[:wrapHead]) {
				t.Fatalf("enctype %d, %d bytes: gokrb5 opens it to %x, %v", e.id, n, plain, err)
			}
			if n > 0 { // theirs, opened by us
				head := []byte{5, 4, isSealed | fromAcceptor, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9}
				_, body, err := g.EncryptMessage(key.KeyValue, append(append([]byte{}, p...), head...), usageAcceptorSeal)
				if err != nil {
					t.Fatal(err)
				}
				got, err := c.unseal(append(head, body...))
				if err != nil || !bytes.Equal(got, p) {
					t.Fatalf("enctype %d, %d bytes: we open gokrb5's to %x, %v", e.id, n, got, err)
				}
			}
			signed := sealWith(signing{c}, p)
			head := append([]byte(nil), signed[:wrapHead]...)
			head[5] = 0
			if !g.VerifyChecksum(key.KeyValue, append(append([]byte{}, p...), head...), signed[wrapHead+n:], usageInitiatorSeal) {
				t.Fatalf("enctype %d, %d bytes: gokrb5 does not verify our checksum", e.id, n)
			}
		}
	}
}

func TestBothWays(t *testing.T) {
	eachLayer(t, func(t *testing.T, id int32, q sasl.QOP) {
		for _, subkey := range []bool{false, true} {
			i, a := contextPair(t, id, subkey)
			li, la := newLayer(i, q), newLayer(a, q)
			for n := 0; n < 100; n++ {
				m := bytes.Repeat([]byte{byte(n)}, n)
				for _, d := range [][2]sasl.Layer{{li, la}, {la, li}} {
					w := sealWith(d[0], m)
					if d[0].PlainMax(len(w)) != n {
						t.Errorf("token of %d bytes holds %d, PlainMax says %d", len(w), n, d[0].PlainMax(len(w)))
					}
					if got, err := d[1].Open(w); err != nil || !bytes.Equal(got, m) {
						t.Fatalf("%d bytes: got %x, %v", n, got, err)
					}
				}
			}
		}
	})
}

// rotated turns a token's body right by rrc, as Windows sends it (28).
func rotated(tok []byte, rrc int) []byte {
	out := append([]byte(nil), tok...)
	body := tok[wrapHead:]
	for i, c := range body {
		out[wrapHead+(i+rrc)%len(body)] = c
	}
	binary.BigEndian.PutUint16(out[6:], uint16(rrc))
	return out
}

func TestRotation(t *testing.T) {
	eachLayer(t, func(t *testing.T, id int32, q sasl.QOP) {
		for _, rrc := range []int{0, 1, 12, 28, 29, 100, 65535} {
			i, a := contextPair(t, id, true)
			got, err := newLayer(a, q).Open(rotated(sealWith(newLayer(i, q), []byte("rotated")), rrc))
			if err != nil || string(got) != "rotated" {
				t.Errorf("rotated by %d: got %q, %v", rrc, got, err)
			}
		}
	})
}

// EC filler in a sealed token (Windows again).
func TestFiller(t *testing.T) {
	for _, e := range enctypes {
		key := testKey(t, e.id)
		a := must(newWrapContext(contextKeys{acceptor: true, key: key, recvSeq: 1}))
		g := must(crypto.GetEtype(e.id))
		head := []byte{5, 4, isSealed, 0xff, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}
		_, body, _ := g.EncryptMessage(key.KeyValue, append([]byte("plainFILLR"), head...), usageInitiatorSeal)
		if got, err := a.unseal(append(head, body...)); err != nil || string(got) != "plain" {
			t.Errorf("enctype %d: got %q, %v", e.id, got, err)
		}
	}
}

// Every bit counts, but for the rotation of a body that stays the same. What
// is refused ends the context.
func TestFlippedBits(t *testing.T) {
	eachLayer(t, func(t *testing.T, id int32, q sasl.QOP) {
		length := 0
		for n := 0; n == 0 || n < 8*length; n++ {
			i, a := contextPair(t, id, true)
			w := sealWith(newLayer(i, q), []byte("payload"))
			length = len(w)
			w[n/8] ^= 1 << (n % 8)
			if got, err := newLayer(a, q).Open(w); err == nil {
				t.Fatalf("bit %d flipped: got %q", n, got)
			}
			if _, err := newLayer(a, q).Open(sealWith(newLayer(i, q), []byte("next"))); err == nil {
				t.Fatalf("bit %d flipped: the context lives on", n)
			}
		}
	})
}

func TestTokenOrder(t *testing.T) {
	other := map[sasl.QOP]sasl.QOP{sasl.AuthInt: sasl.AuthConf, sasl.AuthConf: sasl.AuthInt}
	eachLayer(t, func(t *testing.T, id int32, q sasl.QOP) {
		for _, c := range []struct {
			name string
			pick func(i, a sasl.Layer, one, two []byte) []byte
		}{
			{"duplicate", func(_, a sasl.Layer, one, _ []byte) []byte {
				if _, err := a.Open(append([]byte(nil), one...)); err != nil {
					t.Fatal(err)
				}
				return one
			}},
			{"reordered", func(_, _ sasl.Layer, _, two []byte) []byte { return two }},
			{"reflected", func(_, a sasl.Layer, _, _ []byte) []byte { return sealWith(a, []byte("own")) }},
			{"cut", func(_, _ sasl.Layer, one, _ []byte) []byte { return one[:len(one)-1] }},
			{"head only", func(_, _ sasl.Layer, one, _ []byte) []byte { return one[:wrapHead] }},
			{"empty", func(_, _ sasl.Layer, _, _ []byte) []byte { return nil }},
			{"longer", func(_, _ sasl.Layer, one, _ []byte) []byte { return append(one, 0) }},
		} {
			i, a := contextPair(t, id, true)
			li, la := newLayer(i, q), newLayer(a, q)
			if got, err := la.Open(c.pick(li, la, sealWith(li, []byte("one")), sealWith(li, []byte("two")))); err == nil {
				t.Errorf("%s: got %q", c.name, got)
			}
		}
		i, a := contextPair(t, id, true)
		if _, err := newLayer(a, q).Open(sealWith(newLayer(i, other[q]), []byte("x"))); err == nil {
			t.Errorf("a token of %v passes under %v", other[q], q)
		}
		i, a = contextPair(t, id, true)
		i.send.flags &^= acceptorSubkey
		if _, err := newLayer(a, q).Open(sealWith(newLayer(i, q), []byte("x"))); err == nil {
			t.Error("a token that denies the acceptor's subkey passes")
		}
	})
}

func TestEstablished(t *testing.T) {
	for _, e := range enctypes {
		for _, q := range []sasl.QOP{sasl.Auth, sasl.AuthInt, sasl.AuthConf} {
			c, s := established(t, e.id, q)
			if s.Identity.Principal != "alice@TEST.LOCAL" || s.Identity.User != "alice" || s.QOP != q || c.QOP != q {
				t.Errorf("enctype %d: got %+v and %+v", e.id, s, c)
			}
			if q == sasl.Auth {
				if s.Layer != nil || c.Layer != nil {
					t.Error("a layer under auth")
				}
				continue
			}
			if s.SendMax != receiveMax || c.SendMax != receiveMax {
				t.Errorf("got send limits %d and %d", s.SendMax, c.SendMax)
			}
			if got, err := s.Layer.Open(sealWith(c.Layer, []byte("hello"))); err != nil || string(got) != "hello" {
				t.Errorf("got %q, %v", got, err)
			}
		}
	}
}

// No key appears in what a context or an outcome prints.
func TestNewKeySizes(t *testing.T) {
	for id, want := range map[int32]int{17: 16, 18: 32, 19: 16, 20: 32} {
		if got := len(testKey(t, id).KeyValue); got != want {
			t.Errorf("enctype %d: key of %d bytes, want %d", id, got, want)
		}
	}
	if _, err := checkKey(types.EncryptionKey{KeyType: 20, KeyValue: make([]byte, 24)}, "key"); err == nil {
		t.Error("the 24-byte key that gokrb5 makes for enctype 20 passes")
	}
}

func TestSealAllocations(t *testing.T) {
	for _, e := range enctypes {
		for _, q := range []sasl.QOP{sasl.AuthInt, sasl.AuthConf} {
			i, a := contextPair(t, e.id, true)
			li, la := newLayer(i, q), newLayer(a, q)
			b := make([]byte, 4096)
			if n := testing.AllocsPerRun(100, func() {
				tok, err := li.Seal(b, 1000)
				if err == nil {
					_, err = la.Open(tok)
				}
				if err != nil {
					t.Fatal(err)
				}
			}); n > 0 {
				t.Errorf("enctype %d, %v: %v allocations for a token sealed and opened, want 0", e.id, q, n)
			}
		}
	}
}

func BenchmarkSeal(b *testing.B) { benchLayer(b, false) }
func BenchmarkOpen(b *testing.B) { benchLayer(b, true) }

func benchLayer(b *testing.B, open bool) {
	for _, id := range []int32{18, 20} {
		for _, q := range []sasl.QOP{sasl.AuthInt, sasl.AuthConf} {
			for _, n := range []int{1 << 10, 64<<10 - 100} {
				b.Run(fmt.Sprintf("%d %v %d", id, q, n), func(b *testing.B) {
					i, a := contextPair(b, id, true)
					li, la := newLayer(i, q), newLayer(a, q)
					buf := make([]byte, n+200)
					b.SetBytes(int64(n))
					b.ReportAllocs()
					for b.Loop() {
						if open {
							b.StopTimer()
						}
						tok, _ := li.Seal(buf, n)
						if open {
							b.StartTimer()
							if _, err := la.Open(tok); err != nil {
								b.Fatal(err)
							}
						}
					}
				})
			}
		}
	}
}

// What gokrb5's own primitive does for the same token, for doc.go.
func BenchmarkSealGokrb5(b *testing.B) {
	for _, id := range []int32{18, 20} {
		for _, n := range []int{1 << 10, 64<<10 - 100} {
			b.Run(fmt.Sprintf("%d auth-conf %d", id, n), func(b *testing.B) {
				key, g := testKey(b, id), must(crypto.GetEtype(id))
				p := make([]byte, n+wrapHead)
				b.SetBytes(int64(n))
				b.ReportAllocs()
				for b.Loop() {
					if _, _, err := g.EncryptMessage(key.KeyValue, p, usageAcceptorSeal); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// The CPU of a whole handshake, both sides in one process.
func BenchmarkHandshake(b *testing.B) {
	k := testKeytab(b)
	f := newForgery(b, k, 18)
	a := testAcceptor(b, k, sasl.Auth)
	tkt := f.client(sasl.Auth).ticket
	b.ReportAllocs()
	for b.Loop() {
		cx := &initiation{qop: []sasl.QOP{sasl.Auth}, ticket: tkt}
		sx := a.Begin(netip.Addr{})
		token := must(cx.request())
		for {
			reply, done, err := sx.Step(token)
			if err != nil {
				b.Fatal(err)
			}
			if done {
				break
			}
			if token, _, err = cx.Step(reply); err != nil {
				b.Fatal(err)
			}
		}
	}
}
