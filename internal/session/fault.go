package session

import (
	"errors"

	"hmsgate/frame"
	"hmsgate/internal/metrics"
	"hmsgate/profiles"
	"hmsgate/route"
)

// nonsense ends a client that sent what is no call: with an application
// exception where header and sequence id were read.
func (s *Session) nonsense(c *Call, err error) bool {
	var src *frame.SourceError
	if errors.As(err, &src) && !errors.Is(err, frame.ErrFrameSize) {
		if c != nil {
			c.void, c.close = true, true
		}
		return s.gone(src.Err, true)
	}
	if c == nil {
		if errors.Is(err, frame.ErrOldHeader) {
			s.env.Metrics.Unexpected(frame.OldBinary.String())
		}
		s.warn().Err(err).Hex("bytes", head(s.in.Bytes())).Msg("not a call: closed")
		return false
	}
	c.close, c.read = true, true // no end is to be found
	if most := s.env.Limits.Call; most > 0 && errors.Is(err, frame.ErrTooLong) {
		s.refuse(c, &route.Refusal{Exception: route.Meta, Reason: "too_large", Text: textTooLong(most, err)})
		return false
	}
	s.fault(c, frame.ProtocolError, textNonsense(err))
	return false
}

// ungathered ends a call that could not be read whole.
func (s *Session) ungathered(c *Call, err error) {
	var large *tooLarge
	switch {
	case errors.As(err, &large):
		s.refuse(c, &route.Refusal{Exception: route.Meta, Reason: "too_large", Text: large.text})
	case errors.Is(err, frame.ErrBudget):
		c.status = metrics.Throttled
		s.fault(c, frame.InternalError, textBusy("memory for held calls is used up (limits.held-total)"))
	default:
		s.nonsense(c, err)
	}
}

// rest reads what the client still has to send of its call, so that it reads
// our answer and its next call is found. False means that there is nobody to
// answer.
func (s *Session) rest(c *Call) bool {
	if c.read {
		return true
	}
	c.read = true
	err := s.drain()
	if err == nil {
		return true
	}
	c.close = true
	var src *frame.SourceError
	if errors.As(err, &src) && !errors.Is(err, frame.ErrFrameSize) {
		s.gone(src.Err, true)
		return false
	}
	return true
}

// drain sends the call nowhere, from its beginning, which is still held.
func (s *Session) drain() error {
	s.in.Rewind()
	s.in.Emit(nowhere{}, false)
	if err := s.walker.Emit(&s.in, s.env.copying, 0, nil); err != nil {
		return err
	}
	return s.in.End()
}

// nowhere takes bytes and forgets them.
type nowhere struct{}

func (nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (nowhere) End() error                  { return nil }

// refuse answers with the exception that the method declares, else with an
// application exception of a type that no client replays.
func (s *Session) refuse(c *Call, r *route.Refusal) {
	if r.Reason == route.Ambiguous {
		s.env.Metrics.Ambiguous()
	}
	line := c.line(s.env.Log.Warn()).Str("reason", string(r.Reason)).Str("text", r.Text)
	if r.Cause != "" {
		line = line.Str("cause", r.Cause)
	}
	line.Msg("refused")
	if c.status == metrics.OK {
		c.status = metrics.Error
	}
	id := int16(0)
	if row := c.Row(); row != nil {
		switch r.Exception {
		case route.Meta:
			id = row.Meta
		case route.NoSuchObject:
			id = row.NoSuchObject
		}
	}
	b := s.scratch[:0]
	switch {
	case r.Exception == route.UnknownMethod:
		b = frame.AppendFault(b, c.Method(), c.seq, frame.UnknownMethod, r.Text)
	case id != 0:
		b = frame.AppendDeclared(b, c.Method(), c.seq, id, r.Text)
	default:
		b = frame.AppendFault(b, c.Method(), c.seq, frame.InvalidProtocol, r.Text)
	}
	s.local(c, b)
}

// fault answers with an application exception.
func (s *Session) fault(c *Call, t frame.AppType, text string) {
	if c.status == metrics.OK {
		c.status = metrics.Error
	}
	c.line(s.env.Log.Warn()).Int32("type", int32(t)).Str("text", text).Msg("failed")
	s.local(c, frame.AppendFault(s.scratch[:0], c.Method(), c.seq, t, text))
}

// unknown answers a write whose outcome nobody knows. No client may take the
// answer as a reason to replay it.
func (s *Session) unknown(c *Call, text string) {
	row := c.Row()
	id := int16(0)
	if row != nil {
		id = row.Meta
		if row.Lost != "" && row.InvalidOperation != 0 {
			id = row.InvalidOperation
		}
	}
	c.status = metrics.Error
	c.line(s.env.Log.Error()).Str("text", text).Msg("outcome unknown")
	b := s.scratch[:0]
	if id != 0 {
		b = frame.AppendDeclared(b, c.Method(), c.seq, id, text)
	} else {
		b = frame.AppendFault(b, c.Method(), c.seq, frame.InvalidProtocol, text)
	}
	s.local(c, b)
}

// unreachable answers a call of which nothing was executed.
func (s *Session) unreachable(c *Call, err error) {
	c.status = metrics.Error
	if errors.Is(err, errCallerGone) || s.client.gone() {
		c.close = true
		return
	}
	var ref *route.Refusal
	if errors.As(err, &ref) { // it was reached, and does not want this caller
		s.refuse(c, ref)
		return
	}
	if s.env.Limits.CloseDead {
		c.line(s.env.Log.Error()).Err(err).Msg("backend unreachable: client closed (routing.unreachable)")
		c.close = true
		return
	}
	c.line(s.env.Log.Error()).Err(err).Msg("backend unreachable")
	s.local(c, frame.AppendFault(s.scratch[:0], c.Method(), c.seq, frame.InternalError, textUnreachable(c.cat.Name)))
}

// writes says whether a call may change something. What nobody knows may.
func (c *Call) writes() bool {
	row := c.Row()
	if row == nil {
		return true
	}
	switch row.Class {
	case profiles.Read, profiles.List, profiles.Global, profiles.Local:
		return false
	}
	return !row.Replay
}
