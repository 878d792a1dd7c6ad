package session

import (
	"errors"
	"io"
	"time"

	"hmsgate/frame"
	"hmsgate/internal/metrics"
	"hmsgate/rewrite"
	"hmsgate/route"
	"hmsgate/sasl"
)

// errReply is a reply that does not belong to the call.
var errReply = errors.New("reply does not belong to the call")

// forward sends the routed call to its backend and streams the reply back.
func (s *Session) forward(c *Call) {
	c.index = s.env.indexOf(c.cat)
	if s.env.Targets[c.index].Framed && !c.whole && !s.entire(c) {
		return
	}
	if t := s.env.Targets[c.index].Timeout; t > 0 {
		c.until = c.start.Add(t)
	}
	for {
		b, err := s.backend(c.cat, c.index, c.until)
		if err != nil {
			s.unreachable(c, err)
			return
		}
		b.link.until = c.until
		if !s.choose(c, b) {
			return
		}
		if s.backs[c.index] != b {
			continue
		}
		sent, again := s.send(c, b)
		if again {
			continue
		}
		if !sent {
			return
		}
		if !s.receive(c, b) {
			return
		}
	}
}

// Forward serves the call as if its row named no answer.
func (c *Call) Forward() {
	var ref *route.Refusal
	if c.cat, ref = c.s.bind.Route(&c.m.Row); ref != nil {
		c.s.refuse(c, ref)
		return
	}
	c.s.forward(c)
}

// outgoing is the sink of a call on its way to a backend. Once the backend
// cannot be written to, or a late name says that the call must not arrive,
// the rest of the call goes nowhere: the client still sends it and reads the
// answer only then.
type outgoing struct {
	b    *backend
	err  error
	late *route.Refusal
}

func (o *outgoing) Write(p []byte) (int, error) {
	if o.err == nil && o.late == nil {
		if _, err := o.b.wire.Write(p); err != nil {
			o.err = err
		}
	}
	return len(p), nil
}

func (o *outgoing) End() error {
	if o.err == nil && o.late == nil {
		o.err = o.b.wire.End()
	}
	return nil
}

// lateNames lets the walk go on after a name that belongs elsewhere.
type lateNames struct {
	rewrite.Names
	out *outgoing
}

func (n *lateNames) Append(dst []byte, k rewrite.Kind, name []byte) ([]byte, error) {
	at := len(dst)
	out, err := n.Names.Append(dst, k, name)
	if err == nil {
		return out, nil
	}
	var r *route.Refusal
	if !errors.As(err, &r) {
		return out, err
	}
	if n.out.late == nil {
		n.out.late = r
	}
	return append(dst[:at], name...), nil
}

// Rewrites implements rewrite.Texts.
func (n *lateNames) Rewrites(k rewrite.Kind) bool {
	t, ok := n.Names.(rewrite.Texts)
	return ok && t.Rewrites(k)
}

func (n *lateNames) ID(k rewrite.Kind, id int64) (int64, error) {
	out, err := n.Names.ID(k, id)
	var r *route.Refusal
	if err != nil && errors.As(err, &r) {
		if n.out.late == nil {
			n.out.late = r
		}
		return id, nil
	}
	return out, err
}

// send emits the call to b. again says that nothing was executed and another
// connection may be tried.
func (s *Session) send(c *Call, b *backend) (sent, again bool) {
	o := &s.outgoing
	*o = outgoing{b: b}
	if err := s.emit(c, b, o); err != nil {
		if large := (*tooLarge)(nil); errors.As(err, &large) { // measured, and nothing sent
			c.read = true
			s.ungathered(c, err)
			return false, false
		}
		// The client broke off or sent nonsense: the backend never sees the end.
		s.drop(c.index)
		if errors.Is(err, frame.ErrBudget) {
			c.close, c.read = true, true // where the call ends is not known
			s.ungathered(c, err)
		} else {
			s.nonsense(c, err)
		}
		return false, false
	}
	c.read = true
	switch {
	case o.late != nil:
		if s.in.Written() > 0 {
			s.drop(c.index)
		}
		s.refuse(c, o.late)
		return false, false
	case o.err == nil:
		return true, false
	}
	return false, s.unsent(c, b, o.err)
}

// emit walks the call to the sink and hands over its last bytes only when no
// late name forbids it.
func (s *Session) emit(c *Call, b *backend, o *outgoing) error {
	p, r := c.plan()
	names := s.callNames(c, b, o)
	s.in.Rewind()
	size := int64(-1)
	if b.frames != nil {
		var err error
		if size, err = s.walker.Measure(&s.in, p, r, names); err != nil || o.late != nil {
			return err
		}
		if size > int64(s.env.Limits.Frame) {
			return &tooLarge{textFrameTooLarge(s.env.Limits.Frame)}
		}
		s.in.Rewind()
	}
	s.in.Emit(o, c.whole)
	if size >= 0 {
		if err := s.in.FrameHeader(size); err != nil {
			return err
		}
	}
	if err := s.walker.Emit(&s.in, p, r, names); err != nil {
		return err
	}
	c.in = s.in.Pos()
	if o.late == nil && s.walker.Guards != 0 {
		o.late = c.missed(s.walker.Guards)
	}
	if o.late != nil {
		return nil
	}
	if err := s.verified(); err != nil {
		return err
	}
	return s.in.End()
}

// callNames is nil when no name of the call changes.
func (s *Session) callNames(c *Call, b *backend, o *outgoing) rewrite.Names {
	if c.m == nil {
		return nil
	}
	names := s.bind.Call(b.at)
	if same, _ := s.bind.Identity(); same && c.whole && !s.facts.Over && c.way.as == nil {
		return nil
	}
	s.late = lateNames{names, o}
	return &s.late
}

// unsent handles a backend that could not be written to: its last byte was
// never handed over, so nothing was executed. It may have said why.
func (s *Session) unsent(c *Call, b *backend, cause error) (again bool) {
	if errors.Is(cause, errTimeout) || errors.Is(cause, errCallerGone) {
		return s.lost(c, b, cause)
	}
	b.link.until = time.Now().Add(time.Second)
	ok, err := s.reply(c, b)
	switch {
	case !ok && b.win.Written() > 0: // the client has a part of a reply
		return s.lost(c, b, err)
	case !ok && c.whole && c.tries == 0:
		s.drop(c.index)
		c.tries++
		return true
	case !ok:
		s.drop(c.index)
		s.unreachable(c, cause)
	default:
		s.drop(c.index)
	}
	return false
}

// receive brings the reply back and says whether the call is to be sent once
// more.
func (s *Session) receive(c *Call, b *backend) (again bool) {
	ok, err := s.reply(c, b)
	if ok {
		if s.backs[c.index] != b { // dropped
			return false
		}
		if n := b.surplus(); n > 0 {
			c.line(s.env.Log.Warn()).Int("bytes", n).Msg("backend sent more than a reply: closed")
			s.drop(c.index)
			return false
		}
		b.done(time.Now())
		return false
	}
	if errors.Is(err, errLearned) && b.surplus() == 0 {
		b.done(time.Now())
		return true
	}
	return s.lost(c, b, err)
}

// reply streams one reply to the client. It is ok when the client has got one,
// or is gone itself; err tells why not.
func (s *Session) reply(c *Call, b *backend) (ok bool, err error) {
	ok, err = s.stream(c, b)
	if !ok && b.win.Written() == 0 && s.oversized(c, err) {
		s.drop(c.index)
		return true, nil
	}
	return ok, err
}

// clientReads is the longest message that a client reads which was not told
// otherwise (Apache Thrift since 0.14, TConfiguration.DEFAULT_MAX_MESSAGE_SIZE).
const clientReads = 100 << 20

func (s *Session) stream(c *Call, b *backend) (ok bool, err error) {
	w := &b.win
	w.Start(s.env.Limits.Reply, 0)
	if err := s.head(c, w); err != nil {
		return false, err
	}
	if c.threw {
		if done, err := s.unserved(c, b, w); done || err != nil {
			return done, err
		}
	}
	p, r := c.replyPlan()
	var names rewrite.Names
	if c.m != nil && p != s.env.copying {
		names = s.bind.Reply()
		if _, same := s.bind.Identity(); same {
			names = nil // what changes besides names needs none
		}
	}
	size := int64(-1)
	if s.framed {
		if size, err = s.measure(w, p, r, names); err != nil {
			return false, err
		}
	}
	w.Rewind()
	w.Emit(s.out, s.framed)
	w.Lazy()
	if size >= 0 {
		err = w.FrameHeader(size)
	}
	if err == nil {
		err = s.walker.Emit(w, p, r, names)
	}
	if err == nil && !b.wire.Settled() {
		err = sasl.ErrUnverified
	}
	if err == nil {
		err = w.End()
	}
	c.out = w.Written()
	if err == nil {
		c.done = true
		if w.Pos() <= clientReads && c.out > clientReads {
			s.env.Metrics.Outgrown()
			c.line(s.env.Log.Warn()).Int64("was", w.Pos()).Int64("is", c.out).
				Msg("longer names took the reply over what clients read unless told otherwise")
		}
		w.Release()
		return true, nil
	}
	var snk *frame.SinkError
	if errors.As(err, &snk) { // the client is gone
		s.drop(c.index)
		c.status, c.close = metrics.Error, true
		return true, nil
	}
	return false, err
}

// head reads a reply's header and first field, and checks that it is ours.
func (s *Session) head(c *Call, w *frame.Window) error {
	h, err := w.Header(false)
	if err != nil {
		return err
	}
	if h.Type != frame.Reply && h.Type != frame.Exception || h.Seq != c.seq || !c.sentAs(h.Method) {
		return errReply
	}
	if err := w.Need(1); err != nil {
		return err
	}
	c.status, c.app, c.threw = metrics.OK, false, false
	if h.Type == frame.Exception {
		c.status, c.app, c.threw = metrics.Error, true, true
		return nil
	}
	if w.Bytes()[0] == frame.Stop {
		return nil
	}
	if err := w.Need(3); err != nil {
		return err
	}
	c.threw = w.Bytes()[1] != 0 || w.Bytes()[2] != 0 // field 0 is success
	return nil
}

// measure reads a reply whole and counts what it will be for the client.
func (s *Session) measure(w *frame.Window, p *rewrite.Plan, r rewrite.RootID, names rewrite.Names) (int64, error) {
	w.Hold(s.env.Limits.Frame)
	if err := w.Skip(frame.Struct, 0); err != nil {
		return 0, err
	}
	n, err := w.Pos(), error(nil)
	if w.Rewind(); names != nil || !p.Plain(r) {
		n, err = s.walker.Measure(w, p, r, names)
	}
	if err == nil && n > int64(s.env.Limits.Frame) {
		err = frame.ErrFull
	}
	w.Rewind() // what was counted has not been written
	return n, err
}

// oversized answers when a reply breaks one of our limits, of which the client
// has got nothing yet. It is no fault of the backend's, and would be as large
// if asked for once more; the rest of it is not worth reading.
func (s *Session) oversized(c *Call, err error) bool {
	var text string
	switch {
	case errors.Is(err, frame.ErrFull):
		text = textReplyTooLarge(c.Method(), "frame limit", int64(s.env.Limits.Frame), "limits.frame-bytes")
	case errors.Is(err, frame.ErrTooLong) && s.env.Limits.Reply > 0:
		text = textReplyTooLarge(c.Method(), "limit", s.env.Limits.Reply, "limits.reply-bytes")
	case errors.Is(err, frame.ErrBudget):
		if c.writes() {
			s.unknown(c, textUnknown(c.Method(), c.cat.Name))
		} else {
			s.fault(c, frame.InternalError, textBusy("memory for held replies is used up (limits.held-total)"))
		}
		return true
	default:
		return false
	}
	if c.writes() {
		s.unknown(c, textUnread(text))
	} else {
		s.refuse(c, &route.Refusal{Exception: route.Meta, Reason: "too_large", Text: text})
	}
	return true
}

// lost handles a reply that did not come, or not to its end. It is the fault
// table's lower half.
func (s *Session) lost(c *Call, b *backend, cause error) (again bool) {
	uri, sent := b.uri, s.outgoing.err == nil
	started := b.win.Written() > 0
	s.drop(c.index)
	timeout := errors.Is(cause, errTimeout)
	if errors.Is(cause, errCallerGone) || s.client.gone() {
		c.line(s.env.Log.Debug()).Msg("client left while waiting")
		c.status, c.close = metrics.Error, true
		return false
	}
	kind := "closed"
	switch {
	case timeout:
		kind = "timeout"
	case started:
		kind = "broken_reply"
	case !isSource(cause):
		kind = "protocol"
	}
	s.env.Metrics.BackendFailed(c.cat.Name, kind)
	switch {
	case started:
		e := c.line(s.env.Log.Error()).Err(cause)
		if c.writes() {
			e = e.Bool("outcome_unknown", true)
		}
		e.Msg("backend broke in the middle of a reply: both connections closed")
		c.status, c.close = metrics.Error, true
	case timeout && !sent:
		c.close = true
		s.fault(c, frame.InternalError, textTimeout(c.Method(), c.cat.Name, s.env.Targets[c.index].Timeout))
	case timeout:
		c.close = true // a late reply would be read as the answer to the next call
		took := s.env.Targets[c.index].Timeout
		if c.writes() {
			s.unknown(c, textTimeoutWrite(c.Method(), c.cat.Name, took))
		} else {
			s.fault(c, frame.InternalError, textTimeout(c.Method(), c.cat.Name, took))
		}
	case c.writes():
		c.line(s.env.Log.Error()).Err(cause).Msg("no answer to a write")
		s.unknown(c, textUnknown(c.Method(), c.cat.Name))
	case c.whole && c.m.Replay && c.tries == 0:
		c.tries++
		return true
	case errors.Is(cause, io.EOF) && s.env.Alive(uri, c.index):
		// Its own way to report a RuntimeException (3.1.3, seen on real servers).
		c.line(s.env.Log.Warn()).Msg("backend closed the connection over this call: so do we")
		c.status, c.close = metrics.Error, true
	default:
		c.line(s.env.Log.Error()).Err(cause).Msg("no answer to a read")
		s.fault(c, frame.InternalError, textLostRead(c.Method(), c.cat.Name))
	}
	return false
}

func isSource(err error) bool {
	var src *frame.SourceError
	return errors.As(err, &src)
}
