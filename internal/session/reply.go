package session

import (
	"hmsgate/frame"
	"hmsgate/internal/metrics"
)

// local gives the client a reply made here. A one-way call gets none.
func (s *Session) local(c *Call, msg []byte) {
	defer s.trim()
	s.scratch = msg[:0]
	if c.typ == frame.Oneway && c.m != nil && c.m.Oneway {
		return
	}
	if !s.rest(c) {
		return
	}
	c.done = true
	if s.framed && len(msg) > s.env.Limits.Frame { // a merged list
		c.status = metrics.Error
		msg = frame.AppendFault(msg[:0], c.Method(), c.seq, frame.InternalError,
			textReplyTooLarge(c.Method(), "frame limit", int64(s.env.Limits.Frame), "limits.frame-bytes"))
	}
	if s.framed {
		n := len(msg)
		msg = append(msg, 0, 0, 0, 0)
		copy(msg[4:], msg[:n])
		be.PutUint32(msg, uint32(n))
		s.scratch = msg[:0]
	}
	c.out = int64(len(msg))
	if err := s.say(msg); err != nil {
		c.close = true
	}
}

// Reply answers the call with a result struct (its fields and the stop byte)
// that make appends.
func (c *Call) Reply(result func(dst []byte) []byte) {
	b := frame.AppendHeader(c.s.scratch[:0], frame.Reply, c.Method(), c.seq)
	c.s.local(c, result(b))
}

// Raw answers the call with a whole message made elsewhere.
func (c *Call) Raw(msg []byte) {
	if frame.MessageType(msg[3]) == frame.Exception {
		c.status, c.threw = metrics.Error, true
	}
	c.s.local(c, append(c.s.scratch[:0], msg...))
}

// keepScratch is the most that an idle session keeps for replies made here.
const keepScratch = 1 << 10

func (s *Session) trim() {
	if cap(s.scratch) > keepScratch {
		s.scratch = nil
	}
}

// Degraded marks the answer as made from fewer catalogs than asked.
func (c *Call) Degraded() { c.status = metrics.Degraded }
