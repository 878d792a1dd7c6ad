package session

import (
	"errors"
	"io"
	"net"
	"sync/atomic"
	"time"

	"hmsgate/frame"
	"hmsgate/profiles"
	"hmsgate/rewrite"
	"hmsgate/route"
	"hmsgate/sasl"
)

// Options are what a listener says about its clients.
type Options struct {
	Raw, Framed bool           // transports
	Old         bool           // old-style headers are accepted
	Idle        time.Duration  // between two bytes of a client; 0: for ever
	Default     *route.Catalog // the listener's own default catalog, nil: the table's
	Door        Door           // nil: whoever comes is in
	UGI         UGI            // of clients that do not authenticate
	Own         string         // the gateway's own short name towards metastores: backends see it as that
}

// Session serves one client.
type Session struct {
	env    *Env
	next   func() *Env // the current environment, looked up at each call
	opt    Options
	conn   net.Conn // as accepted: what is closed to end the session from outside
	client clientLink
	framed bool

	// Set once the client is in.
	identity *sasl.Identity // who it is; nil: nobody asked
	source   *sasl.Source   // of its bytes; nil without SASL
	sealed   *sasl.Sink     // likewise
	out      frame.Sink     // sealed, or client

	in     frame.Window
	frames *frame.FrameReader
	walker rewrite.Walker
	facts  rewrite.Facts
	bind   route.Binding
	// possible are the generations that the client may still be of.
	possible profiles.Generations
	call     Call

	backs    []*backend   // by catalog; dialled on first use
	opened   atomic.Int32 // of backs; a fan-out dials several at once
	preamble preamble
	proved   Identity // who the client is; written before its first call
	hinted   bool     // a write routed by a catalog field was logged
	outgoing outgoing
	late     lateNames
	visit    func([]byte) error // hands strings of unknown methods to bind
	scratch  []byte             // replies made here
	name     []byte             // of a method in no inventory
	held     atomic.Int64       // bytes of the budget that merged replies have taken

	// idle is true between calls. Written by the session; the gateway reads it
	// while draining, to wake only who waits for a client.
	idle atomic.Bool
}

// New makes a session over an accepted connection. env gives the current
// environment.
func New(env func() *Env, conn net.Conn, opt Options) *Session {
	e := env()
	s := &Session{env: e, next: env, opt: opt, conn: conn}
	s.client = clientLink{link: newLink(conn, opt.Idle), s: s}
	s.out = &s.client
	s.in.Reset(&s.client, e.Budget)
	s.possible = profiles.AnyGen
	s.visit = func(v []byte) error { s.bind.AddUnknown(v); return nil }
	s.idle.Store(true)
	return s
}

// Run serves the client until it leaves, breaks the rules or the gateway
// drains.
func (s *Session) Run() {
	defer s.close()
	if s.opt.Door != nil && !s.take(s.opt.Door.Enter(s.conn)) || !s.hello() {
		return
	}
	s.preset()
	for s.wait() {
		if !s.serve() {
			return
		}
	}
}

// Wake ends the wait of an idle session; a busy one finishes its call first.
func (s *Session) Wake() {
	if s.idle.Load() {
		_ = s.conn.SetReadDeadline(time.Unix(1, 0))
	}
}

// Cut closes the client's connection under the session.
func (s *Session) Cut() { _ = s.conn.Close() }

// Idle says whether the session is between calls.
func (s *Session) Idle() bool { return s.idle.Load() }

func (s *Session) close() {
	s.closeBackends()
	s.giveBack()
	s.in.Reset(nil, nil)
	s.in.Park()
	if s.source != nil {
		s.source.Drop()
		s.sealed.Drop()
	}
	_ = s.client.conn.Close()
}

// TurnAway tells a client that there is no place for it: its first call gets
// an answer, and the connection ends. All of that must be over within
// patience, however slowly the client sends.
func (s *Session) TurnAway(text string, patience time.Duration) {
	defer s.close()
	if s.opt.Door != nil && !s.take(s.opt.Door.Away(s.conn, textBusy(text), patience)) {
		return
	}
	s.client.hard, s.client.write = time.Now().Add(patience), 0
	if !s.hello() || !s.wait() {
		return
	}
	h, err := s.in.Header(s.opt.Old)
	if err != nil {
		return
	}
	s.begin(&s.call, &h)
	s.fault(&s.call, frame.InternalError, textBusy(text))
}

// hello finds out what the client speaks.
func (s *Session) hello() bool {
	s.in.Start(0, 0)
	peer := frame.Undecided
	for n := 1; peer == frame.Undecided; n++ {
		if err := s.in.Need(n); err != nil {
			return s.gone(err, n > 1)
		}
		s.idle.Store(false)
		peer = frame.Sniff(s.in.Bytes())
		n = s.in.Buffered()
	}
	if s.source != nil {
		// SASL has frames of its own; HMS has none inside them (HiveMetaStore.startMetaStore)
		if peer == frame.RawBinary || peer == frame.OldBinary && s.opt.Old {
			return true
		}
		peer = frame.Unknown
	}
	switch {
	case peer == frame.RawBinary && s.opt.Raw, peer == frame.OldBinary && s.opt.Raw && s.opt.Old:
		return true
	case peer == frame.FramedBinary && s.opt.Framed:
		return s.unframe()
	}
	s.env.Metrics.Unexpected(peer.String())
	s.warn().Str("peer", peer.String()).Hex("bytes", head(s.in.Bytes())).Msg(expectation(peer))
	return false
}

// unframe puts the frame reader under the window and takes the lengths out
// of what has been read.
func (s *Session) unframe() bool {
	s.framed = true
	s.frames = frame.NewFrameReader(&s.client, s.env.Limits.Frame)
	n, err := s.frames.Strip(s.in.Bytes())
	s.in.Truncate(n)
	s.in.SetSource(s.frames)
	if err != nil {
		return s.gone(err, true)
	}
	return true
}

func head(b []byte) []byte { return b[:min(len(b), 16)] }

// expectation says in the log what to do about a peer that speaks otherwise.
func expectation(p frame.Peer) string {
	switch p {
	case frame.SASL:
		return "SASL client on a listener without SASL: closed (security.mode)"
	case frame.TLS:
		return "TLS client on a listener without TLS: closed (server.tls.certificate)"
	case frame.HTTP:
		return "HTTP client on a Thrift listener: closed"
	case frame.OldBinary:
		return "old-style (unversioned) message header: closed, as metastores do (server.accept-old-binary)"
	case frame.Compact, frame.FramedCompact:
		return "compact protocol on a listener for the binary protocol: closed"
	case frame.RawBinary, frame.FramedBinary:
		return "transport not accepted by this listener (server.transports): closed"
	}
	return "not a Thrift client: closed"
}

// wait blocks for the next call's first byte. It is the only idle place. A
// call that has begun to arrive is served even while the gateway drains.
func (s *Session) wait() bool {
	s.in.Release()
	if s.source != nil {
		s.source.Park()
	}
	if s.in.Buffered() == 0 {
		s.idle.Store(true)
		if s.env.Draining.Load() {
			return false
		}
	}
	s.env = s.next()
	s.in.Start(s.env.Limits.Call, 0)
	if err := s.in.Need(1); err != nil {
		return s.gone(err, false)
	}
	s.idle.Store(false)
	return true
}

// gone ends a session whose client left; in the middle of something it is
// worth a line.
func (s *Session) gone(err error, inside bool) bool {
	switch {
	case errors.Is(err, errDrain):
	case spoiled(err):
		s.warn().Err(err).Msg("bytes that are not what the client sealed: closed")
	case errors.Is(err, errIdle):
		s.log().Msg("idle client closed (server.client-socket-timeout-ms)")
	case inside && !errors.Is(err, io.EOF):
		s.warn().Err(err).Msg("client broke off")
	}
	return false
}
