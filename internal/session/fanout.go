package session

import (
	"bytes"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"hmsgate/frame"
	"hmsgate/internal/metrics"
	"hmsgate/rewrite"
	"hmsgate/route"
)

// Part is one catalog's share of a call that goes to several.
type Part struct {
	Catalog *route.Catalog
	// Message is the catalog's whole reply, its names already the client's.
	Message []byte
	// Err says why there is none.
	Err error
}

// Asked is a catalog to ask: Names gives the names for the call and for the
// reply, once it is known whether the backend reads "@cat#".
type Asked struct {
	Catalog *route.Catalog
	Names   func(at bool) (call, reply rewrite.Names)
}

// Fanout sends the call to several catalogs at once and collects their
// replies, in the order asked. The first is asked by the session's own
// goroutine. One deadline holds for all.
func (c *Call) Fanout(asked []Asked) []Part {
	c.fanned = len(asked) > 1
	until := time.Now().Add(c.s.env.Limits.Fanout)
	if !c.until.IsZero() && c.until.Before(until) || c.s.env.Limits.Fanout == 0 {
		until = c.until
	}
	parts := make([]Part, len(asked))
	var wg sync.WaitGroup
	var defect atomic.Value // a panic of another goroutine: it is this one's session that it ends
	for i := range asked {
		parts[i].Catalog = asked[i].Catalog
		if i == 0 {
			continue
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer func() {
				if v := recover(); v != nil {
					defect.Store(fmt.Sprintf("%v\n%s", v, debug.Stack()))
				}
			}()
			parts[i].Message, parts[i].Err = c.ask(&asked[i], until)
		}()
	}
	if len(asked) > 0 {
		parts[0].Message, parts[0].Err = c.ask(&asked[0], until)
	}
	wg.Wait()
	if v := defect.Load(); v != nil {
		panic(v)
	}
	return parts
}

// ask sends the call to one catalog. Like any read, it is sent once more when
// no answer came.
func (c *Call) ask(a *Asked, until time.Time) (msg []byte, err error) {
	index := c.s.env.indexOf(a.Catalog)
	for try := 0; ; try++ {
		msg, err = c.askOnce(a, index, until)
		if err == nil {
			return msg, nil
		}
		c.s.drop(index)
		if try > 0 || !c.m.repeats(err) {
			c.line(c.s.env.Log.Error()).Str("catalog", a.Catalog.Name).Err(err).Msg("no share of a merged answer")
			return nil, err
		}
	}
}

func (c *Call) askOnce(a *Asked, index int, until time.Time) ([]byte, error) {
	b, err := c.s.backend(a.Catalog, index, until)
	if err != nil {
		return nil, err
	}
	b.link.until = until
	call, reply := a.Names(b.at)
	p, r := c.plan()
	out := &held{s: c.s}
	k := &rewrite.Walker{}
	if err := transform(k, c.s.in.Kept(), p, r, call, out); err != nil {
		return nil, err
	}
	mine := Call{s: c.s, m: c.m, seq: c.seq}
	if err := mine.exchange(b, out.Bytes()); err != nil {
		return nil, err
	}
	msg, err := mine.exchanged(b, k, reply)
	if err != nil {
		return nil, err
	}
	b.done(time.Now())
	return msg, nil
}

// held collects a message, in memory of the budget until the call ends.
type held struct {
	bytes.Buffer
	s *Session
}

func (h *held) Write(p []byte) (int, error) {
	n := int64(len(p))
	if !h.s.env.Budget.Take(n) {
		return 0, frame.ErrBudget
	}
	h.s.held.Add(n)
	return h.Buffer.Write(p)
}

func (*held) End() error { return nil }

// giveBack returns what merged replies have taken.
func (s *Session) giveBack() {
	if n := s.held.Swap(0); n != 0 {
		s.env.Budget.Give(n)
	}
}

// transform walks a whole message from memory to memory.
func transform(k *rewrite.Walker, msg []byte, p *rewrite.Plan, r rewrite.RootID, names rewrite.Names, out *held) error {
	w := frame.NewWindow(bytes.NewReader(msg), nil)
	defer w.Park()
	w.Start(0, len(msg)+frame.BigSize)
	if _, err := w.Header(true); err != nil {
		return err
	}
	if err := w.Skip(frame.Struct, 0); err != nil {
		return err
	}
	w.Rewind()
	w.Emit(out, true)
	if err := k.Emit(w, p, r, names); err != nil {
		return err
	}
	err := w.End()
	w.Release()
	return err
}

// Unreachable answers a call that no catalog could serve, for the reason of
// one of them.
func (c *Call) Unreachable(cat *route.Catalog, err error) {
	c.cat, c.index = cat, c.s.env.indexOf(cat)
	if errors.Is(err, errTimeout) {
		c.close = true
		c.s.fault(c, frame.InternalError, textTimeout(c.Method(), cat.Name, c.s.env.Limits.Fanout))
		return
	}
	var dial *route.DialError
	switch {
	case isRefusal(err), errors.As(err, &dial), errors.Is(err, errPreamble), errors.Is(err, errCallerGone):
		c.s.unreachable(c, err)
	case errors.Is(err, frame.ErrBudget):
		c.status = metrics.Throttled
		c.s.fault(c, frame.InternalError, textBusy("memory for merged replies is used up (limits.held-total)"))
	case errors.Is(err, frame.ErrFull), errors.Is(err, frame.ErrTooLong):
		c.s.refuse(c, &route.Refusal{Exception: route.Meta, Reason: "too_large",
			Text: textShareTooLarge(c.Method(), cat.Name)})
	default:
		c.s.fault(c, frame.InternalError, textLostRead(c.Method(), cat.Name))
	}
}

// Refuse answers the call with a refusal.
func (c *Call) Refuse(r *route.Refusal) { c.s.refuse(c, r) }

// Preamble remembers the call as something every backend connection of this
// client must hear. heard names the catalog whose connection has had it just
// now; nil for none. False means that the client has told too much.
func (c *Call) Preamble(user bool, heard *route.Catalog) bool {
	p := &c.s.preamble
	m := message{c.Message(), c.seq, user}
	c.s.untell(m)
	if p.size += len(m.bytes); p.size > maxPreamble {
		return false
	}
	if user {
		p.user, p.name = true, firstText(c.Body())
	}
	p.messages = append(p.messages, m)
	if heard != nil {
		if b := c.s.backs[c.s.env.indexOf(heard)]; b != nil {
			b.told = len(p.messages)
		}
	}
	return true
}

// Known says whether the client has said who it is (set_ugi).
func (c *Call) Known() bool { return c.s.preamble.user }

// Answered says whether the client was given a reply that is no exception.
func (c *Call) Answered() bool { return c.done && !c.threw && c.status == metrics.OK }
