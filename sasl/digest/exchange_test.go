package digest

import (
	"bytes"
	"net/netip"
	"strings"
	"testing"

	"hmsgate/sasl"
)

const allQOP = sasl.Auth | sasl.AuthInt | sasl.AuthConf

// pair plays a whole exchange and returns both layers.
func pair(t testing.TB, q sasl.QOP, cipher string) (client, server sasl.Layer) {
	s := &Server{Secrets: fixed{"user", "secret"}, QOP: allQOP}
	l := &Login{User: "user", Password: "secret", QOP: []sasl.QOP{q}}
	if cipher != "" {
		l.Ciphers = []string{cipher}
	}
	sx := s.Begin(netip.Addr{})
	cx, _, _, err := l.Begin()
	if err != nil {
		t.Fatal(err)
	}
	challenge, _, err := sx.Step(nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, _, err := cx.Step(challenge)
	if err != nil {
		t.Fatal(err)
	}
	auth, done, err := sx.Step(resp)
	if err != nil || !done {
		t.Fatal(done, err)
	}
	if _, done, err = cx.Step(auth); err != nil || !done {
		t.Fatal(done, err)
	}
	return cx.Outcome().Layer, sx.Outcome().Layer
}

var layers = []struct {
	q      sasl.QOP
	cipher string
}{{sasl.AuthInt, ""}, {sasl.AuthConf, "3des"}, {sasl.AuthConf, "rc4"}}

func seal(t testing.TB, l sasl.Layer, p []byte) []byte {
	b := make([]byte, l.Head()+len(p)+l.Tail())
	copy(b[l.Head():], p)
	out, err := l.Seal(b, len(p))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestLayers(t *testing.T) {
	for _, c := range layers {
		t.Run(c.q.String()+c.cipher, func(t *testing.T) {
			cl, sv := pair(t, c.q, c.cipher)
			for n := 0; n < 70; n++ {
				m := bytes.Repeat([]byte{byte(n)}, n)
				for _, d := range [][2]sasl.Layer{{cl, sv}, {sv, cl}} {
					w := seal(t, d[0], m)
					if most := d[0].PlainMax(len(w)); most > n || most < n-10 {
						t.Errorf("token of %d bytes holds %d, PlainMax says %d", len(w), n, most)
					}
					if got, err := d[1].Open(w); err != nil || !bytes.Equal(got, m) {
						t.Fatalf("%d bytes: got %x, %v", n, got, err)
					}
				}
			}
		})
	}
}

// Every bit of a token counts, and a damaged one ends the layer.
func TestDamage(t *testing.T) {
	for _, c := range layers {
		t.Run(c.q.String()+c.cipher, func(t *testing.T) {
			length := 0
			for i := 0; i == 0 || i < 8*length; i++ {
				cl, sv := pair(t, c.q, c.cipher)
				w := seal(t, cl, []byte("payload"))
				length = len(w)
				w[i/8] ^= 1 << (i % 8)
				if got, err := sv.Open(w); err == nil {
					t.Fatalf("bit %d flipped: got %q", i, got)
				}
				if _, err := sv.Open(seal(t, cl, []byte("next"))); err == nil {
					t.Fatal("the layer lives on")
				}
			}
			for _, name := range []string{"twice", "skipped", "empty", "short"} {
				cl, sv := pair(t, c.q, c.cipher)
				a, b := seal(t, cl, []byte("one")), seal(t, cl, []byte("two"))
				token := map[string][]byte{"twice": append([]byte(nil), a...), "skipped": b, "empty": nil, "short": a[:len(a)-1]}[name]
				if name == "twice" {
					if _, err := sv.Open(a); err != nil {
						t.Fatal(err)
					}
				}
				if _, err := sv.Open(token); err == nil {
					t.Errorf("%s: accepted", name)
				}
			}
		})
	}
}

// What a server must refuse. The response is right in everything else.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name   string
		offer  sasl.QOP
		change func(resp string) string
		want   sasl.Reason
	}{
		{"nothing wrong", allQOP, func(s string) string { return s }, ""},
		{"wrong response", allQOP, func(s string) string { return strings.Replace(s, "response=", "response=0", 1) }, sasl.Credentials},
		{"no response", allQOP, cutDirective("response"), sasl.Credentials},
		{"unknown user", allQOP, replace(`username="user"`, `username="other"`), sasl.Credentials},
		{"no user", allQOP, cutDirective("username"), sasl.Protocol},
		{"wrong uri", allQOP, replace("null/default", "hive/localhost"), sasl.Protocol},
		{"uri without null", allQOP, replace("null/default", "/default"), sasl.Protocol},
		{"uri in capitals is refused only by its response", allQOP, replace("null/default", "NULL/default"), sasl.Credentials},
		{"nc 2", allQOP, replace("nc=00000001", "nc=00000002"), sasl.Replay},
		{"no nc", allQOP, cutDirective("nc"), sasl.Replay},
		{"foreign nonce", allQOP, func(s string) string { return strings.Replace(s, `nonce="`, `nonce="x`, 1) }, sasl.Replay},
		{"no cnonce", allQOP, cutDirective("cnonce"), sasl.Protocol},
		{"wrong realm", allQOP, replace(`realm="default"`, `realm="other"`), sasl.Protocol},
		{"missing qop where auth is not offered", sasl.AuthInt | sasl.AuthConf, cutDirective("qop"), sasl.LayerChoice},
		{"missing qop means auth, which was not signed", allQOP, cutDirective("qop"), sasl.Credentials},
		{"qop not offered", sasl.Auth, func(s string) string { return s }, sasl.LayerChoice},
		{"unknown qop", allQOP, replace("qop=auth-conf", "qop=auth-most"), sasl.LayerChoice},
		{"cipher not offered", allQOP, replace(`cipher="3des"`, `cipher="rc4-40"`), sasl.LayerChoice},
		{"no cipher", allQOP, cutDirective("cipher"), sasl.LayerChoice},
		{"twice the same directive", allQOP, func(s string) string { return s + ",nc=00000001" }, sasl.Protocol},
		{"twice the username", allQOP, func(s string) string { return s + `,username="user"` }, sasl.Protocol},
		{"foreign authzid", allQOP, func(s string) string { return s + `,authzid="root"` }, sasl.Name},
		{"own authzid that was not signed", allQOP, func(s string) string { return s + `,authzid="user"` }, sasl.Credentials},
		{"other charset", allQOP, replace("charset=utf-8", "charset=latin1"), sasl.Protocol},
		{"tiny buffer", allQOP, replace("maxbuf=65536", "maxbuf=20"), sasl.LayerChoice},
		{"buffer that is no number", allQOP, replace("maxbuf=65536", "maxbuf=lots"), sasl.Protocol},
		{"quote without end", allQOP, func(s string) string { return s + `,x="y` }, sasl.Protocol},
		{"garbage", allQOP, func(string) string { return "\x00\x01" }, sasl.Protocol},
		{"empty", allQOP, func(string) string { return "" }, sasl.Protocol},
		{"many directives", allQOP, func(s string) string { return s + strings.Repeat(",a=b", 1) + manyDirectives() }, sasl.Limit},
	} {
		t.Run(c.name, func(t *testing.T) {
			full := (&Server{Secrets: fixed{"user", "secret"}, QOP: allQOP, nonce: func() string { return "n1" }}).Begin(netip.Addr{})
			challenge, _, _ := full.Step(nil)
			cx, _, _, _ := (&Login{User: "user", Password: "secret", QOP: []sasl.QOP{sasl.AuthConf}}).Begin()
			resp, _, err := cx.Step(challenge)
			if err != nil {
				t.Fatal(err)
			}
			x := (&Server{Secrets: fixed{"user", "secret"}, QOP: c.offer, nonce: func() string { return "n1" }}).Begin(netip.Addr{})
			if _, _, err := x.Step(nil); err != nil {
				t.Fatal(err)
			}
			_, done, err := x.Step([]byte(c.change(string(resp))))
			if c.want == "" {
				if err != nil || !done {
					t.Fatal(done, err)
				}
				return
			}
			if err == nil || done || sasl.ReasonOf(err) != c.want {
				t.Errorf("got %v, done %v, want reason %s", err, done, c.want)
			}
			if _, _, err := x.Step(resp); err == nil {
				t.Error("a second try on one nonce was let through")
			}
		})
	}
}

func manyDirectives() string {
	var b strings.Builder
	for i := range 40 {
		b.WriteString("," + strings.Repeat("z", i+1) + "=1")
	}
	return b.String()
}

func replace(old, with string) func(string) string {
	return func(s string) string { return strings.Replace(s, old, with, 1) }
}

func cutDirective(name string) func(string) string {
	return func(s string) string {
		var keep []string
		for _, d := range strings.Split(s, ",") {
			if !strings.HasPrefix(d, name+"=") {
				keep = append(keep, d)
			}
		}
		return strings.Join(keep, ",")
	}
}

func TestServerRefusesAnInitialResponse(t *testing.T) {
	x := (&Server{Secrets: fixed{"user", "secret"}}).Begin(netip.Addr{})
	if _, _, err := x.Step([]byte(`username="user"`)); sasl.ReasonOf(err) != sasl.Protocol {
		t.Errorf("got %v", err)
	}
}

// What a client must not fall for.
func TestClientRefusals(t *testing.T) {
	good := `realm="default",nonce="n",qop="auth,auth-int,auth-conf",charset=utf-8,cipher="3des,rc4",algorithm=md5-sess`
	for _, c := range []struct {
		name, challenge string
		want            sasl.Reason
	}{
		{"no nonce", cutDirective("nonce")(good), sasl.Protocol},
		{"other algorithm", replace("md5-sess", "md5")(good), sasl.Protocol},
		{"two nonces", good + `,nonce="m"`, sasl.Protocol},
		{"only auth offered", replace(`"auth,auth-int,auth-conf"`, `"auth"`)(good), sasl.LayerChoice},
		{"only weak ciphers", replace("3des,rc4", "des,rc4-40")(good), sasl.LayerChoice},
		{"stale", good + `,stale=true`, sasl.Protocol},
		{"tiny buffer", good + `,maxbuf=17`, sasl.LayerChoice},
	} {
		t.Run(c.name, func(t *testing.T) {
			x, _, _, _ := (&Login{User: "user", Password: "secret", QOP: []sasl.QOP{sasl.AuthConf}}).Begin()
			if b, _, err := x.Step([]byte(c.challenge)); err == nil || sasl.ReasonOf(err) != c.want {
				t.Errorf("got %q, %v, want reason %s", b, err, c.want)
			}
		})
	}
	x, _, _, _ := (&Login{User: "user", Password: "secret"}).Begin()
	if _, _, err := x.Step([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"", "rspauth=", "rspauth=00000000000000000000000000000000", good} {
		if _, done, err := x.Step([]byte(s)); err == nil || done {
			t.Errorf("%q passes for a proof", s)
		}
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`a=b`, "a=b"},
		{` a = "b\"\\c" , , B="x,y" ,`, `a=b"\c|b=x,y`},
		{`a=`, "a="},
		{"", ""},
		{`nonce="AB+/=="`, "nonce=AB+/=="},
	} {
		list, err := parse(c.in, false)
		var got []string
		for _, d := range list {
			got = append(got, d.name+"="+d.value)
		}
		if err != nil || strings.Join(got, "|") != c.want {
			t.Errorf("%q: got %q, %v, want %q", c.in, got, err, c.want)
		}
	}
	for _, in := range []string{"a", "=b", `a="b`, `a="b"c`, `a=b c`, "a=b,a=c", "a=b,A=c", `a="b\`, "realm=a,realm=b"} {
		if list, err := parse(in, false); err == nil {
			t.Errorf("%q: got %v", in, list)
		}
	}
	if list, err := parse("realm=a,realm=b", true); err != nil || len(list) != 2 {
		t.Errorf("a challenge may name two realms: got %v, %v", list, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`realm="default",nonce="x\"",qop="auth",charset=utf-8`)
	f.Fuzz(func(t *testing.T, s string) {
		list, err := parse(s, true)
		if err != nil {
			return
		}
		var b []byte
		for _, d := range list {
			b = append(quote(b, d.name, d.value), ',')
		}
		again, err := parse(string(b), true)
		if err != nil || len(again) != len(list) {
			t.Fatalf("%q becomes %q: %v", s, b, err)
		}
		for i := range list {
			if list[i] != again[i] {
				t.Fatalf("%q: %v becomes %v", s, list[i], again[i])
			}
		}
	})
}

func FuzzResponse(f *testing.F) {
	f.Add([]byte(`username="user",realm="default",nonce="n",nc=00000001,cnonce="c",digest-uri="null/default",response=0,qop=auth`))
	f.Fuzz(func(t *testing.T, b []byte) {
		x := (&Server{Secrets: fixed{"user", "secret"}, QOP: allQOP, nonce: func() string { return "n" }}).Begin(netip.Addr{})
		x.Step(nil)
		if _, done, err := x.Step(b); done || err == nil {
			t.Fatalf("%q passes for a response", b)
		}
	})
}

func FuzzOpen(f *testing.F) {
	f.Add([]byte("0123456789012345\x00\x01\x00\x00\x00\x00"), 0)
	f.Fuzz(func(t *testing.T, b []byte, which int) {
		c := layers[uint(which)%uint(len(layers))]
		_, sv := pair(t, c.q, c.cipher)
		if p, err := sv.Open(b); err == nil {
			t.Fatalf("forged: %x", p)
		}
	})
}

func BenchmarkSeal(b *testing.B) {
	for _, c := range layers {
		b.Run(c.q.String()+c.cipher, func(b *testing.B) {
			cl, _ := pair(b, c.q, c.cipher)
			buf := make([]byte, 64<<10)
			n := cl.PlainMax(len(buf))
			b.SetBytes(int64(n))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := cl.Seal(buf, n); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
