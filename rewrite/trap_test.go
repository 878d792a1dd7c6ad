package rewrite

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"hmsgate/frame"
	"hmsgate/internal/wiretest"
)

var out = &side{add: "x_", id: 1 << 48, hide: []string{"hidden"}}

// nest wraps a struct depth times into field id of another.
func nest(depth int, id int16, in st) st {
	for range depth {
		in = st{}.Struct(id, in.Stop())
	}
	return in
}

// Table.16 -> CreationMetadata.7 -> Table: one depth counter for walk and
// skip, and the error names the path.
func TestTrapCyclicPlan(t *testing.T) {
	b := NewBuilder()
	table, meta := b.Node("Table"), b.Node("CreationMetadata")
	b.Field(table, 2, frame.String, db)
	b.Field(table, 16, frame.Struct, Action{Do: Into, Node: meta})
	b.Field(meta, 7, frame.Struct, Action{Do: Into, Node: table})
	r := b.Root(table)
	p, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	deep := func(n int, inner st) []byte {
		for range n {
			inner = st{}.String(2, "a").Struct(16, st{}.Struct(7, inner.Stop()).Stop())
		}
		return call(inner)
	}
	got := through(t, p, r, out, deep(31, st{}.String(2, "a")))
	if got.err != nil || bytes.Count(got.out, []byte("x_a")) != 32 {
		t.Fatalf("err %v, %d of 32 names", got.err, bytes.Count(got.out, []byte("x_a")))
	}
	for _, inner := range []st{{}, nest(3, 30, st{})} { // the bomb in planned fields, and its end in others
		got = through(t, p, r, out, deep(32, inner))
		has(t, got.err, frame.ErrTooDeep, "Table.16: CreationMetadata.7: Table.16: ")
		if _, f := gather(t, p, r, deep(5000, st{})); f.Over {
			t.Fatal("over")
		}
	}
	facts, _ := gather(t, p, r, deep(5000, st{}))
	if len(facts) != 1 || !strings.Contains(facts[0], "nested deeper") {
		t.Fatalf("got %q", facts)
	}
	through(t, p, r, nil, deep(31, st{}))
	if got := through(t, p, r, out, call(nest(5000, 30, st{}))); !errors.Is(got.err, frame.ErrTooDeep) {
		t.Fatalf("got %v", got.err)
	}
}

func TestTrapKeptStringLongerThanWindow(t *testing.T) {
	p, r := build(t, func(b *Builder, n NodeID) { b.Field(n, 1, frame.String, db) })
	long := strings.Repeat("v", 3*frame.BigSize)
	msg := call(st{}.String(2, long).String(1, "a").String(3, long))
	budget := frame.NewBudget(1) // nothing may be held for it
	w, s := frame.NewWindow(wiretest.RandomChunks(msg, 1, 1<<17), budget), &sink{}
	var k Walker
	w.Start(0, 0)
	w.Emit(s, false)
	if err := k.Emit(w, p, r, out); err != nil {
		t.Fatal(err)
	}
	if err := w.End(); err != nil {
		t.Fatal(err)
	}
	if want := call(st{}.String(2, long).String(1, "x_a").String(3, long)); !bytes.Equal(s.Bytes(), want) {
		t.Fatalf("got %d bytes, want %d", s.Len(), len(want))
	}
}

func TestTrapEditedNameSpansChunks(t *testing.T) {
	p, r := build(t, func(b *Builder, n NodeID) { b.Field(n, 1, frame.String, db) })
	name := strings.Repeat("n", maxName)
	got := through(t, p, r, out, call(st{}.String(1, name)))
	if got.err != nil || !bytes.Equal(got.out, call(st{}.String(1, "x_"+name))) {
		t.Fatalf("err %v, %d bytes", got.err, len(got.out))
	}
	over := call(st{}.String(1, name+"n"))
	strict := *out
	strict.strict = true
	has(t, through(t, p, r, &strict, over).err, ErrName, "args.1", "8193", "8192")
	if facts, _ := gather(t, p, r, over); len(facts) != 1 || !strings.Contains(facts[0], "name too long") {
		t.Fatalf("gathered %q", facts)
	}
	got = through(t, p, r, out, over)
	if got.err != nil || !bytes.Equal(got.out, over) || got.unseen != 1 {
		t.Fatalf("reply: err %v, unseen %d", got.err, got.unseen)
	}
}

// A reply's name too long to be judged is not shown.
func TestTrapUnjudgedName(t *testing.T) {
	p, r := build(t, func(b *Builder, n NodeID) { b.Field(n, 0, frame.List, Action{Do: Each, Filter: true, Elem: &judge}) })
	got := through(t, p, r, out, call(st{}.Strings(0, strings.Repeat("n", maxName+1), "a")))
	if want := call(st{}.Strings(0, "x_a")); got.err != nil || !bytes.Equal(got.out, want) {
		t.Fatalf("err %v, %d bytes", got.err, len(got.out))
	}
}

func TestTrapLegallyLargeValues(t *testing.T) {
	p, r := build(t, func(b *Builder, n NodeID) {
		b.Field(n, 1, frame.String, Action{Do: Name, Kind: WriteIDs, Route: true})
		b.Field(n, 2, frame.String, Action{Do: Name, Kind: WriteIDsMulti})
		b.Field(n, 3, frame.String, Action{Do: Name, Kind: SQL})
	})
	ids := ":9:" + strings.Repeat("123456,", 200_000) + ":"
	in := call(st{}.String(1, "db.t"+ids).String(2, "7$db.t"+ids).String(3, ids))
	got := through(t, p, r, out, in)
	if want := call(st{}.String(1, "x_db.t"+ids).String(2, "x_7$db.t"+ids).String(3, ids)); got.err != nil || !bytes.Equal(got.out, want) {
		t.Fatalf("err %v, %d bytes, want %d", got.err, len(got.out), len(want))
	}
	facts, _ := gather(t, p, r, call(st{}.String(1, "db.t:9::")))
	if len(facts) != 1 || facts[0] != "table_full=db.t" {
		t.Fatalf("got %q", facts)
	}
	strict := &side{strict: true}
	noHead := call(st{}.String(1, strings.Repeat("n", maxName+1)+":1"))
	has(t, through(t, p, r, strict, noHead).err, ErrName, "args.1")
	tooLong := append(be.AppendUint32([]byte("\x80\x01\x00\x01\x00\x00\x00\x01m\x00\x00\x00\x05\x0b\x00\x02"), maxMulti+1), "7$db.t"...)
	has(t, emit(bytes.NewReader(tooLong), p, r, strict, false).err, ErrName, "args.2")
}

// What is dropped is never held, however long.
func TestTrapDropOfLongValue(t *testing.T) {
	p, r := build(t, func(b *Builder, n NodeID) {
		b.Field(n, 1, frame.String, Action{Drop: true})
		b.Field(n, 2, frame.List, Action{Drop: true})
	})
	long := strings.Repeat("v", 2*frame.BigSize)
	for _, lazy := range []bool{false, true} {
		w, s := frame.NewWindow(wiretest.RandomChunks(call(st{}.I32(9, 9).String(1, long).Strings(2, long, long).I32(3, 3)), 1, 1<<17), frame.NewBudget(1)), &sink{}
		var k Walker
		w.Start(0, 0)
		w.Emit(s, false)
		if lazy {
			w.Lazy()
		}
		if err := k.Emit(w, p, r, out); err != nil {
			t.Fatal(err)
		}
		if err := w.End(); err != nil {
			t.Fatal(err)
		}
		if want := call(st{}.I32(9, 9).I32(3, 3)); !bytes.Equal(s.Bytes(), want) || s.writes != 1 {
			t.Fatalf("lazy %v: got %q in %d writes, want %q", lazy, s.Bytes(), s.writes, want)
		}
	}
}

// The literal before the body leaves before its first field, although the
// window has long been full when the body ends.
func TestTrapWrapAroundForwardedBytes(t *testing.T) {
	b := NewBuilder()
	n := b.Node("args")
	b.Field(n, 1, frame.List, Action{Do: Each, Elem: &db, Wrap: true, Inner: 3})
	r := b.RootAs(n, "", []byte{frame.Struct, 0, 1}, []byte{frame.Stop})
	p, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	names := strings.Fields(strings.Repeat("abcdefgh ", 80_000))
	want := strings.Fields(strings.Repeat("x_abcdefgh ", 80_000))
	got := emit(wiretest.RandomChunks(call(st{}.Strings(1, names...)), 2, 1<<17), p, r, out, false)
	if w := call(st{}.Struct(1, st{}.Struct(1, st{}.Strings(3, want...).Stop()).Stop())); got.err != nil || !bytes.Equal(got.out, w) {
		t.Fatalf("err %v, %d bytes, want %d", got.err, len(got.out), len(w))
	}
}

// AlterTableRequest.3 must not land on argument 3.
func TestTrapUnwrappedIDsMeanOtherThings(t *testing.T) {
	p, r := build(t, func(b *Builder, n NodeID) {
		req := b.Node("AlterTableRequest")
		b.Closed(req)
		b.Field(req, 2, frame.String, Action{Do: Name, Kind: DB, Renumber: true, To: 1})
		b.Field(n, 1, frame.Struct, Action{Do: Into, Node: req, Unwrap: true})
	})
	got := through(t, p, r, out, call(st{}.Struct(1, st{}.String(1, "hive").String(2, "db").String(3, "t").I64(5, 1).Stop())))
	if want := call(st{}.String(1, "x_db")); got.err != nil || !bytes.Equal(got.out, want) {
		t.Fatalf("err %v\ngot  %s\nwant %s", got.err, clip(got.out), clip(want))
	}
}

func TestTrapElementsOfOtherType(t *testing.T) {
	p, r := build(t, func(b *Builder, n NodeID) {
		b.Field(n, 1, frame.List, Action{Do: Each, Elem: &db})
		b.Field(n, 2, frame.Set, Action{Do: Each, Elem: &db})
		b.Field(n, 3, frame.Map, Action{Do: Each, Key: &db, Elem: &db})
		b.Field(n, 4, frame.List, Action{Do: Each, Filter: true, Elem: &judge})
		b.Field(n, 5, frame.List, Action{Do: Each, Elem: &db})
	})
	eight := []byte{0, 0, 0, 4, 's', 'a', 'l', 'e'} // an i64, and a string to who does not look
	for _, c := range []struct {
		name   string
		in     st
		unseen int
		path   string
	}{
		{"list", st{}.List(1, frame.I64, eight), 1, "args.1"},
		{"list of structs", st{}.List(1, frame.Struct, []byte{0}), 1, "args.1"},
		{"set", st{}.Field(frame.Set, 2, list(frame.I64, eight)), 1, "args.2"},
		{"map keys", st{}.Field(frame.Map, 3, dict(frame.I64, frame.String, eight, text("b"))), 1, "args.3"},
		{"map values", st{}.Field(frame.Map, 3, dict(frame.String, frame.I64, text("b"), eight)), 1, "args.3"},
		{"filtered list", st{}.List(4, frame.I64, eight, eight), 1, "args.4"},
		{"empty list", st{}.List(1, frame.I64), 0, ""},
		{"empty map", st{}.Field(frame.Map, 3, dict(frame.Bool, frame.Bool)), 0, ""},
		{"set for a list", st{}.Field(frame.Set, 5, list(frame.String, text("b"))), 1, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			msg := call(c.in)
			got := through(t, p, r, out, msg)
			same := got.out
			if c.name == "map keys" || c.name == "map values" {
				same = bytes.Replace(same, text("x_b"), text("b"), 1) // the other half is as planned
			}
			if got.err != nil || !bytes.Equal(same, msg) || got.unseen != c.unseen {
				t.Fatalf("reply: err %v, unseen %d, want %d\ngot  %q\nwant %q", got.err, got.unseen, c.unseen, same, msg)
			}
			err := through(t, p, r, &side{strict: true}, msg).err
			facts, _ := gather(t, p, r, msg)
			if c.path == "" {
				if err != nil || len(facts) > 0 {
					t.Fatalf("call: err %v, facts %q", err, facts)
				}
				return
			}
			has(t, err, ErrElement, c.path)
			if len(facts) != 1 || !strings.Contains(facts[0], "elements of another type") {
				t.Fatalf("gathered %q", facts)
			}
		})
	}
}

func TestTrapUnion(t *testing.T) {
	for _, c := range []struct {
		name string
		plan func(b *Builder, n NodeID)
	}{
		{"drop", func(b *Builder, n NodeID) { b.Field(n, 1, frame.String, Action{Drop: true}) }},
		{"drop of a second meaning", func(b *Builder, n NodeID) {
			b.Field(n, 1, frame.String, db)
			b.Field(n, 1, frame.I32, Action{Drop: true})
		}},
		{"insert", func(b *Builder, n NodeID) { b.Insert(n, 1, []byte{0}) }},
		{"closed", func(b *Builder, n NodeID) { b.Closed(n); b.Field(n, 1, frame.String, db) }},
	} {
		b := NewBuilder()
		n := b.Node("ColumnStatisticsData")
		b.Union(n)
		c.plan(b, n)
		b.Root(n)
		if _, err := b.Build(); err == nil || !strings.Contains(err.Error(), "union") || !strings.Contains(err.Error(), "ColumnStatisticsData") {
			t.Errorf("%s: got %v", c.name, err)
		}
	}
	b := NewBuilder()
	n := b.Node("ColumnStatisticsData")
	b.Union(n)
	b.Field(n, 1, frame.String, db)
	b.Root(n)
	if _, err := b.Build(); err != nil {
		t.Errorf("a name in a union: %v", err)
	}
}

// A held list's count is right however often the output has grown meanwhile.
func TestTrapCountOfLongFilteredList(t *testing.T) {
	p, r := build(t, func(b *Builder, n NodeID) { b.Field(n, 0, frame.List, Action{Do: Each, Filter: true, Elem: &judge}) })
	var in, want []string
	for i := range 30_000 {
		if i%3 == 0 {
			in = append(in, "hidden")
			continue
		}
		in, want = append(in, "sales_db"), append(want, "x_sales_db")
	}
	for _, lazy := range []bool{false, true} {
		got := emit(wiretest.RandomChunks(call(st{}.Strings(0, in...).I32(1, 1)), 3, 1<<16), p, r, out, lazy)
		if w := call(st{}.Strings(0, want...).I32(1, 1)); got.err != nil || !bytes.Equal(got.out, w) {
			t.Fatalf("lazy %v: err %v, %d bytes, want %d", lazy, got.err, len(got.out), len(w))
		}
	}
	big := strings.Fields(strings.Repeat("a_name_of_sixteen ", 60_000)) // 1.3 MB: more than may be held
	if got := emit(bytes.NewReader(call(st{}.Strings(0, big...))), p, r, out, false); !errors.Is(got.err, frame.ErrFull) {
		t.Fatalf("got %v, want ErrFull", got.err)
	}
}

func TestTrapRepeatedValueOfOtherType(t *testing.T) {
	pad := strings.Repeat("p", frame.SmallSize) // slots come with the big window
	eight := []byte{0, 0, 0, 12, 's', 'a', 'l', 'e'}
	in := st{}.String(99, pad).List(0, frame.Struct,
		st{}.Field(frame.I64, 1, eight).Stop(), st{}.Field(frame.I64, 1, eight).Stop(),
		st{}.Field(frame.String, 1, append(eight, "abcdefgh"...)).Stop(), // begins with the same 8 bytes
		st{}.Field(frame.I64, 1, eight).String(2, "a").Stop())
	plan := func(typ frame.Type) func(b *Builder, n NodeID) {
		return func(b *Builder, n NodeID) {
			el := b.Node("El")
			b.Field(el, 1, typ, Action{Repeat: true})
			b.Field(el, 2, frame.String, db)
			b.Field(n, 0, frame.List, Action{Do: Each, Elem: &Action{Do: Into, Node: el}})
		}
	}
	p, r := build(t, plan(frame.I64))
	got := through(t, p, r, out, call(in))
	if want := bytes.Replace(call(in), text("a"), text("x_a"), 1); got.err != nil || !bytes.Equal(got.out, want) {
		t.Fatalf("err %v\ngot  %s\nwant %s", got.err, clip(got.out), clip(want))
	}
	// Two walks over one held message, the slot meaning another type in the second.
	q, s := build(t, plan(frame.String))
	w := frame.NewWindow(bytes.NewReader(call(in)), nil)
	var k Walker
	for i, pl := range []*Plan{p, q, p} {
		if i == 0 {
			w.Start(0, 0)
			if err := w.Need(len(call(in))); err != nil {
				t.Fatal(err)
			}
		}
		w.Rewind()
		o := &sink{}
		w.Emit(o, true)
		if err := k.Emit(w, pl, s, nil); err != nil {
			t.Fatal(err)
		}
		if err := w.End(); err != nil || !bytes.Equal(o.Bytes(), call(in)) {
			t.Fatalf("walk %d: %v, %d bytes, want %d", i, err, o.Len(), len(call(in)))
		}
	}
	for _, c := range []Action{{Repeat: true}} {
		b := NewBuilder()
		n := b.Node("El")
		b.Field(n, 1, frame.Stop, c)
		b.Field(n, 2, frame.String, db)
		b.Root(n)
		if _, err := b.Build(); err == nil || !strings.Contains(err.Error(), "one wire type") {
			t.Errorf("a repeated value of any type: %v", err)
		}
	}
}

// What is edited below is never jumped over.
func TestTrapRepeatedValueWithEdits(t *testing.T) {
	p, r := build(t, func(b *Builder, n NodeID) {
		el, in := b.Node("El"), b.Node("In")
		b.Field(in, 1, frame.String, db)
		b.Field(el, 1, frame.Struct, Action{Do: Into, Node: in, Repeat: true})
		b.Field(n, 0, frame.List, Action{Do: Each, Elem: &Action{Do: Into, Node: el}})
	})
	el := st{}.Struct(1, st{}.String(1, "a").Stop()).Stop()
	xl := st{}.Struct(1, st{}.String(1, "x_a").Stop()).Stop()
	pad := strings.Repeat("p", frame.SmallSize)
	got := through(t, p, r, out, call(st{}.String(9, pad).List(0, frame.Struct, el, el, el)))
	if want := call(st{}.String(9, pad).List(0, frame.Struct, xl, xl, xl)); got.err != nil || !bytes.Equal(got.out, want) {
		t.Fatalf("err %v\ngot  %s\nwant %s", got.err, clip(got.out), clip(want))
	}
}

func TestTrapNegativeOrHugeCount(t *testing.T) {
	plan := func(b *Builder, n NodeID) {
		b.Field(n, 1, frame.List, Action{Do: Each, Elem: &db})
		b.Field(n, 2, frame.Map, Action{Do: Each, Key: &db})
		b.Field(n, 3, frame.List, Action{Do: Each, Filter: true, Elem: &judge})
		b.Field(n, 4, frame.String, db)
	}
	p, r := build(t, plan)
	for _, c := range []struct {
		name string
		in   st
		want error
	}{
		{"list of -1", st{frame.List, 0, 1, frame.String, 0xff, 0xff, 0xff, 0xff}, frame.ErrNegative},
		{"list of 2^31-1", st{frame.List, 0, 1, frame.String, 0x7f, 0xff, 0xff, 0xff}, frame.ErrTooLong},
		{"map of -1", st{frame.Map, 0, 2, frame.String, frame.String, 0xff, 0xff, 0xff, 0xff}, frame.ErrNegative},
		{"map of 2^31-1", st{frame.Map, 0, 2, frame.String, frame.Bool, 0x7f, 0xff, 0xff, 0xff}, frame.ErrTooLong},
		{"filtered list of 2^31-1", st{frame.List, 0, 3, frame.String, 0x7f, 0xff, 0xff, 0xff}, frame.ErrTooLong},
		{"name of -1", st{frame.String, 0, 4, 0xff, 0xff, 0xff, 0xff}, frame.ErrNegative},
		{"unplanned string of -1", st{frame.String, 0, 9, 0xff, 0xff, 0xff, 0xff}, frame.ErrNegative},
		{"unplanned list of -1", st{frame.List, 0, 9, frame.String, 0xff, 0xff, 0xff, 0xff}, frame.ErrNegative},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, msg := range [][]byte{call(c.in), call(append(c.in, 1, 2, 3, 4, 5, 6, 7, 8))} {
				w, s := frame.NewWindow(bytes.NewReader(msg), frame.NewBudget(1)), &sink{}
				var k Walker
				w.Start(64<<20, 0)
				w.Emit(s, false)
				has(t, k.Emit(w, p, r, out), c.want, "args.")
			}
		})
	}
}

func TestTrapDuplicateField(t *testing.T) {
	p, r := build(t, func(b *Builder, n NodeID) {
		b.Field(n, 1, frame.String, db)
		b.Field(n, 1, frame.I64, Action{Do: Name, Kind: LockID})
	})
	for _, in := range []st{
		st{}.String(1, "a").String(1, "b"),
		st{}.String(1, "a").I64(1, 1),
		st{}.I32(1, 1).String(1, "a"),
	} {
		has(t, through(t, p, r, out, call(in)).err, frame.ErrDuplicate, "args.1")
		if facts, _ := gather(t, p, r, call(in)); len(facts) != 1 || !strings.Contains(facts[0], "occurs twice") {
			t.Errorf("gathered %q", facts)
		}
	}
	if got := through(t, p, r, out, call(st{}.I32(2, 1).I32(2, 2))); got.err != nil {
		t.Errorf("a field that is not planned: %v", got.err)
	}
}

func TestErrorsNameTheField(t *testing.T) {
	p, r := build(t, func(b *Builder, n NodeID) {
		el := b.Node("LockComponent")
		b.Field(el, 3, frame.String, db)
		b.Field(el, 4, frame.I64, Action{Do: Name, Kind: LockID})
		b.Field(n, 1, frame.List, Action{Do: Each, Elem: &Action{Do: Into, Node: el}})
		b.Field(n, 2, frame.List, Action{Do: Each, Elem: &db})
		b.Field(n, 3, frame.List, Action{Do: Each, Filter: true, Elem: &judge})
		b.Field(n, 4, frame.Map, Action{Do: Each, Key: &db, Elem: &db})
	})
	for _, c := range []struct {
		in   st
		path string
		n    Names
	}{
		{st{}.List(1, frame.Struct, st{}.Stop(), st{}.String(3, "else").Stop()), "args.1: [1]: LockComponent.3: ", &side{elsewhere: "else"}},
		{st{}.Strings(2, "a", "b", "else"), "args.2: [2]: ", &side{elsewhere: "else"}},
		{st{}.Strings(3, "else"), "args.3: [0]: ", &side{elsewhere: "else"}},
		{st{}.StringMap(4, "a", "b", "c", "else"), "args.4: [1]: ", &side{elsewhere: "else"}},
		{st{}.List(1, frame.Struct, st{}.I64(4, 1).Stop()), "args.1: [0]: LockComponent.4: ", &side{elsewhere: "id"}},
	} {
		err := through(t, p, r, c.n, call(c.in)).err
		has(t, err, errElsewhere, c.path)
	}
	// a broken connection is nobody's field
	msg := call(st{}.Strings(2, "a", "b"))
	err := emit(bytes.NewReader(msg[:len(msg)-4]), p, r, out, false).err
	var src *frame.SourceError
	if !errors.As(err, &src) || strings.Contains(err.Error(), "args") {
		t.Errorf("got %v", err)
	}
}

func TestBuildRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		typ  frame.Type
		a    Action
		want string
	}{
		{"name of a number", frame.I64, db, "kind db does not fit a i64"},
		{"id of a string", frame.String, Action{Do: Name, Kind: LockID}, "kind lock_id does not fit a string"},
		{"enum of a string", frame.String, Action{Do: Map, Enum: []EnumPair{{1, 2}}}, "does not fit"},
		{"into a list", frame.List, Action{Do: Into}, "does not fit"},
		{"each of a struct", frame.Struct, Action{Do: Each, Elem: &db}, "does not fit"},
		{"keys of a list", frame.List, Action{Do: Each, Key: &db}, "does not fit"},
		{"filter of a map", frame.Map, Action{Do: Each, Filter: true, Elem: &judge}, "does not fit"},
		{"filter of a string", frame.String, Action{Do: Name, Kind: DB, Filter: true}, "filters what is no list"},
		{"unwrap of a string", frame.String, Action{Do: Name, Kind: DB, Unwrap: true}, "unwraps what is no struct"},
		{"wrapped enum", frame.I32, Action{Do: Map, Wrap: true}, "not both"},
		{"verdict without a name", frame.String, Action{Verdict: true, Drop: true}, "verdict"},
		{"dropped element", frame.List, Action{Do: Each, Elem: &Action{Do: Name, Kind: DB, Drop: true}}, "no field"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := NewBuilder()
			n := b.Node("N")
			b.Field(n, 3, c.typ, c.a)
			b.Field(n, 4, frame.String, db)
			b.Root(n)
			if _, err := b.Build(); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "N: field 3") {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	b := NewBuilder()
	n := b.Node("N")
	b.Field(n, 1, frame.String, db)
	b.Field(n, 65, frame.String, db)
	b.Root(n)
	if _, err := b.Build(); err == nil || !strings.Contains(err.Error(), "at most 64 apart") {
		t.Errorf("got %v", err)
	}
}
