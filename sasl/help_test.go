package sasl_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/netip"
	"testing"

	"hmsgate/sasl"
	"hmsgate/sasl/digest"
)

var anyone = netip.MustParseAddr("192.0.2.7")

// users is a Secrets and a Checker of fixed passwords.
type users map[string]string

func (u users) Password(user string) (string, error) {
	if p, ok := u[user]; ok {
		return p, nil
	}
	return "", sasl.Errorf(sasl.Credentials, "unknown user %q", user)
}

func (u users) Admit(user string, _ netip.Addr) (sasl.Identity, error) {
	return sasl.Identity{Principal: user, User: user}, nil
}

func (u users) check(user, password string, _ netip.Addr) (sasl.Identity, error) {
	if p, ok := u[user]; !ok || p != password {
		return sasl.Identity{}, errors.New("wrong user or password")
	}
	return sasl.Identity{Principal: user, User: user}, nil
}

func testServer() *sasl.Server {
	u := users{"alice": "secret-of-alice"}
	return &sasl.Server{Mechanisms: []sasl.ServerMechanism{
		sasl.Plain{Check: u.check},
		&digest.Server{Secrets: u, QOP: sasl.Auth | sasl.AuthInt | sasl.AuthConf},
	}}
}

// script is a connection whose peer has said everything in advance.
type script struct {
	in  io.Reader
	out bytes.Buffer
}

func (s *script) Read(p []byte) (int, error)  { return s.in.Read(p) }
func (s *script) Write(p []byte) (int, error) { return s.out.Write(p) }

// play gives the server all of in and returns what it says.
func play(s *sasl.Server, in []byte) (said []byte, got *sasl.Session, err error) {
	c := &script{in: bytes.NewReader(in)}
	got, err = s.Negotiate(c, anyone)
	return c.out.Bytes(), got, err
}

type step struct {
	s sasl.Status
	p string
}

func say(list ...step) []byte {
	var b []byte
	for _, m := range list {
		b = sasl.AppendMessage(b, m.s, []byte(m.p))
	}
	return b
}

// duel runs both sides over a pipe.
func duel(t testing.TB, s *sasl.Server, m sasl.ClientMechanism) (client, server *sasl.Session, cerr, serr error) {
	a, b := net.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		server, serr = s.Negotiate(b, anyone)
		if serr != nil {
			b.Close()
		}
	}()
	client, cerr = sasl.Negotiate(a, m, sasl.Limits{})
	if cerr != nil {
		a.Close()
	}
	<-done
	a.Close()
	b.Close()
	return client, server, cerr, serr
}
