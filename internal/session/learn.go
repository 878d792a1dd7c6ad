package session

import (
	"errors"
	"sync"
	"sync/atomic"

	"hmsgate/frame"
	"hmsgate/internal/metrics"
	"hmsgate/route"
)

// lacking is what backends turned out not to know, by URI: of one version two
// builds may differ, and a vendor's is none that the inventories describe.
type lacking struct {
	mu sync.Mutex // guards by
	by map[*route.URI]*learned
}

// learned is what one metastore said it does not know.
type learned struct {
	any atomic.Bool // something is in methods

	mu      sync.Mutex // guards the rest
	epoch   uint64     // of the URI's profile; under another one nothing here holds
	methods map[int]bool
}

func newLacking() *lacking { return &lacking{by: map[*route.URI]*learned{}} }

func (l *lacking) of(b *backend) *learned {
	if b.learned == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		if b.learned = l.by[b.uri]; b.learned == nil {
			b.learned = &learned{methods: map[int]bool{}}
			l.by[b.uri] = b.learned
		}
	}
	return b.learned
}

// has says whether a backend is known not to have a method.
func (l *lacking) has(b *backend, method int) bool {
	n := l.of(b)
	if !n.any.Load() {
		return false
	}
	_, epoch := b.uri.Profile()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.epoch != epoch {
		n.forget(epoch)
	}
	return n.methods[method]
}

// add notes that a backend does not have a method and says whether that is new.
func (l *lacking) add(b *backend, method int) bool {
	n := l.of(b)
	_, epoch := b.uri.Profile()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.epoch != epoch {
		n.forget(epoch)
	}
	known := n.methods[method]
	n.methods[method] = true
	n.any.Store(true)
	return !known
}

func (n *learned) forget(epoch uint64) {
	n.epoch = epoch
	clear(n.methods)
	n.any.Store(false)
}

// errLearned says that a backend has just turned out not to know the call's
// method, and that there is another way.
var errLearned = errors.New("the backend does not know the method")

// maxFault bounds an application exception that is looked into.
const maxFault = 1 << 20

// unserved looks at a reply that is an exception. A backend that does not know
// the method is remembered, and a held call goes its bridge: errLearned. Where
// there is none, and the rules have a fallback, that is the client's answer.
func (s *Session) unserved(c *Call, b *backend, w *frame.Window) (answered bool, err error) {
	if c.m == nil || !c.app && (c.m.Fallback == nil || !c.m.Fallback.Any) {
		return false, nil
	}
	w.Hold(maxFault)
	err = w.Skip(frame.Struct, 0)
	if err != nil && !errors.Is(err, frame.ErrFull) {
		return false, err
	}
	// No fault that outgrows its bound says that a method is unknown.
	unknown := err == nil && c.app && faultType(w.Kept()) == frame.UnknownMethod
	if unknown && c.way.as == nil && c.way.m != nil {
		if s.env.lacking.add(b, c.m.index) && !c.way.m.Missing {
			c.line(s.env.Log.Warn()).Str("uri", b.uri.Addr()).Msg("backend does not know the method")
		}
		if br := c.way.m.Bridge; br != nil && br.Replaces(c.m.Row.Method) && !c.way.m.Missing && c.whole {
			w.Release()
			c.status, c.app, c.threw = metrics.OK, false, false // of another way, if that answers
			return false, errLearned
		}
	}
	if f := c.m.Fallback; err == nil && f != nil && (unknown || f.Any) {
		w.Release()
		c.status = metrics.Fallback
		c.Reply(func(dst []byte) []byte { return append(dst, f.Result...) })
		return true, nil
	}
	w.Rewind()
	_, err = w.Header(false)
	return false, err
}

// Without says whether a reply that Other gave is a backend's word that it does
// not know the method, and the answer may do without its share.
func (c *Call) Without(reply []byte) bool {
	if frame.MessageType(reply[3]) != frame.Exception || c.m.Fallback == nil || faultType(reply) != frame.UnknownMethod {
		return false
	}
	c.status = metrics.Fallback
	return true
}

// faultType is the type of an application exception in a whole message, 0 when
// it says none.
//
//	header | 0b 00 01 message | 08 00 02 type | 00
func faultType(msg []byte) frame.AppType {
	if len(msg) < 8 {
		return 0
	}
	at := 12 + int(be.Uint32(msg[4:]))
	for at+7 <= len(msg) && msg[at] != frame.Stop {
		switch id := be.Uint16(msg[at+1:]); {
		case msg[at] == frame.I32 && id == 2:
			return frame.AppType(be.Uint32(msg[at+3:]))
		case msg[at] == frame.I32:
			at += 7
		case msg[at] == frame.String:
			at += 7 + int(be.Uint32(msg[at+3:]))
		default:
			return 0
		}
	}
	return 0
}
