package frame

import (
	"bytes"
	"errors"
	"io"
	"math"
	"runtime"
	"testing"
)

// allocated is what f allocates in all.
func allocated(f func()) int64 {
	var a, b runtime.MemStats
	f() // pools are filled, code paths warm
	runtime.GC()
	runtime.ReadMemStats(&a)
	f()
	runtime.ReadMemStats(&b)
	return int64(b.TotalAlloc - a.TotalAlloc)
}

// No length is worth memory before the bytes have arrived (L50, L58).
func TestHostileLengthsAllocateNothing(t *testing.T) {
	for _, c := range []struct {
		name string
		in   []byte
	}{
		{"NI_PING (L50)", []byte("\x00\x00\x00\x08NI_PING\x00")},
		{"method name of 2 GB", []byte{0x80, 1, 0, 1, 0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0}},
		{"string of 2 GB", append(AppendHeader(nil, Call, "x", 1), body(String, 0x7f, 0xff, 0xff, 0xff)...)},
		{"list of 2^31-1 bools (L58)", append(AppendHeader(nil, Call, "x", 1), body(List, head(Bool, math.MaxInt32)...)...)},
		{"list of 2^31-1 strings", append(AppendHeader(nil, Call, "x", 1), body(List, head(String, math.MaxInt32)...)...)},
		{"list of 2^31-1 lists", append(AppendHeader(nil, Call, "x", 1), body(List, head(List, math.MaxInt32)...)...)},
		{"map of 2^31-1 maps (L58)", append(AppendHeader(nil, Call, "x", 1), body(Map, pair(String, Map, math.MaxInt32)...)...)},
		{"10000 structs deep (L58)", append(AppendHeader(nil, Call, "x", 1), nested(10_000)...)},
		{"10000 lists deep (L58)", append(AppendHeader(nil, Call, "x", 1), nestedLists(10_000)...)},
	} {
		for _, limit := range []int64{0, 64 << 20} {
			t.Run(c.name, func(t *testing.T) {
				w, r := NewWindow(nil, nil), bytes.NewReader(nil)
				var err error
				n := allocated(func() {
					r.Reset(c.in)
					w.Reset(r, nil)
					w.Start(limit, 0)
					if _, err = w.Header(false); err == nil {
						err = w.Skip(Struct, 0)
					}
				})
				if err == nil {
					t.Fatal("accepted")
				}
				if n > 8<<10 { // the small buffer itself may be one of them
					t.Errorf("%d bytes allocated for %d received", n, len(c.in))
				}
				if w.big != nil && len(c.in) < SmallSize {
					t.Error("took the big tier")
				}
			})
		}
	}
}

// The stack of a refused bomb is that of 64 levels.
func TestNestingBombKeepsStackSmall(t *testing.T) {
	bomb := nested(1 << 20)
	done := make(chan uint64)
	go func() {
		var a, b runtime.MemStats
		runtime.ReadMemStats(&a)
		w := window(bomb)
		w.Start(0, 0)
		if err := w.Skip(Struct, 0); !errors.Is(err, ErrTooDeep) {
			t.Errorf("got %v, want ErrTooDeep", err)
		}
		runtime.ReadMemStats(&b)
		done <- b.StackInuse - min(a.StackInuse, b.StackInuse)
	}()
	if n := <-done; n > 256<<10 {
		t.Errorf("stack grew by %d bytes", n)
	}
}

// A healthy message costs no allocation once a window is warm.
func TestNoAllocations(t *testing.T) {
	small := append(AppendHeader(nil, Call, "get_table", 1), body(String, str(30)...)...)
	large := append(AppendHeader(nil, Reply, "get_table", 1), body(String, str(1<<20)...)...)
	for _, c := range []struct {
		name string
		in   []byte
		lazy bool
	}{{"small", small, false}, {"small, lazy", small, true}, {"large", large, false}, {"large, lazy", large, true}} {
		t.Run(c.name, func(t *testing.T) {
			r, sink := bytes.NewReader(nil), discard{}
			w := NewWindow(r, NewBudget(1))
			got := testing.AllocsPerRun(200, func() {
				r.Reset(c.in)
				w.Start(0, 0)
				if _, err := w.Header(false); err != nil {
					t.Fatal(err)
				}
				w.Rewind()
				w.Emit(sink, false)
				if c.lazy {
					w.Lazy()
				}
				if _, err := w.Header(false); err != nil {
					t.Fatal(err)
				}
				if err := w.Put(c.in[:8]); err != nil {
					t.Fatal(err)
				}
				if err := w.Skip(Struct, 0); err != nil {
					t.Fatal(err)
				}
				if err := w.End(); err != nil {
					t.Fatal(err)
				}
				w.Release()
			})
			if got >= 1 && !raceEnabled {
				t.Errorf("%v allocations a message", got)
			}
		})
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) End() error                  { return nil }

// Two calls in one segment wait their turn (L56), cut anywhere (L57).
func TestPipelinedCalls(t *testing.T) {
	one := append(AppendHeader(nil, Call, "first", 7), body(String, str(30)...)...)
	two := append(AppendHeader(nil, Call, "second", 8), body(List, append(head(String, 2), append(str(3), str(90)...)...)...)...)
	for _, framed := range []bool{false, true} {
		stream := append(one[:len(one):len(one)], two...)
		if framed {
			stream, _ = framesOf(one, two)
		}
		for cut := 0; cut <= len(stream); cut++ {
			var src io.Reader = &cutAt{stream, cut}
			if framed {
				src = NewFrameReader(src, 0)
			}
			w := NewWindow(src, nil)
			for _, want := range [][]byte{one, two} {
				sink := &record{}
				w.Start(0, 0)
				h, err := w.Header(false)
				if err != nil || h.Seq != int32(be.Uint32(want[h.Size-4:])) {
					t.Fatalf("framed %v, cut %d: %v, sequence id %d", framed, cut, err, h.Seq)
				}
				if err := w.Skip(Struct, 0); err != nil {
					t.Fatal(err)
				}
				w.Rewind()
				w.Emit(sink, false)
				if err := w.SkipN(int64(len(want))); err != nil {
					t.Fatal(err)
				}
				if err := w.End(); err != nil || !bytes.Equal(sink.Bytes(), want) || sink.writes != 1 || sink.ends != 1 {
					t.Fatalf("framed %v, cut %d: %v, %d writes\ngot  % x\nwant % x", framed, cut, err, sink.writes, sink.Bytes(), want)
				}
				w.Release()
			}
			if err := w.Need(1); !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("framed %v, cut %d: got %v, want end of file", framed, cut, err)
			}
		}
	}
}

func TestBudget(t *testing.T) {
	b := NewBudget(100)
	if !b.Take(60) || b.Take(41) || !b.Take(40) || b.Used() != 100 {
		t.Fatalf("used %d of 100", b.Used())
	}
	b.Give(100)
	if b.Used() != 0 {
		t.Fatalf("used %d, want 0", b.Used())
	}
	if free := NewBudget(0); !free.Take(math.MaxInt64) {
		t.Fatal("a budget of 0 has a limit")
	}
	var none *Budget
	if none.Give(1); !none.Take(1) || none.Used() != 0 {
		t.Fatal("no budget has a limit")
	}
}

// What is held beyond the window is refused when all sessions hold enough.
func TestBudgetBoundsHeldMessage(t *testing.T) {
	budget := NewBudget(600 << 10)
	w := NewWindow(&bits{make([]byte, 4<<20), rnd(1), 1 << 16}, budget)
	w.Start(0, 8<<20)
	if err := w.SkipN(4 << 20); !errors.Is(err, ErrBudget) {
		t.Fatalf("got %v, want ErrBudget", err)
	}
	if budget.Used() > 600<<10 {
		t.Fatalf("%d bytes held", budget.Used())
	}
	// it can still be streamed
	sink := &record{}
	w.Rewind()
	w.Emit(sink, false)
	if err := w.SkipN(4 << 20); err != nil {
		t.Fatal(err)
	}
	if err := w.End(); err != nil || sink.Len() != 4<<20 {
		t.Fatalf("%v after %d bytes", err, sink.Len())
	}
	w.Release()
	if budget.Used() != 0 {
		t.Fatalf("%d bytes still held", budget.Used())
	}
}

func TestBrokenSource(t *testing.T) {
	broke := errors.New("reset by peer")
	for _, c := range []struct {
		name string
		src  io.Reader
		want error
	}{
		{"closed at once", bytes.NewReader(nil), io.EOF},
		{"closed in a message", bytes.NewReader([]byte{0x80, 1}), io.ErrUnexpectedEOF},
		{"broken", failing{broke}, broke},
		{"no progress", failing{nil}, io.ErrNoProgress},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := NewWindow(c.src, nil)
			w.Start(0, 0)
			_, err := w.Header(false)
			var se *SourceError
			if !errors.As(err, &se) || se.Err != c.want {
				t.Fatalf("got %v, want %v", err, c.want)
			}
		})
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
