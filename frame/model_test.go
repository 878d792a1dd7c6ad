package frame

import (
	"bytes"
	"errors"
	"math/rand"
	"testing"
)

// model is a window that keeps everything in memory: what the real one must
// have let out, however it slid, grew and flushed.
type model struct {
	in  []byte // the message
	r   int
	out []byte
}

// pass moves over n bytes, which go out unless dropped.
func (m *model) pass(n int, drop bool) {
	if !drop {
		m.out = append(m.out, m.in[m.r:m.r+n]...)
	}
	m.r += n
}

// walk drives a window and a model through the same random edits of one
// message.
type walk struct {
	t     *testing.T
	w     *Window
	m     model
	rnd   *rand.Rand
	slow  int // longest step
	list0 int // where the model's output stands in which the outermost held list began
}

func (k *walk) ok(err error) {
	k.t.Helper()
	if err != nil {
		k.t.Fatalf("at byte %d of %d: %v", k.m.r, len(k.m.in), err)
	}
}

// step is a random number of bytes that the message still has.
func (k *walk) step() int {
	most := min(k.slow, len(k.m.in)-k.m.r)
	if k.rnd.Intn(3) > 0 {
		most = min(most, 40)
	}
	return k.rnd.Intn(most + 1)
}

func (k *walk) text() []byte {
	n := k.rnd.Intn(40)
	if k.rnd.Intn(20) == 0 {
		n = k.rnd.Intn(k.slow)
	}
	b := make([]byte, n)
	k.rnd.Read(b)
	return b
}

func (k *walk) check() {
	k.t.Helper()
	if int(k.w.Pos()) != k.m.r {
		k.t.Fatalf("window at byte %d, model at %d", k.w.Pos(), k.m.r)
	}
	b := k.w.Bytes()
	if n := min(len(b), len(k.m.in)-k.m.r, 1000); !bytes.Equal(b[:n], k.m.in[k.m.r:k.m.r+n]) {
		k.t.Fatalf("unread bytes differ at %d", k.m.r)
	}
}

func (k *walk) edit(nest int) {
	if nest > 0 { // a held list may not outgrow what is allowed
		if len(k.m.out)-k.list0 > BigSize/2 {
			return
		}
		defer func(n int) { k.slow = n }(k.slow)
		k.slow = min(k.slow, 20_000)
	}
	switch w := k.w; k.rnd.Intn(9) {
	case 0, 1, 2:
		n := k.step()
		k.ok(w.SkipN(int64(n)))
		k.m.pass(n, false)
	case 3:
		n := k.step()
		k.ok(w.Need(n))
		w.Advance(n)
		k.m.pass(n, false)
	case 4, 5: // replace
		n, p := k.step(), k.text()
		k.ok(w.Need(n))
		out, err := w.Open(len(p) / (1 + k.rnd.Intn(2))) // a guess may be too small
		k.ok(err)
		k.check()
		w.Close(append(out, p...), n)
		k.m.pass(n, true)
		k.m.out = append(k.m.out, p...)
	case 6:
		p := k.text()
		k.ok(w.Put(p))
		k.m.out = append(k.m.out, p...)
	case 7: // drop
		k.ok(w.Mute())
		for range k.rnd.Intn(4) {
			n := k.step()
			k.ok(w.SkipN(int64(n)))
			k.m.pass(n, true)
		}
		w.Unmute()
	case 8:
		if nest < 3 {
			k.list(nest)
		}
	}
	k.check()
}

// list holds a list, of which elements are taken back.
func (k *walk) list(nest int) {
	outer := k.w.Holding()
	if outer != (nest > 0) {
		k.t.Fatalf("holding is %v in list %d", outer, nest)
	}
	at, err := k.w.HoldList()
	k.ok(err)
	place := len(k.m.out)
	if nest == 0 {
		k.list0 = place
	}
	k.ok(k.w.Put(make([]byte, 4)))
	k.m.out = append(k.m.out, 0, 0, 0, 0)
	n := k.rnd.Intn(5)
	for range n {
		mark, err := k.w.Mark()
		k.ok(err)
		was := len(k.m.out)
		for range k.rnd.Intn(5) {
			k.edit(nest + 1)
		}
		if k.rnd.Intn(2) == 0 {
			k.w.Rollback(mark)
			k.m.out = k.m.out[:was]
		}
	}
	k.ok(k.w.Cut())
	k.w.Patch(at, uint32(n), !outer)
	be.PutUint32(k.m.out[place:], uint32(n))
}

// message walks to the message's end.
func (k *walk) message() []byte {
	k.m.r, k.m.out = 0, nil
	for k.m.r < len(k.m.in) {
		k.edit(0)
	}
	for range k.rnd.Intn(3) {
		k.edit(0)
	}
	return k.m.out
}

// life sends one message through in one of the ways a session has.
func (k *walk) life(hold int) {
	w, t := k.w, k.t
	w.Start(0, hold)
	if k.rnd.Intn(8) == 0 {
		w.Start(int64(len(k.m.in)), hold)
	}
	whole := len(k.m.in) <= max(hold, BigSize)
	full := w.Buffered() <= BigSize // else there is a larger buffer than asked for already
	if whole {                      // gather
		for k.m.r = 0; k.m.r < len(k.m.in); {
			n := k.step()
			k.ok(w.SkipN(int64(n)))
			k.m.r += n
			k.check()
			kept, from := w.Kept(), max(0, k.m.r-1000)
			if len(kept) != k.m.r || !bytes.Equal(kept[from:], k.m.in[from:k.m.r]) || len(w.Whole())-len(kept) != w.Buffered() {
				t.Fatalf("kept bytes differ at %d", k.m.r)
			}
		}
		if n := len(k.m.in); n > 4 && !bytes.Equal(w.At(n-4, 4), k.m.in[n-4:]) {
			t.Fatal("At differs")
		}
	} else if err := w.SkipN(int64(len(k.m.in))); full && !errors.Is(err, ErrFull) {
		t.Fatalf("%d bytes fit into %d: %v", len(k.m.in), hold, err)
	}
	w.Rewind()
	if whole && k.rnd.Intn(2) == 0 { // measure, emit, emit again
		seed := k.rnd.Int63()
		k.rnd = rnd(seed)
		w.Measure()
		want := k.message()
		k.ok(w.End())
		if w.Written() != int64(len(want)) {
			t.Fatalf("measured %d, want %d", w.Written(), len(want))
		}
		for range 2 {
			w.Rewind()
			k.rnd = rnd(seed)
			k.emit(true, false)
		}
		return
	}
	k.emit(false, k.rnd.Intn(2) == 0)
}

func (k *walk) emit(keep, lazy bool) {
	sink := &record{}
	k.w.Emit(sink, keep)
	if lazy {
		k.w.Lazy()
	}
	want := k.message()
	if lazy && len(k.m.in)+len(want) < BigSize/2 && sink.writes > 0 {
		k.t.Fatalf("%d of %d bytes left before the message was whole", sink.Len(), len(want))
	}
	k.ok(k.w.End())
	if !bytes.Equal(sink.Bytes(), want) || k.w.Written() != int64(len(want)) || sink.ends != 1 {
		n := 0
		for n < min(sink.Len(), len(want)) && sink.Bytes()[n] == want[n] {
			n++
		}
		k.t.Fatalf("got %d bytes, want %d; they differ from byte %d; written %d, ends %d", sink.Len(), len(want), n, k.w.Written(), sink.ends)
	}
}

func runModel(t *testing.T, seed int64, messages int) {
	r := rnd(seed)
	var stream []byte
	var sizes []int
	for range messages {
		n := r.Intn(300)
		switch r.Intn(6) {
		case 0:
			n = r.Intn(3 * SmallSize)
		case 1:
			n = r.Intn(3 * BigSize)
		}
		b := make([]byte, n)
		r.Read(b)
		stream, sizes = append(stream, b...), append(sizes, n)
	}
	budget := NewBudget(0)
	most := []int{1, 3, 100, 5000, 70_000, 4 << 20}[r.Intn(6)]
	if most < 100 && len(stream) > 100_000 {
		most = 5000
	}
	src := &bits{b: stream, rnd: r, most: most}
	w := NewWindow(src, budget)
	at := 0
	for i, n := range sizes {
		k := &walk{t: t, w: w, rnd: rnd(r.Int63()), slow: []int{50, 9000, 400_000}[r.Intn(3)]}
		k.m.in = stream[at : at+n]
		k.life([]int{0, 0, BigSize, 1 << 20}[r.Intn(4)])
		at += n
		w.Release()
		if left := w.Buffered(); left <= BigSize && budget.Used() != 0 || left <= len(w.small) && w.big != nil {
			t.Fatalf("message %d: %d reserved, big %v for %d unread bytes", i, budget.Used(), w.big != nil, left)
		}
		if k.rnd.Intn(3) == 0 && w.Park() != (w.Buffered() == 0) {
			t.Fatalf("message %d: parking with %d unread bytes", i, w.Buffered())
		}
	}
	if w.Buffered()+len(src.b) != 0 {
		t.Fatalf("%d bytes left over", w.Buffered()+len(src.b))
	}
	if !w.Park() || budget.Used() != 0 || w.big != nil || w.b != nil {
		t.Fatalf("window does not park: %d reserved", budget.Used())
	}
}

func TestWindowAgainstModel(t *testing.T) {
	runs := 400
	if testing.Short() {
		runs = 60
	}
	at := int64(0)
	defer func() { t.Logf("last seed %d", at) }()
	for seed := range int64(runs) {
		at = seed
		runModel(t, seed, 1+int(seed)%12)
	}
}

func FuzzWindow(f *testing.F) {
	f.Add(int64(1))
	f.Fuzz(func(t *testing.T, seed int64) { runModel(t, seed, 1+int(uint64(seed)%7)) })
}
