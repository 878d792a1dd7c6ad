package frame

import (
	"encoding/binary"
	"io"
	"math"
	"sync"
)

// Sizes of the two tiers (engine measurements: a 4 KB pair keeps idle clients
// cheap, 256 KB is where larger windows stop paying).
const (
	SmallSize = 4 << 10
	BigSize   = 256 << 10
	outSize   = BigSize + BigSize/4 // edits may add a quarter before an extra write
	smallOut  = 6 << 10
	Memos     = 4 // slots for repeated values
	memoMax   = 16 << 10
)

var be = binary.BigEndian

// Sink takes what leaves a window. End marks the border of a message, so that
// a wrapping transport can close its token there.
type Sink interface {
	io.Writer
	End() error
}

// tier is what a window borrows while a message is large.
type tier struct {
	in   [BigSize]byte
	out  [outSize]byte
	memo [Memos][]byte
}

var tiers = sync.Pool{New: func() any { return new(tier) }}
var outs = sync.Pool{New: func() any { return new([smallOut]byte) }}

// Window is the one buffer of one direction of a session.
//
//	b:  | forwarded | walked, pending | unread      | free |
//	    0           s                 r             w      len(b)
//	out: edited bytes that go before b[s:r]
//
// While keep is set, nothing from mark on is discarded.
type Window struct {
	src   io.Reader
	sink  Sink
	small []byte // the idle buffer
	b     []byte
	out   []byte

	s, r, w int
	mark    int
	pos     int64 // position in the message of b[0]; negative while b[0] is before it
	limit   int64 // a message may not reach beyond this position
	written int64 // bytes of this message given to the sink
	slid    uint32

	keep    bool // nothing from mark on may be discarded (gathering, held calls)
	lazy    bool // nothing leaves before the message is whole or the window full
	mute    bool // bytes passed are dropped
	holding bool // edits collect in out (a list whose count may change)
	count   bool // bytes are counted, not written

	holdMax int
	budget  *Budget
	ownB    int64 // size of b when it is memory reserved from budget
	ownOut  int64 // the same of out
	big     *tier
	outBuf  *[smallOut]byte
}

// NewWindow returns a window that reads from src. Its small buffer is taken
// when it first reads.
func NewWindow(src io.Reader, budget *Budget) *Window {
	w := &Window{}
	w.Reset(src, budget)
	return w
}

// Reset makes w a fresh window over src, keeping its small buffer. Unread
// bytes are gone, everything borrowed is given back.
func (w *Window) Reset(src io.Reader, budget *Budget) {
	w.r = w.w
	w.Release()
	small := w.small
	*w = Window{src: src, small: small, b: small, budget: budget, limit: math.MaxInt64, holdMax: BigSize}
}

// SetSource changes where bytes come from (after a sniff); what is buffered
// stays unread.
func (w *Window) SetSource(src io.Reader) { w.src = src }

// Bytes returns what is buffered and unread.
func (w *Window) Bytes() []byte { return w.b[w.r:w.w] }

// Advance moves over n buffered bytes.
func (w *Window) Advance(n int) { w.r += n }

// Buffered is the number of unread bytes at hand.
func (w *Window) Buffered() int { return w.w - w.r }

// Pos is the position of the next unread byte in the message.
func (w *Window) Pos() int64 { return w.pos + int64(w.r) }

// Slid changes whenever remembered offsets become void.
func (w *Window) Slid() uint32 { return w.slid }

// Written is the number of this message's bytes given to the sink.
func (w *Window) Written() int64 { return w.written }

// Need blocks until n unread bytes are at hand.
func (w *Window) Need(n int) error {
	if w.w-w.r >= n {
		return nil
	}
	return w.fill(n)
}

// Start makes the next unread byte the first of a message that may have at
// most limit bytes (0: no limit) and keeps everything from here on, up to
// hold bytes (0: one big window).
func (w *Window) Start(limit int64, hold int) {
	w.mark, w.s = w.r, w.r
	w.pos = -int64(w.r)
	if limit <= 0 {
		limit = math.MaxInt64
	}
	w.limit, w.written = limit, 0
	w.out = w.out[:0]
	w.keep, w.lazy, w.mute, w.holding, w.count, w.sink = true, false, false, false, false, nil
	w.Hold(hold)
}

// Hold sets how many bytes may be kept (0: one big window).
func (w *Window) Hold(n int) {
	if n < BigSize {
		n = BigSize
	}
	w.holdMax = n
}

// Kept returns the message's bytes so far; only while they are kept.
func (w *Window) Kept() []byte { return w.b[w.mark:w.r] }

// Whole returns the kept bytes of the message and what is buffered behind them.
func (w *Window) Whole() []byte { return w.b[w.mark:w.w] }

// At returns n kept bytes of the message from position off.
func (w *Window) At(off, n int) []byte { return w.b[w.mark+off : w.mark+off+n] }

// Rewind goes back to the message's first byte, which must still be kept, and
// forgets what the walk so far (which may have failed anywhere) has collected.
func (w *Window) Rewind() {
	w.r, w.s = w.mark, w.mark
	w.out = w.out[:0]
	w.mute, w.holding = false, false
	w.written = 0
	w.slid++
}

// Emit makes the walk from here on write to sink. With keep, the message is
// complete in the window and stays for another walk.
func (w *Window) Emit(sink Sink, keep bool) {
	w.sink, w.keep, w.count, w.lazy = sink, keep, false, false
}

// Measure makes the walk from here on only count.
func (w *Window) Measure() { w.sink, w.keep, w.count, w.lazy = nil, true, true, false }

// Lazy holds a message back until it is whole or the window is full.
func (w *Window) Lazy() { w.lazy = true }

// FrameHeader puts a frame's length in front of the message.
func (w *Window) FrameHeader(n int64) error {
	return w.Put([]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)})
}

// End flushes the message's rest and marks its border.
func (w *Window) End() error {
	if err := w.flush(); err != nil {
		return err
	}
	if w.sink != nil && !w.count {
		if err := w.sink.End(); err != nil {
			return &SinkError{err}
		}
	}
	return nil
}

// Release forgets the message and gives back what it borrowed. Unread bytes
// stay; until Start they count for no message.
func (w *Window) Release() {
	w.keep, w.lazy, w.mute, w.holding, w.count, w.sink = false, false, false, false, false, nil
	w.limit = math.MaxInt64
	if w.outBuf != nil {
		outs.Put(w.outBuf)
		w.outBuf = nil
	}
	w.out = nil
	w.budget.Give(w.ownOut)
	w.ownOut = 0
	w.Forget() // the next plan may use a slot for another type
	switch left := w.w - w.r; {
	case w.big == nil && w.ownB == 0:
	case left <= len(w.small):
		w.settle(w.small)
		if w.big != nil {
			tiers.Put(w.big)
			w.big = nil
		}
	case w.ownB > 0 && left <= BigSize:
		if w.big == nil {
			w.big = tiers.Get().(*tier)
		}
		w.settle(w.big.in[:])
	}
	if w.r == w.w {
		w.r, w.w = 0, 0
	}
	w.s, w.mark, w.pos = w.r, w.r, -int64(w.r)
}

// settle moves the unread bytes to the buffer to and gives the memory back
// that was reserved for the one they were in.
func (w *Window) settle(to []byte) {
	w.w = copy(to, w.b[w.r:w.w])
	w.b, w.r = to, 0
	w.slid++
	w.budget.Give(w.ownB)
	w.ownB = 0
}

// Park gives even the small buffer back while nothing is expected (a backend
// connection between calls). It fails when unread bytes are at hand.
func (w *Window) Park() bool {
	w.Release()
	if w.w != w.r {
		return false
	}
	if w.small != nil {
		smalls.Put((*[SmallSize]byte)(w.small))
		w.small, w.b = nil, nil
	}
	return true
}

var smalls = sync.Pool{New: func() any { return new([SmallSize]byte) }}

// Truncate keeps only the first n unread bytes (a transport took its own
// bytes out of what had been read).
func (w *Window) Truncate(n int) { w.w = w.r + n }
