package gateway

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"time"

	"github.com/rs/zerolog"

	"hmsgate/frame"
	"hmsgate/internal/config"
	"hmsgate/internal/session"
	"hmsgate/sasl"
)

// door is where the clients of one listener speak TLS and authenticate, one or
// both.
type door struct {
	g          *Gateway
	cfg        *config.Listener
	tls        *tls.Config            // nil: no TLS
	mechanisms []sasl.ServerMechanism // none: nobody authenticates
	limits     sasl.Limits
}

// startMost is how long a client may take to its first bytes; all of it is
// bounded by security.handshake-timeout-ms.
const startMost = 5 * time.Second

// full says why a client was closed before its login could begin.
var full = map[string]string{
	"handshakes": "client closed: too many logins at once (limits.handshakes, limits.handshakes-per-address)",
	"failures":   "client closed: too many failed logins from its address",
}

var errOutside = errors.New("not let in")

// Enter lets a client in, or logs and counts why not.
func (d *door) Enter(conn net.Conn) (*session.Entry, error) {
	peer := session.AddrOf(conn)
	leave, refused := d.g.security.doorman.enter(peer)
	if leave == nil {
		d.g.metrics.Refused(refused)
		if d.g.security.doorman.tell() {
			d.line(conn).Msg(full[refused])
		}
		return nil, errOutside
	}
	failed := true // should it end in a panic
	defer func() { leave(failed) }()
	e, failed, err := d.negotiate(conn)
	return e, err
}

// open reads a client's first bytes, those behind its TLS handshake where the
// listener has that.
func (d *door) open(conn net.Conn, until time.Time) (*peeked, frame.Peer, error) {
	p := &peeked{Conn: conn}
	kind, err := p.sniff()
	if d.tls == nil || len(p.head) == 0 {
		return p, kind, err
	}
	if kind != frame.TLS {
		d.unexpected(conn, p, kind)
		return p, kind, errOutside
	}
	_ = conn.SetDeadline(until)
	t := tls.Server(p, d.tls)
	if err := t.Handshake(); err != nil {
		if !d.g.draining.Load() {
			d.g.metrics.Refused("tls")
			d.line(conn).Err(err).Msg("TLS handshake failed")
		}
		return p, kind, errOutside
	}
	p = &peeked{Conn: t}
	if d.mechanisms == nil {
		return p, frame.Undecided, nil
	}
	kind, err = p.sniff()
	return p, kind, err
}

// negotiate runs TLS and SASL, as the listener has it. failed says that it was
// the client's credentials or manners.
func (d *door) negotiate(conn net.Conn) (in *session.Entry, failed bool, err error) {
	begun := time.Now()
	_ = conn.SetDeadline(begun.Add(min(startMost, d.limits.Whole))) // a dead connection fails at its next read
	p, kind, err := d.open(conn, begun.Add(d.limits.Whole))
	switch {
	case err == errOutside, err != nil && len(p.head) == 0:
		return nil, false, errOutside // also who came and went: a load balancer's check
	case d.mechanisms == nil:
		_ = conn.SetDeadline(time.Time{})
		return &session.Entry{Conn: p.Conn}, false, nil
	case kind != frame.SASL && !p.refusal():
		d.unexpected(conn, p, kind)
		return nil, false, errOutside
	}
	srv := sasl.Server{Mechanisms: d.mechanisms, Limits: d.limits, Panicked: panicked(d.g.log)}
	srv.Limits.Whole = max(srv.Limits.Whole-time.Since(begun), time.Millisecond)
	s, err := srv.Negotiate(p, session.AddrOf(conn))
	if err != nil {
		return nil, d.refused(conn, err), err
	}
	d.g.metrics.Authenticated(s.Identity.Mechanism, "ok")
	e := d.g.log.Debug()
	if d.g.cfg.Log.Calls {
		e = d.g.log.Info()
	}
	id := &s.Identity
	e = d.about(e, conn).Str("mechanism", id.Mechanism).Stringer("protection", s.QOP).
		Str("principal", id.Principal).Str("user", id.User)
	if id.Token != "" {
		e = e.Str("token", id.Token)
	}
	e.Msg("client authenticated")
	return &session.Entry{Conn: p.Conn, SASL: s}, false, nil
}

// refused logs and counts a failed negotiation, and says whose failure it was.
func (d *door) refused(conn net.Conn, err error) (failed bool) {
	var e *sasl.Error
	if !errors.As(err, &e) {
		e = &sasl.Error{Reason: sasl.ReasonOf(err), Err: err}
	}
	if d.g.draining.Load() {
		return false
	}
	d.g.metrics.Authenticated(e.Mechanism, string(e.Reason))
	line := d.line(conn).Str("mechanism", e.Mechanism).Str("reason", string(e.Reason))
	if e.Principal != "" {
		line = line.Str("principal", e.Principal)
	}
	line.Err(e.Err).Msg(explain(e))
	switch e.Reason {
	case sasl.PeerFailed, sasl.IO, sasl.Unavailable, sasl.Internal, sasl.Limit: // slow ones have taken their place for long
		return false
	}
	return true
}

// explain says what an operator may do about a refused login.
func explain(e *sasl.Error) string {
	switch e.Reason {
	case sasl.NoKey:
		return "login refused: the client asks for a service this listener does not answer for " +
			"(security.server-principal), or its key is missing"
	case sasl.PeerFailed:
		if e.Mechanism == "" { // its first and only message
			return "the client gave its login up: it has no ticket, or its KDC does not know the service"
		}
		return "the client gave its login up"
	case sasl.Name:
		return "login refused: no rule gives the client a short name (security.auth-to-local)"
	case sasl.Realm:
		return "login refused: the client's realm is not trusted (security.trusted-realms)"
	case sasl.Skew:
		return "login refused: the clocks differ too much"
	case sasl.LayerChoice:
		return "login refused: no protection in common (security.protection)"
	case sasl.Enctype:
		return "login refused: an encryption type that is not accepted"
	case sasl.Mechanism:
		return "login refused: a mechanism this listener does not offer (security.mode)"
	case sasl.IO:
		return "the client broke its login off"
	}
	return "login refused"
}

// unexpected is a client that speaks something else than it has to.
func (d *door) unexpected(conn net.Conn, p *peeked, kind frame.Peer) {
	text := "not a SASL client: closed (security.mode)"
	switch kind {
	case frame.RawBinary, frame.FramedBinary, frame.OldBinary, frame.Compact, frame.FramedCompact:
		text = "client without SASL on a listener that requires it: closed (security.mode)"
	case frame.TLS:
		text = "TLS client on a listener without TLS: closed (server.tls.certificate)"
	case frame.HTTP:
		text = "HTTP client on a Thrift listener: closed"
	}
	if d.tls != nil && p.Conn == conn {
		text = "client without TLS on a listener that requires it: closed (server.tls.certificate)"
	}
	d.g.metrics.Unexpected(kind.String())
	d.line(conn).Str("peer", kind.String()).Hex("bytes", p.head).Msg(text)
}

// Away tells a client that there is no place: in answer to its START, or lets
// it make its first call where there is no such thing.
func (d *door) Away(conn net.Conn, text string, patience time.Duration) (*session.Entry, error) {
	until := time.Now().Add(patience)
	_ = conn.SetDeadline(until)
	p, kind, err := d.open(conn, until)
	switch {
	case err != nil:
	case d.mechanisms == nil:
		return &session.Entry{Conn: p.Conn}, nil
	case kind == frame.SASL:
		_, _ = p.Conn.Write(sasl.AppendMessage(nil, sasl.Fault, []byte(text)))
		_, _ = io.Copy(io.Discard, io.LimitReader(p.Conn, 1<<20)) // a reset would take our words with it
	}
	return nil, errOutside
}

func (d *door) line(conn net.Conn) *zerolog.Event { return d.about(d.g.log.Warn(), conn) }

func (d *door) about(e *zerolog.Event, conn net.Conn) *zerolog.Event {
	return e.Str("client", conn.RemoteAddr().String()).Str("listener", d.cfg.Name)
}

// peeked gives out again what was read of a connection to tell what it is.
type peeked struct {
	net.Conn
	head []byte // read, and kept for the log
	at   int    // of head, given out
	buf  [frame.SniffSize]byte
}

// sniff reads until it is clear what the peer speaks.
func (p *peeked) sniff() (frame.Peer, error) {
	for len(p.head) < len(p.buf) {
		n, err := p.Conn.Read(p.buf[len(p.head):])
		p.head = p.buf[:len(p.head)+n]
		if k := frame.Sniff(p.head); k != frame.Undecided {
			return k, nil
		}
		if err != nil {
			return frame.Unknown, err
		}
	}
	return frame.Unknown, nil
}

// refusal: a client whose own login fails says only BAD or ERROR.
func (p *peeked) refusal() bool {
	return len(p.head) >= 2 && (p.head[0] == byte(sasl.Bad) || p.head[0] == byte(sasl.Fault)) && p.head[1] == 0
}

func (p *peeked) Read(b []byte) (int, error) {
	if p.at < len(p.head) {
		n := copy(b, p.head[p.at:])
		p.at += n
		return n, nil
	}
	return p.Conn.Read(b)
}
