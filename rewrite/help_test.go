package rewrite

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"hmsgate/frame"
	"hmsgate/internal/wiretest"
)

type st = wiretest.Struct

// side is the names of one direction: what is added in front of each, or
// taken away.
type side struct {
	add, cut string
	id       int64
	hide     []string
	strict   bool
	elsewhere
}

type elsewhere string // a name that belongs elsewhere

var errElsewhere = errors.New("belongs elsewhere")

func (s *side) Append(dst []byte, k Kind, name []byte) ([]byte, error) {
	if s.elsewhere != "" && string(name) == string(s.elsewhere) {
		return dst, errElsewhere
	}
	if s.cut != "" {
		name = bytes.TrimPrefix(name, []byte(s.cut))
	}
	dst = append(dst, s.add...)
	return append(dst, name...), nil
}

func (s *side) ID(k Kind, id int64) (int64, error) {
	if s.elsewhere == "id" {
		return 0, errElsewhere
	}
	return id ^ s.id, nil
}
func (s *side) Keep(k Kind, name []byte) bool { return !slices.Contains(s.hide, string(name)) }
func (s *side) Strict() bool                  { return s.strict }

// sink remembers what left and in how many writes.
type sink struct {
	bytes.Buffer
	writes, ends int
}

func (s *sink) Write(p []byte) (int, error) { s.writes++; return s.Buffer.Write(p) }
func (s *sink) End() error                  { s.ends++; return nil }

type run struct {
	out    []byte
	unseen int
	err    error
}

// emit streams one message, arriving as src says.
func emit(src io.Reader, p *Plan, r RootID, n Names, lazy bool) run {
	var k Walker
	w, s := frame.NewWindow(src, frame.NewBudget(64<<20)), &sink{}
	w.Start(0, 0)
	w.Emit(s, false)
	if lazy {
		w.Lazy()
	}
	err := k.Emit(w, p, r, n)
	if err == nil {
		err = w.End()
	}
	w.Release()
	if err == nil && w.Buffered() > 0 {
		err = fmt.Errorf("%d bytes left over", w.Buffered())
	}
	return run{s.Bytes(), k.Unseen, err}
}

// held measures and emits one message that the window keeps, twice.
func held(t *testing.T, msg []byte, p *Plan, r RootID, n Names) run {
	t.Helper()
	var k Walker
	w := frame.NewWindow(bytes.NewReader(msg), frame.NewBudget(64<<20))
	w.Start(0, 16<<20)
	if _, err := w.Header(true); err != nil {
		t.Fatal(err)
	}
	if w.Skip(frame.Struct, 0) != nil {
		return emit(bytes.NewReader(msg), p, r, n, false) // no message that could be held
	}
	w.Rewind()
	size, err := k.Measure(w, p, r, n)
	if err != nil {
		return run{nil, k.Unseen, err}
	}
	var out []byte
	for i := range 2 {
		s := &sink{}
		w.Rewind()
		w.Emit(s, true)
		if err := k.Emit(w, p, r, n); err != nil {
			return run{nil, k.Unseen, err}
		}
		if err := w.End(); err != nil {
			return run{nil, k.Unseen, err}
		}
		if int64(s.Len()) != size {
			t.Fatalf("measured %d bytes, emitted %d", size, s.Len())
		}
		if i > 0 && !bytes.Equal(out, s.Bytes()) {
			t.Fatal("the second emit differs from the first")
		}
		out = s.Bytes()
	}
	return run{out, k.Unseen, nil}
}

// through walks msg in each way that a session has, in many pieces, and
// answers what all of them agree on.
func through(t *testing.T, p *Plan, r RootID, n Names, msg []byte) run {
	t.Helper()
	want := held(t, msg, p, r, n)
	step := 1
	if len(msg) > 4<<10 {
		step = len(msg)/30 + 1
	}
	same := func(how string, got run) {
		t.Helper()
		if (got.err == nil) != (want.err == nil) || want.err == nil && !bytes.Equal(got.out, want.out) {
			t.Fatalf("%s: err %v, held %v\ngot  %s\nwant %s", how, got.err, want.err, clip(got.out), clip(want.out))
		}
	}
	for cut := 0; cut < len(msg); cut += step {
		same(fmt.Sprintf("cut at %d", cut), emit(wiretest.Chunks(msg, cut), p, r, n, cut%2 == 1))
	}
	if len(msg) > 20<<10 {
		same("in small pieces", emit(wiretest.RandomChunks(msg, 1, 700), p, r, n, true))
		return want
	}
	same("bytewise", emit(wiretest.OneByte(msg), p, r, n, false))
	same("bytewise, lazy", emit(wiretest.OneByte(msg), p, r, n, true))
	return want
}

// gather collects the facts of a call, in pieces of any size.
func gather(t *testing.T, p *Plan, r RootID, msg []byte) (facts []string, f Facts) {
	t.Helper()
	step := 1
	if len(msg) > 4<<10 {
		step = len(msg)/50 + 1
	}
	for cut := 0; cut < len(msg); cut += step {
		var k Walker
		w := frame.NewWindow(wiretest.Chunks(msg, cut), nil)
		w.Start(0, 1<<20)
		if _, err := w.Header(true); err != nil {
			t.Fatal(err)
		}
		if err := k.Gather(w, p, r, &f); err != nil {
			return []string{"error: " + err.Error()}, f
		}
		if w.Pos() != int64(len(msg)) {
			t.Fatalf("gathered %d of %d bytes", w.Pos(), len(msg))
		}
		var got []string
		for _, o := range f.List() {
			if o.Kind.Number() {
				got = append(got, fmt.Sprintf("%s=%d", o.Kind, be.Uint64(w.At(o.Off, o.Len))))
			} else {
				got = append(got, fmt.Sprintf("%s=%s", o.Kind, w.At(o.Off, o.Len)))
			}
		}
		if cut > 0 && !slices.Equal(got, facts) {
			t.Fatalf("cut at %d: facts %q, whole %q", cut, got, facts)
		}
		facts = got
	}
	return facts, f
}

// build compiles a plan of one node, which more may hang on.
func build(t testing.TB, f func(b *Builder, n NodeID)) (*Plan, RootID) {
	t.Helper()
	b := NewBuilder()
	n := b.Node("args")
	f(b, n)
	r := b.Root(n)
	p, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return p, r
}

// clip shows the end of a message that may be long.
func clip(b []byte) string {
	if n := len(b); n > 300 {
		return fmt.Sprintf("%d bytes ending in %q", n, b[n-300:])
	}
	return fmt.Sprintf("%q", b)
}

func call(body st) []byte { return wiretest.Call("m", 5, body.Stop()) }

func list(elem byte, values ...[]byte) []byte {
	b := be.AppendUint32([]byte{elem}, uint32(len(values)))
	return append(b, bytes.Join(values, nil)...)
}

func dict(key, val byte, pairs ...[]byte) []byte {
	b := be.AppendUint32([]byte{key, val}, uint32(len(pairs)/2))
	return append(b, bytes.Join(pairs, nil)...)
}

func strs(s ...string) (v [][]byte) {
	for _, x := range s {
		v = append(v, wiretest.Text(x))
	}
	return v
}

func has(t *testing.T, err error, target error, words ...string) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Fatalf("got error %v, want %v", err, target)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Fatalf("got error %q, want %q in it", err, w)
		}
	}
}
