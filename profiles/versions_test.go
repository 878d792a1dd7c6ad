package profiles

import (
	"bytes"
	"slices"
	"testing"

	"hmsgate/frame"
	"hmsgate/rewrite"
)

// TestRepliesKeepTheirNames: what the gateway plans in the replies of a known
// version is what that version's own interface has, whatever else is made on
// the way (bridges share its structs).
func TestRepliesKeepTheirNames(t *testing.T) {
	u, err := AutoInventory()
	if err != nil {
		t.Fatal(err)
	}
	for _, label := range Labels() {
		inv := mustLoad(t, label)
		own, err := Compile(inv, inv)
		if err != nil {
			t.Fatal(err)
		}
		for r := Unsure; r < readers; r++ {
			p, err := CompileFor(u, inv, r)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range inv.Order {
				got, want := kinds(p.byName[name].reply), kinds(own.byName[name].reply)
				if !slices.Equal(got, want) {
					t.Errorf("%s, client %s, reply of %s: got kinds %v, want %v", label, r, name, got, want)
				}
			}
		}
	}
}

// TestDatabaseHasAType: a client of 4.x gets a database's type from a backend
// that knows none, every other client what the backend sent. HiveServer2 4.0.1
// reads the type whether or not it is there: DESCRIBE DATABASE at a 3.1.3
// metastore ended in a NullPointerException (DescDatabaseOperation.execute).
func TestDatabaseHasAType(t *testing.T) {
	u, err := AutoInventory()
	if err != nil {
		t.Fatal(err)
	}
	native := []byte("\x08\x00\x0b\x00\x00\x00\x01")
	for _, label := range Labels() {
		inv := mustLoad(t, label)
		sent := message(inv, "get_database", []Field{{Type: inv.Methods["get_database"].Returns}})
		for reader := Unsure; reader < readers; reader++ {
			p, err := CompileFor(u, inv, reader)
			if err != nil {
				t.Fatal(err)
			}
			want := sent
			if reader == Since4 && GenerationOf(label) != Gen4 {
				want = slices.Insert(slices.Clone(sent), len(sent)-2, native...)
			}
			if got := rewritten(t, sent, p.Reply, p.Method([]byte("get_database")).ReplyRoot); !bytes.Equal(got, want) {
				t.Errorf("%s, client %s: got\n%x, want\n%x", label, reader, got, want)
			}
		}
	}
}

// rewritten is what a plan makes of a message in which all names stay.
func rewritten(t *testing.T, msg []byte, plan *rewrite.Plan, root rewrite.RootID) []byte {
	t.Helper()
	w := frame.NewWindow(bytes.NewReader(msg), nil)
	w.Start(0, 0)
	defer w.Release()
	var k rewrite.Walker
	var out sink
	w.Emit(&out, false)
	err := k.Emit(w, plan, root, &recorder{})
	if err == nil {
		err = w.End()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestGuessedReaderSeesFailure: an exception about whose id versions disagree
// is read as success by a client of the other version. 4.x and HDP have it
// under 2, 3.1.3 under -1 (create_ischema's throws); 3 means the same to all.
func TestGuessedReaderSeesFailure(t *testing.T) {
	u, err := AutoInventory()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		back   string
		id     int16
		reader Reader
		want   int16
	}{
		{"apache-4.1.0", 2, Unsure, 3}, {"apache-4.1.0", 2, Since3, 3}, {"apache-4.1.0", 2, Since4, 2},
		{"apache-3.1.3", -1, Unsure, -1}, {"apache-3.1.3", -1, Since3, -1}, {"apache-3.1.3", -1, Since4, 2},
		{"hdp-3.1.5.0-152", 2, Since3, 3},
	} {
		inv := mustLoad(t, c.back)
		p, err := CompileFor(u, inv, c.reader)
		if err != nil {
			t.Fatal(err)
		}
		reply := func(id int16) []byte {
			b := frame.AppendHeader(nil, frame.Reply, "create_ischema", 7)
			return append(append(b, frame.Struct, byte(id>>8), byte(id)), "\x0b\x00\x01\x00\x00\x00\x01x\x00\x00"...)
		}
		if got := rewritten(t, reply(c.id), p.Reply, p.Method([]byte("create_ischema")).ReplyRoot); !bytes.Equal(got, reply(c.want)) {
			t.Errorf("%s, client %s: got\n%x, want\n%x", c.back, c.reader, got, reply(c.want))
		}
	}
}
