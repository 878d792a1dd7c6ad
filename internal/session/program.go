package session

import (
	"errors"
	"time"

	"hmsgate/frame"
	"hmsgate/internal/metrics"
	"hmsgate/profiles"
	"hmsgate/rewrite"
	"hmsgate/route"
)

// AskError says that a backend gave no answer to a call that a program made.
type AskError struct{ Err error }

func (e *AskError) Error() string { return "no answer: " + e.Err.Error() }
func (e *AskError) Unwrap() error { return e.Err }

// program serves the whole call by several calls on this client's connection
// to b. A read whose backend gave no answer goes again, by whatever way leads
// to the metastore that then answers.
func (s *Session) program(c *Call, b *backend, name string) (again bool) {
	p := s.env.programs[name]
	if p == nil {
		s.refuse(c, &route.Refusal{Exception: route.UnknownMethod, Reason: route.UnknownCall, Text: textNever(c.Method())})
		return false
	}
	c.at, c.sent = b, 0
	err := p(c)
	c.at = nil
	if err == nil || !s.unprogrammed(c, err) {
		return false
	}
	c.tries++
	return true
}

// unprogrammed answers a call whose program failed and says whether it is to
// be begun again.
func (s *Session) unprogrammed(c *Call, err error) (again bool) {
	var ask *AskError
	if !errors.As(err, &ask) {
		s.fault(c, frame.InternalError, textProgram(c.Method(), err))
		return false
	}
	s.drop(c.index)
	kind := "closed"
	switch {
	case errors.Is(err, errCallerGone) || s.client.gone():
		c.status, c.close = metrics.Error, true
		return false
	case errors.Is(err, errTimeout):
		kind = "timeout"
	case !isSource(ask.Err):
		kind = "protocol"
	}
	s.env.Metrics.BackendFailed(c.cat.Name, kind)
	took := s.env.Targets[c.index].Timeout
	switch {
	case kind == "timeout" && c.writes():
		c.close = true // as in lost
		s.unknown(c, textTimeoutWrite(c.Method(), c.cat.Name, took))
	case kind == "timeout":
		c.close = true
		s.fault(c, frame.InternalError, textTimeout(c.Method(), c.cat.Name, took))
	case c.writes() && c.sent > 0:
		s.unknown(c, textUnknown(c.Method(), c.cat.Name))
	case c.m.Replay && c.tries == 0:
		return true
	case errors.Is(err, frame.ErrFull), errors.Is(err, frame.ErrTooLong):
		s.refuse(c, &route.Refusal{Exception: route.Meta, Reason: "too_large", Text: textShareTooLarge(c.Method(), c.cat.Name)})
	default:
		s.fault(c, frame.InternalError, textLostRead(c.Method(), c.cat.Name))
	}
	return false
}

// Program is what the rules say of the program that serves the call.
func (c *Call) Program() *profiles.Program { return c.way.m.Bridge.Program }

// Ats says whether the backend reads "@cat#db".
func (c *Call) Ats() bool { return c.at.at }

// Inward is the call's whole message in the client's interface with the
// backend's names. Nothing is edited for the backend's version: that is the
// program's part. A name that belongs elsewhere is a *route.Refusal.
func (c *Call) Inward() ([]byte, error) {
	s, out := c.s, &held{s: c.s}
	s.in.Rewind()
	s.in.Emit(out, true)
	if err := s.walker.Emit(&s.in, s.env.Plans.Call, c.m.CallRoot, s.bind.Call(c.at.at)); err != nil {
		return nil, err
	}
	if err := s.in.End(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// Ask sends a whole call message of the program's to the backend and gives its
// whole reply. A *AskError says that there was none.
func (c *Call) Ask(msg []byte, method string) ([]byte, error) {
	b := c.at
	c.sent++
	b.link.until = c.until
	reply, err := c.askAs(b, msg, method)
	if err != nil {
		return nil, &AskError{err}
	}
	b.done(time.Now())
	return reply, nil
}

// askAs is the exchange of Ask, as it came.
func (c *Call) askAs(b *backend, msg []byte, method string) ([]byte, error) {
	mine := Call{s: c.s, name: []byte(method), seq: c.seq}
	if err := mine.exchange(b, msg); err != nil {
		return nil, err
	}
	out := &held{s: c.s}
	_, err := out.Write(b.win.Kept())
	b.win.Release()
	return out.Bytes(), err
}

// Outward answers the call with a whole reply that a program made of what its
// backend said: names become the client's.
func (c *Call) Outward(msg []byte) error {
	s := c.s
	names := s.bind.Reply()
	if _, same := s.bind.Identity(); same {
		names = nil
	}
	p, r := c.way.plans.Reply, c.way.m.ReplyRoot
	if frame.MessageType(msg[3]) == frame.Exception {
		p, r, names = s.env.copying, 0, nil
	}
	out := &held{s: s}
	if err := transform(&rewrite.Walker{}, msg, p, r, names, out); err != nil {
		return err
	}
	if s.framed && out.Len() > s.env.Limits.Frame {
		s.oversized(c, frame.ErrFull)
		return nil
	}
	c.Raw(out.Bytes())
	return nil
}

// Loss is the refusal of a call of which something would be lost at the
// version of its backend.
func (c *Call) Loss(reason string) *route.Refusal {
	return &route.Refusal{Exception: route.Meta, Reason: "version", Text: textLoss(c.Method(), c.cat.Name, reason)}
}

// AsItself forwards a call whose program finds that the backend understands it.
func (c *Call) AsItself() {
	c.asItself = true
	c.s.forward(c)
}
