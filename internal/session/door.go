package session

import (
	"errors"
	"math"
	"net"
	"net/netip"
	"time"

	"hmsgate/frame"
	"hmsgate/sasl"
)

// Door lets clients in before their first message: TLS, SASL. The error of
// one that stays out is the door's to log.
type Door interface {
	Enter(conn net.Conn) (*Entry, error)
	// Away is for a client there is no place for. It is told so, within
	// patience, or comes in after all to hear it in answer to its first call.
	Away(conn net.Conn, text string, patience time.Duration) (*Entry, error)
}

// Entry is a client that was let in.
type Entry struct {
	Conn net.Conn      // carries what follows: the accepted connection, or TLS over it
	SASL *sasl.Session // nil: nobody was authenticated
}

// take makes the session speak what was negotiated: the same walker reads and
// writes through the layer's source and sink.
func (s *Session) take(e *Entry, err error) bool {
	if err != nil {
		return false
	}
	s.client.conn = e.Conn
	if e.SASL == nil {
		return true
	}
	s.identity = &e.SASL.Identity
	s.proved = Identity{User: s.identity.User, Service: s.identity.User == s.opt.Own}
	most := s.env.Limits.Call + saslSlack
	if s.env.Limits.Call <= 0 {
		most = math.MaxInt32
	}
	s.source = e.SASL.Source(&s.client, sasl.DataLimits{Frame: most, Stream: true, Budget: s.env.Budget})
	s.sealed = e.SASL.Sink(&s.client.link)
	s.out = s.sealed
	s.in.SetSource(s.source)
	return true
}

// saslSlack is what a token may have around the largest call.
const saslSlack = 128

// say sends a whole message made here.
func (s *Session) say(msg []byte) error {
	if _, err := s.out.Write(msg); err != nil {
		return err
	}
	return s.out.End()
}

// verified is asked at a call's end, before its last byte goes anywhere: what
// has been read of a token that is opened piece by piece counts only when the
// token turns out to be whole.
func (s *Session) verified() error {
	if s.source == nil || s.source.Settled() {
		return nil
	}
	return &frame.SourceError{Err: sasl.ErrUnverified}
}

// spoiled says whether a client's token was not what it must be.
func spoiled(err error) bool {
	return errors.Is(err, sasl.ErrToken) || errors.Is(err, sasl.ErrFrame) || errors.Is(err, sasl.ErrUnverified) ||
		errors.Is(err, sasl.ErrBudget)
}

// Identity is who the client has proved to be; nil where nobody has to.
func (s *Session) Identity() *sasl.Identity { return s.identity }

// Identity is the session's. A client's own set_ugi never changes it.
func (c *Call) Identity() *sasl.Identity { return c.s.identity }

// Peer is the client's address.
func (c *Call) Peer() netip.Addr { return AddrOf(c.s.conn) }

// AddrOf is the address of a connection's other end; the zero one when it has
// none.
func AddrOf(conn net.Conn) netip.Addr {
	if a, ok := conn.RemoteAddr().(*net.TCPAddr); ok {
		return a.AddrPort().Addr().Unmap()
	}
	return netip.Addr{}
}
