package sasl_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"hmsgate/sasl"
	"hmsgate/sasl/digest"
)

func TestPlainExchange(t *testing.T) {
	c, s, cerr, serr := duel(t, testServer(), sasl.PlainLogin{User: "alice", Password: "secret-of-alice"})
	if cerr != nil || serr != nil {
		t.Fatal(cerr, serr)
	}
	if s.Identity.User != "alice" || s.Identity.Mechanism != "PLAIN" || s.QOP != sasl.Auth || s.Layer != nil || c.QOP != sasl.Auth {
		t.Errorf("got %+v", s)
	}
}

func TestDigestExchange(t *testing.T) {
	for _, q := range []sasl.QOP{sasl.Auth, sasl.AuthInt, sasl.AuthConf} {
		c, s, cerr, serr := duel(t, testServer(), &digest.Login{User: "alice", Password: "secret-of-alice", QOP: []sasl.QOP{q}})
		if cerr != nil || serr != nil {
			t.Fatal(q, cerr, serr)
		}
		if s.Identity.User != "alice" || s.QOP != q || c.QOP != q {
			t.Errorf("got %+v", s)
		}
		var wire bytes.Buffer
		k := c.Sink(&wire)
		if _, err := k.Write([]byte("a call")); err != nil {
			t.Fatal(err)
		}
		if err := k.End(); err != nil {
			t.Fatal(err)
		}
		if q == sasl.Auth && wire.String() != "\x00\x00\x00\x06a call" {
			t.Errorf("auth: got %q on the wire", wire.String())
		}
		if q == sasl.AuthConf && strings.Contains(wire.String(), "a call") {
			t.Error("auth-conf: the plain text is on the wire")
		}
		if got, err := io.ReadAll(s.Source(&wire, sasl.DataLimits{})); err != nil || string(got) != "a call" {
			t.Errorf("%v: got %q, %v", q, got, err)
		}
	}
}

// What a peer may not say, and what it hears. The text is always the same.
func TestServerRefusals(t *testing.T) {
	bad, fault := say(step{sasl.Bad, sasl.RefusalText}), say(step{sasl.Fault, sasl.RefusalText})
	start := step{sasl.Start, "DIGEST-MD5"}
	challenged := func(tail []byte) []byte { return append(say(start, step{sasl.OK, ""}), tail...) }
	for _, c := range []struct {
		name string
		in   []byte
		want sasl.Reason
		said []byte // the last of what the server says; nil: nothing at all
	}{
		{"OK first", say(step{sasl.OK, "x"}), sasl.Protocol, fault},
		{"COMPLETE first", say(step{sasl.Complete, ""}), sasl.Protocol, fault},
		{"BAD first, as a Java client without a ticket", say(step{sasl.Bad, "GSS initiate failed"}), sasl.PeerFailed, nil},
		{"ERROR first", say(step{sasl.Fault, "x"}), sasl.PeerFailed, nil},
		{"unknown mechanism", say(step{sasl.Start, "CRAM-MD5"}), sasl.Mechanism, bad},
		{"mechanism in lower case", say(step{sasl.Start, "plain"}), sasl.Mechanism, bad},
		{"no mechanism", say(step{sasl.Start, ""}), sasl.Mechanism, bad},
		{"mechanism name of 33 bytes", say(step{sasl.Start, strings.Repeat("A", 33)}), sasl.Limit, fault},
		{"plain Thrift", []byte("\x80\x01\x00\x01\x00\x00\x00\x07set_ugi"), sasl.Protocol, nil},
		{"TLS", []byte("\x16\x03\x01\x02\x00"), sasl.Protocol, nil},
		{"status 0", []byte{0, 0, 0, 0, 0}, sasl.Protocol, nil},
		{"status 6", []byte{6, 0, 0, 0, 0}, sasl.Protocol, nil},
		{"nothing", nil, sasl.IO, nil},
		{"half a header", []byte{1, 0, 0}, sasl.IO, nil},
		{"half a name", []byte("\x01\x00\x00\x00\x0aDIG"), sasl.IO, nil},
		{"negative length", []byte{1, 0xff, 0xff, 0xff, 0xff}, sasl.Limit, fault},
		{"START of 2 GB", []byte{1, 0x7f, 0xff, 0xff, 0xff}, sasl.Limit, fault},
		{"OK of 5000 bytes", challenged([]byte{2, 0, 0, 0x13, 0x88}), sasl.Limit, fault},
		{"COMPLETE of 2 GB", challenged([]byte{5, 0x7f, 0xff, 0xff, 0xff}), sasl.Limit, fault},
		{"BAD of 2 GB", challenged([]byte{3, 0x7f, 0xff, 0xff, 0xff}), sasl.Limit, fault},
		{"START twice", say(start, start), sasl.Protocol, fault},
		{"START twice, after a challenge", challenged(say(start)), sasl.Protocol, fault},
		{"BAD in the middle", challenged(say(step{sasl.Bad, "no"})), sasl.PeerFailed, nil},
		{"COMPLETE too early", say(start, step{sasl.Complete, ""}), sasl.Protocol, fault},
		{"end in the middle", challenged(nil), sasl.IO, nil},
		{"wrong password", say(step{sasl.Start, "PLAIN"}, step{sasl.Complete, "\x00alice\x00wrong"}), sasl.Credentials, bad},
		{"unknown user", say(step{sasl.Start, "PLAIN"}, step{sasl.Complete, "\x00bob\x00secret-of-alice"}), sasl.Credentials, bad},
		{"foreign authzid", say(step{sasl.Start, "PLAIN"}, step{sasl.Complete, "bob\x00alice\x00secret-of-alice"}), sasl.Name, bad},
		{"empty password", say(step{sasl.Start, "PLAIN"}, step{sasl.Complete, "\x00alice\x00"}), sasl.Credentials, bad},
		{"empty user", say(step{sasl.Start, "PLAIN"}, step{sasl.Complete, "\x00\x00x"}), sasl.Credentials, bad},
		{"four fields", say(step{sasl.Start, "PLAIN"}, step{sasl.Complete, "\x00alice\x00secret-of-alice\x00"}), sasl.Protocol, fault},
	} {
		t.Run(c.name, func(t *testing.T) {
			said, got, err := play(testServer(), c.in)
			if err == nil || got != nil || sasl.ReasonOf(err) != c.want {
				t.Fatalf("got %v, %v, want reason %s", got, err, c.want)
			}
			if c.said == nil {
				if bytes.Contains(said, []byte(sasl.RefusalText)) {
					t.Errorf("said %q to a peer that cannot hear it", said)
				}
			} else if !bytes.HasSuffix(said, c.said) {
				t.Errorf("said %q, want it to end with %q", said, c.said)
			}
			if err != nil && strings.Contains(err.Error(), "secret-of-alice") {
				t.Errorf("the error holds the password: %v", err)
			}
		})
	}
}

// Unknown user and wrong password cannot be told apart by what is said.
func TestNoOracle(t *testing.T) {
	hear := func(user, password string) string {
		a, b := net.Pipe()
		defer a.Close()
		go func() {
			_, _ = testServer().Negotiate(b, anyone)
			b.Close()
		}()
		_, err := sasl.Negotiate(a, &digest.Login{User: user, Password: password}, sasl.Limits{})
		var p *sasl.PeerError
		if !errors.As(err, &p) {
			t.Fatalf("%s: got %v", user, err)
		}
		return p.Status.String() + p.Text
	}
	one, two := hear("alice", "wrong"), hear("nobody", "wrong")
	if one != two || one != "BAD"+sasl.RefusalText {
		t.Errorf("got %q and %q", one, two)
	}
}

// Cut at every byte into two reads, and read byte by byte, the negotiation is
// the same; bytes behind it stay unread.
func TestEverySplit(t *testing.T) {
	in := say(step{sasl.Start, "PLAIN"}, step{sasl.Complete, "\x00alice\x00secret-of-alice"})
	want := say(step{sasl.Complete, ""})
	const behind = "\x00\x00\x00\x04data"
	for cut := 0; cut <= len(in); cut++ {
		rest := strings.NewReader(string(in[cut:]) + behind)
		c := &script{in: io.MultiReader(bytes.NewReader(in[:cut]), rest)}
		s, err := testServer().Negotiate(c, anyone)
		if err != nil || s.Identity.User != "alice" || !bytes.Equal(c.out.Bytes(), want) {
			t.Fatalf("cut at %d: %v, said %q", cut, err, c.out.Bytes())
		}
		if left, _ := io.ReadAll(c.in); string(left) != behind {
			t.Fatalf("cut at %d: %q is left", cut, left)
		}
		if cut < len(in) {
			if _, got, err := play(testServer(), in[:cut]); err == nil || got != nil || sasl.ReasonOf(err) != sasl.IO {
				t.Fatalf("ended at %d: %v", cut, err)
			}
		}
	}
	c := &script{in: io.MultiReader(&oneByte{in})}
	if _, err := testServer().Negotiate(c, anyone); err != nil {
		t.Errorf("byte by byte: %v", err)
	}
}

type oneByte struct{ b []byte }

func (o *oneByte) Read(p []byte) (int, error) {
	if len(o.b) == 0 {
		return 0, io.EOF
	}
	p[0], o.b = o.b[0], o.b[1:]
	return 1, nil
}

// Deadlines are absolute: a peer that goes on writing slowly, or says nothing,
// is refused in time.
func TestDeadlines(t *testing.T) {
	for _, c := range []struct {
		name   string
		limits sasl.Limits
		first  []byte
	}{
		{"silence before START", sasl.Limits{Start: 20 * time.Millisecond, Whole: time.Hour}, nil},
		{"silence after START", sasl.Limits{Start: 20 * time.Millisecond, Whole: 40 * time.Millisecond}, say(step{sasl.Start, "PLAIN"})},
		{"half a message", sasl.Limits{Start: 20 * time.Millisecond, Whole: time.Hour}, []byte{1, 0, 0, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			peer, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer peer.Close()
			conn, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := peer.Write(c.first); err != nil {
				t.Fatal(err)
			}
			s := testServer()
			s.Limits = c.limits
			if _, err := s.Negotiate(conn, anyone); sasl.ReasonOf(err) != sasl.Limit || !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// endless never ends its exchange; rude panics.
type endless struct{}

func (endless) Name() string                         { return "ENDLESS" }
func (endless) MessageMax() int                      { return 10 }
func (endless) Begin(netip.Addr) sasl.ServerExchange { return endless{} }
func (endless) Step([]byte) ([]byte, bool, error)    { return []byte("more"), false, nil }
func (endless) Outcome() sasl.Outcome                { return sasl.Outcome{} }

type rude struct{ endless }

func (rude) Name() string                         { return "RUDE" }
func (rude) Begin(netip.Addr) sasl.ServerExchange { return rude{} }
func (rude) Step(p []byte) ([]byte, bool, error)  { return p[7:8], false, nil }

func TestMessageCount(t *testing.T) {
	s := &sasl.Server{Mechanisms: []sasl.ServerMechanism{endless{}}}
	in := say(step{sasl.Start, "ENDLESS"})
	for range 20 {
		in = append(in, say(step{sasl.OK, "x"})...)
	}
	said, _, err := play(s, in)
	if sasl.ReasonOf(err) != sasl.Limit || bytes.Count(said, []byte("more")) != 9 {
		t.Errorf("got %v after %d replies", err, bytes.Count(said, []byte("more")))
	}
}

func TestPanic(t *testing.T) {
	told := 0
	s := &sasl.Server{Mechanisms: []sasl.ServerMechanism{rude{}}, Panicked: func(any, []byte) { told++ }}
	said, got, err := play(s, say(step{sasl.Start, "RUDE"}, step{sasl.OK, ""}))
	if got != nil || sasl.ReasonOf(err) != sasl.Internal || told != 1 || !bytes.Equal(said, say(step{sasl.Bad, sasl.RefusalText})) {
		t.Errorf("got %v, told %d times, said %q", err, told, said)
	}
}

// A server that ends early has not proved anything.
func TestClientRefusals(t *testing.T) {
	plain := sasl.PlainLogin{User: "alice", Password: "x"}
	login := &digest.Login{User: "alice", Password: "x"}
	challenge := `realm="default",nonce="n",qop="auth",charset=utf-8,algorithm=md5-sess`
	for _, c := range []struct {
		name string
		m    sasl.ClientMechanism
		in   []byte
		want sasl.Reason
	}{
		{"BAD", plain, say(step{sasl.Bad, "no"}), sasl.PeerFailed},
		{"OK after the end", plain, say(step{sasl.OK, ""}), sasl.Protocol},
		{"COMPLETE with a token after the end", plain, say(step{sasl.Complete, "x"}), sasl.Protocol},
		{"START", plain, say(step{sasl.Start, "PLAIN"}), sasl.Protocol},
		{"nothing", plain, nil, sasl.IO},
		{"COMPLETE at once", login, say(step{sasl.Complete, ""}), sasl.Protocol},
		{"COMPLETE with the challenge", login, say(step{sasl.Complete, challenge}), sasl.Protocol},
		{"COMPLETE without rspauth", login, say(step{sasl.OK, challenge}, step{sasl.Complete, ""}), sasl.Credentials},
		{"wrong rspauth", login, say(step{sasl.OK, challenge}, step{sasl.Complete, "rspauth=00"}), sasl.Credentials},
		{"a challenge of 3000 bytes", login, say(step{sasl.OK, strings.Repeat("x", 3000)}), sasl.Limit},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := sasl.Negotiate(&script{in: bytes.NewReader(c.in)}, c.m, sasl.Limits{})
			if got != nil || sasl.ReasonOf(err) != c.want {
				t.Errorf("got %v, %v, want reason %s", got, err, c.want)
			}
		})
	}
}

func TestParseQOP(t *testing.T) {
	for _, c := range []struct {
		in, want string
		first    sasl.QOP
	}{
		{"authentication", "auth", sasl.Auth}, {"privacy,integrity", "auth-int,auth-conf", sasl.AuthConf},
		{"auth-conf, auth", "auth,auth-conf", sasl.AuthConf}, {"Integrity", "auth-int", sasl.AuthInt},
	} {
		list, mask, err := sasl.ParseQOP(c.in)
		if err != nil || mask.String() != c.want || list[0] != c.first {
			t.Errorf("%q: got %v, %v, %v", c.in, list, mask, err)
		}
	}
	for _, in := range []string{"", "none", "auth,secret"} {
		if _, _, err := sasl.ParseQOP(in); err == nil {
			t.Errorf("%q: accepted", in)
		}
	}
}

// A refusal holds no secret, whatever went wrong.
func TestErrorText(t *testing.T) {
	err := &sasl.Error{Reason: sasl.Skew, Mechanism: "GSSAPI", Principal: "a\n@R", Err: errors.New("x")}
	if got, want := err.Error(), `sasl: GSSAPI: skew ("a\n@R"): x`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzServer(f *testing.F) {
	f.Add(say(step{sasl.Start, "PLAIN"}, step{sasl.Complete, "\x00alice\x00secret"}))
	f.Add(say(step{sasl.Start, "DIGEST-MD5"}, step{sasl.OK, ""}, step{sasl.OK, `username="alice"`}))
	f.Add([]byte{1, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, in []byte) {
		if _, s, err := play(testServer(), in); (s == nil) == (err == nil) || err != nil && sasl.ReasonOf(err) == sasl.Internal {
			t.Fatalf("got %v, %v", s, err)
		}
	})
}

// Frames without a layer: what is written is read, in constant memory.
func FuzzSource(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x03abc\x00\x00\x00\x00"), uint16(3))
	f.Fuzz(func(t *testing.T, in []byte, size uint16) {
		s := sasl.NewSource(bytes.NewReader(in), nil, sasl.DataLimits{Frame: 1 << 20})
		got, _ := io.ReadAll(s)
		if len(got) > len(in) {
			t.Fatalf("%d bytes out of %d", len(got), len(in))
		}
	})
}
