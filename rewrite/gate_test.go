//go:build !race

// The race detector allocates and slows each side of a ratio differently, so gates are not built with it.

package rewrite

import (
	"bytes"
	"io"
	"math"
	"runtime"
	"runtime/debug"
	"testing"
	"unsafe"

	"hmsgate/frame"
)

// prefix is the names of a catalog that is not the default one.
type prefix struct{}

func (prefix) Append(dst []byte, _ Kind, name []byte) ([]byte, error) {
	return append(append(dst, "apache__"...), name...), nil
}
func (prefix) ID(_ Kind, id int64) (int64, error) { return id, nil }
func (prefix) Keep(Kind, []byte) bool             { return true }
func (prefix) Strict() bool                       { return false }

// counted is a sink that counts.
type counted struct {
	bytes  int64
	writes int
}

func (c *counted) Write(p []byte) (int, error) {
	c.bytes += int64(len(p))
	c.writes++
	return len(p), nil
}
func (c *counted) End() error { return nil }

// pipe walks the same message again and again as a session would.
type pipe struct {
	src  bytes.Reader
	win  *frame.Window
	walk Walker
	sink counted
}

func newPipe() *pipe {
	p := &pipe{}
	p.win = frame.NewWindow(&p.src, nil)
	return p
}

// send takes one message from source to sink.
func (p *pipe) send(msg []byte, plan *Plan, r RootID, n Names) error {
	p.src.Reset(msg)
	p.win.Start(0, 0)
	p.win.Emit(&p.sink, false)
	err := p.walk.Emit(p.win, plan, r, n)
	if err == nil {
		err = p.win.End()
	}
	p.win.Release()
	return err
}

// call gathers and emits, the life of a small call.
func (p *pipe) call(msg []byte, f *Facts, plan *Plan, r RootID, n Names) error {
	p.src.Reset(msg)
	p.win.Start(0, 0)
	if _, err := p.win.Header(false); err != nil {
		return err
	}
	if err := p.walk.Gather(p.win, plan, r, f); err != nil {
		return err
	}
	p.win.Rewind()
	p.win.Emit(&p.sink, false)
	err := p.walk.Emit(p.win, plan, r, n)
	if err == nil {
		err = p.win.End()
	}
	p.win.Release()
	return err
}

// fastest runs the fs in turn, rounds times, and answers each one's best.
func fastest(tb testing.TB, rounds int, fs ...func() error) []float64 {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	best := make([]float64, len(fs))
	for i := range best {
		best[i] = math.Inf(1)
	}
	for range rounds {
		for i, f := range fs {
			at := clock()
			if err := f(); err != nil {
				tb.Fatal(err)
			}
			if took := clock() - at; took > 0 { // a virtual machine's clock may stand still
				best[i] = min(best[i], float64(took))
			}
		}
	}
	return best
}

// attempts of a measurement that misses its bound. Other load only makes it
// worse, and a neighbour on the machine does so for a second or two at a time.
const attempts = 25

// gate gives a measurement as many attempts as it needs to meet bound.
func gate(t *testing.T, name string, bound float64, atLeast bool, measure func() float64) {
	t.Helper()
	var best float64
	for i := range attempts {
		got := measure()
		if i == 0 || (got > best) == atLeast {
			best = got
		}
		if (best >= bound) == atLeast || best == bound {
			break
		}
	}
	word := "at most"
	if atLeast {
		word = "at least"
	}
	t.Logf("%s: %.3g, %s %.3g", name, best, word, bound)
	if best != bound && (best >= bound) != atLeast {
		t.Errorf("%s: got %.3g, must be %s %.3g", name, best, word, bound)
	}
}

func TestGateMallocs(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	w := newWarehouse(true)
	b := NewBuilder()
	args := b.Node("get_table args")
	b.Field(args, 1, frame.String, db)
	long := b.RootAs(args, "get_table_by_a_name_that_is_longer_than_a_small_string", nil, nil)
	callPlan, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	callMsg := call(st{}.String(1, "sales_analytics").String(2, "orders_fact"))
	table, parts := tableReply(), partitions(20<<10, -1)
	p, f, names := newPipe(), &Facts{}, Names(prefix{})
	round := func() {
		if err := p.call(callMsg, f, callPlan, long, names); err != nil {
			t.Fatal(err)
		}
		if err := p.send(table, w.plan, w.table, names); err != nil {
			t.Fatal(err)
		}
		if err := p.send(parts, w.plan, w.partitions, names); err != nil {
			t.Fatal(err)
		}
		if err := p.send(table, w.plan, w.none, nil); err != nil {
			t.Fatal(err)
		}
	}
	for range 100 {
		round()
	}
	var a, z runtime.MemStats
	runtime.ReadMemStats(&a)
	for range 5000 {
		round()
	}
	runtime.ReadMemStats(&z)
	n := z.Mallocs - a.Mallocs
	t.Logf("%d mallocs over 20000 messages, at most 20", n)
	if n > 20 {
		t.Errorf("got %d mallocs over 20000 messages, must be at most 20", n)
	}
}

func TestGateSizes(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want uintptr
	}{{"edge", unsafe.Sizeof(edge{}), 16}, {"node", unsafe.Sizeof(node{}), 32}} {
		t.Logf("%s: %d bytes, at most %d", c.name, c.got, c.want)
		if c.got > c.want {
			t.Errorf("%s: got %d bytes, must be at most %d", c.name, c.got, c.want)
		}
	}
}

func TestGateWrites(t *testing.T) {
	w, p := newWarehouse(true), newPipe()
	msg := partitions(10<<20, -1)
	if err := p.send(msg, w.plan, w.partitions, prefix{}); err != nil {
		t.Fatal(err)
	}
	most := int(p.sink.bytes/(256<<10)) + 2
	t.Logf("%d writes for %d bytes, at most %d", p.sink.writes, p.sink.bytes, most)
	if p.sink.writes > most {
		t.Errorf("got %d writes for %d bytes, must be at most %d", p.sink.writes, p.sink.bytes, most)
	}
}

// TestGateSpeed: ratios within one process, sides interleaved, each side's
// best round counts. The message is a little longer than a window: its rounds
// are short enough to find the machine undisturbed, and 600 of them take as
// long as 15 of 10 MB, which measure what else uses the memory. Ratios at 10 MB
// are 0.07 and 0.17 lower (TestGateLength ties the two together); bounds here
// are that much higher than the 0.50 and 1.15 that hold there.
func TestGateSpeed(t *testing.T) {
	msg := partitions(257<<10, -1)
	plain, repeated, p := newWarehouse(false), newWarehouse(true), newPipe()
	skip := func() error {
		if yardSkip(msg) != len(msg) {
			return io.ErrUnexpectedEOF
		}
		return nil
	}
	rewrite := func() error { return p.send(msg, plain.plan, plain.partitions, prefix{}) }
	repeat := func() error { return p.send(msg, repeated.plan, repeated.partitions, prefix{}) }
	tokens := func() error { return tokenCopy(bytes.NewReader(msg), &p.sink) }
	ratio := func(rounds int, a, b func() error) func() float64 {
		return func() float64 {
			v := fastest(t, rounds, a, b)
			return v[0] / v[1]
		}
	}
	gate(t, "rewrite / reference skip", 0.57, true, ratio(600, skip, rewrite))
	// 1.4 on a Xeon, 1.25 on an EPYC, whose reference skip is the faster one.
	gate(t, "repeated columns / reference skip", 1.20, true, ratio(600, skip, repeat))
	gate(t, "rewrite / token copy", 8, true, ratio(15, tokens, rewrite))
}

// TestGateLength: a byte costs the same in a long reply as in a shorter one.
func TestGateLength(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIP: 10 MB replies measure the machine's other load; make bench-gate")
	}
	long, short := partitions(10<<20, -1), partitions(1<<20, -1)
	w, p := newWarehouse(false), newPipe()
	one := func() error { return p.send(long, w.plan, w.partitions, prefix{}) }
	ten := func() error { // as many bytes, in messages of 1 MB
		for range 10 {
			if err := p.send(short, w.plan, w.partitions, prefix{}); err != nil {
				return err
			}
		}
		return nil
	}
	gate(t, "ns a byte at 10 MB / at 1 MB", 1.3, false, func() float64 {
		v := fastest(t, 15, one, ten)
		return v[0] / float64(len(long)) / (v[1] / float64(10*len(short)))
	})
}

// TestGateTexts: the parameters of a table, and a text in which nothing
// changes, allocate nothing.
func TestGateTexts(t *testing.T) {
	p, r := textPlan(t)
	msg := call(st{}.String(1, "select 1 from c2__a.b").StringMap(3, "a", "b", "view.db", "a"))
	src, out := bytes.NewReader(msg), new(sink)
	w, k := frame.NewWindow(src, nil), new(Walker)
	var n Names = c1(false)
	run := func() {
		src.Reset(msg)
		out.Reset()
		w.Start(0, 0)
		w.Emit(out, false)
		if err := k.Emit(w, p, r, n); err != nil {
			t.Fatal(err)
		}
		if err := w.End(); err != nil {
			t.Fatal(err)
		}
		w.Release()
	}
	run()
	if got := testing.AllocsPerRun(200, run); got >= 1 {
		t.Errorf("%v allocations a message", got)
	}
}
