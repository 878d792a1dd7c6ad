package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"hmsgate/frame"
	"hmsgate/profiles"
	"hmsgate/route"
)

const (
	// backendIdle is how long an unused backend connection is kept, so that
	// one SHOW DATABASES does not hold a thread on every metastore for a
	// client's life.
	backendIdle = 60 * time.Second
	// staleAfter is when an idle backend connection is looked at before it is
	// used again.
	staleAfter = time.Second
)

// backend is this client's connection to one catalog's metastore.
type backend struct {
	cat     *route.Catalog
	uri     *route.URI
	conn    net.Conn
	link    backLink  // on the TCP connection
	wire    transport // on the link: itself, or what protects it
	win     frame.Window
	frames  *frame.FrameReader // set when the backend speaks framed
	user    string             // whom it sees, where it impersonates
	sasl    bool
	named   bool // it was told a proved user
	used    time.Time
	told    int                                  // messages of the preamble it has had
	at      bool                                 // reads "@cat#db"
	label   string                               // of the interface version it speaks
	plans   [profiles.Since4 + 1]*profiles.Plans // by what the client has shown
	learned *learned                             // of its URI; nil until it is asked for
}

// backend gives the connection to a catalog, dialled, alive and told who the
// client is. until is the call's limit. A connection that was closed while
// nobody used it is no fault: another is dialled.
func (s *Session) backend(cat *route.Catalog, index int, until time.Time) (*backend, error) {
	if b := s.backs[index]; b != nil {
		if s.usable(b, cat) && s.tell(b) == nil {
			return b, nil
		}
		s.drop(index)
	}
	b, err := s.dial(cat, index, until)
	if err != nil {
		return nil, err
	}
	if err := s.tell(b); err != nil {
		s.drop(index)
		s.env.Metrics.BackendFailed(cat.Name, "preamble")
		return nil, err
	}
	return b, nil
}

// usable says whether a connection can carry one more call.
func (s *Session) usable(b *backend, cat *route.Catalog) bool {
	if b.cat != cat || b.surplus() > 0 { // the configuration changed under it, or it spoke unasked
		return false
	}
	idle := time.Since(b.used)
	return idle <= s.env.keep && (idle <= s.env.stale || !b.link.gone())
}

// surplus is how many bytes a backend has sent, or announced, beyond a reply.
func (b *backend) surplus() int {
	n := b.win.Buffered() + b.wire.Rest()
	if b.frames != nil {
		n += b.frames.Left()
	}
	return n
}

func (s *Session) dial(cat *route.Catalog, index int, until time.Time) (*backend, error) {
	e := s.env
	user, err := s.userFor(cat, index)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	if !until.IsZero() {
		var stop context.CancelFunc
		ctx, stop = context.WithDeadlineCause(ctx, until, errTimeout)
		defer stop()
	}
	defer s.watchDial(cancel)()
	conn, uri, err := cat.Backend().Dial(ctx, reach(func(ctx context.Context, addr string) (net.Conn, error) {
		return e.Dial(ctx, index, addr, user)
	}, cat), e.Limits.Patience)
	if err != nil {
		if context.Cause(ctx) == errCallerGone {
			return nil, errCallerGone
		}
		if !isRefusal(err) {
			e.Metrics.BackendFailed(cat.Name, "connect")
		}
		return nil, err
	}
	if from := cat.Backend().Switched(uri); from != nil {
		e.Metrics.BackendSwitched(cat.Name)
		e.Log.Warn().Str("catalog", cat.Name).Str("from", from.Addr()).Str("to", uri.Addr()).
			Msg("another metastore serves the catalog now")
	}
	label, _ := uri.Profile()
	b := &backend{cat: cat, uri: uri, user: user, sasl: e.Targets[index].SASL, used: time.Now(), label: label,
		at: profiles.GenerationOf(label) != profiles.Gen2}
	b.open(conn, s)
	if e.Targets[index].Framed {
		b.frames = frame.NewFrameReader(b.wire, e.Limits.Frame)
		b.win.Reset(b.frames, e.Budget)
	} else {
		b.win.Reset(b.wire, e.Budget)
	}
	s.backs[index] = b
	s.opened.Add(1)
	e.Metrics.BackendOpened()
	return b, nil
}

// reach dials and waits until it is known what the metastore speaks: one that
// connects but does not say is passed over like one that does not connect.
func reach(dial route.DialFunc, cat *route.Catalog) route.DialFunc {
	return func(ctx context.Context, addr string) (net.Conn, error) {
		conn, err := dial(ctx, addr)
		if err != nil {
			return nil, err
		}
		for _, u := range cat.Backend().URIs() {
			if u.Addr() != addr {
				continue
			}
			if _, _, err := u.AwaitProfile(ctx); err != nil {
				_ = conn.Close()
				return nil, err
			}
		}
		return conn, nil
	}
}

// watchDial gives a dial up when the client leaves meanwhile. A timer does
// the looking, no goroutine waits.
func (s *Session) watchDial(cancel context.CancelCauseFunc) (stop func()) {
	var mu sync.Mutex // guards t and over: a look may be under way when stop is called
	var t *time.Timer
	over := false
	mu.Lock()
	defer mu.Unlock()
	t = time.AfterFunc(time.Second, func() {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case over:
		case s.client.gone():
			cancel(errCallerGone)
		default:
			t.Reset(time.Second)
		}
	})
	return func() {
		mu.Lock()
		defer mu.Unlock()
		over = true
		t.Stop()
	}
}

// drop closes a backend connection.
func (s *Session) drop(index int) {
	b := s.backs[index]
	if b == nil {
		return
	}
	s.backs[index] = nil
	s.opened.Add(-1)
	_ = b.conn.Close()
	b.win.Reset(nil, nil)
	b.win.Park()
	s.env.Metrics.BackendClosed()
}

func (s *Session) closeBackends() {
	for i := range s.backs {
		s.drop(i)
	}
}

// reap closes backend connections that have not been used for a while.
func (s *Session) reap(now time.Time) {
	for i, b := range s.backs {
		if b != nil && now.Sub(b.used) >= s.env.keep {
			s.drop(i)
		}
	}
}

// done ends a backend connection's part in a call.
func (b *backend) done(now time.Time) {
	b.used = now
	b.link.until = time.Time{}
	b.win.Park()
	b.wire.Park()
}

// preamble is what a client told its connection and every backend connection
// of its own must hear, in order: set_ugi, setMetaConf.
type preamble struct {
	messages []message
	size     int
	user     bool   // set_ugi is among them
	name     string // the user it names
}

type message struct {
	bytes []byte
	seq   int32
	user  bool // it is set_ugi
}

// maxPreamble bounds what is remembered of one client.
const maxPreamble = 64 << 10

var errPreamble = errors.New("the metastore did not accept the client's identity or settings")

// tell replays the preamble's messages that a backend connection has not had.
// Their answers go nowhere; an exception of a setting is the client's
// business with the default catalog, where it saw it. A refused identity has
// been seen by nobody: what the client asks must not be done as somebody else.
func (s *Session) tell(b *backend) error {
	if err := s.introduce(b); err != nil {
		return fmt.Errorf("%w: %w", errPreamble, err)
	}
	for ; b.told < len(s.preamble.messages); b.told++ {
		m := s.preamble.messages[b.told]
		if m.user && (b.sasl || s.proved.User != "") {
			// Under SASL it would be echoed and mean nothing (HMS installs no
			// TUGIBasedProcessor), and what is proved is not changed by a claim.
			continue
		}
		if err := s.tellOne(b, m); err != nil {
			return fmt.Errorf("%w: %w", errPreamble, err)
		}
	}
	return nil
}

// untell takes an earlier message that says the same out of the preamble: what
// a long-lived client sets again and again is told once, as late as it was
// last said.
func (s *Session) untell(m message) {
	p := &s.preamble
	i := slices.IndexFunc(p.messages, m.says)
	if i < 0 {
		return
	}
	p.size -= len(p.messages[i].bytes)
	p.messages = slices.Delete(p.messages, i, i+1)
	for _, b := range s.backs {
		if b != nil && b.told > i {
			b.told--
		}
	}
}

func (m message) method() []byte { return m.bytes[8 : 8+be.Uint32(m.bytes[4:])] }

// says is whether two calls differ in nothing but their sequence ids.
func (m message) says(o message) bool {
	seq := 8 + len(m.method()) // version, length of the name, the name
	return len(m.bytes) == len(o.bytes) && bytes.Equal(m.bytes[:seq], o.bytes[:seq]) &&
		bytes.Equal(m.bytes[seq+4:], o.bytes[seq+4:])
}

// write sends a whole message.
func (b *backend) write(msg []byte) error {
	if b.frames != nil {
		framed := make([]byte, 0, 4+len(msg))
		framed = be.AppendUint32(framed, uint32(len(msg)))
		msg = append(framed, msg...)
	}
	if _, err := b.wire.Write(msg); err != nil {
		return err
	}
	return b.wire.End()
}

// tellOne tells b a message of the preamble and forgets the reply.
func (s *Session) tellOne(b *backend, m message) error {
	b.link.until = time.Now().Add(preambleWait)
	defer func() { b.link.until = time.Time{} }()
	defer b.win.Release()
	mine := Call{s: s, name: m.method(), seq: m.seq}
	if err := mine.exchange(b, m.bytes); err != nil {
		return err
	}
	if m.user && mine.threw {
		return errIdentity
	}
	return nil
}

var errIdentity = errors.New("set_ugi was answered with an exception")

const preambleWait = 30 * time.Second
