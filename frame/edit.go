package frame

import "bytes"

// Cut moves the pending bytes to the output, so that edits can follow.
func (w *Window) Cut() error { return w.reserve(0) }

// Open cuts and returns the output buffer with room for n more bytes; Close
// must follow before anything else happens to the window.
func (w *Window) Open(n int) ([]byte, error) {
	if err := w.reserve(n); err != nil {
		return nil, err
	}
	return w.out, nil
}

// Close takes the output buffer back after n unread bytes were replaced.
func (w *Window) Close(out []byte, n int) {
	w.out = out
	w.r += n
	w.s = w.r
}

// Put inserts p before the next unread byte.
func (w *Window) Put(p []byte) error {
	out, err := w.Open(len(p))
	if err == nil {
		w.Close(append(out, p...), 0)
	}
	return err
}

// reserve cuts and makes room for n more bytes of output.
func (w *Window) reserve(n int) error {
	pending := w.r - w.s
	if len(w.out)+pending+n > cap(w.out) {
		if err := w.moreOut(pending + n); err != nil {
			return err
		}
		pending = w.r - w.s
	}
	if pending > 0 { // nothing pending: names of one list in a row
		w.out = append(w.out, w.b[w.s:w.r]...)
		w.s = w.r
	}
	return nil
}

// moreOut makes room for n more bytes of output: by a first buffer, by the big
// tier, else by letting out what is there; for one long value by memory of its
// own.
func (w *Window) moreOut(n int) error {
	if w.out == nil {
		if w.big != nil {
			w.out = w.big.out[:0]
		} else {
			w.outBuf = outs.Get().(*[smallOut]byte)
			w.out = w.outBuf[:0]
		}
		if n <= cap(w.out) {
			return nil
		}
	}
	if w.holding {
		return w.growOut(n)
	}
	if w.big == nil && len(w.out)+n <= outSize {
		w.ensureBig()
		return nil
	}
	pending := w.r - w.s // leaves with what is in out
	if err := w.flush(); err != nil {
		return err
	}
	n -= pending
	if n > cap(w.out) && n <= outSize {
		w.ensureBig()
	}
	if n > cap(w.out) {
		return w.reserveOut(n)
	}
	return nil
}

// Mute drops the bytes that are passed until Unmute. What is pending goes out
// first.
func (w *Window) Mute() error {
	if err := w.Cut(); err != nil {
		return err
	}
	w.mute = true
	return nil
}

// Unmute ends Mute.
func (w *Window) Unmute() { w.mute, w.s = false, w.r }

// HoldList starts collecting in the output: a list's count may change. It
// returns the place to Patch.
func (w *Window) HoldList() (int, error) {
	if err := w.Cut(); err != nil {
		return 0, err
	}
	w.holding = true
	return len(w.out), nil
}

// Mark cuts and returns the end of the output, for Rollback.
func (w *Window) Mark() (int, error) {
	if err := w.Cut(); err != nil {
		return 0, err
	}
	return len(w.out), nil
}

// Rollback drops what came after Mark.
func (w *Window) Rollback(at int) { w.out, w.s = w.out[:at], w.r }

// Patch writes a 4-byte count at a place HoldList knows and ends holding.
func (w *Window) Patch(at int, n uint32, last bool) {
	be.PutUint32(w.out[at:], n)
	if last {
		w.holding = false
	}
}

// Holding says whether a list is held.
func (w *Window) Holding() bool { return w.holding }

// Same compares the next bytes with what slot remembers and moves over them
// when they are equal and at hand.
func (w *Window) Same(slot int) bool {
	if w.big == nil {
		return false
	}
	m := w.big.memo[slot]
	if len(m) == 0 || w.w-w.r < len(m) || !bytes.Equal(w.b[w.r:w.r+len(m)], m) {
		return false
	}
	w.r += len(m)
	return true
}

// Remember keeps the n bytes before the next unread one in slot.
func (w *Window) Remember(slot, n int) {
	if w.big == nil || n > memoMax || n > w.r {
		return
	}
	w.big.memo[slot] = append(w.big.memo[slot][:0], w.b[w.r-n:w.r]...)
}

// Forget empties all slots.
func (w *Window) Forget() {
	if w.big != nil {
		for i := range w.big.memo {
			w.big.memo[i] = w.big.memo[i][:0]
		}
	}
}
