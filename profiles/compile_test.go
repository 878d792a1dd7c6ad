package profiles

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"hmsgate/rewrite"
)

// TestCompileAllPairs: every version can face every other.
func TestCompileAllPairs(t *testing.T) {
	invs, err := all()
	if err != nil {
		t.Fatal(err)
	}
	u, err := AutoInventory()
	if err != nil {
		t.Fatal(err)
	}
	sides := append(invs, u)
	for i, front := range sides {
		for j, back := range sides {
			if testing.Short() && i != j && front != u && back != u {
				continue
			}
			p, err := Compile(front, back)
			if err != nil {
				t.Fatalf("%s to %s: %v", front.Label, back.Label, err)
			}
			if got := len(p.Methods()); got != len(front.Methods) {
				t.Errorf("%s to %s: %d methods, want %d", front.Label, back.Label, got, len(front.Methods))
			}
		}
	}
}

func TestRows(t *testing.T) {
	for _, c := range []struct {
		method string
		want   Row
	}{
		{"get_table", Row{Class: Read, Where: ByNames, Replay: true, Cache: "table", Meta: 1, NoSuchObject: 2}},
		{"get_all_databases", Row{Class: List, Answer: "merge-names", Replay: true, Meta: 1}},
		{"drop_database",
			Row{Class: Write, Lost: "InvalidOperationException", Meta: 3, NoSuchObject: 1, InvalidOperation: 2}},
		{"create_role", Row{Class: GlobalWrite, Where: NeedsNames, Meta: 1}},
		{"grant_privileges", Row{Class: Write, Where: NeedsNames, Hold: true, Meta: 1}},
		{"lock", Row{Class: Lock, Hold: true, Answer: "lock"}},
		{"shutdown", Row{Class: Local, Where: Nowhere, Answer: "nothing", Oneway: true}},
		// 2.3 has MetaException under 1, later ones NoSuchObject there.
		{"get_partition_names", Row{Class: Read, Replay: true}},
		// 2.3.10 declares three exceptions, 2.3.9 and 3.1.3 none.
		{"get_table_objects_by_name", Row{Class: Read, Replay: true}},
		// No id in 3.1.3, which makes it -1.
		{"create_ischema", Row{Class: Write, Meta: 3}},
		{"get_partitions_by_expr", Row{Class: Read, Expr: true, Meta: 1, NoSuchObject: 2}},
	} {
		t.Run(c.method, func(t *testing.T) {
			got := Auto().Method([]byte(c.method)).Row
			got.Note = ""
			c.want.Method = c.method
			if got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
	if Auto().Method([]byte("get_nothing")) != nil {
		t.Error("a method that no inventory has has a plan")
	}
}

// TestVendorMethod: an inventory of a site's own gives its methods derived
// rows, whose names the argument defaults and struct rules find.
func TestVendorMethod(t *testing.T) {
	inv, err := Parse("vendor", strings.NewReader(`
method vendor_tables(1:dbName string; 2:like string) list<Table> throws 1 MetaException
struct Table 2:dbName string
exception MetaException 1:message string
`))
	if err != nil {
		t.Fatal(err)
	}
	p, err := Compile(inv, inv)
	if err != nil {
		t.Fatal(err)
	}
	want := Row{Method: "vendor_tables", Class: Write, Where: ByNames, Derived: true, Meta: 1}
	if got := p.Method([]byte("vendor_tables")).Row; got != want {
		t.Errorf("got row %+v, want %+v", got, want)
	}
	var text bytes.Buffer
	if err := Explain(&text, p, "vendor_tables"); err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"derived", "1  dbName  string  db\n", "success[].dbName  string  db\n"} {
		if !strings.Contains(text.String(), s) {
			t.Errorf("got\n%s\nwant %q in it", text.String(), s)
		}
	}
}

// TestNoCatalogsNoAt: 2.x takes "@cat#db" literally, so nothing may read a
// name of such a front that way.
func TestNoCatalogsNoAt(t *testing.T) {
	for label, want := range map[string]rewrite.Kind{"apache-2.3.10": rewrite.DB, "apache-3.1.3": rewrite.DBAt} {
		inv := mustLoad(t, label)
		p, err := Compile(inv, inv)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.byName["get_table"].call.edges[0].value.kind; got != want {
			t.Errorf("%s: got kind %s, want %s", label, got, want)
		}
	}
}

// TestRepeat: the columns of partitions are compared with those before, in
// replies alone.
func TestRepeat(t *testing.T) {
	mp := Auto().Method([]byte("get_partitions"))
	var reply, call bytes.Buffer
	if err := Auto().Reply.Write(&reply, mp.ReplyRoot); err != nil {
		t.Fatal(err)
	}
	if err := Auto().Call.Write(&call, Auto().Method([]byte("add_partitions")).CallRoot); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(reply.String(), "repeat"); got != 3 {
		t.Errorf("got %d repeated fields, want 3 in\n%s", got, reply.String())
	}
	if strings.Contains(call.String(), "repeat") {
		t.Errorf("got\n%s\nwant nothing repeated in a call", call.String())
	}
}

func TestRuleErrors(t *testing.T) {
	const fields = "reasons: {why: because}\nstructs: {S: {f: %}}\n"
	for _, c := range []struct{ name, fields, methods, want string }{
		{"kind", strings.Replace(fields, "%", "dbb", 1), "", `struct S: f: "dbb" is no kind`},
		{"reason", strings.Replace(fields, "%", "ignored whim", 1), "", `"whim" is not among the reasons`},
		{"half", strings.Replace(fields, "%", "key", 1), "", `"key" lacks what follows "key"`},
		{"empty", strings.Replace(fields, "%", "''", 1), "", "an empty rule"},
		{"section", "fields: {}", "", "fields.yaml"},
		{"class", "", "m: {class: reed}", `m: class "reed" is none of write, read`},
		{"where", "", "m: {class: read, where: here}", `where "here" is none of names`},
		{"answer", "", "m: {class: read, answer: perhaps}", `answer "perhaps" is none of`},
		{"lost", "", "m: {class: write, lost: MetaException}", `lost "MetaException" is not InvalidOperationException`},
		{"nowhere", "", "m: {class: read, where: nowhere}", "goes nowhere and has no answer"},
		{"replayed write", "", "m: {class: write, replay: true}", "a call of class write is never replayed"},
		{"column", "", "m: {class: read, holds: true}", "field holds not found"},
		{"row twice", "", "m: {class: read}\nm: {class: read}", "already defined"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := parseRules([]byte(c.fields), []byte(c.methods))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q in it", err, c.want)
			}
		})
	}
}

// TestClashNeedsRule: two meanings of one id that need different plans do not
// compile without a rule.
func TestClashNeedsRule(t *testing.T) {
	u, err := AutoInventory()
	if err != nil {
		t.Fatal(err)
	}
	r := clone(t)
	delete(r.clashes, "AddDynamicPartitions")
	_, err = compile(r, u, u, Unsure)
	const want = "AddDynamicPartitions: fields tablename and dbname share id 3"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q in it", err, want)
	}
}

// BenchmarkAuto is what the first Auto of a process costs, parsing included.
func BenchmarkAuto(b *testing.B) {
	for b.Loop() {
		var invs []*Inventory
		for _, label := range Labels() {
			f, err := data.Open(inventoryDir + "/" + label + ".txt")
			if err != nil {
				b.Fatal(err)
			}
			inv, err := Parse(label, f)
			if err != nil {
				b.Fatal(err)
			}
			invs = append(invs, inv)
		}
		u, err := merge(AutoLabel, invs)
		if err != nil {
			b.Fatal(err)
		}
		r, err := builtin()
		if err != nil {
			b.Fatal(err)
		}
		start := time.Now()
		if _, err := compile(r, u, u, Unsure); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(time.Since(start).Microseconds()), "us/compile")
	}
}
