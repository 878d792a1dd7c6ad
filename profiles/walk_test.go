package profiles

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"hmsgate/frame"
	"hmsgate/rewrite"
)

// TestAutoWalksEveryVersion: a message of each method of each inventory with
// every field set, walked with the plans of all versions in one, shows the
// same kinds in the same order as the inventory's own plan lists, and comes
// out as it went in.
func TestAutoWalksEveryVersion(t *testing.T) {
	walked := 0
	for _, label := range Labels() {
		inv := mustLoad(t, label)
		p, err := Compile(inv, inv)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range inv.Order {
			m := inv.Methods[name]
			mp, auto := p.Method([]byte(name)), Auto().Method([]byte(name))
			call := message(inv, name, m.Args)
			walk(t, label+" call "+name, call, Auto().Call, auto.CallRoot, kinds(mp.call))
			gather(t, label+" call "+name, call, auto.CallRoot, kinds(mp.call))
			var result []Field
			if m.Returns != nil {
				result = []Field{{ID: 0, Type: m.Returns}}
			}
			walk(t, label+" reply "+name, message(inv, name, result), Auto().Reply, auto.ReplyRoot, kinds(mp.reply))
			walked++
		}
	}
	if walked < 2900 {
		t.Errorf("%d methods walked, want at least 2900", walked)
	}
}

func walk(t *testing.T, what string, msg []byte, plan *rewrite.Plan, root rewrite.RootID, want []string) {
	t.Helper()
	w := frame.NewWindow(bytes.NewReader(msg), nil)
	w.Start(0, 0)
	var k rewrite.Walker
	var out sink
	names := &recorder{}
	w.Emit(&out, false)
	err := k.Emit(w, plan, root, names)
	if err == nil {
		err = w.End()
	}
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	if !slices.Equal(names.kinds, want) {
		t.Errorf("%s: got kinds %v, want %v", what, names.kinds, want)
	}
	if !bytes.Equal(out.Bytes(), msg) {
		t.Errorf("%s: %d bytes came out of %d, or other ones", what, out.Len(), len(msg))
	}
	w.Release()
}

// gather compares the kinds of routing facts, each once, with the planned
// kinds that are no ids.
func gather(t *testing.T, what string, msg []byte, root rewrite.RootID, planned []string) {
	t.Helper()
	w := frame.NewWindow(bytes.NewReader(msg), nil)
	w.Start(0, 0)
	defer w.Release()
	if _, err := w.Header(true); err != nil {
		t.Fatal(err)
	}
	var k rewrite.Walker
	var f rewrite.Facts
	if err := k.Gather(w, Auto().Call, root, &f); err != nil {
		t.Errorf("%s: %v", what, err)
	}
	var got, want []string
	for _, fact := range f.List() {
		got = append(got, normal(fact.Kind))
	}
	for _, p := range planned {
		if k, _ := rewrite.ParseKind(p); k.Routes() {
			want = append(want, p)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if got, want = slices.Compact(got), slices.Compact(want); !slices.Equal(got, want) {
		t.Errorf("%s: got facts %v, want %v", what, got, want)
	}
}

type sink struct{ bytes.Buffer }

func (s *sink) End() error { return nil }

// recorder keeps all names and notes their kinds.
type recorder struct {
	rewrite.Names // what it does not define may not be called here
	kinds         []string
}

func (r *recorder) Append(dst []byte, k rewrite.Kind, name []byte) ([]byte, error) {
	r.kinds = append(r.kinds, normal(k))
	return append(dst, name...), nil
}

func (r *recorder) ID(k rewrite.Kind, id int64) (int64, error) {
	r.kinds = append(r.kinds, normal(k))
	return id, nil
}

func (r *recorder) Keep(rewrite.Kind, []byte) bool { return true }

func (r *recorder) Strict() bool { return true }

// normal is the kind as all versions see it: 2.x has no @, and the walker
// hands out the head of a write-id list as a table's name.
func normal(k rewrite.Kind) string {
	if k == rewrite.WriteIDs {
		k = rewrite.TableFull
	}
	return strings.TrimSuffix(k.String(), "@")
}

// kinds lists the planned kinds below a shape, in the order of fields; texts
// are no names.
func kinds(sh *shape) []string {
	tr := tree{}
	tr.shape(sh, "", "")
	var out []string
	for _, r := range tr.rows {
		what, _, _ := strings.Cut(r[3], ",")
		if k, ok := rewrite.ParseKind(what); ok && !k.Long() {
			out = append(out, normal(k))
		}
	}
	return out
}

// message is a call with every field set once, structs inside themselves
// empty.
func message(inv *Inventory, method string, fields []Field) []byte {
	g := &generator{inv: inv}
	g.out = frame.AppendHeader(nil, frame.Call, method, 7)
	g.fields(fields)
	return g.out
}

type generator struct {
	inv   *Inventory
	out   []byte
	stack []string
}

func (g *generator) fields(fields []Field) {
	for _, f := range fields {
		g.out = append(g.out, f.Type.Wire)
		g.out = binary.BigEndian.AppendUint16(g.out, uint16(f.ID))
		g.value(f.Type)
	}
	g.out = append(g.out, frame.Stop)
}

func (g *generator) value(t *TypeRef) {
	switch t.Wire {
	case frame.String:
		const s = "d.t:9:9:1:"
		g.out = append(binary.BigEndian.AppendUint32(g.out, uint32(len(s))), s...)
	case frame.Struct:
		if slices.Contains(g.stack, t.Name) {
			g.out = append(g.out, frame.Stop)
			return
		}
		g.stack = append(g.stack, t.Name)
		g.fields(g.inv.Structs[t.Name].Fields)
		g.stack = g.stack[:len(g.stack)-1]
	case frame.List, frame.Set:
		g.out = append(g.out, t.Elem.Wire)
		g.out = binary.BigEndian.AppendUint32(g.out, 1)
		g.value(t.Elem)
	case frame.Map:
		g.out = append(g.out, t.Key.Wire, t.Elem.Wire)
		g.out = binary.BigEndian.AppendUint32(g.out, 1)
		g.value(t.Key)
		g.value(t.Elem)
	default:
		g.out = append(g.out, make([]byte, frame.FixedSize(t.Wire))...)
	}
}

// TestLatch: which field of add_dynamic_partitions is the database depends on
// the wire type of one before it.
func TestLatch(t *testing.T) {
	for _, c := range []struct{ label, want string }{
		{"apache-2.3.10", "db at field 2"},
		{"apache-3.1.3", "db at field 3"},
		{"apache-4.2.0", "db at field 3"},
	} {
		t.Run(c.label, func(t *testing.T) {
			inv := mustLoad(t, c.label)
			msg := message(inv, "add_dynamic_partitions", inv.Methods["add_dynamic_partitions"].Args)
			w := frame.NewWindow(bytes.NewReader(msg), nil)
			w.Start(0, 0)
			if _, err := w.Header(true); err != nil {
				t.Fatal(err)
			}
			var k rewrite.Walker
			var f rewrite.Facts
			if err := k.Gather(w, Auto().Call, Auto().Method([]byte("add_dynamic_partitions")).CallRoot, &f); err != nil {
				t.Fatal(err)
			}
			if len(f.List()) != 1 {
				t.Fatalf("got %d facts, want 1: %v", len(f.List()), f.List())
			}
			off := f.List()[0].Off
			got := fmt.Sprintf("%s at field %d", f.List()[0].Kind, binary.BigEndian.Uint16(msg[off-6:]))
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			w.Release()
		})
	}
}
