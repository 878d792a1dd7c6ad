package profiles

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hmsgate/frame"
)

// namesResult are methods whose bare result is databases or catalogs.
var namesResult = regexp.MustCompile(`(?i)(database|catalog)s?$`)

// holes lists what the rules leave open in an inventory.
func holes(r *rules, inv *Inventory) (out []string) {
	for _, name := range inv.Order {
		m := inv.Methods[name]
		if r.rows[name] == nil {
			out = append(out, fmt.Sprintf("method %s has no row", name))
		}
		for i := range m.Args {
			if f := &m.Args[i]; suspect(name, f) && !r.arg(name, f).fits(f.Type) {
				out = append(out, fmt.Sprintf("argument %s of %s has no rule", f.Name, name))
			}
		}
		bare := Field{Name: name, Type: m.Returns}
		if m.Returns.holds(frame.String) && namesResult.MatchString(name) {
			if row := r.rows[name]; row == nil || row.reply == nil || !row.reply.fits(bare.Type) {
				out = append(out, fmt.Sprintf("result of %s has no rule", name))
			}
		}
	}
	for _, name := range sortedKeys(inv.Structs) {
		s := inv.Structs[name]
		for i := range s.Fields {
			f := &s.Fields[i]
			if s.Kind == Exception && f.Name == "message" {
				continue // text, by fields.yaml's opening words
			}
			if suspect(name, f) && !r.structs[name][f.Name].fits(f.Type) {
				out = append(out, fmt.Sprintf("field %s.%s has no rule", name, f.Name))
			}
		}
	}
	return out
}

// idle lists rules that nothing in any inventory fits, answers that no row
// names and reasons that no rule gives.
func idle(r *rules, invs []*Inventory) (out []string) {
	fits := func(fields func(*Inventory) []Field, name string, u rule) bool {
		return slices.ContainsFunc(invs, func(inv *Inventory) bool {
			return slices.ContainsFunc(fields(inv), func(f Field) bool { return f.Name == name && u.fits(f.Type) })
		})
	}
	reasons := map[string]bool{}
	check := func(where string, rs map[string]rule, fields func(*Inventory) []Field) {
		for _, name := range sortedKeys(rs) {
			if !fits(fields, name, rs[name]) {
				out = append(out, fmt.Sprintf("%s: nothing fits the rule for %s", where, name))
			}
			reasons[rs[name].ignored] = true
		}
	}
	check("args", r.args, func(inv *Inventory) (all []Field) {
		for _, m := range inv.Methods {
			all = append(all, m.Args...)
		}
		return all
	})
	structOf := func(name string) func(*Inventory) []Field {
		return func(inv *Inventory) []Field {
			if s := inv.Structs[name]; s != nil {
				return s.Fields
			}
			return nil
		}
	}
	for _, name := range sortedKeys(r.structs) {
		check("struct "+name, r.structs[name], structOf(name))
	}
	for _, name := range sortedKeys(r.clashes) {
		c := r.clashes[name]
		for _, f := range []string{c.Latch[0], c.Latch[1], c.Latched, c.Else} {
			if !slices.ContainsFunc(invs, func(inv *Inventory) bool {
				return inv.Structs[name] != nil && inv.Structs[name].Field(f) != nil
			}) {
				out = append(out, fmt.Sprintf("clash %s: no field %s", name, f))
			}
		}
	}
	return append(out, idleRows(r, invs, reasons, check)...)
}

func idleRows(r *rules, invs []*Inventory, reasons map[string]bool,
	check func(string, map[string]rule, func(*Inventory) []Field)) (out []string) {
	answered := map[string]bool{}
	for _, name := range sortedKeys(r.rows) {
		row := r.rows[name]
		answered[row.row.Answer] = true
		if !slices.ContainsFunc(invs, func(inv *Inventory) bool { return inv.Methods[name] != nil }) {
			out = append(out, fmt.Sprintf("row %s: no inventory has the method", name))
			continue
		}
		check("row "+name, row.args, func(inv *Inventory) []Field {
			if m := inv.Methods[name]; m != nil {
				return m.Args
			}
			return nil
		})
		if row.reply != nil && !slices.ContainsFunc(invs, func(inv *Inventory) bool {
			return inv.Methods[name] != nil && row.reply.fits(inv.Methods[name].Returns)
		}) {
			out = append(out, fmt.Sprintf("row %s: the reply's rule fits no result", name))
		}
	}
	for _, a := range Answers() {
		if !answered[a] {
			out = append(out, fmt.Sprintf("answer %s: no row names it", a))
		}
	}
	for _, reason := range sortedKeys(r.reasons) {
		if !reasons[reason] {
			out = append(out, fmt.Sprintf("reason %s: no rule gives it", reason))
		}
	}
	return out
}

// TestComplete: every method of every inventory has a row, everything that
// looks like a name has a rule.
func TestComplete(t *testing.T) {
	r := mustRules(t)
	for _, label := range Labels() {
		for _, hole := range holes(r, mustLoad(t, label)) {
			t.Errorf("%s: %s", label, hole)
		}
	}
}

// TestNothingIdle: every rule, answer and reason is about something.
func TestNothingIdle(t *testing.T) {
	invs, err := all()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range idle(mustRules(t), invs) {
		t.Error(s)
	}
}

// TestCompletenessBites: what is taken out of the rules, or put into them
// wrongly, is found.
func TestCompletenessBites(t *testing.T) {
	invs, err := all()
	if err != nil {
		t.Fatal(err)
	}
	u, err := AutoInventory()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		change func(*rules)
		want   string
	}{
		{"row", func(r *rules) { delete(r.rows, "get_table_req") }, "method get_table_req has no row"},
		{"old row", func(r *rules) { delete(r.rows, "get_indexes") }, "method get_indexes has no row"},
		{"field", func(r *rules) { delete(r.structs["Table"], "dbName") }, "field Table.dbName has no rule"},
		{"id", func(r *rules) { delete(r.structs["UnlockRequest"], "lockid") }, "field UnlockRequest.lockid has no rule"},
		{"ignored", func(r *rules) { delete(r.structs["StorageDescriptor"], "location") },
			"field StorageDescriptor.location has no rule"},
		{"argument", func(r *rules) { delete(r.args, "dbname") }, "argument dbname of get_table has no rule"},
		{"own argument", func(r *rules) { r.rows["drop_database"].args = nil }, "argument name of drop_database has no rule"},
		{"result", func(r *rules) { r.rows["get_all_databases"].reply = nil }, "result of get_all_databases has no rule"},
		{"no such field", func(r *rules) { r.structs["Table"]["dbname"] = r.structs["Table"]["dbName"] },
			"struct Table: nothing fits the rule for dbname"},
		{"no such struct", func(r *rules) { r.structs["Tabel"] = r.structs["Table"] }, "struct Tabel: nothing fits"},
		{"no such method", func(r *rules) { r.rows["get_tabel"] = r.rows["get_table"] }, "row get_tabel: no inventory"},
		{"wrong type", func(r *rules) { r.structs["Table"]["createTime"] = r.structs["Table"]["dbName"] },
			"struct Table: nothing fits the rule for createTime"},
		{"answer", func(r *rules) { r.rows["get_catalogs"].row.Answer = "" }, "answer catalogs: no row names it"},
		{"reason", func(r *rules) { r.reasons["whim"] = "because" }, "reason whim: no rule gives it"},
		{"clash", func(r *rules) { r.clashes["AddDynamicPartitions"] = clash{Else: "db"} }, "clash AddDynamicPartitions"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := clone(t)
			c.change(r)
			found := append(idle(r, invs), holes(r, u)...)
			if !slices.ContainsFunc(found, func(s string) bool { return strings.HasPrefix(s, c.want) }) {
				t.Errorf("got %q, want %q among it", found, c.want)
			}
		})
	}
}

// clone reads the rules anew, so that a test may change them.
func clone(t *testing.T) *rules {
	t.Helper()
	fields, err := data.ReadFile("data/fields.yaml")
	if err != nil {
		t.Fatal(err)
	}
	methods, err := data.ReadFile("data/methods.yaml")
	if err != nil {
		t.Fatal(err)
	}
	r, err := parseRules(fields, methods)
	if err != nil {
		t.Fatal(err)
	}
	r.reasons = maps.Clone(r.reasons)
	return r
}
