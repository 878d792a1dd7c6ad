package sasl

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"hmsgate/frame"
)

// DataLimits bounds what a peer may send after the negotiation. The zero
// value means the defaults.
type DataLimits struct {
	// Frame is the longest frame; default 100 MiB + 128, Hive's own message
	// limit. Java sends a whole message, of any size, as one frame.
	Frame int64
	// Stream lets tokens longer than Hold through piece by piece, before they
	// are verified. Who sets it asks Settled at the end of every message,
	// before its last byte goes on: then a damaged token can spoil a message
	// but never complete one. Without it, a token is held whole until it is
	// verified.
	Stream bool
	Hold   int // with Stream; default 1 MiB
	// Budget is where memory beyond one buffer is reserved first; nil: no limit.
	Budget *frame.Budget
}

const (
	defaultFrame = 100<<20 + 128
	defaultHold  = 1 << 20
	smallSize    = 1 << 10 // an idle connection's buffer; most calls fit
	stayBig      = bufferSize / 2
)

// Source reads data frames and gives out plain bytes. It keeps its state over
// any error of the connection (a deadline, half a length), and none over a
// damaged token: nothing behind one means anything.
type Source struct {
	src    io.Reader
	layer  Layer
	frames *frame.FrameReader // does it all without a layer
	limits DataLimits

	small [smallSize]byte
	big   *[bufferSize]byte
	buf   []byte // small, big or memory of its own
	own   int64  // bytes of buf reserved from the budget
	r, w  int    // raw bytes not used yet
	plain []byte // within buf, below r
	last  int    // length of the last token

	op   Opener
	left int64 // bytes of op's token still to come
	bad  error
}

// Source returns the reading side of the connection.
func (s *Session) Source(r io.Reader, l DataLimits) *Source { return NewSource(r, s.Layer, l) }

// NewSource reads from src.
func NewSource(src io.Reader, layer Layer, l DataLimits) *Source {
	if l.Frame <= 0 {
		l.Frame = defaultFrame
	}
	l.Frame = min(l.Frame, math.MaxInt32) // the length is signed in Java
	if l.Hold <= 0 {
		l.Hold = defaultHold
	}
	s := &Source{src: src, layer: layer, limits: l}
	if layer == nil {
		s.frames = frame.NewFrameReader(src, int(l.Frame))
	}
	s.buf = s.small[:]
	return s
}

// Settled says whether all bytes given out so far are verified.
func (s *Source) Settled() bool { return s.op == nil }

// Rest is how many bytes have come, or were announced, that Read has not
// given out: plain ones, or those of tokens.
func (s *Source) Rest() int {
	if s.frames != nil {
		return s.frames.Left()
	}
	n := len(s.plain) + s.w - s.r
	if s.op != nil {
		n = max(n, int(s.left))
	}
	return n
}

// Read gives out plain bytes.
func (s *Source) Read(p []byte) (int, error) {
	if s.frames != nil {
		return s.frames.Read(p)
	}
	if len(p) == 0 {
		return 0, nil
	}
	for len(s.plain) == 0 {
		if s.bad != nil {
			return 0, s.bad
		}
		if err := s.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, s.plain)
	if s.plain = s.plain[n:]; len(s.plain) == 0 && s.op == nil && (s.last < stayBig || s.own > 0) {
		s.Park()
	}
	return n, nil
}

// next makes some plain text, perhaps none.
func (s *Source) next() error {
	if s.op != nil {
		return s.stream()
	}
	if err := s.need(lengthHead); err != nil {
		return err
	}
	size := int64(int32(binary.BigEndian.Uint32(s.buf[s.r:])))
	if size <= 0 || size > s.limits.Frame {
		return s.fail(fmt.Errorf("%w: %d, at most %d", ErrFrame, size, s.limits.Frame))
	}
	s.last = int(size)
	if s.limits.Stream && size > int64(s.limits.Hold) {
		return s.startStream(size)
	}
	if err := s.need(lengthHead + int(size)); err != nil {
		return err
	}
	token := s.buf[s.r+lengthHead : s.r+lengthHead+int(size)]
	s.r += lengthHead + int(size)
	plain, err := s.layer.Open(token)
	if err != nil {
		return s.fail(err)
	}
	s.plain = plain
	return nil
}

func (s *Source) startStream(size int64) error {
	h := s.layer.Head()
	if err := s.need(lengthHead + h); err != nil {
		return err
	}
	op, err := s.layer.OpenStream(size, s.buf[s.r+lengthHead:s.r+lengthHead+h])
	if err != nil {
		return s.fail(err)
	}
	s.r += lengthHead + h
	s.op, s.left = op, size-int64(h)
	return nil
}

// stream opens what has come of the token: all but its end piece by piece,
// the end when it is whole.
func (s *Source) stream() error {
	hold := s.op.Hold()
	if s.left <= int64(hold) {
		if err := s.need(hold); err != nil {
			return err
		}
		plain, err := s.op.Close(s.buf[s.r : s.r+hold])
		if err != nil {
			return s.fail(err)
		}
		s.r, s.op, s.plain = s.r+hold, nil, plain
		return nil
	}
	for {
		k := int(min(s.left-int64(hold), int64(s.w-s.r)))
		plain, used, err := s.op.Next(s.buf[s.r : s.r+k])
		if err != nil {
			return s.fail(err)
		}
		if used > 0 {
			s.r, s.left, s.plain = s.r+used, s.left-int64(used), plain
			return nil
		}
		s.w = copy(s.buf, s.buf[s.r:s.w])
		s.r = 0
		s.roomFor(bufferSize) // reads of a buffer's size
		if err := s.fill(); err != nil {
			return err
		}
	}
}

func (s *Source) fail(err error) error {
	s.bad, s.op, s.plain = err, nil, nil
	s.r = s.w
	s.Park()
	return err
}

// need reads until n raw bytes are at hand. Memory grows as they come.
func (s *Source) need(n int) error {
	for s.w-s.r < n {
		if s.w == len(s.buf) || len(s.buf)-s.r < n {
			if s.r > 0 {
				s.w = copy(s.buf, s.buf[s.r:s.w])
				s.r = 0
			}
			if n > len(s.buf) && !s.roomFor(n) {
				return ErrBudget // nothing is lost: memory may come back
			}
		}
		if err := s.fill(); err != nil {
			return err
		}
	}
	return nil
}

// fill reads once. An end of the stream is a clean one between frames only.
func (s *Source) fill() error {
	n, err := s.src.Read(s.buf[s.w:])
	s.w += n
	if n > 0 {
		return nil
	}
	if err == io.EOF && (s.w > s.r || s.op != nil) {
		return io.ErrUnexpectedEOF
	}
	if err == nil {
		return io.ErrNoProgress
	}
	return err
}

// roomFor makes the buffer longer on the way to n bytes: the shared size
// first, then twice what has arrived. With r at 0.
func (s *Source) roomFor(n int) bool {
	if s.big == nil && s.own == 0 {
		s.big = buffers.Get().(*[bufferSize]byte)
		copy(s.big[:], s.buf[:s.w])
		s.buf = s.big[:]
		return true
	}
	if n <= len(s.buf) || s.w < len(s.buf) {
		return true
	}
	size := min(2*len(s.buf), n)
	if !s.limits.Budget.Take(int64(size)) {
		return false
	}
	b := make([]byte, size)
	copy(b, s.buf[:s.w])
	s.release()
	s.buf, s.own = b, int64(size)
	return true
}

// release gives back what buf is.
func (s *Source) release() {
	if s.big != nil {
		buffers.Put(s.big)
		s.big = nil
	}
	s.limits.Budget.Give(s.own)
	s.own = 0
	s.buf = s.small[:]
}

// Park gives the large buffer back when nothing that matters is in it:
// between messages, and when the connection is closed.
func (s *Source) Park() {
	left := s.w - s.r
	if s.frames != nil || len(s.plain) > 0 || s.op != nil || left > smallSize {
		return
	}
	if s.big != nil || s.own > 0 {
		copy(s.small[:], s.buf[s.r:s.w])
		s.release()
	} else {
		copy(s.buf, s.buf[s.r:s.w])
	}
	s.r, s.w = 0, left
}

// Drop gives everything back: the connection is at its end. Reading again is
// an error.
func (s *Source) Drop() {
	if s.bad == nil {
		s.bad = io.ErrClosedPipe
	}
	s.op, s.plain = nil, nil
	s.release()
	s.r, s.w = 0, 0
}
