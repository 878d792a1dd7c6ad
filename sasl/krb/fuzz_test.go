package krb

import (
	"bytes"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"github.com/jcmturner/gokrb5/v8/types"

	"hmsgate/sasl"
	"hmsgate/sasl/internal/recorded"
)

// Nothing in the path may panic: a recovered one counts as a failure here.
func FuzzAPReq(f *testing.F) {
	k := testKeytab(f)
	a := testAcceptor(f, k, sasl.Auth)
	a.verifier.replay = nil
	for _, e := range enctypes {
		f.Add(newForgery(f, k, e.id).build())
	}
	c, err := recorded.Load("../testdata/4.1.0-gssapi-auth.wire")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(c.Negotiation()[1].Body)
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, _, err := a.Begin(netip.Addr{}).Step(b); err != nil && sasl.ReasonOf(err) == sasl.Internal {
			t.Fatal(err)
		}
	})
}

// The encrypted parts, which only a KDC or a client can make: whatever is in
// them, they are read or refused.
func FuzzTicketInside(f *testing.F) {
	k := testKeytab(f)
	a := testAcceptor(f, k, sasl.Auth)
	base := newForgery(f, k, 18)
	service, _, _ := k.newest(testService, 18)
	f.Add([]byte{0x63, 0x02, 0x30, 0x00}, true)
	f.Add([]byte{0x62, 0x02, 0x30, 0x00}, false)
	f.Fuzz(func(t *testing.T, b []byte, ticket bool) {
		g := *base
		if ticket {
			g.ticketEnc = func(e *types.EncryptedData) { *e = must(encrypt(b, service, usageTicket, 0)) }
		} else {
			g.authEnc = func(e *types.EncryptedData) { *e = must(encrypt(b, g.part.Key, usageAuthenticator, 0)) }
		}
		if reply, _, err := a.Begin(netip.Addr{}).Step(g.build()); err == nil || reply != nil || sasl.ReasonOf(err) == sasl.Internal {
			t.Fatalf("%x: got %v", b, err)
		}
	})
}

func FuzzChecksum(f *testing.F) {
	f.Add(newChecksum().Checksum)
	f.Add(delegating(20, 20))
	f.Fuzz(func(t *testing.T, b []byte) {
		flags, err := parseChecksum(types.Checksum{CksumType: checksumType, Checksum: b})
		if err == nil && (flags&flagMutual == 0 || flags&(flagAnon|flagDCE) != 0) {
			t.Fatalf("%x: flags %#x", b, flags)
		}
	})
}

func FuzzContextToken(f *testing.F) {
	f.Add(appendContextToken(nil, idAPReq, bytes.Repeat([]byte{1}, 300)))
	f.Fuzz(func(t *testing.T, b []byte) {
		id, inner, err := parseContextToken(b)
		if err == nil && !bytes.Equal(appendContextToken(nil, id, inner), b) {
			t.Fatalf("%x has another form", b)
		}
	})
}

// A forged token is never opened, held or streamed.
func FuzzWrap(f *testing.F) {
	i, _ := contextPair(f, 18, true)
	f.Add(sealWith(sealing{i}, []byte("x")), uint8(0), true)
	f.Add(sealWith(signing{i}, []byte("x")), uint8(2), false)
	f.Fuzz(func(t *testing.T, b []byte, which uint8, seal bool) {
		_, a := contextPair(t, enctypes[int(which)%len(enctypes)].id, true)
		q := sasl.AuthInt
		if seal {
			q = sasl.AuthConf
		}
		if p, err := newLayer(a, q).Open(append([]byte(nil), b...)); err == nil {
			t.Fatalf("forged: %x", p)
		}
		_, a = contextPair(t, enctypes[int(which)%len(enctypes)].id, true)
		l := newLayer(a, q)
		if len(b) < l.Head() {
			return
		}
		o, err := l.OpenStream(int64(len(b)), b[:l.Head()])
		if err != nil {
			return
		}
		rest := b[l.Head():]
		body, end := rest[:len(rest)-o.Hold()], rest[len(rest)-o.Hold():]
		if _, used, err := o.Next(body); err != nil || used != len(body) {
			t.Fatalf("used %d of %d bytes, %v", used, len(body), err)
		}
		if p, err := o.Close(end); err == nil {
			t.Fatalf("forged: %x", p)
		}
	})
}

func FuzzAPRep(f *testing.F) {
	k := testKeytab(f)
	cx := newForgery(f, k, 18).client(sasl.Auth)
	sx := testAcceptor(f, k, sasl.Auth).Begin(netip.Addr{})
	rep, _, err := sx.Step(must(cx.request()))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(rep)
	f.Add(appendContextToken(nil, idError, []byte{0x7e, 0}))
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := readAPRep(b, cx.ticket.key, cx.auth); err != nil && sasl.ReasonOf(err) == sasl.Internal {
			t.Fatal(err)
		}
	})
}

func FuzzKeytab(f *testing.F) {
	for _, v := range []string{"3.1.3", "4.1.0"} {
		b, err := os.ReadFile("../testdata/" + v + "-hms.keytab")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	path := filepath.Join(f.TempDir(), "keytab")
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		k, err := OpenKeytab(path)
		if err != nil && len(b) > 8 && bytes.Contains([]byte(err.Error()), b[:8]) {
			t.Fatalf("the error repeats the file: %v", err)
		}
		if err == nil && len(k.Principals()) == 0 {
			t.Fatal("no principal")
		}
	})
}
