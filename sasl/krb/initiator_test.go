package krb

import (
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"

	"hmsgate/sasl"
)

// begun is an initiator and its acceptor's context, before the offer.
func begun(t *testing.T, want ...sasl.QOP) (*initiation, *wrapContext) {
	k := testKeytab(t)
	cx := newForgery(t, k, 18).client(want...)
	sx := testAcceptor(t, k, 7).Begin(netip.Addr{}).(*acceptance)
	rep, _, err := sx.Step(must(cx.request()))
	if err != nil {
		t.Fatal(err)
	}
	if _, done, err := cx.Step(rep); err != nil || done {
		t.Fatal(done, err)
	}
	return cx, sx.ctx
}

// What a server may offer, and what we take of it.
func TestOffers(t *testing.T) {
	for _, c := range []struct {
		name, offer string
		want        []sasl.QOP
		chosen      sasl.QOP
		reason      sasl.Reason
	}{
		{"all, we want none", "\x07\x01\x00\x00", []sasl.QOP{sasl.Auth}, sasl.Auth, ""},
		{"our order counts", "\x07\x01\x00\x00", []sasl.QOP{sasl.AuthInt, sasl.AuthConf}, sasl.AuthInt, ""},
		{"the second of ours", "\x01\x00\x00\x00", []sasl.QOP{sasl.AuthConf, sasl.Auth}, sasl.Auth, ""},
		{"no downgrade", "\x01\x00\x00\x00", []sasl.QOP{sasl.AuthConf}, 0, sasl.LayerChoice},
		{"nothing", "\x00\x00\x00\x00", []sasl.QOP{sasl.Auth}, 0, sasl.LayerChoice},
		{"unknown bits only", "\xf8\x01\x00\x00", []sasl.QOP{sasl.Auth}, 0, sasl.LayerChoice},
		{"tiny buffer", "\x04\x00\x00\x40", []sasl.QOP{sasl.AuthConf}, 0, sasl.LayerChoice},
		{"three bytes", "\x07\x01\x00", []sasl.QOP{sasl.Auth}, 0, sasl.Protocol},
		{"five bytes", "\x07\x01\x00\x00\x00", []sasl.QOP{sasl.Auth}, 0, sasl.Protocol},
	} {
		t.Run(c.name, func(t *testing.T) {
			cx, server := begun(t, c.want...)
			reply, done, err := cx.Step(server.signed([]byte(c.offer)))
			if c.reason != "" {
				if err == nil || done || sasl.ReasonOf(err) != c.reason {
					t.Errorf("got %v, want reason %s", err, c.reason)
				}
				return
			}
			if err != nil || !done || cx.Outcome().QOP != c.chosen {
				t.Fatalf("got %v, %v, %v", cx.Outcome().QOP, done, err)
			}
			if p, err := server.check(reply); err != nil || sasl.QOP(p[0]) != c.chosen || len(p) != 4 {
				t.Errorf("answered %x, %v", p, err)
			}
			if _, done, err := cx.Step(nil); err == nil || done {
				t.Error("a step after the end")
			}
		})
	}
	cx, server := begun(t, sasl.Auth)
	w := server.signed([]byte("\x01\x00\x00\x00"))
	w[len(w)-1] ^= 1
	if _, _, err := cx.Step(w); sasl.ReasonOf(err) != sasl.Credentials {
		t.Errorf("a damaged offer: got %v", err)
	}
}

func TestAcceptorErrors(t *testing.T) {
	k := testKeytab(t)
	cx := newForgery(t, k, 18).client(sasl.Auth)
	must(cx.request())
	name := types.PrincipalName{NameType: 1, NameString: []string{"hive", "gw.test.local"}}
	for code, want := range map[int32]sasl.Reason{37: sasl.Skew, 7: sasl.NoKey, 31: sasl.Credentials} {
		e := messages.NewKRBError(name, "TEST.LOCAL", code, "text of the peer")
		_, err := readAPRep(appendContextToken(nil, idError, must(e.Marshal())), cx.ticket.key, cx.auth)
		if sasl.ReasonOf(err) != want || strings.Contains(err.Error(), "text of the peer") {
			t.Errorf("KRB-ERROR %d: got %v, want reason %s", code, err, want)
		}
	}
}

// Whoever answers for a KDC can make us fail, and no more.
func TestHostileKDC(t *testing.T) {
	name := types.PrincipalName{NameType: 1, NameString: []string{"krbtgt", "R"}}
	skew := messages.NewKRBError(name, "R", 37, "x")
	preauth := messages.NewKRBError(name, "R", kdcPreauthNeed, "x")
	preauth.EData = []byte{0x30, 0x80, 0xff}
	framed := func(b []byte) []byte { return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...) }
	for _, c := range []struct {
		name  string
		reply []byte
		want  sasl.Reason
	}{
		{"closes", nil, sasl.Unavailable},
		{"4 GB", []byte{0xff, 0xff, 0xff, 0xff}, sasl.Unavailable},
		{"nothing", []byte{0, 0, 0, 0}, sasl.Unavailable},
		{"cut", []byte{0, 0, 0, 9, 'x'}, sasl.Unavailable},
		{"garbage", framed([]byte("garbage")), sasl.Protocol},
		{"empty AS-REP", framed([]byte{0x6b, 0x02, 0x30, 0x00}), sasl.Protocol},
		{"skew", framed(must(skew.Marshal())), sasl.Skew},
		{"preauthentication for ever", framed(must(preauth.Marshal())), sasl.Credentials},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan struct{})
			go func() {
				defer close(done)
				for {
					conn, err := l.Accept()
					if err != nil {
						return
					}
					var head [4]byte
					if _, err := io.ReadFull(conn, head[:]); err == nil {
						_, _ = io.CopyN(io.Discard, conn, int64(binary.BigEndian.Uint32(head[:])))
						_, _ = conn.Write(c.reply)
					}
					conn.Close()
				}
			}()
			dir := t.TempDir()
			conf, kt := filepath.Join(dir, "krb5.conf"), filepath.Join(dir, "kt")
			text := "[libdefaults]\n default_realm = R\n[realms]\n R = {\n  kdc = " + l.Addr().String() + "\n }\n"
			if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			writeKeytab(t, kt, 1)
			login, err := NewLogin(conf, "hive/gw@R", must(OpenKeytab(kt)))
			if err != nil {
				t.Fatal(err)
			}
			i := &Initiator{Login: login, Service: "hive", Host: "far", Timeout: 5 * time.Second}
			if _, _, _, err := i.Begin(); err == nil || sasl.ReasonOf(err) != c.want {
				t.Errorf("got %v, want reason %s", err, c.want)
			}
			l.Close()
			<-done
		})
	}
}

func TestNewLoginRefusals(t *testing.T) {
	dir := t.TempDir()
	kt := filepath.Join(dir, "kt")
	writeKeytab(t, kt, 1)
	k := must(OpenKeytab(kt))
	conf := filepath.Join(dir, "krb5.conf")
	if _, err := NewLogin(conf, "hive/gw@R", k); err == nil {
		t.Error("a krb5.conf that is not there: accepted")
	}
	if err := os.WriteFile(conf, []byte("[libdefaults]\n default_realm = R\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	login, err := NewLogin(conf, "hive/gw@R", k)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := (&Initiator{Login: login, Service: "hive", Host: "far"}).Begin(); sasl.ReasonOf(err) != sasl.Unavailable {
		t.Errorf("no KDC known: got %v", err)
	}
	if _, _, _, err := (&Initiator{Login: login, Service: "hive", Host: "far/x@Y"}).Begin(); sasl.ReasonOf(err) != sasl.Name {
		t.Errorf("a host that is no host: got %v", err)
	}
}
