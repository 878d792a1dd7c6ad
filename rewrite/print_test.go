package rewrite

import (
	"strings"
	"testing"

	"hmsgate/frame"
)

func TestPrint(t *testing.T) {
	b := NewBuilder()
	table, part := b.Node("Table"), b.Node("Partition")
	b.Field(table, 2, frame.String, Action{Do: Name, Kind: DB, Route: true})
	b.Field(table, 16, frame.Struct, Action{Do: Into, Node: table})
	b.Field(table, 5, frame.I32, Action{Do: Map, Enum: []EnumPair{{3, 1}, {4, 2}}, Renumber: true, To: -1})
	b.Insert(table, 7, []byte{2, 0, 7, 0})
	b.Field(part, 1, frame.String, Action{Latch: true})
	b.Field(part, 3, frame.String, Action{Do: Name, Kind: Cat, When: IfLatched})
	b.Field(part, 3, frame.I64, Action{Do: Name, Kind: LockID})
	b.Field(part, 6, frame.Struct, Action{Repeat: true})
	b.Field(part, 7, frame.String, Action{Wrap: true, Inner: 4})
	b.Closed(part)
	args := b.Node("args")
	b.Field(args, 1, frame.List, Action{Do: Each, Filter: true, Elem: &Action{Do: Into, Node: part}})
	b.Field(args, 2, frame.Map, Action{Do: Each, Key: &Action{Do: Name, Kind: DB}, Elem: &Action{Do: Into, Node: table}})
	b.Field(args, 3, frame.Bool, Action{Drop: true})
	b.Field(args, 4, frame.Struct, Action{Do: Into, Node: part, Unwrap: true})
	r := b.RootAs(args, "other", []byte{12, 0, 1}, []byte{0})
	empty := b.Root(b.Node("nothing"))
	p, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	var s strings.Builder
	if err := p.Write(&s, r); err != nil {
		t.Fatal(err)
	}
	if err := p.Write(&s, empty); err != nil {
		t.Fatal(err)
	}
	want := `root 0: method becomes other, opens with 0c 00 01, closes with 00, body is args
args
  1 list: each (struct: into Partition), filter
  2 map: each (key string: name db; struct: into Table)
  3 bool: keep, drop
  4 struct: into Partition, unwrap
Partition (closed: other fields are dropped)
  1 string: keep, latch
  3 string, if latched: name cat
  3 i64: name lock_id
  6 struct: keep, repeat
  7 string: keep, wrap as 4
Table
  2 string: name db, route
  5 i32: enum 3>1 4>2, renumber -1
  7 any: keep
  16 struct: into Table
  unless 7: insert 02 00 07 00
root 1: body copied unseen
`
	if s.String() != want {
		t.Fatalf("got\n%s\nwant\n%s", s.String(), want)
	}
}
