package rewrite

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"hmsgate/frame"
	"hmsgate/internal/wiretest"
)

// request is a plan of a call as most are: a struct with a catalog field, a
// list of structs with one of their own, ids, patterns.
func request(t testing.TB) (*Plan, RootID) {
	return build(t, func(b *Builder, n NodeID) {
		part, req := b.Node("Partition"), b.Node("AddPartitionsRequest")
		cat, name := Action{Do: Name, Kind: Cat, Route: true}, Action{Do: Name, Kind: DBAt, Route: true}
		b.Field(part, 2, frame.String, name)
		b.Field(part, 9, frame.String, cat)
		b.Field(req, 1, frame.String, name)
		b.Field(req, 3, frame.List, Action{Do: Each, Elem: &Action{Do: Into, Node: part}})
		b.Field(req, 6, frame.String, cat)
		b.Field(n, 1, frame.Struct, Action{Do: Into, Node: req})
		b.Field(n, 2, frame.String, Action{Do: Name, Kind: PatternAt, Route: true})
		b.Field(n, 3, frame.I64, Action{Do: Name, Kind: LockID, Route: true})
		b.Field(n, 4, frame.String, Action{Do: Name, Kind: DB}) // no part in routing
	})
}

func TestFacts(t *testing.T) {
	p, r := request(t)
	part := func(db, cat string) []byte {
		s := st{}.String(2, db)
		if cat != "" {
			s = s.String(9, cat)
		}
		return s.Stop()
	}
	for _, c := range []struct {
		name  string
		in    st
		want  []string
		final bool
	}{
		{"nothing", st{}, nil, false},
		{"not for routing", st{}.String(4, "a"), nil, false},
		{"bare name in the arguments", st{}.String(2, "a*"), []string{"db_pattern@=a*"}, true},
		{"id", st{}.I64(3, 7), []string{"lock_id=7"}, false},
		{"catalog first", st{}.Struct(1, st{}.String(6, "apache").String(1, "a").Stop()), []string{"cat=apache", "db@=a"}, true},
		{"catalog last", st{}.Struct(1, st{}.String(1, "a").String(6, "apache").Stop()), []string{"db@=a", "cat=apache"}, true},
		{"catalog absent", st{}.Struct(1, st{}.String(1, "a").Stop()), []string{"db@=a"}, true},
		{"catalog alone", st{}.Struct(1, st{}.String(6, "apache").Stop()), []string{"cat=apache"}, false},
		{"catalog alone, twice", st{}.Struct(1, st{}.List(3, frame.Struct, st{}.String(9, "x").Stop()).String(6, "y").Stop()),
			[]string{"cat=x", "cat=y"}, false},
		{"nested, distinct", st{}.Struct(1, st{}.String(1, "a").List(3, frame.Struct, part("a", ""), part("b", "apache"), part("a", "apache"), part("b", "")).Stop()),
			[]string{"db@=a", "db@=b", "cat=apache"}, true},
		{"same text, other kind", st{}.Struct(1, st{}.String(1, "a").Stop()).String(2, "a"), []string{"db@=a", "db_pattern@=a"}, true},
		{"empty names", st{}.Struct(1, st{}.String(1, "").Stop()), []string{"db@="}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, pad := range []int{0, 10_000} {
				in := append(st{}.String(9, strings.Repeat("p", pad)), c.in...)
				got, f := gather(t, p, r, call(in))
				if !slices.Equal(got, c.want) || f.Final != c.final || f.Over {
					t.Fatalf("padded by %d: got %q, final %v, over %v; want %q, final %v", pad, got, f.Final, f.Over, c.want, c.final)
				}
			}
		})
	}
}

// When a call outgrows the window, Final tells whether its facts are enough:
// not while a catalog field can still move the name elsewhere.
func TestFactsFinalInStream(t *testing.T) {
	p, r := request(t)
	huge := strings.Repeat("v", 2*frame.BigSize)
	for _, c := range []struct {
		name  string
		in    st
		want  []string
		final bool
	}{
		{"catalog field may still come", st{}.Struct(1, st{}.String(1, "a").String(5, huge).String(6, "apache").Stop()), []string{"db@=a"}, false},
		{"catalog field was there", st{}.Struct(1, st{}.String(6, "apache").String(1, "a").String(5, huge).Stop()), []string{"cat=apache", "db@=a"}, true},
		{"catalog field was after the name", st{}.Struct(1, st{}.String(1, "a").String(6, "apache").String(5, huge).Stop()), []string{"db@=a", "cat=apache"}, true},
		{"struct is over", st{}.Struct(1, st{}.String(1, "a").Stop()).String(5, huge), []string{"db@=a"}, true},
		{"inner struct is over, outer is not", st{}.Struct(1, st{}.List(3, frame.Struct, st{}.String(2, "a").Stop()).String(5, huge).Stop()), []string{"db@=a"}, false},
		{"catalog without a name", st{}.Struct(1, st{}.String(6, "apache").Stop()).String(5, huge), []string{"cat=apache"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var k Walker
			var f Facts
			msg := call(c.in)
			w := frame.NewWindow(wiretest.RandomChunks(msg, 1, 1<<16), nil)
			w.Start(0, 0)
			if _, err := w.Header(false); err != nil {
				t.Fatal(err)
			}
			if err := k.Gather(w, p, r, &f); !errors.Is(err, frame.ErrFull) {
				t.Fatalf("got %v, want ErrFull", err)
			}
			var got []string
			for _, o := range f.List() {
				got = append(got, fmt.Sprintf("%s=%s", o.Kind, w.At(o.Off, o.Len)))
			}
			if !slices.Equal(got, c.want) || f.Final != c.final {
				t.Fatalf("got %q, final %v; want %q, final %v", got, f.Final, c.want, c.final)
			}
			// what was gathered is still there to be sent
			s := &sink{}
			w.Rewind()
			w.Emit(s, false)
			if err := k.Emit(w, p, r, nil); err != nil {
				t.Fatal(err)
			}
			if err := w.End(); err != nil || s.String() != string(msg) {
				t.Fatalf("err %v, %d of %d bytes", err, s.Len(), len(msg))
			}
		})
	}
}

func TestFactsOver(t *testing.T) {
	p, r := build(t, func(b *Builder, n NodeID) { b.Field(n, 1, frame.List, Action{Do: Each, Elem: &db}) })
	var names []string
	for i := range MaxFacts {
		names = append(names, fmt.Sprint("db", i), fmt.Sprint("db", i))
	}
	got, f := gather(t, p, r, call(st{}.Strings(1, names...)))
	if len(got) != MaxFacts || f.Over {
		t.Fatalf("%d names, over %v", len(got), f.Over)
	}
	got, f = gather(t, p, r, call(st{}.Strings(1, append(names, "one more")...)))
	if len(got) != MaxFacts || !f.Over {
		t.Fatalf("%d names, over %v", len(got), f.Over)
	}
	if f.Reset(); f.Over || f.Final || len(f.List()) != 0 {
		t.Fatal("Reset leaves something")
	}
}

func TestKinds(t *testing.T) {
	for k := range kinds {
		got, ok := ParseKind(k.String())
		if !ok || got != k {
			t.Errorf("%d: %q parses as %d, %v", k, k.String(), got, ok)
		}
		if k.Number() && k.Opaque() {
			t.Errorf("%s is a number and opaque", k)
		}
	}
	if _, ok := ParseKind("dbb"); ok {
		t.Error(`"dbb" is a kind`)
	}
	if got := kinds.String(); got != "kind?" {
		t.Errorf("got %q", got)
	}
}

// A method that no inventory knows: every string, wherever it stands.
func TestStrings(t *testing.T) {
	deep := nest(62, 1, st{}.String(2, "deep"))
	in := st{}.String(1, "a").I32(2, 2).Strings(3, "b", "c").StringMap(4, "d", "e").List(5, frame.I64, make([]byte, 8)).
		Struct(6, st{}.Field(frame.Map, 1, dict(frame.I32, frame.Set, []byte{0, 0, 0, 1}, list(frame.String, strs("f")...))).Stop()).
		String(7, strings.Repeat("x", maxName+1)).String(8, "").Struct(9, deep.Stop())
	want := []string{"a", "b", "c", "d", "e", "f", "", "deep"}
	msg := in.Stop()
	for cut := 0; cut < len(msg); cut += 7 {
		var k Walker
		var got []string
		w := frame.NewWindow(wiretest.Chunks(msg, cut), nil)
		w.Start(0, 0)
		err := k.Strings(w, func(b []byte) error { got = append(got, string(b)); return nil })
		if err != nil || !slices.Equal(got, want) || w.Pos() != int64(len(msg)) {
			t.Fatalf("cut at %d: %v, %d of %d bytes, got %q, want %q", cut, err, w.Pos(), len(msg), got, want)
		}
	}
	var k Walker
	w := frame.NewWindow(wiretest.Chunks(msg), nil)
	w.Start(0, 0)
	if err := k.Strings(w, func([]byte) error { return errElsewhere }); !errors.Is(err, errElsewhere) {
		t.Errorf("got %v, want what visit said", err)
	}
	for _, c := range []struct {
		in   []byte
		want error
	}{
		{nest(64, 1, st{}).Stop(), frame.ErrTooDeep},
		{st{}.Field(frame.String, 1, []byte{0xff, 0xff, 0xff, 0xff}), frame.ErrNegative},
		{st{}.Field(frame.List, 1, []byte{frame.String, 0xff, 0xff, 0xff, 0xff}), frame.ErrNegative},
		{st{}.Field(frame.Map, 1, []byte{0, 0, 0, 0, 0, 9}), frame.ErrBadType},
		{st{}.String(1, "a"), io.ErrUnexpectedEOF},
	} {
		w := frame.NewWindow(wiretest.OneByte(c.in), nil)
		w.Start(0, 0)
		if err := k.Strings(w, func([]byte) error { return nil }); !errors.Is(err, c.want) {
			t.Errorf("% x: got %v, want %v", c.in[:min(20, len(c.in))], err, c.want)
		}
	}
}
