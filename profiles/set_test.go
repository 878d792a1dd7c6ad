package profiles

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func mustImport(t testing.TB, label string) *Inventory {
	t.Helper()
	inv, err := Import(label, filepath.Join("testdata", "idl", "cdp.thrift"))
	if err != nil {
		t.Fatal(err)
	}
	return inv
}

func mustSet(t testing.TB, invs ...*Inventory) *Set {
	t.Helper()
	s, err := NewSet(invs...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSetDerives: a method that only an import has is known on a port of any
// version, its names by what they are called.
func TestSetDerives(t *testing.T) {
	s := mustSet(t, mustImport(t, "cdp-3.1.3000.7"))
	if got := s.Labels(); !slices.Equal(got, append(Labels(), "cdp-3.1.3000.7")) {
		t.Errorf("labels %v", got)
	}
	for _, pair := range [][2]string{{"auto", "auto"}, {"", "cdp-3.1.3000.7"}, {"cdp-3.1.3000.7", "auto"},
		{"cdp-3.1.3000.7", "cdp-3.1.3000.7"}} {
		p, err := s.Plans(pair[0], pair[1])
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := Explain(&out, p, "create_tag"); err != nil {
			t.Fatal(err)
		}
		const want = `  class write, where names, derived: no row in the rules
  refused with 1:MetaException -1:NoSuchObjectException
`
		if !strings.Contains(out.String(), want) || !strings.Contains(out.String(), "1.1  req.catName  string  cat\n    1.2  req.dbName   string  db@\n") {
			t.Errorf("%v: got %s", pair, out.String())
		}
	}
	if p := Auto(); p.Method([]byte("create_tag")) != nil {
		t.Error("an import of one set is known to others")
	}
	u, err := s.Load(AutoLabel)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := s.Plans(AutoLabel, AutoLabel); err != nil || p.Method([]byte("create_tag")).Gens != Gen3 || u.Methods["create_tag"] == nil {
		t.Errorf("create_tag is of other generations than its inventory (%v)", err)
	}
}

// TestSetBridges: an imported backend is served like any other one that lacks
// what the client calls.
func TestSetBridges(t *testing.T) {
	s := mustSet(t, mustImport(t, "cdp-3.1.3000"))
	p, err := s.Plans(AutoLabel, "cdp-3.1.3000")
	if err != nil {
		t.Fatal(err)
	}
	m := p.Method([]byte("get_table_req"))
	if !m.Missing || m.Bridge == nil || m.Bridge.Candidates[0].Call != "get_table" {
		t.Errorf("get_table_req is %s, want a bridge to get_table", m.outcome())
	}
	if m := p.Method([]byte("get_partitions_by_expr")); !m.Missing {
		t.Errorf("get_partitions_by_expr is %s", m.outcome())
	}
}

func TestSetNotes(t *testing.T) {
	s := mustSet(t, mustImport(t, "cdp-3.1.3000"))
	want := []string{"cdp-3.1.3000: Table.vendorDbName looks like a name, has no rule and passes as it is"}
	if !slices.Equal(s.Notes(), want) {
		t.Errorf("got %q, want %q", s.Notes(), want)
	}
}

// TestSetClash: an import that a port of any version could not tell apart is
// left out there, said so, and usable by its name.
func TestSetClash(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"field", "struct Table 1:tableName string; 2:catName string\nmethod own(1:t Table) void",
			"fields dbName and catName share id 2 and their wire type"},
		{"result", "method get_all_databases() i32\nmethod own() void", "returns i32 here and list<string> elsewhere"},
		{"enum", "enum LockType EXCLUSIVE=1\nmethod own(1:t LockType) void", "enum LockType: EXCLUSIVE is 1 here and 3 elsewhere"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inv, err := Parse("acme-4.1", strings.NewReader(c.text))
			if err != nil {
				t.Fatal(err)
			}
			s := mustSet(t, inv)
			if len(s.Notes()) == 0 || !strings.Contains(s.Notes()[0], c.want) || !strings.Contains(s.Notes()[0], "need a listener") {
				t.Errorf("got %q, want %q in it", s.Notes(), c.want)
			}
			if p, err := s.Plans(AutoLabel, AutoLabel); err != nil || p != Auto() {
				t.Errorf("plans of any version are not the built-in ones (%v)", err)
			}
			if p, err := s.Plans("acme-4.1", "acme-4.1"); err != nil || p.Method([]byte("own")) == nil {
				t.Errorf("the import cannot be used by its name (%v)", err)
			}
		})
	}
}

func TestSetRefuses(t *testing.T) {
	a := mustImport(t, "cdp-3.1.3000")
	for _, c := range []struct {
		name, label, want string
	}{
		{"built in", "apache-3.1.3", `"apache-3.1.3" is built in`},
		{"twice", "cdp-3.1.3000", `"cdp-3.1.3000" is imported twice`},
		{"no version", "cdp", `"cdp" is not VENDOR-VERSION`},
		{"another generation", "cdp-7.1.9", `"cdp-7.1.9" is not VENDOR-VERSION with the version of the Hive`},
		{"auto", "auto", `"auto" is not VENDOR-VERSION`},
		{"number alone", "cdp-31.1", "2, 3 or 4 first"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := *a
			b.Label = c.label
			if _, err := NewSet(a, &b); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q in it", err, c.want)
			}
		})
	}
	s := mustSet(t, a)
	if _, err := s.Load("cdp-9"); err == nil || !strings.HasSuffix(err.Error(), "hdp-3.1.5.178, cdp-3.1.3000") {
		t.Errorf("got %v, want all labels named", err)
	}
}
