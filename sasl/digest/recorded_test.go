package digest

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"net/netip"
	"strings"
	"testing"

	"hmsgate/sasl"
	"hmsgate/sasl/internal/recorded"
)

// fixed is a Secrets of one user.
type fixed struct{ user, password string }

func (f fixed) Password(user string) (string, error) {
	if user != f.user {
		return "", sasl.Errorf(sasl.Credentials, "unknown user")
	}
	return f.password, nil
}

func (f fixed) Admit(user string, _ netip.Addr) (sasl.Identity, error) {
	return sasl.Identity{Principal: user, User: user}, nil
}

func loadAll(t testing.TB) map[string]*recorded.Conversation {
	list := map[string]*recorded.Conversation{}
	for _, v := range []string{"3.1.3", "4.1.0"} {
		for _, q := range []string{"auth", "auth-int", "auth-conf"} {
			name := v + "-digest-md5-" + q
			c, err := recorded.Load("../testdata/" + name + ".wire")
			if err != nil {
				t.Fatal(err)
			}
			list[name] = c
		}
	}
	return list
}

func directiveOf(t testing.TB, b []byte, name string) string {
	list, err := parse(string(b), true)
	if err != nil {
		t.Fatal(err)
	}
	v, _ := find(list, name)
	return v
}

func secretOf(c *recorded.Conversation) fixed {
	return fixed{base64.StdEncoding.EncodeToString(c.Hex("identifier")), base64.StdEncoding.EncodeToString(c.Hex("password"))}
}

// Our server, given the recorded nonce, says what Hive's said; its layers open
// and make the recorded frames.
func TestRecordedServer(t *testing.T) {
	for name, c := range loadAll(t) {
		t.Run(name, func(t *testing.T) {
			n := c.Negotiation()
			s := &Server{Secrets: secretOf(c), QOP: sasl.Auth | sasl.AuthInt | sasl.AuthConf, Ciphers: "3des,rc4,des,rc4-56,rc4-40",
				nonce: func() string { return directiveOf(t, n[2].Body, "nonce") }}
			x := s.Begin(netip.Addr{})
			challenge, done, err := x.Step(nil)
			if err != nil || done || !bytes.Equal(challenge, n[2].Body) {
				t.Fatalf("challenge: got %q, %v, %v\nwant %q", challenge, done, err, n[2].Body)
			}
			reply, done, err := x.Step(n[3].Body)
			if err != nil || !done || !bytes.Equal(reply, n[4].Body) {
				t.Fatalf("rspauth: got %q, %v, %v\nwant %q", reply, done, err, n[4].Body)
			}
			if q := x.Outcome().QOP; !strings.HasSuffix(name, "5-"+q.String()) {
				t.Errorf("got protection %v", q)
			}
			checkFrames(t, c, x.Outcome().Layer, false)
		})
	}
}

// checkFrames opens what the peer sent and makes what we would have sent.
func checkFrames(t *testing.T, c *recorded.Conversation, l sasl.Layer, client bool) {
	for i, m := range c.Messages {
		switch {
		case m.Status != "DATA" || l == nil:
		case m.Client != client:
			got, err := l.Open(append([]byte(nil), m.Body...))
			if err != nil || !bytes.Equal(got, m.Plain) {
				t.Fatalf("message %d opens to %x, %v\nwant %x", i, got, err, m.Plain)
			}
		default:
			b := make([]byte, l.Head()+len(m.Plain)+l.Tail())
			copy(b[l.Head():], m.Plain)
			got, err := l.Seal(b, len(m.Plain))
			if err != nil || !bytes.Equal(got, m.Body) {
				t.Fatalf("message %d seals to %x, %v\nwant %x", i, got, err, m.Body)
			}
		}
	}
}

// Our client, given the recorded cnonce, says what Hive's said, to the byte.
func TestRecordedClient(t *testing.T) {
	for name, c := range loadAll(t) {
		t.Run(name, func(t *testing.T) {
			n := c.Negotiation()
			q, _ := parseQOP(directiveOf(t, n[3].Body, "qop"))
			s := secretOf(c)
			l := &Login{User: s.user, Password: s.password, QOP: []sasl.QOP{q},
				cnonce: func() string { return directiveOf(t, n[3].Body, "cnonce") }}
			x, initial, done, err := l.Begin()
			if err != nil || done || len(initial) > 0 {
				t.Fatal(initial, done, err)
			}
			got, done, err := x.Step(n[2].Body)
			if err != nil || done || !bytes.Equal(got, n[3].Body) {
				t.Fatalf("response: got %q, %v, %v\nwant %q", got, done, err, n[3].Body)
			}
			if _, done, err := x.Step(n[4].Body); err != nil || !done {
				t.Fatal(done, err)
			}
			checkFrames(t, c, x.Outcome().Layer, true)
		})
	}
}

func TestRecordedA1(t *testing.T) {
	for name, c := range loadAll(t) {
		r := c.Negotiation()[3].Body
		s := secretOf(c)
		a1 := hashA1(s.user, "default", s.password, directiveOf(t, r, "nonce"), directiveOf(t, r, "cnonce"), "")
		if got, want := hex.EncodeToString(a1[:]), c.Facts["a1"]; got != want {
			t.Errorf("%s: H(A1) got %s, want %s", name, got, want)
		}
	}
}

// The example of RFC 2831, section 4.
func TestRFCExample(t *testing.T) {
	a1 := hashA1("chris", "elwood.innosoft.com", "secret", "OA6MG9tEQGm2hh", "OA6MHXh6VqTrRk", "")
	for verb, want := range map[string]string{
		verbClient: "d388dad90d4bbd760a152321f2143af7",
		verbServer: "ea40f60335c427b5527b84dbabcdfffd",
	} {
		if got := response(a1, verb, "imap/elwood.innosoft.com", "OA6MG9tEQGm2hh", "00000001", "OA6MHXh6VqTrRk", "auth"); got != want {
			t.Errorf("%s got %s, want %s", verb, got, want)
		}
	}
}
