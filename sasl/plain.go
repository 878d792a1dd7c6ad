package sasl

import (
	"bytes"
	"net/netip"
)

// PlainMax bounds a PLAIN message.
const PlainMax = 4 << 10

// Checker verifies a name and a password. It compares in constant time, or
// asks somebody who does; peer is the client's address.
type Checker func(user, password string, peer netip.Addr) (Identity, error)

// Plain is the server side of PLAIN (RFC 4616). Whether a listener may offer
// it without TLS is the listener's decision.
type Plain struct{ Check Checker }

// Name returns "PLAIN".
func (Plain) Name() string { return "PLAIN" }

// MessageMax is PlainMax.
func (Plain) MessageMax() int { return PlainMax }

// Begin starts an exchange.
func (p Plain) Begin(peer netip.Addr) ServerExchange { return &plainServer{check: p.Check, peer: peer} }

type plainServer struct {
	check Checker
	peer  netip.Addr
	out   Outcome
}

func (x *plainServer) Outcome() Outcome { return x.out }

func (x *plainServer) Step(token []byte) ([]byte, bool, error) {
	user, password, err := ParsePlain(token)
	if err != nil {
		return nil, false, err
	}
	id, err := x.check(user, password, x.peer)
	if err != nil {
		if _, ok := err.(*Error); !ok {
			err = &Error{Reason: Credentials, Principal: user, Err: err}
		}
		return nil, false, err
	}
	x.out = Outcome{Identity: id, QOP: Auth}
	return nil, true, nil
}

// ParsePlain takes a message apart: "[authzid] NUL authcid NUL password", or
// the two fields alone, as Hive's PlainSaslServer takes them. Unlike that one
// it refuses an authorization id that is not the authentication id.
func ParsePlain(token []byte) (user, password string, err error) {
	if len(token) > PlainMax {
		return "", "", Errorf(Limit, "message of %d bytes, at most %d", len(token), PlainMax)
	}
	f := bytes.Split(token, []byte{0})
	if len(f) == 2 {
		f = [][]byte{nil, f[0], f[1]}
	}
	switch {
	case len(f) != 3:
		return "", "", Errorf(Protocol, "%d fields, want 2 or 3", len(f))
	case len(f[1]) == 0:
		return "", "", Errorf(Credentials, "empty user name")
	case len(f[2]) == 0: // an LDAP bind without a password succeeds as anonymous
		return "", "", &Error{Reason: Credentials, Principal: string(f[1]), Err: errEmptyPassword}
	case len(f[0]) > 0 && !bytes.Equal(f[0], f[1]):
		return "", "", &Error{Reason: Name, Principal: string(f[1]), Err: errAuthzid}
	}
	return string(f[1]), string(f[2]), nil
}

// PlainLogin is the client side.
type PlainLogin struct{ User, Password string }

// Name returns "PLAIN".
func (PlainLogin) Name() string { return "PLAIN" }

// MessageMax is PlainMax.
func (PlainLogin) MessageMax() int { return PlainMax }

// Begin returns the only message there is.
func (l PlainLogin) Begin() (ClientExchange, []byte, bool, error) {
	if l.User == "" || l.Password == "" {
		return nil, nil, false, Errorf(Credentials, "user and password must not be empty")
	}
	if bytes.IndexByte([]byte(l.User+l.Password), 0) >= 0 {
		return nil, nil, false, Errorf(Credentials, "user and password must not contain NUL")
	}
	return plainClient{}, []byte("\x00" + l.User + "\x00" + l.Password), true, nil
}

type plainClient struct{}

func (plainClient) Outcome() Outcome { return Outcome{QOP: Auth} }

func (plainClient) Step([]byte) ([]byte, bool, error) {
	return nil, false, Errorf(Protocol, "PLAIN has no challenge")
}
