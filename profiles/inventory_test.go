package profiles

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hmsgate/frame"
)

// TestRoundTrip: what Write writes of an inventory is its file.
func TestRoundTrip(t *testing.T) {
	if got := len(Labels()); got != 12 {
		t.Fatalf("%d inventories, want 12: %v", got, Labels())
	}
	for _, label := range Labels() {
		t.Run(label, func(t *testing.T) {
			inv, err := Load(label)
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(filepath.Join("data", "inventory", label+".txt"))
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			if err := inv.Write(&got); err != nil {
				t.Fatal(err)
			}
			g, w := strings.Split(got.String(), "\n"), strings.Split(string(want), "\n")
			for i := range max(len(g), len(w)) {
				if i >= len(g) || i >= len(w) || g[i] != w[i] {
					t.Fatalf("line %d: got %q, want %q", i+1, at(g, i), at(w, i))
				}
			}
		})
	}
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(no line)"
}

// TestInventoryFacts pins a few facts of the published interfaces
// (hive_metastore.thrift of each release).
func TestInventoryFacts(t *testing.T) {
	counts := map[string][2]int{ // methods with the base service's 13, structs
		"apache-2.3.9": {167, 140}, "apache-2.3.10": {167, 140}, "apache-3.1.3": {220, 229},
		"apache-4.0.0": {289, 322}, "apache-4.0.1": {293, 328}, "apache-4.1.0": {296, 333},
		"apache-4.2.0": {297, 334}, "apache-master-2026": {300, 337}, "hdp-3.1.0.0-78": {227, 242},
		"hdp-3.1.4.0-315": {229, 244}, "hdp-3.1.5.0-152": {232, 248}, "hdp-3.1.5.178": {233, 251},
	}
	for label, want := range counts {
		inv := mustLoad(t, label)
		if got := [2]int{len(inv.Methods), len(inv.Structs)}; got != want {
			t.Errorf("%s: got %v methods and structs, want %v", label, got, want)
		}
	}
	inv := mustLoad(t, "apache-3.1.3")
	table := inv.Structs["Table"].Field("creationMetadata")
	if table == nil || table.ID != 16 || table.Type.Wire != frame.Struct || table.Req != Optional {
		t.Errorf("Table.creationMetadata: got %+v, want optional struct 16", table)
	}
	typ := inv.Structs["LockComponent"].Field("type")
	if typ == nil || typ.Type.Wire != frame.I32 || typ.Req != Required {
		t.Errorf("LockComponent.type: got %+v, want a required enum", typ)
	}
	if f := mustLoad(t, "apache-2.3.10").Structs["Table"].Field("catName"); f == nil || f.ID != 16 {
		t.Errorf("2.3.10 Table.catName: got %+v, want id 16", f)
	}
	if x := inv.Methods["create_ischema"].Throws[1]; x.ID != -1 || x.Type.Name != "NoSuchObjectException" {
		t.Errorf("create_ischema's second exception: got %+v, want id -1 (it has none in the IDL)", x)
	}
}

func mustLoad(t testing.TB, label string) *Inventory {
	t.Helper()
	inv, err := Load(label)
	if err != nil {
		t.Fatal(err)
	}
	return inv
}

// TestParseErrors: every error says where and what.
func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"unknown word", "\nmethods x() void", "site:2: a line begins with method, base"},
		{"no brackets", "method x void", "site:1: method \"x void\" lacks its arguments"},
		{"bad field", "struct S 1 a string", "site:1: struct S: a field is ID"},
		{"no id", "struct S :a string", "a field is ID"},
		{"big id", "struct S 40000:a string", "a field is ID"},
		{"no type", "struct S 1:a", "field a: \"\" is no type"},
		{"id twice", "struct S 1:a string; 1:b string", "struct S: field id 1 is used twice"},
		{"name twice", "struct S 1:a string; 2:a string", "field a stands twice"},
		{"type unknown", "# here\nstruct S 1:a list<T>", "site:2: type T is defined nowhere"},
		{"map", "struct S 1:a map<string>", "a map is map<K,V>"},
		{"method twice", "method x() void\nmethod x() void", "site:2: method x is defined twice"},
		{"struct twice", "struct S\nenum S", "site:2: type S is defined twice"},
		{"base type", "struct string", "type string is defined twice"},
		{"enum value", "enum E A=x", "enum E: a value is NAME=NUMBER, not \"A=x\""},
		{"enum value twice", "enum E A=1 A=2", "enum E has value A twice"},
		{"oneway result", "method oneway x() bool", "method x is oneway and has a result"},
		{"throws a struct", "struct S\nmethod x() void throws 1 S", "which is no exception"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse("site", strings.NewReader(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q in it", err, c.want)
			}
		})
	}
}

func TestLoadUnknown(t *testing.T) {
	_, err := Load("apache-9")
	const want = `no profile "apache-9": there are apache-2.3.10, `
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q in it", err, want)
	}
}

// TestUnion: several meanings of an id are all kept.
func TestUnion(t *testing.T) {
	u, err := AutoInventory()
	if err != nil {
		t.Fatal(err)
	}
	meanings := func(name string, id int16) (out []string) {
		for _, f := range u.Structs[name].Fields {
			if f.ID == id {
				out = append(out, f.Name+" "+f.Type.String())
			}
		}
		return out
	}
	for _, c := range []struct {
		name string
		id   int16
		want string
	}{
		{"Table", 16, "catName string, creationMetadata CreationMetadata"},
		{"Table", 24, "requiredWriteCapabilities list<string>, requiredReadCapabilities list<string>"},
		{"AddDynamicPartitions", 3, "tablename string, dbname string"},
		{"GetOpenTxnsResponse", 2, "open_txns set<i64>, open_txns list<i64>"},
		{"LongColumnStatsData", 5, "bitVectors binary"},
	} {
		if got := strings.Join(meanings(c.name, c.id), ", "); got != c.want {
			t.Errorf("%s.%d: got %q, want %q", c.name, c.id, got, c.want)
		}
	}
	if u.Methods["get_table"] == nil || u.Methods["get_tables_ext"] == nil || u.Methods["update_table_params"] == nil {
		t.Error("the union lacks a method of 2.3, HDP or the newest inventory")
	}
	if r := u.Methods["drop_table_req"].Returns; r == nil || r.Name != "AsyncOperationResp" {
		t.Errorf("drop_table_req returns %v, want the struct of those that have one", r)
	}
	clashes := 0
	for _, s := range u.Structs {
		seen := map[string]string{}
		for _, f := range s.Fields {
			key := string(rune(f.ID)) + string(rune(f.Type.Wire))
			if old, ok := seen[key]; ok && old != f.Name {
				clashes++
			}
			seen[key] = f.Name
		}
	}
	if clashes != 4 {
		t.Errorf("%d ids with one wire type and several names, want 4", clashes)
	}
}

func TestUnionRefuses(t *testing.T) {
	for _, c := range []struct{ name, a, b, want string }{
		{"oneway", "method oneway x() void", "method x() void", "oneway"},
		{"result", "method x() bool", "method x() i32", "returns i32 here and bool elsewhere"},
		{"enum", "enum E A=1", "enum E A=2", "enum E: A is 2 here and 1 elsewhere"},
		{"kind", "union S", "struct S", "struct S is a union elsewhere"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := Parse("a", strings.NewReader(c.a))
			if err != nil {
				t.Fatal(err)
			}
			b, err := Parse("b", strings.NewReader(c.b))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := merge("ab", []*Inventory{a, b}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q in it", err, c.want)
			}
		})
	}
}
