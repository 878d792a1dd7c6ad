package frame

import (
	"io"
	"math"
)

// fill reads until n unread bytes are at hand, after letting go or moving
// what stands in the way.
func (w *Window) fill(n int) error {
	if p := w.Pos(); int64(n) > w.limit-p {
		return lengthError(ErrTooLong, "value", int64(n), p, w.limit)
	}
	w.slid++
	if !w.keep {
		if w.mute {
			w.s = w.r
		} else if !w.lazy || w.written > 0 {
			if err := w.flush(); err != nil {
				return err
			}
		}
	}
	if w.keep && w.r-w.mark+n > max(w.holdMax, len(w.b)) {
		return ErrFull
	}
	// What is claimed to follow gets memory as it arrives, not before.
	for have := w.w - w.r; have < n; have = w.w - w.r {
		if err := w.read(min(n, max(BigSize, 2*have))); err != nil {
			return err
		}
	}
	return nil
}

// read is fill of a part of the value, or of the whole.
func (w *Window) read(n int) error {
	for {
		if ok, err := w.room(w.lo(), n); err != nil {
			return err
		} else if ok {
			break
		}
		if err := w.flush(); err != nil { // lazy, and the window is full
			return err
		}
	}
	for idle := 0; w.w-w.r < n; {
		m, err := w.src.Read(w.b[w.w:])
		w.w += m
		if w.w-w.r >= n {
			break
		}
		if err != nil {
			if err == io.EOF && (w.w > w.r || w.Pos() > 0) {
				err = io.ErrUnexpectedEOF
			}
			return &SourceError{err}
		}
		if m > 0 {
			idle = 0
		} else if idle++; idle == 100 {
			return &SourceError{io.ErrNoProgress}
		}
	}
	return nil
}

// room makes space for n unread bytes, keeping b[lo:w]. It answers false when
// only a flush can help.
func (w *Window) room(lo, n int) (bool, error) {
	if w.b == nil {
		w.small = smalls.Get().(*[SmallSize]byte)[:]
		w.b = w.small
	}
	full := w.w == len(w.b)
	need := w.r - lo + n // bytes the buffer must have behind lo
	switch {
	case !full && len(w.b)-w.r >= n:
		return true, nil
	case w.big == nil && w.ownB == 0 && (full || need > len(w.b)) && need <= BigSize:
		w.upgrade(lo)
		if len(w.b)-w.r >= n && w.w < len(w.b) {
			return true, nil
		}
		return w.room(w.lo(), n)
	case lo > 0 && need <= len(w.b) && w.w-lo < len(w.b):
		w.move(w.b, lo)
		return true, nil
	case w.lazy && !w.keep && w.written == 0 && w.r > w.s && need-(w.r-w.s) <= len(w.b):
		return false, nil
	}
	return true, w.grow(lo, need)
}

func (w *Window) lo() int {
	if w.keep {
		return w.mark
	}
	return w.s
}

// move copies b[lo:w] to the front of to and makes that the buffer.
func (w *Window) move(to []byte, lo int) {
	copy(to, w.b[lo:w.w])
	w.b = to
	w.s -= lo
	w.r -= lo
	w.w -= lo
	w.mark -= lo
	w.pos += int64(lo)
}

// upgrade moves to the big tier.
func (w *Window) upgrade(lo int) {
	w.big = tiers.Get().(*tier)
	w.move(w.big.in[:], lo)
	w.bigOut()
}

// bigOut moves the output buffer to the big tier.
func (w *Window) bigOut() {
	if cap(w.out) < outSize {
		w.out = append(w.big.out[:0], w.out...)
	}
	if w.outBuf != nil {
		outs.Put(w.outBuf)
		w.outBuf = nil
	}
}

// grow moves to a buffer of its own, reserved from the budget.
func (w *Window) grow(lo, need int) error {
	if need > w.holdMax && w.keep {
		return ErrFull
	}
	size := max(2*len(w.b), need+need/8)
	if w.keep {
		size = min(size, w.holdMax)
	}
	if need > math.MaxInt32 {
		return lengthError(ErrTooLong, "held value", int64(need), w.Pos(), math.MaxInt32)
	}
	if !w.budget.Take(int64(size)) {
		return ErrBudget
	}
	w.move(make([]byte, size), lo)
	w.budget.Give(w.ownB)
	w.ownB = int64(size)
	return nil
}

// flush writes out and the pending bytes to the sink; without one they are
// dropped. What a failed write may have sent in part is never sent again.
func (w *Window) flush() error {
	pending := w.b[w.s:w.r]
	if w.holding {
		return w.collect()
	}
	if len(w.out) == 0 && len(pending) == 0 {
		return nil
	}
	if w.count || w.sink == nil {
		if w.count {
			w.written += int64(len(w.out) + len(pending))
		}
		w.out, w.s = w.out[:0], w.r
		return nil
	}
	if len(w.out) > 0 && len(w.out)+len(pending) <= cap(w.out) {
		w.out = append(w.out, pending...)
		pending = nil
	}
	var err error
	for _, p := range [2][]byte{w.out, pending} {
		if len(p) == 0 || err != nil {
			continue
		}
		w.written += int64(len(p)) // counted before: a failed write may have left in part
		_, err = w.sink.Write(p)
	}
	w.out, w.s = w.out[:0], w.r
	if err != nil {
		return &SinkError{err}
	}
	return nil
}

// collect moves the pending bytes to out, which grows: a list is held.
func (w *Window) collect() error {
	n := w.r - w.s
	if len(w.out)+n > cap(w.out) {
		if err := w.growOut(n); err != nil {
			return err
		}
	}
	w.out = append(w.out, w.b[w.s:w.r]...)
	w.s = w.r
	return nil
}

// growOut makes room for n more bytes of held output.
func (w *Window) growOut(n int) error {
	if w.big == nil && len(w.out)+n <= outSize {
		w.ensureBig()
		return nil
	}
	need, most := len(w.out)+n, w.holdMax+outSize
	if need > most {
		return ErrFull
	}
	return w.reserveOut(min(max(2*cap(w.out), need), most))
}

// reserveOut moves the output to memory of its own of that size.
func (w *Window) reserveOut(size int) error {
	if !w.budget.Take(int64(size)) {
		return ErrBudget
	}
	w.out = append(make([]byte, 0, size), w.out...)
	w.budget.Give(w.ownOut)
	w.ownOut = int64(size)
	return nil
}

// ensureBig moves to the big tier without discarding anything.
func (w *Window) ensureBig() {
	if w.big == nil {
		w.big = tiers.Get().(*tier)
		if w.ownB == 0 {
			w.move(w.big.in[:], w.lo())
			w.slid++
		}
	}
	w.bigOut()
}
