package frame

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

// A message that used up its limit says nothing about the wait for the next.
func TestNeedBetweenMessagesKnowsNoOldLimit(t *testing.T) {
	const size = 300 << 10
	src := &cutAt{append(bytes.Repeat([]byte{1}, size), 2), size}
	w := NewWindow(src, nil)
	w.Start(size, 0)
	w.Emit(&record{}, false)
	if err := w.SkipN(size); err != nil {
		t.Fatal(err)
	}
	w.Release()
	if err := w.Need(1); err != nil {
		t.Fatalf("next message: %v", err)
	}
	if got := w.Bytes()[0]; got != 2 {
		t.Fatalf("got byte %d, want 2", got)
	}
}

// The end of the stream between two messages is no broken message.
func TestEndBetweenMessages(t *testing.T) {
	w := window(make([]byte, 600<<10))
	w.Start(0, 0)
	w.Emit(&record{}, false)
	if err := w.SkipN(600 << 10); err != nil {
		t.Fatal(err)
	}
	w.Release()
	var se *SourceError
	if err := w.Need(1); !errors.As(err, &se) || se.Err != io.EOF {
		t.Fatalf("got %v, want a plain end of file", err)
	}
	w.Start(0, 0)
	if err := w.Need(1); !errors.Is(err, io.EOF) {
		t.Fatalf("got %v, want end of file", err)
	}
	w = window(make([]byte, 10))
	w.Start(0, 0)
	if err := w.SkipN(11); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatalf("got %v, want unexpected end of file", err)
	}
}

// Whatever is at hand, Reset gives everything back.
func TestResetGivesBudgetBack(t *testing.T) {
	budget := NewBudget(64 << 20)
	w := NewWindow(bytes.NewReader(make([]byte, 4<<20)), budget)
	w.Start(0, 2<<20)
	if err := w.Need(1 << 20); err != nil {
		t.Fatal(err)
	}
	if budget.Used() == 0 {
		t.Fatal("a megabyte is held and nothing is reserved")
	}
	w.Reset(bytes.NewReader(nil), budget)
	if budget.Used() != 0 || w.big != nil || w.Buffered() != 0 {
		t.Fatalf("after Reset: %d reserved, big %v, %d unread", budget.Used(), w.big != nil, w.Buffered())
	}
}

// A long leftover must not keep a held message's own buffer.
func TestReleaseMovesLeftoverOutOfReservedMemory(t *testing.T) {
	budget := NewBudget(64 << 20)
	in := make([]byte, 2<<20)
	for i := range in {
		in[i] = byte(i * 7)
	}
	w := NewWindow(bytes.NewReader(in), budget)
	w.Start(0, 2<<20)
	if err := w.Need(2 << 20); err != nil {
		t.Fatal(err)
	}
	w.Advance(len(in) - 100_000)
	w.Release()
	if budget.Used() != 0 {
		t.Fatalf("%d bytes reserved for 100000 unread ones", budget.Used())
	}
	if !bytes.Equal(w.Bytes(), in[len(in)-100_000:]) {
		t.Fatal("leftover differs")
	}
	w.Start(0, 0)
	if err := w.SkipN(100_000); err != nil || w.Pos() != 100_000 {
		t.Fatalf("err %v, pos %d", err, w.Pos())
	}
	w.Release()
	if !w.Park() || w.big != nil {
		t.Fatal("window does not park after its leftover was read")
	}
}

// Values one message repeats are unknown to the next one, whose plan may use
// the slot for another type.
func TestReleaseForgets(t *testing.T) {
	in := bytes.Repeat([]byte{1, 2, 3, 4}, 8000)
	w := window(in)
	w.Start(0, 0)
	if err := w.Need(20_000); err != nil {
		t.Fatal(err)
	}
	w.Advance(8)
	w.Remember(0, 8)
	if !w.Same(0) {
		t.Fatal("equal bytes not recognised")
	}
	w.Release()
	w.Start(0, 0)
	if w.Same(0) {
		t.Fatal("the next message is compared with values of the one before")
	}
}

func TestRewindEndsHoldingAndMute(t *testing.T) {
	in := bytes.Repeat([]byte{9}, 100)
	w, sink := window(in), &record{}
	w.Start(0, 0)
	if err := w.Need(100); err != nil {
		t.Fatal(err)
	}
	w.Emit(&record{}, true)
	if _, err := w.HoldList(); err != nil {
		t.Fatal(err)
	}
	if err := w.Mute(); err != nil {
		t.Fatal(err)
	}
	w.Rewind()
	w.Emit(sink, true)
	w.Advance(100)
	if err := w.End(); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(sink.Bytes(), in) {
		t.Fatalf("got %d bytes, want all 100", sink.Len())
	}
}

// A held list may use all that is allowed, not the largest power below it,
// and an outgrown buffer is not counted twice.
func TestHeldListUsesItsWholeAllowance(t *testing.T) {
	budget := NewBudget(2 << 20)
	w := NewWindow(&bits{b: make([]byte, 1<<20), rnd: rnd(1), most: 1 << 16}, budget)
	sink := &record{}
	w.Start(0, 500<<10)
	w.Emit(sink, false)
	at, err := w.HoldList()
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < 70; i++ { // 700 KB, allowed 500 KB and one output buffer (320 KB)
		if err := w.SkipN(10 << 10); err != nil {
			t.Fatalf("after %d KB: %v", i*10, err)
		}
		if _, err := w.Mark(); err != nil {
			t.Fatalf("after %d KB: %v", i*10, err)
		}
	}
	if used := budget.Used(); used > 820<<10 {
		t.Errorf("%d bytes reserved for 700 KB", used)
	}
	w.Patch(at, 5, true)
	if err := w.End(); err != nil {
		t.Fatal(err)
	}
	if sink.Len() != 700<<10 {
		t.Fatalf("got %d bytes", sink.Len())
	}
	w.Release()
	w.Reset(nil, nil)
	if budget.Used() != 0 {
		t.Fatalf("%d bytes still reserved", budget.Used())
	}
}

func TestHeldListIsCapped(t *testing.T) {
	w := NewWindow(&bits{b: make([]byte, 2<<20), rnd: rnd(1), most: 1 << 16}, NewBudget(0))
	w.Start(0, 0)
	w.Emit(&record{}, false)
	if _, err := w.HoldList(); err != nil {
		t.Fatal(err)
	}
	var err error
	for err == nil {
		if err = w.SkipN(10 << 10); err == nil {
			_, err = w.Mark()
		}
	}
	if !errors.Is(err, ErrFull) {
		t.Fatalf("got %v, want ErrFull", err)
	}
}

// After a failed write the rest of a call is still read to its end (drained),
// and nothing is sent twice.
func TestDrainAfterFailedWrite(t *testing.T) {
	w, sink := window(make([]byte, 1<<20)), &record{fail: 1}
	w.Start(0, 0)
	w.Emit(sink, false)
	var se *SinkError
	err := w.SkipN(600 << 10)
	if !errors.As(err, &se) || !errors.Is(err, errSink) {
		t.Fatalf("got %v, want the sink's error", err)
	}
	sent, pos := sink.Len(), w.Pos()
	if err := w.Mute(); err != nil {
		t.Fatalf("mute: %v", err)
	}
	if err := w.SkipN(1<<20 - pos); err != nil {
		t.Fatalf("drain: %v", err)
	}
	w.Unmute()
	if sink.Len() != sent {
		t.Fatalf("%d more bytes left after the failed write", sink.Len()-sent)
	}
}

// A window without a sink drops what it passes.
func TestSkipWithoutSink(t *testing.T) {
	w := window(make([]byte, 1<<20))
	if err := w.SkipN(1 << 20); err != nil {
		t.Fatal(err)
	}
	w.Release()
	if !w.Park() {
		t.Fatal("does not park")
	}
}

// Room for one long edited value is reserved like everything held.
func TestOpenReservesLongOutput(t *testing.T) {
	budget := NewBudget(8 << 20)
	w := NewWindow(bytes.NewReader(make([]byte, 100)), budget)
	sink := &record{}
	w.Start(0, 0)
	w.Emit(sink, false)
	out, err := w.Open(4 << 20)
	if err != nil {
		t.Fatal(err)
	}
	if budget.Used() < 4<<20 {
		t.Errorf("%d bytes reserved for 4 MB", budget.Used())
	}
	w.Close(append(out, make([]byte, 4<<20)...), 0)
	if _, err := w.Open(8 << 20); !errors.Is(err, ErrBudget) {
		t.Errorf("got %v, want ErrBudget", err)
	}
	w.Reset(nil, nil)
	if budget.Used() != 0 {
		t.Fatalf("%d bytes still reserved", budget.Used())
	}
}
