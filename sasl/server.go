package sasl

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"runtime/debug"
	"time"
)

// Server negotiates with clients. It is shared by all connections of a
// listener and never falls back to anything it does not offer.
type Server struct {
	Mechanisms []ServerMechanism
	Limits     Limits
	// Panicked, when set, is told of a panic recovered in a mechanism, with its stack.
	Panicked func(value any, stack []byte)
}

// Negotiate runs one negotiation on a fresh connection. It reads no byte
// beyond it. When it fails, a peer that can still be told has been told
// RefusalText, and the error is for our log; the caller closes the
// connection. A connection that has SetDeadline is given deadlines, which are
// gone when a Session is returned.
func (s *Server) Negotiate(conn io.ReadWriter, peer netip.Addr) (*Session, error) {
	n := negotiation{conn: conn, begun: time.Now()}
	setDeadline(conn, n.begun.Add(min(s.Limits.start(), s.Limits.whole())))
	mech, err := s.begin(&n)
	if err != nil {
		return nil, n.refuse(err)
	}
	setDeadline(conn, n.begun.Add(s.Limits.whole()))
	out, err := s.run(&n, mech, peer)
	if err != nil {
		var e *Error
		if errors.As(err, &e) && e.Mechanism == "" {
			e.Mechanism = mech.Name()
		}
		return nil, n.refuse(err)
	}
	setDeadline(conn, time.Time{})
	out.Identity.Mechanism = mech.Name()
	return newSession(out), nil
}

// begin reads START and finds the mechanism, by its exact name.
func (s *Server) begin(n *negotiation) (ServerMechanism, error) {
	status, p, err := n.read(func(st Status) int {
		if st == Start {
			return nameMax
		}
		return peerTextMax
	})
	if err != nil {
		return nil, err
	}
	switch status {
	case Start:
	case Bad, Fault:
		// A Java client without a ticket says so in its first and only message.
		return nil, peerError(status, p)
	default:
		return nil, Errorf(Protocol, "first message is %v, not START", status)
	}
	for _, m := range s.Mechanisms {
		if m.Name() == string(p) {
			return m, nil
		}
	}
	return nil, Errorf(Mechanism, "%q is not offered", p)
}

// run plays the chosen mechanism to its end and sends COMPLETE.
func (s *Server) run(n *negotiation, mech ServerMechanism, peer netip.Addr) (Outcome, error) {
	x := mech.Begin(peer)
	for left := s.Limits.messages() - 1; left > 0; left-- {
		status, p, err := n.read(func(st Status) int {
			if st == OK || st == Complete {
				return mech.MessageMax()
			}
			return peerTextMax
		})
		if err != nil {
			return Outcome{}, err
		}
		switch status {
		case OK, Complete:
		case Bad, Fault:
			return Outcome{}, peerError(status, p)
		default:
			return Outcome{}, Errorf(Protocol, "%v in the middle of a negotiation", status)
		}
		reply, done, err := s.step(x, p)
		if err != nil {
			return Outcome{}, err
		}
		if done {
			return x.Outcome(), n.write(Complete, reply)
		}
		if status == Complete {
			return Outcome{}, Errorf(Protocol, "client says COMPLETE too early")
		}
		if err := n.write(OK, reply); err != nil {
			return Outcome{}, err
		}
	}
	return Outcome{}, Errorf(Limit, "more than %d messages", s.Limits.messages())
}

// step keeps a panic in a mechanism (or in a library under it) from ending
// more than this one connection.
func (s *Server) step(x ServerExchange, p []byte) (reply []byte, done bool, err error) {
	defer func() {
		if v := recover(); v != nil {
			if s.Panicked != nil {
				s.Panicked(v, debug.Stack())
			}
			reply, done, err = nil, false, Errorf(Internal, "panic in a mechanism: %T", v)
		}
	}()
	return x.Step(p)
}

// negotiation is the message side of one negotiation, of either role.
type negotiation struct {
	conn  io.ReadWriter
	begun time.Time
	buf   []byte
	mute  bool // the peer cannot be told
}

func (n *negotiation) read(most func(Status) int) (Status, []byte, error) {
	status, p, err := readMessage(n.conn, &n.buf, most)
	switch {
	case err == nil:
		return status, p, nil
	case errors.Is(err, errStatus):
		// Real servers of this age close without a word (HMS 4.1.0), and the
		// peer, most often a plain client, could not read one anyway.
		n.mute = true
		return status, nil, Errorf(Protocol, "%w", err)
	case errors.Is(err, errLength):
		return status, nil, Errorf(Limit, "%w", err)
	case timedOut(err):
		return status, nil, Errorf(Limit, "nothing more within %v: %w", time.Since(n.begun).Round(time.Second), err)
	}
	n.mute = true
	return status, nil, Errorf(IO, "%w", err)
}

func timedOut(err error) bool {
	var ne net.Error
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &ne) && ne.Timeout()
}

func (n *negotiation) write(s Status, payload []byte) error {
	if _, err := n.conn.Write(AppendMessage(nil, s, payload)); err != nil {
		n.mute = true
		return Errorf(IO, "%w", err)
	}
	return nil
}

// refuse tells the peer, once and always the same, and returns err.
func (n *negotiation) refuse(err error) error {
	r := ReasonOf(err)
	if n.mute || r == PeerFailed || r == IO {
		return err
	}
	setDeadline(n.conn, time.Now().Add(time.Second)) // it may be the deadline that failed us
	s := Bad
	if r == Protocol || r == Limit {
		s = Fault
	}
	_ = n.write(s, []byte(RefusalText)) // the negotiation has failed already
	return err
}

func peerError(s Status, text []byte) error {
	return &Error{Reason: PeerFailed, Err: &PeerError{s, string(text[:min(len(text), textMax)])}}
}

// Session is a negotiated connection.
type Session struct {
	Outcome
}

func newSession(o Outcome) *Session { return &Session{o} }

func (s *Session) String() string {
	if s.Identity.User == "" { // our side of a login
		return fmt.Sprintf("%s %s to %q", s.Identity.Mechanism, s.QOP, s.Identity.Principal)
	}
	return fmt.Sprintf("%s %s as %q", s.Identity.Mechanism, s.QOP, s.Identity.User)
}
