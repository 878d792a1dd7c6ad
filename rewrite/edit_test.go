package rewrite

import (
	"bytes"
	"strings"
	"testing"

	"hmsgate/frame"
	"hmsgate/internal/wiretest"
)

var text = wiretest.Text

// db and friends are actions that many plans have.
var (
	db    = Action{Do: Name, Kind: DB, Route: true}
	judge = Action{Do: Name, Kind: DB, Verdict: true}
)

var edits = []struct {
	name   string
	plan   func(b *Builder, n NodeID)
	in     st
	out    st
	unseen int
}{
	{"name", func(b *Builder, n NodeID) { b.Field(n, 1, frame.String, db) },
		st{}.String(1, "sales").String(2, "sales"), st{}.String(1, "x_sales").String(2, "sales"), 0},
	{"empty name", func(b *Builder, n NodeID) { b.Field(n, 1, frame.String, db) },
		st{}.String(1, ""), st{}.String(1, "x_"), 0},
	{"negative id", func(b *Builder, n NodeID) { b.Field(n, -1, frame.String, db) },
		st{}.String(-1, "a"), st{}.String(-1, "x_a"), 0},
	{"ids 64 apart", func(b *Builder, n NodeID) { b.Field(n, -1, frame.String, db); b.Field(n, 62, frame.String, db) },
		st{}.String(62, "a").String(63, "a").String(-2, "a").String(-1, "b"),
		st{}.String(62, "x_a").String(63, "a").String(-2, "a").String(-1, "x_b"), 0},
	{"list of names", func(b *Builder, n NodeID) { b.Field(n, 0, frame.List, Action{Do: Each, Elem: &db}) },
		st{}.Strings(0, "a", "b"), st{}.Strings(0, "x_a", "x_b"), 0},
	{"empty list of names", func(b *Builder, n NodeID) { b.Field(n, 0, frame.List, Action{Do: Each, Elem: &db}) },
		st{}.Strings(0), st{}.Strings(0), 0},
	{"set of names", func(b *Builder, n NodeID) { b.Field(n, 0, frame.Set, Action{Do: Each, Elem: &db}) },
		st{}.Field(frame.Set, 0, list(frame.String, strs("a")...)), st{}.Field(frame.Set, 0, list(frame.String, strs("x_a")...)), 0},
	{"map keys", func(b *Builder, n NodeID) { b.Field(n, 0, frame.Map, Action{Do: Each, Key: &db}) },
		st{}.StringMap(0, "a", "1", "b", "2"), st{}.StringMap(0, "x_a", "1", "x_b", "2"), 0},
	{"map values", func(b *Builder, n NodeID) { b.Field(n, 0, frame.Map, Action{Do: Each, Elem: &db}) },
		st{}.StringMap(0, "a", "1"), st{}.StringMap(0, "a", "x_1"), 0},
	{"map both", func(b *Builder, n NodeID) { b.Field(n, 0, frame.Map, Action{Do: Each, Key: &db, Elem: &db}) },
		st{}.StringMap(0, "a", "1"), st{}.StringMap(0, "x_a", "x_1"), 0},
	{"map without types", func(b *Builder, n NodeID) { b.Field(n, 0, frame.Map, Action{Do: Each, Key: &db, Elem: &db}) },
		st{}.Field(frame.Map, 0, dict(0, 0)), st{}.Field(frame.Map, 0, dict(0, 0)), 0},
	{"list of lists of names", func(b *Builder, n NodeID) {
		b.Field(n, 0, frame.List, Action{Do: Each, Elem: &Action{Do: Each, Type: frame.List, Elem: &db}})
	},
		st{}.List(0, frame.List, list(frame.String, strs("a", "b")...), list(frame.String)),
		st{}.List(0, frame.List, list(frame.String, strs("x_a", "x_b")...), list(frame.String)), 0},
	{"map of lists of structs", func(b *Builder, n NodeID) {
		in := b.Node("In")
		b.Field(in, 3, frame.String, db)
		b.Field(n, 0, frame.Map, Action{Do: Each, Elem: &Action{Do: Each, Type: frame.List, Elem: &Action{Do: Into, Node: in}}})
	},
		st{}.Field(frame.Map, 0, dict(frame.I32, frame.List, []byte{0, 0, 0, 1}, list(frame.Struct, st{}.String(3, "a").Stop()))),
		st{}.Field(frame.Map, 0, dict(frame.I32, frame.List, []byte{0, 0, 0, 1}, list(frame.Struct, st{}.String(3, "x_a").Stop()))), 0},
	{"head of a write-id list", func(b *Builder, n NodeID) { b.Field(n, 1, frame.String, Action{Do: Name, Kind: WriteIDs}) },
		st{}.String(1, "db.t:5:3:3,4:"), st{}.String(1, "x_db.t:5:3:3,4:"), 0},
	{"write-id list without numbers", func(b *Builder, n NodeID) { b.Field(n, 1, frame.String, Action{Do: Name, Kind: WriteIDs}) },
		st{}.String(1, "db.t"), st{}.String(1, "x_db.t"), 0},
	{"write-id lists of a query", func(b *Builder, n NodeID) { b.Field(n, 1, frame.String, Action{Do: Name, Kind: WriteIDsMulti}) },
		st{}.String(1, "7$db.t:5::"), st{}.String(1, "x_7$db.t:5::"), 0},
	{"id", func(b *Builder, n NodeID) { b.Field(n, 1, frame.I64, Action{Do: Name, Kind: LockID}) },
		st{}.I64(1, 3).I64(2, 3), st{}.I64(1, 3^1<<48).I64(2, 3), 0},
	{"list of ids", func(b *Builder, n NodeID) {
		b.Field(n, 1, frame.List, Action{Do: Each, Elem: &Action{Do: Name, Kind: TxnID}})
	},
		st{}.List(1, frame.I64, make([]byte, 8), make([]byte, 8)),
		st{}.List(1, frame.I64, []byte{0, 1, 0, 0, 0, 0, 0, 0}, []byte{0, 1, 0, 0, 0, 0, 0, 0}), 0},
	{"enum", func(b *Builder, n NodeID) {
		b.Field(n, 1, frame.I32, Action{Do: Map, Enum: []EnumPair{{3, 1}, {-1, 7}}})
		b.Field(n, 2, frame.I32, Action{Do: Map, Enum: []EnumPair{{3, 2}}})
		b.Field(n, 3, frame.I32, Action{Do: Map, Enum: []EnumPair{{3, 2}}})
	},
		st{}.I32(1, -1).I32(2, 3).I32(3, 4), st{}.I32(1, 7).I32(2, 2).I32(3, 4), 0},
	{"list of enums", func(b *Builder, n NodeID) {
		b.Field(n, 1, frame.List, Action{Do: Each, Elem: &Action{Do: Map, Enum: []EnumPair{{3, 1}}}})
	},
		st{}.List(1, frame.I32, []byte{0, 0, 0, 3}, []byte{0, 0, 0, 4}), st{}.List(1, frame.I32, []byte{0, 0, 0, 1}, []byte{0, 0, 0, 4}), 0},
	{"drop", func(b *Builder, n NodeID) {
		b.Field(n, 1, frame.String, Action{Drop: true})
		b.Field(n, 3, frame.List, Action{Drop: true})
	},
		st{}.String(1, "gone").I32(2, 2).Strings(3, "a", "b").Bool(4, true), st{}.I32(2, 2).Bool(4, true), 0},
	{"renumber", func(b *Builder, n NodeID) {
		b.Field(n, 16, frame.String, Action{Do: Name, Kind: Cat, Renumber: true, To: 17})
		b.Field(n, 2, frame.I32, Action{Renumber: true, To: -3})
	},
		st{}.I32(2, 1).String(16, "hive"), st{}.I32(-3, 1).String(17, "x_hive"), 0},
	{"insert where absent", func(b *Builder, n NodeID) { b.Insert(n, 7, st{}.Bool(7, false)) },
		st{}.I32(1, 1), st{}.I32(1, 1).Bool(7, false), 0},
	{"no insert where present", func(b *Builder, n NodeID) { b.Insert(n, 7, st{}.Bool(7, false)) },
		st{}.Bool(7, true).I32(1, 1), st{}.Bool(7, true).I32(1, 1), 0},
	{"insert beside edits", func(b *Builder, n NodeID) {
		b.Field(n, 1, frame.String, db)
		b.Insert(n, 7, st{}.Bool(7, false))
		b.Insert(n, 1, st{}.String(1, "default"))
	},
		st{}.String(1, "a"), st{}.String(1, "x_a").Bool(7, false), 0},
	{"overwrite", func(b *Builder, n NodeID) { // drop what is there, insert the constant
		b.Field(n, 7, frame.Bool, Action{Drop: true})
		b.Insert(n, 30, st{}.Bool(7, false))
		b.Field(n, 40, frame.I32, Action{Drop: true})
	},
		st{}.Bool(7, true), st{}.Bool(7, false), 0},
	{"wrap", func(b *Builder, n NodeID) {
		b.Field(n, 1, frame.String, Action{Do: Name, Kind: DB, Wrap: true, Inner: 4})
		b.Field(n, 2, frame.List, Action{Wrap: true, Inner: 1, Renumber: true, To: 9})
	},
		st{}.String(1, "a").Strings(2, "b"),
		st{}.Struct(1, st{}.String(4, "x_a").Stop()).Struct(9, st{}.Strings(1, "b").Stop()), 0},
	{"unwrap", func(b *Builder, n NodeID) {
		in := b.Node("Request")
		b.Field(in, 2, frame.String, db)
		b.Field(n, 1, frame.Struct, Action{Do: Into, Node: in, Unwrap: true})
	},
		st{}.Struct(1, st{}.String(2, "a").I32(3, 3).Stop()).I32(4, 4), st{}.String(2, "x_a").I32(3, 3).I32(4, 4), 0},
	{"unwrap a closed node, with an insert", func(b *Builder, n NodeID) {
		in := b.Node("Request")
		b.Field(in, 2, frame.String, Action{Do: Name, Kind: DB, Renumber: true, To: 1})
		b.Field(in, 3, frame.I32, Action{})
		b.Insert(in, 5, st{}.Bool(9, true))
		b.Closed(in)
		b.Field(n, 1, frame.Struct, Action{Do: Into, Node: in, Unwrap: true})
	},
		st{}.Struct(1, st{}.String(1, "lost").String(2, "a").I32(3, 3).Strings(4, "lost").Stop()),
		st{}.String(1, "x_a").I32(3, 3).Bool(9, true), 0},
	{"unwrap twice", func(b *Builder, n NodeID) {
		in, inner := b.Node("Request"), b.Node("Inner")
		b.Field(inner, 5, frame.String, db)
		b.Field(in, 2, frame.Struct, Action{Do: Into, Node: inner, Unwrap: true})
		b.Field(n, 1, frame.Struct, Action{Do: Into, Node: in, Unwrap: true})
	},
		st{}.Struct(1, st{}.Struct(2, st{}.String(5, "a").Stop()).I32(3, 3).Stop()), st{}.String(5, "x_a").I32(3, 3), 0},
	{"closed node", func(b *Builder, n NodeID) { b.Field(n, 3, frame.I32, Action{}); b.Closed(n) },
		st{}.I32(1, 1).I32(3, 3).Struct(4, st{}.I32(3, 1).Stop()), st{}.I32(3, 3), 0},
	{"closed node without fields", func(b *Builder, n NodeID) { b.Closed(n) },
		st{}.I32(1, 1).Strings(3, "a"), st{}, 0},
	{"closed node, other type", func(b *Builder, n NodeID) { b.Field(n, 3, frame.I32, Action{}); b.Closed(n) },
		st{}.String(3, "x"), st{}, 1},
	{"filter names", func(b *Builder, n NodeID) { b.Field(n, 0, frame.List, Action{Do: Each, Filter: true, Elem: &judge}) },
		st{}.Strings(0, "a", "hidden", "b", "hidden").I32(1, 1), st{}.Strings(0, "x_a", "x_b").I32(1, 1), 0},
	{"filter, nothing left", func(b *Builder, n NodeID) { b.Field(n, 0, frame.List, Action{Do: Each, Filter: true, Elem: &judge}) },
		st{}.Strings(0, "hidden"), st{}.Strings(0), 0},
	{"filter an empty list", func(b *Builder, n NodeID) { b.Field(n, 0, frame.List, Action{Do: Each, Filter: true, Elem: &judge}) },
		st{}.Strings(0), st{}.Strings(0), 0},
	{"filter structs, lists inside", func(b *Builder, n NodeID) {
		in := b.Node("TableMeta")
		b.Field(in, 1, frame.String, judge)
		b.Field(in, 2, frame.List, Action{Do: Each, Filter: true, Elem: &judge})
		b.Field(n, 0, frame.List, Action{Do: Each, Filter: true, Elem: &Action{Do: Into, Node: in}})
	},
		st{}.List(0, frame.Struct,
			st{}.String(1, "a").Strings(2, "b", "hidden").Stop(),
			st{}.String(1, "hidden").Strings(2, "b").Stop(), // the inner list must not bring it back
			st{}.Strings(2, "hidden").String(1, "c").Stop()),
		st{}.List(0, frame.Struct,
			st{}.String(1, "x_a").Strings(2, "x_b").Stop(),
			st{}.Strings(2).String(1, "x_c").Stop()), 0},
	{"filter inside wrap", func(b *Builder, n NodeID) {
		b.Field(n, 1, frame.List, Action{Do: Each, Filter: true, Elem: &judge, Wrap: true, Inner: 1})
	},
		st{}.Strings(1, "hidden", "a"), st{}.Struct(1, st{}.Strings(1, "x_a").Stop()), 0},
	{"drop inside filter", func(b *Builder, n NodeID) {
		in := b.Node("TableMeta")
		b.Field(in, 1, frame.String, judge)
		b.Field(in, 2, frame.String, Action{Drop: true})
		b.Insert(in, 3, st{}.I32(3, 9))
		b.Field(n, 0, frame.List, Action{Do: Each, Filter: true, Elem: &Action{Do: Into, Node: in}})
	},
		st{}.List(0, frame.Struct, st{}.String(2, "z").String(1, "hidden").Stop(), st{}.String(2, "z").String(1, "a").Stop()),
		st{}.List(0, frame.Struct, st{}.String(1, "x_a").I32(3, 9).Stop()), 0},
	{"by wire type", func(b *Builder, n NodeID) {
		b.Field(n, 3, frame.String, db)
		b.Field(n, 3, frame.I64, Action{Do: Name, Kind: LockID})
		b.Field(n, 3, frame.List, Action{Do: Each, Elem: &db})
		b.Field(n, 3, frame.Bool, Action{})
		in := b.Node("In")
		b.Field(in, 3, frame.String, db)
		b.Field(n, 3, frame.Struct, Action{Do: Into, Node: in})
		b.Field(n, 4, frame.Struct, Action{Do: Into, Node: n})
	},
		st{}.Struct(4, st{}.String(3, "a").Struct(4, st{}.I64(3, 0).Struct(4, st{}.Strings(3, "b").Struct(4,
			st{}.Bool(3, true).Struct(4, st{}.I32(3, 3).Stop()).Stop()).Stop()).Stop()).Stop()).Struct(3, st{}.String(3, "c").Stop()),
		st{}.Struct(4, st{}.String(3, "x_a").Struct(4, st{}.I64(3, 1<<48).Struct(4, st{}.Strings(3, "x_b").Struct(4,
			st{}.Bool(3, true).Struct(4, st{}.I32(3, 3).Stop()).Stop()).Stop()).Stop()).Stop()).Struct(3, st{}.String(3, "x_c").Stop()), 1},
	{"latched", func(b *Builder, n NodeID) {
		b.Field(n, 2, frame.I64, Action{Latch: true})
		b.Field(n, 3, frame.String, Action{Do: Name, Kind: DB, When: IfLatched})
		b.Field(n, 4, frame.String, Action{Do: Name, Kind: DB, When: UnlessLatched})
	},
		st{}.I64(2, 1).String(3, "a").String(4, "a"), st{}.I64(2, 1).String(3, "x_a").String(4, "a"), 1},
	{"not latched", func(b *Builder, n NodeID) {
		b.Field(n, 2, frame.I64, Action{Latch: true})
		b.Field(n, 3, frame.String, Action{When: UnlessLatched})
		b.Field(n, 3, frame.String, Action{Do: Name, Kind: DB, When: IfLatched})
		b.Field(n, 4, frame.String, Action{Do: Name, Kind: DB, When: UnlessLatched})
	},
		st{}.I32(2, 1).String(3, "a").String(4, "a"), st{}.I32(2, 1).String(3, "a").String(4, "x_a"), 1},
	{"opaque kinds pass", func(b *Builder, n NodeID) {
		b.Field(n, 1, frame.String, db)
		b.Field(n, 2, frame.String, Action{Do: Name, Kind: SQL})
		b.Field(n, 3, frame.Map, Action{Do: Name, Kind: Params})
		b.Field(n, 4, frame.String, Action{Do: Name, Kind: JSON, Renumber: true, To: 5})
	},
		st{}.String(2, "select").StringMap(3, "a", "b").String(4, "{}"), st{}.String(2, "select").StringMap(3, "a", "b").String(5, "{}"), 0},
}

func TestEdits(t *testing.T) {
	for _, c := range edits {
		t.Run(c.name, func(t *testing.T) {
			p, r := build(t, c.plan)
			for _, pad := range []int{0, 5000, 300 << 10} { // small window, big window, more than one
				in, out := c.in, c.out
				if pad > 0 {
					long := string(bytes.Repeat([]byte{'-'}, pad))
					in, out = append(st{}.String(99, long), in...), append(st{}.String(99, long), out...)
					if strings.HasPrefix(c.name, "closed") {
						out = c.out // dropped like all that is not planned
					}
				}
				got := through(t, p, r, &side{add: "x_", id: 1 << 48, hide: []string{"hidden"}}, call(in))
				if got.err != nil {
					t.Fatal(got.err)
				}
				if want := call(out); !bytes.Equal(got.out, want) {
					t.Fatalf("padded by %d:\ngot  %q\nwant %q", pad, got.out[max(0, len(got.out)-200):], want[max(0, len(want)-200):])
				}
				if got.unseen != c.unseen {
					t.Errorf("unseen %d, want %d", got.unseen, c.unseen)
				}
			}
		})
	}
}

// Without names only shapes change.
func TestEditsWithoutNames(t *testing.T) {
	p, r := build(t, func(b *Builder, n NodeID) {
		b.Field(n, 1, frame.String, db)
		b.Field(n, 2, frame.String, Action{Do: Name, Kind: DB, Renumber: true, To: 3})
		b.Field(n, 4, frame.List, Action{Do: Each, Filter: true, Elem: &judge})
		b.Field(n, 5, frame.I64, Action{Do: Name, Kind: LockID})
	})
	got := through(t, p, r, nil, call(st{}.String(1, "a").String(2, "b").Strings(4, "hidden").I64(5, 1)))
	if want := call(st{}.String(1, "a").String(3, "b").Strings(4, "hidden").I64(5, 1)); got.err != nil || !bytes.Equal(got.out, want) {
		t.Fatalf("err %v\ngot  %s\nwant %s", got.err, clip(got.out), clip(want))
	}
	if p.Plain(r) {
		t.Error("a renumbered field is not plain")
	}
}

func TestRoots(t *testing.T) {
	b := NewBuilder()
	n, none := b.Node("args"), b.Node("nothing")
	b.Field(n, 1, frame.String, db)
	long := "alter_table_with_environment_context_of_another_name"
	renamed := b.RootAs(n, long, nil, nil)
	around := b.RootAs(n, "", []byte{frame.Struct, 0, 1}, []byte{frame.Stop})
	plain, empty := b.Root(n), b.Root(none)
	p, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	body := st{}.String(1, "a").I32(2, 2)
	edited := st{}.String(1, "x_a").I32(2, 2)
	old := append([]byte{0, 0, 0, 1, 'm', 1, 0, 0, 0, 5}, body.Stop()...)
	for _, c := range []struct {
		name     string
		root     RootID
		in, want []byte
		plain    bool
	}{
		{"method renamed", renamed, call(body), wiretest.Call(long, 5, edited.Stop()), false},
		{"literals around", around, call(body), call(st{}.Struct(1, edited.Stop())), false},
		{"old-style header", plain, old, call(edited), true},
		{"old-style header, renamed", renamed, old, wiretest.Call(long, 5, edited.Stop()), false},
		{"nothing planned", empty, call(body), call(body), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := through(t, p, c.root, &side{add: "x_"}, c.in)
			if got.err != nil || !bytes.Equal(got.out, c.want) {
				t.Fatalf("err %v\ngot  %q\nwant %q", got.err, got.out, c.want)
			}
			if p.Plain(c.root) != c.plain || p.Empty(c.root) != (c.root == empty) {
				t.Errorf("plain %v, empty %v", p.Plain(c.root), p.Empty(c.root))
			}
		})
	}
}
