package krb

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/jcmturner/gokrb5/v8/types"

	"hmsgate/sasl"
)

// Each row breaks one thing; the first breaks nothing.
func TestAPReqRefusals(t *testing.T) {
	short := func(n int) func(*types.EncryptedData) {
		return func(e *types.EncryptedData) { e.Cipher = e.Cipher[:n] }
	}
	name := func(parts ...string) types.PrincipalName { return types.PrincipalName{NameType: 1, NameString: parts} }
	for _, c := range []struct {
		name  string
		alter func(f *forgery)
		want  sasl.Reason
	}{
		{"nothing", func(f *forgery) {}, ""},
		{"no kvno: every key is tried", func(f *forgery) { f.kvno = 0 }, ""},
		{"wrong kvno, right key", func(f *forgery) { f.kvno = 99 }, ""},
		{"no subkey", func(f *forgery) { f.auth.SubKey = types.EncryptionKey{} }, ""},
		{"ticket bound to the peer's address", func(f *forgery) {
			f.part.CAddr = types.HostAddresses{{AddrType: 2, Address: []byte{10, 1, 2, 3}}, {AddrType: 2, Address: []byte{127, 0, 0, 1}}}
		}, ""},
		{"forwarded credentials are thrown away", func(f *forgery) { f.auth.Cksum.Checksum = delegating(20, 20) }, ""},
		{"ended within the skew", func(f *forgery) { f.part.EndTime = time.Now().Add(-time.Minute) }, ""},
		{"path checked by a KDC", func(f *forgery) {
			f.part.Transited.Contents = []byte("MIDDLE")
			types.SetFlag(&f.part.Flags, ticketTransitedPolicy)
		}, ""},

		{"key of another service", func(f *forgery) { f.service = newKey(enctypes[0]) }, sasl.NoKey},
		{"service not answered for", func(f *forgery) { f.sname = name("hive", "other.test.local") }, sasl.NoKey},
		{"service of another realm", func(f *forgery) { f.srealm = "OTHER.REALM" }, sasl.NoKey},
		{"unknown service", func(f *forgery) { f.sname = name("http", "gw.test.local") }, sasl.NoKey},
		{"empty sname", func(f *forgery) { f.sname = types.PrincipalName{} }, sasl.Name},
		{"krbtgt as sname", func(f *forgery) { f.sname = name("krbtgt", "TEST.LOCAL") }, sasl.NoKey},
		{"sname in one component with a slash", func(f *forgery) { f.sname = name("hive/gw.test.local") }, sasl.Name},
		{"rc4 ticket", func(f *forgery) { f.ticketEnc = func(e *types.EncryptedData) { e.EType = 23 } }, sasl.Enctype},
		{"ticket cipher empty", func(f *forgery) { f.ticketEnc = short(0) }, sasl.NoKey},
		{"ticket cipher of one byte", func(f *forgery) { f.ticketEnc = short(1) }, sasl.NoKey},
		{"ticket cipher of a MAC", func(f *forgery) { f.ticketEnc = short(12) }, sasl.NoKey},
		{"ticket cipher of 28 bytes", func(f *forgery) { f.ticketEnc = short(28) }, sasl.NoKey},
		{"ticket cipher cut", func(f *forgery) { f.ticketEnc = short(100) }, sasl.NoKey},
		{"ticket bit flipped", func(f *forgery) { f.ticketEnc = func(e *types.EncryptedData) { e.Cipher[40] ^= 1 } }, sasl.NoKey},
		{"authenticator empty", func(f *forgery) { f.authEnc = short(0) }, sasl.Credentials},
		{"authenticator short", func(f *forgery) { f.authEnc = short(11) }, sasl.Credentials},
		{"authenticator bit flipped", func(f *forgery) { f.authEnc = func(e *types.EncryptedData) { e.Cipher[20] ^= 1 } }, sasl.Credentials},
		{"authenticator of a TGS-REQ", func(f *forgery) {
			f.authEnc = func(e *types.EncryptedData) { *e = must(encrypt(must(f.auth.Marshal()), f.part.Key, 7, 0)) }
		}, sasl.Credentials},
		{"authenticator of another enctype", func(f *forgery) { f.authEnc = func(e *types.EncryptedData) { e.EType = 17 } }, sasl.Enctype},
		{"another client realm", func(f *forgery) { f.auth.CRealm = "OTHER.REALM" }, sasl.Credentials},
		{"another client name", func(f *forgery) { f.auth.CName = name("root") }, sasl.Credentials},
		{"client name with a slash inside", func(f *forgery) { f.part.CName, f.auth.CName = name("hive/x"), name("hive/x") }, sasl.Name},
		{"client name with an at sign inside", func(f *forgery) { f.part.CName, f.auth.CName = name("root@TEST.LOCAL"), name("root@TEST.LOCAL") }, sasl.Name},
		{"client name empty", func(f *forgery) { f.part.CName, f.auth.CName = name(""), name("") }, sasl.Name},
		{"client of four components", func(f *forgery) { f.part.CName = name("a", "b", "c", "d"); f.auth.CName = f.part.CName }, sasl.Name},
		{"unmapped client", func(f *forgery) { f.part.CRealm, f.auth.CRealm = "ELSE.WHERE", "ELSE.WHERE" }, sasl.Name},
		{"clock ahead", func(f *forgery) { f.auth.CTime = f.auth.CTime.Add(6 * time.Minute) }, sasl.Skew},
		{"clock behind", func(f *forgery) { f.auth.CTime = f.auth.CTime.Add(-6 * time.Minute) }, sasl.Skew},
		{"microseconds out of range", func(f *forgery) { f.auth.Cusec = 1 << 40 }, sasl.Protocol},
		{"expired", func(f *forgery) { f.part.EndTime = time.Now().Add(-6 * time.Minute) }, sasl.Expired},
		{"not yet valid", func(f *forgery) { f.part.StartTime = time.Now().Add(6 * time.Minute) }, sasl.Expired},
		{"marked invalid", func(f *forgery) { types.SetFlag(&f.part.Flags, ticketInvalid) }, sasl.Expired},
		{"no start, authenticated in the future", func(f *forgery) { f.part.StartTime = time.Time{}; f.part.AuthTime = time.Now().Add(time.Hour) }, sasl.Expired},
		{"no mutual authentication asked", func(f *forgery) { f.options = nil }, sasl.Protocol},
		{"user to user", func(f *forgery) { f.options = append(f.options, optionUseSessionKey) }, sasl.Protocol},
		{"checksum of another type", func(f *forgery) { f.auth.Cksum.CksumType = 16 }, sasl.Protocol},
		{"no checksum", func(f *forgery) { f.auth.Cksum = types.Checksum{} }, sasl.Protocol},
		{"checksum short", func(f *forgery) { f.auth.Cksum.Checksum = f.auth.Cksum.Checksum[:23] }, sasl.Protocol},
		{"checksum flags without mutual", func(f *forgery) { f.auth.Cksum.Checksum[20] = flagConf }, sasl.Protocol},
		{"anonymous", func(f *forgery) { f.auth.Cksum.Checksum[20] |= flagAnon }, sasl.Protocol},
		{"DCE style", func(f *forgery) { f.auth.Cksum.Checksum[21] |= flagDCE >> 8 }, sasl.Protocol},
		{"forwarded credentials longer than said", func(f *forgery) { f.auth.Cksum.Checksum = delegating(20, 21) }, sasl.Protocol},
		{"forwarded credentials missing", func(f *forgery) { f.auth.Cksum.Checksum[20] |= flagDeleg }, sasl.Protocol},
		{"subkey of another size", func(f *forgery) { f.auth.SubKey.KeyValue = f.auth.SubKey.KeyValue[:16] }, sasl.Enctype},
		{"rc4 subkey", func(f *forgery) { f.auth.SubKey = types.EncryptionKey{KeyType: 23, KeyValue: make([]byte, 16)} }, sasl.Enctype},
		{"ticket bound to another address", func(f *forgery) { f.part.CAddr = types.HostAddresses{{AddrType: 2, Address: []byte{10, 1, 2, 3}}} }, sasl.Credentials},
		{"path through a realm nobody checked", func(f *forgery) { f.part.Transited.Contents = []byte("MIDDLE") }, sasl.Realm},
		{"bytes after the AP-REQ", func(f *forgery) { f.inner = func(b []byte) []byte { return append(b, 0) } }, sasl.Protocol},
		{"AP-REQ cut", func(f *forgery) { f.inner = func(b []byte) []byte { return b[:len(b)-1] } }, sasl.Protocol},
		{"AP-REQ empty", func(f *forgery) { f.inner = func(b []byte) []byte { return nil } }, sasl.Protocol},
		{"bytes after the token", func(f *forgery) { f.token = func(b []byte) []byte { return append(b, 0) } }, sasl.Protocol},
		{"SPNEGO", func(f *forgery) {
			f.token = func(b []byte) []byte { return []byte("\x60\x0d\x06\x06\x2b\x06\x01\x05\x05\x02\xa0\x03\x30\x01\x00") }
		}, sasl.Mechanism},
		{"an AP-REP", func(f *forgery) {
			f.token = func(b []byte) []byte { return appendContextToken(nil, idAPRep, []byte{1}) }
		}, sasl.Protocol},
		{"empty token", func(f *forgery) { f.token = func(b []byte) []byte { return nil } }, sasl.Protocol},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := testKeytab(t)
			f := newForgery(t, k, 18)
			c.alter(f)
			x := testAcceptor(t, k, sasl.Auth).Begin(netip.MustParseAddr("::ffff:127.0.0.1"))
			reply, done, err := x.Step(f.build())
			if c.want == "" {
				if err != nil || done || len(reply) == 0 {
					t.Fatalf("got %d bytes, %v, %v", len(reply), done, err)
				}
				return
			}
			if err == nil || sasl.ReasonOf(err) != c.want || reply != nil {
				t.Errorf("got %x, %v\nwant reason %s", reply, err, c.want)
			}
			for _, k := range []types.EncryptionKey{f.service, f.part.Key, f.auth.SubKey} {
				for _, form := range []string{string(k.KeyValue), hex.EncodeToString(k.KeyValue), base64.StdEncoding.EncodeToString(k.KeyValue), fmt.Sprint(k.KeyValue)} {
					if len(form) > 2 && err != nil && strings.Contains(err.Error(), form) {
						t.Errorf("the error holds a key: %v", err)
					}
				}
			}
		})
	}
}

// delegating makes a checksum that says n bytes of credentials follow and has m.
func delegating(m, n int) []byte {
	b := newChecksum().Checksum
	b[20] |= flagDeleg
	b = binary.LittleEndian.AppendUint16(b, 1)
	b = binary.LittleEndian.AppendUint16(b, uint16(n))
	return append(b, make([]byte, m)...)
}

// Ciphers shorter than their MAC, of every enctype: gokrb5 would panic.
func TestShortCiphers(t *testing.T) {
	for _, e := range enctypes {
		for _, n := range []int{0, 1, 8, 11, 12, 15, 16, 17, 20, 24, 27, 28, 29, 32, 39, 40, 41, 48} {
			k := testKeytab(t)
			for _, ticket := range []bool{true, false} {
				f := newForgery(t, k, e.id)
				cut := func(d *types.EncryptedData) { d.Cipher = make([]byte, n) }
				if f.authEnc = cut; ticket {
					f.authEnc, f.ticketEnc = nil, cut
				}
				_, _, err := testAcceptor(t, k, sasl.Auth).Begin(netip.Addr{}).Step(f.build())
				if r := sasl.ReasonOf(err); err == nil || r == sasl.Internal {
					t.Fatalf("enctype %d, %d bytes, ticket %v: got %v", e.id, n, ticket, err)
				}
			}
		}
	}
}

func TestReplay(t *testing.T) {
	k := testKeytab(t)
	token := newForgery(t, k, 18).build()
	a := testAcceptor(t, k, sasl.Auth)
	if _, _, err := a.Begin(netip.Addr{}).Step(token); err != nil {
		t.Fatal(err)
	}
	if _, _, err := a.Begin(netip.Addr{}).Step(token); sasl.ReasonOf(err) != sasl.Replay {
		t.Errorf("second time: got %v", err)
	}
}

// With no replay cache in common, as at another instance, a recorded session
// dies at its first wrap token: the subkey is another one.
func TestReplayedSessionAtAnotherInstance(t *testing.T) {
	for _, q := range []sasl.QOP{sasl.Auth, sasl.AuthInt, sasl.AuthConf} {
		k := testKeytab(t)
		cx := newForgery(t, k, 18).client(q)
		one, two := testAcceptor(t, k, q).Begin(netip.Addr{}), testAcceptor(t, k, q).Begin(netip.Addr{})
		apReq := must(cx.request())
		rep, _, err := one.Step(apReq)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := cx.Step(rep); err != nil {
			t.Fatal(err)
		}
		offer, _, _ := one.Step(nil)
		choice, _, err := cx.Step(offer)
		if err != nil {
			t.Fatal(err)
		}
		if _, done, err := one.Step(choice); err != nil || !done {
			t.Fatal(done, err)
		}
		if _, _, err := two.Step(apReq); err != nil {
			t.Fatalf("the other instance cannot know: %v", err)
		}
		if _, _, err := two.Step(nil); err != nil {
			t.Fatal(err)
		}
		if _, done, err := two.Step(choice); err == nil || done {
			t.Errorf("%v: a replayed session was let in", q)
		}
	}
}

// What a client may not answer to the offer.
func TestChoiceRefusals(t *testing.T) {
	for _, c := range []struct {
		name    string
		offer   sasl.QOP
		plain   string
		damaged bool
		want    sasl.Reason
	}{
		{"auth", sasl.Auth, "\x01\x00\x00\x00", false, ""},
		{"auth with a size, as Cyrus sends it", sasl.Auth, "\x01\xff\xff\xff", false, ""},
		{"own authorization id", sasl.Auth, "\x01\x00\x00\x00alice@TEST.LOCAL", false, ""},
		{"integrity of three", 7, "\x02\x01\x00\x00", false, ""},
		{"foreign authorization id", sasl.Auth, "\x01\x00\x00\x00root@TEST.LOCAL", false, sasl.Name},
		{"short authorization id", sasl.Auth, "\x01\x00\x00\x00alice", false, sasl.Name},
		{"not offered", sasl.AuthConf, "\x01\x00\x00\x00", false, sasl.LayerChoice},
		{"more than offered", sasl.Auth, "\x04\x01\x00\x00", false, sasl.LayerChoice},
		{"two bits", 7, "\x06\x01\x00\x00", false, sasl.LayerChoice},
		{"no bit", 7, "\x00\x01\x00\x00", false, sasl.LayerChoice},
		{"unknown bit", 7, "\x08\x01\x00\x00", false, sasl.LayerChoice},
		{"tiny buffer", 7, "\x04\x00\x00\x10", false, sasl.LayerChoice},
		{"three bytes", 7, "\x01\x00\x00", false, sasl.Protocol},
		{"nothing", 7, "", false, sasl.Protocol},
		{"damaged", 7, "\x01\x00\x00\x00", true, sasl.Credentials},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := testKeytab(t)
			cx := newForgery(t, k, 20).client(sasl.Auth)
			sx := testAcceptor(t, k, c.offer).Begin(netip.Addr{})
			rep, _, err := sx.Step(must(cx.request()))
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := cx.Step(rep); err != nil {
				t.Fatal(err)
			}
			offer, _, _ := sx.Step(nil)
			if p, err := cx.ctx.check(offer); err != nil || sasl.QOP(p[0]) != c.offer {
				t.Fatalf("offer %x, %v", p, err)
			}
			w := cx.ctx.signed([]byte(c.plain))
			if c.damaged {
				w[len(w)-1] ^= 1
			}
			_, done, err := sx.Step(w)
			if c.want == "" {
				if err != nil || !done || sx.Outcome().Identity.User != "alice" {
					t.Fatal(done, err, sx.Outcome())
				}
				return
			}
			var e *sasl.Error
			if done || !errors.As(err, &e) || e.Reason != c.want || e.Principal != "alice@TEST.LOCAL" {
				t.Errorf("got %v, done %v, want reason %s of alice", err, done, c.want)
			}
		})
	}
}

// A sealed token where the negotiation has unsealed ones is refused.
func TestSealedChoice(t *testing.T) {
	k := testKeytab(t)
	cx := newForgery(t, k, 18).client(sasl.Auth)
	sx := testAcceptor(t, k, sasl.Auth).Begin(netip.Addr{})
	rep, _, _ := sx.Step(must(cx.request()))
	if _, _, err := cx.Step(rep); err != nil {
		t.Fatal(err)
	}
	sx.Step(nil)
	b := make([]byte, 128)
	copy(b[wrapHead+confounder:], "\x01\x00\x00\x00")
	if _, done, err := sx.Step(cx.ctx.seal(b, 4)); err == nil || done {
		t.Error("accepted")
	}
}

func TestNewAcceptorRefusals(t *testing.T) {
	k := testKeytab(t)
	for _, c := range []struct {
		name string
		c    AcceptorConfig
	}{
		{"no keytab", AcceptorConfig{Principals: []string{testService}, ShortName: shortName}},
		{"no mapping", AcceptorConfig{Keytab: k, Principals: []string{testService}}},
		{"no principal", AcceptorConfig{Keytab: k, ShortName: shortName}},
		{"no realm", AcceptorConfig{Keytab: k, Principals: []string{"hive/gw.test.local"}, ShortName: shortName}},
		{"no key", AcceptorConfig{Keytab: k, Principals: []string{"hive/third.test.local@TEST.LOCAL"}, ShortName: shortName}},
		{"tokens too long", AcceptorConfig{Keytab: k, Principals: []string{testService}, ShortName: shortName, TokenMax: 1 << 20}},
	} {
		if _, err := NewAcceptor(c.c); err == nil {
			t.Errorf("%s: accepted", c.name)
		}
	}
	a, err := NewAcceptor(AcceptorConfig{Keytab: k, AnyPrincipal: true, ShortName: shortName})
	if err != nil {
		t.Fatal(err)
	}
	f := newForgery(t, k, 18)
	key, _, _ := k.newest(otherSPN, 18)
	f.service, f.sname = key, types.PrincipalName{NameString: []string{"hive", "other.test.local"}}
	if _, _, err := a.Begin(netip.Addr{}).Step(f.build()); err != nil {
		t.Errorf("any principal of the keytab: %v", err)
	}
}

// Foreign realms: listed ones, and no others once there is a list.
func TestClientRealms(t *testing.T) {
	k := testKeytab(t)
	for _, c := range []struct {
		trusted, realm string
		ok             bool
	}{{"", "RIG.TEST", true}, {"RIG.TEST", "RIG.TEST", true}, {"OTHER", "RIG.TEST", false}, {"OTHER", "TEST.LOCAL", true}} {
		cfg := AcceptorConfig{Keytab: k, Principals: []string{testService}, ShortName: shortName}
		if c.trusted != "" {
			cfg.ClientRealms = []string{c.trusted}
		}
		f := newForgery(t, k, 18)
		f.part.CRealm, f.auth.CRealm = c.realm, c.realm
		_, _, err := must(NewAcceptor(cfg)).Begin(netip.Addr{}).Step(f.build())
		if (err == nil) != c.ok {
			t.Errorf("trusted %q, client of %q: got %v, want ok %v", c.trusted, c.realm, err, c.ok)
		}
	}
}

func TestReplayCache(t *testing.T) {
	now := time.Unix(1700000000, 0)
	c := NewReplayCache(time.Minute, 256)
	if err := c.add([]byte("a"), now); err != nil {
		t.Fatal(err)
	}
	for _, after := range []time.Duration{0, time.Minute, 2 * time.Minute, 2*time.Minute + 1} {
		if err := c.add([]byte("a"), now.Add(after)); err == nil {
			t.Errorf("forgotten after %v", after)
		}
	}
	if err := c.add([]byte("a"), now.Add(time.Hour)); err != nil {
		t.Errorf("never forgotten: %v", err)
	}
	full := 0
	for i := range 1000 {
		if c.add([]byte{byte(i), byte(i >> 8), 'x'}, now.Add(time.Hour)) != nil {
			full++
		}
	}
	if full < 700 {
		t.Errorf("of 1000 entries in a cache of 256, %d were refused", full)
	}
}
