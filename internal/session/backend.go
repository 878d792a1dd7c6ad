package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"hmsgate/frame"
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
	cat    *route.Catalog
	uri    *route.URI
	link   backLink
	win    frame.Window
	frames *frame.FrameReader // set when the backend speaks framed
	used   time.Time
	told   int  // messages of the preamble it has had
	at     bool // reads "@cat#db"
}

// backend gives the connection to a catalog, dialled, alive and told who the
// client is.
func (s *Session) backend(cat *route.Catalog, index int) (*backend, error) {
	b := s.backs[index]
	if b != nil && b.cat != cat { // the configuration changed under it
		s.drop(index)
		b = nil
	}
	if b != nil {
		if idle := time.Since(b.used); idle > backendIdle || idle > staleAfter && b.link.gone() || b.win.Buffered() > 0 {
			s.drop(index)
			b = nil
		}
	}
	if b == nil {
		var err error
		if b, err = s.dial(cat, index); err != nil {
			return nil, err
		}
	}
	if err := s.tell(b); err != nil {
		s.drop(index)
		return nil, err
	}
	return b, nil
}

func (s *Session) dial(cat *route.Catalog, index int) (*backend, error) {
	e := s.env
	ctx, cancel := context.WithTimeout(context.Background(), e.Limits.Patience+10*time.Second)
	defer cancel()
	stop := s.watchDial(cancel)
	conn, uri, err := cat.Backend().Dial(ctx, e.Dial, e.Limits.Patience)
	stop()
	if err != nil {
		e.Metrics.BackendFailed(cat.Name, "connect")
		return nil, err
	}
	label, _, err := uri.AwaitProfile(ctx)
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	b := &backend{cat: cat, uri: uri, at: !strings.HasPrefix(label, "apache-2.")}
	b.link = backLink{link: newLink(conn, s.opt.Idle), caller: &s.client.link}
	if e.Targets[index].Framed {
		b.frames = frame.NewFrameReader(&b.link, e.Limits.Frame)
		b.win.Reset(b.frames, e.Budget)
	} else {
		b.win.Reset(&b.link, e.Budget)
	}
	s.backs[index] = b
	s.opened.Add(1)
	e.Metrics.BackendOpened()
	return b, nil
}

// watchDial gives a dial up when the client leaves meanwhile. A timer does
// the looking, no goroutine waits.
func (s *Session) watchDial(cancel context.CancelFunc) (stop func()) {
	var t *time.Timer
	t = time.AfterFunc(time.Second, func() {
		if s.client.gone() {
			cancel()
			return
		}
		t.Reset(time.Second)
	})
	return func() { t.Stop() }
}

// drop closes a backend connection.
func (s *Session) drop(index int) {
	b := s.backs[index]
	if b == nil {
		return
	}
	s.backs[index] = nil
	s.opened.Add(-1)
	_ = b.link.conn.Close()
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
		if b != nil && now.Sub(b.used) >= backendIdle {
			s.drop(i)
		}
	}
}

// done ends a backend connection's part in a call.
func (b *backend) done(now time.Time) {
	b.used = now
	b.link.until = time.Time{}
	b.win.Park()
}

// preamble is what a client told its connection and every backend connection
// of its own must hear, in order: set_ugi, setMetaConf.
type preamble struct {
	messages []message
	size     int
	user     bool // set_ugi is among them
}

type message struct {
	bytes []byte
	seq   int32
}

// maxPreamble bounds what is remembered of one client.
const maxPreamble = 64 << 10

var errPreamble = errors.New("the metastore did not accept the client's identity or settings")

// tell replays the preamble's messages that a backend connection has not had.
// Their answers go nowhere; an exception of a setting is the client's
// business with the default catalog, where it saw it.
func (s *Session) tell(b *backend) error {
	for ; b.told < len(s.preamble.messages); b.told++ {
		m := s.preamble.messages[b.told]
		if err := b.write(m.bytes); err != nil {
			return fmt.Errorf("%w: %w", errPreamble, err)
		}
		if err := b.swallow(m.seq); err != nil {
			s.env.Metrics.BackendFailed(b.cat.Name, "preamble")
			return fmt.Errorf("%w: %w", errPreamble, err)
		}
	}
	return nil
}

// write sends a whole message.
func (b *backend) write(msg []byte) error {
	if b.frames != nil {
		framed := make([]byte, 0, 4+len(msg))
		framed = be.AppendUint32(framed, uint32(len(msg)))
		msg = append(framed, msg...)
	}
	_, err := b.link.Write(msg)
	return err
}

// swallow reads a reply and forgets it.
func (b *backend) swallow(seq int32) error {
	b.link.until = time.Now().Add(preambleWait)
	defer func() { b.link.until = time.Time{} }()
	b.win.Start(maxPreamble, 0)
	defer b.win.Release()
	h, err := b.win.Header(false)
	if err != nil {
		return err
	}
	if h.Seq != seq {
		return fmt.Errorf("%w: sequence id %d, want %d", errReply, h.Seq, seq)
	}
	return b.win.Skip(frame.Struct, 0)
}

const preambleWait = 30 * time.Second
