package sasl

import (
	"io"
	"time"
)

// Negotiate logs in to a server the way Thrift's TSaslClientTransport does:
// START and the initial response at once, then one response a challenge. It
// reads no byte beyond the negotiation. The caller closes the connection when
// it fails. Mechanisms that must ask others first (a KDC) have done so before
// (see their Begin): nothing is sent when that fails.
func Negotiate(conn io.ReadWriter, mech ClientMechanism, limits Limits) (*Session, error) {
	x, initial, done, err := mech.Begin()
	if err != nil {
		return nil, named(err, mech)
	}
	n := negotiation{conn: conn, begun: time.Now()}
	setDeadline(conn, n.begun.Add(limits.whole()))
	out, err := clientRun(&n, mech, x, initial, done, limits)
	if err != nil {
		return nil, named(err, mech)
	}
	setDeadline(conn, time.Time{})
	out.Identity.Mechanism = mech.Name()
	return newSession(out), nil
}

func named(err error, mech ClientMechanism) error {
	if e, ok := err.(*Error); ok && e.Mechanism == "" {
		e.Mechanism = mech.Name()
	}
	return err
}

func clientRun(n *negotiation, mech ClientMechanism, x ClientExchange, p []byte, done bool, limits Limits) (Outcome, error) {
	first := AppendMessage(nil, Start, []byte(mech.Name()))
	first = AppendMessage(first, clientStatus(done), p)
	if _, err := n.conn.Write(first); err != nil {
		return Outcome{}, Errorf(IO, "%w", err)
	}
	most := func(s Status) int {
		if s == OK || s == Complete {
			return mech.MessageMax()
		}
		return peerTextMax
	}
	for left := limits.messages(); left > 0; left-- {
		status, challenge, err := n.read(most)
		if err != nil {
			return Outcome{}, err
		}
		switch status {
		case OK, Complete:
		case Bad, Fault:
			return Outcome{}, peerError(status, challenge)
		default:
			return Outcome{}, Errorf(Protocol, "server says %v", status)
		}
		if done {
			// Our side had finished: the server may only agree, without a word.
			if status != Complete || len(challenge) != 0 {
				return Outcome{}, Errorf(Protocol, "server says %v with %d bytes after the end", status, len(challenge))
			}
			return x.Outcome(), nil
		}
		if p, done, err = x.Step(challenge); err != nil {
			return Outcome{}, err
		}
		if status == Complete {
			// The server takes no further response. It has proved nothing unless
			// our mechanism says so now (rspauth of DIGEST-MD5).
			if !done {
				return Outcome{}, Errorf(Protocol, "server says COMPLETE too early")
			}
			return x.Outcome(), nil
		}
		if err := n.write(clientStatus(done), p); err != nil {
			return Outcome{}, err
		}
	}
	return Outcome{}, Errorf(Limit, "more than %d messages", limits.messages())
}

func clientStatus(done bool) Status {
	if done {
		return Complete
	}
	return OK
}
