package peers

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"hmsgate/frame"
	"hmsgate/sasl"
	"hmsgate/sasl/digest"
	"hmsgate/sasl/identity"
	"hmsgate/sasl/krb"
	"hmsgate/sasl/krb/krbtest"
)

const (
	service   = "hive/localhost"
	digestFor = "dXNlcg=="
	secretOf  = "c2VjcmV0"
)

type oneUser struct{}

func (oneUser) Password(user string) (string, error) {
	if user != digestFor {
		return "", sasl.Errorf(sasl.Credentials, "unknown user")
	}
	return secretOf, nil
}

func (oneUser) Admit(user string, _ netip.Addr) (sasl.Identity, error) {
	return sasl.Identity{Principal: user, User: user}, nil
}

// echo is a server of this library that answers as the Java peer does.
type echo struct {
	addr   string
	server *sasl.Server

	mu   sync.Mutex
	errs []error
}

func (e *echo) failures() []error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]error(nil), e.errs...)
}

func newEcho(t testing.TB, r *krbtest.MIT, q sasl.QOP) *echo {
	kt, err := krb.OpenKeytab(r.KeytabPath(service))
	if err != nil {
		t.Fatal(err)
	}
	names, err := identity.NewMapping("", krbtest.MITRealm, "")
	if err != nil {
		t.Fatal(err)
	}
	a, err := krb.NewAcceptor(krb.AcceptorConfig{Keytab: kt, Principals: []string{service + "@" + krbtest.MITRealm}, QOP: q, ShortName: names.Short})
	if err != nil {
		t.Fatal(err)
	}
	e := &echo{server: &sasl.Server{Mechanisms: []sasl.ServerMechanism{a, &digest.Server{Secrets: oneUser{}, QOP: q},
		sasl.Plain{Check: func(user, password string, _ netip.Addr) (sasl.Identity, error) {
			if user != digestFor || password != secretOf {
				return sasl.Identity{}, fmt.Errorf("no")
			}
			return sasl.Identity{Principal: user, User: user}, nil
		}}}}}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e.addr = l.Addr().String()
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { e.serve(c) })
		}
	})
	t.Cleanup(func() { l.Close(); wg.Wait() })
	return e
}

func (e *echo) serve(c net.Conn) {
	defer c.Close()
	s, err := e.server.Negotiate(c, netip.MustParseAddr("127.0.0.1"))
	if err != nil {
		e.mu.Lock()
		e.errs = append(e.errs, err)
		e.mu.Unlock()
		return
	}
	src := s.Source(c, sasl.DataLimits{Stream: true, Hold: 200000})
	w, sink := frame.NewWindow(src, nil), s.Sink(c)
	who := fmt.Sprintf("%s %s %s", s.Identity.Mechanism, s.Identity.Principal, s.QOP)
	for {
		if w.Need(1) != nil {
			return
		}
		w.Start(0, 64<<20)
		h, err := w.Header(false)
		if err != nil {
			return
		}
		at := int(w.Pos())
		if err := w.Skip(frame.Struct, 0); err != nil || !src.Settled() {
			return
		}
		arg := w.Kept()[at+7 : int(w.Pos())-1]
		reply := frame.AppendHeader(nil, frame.Reply, string(h.Method), h.Seq)
		reply = append(frame.AppendString(reply, 0, who+"|"+string(arg)), frame.Stop)
		w.Release()
		if _, err := sink.Write(reply); err != nil {
			return
		}
		if sink.End() != nil {
			return
		}
	}
}

// call asks an echo server, ours or Java's, and returns who it says we are.
func call(t testing.TB, addr string, m sasl.ClientMechanism, sizes ...int) (who []string, err error) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	s, err := sasl.Negotiate(c, m, sasl.Limits{})
	if err != nil {
		return nil, err
	}
	src, sink := s.Source(c, sasl.DataLimits{Stream: true, Hold: 200000}), s.Sink(c)
	for i, n := range sizes {
		text := strings.Repeat(string(rune('a'+i)), n)
		msg := frame.AppendHeader(nil, frame.Call, "echo", int32(i))
		msg = append(frame.AppendString(msg, 1, text), frame.Stop)
		if _, err := sink.Write(msg); err != nil {
			return nil, err
		}
		if err := sink.End(); err != nil {
			return nil, err
		}
		head := make([]byte, 4+4+4+4+3+4)
		if _, err := io.ReadFull(src, head); err != nil {
			return nil, err
		}
		body := make([]byte, binary.BigEndian.Uint32(head[len(head)-4:])+1)
		if _, err := io.ReadFull(src, body); err != nil {
			return nil, err
		}
		name, got, _ := bytes.Cut(body[:len(body)-1], []byte("|"))
		if string(got) != text || !src.Settled() {
			return nil, fmt.Errorf("%d bytes came back as %d, settled %v", n, len(got), src.Settled())
		}
		who = append(who, string(name))
	}
	return who, nil
}
