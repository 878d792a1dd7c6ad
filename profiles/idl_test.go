package profiles

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestImport: a small interface with all that the notation has, in the form of
// the built-in inventories.
func TestImport(t *testing.T) {
	inv, err := Import("cdp-3.1.3000", filepath.Join("testdata", "idl", "cdp.thrift"))
	if err != nil {
		t.Fatal(err)
	}
	got := inventoryText(t, inv)
	golden := filepath.Join("testdata", "idl", "cdp.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if _, err := Parse("again", strings.NewReader(got)); err != nil {
		t.Errorf("what Write writes of it is no inventory: %v", err)
	}
}

func inventoryText(t testing.TB, inv *Inventory) string {
	t.Helper()
	var b bytes.Buffer
	if err := inv.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// files are the files of a test, by their paths.
type files map[string]string

func (f files) read(path string) ([]byte, error) {
	if s, ok := f[path]; ok {
		return []byte(s), nil
	}
	return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
}

// TestImportErrors: every error says where and what.
func TestImportErrors(t *testing.T) {
	const service = "service S { void x() }\n"
	for _, c := range []struct{ name, text, want string }{
		{"syntax", service + "struct {", "a.thrift:2: "},
		{"no service", "struct A {}", "a.thrift: the file has no service"},
		{"two services", service + "service T {}", "a.thrift:2: service T: there is S already, on line 1"},
		{"missing include", "\ninclude \"share/b.thrift\"\n" + service,
			`a.thrift:2: include "share/b.thrift": there is no file share/b.thrift (paths are relative`},
		{"circle", "include \"c.thrift\"\n" + service, `a.thrift:1: include "c.thrift": c.thrift:2: include "a.thrift": the files include each other`},
		{"syntax below", "include \"worse.thrift\"\n" + service, `a.thrift:1: include "worse.thrift": worse.thrift:1: `},
		{"itself", "include \"a.thrift\"\n" + service, `a.thrift:1: include "a.thrift": the files include each other`},
		{"error below", "include \"bad.thrift\"\n" + service, "bad.thrift:1: type Y is defined nowhere"},
		{"same word", "include \"e.thrift\"\ninclude \"d/e.thrift\"\n" + service, "a.thrift:2: include \"d/e.thrift\": another include is called e"},
		{"type", "struct A { 1: B b }\n" + service, "a.thrift:1: type B is defined nowhere"},
		{"type of an include", "include \"e.thrift\"\nstruct A {\n1: e.F b }\n" + service, "a.thrift:3: type e.F is defined nowhere"},
		{"no include of that name", "struct A { 1: e.E b }\n" + service, "a.thrift:1: type e.E is defined nowhere"},
		{"a service is no type", "struct A { 1: S b }\n" + service, "type S is defined nowhere"},
		{"type twice", "struct A {}\nenum A {}\n" + service, "a.thrift:2: A is defined twice"},
		{"type in two files", "include \"e.thrift\"\nstruct E {}\n" + service, "a.thrift:2: type E is defined in e.thrift too"},
		{"typedef of itself", "typedef list<A> A\nstruct B { 1: A a }\n" + service, "a typedef means itself"},
		{"long type", "struct B { 1: " + strings.Repeat("list<", 64) + "i32" + strings.Repeat(">", 64) + " a }\n" + service,
			"a.thrift:1: a type has more than 64 parts"},
		{"typedef of itself twice", "typedef map<A,A> A\nstruct B { 1: A a }\n" + service, "a.thrift:1: a type has more than 64 parts"},
		{"typedefs of typedefs", doubled(60) + service, "a type has more than 64 parts"},
		{"deep constant", "struct B { 1: list<i32> a = " + strings.Repeat("[", 40) + strings.Repeat("]", 40) + " }\n" + service,
			"field a: its default value is more than 32 deep"},
		{"id twice", "struct A {\n 1: string a\n 1: string b }\n" + service, "a.thrift:3: field b: id 1 is used twice"},
		{"name twice", "struct A { 1: string a 2: string a }\n" + service, "a.thrift:1: field a stands twice"},
		{"id zero", "struct A { 0: string a }\n" + service, "field a: id 0 is not between 1 and 32767"},
		{"negative id", "struct A { -3: string a }\n" + service, "field a: id -3 is not between"},
		{"big id", "struct A { 32768: string a }\n" + service, "field a: id 32768 is not between"},
		{"dotted name", "struct A.B { 1: string a }\n" + service, `"A.B" is no name of a type`},
		{"dotted field", "struct A { 1: string a.b }\n" + service, `"a.b" is no name of a field`},
		{"enum value", "enum E {\n A = 3000000000 }\n" + service, "a.thrift:2: enum E: A is 3000000000, which is no i32"},
		{"enum value after the last", "enum E {\n A = 2147483647,\n B }\n" + service, "a.thrift:3: enum E: B is 2147483648"},
		{"enum twice", "enum E {\n A, A }\n" + service, "enum E has value A twice"},
		{"method twice", "service S {\n void x()\n void x() }", "a.thrift:3: method \"x\" is defined twice"},
		{"method of the base twice", "include \"e.thrift\"\nservice S extends e.Base { void x() }", "e.thrift:2: method \"x\" is defined twice"},
		{"extends nothing", "service S extends e.T {}", "a.thrift:1: service S extends e.T, which is no service"},
		{"throws a struct", "struct A {}\nservice S { void x() throws (1: A a) }", "method x throws A, which is no exception"},
		{"throws a number", "service S { void x() throws (1: i32 a) }", "method x throws i32, which is no exception"},
		{"oneway result", "service S { oneway i32 x() }", "method x is oneway and has a result"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := files{"a.thrift": c.text,
				"c.thrift":     "\ninclude \"a.thrift\"",
				"worse.thrift": "struct",
				"bad.thrift":   "struct X { 1: Y x }",
				"e.thrift":     "struct E {}\nservice Base { void x() }",
				"d/e.thrift":   ""}
			_, err := importIDL("cdp", "a.thrift", f.read)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q in it", err, c.want)
			}
		})
	}
}

// doubled is a type of 2^n parts in n lines.
func doubled(n int) string {
	s := "typedef i32 T0\n"
	for i := range n {
		s += fmt.Sprintf("typedef map<T%d,T%d> T%d\n", i, i, i+1)
	}
	return s + fmt.Sprintf("struct B { 1: T%d a }\n", n)
}

// TestImportBounds: no more files and bytes than there may be.
func TestImportBounds(t *testing.T) {
	f := files{"a.thrift": strings.Repeat(" ", idlBytes+1)}
	if _, err := importIDL("cdp", "a.thrift", f.read); err == nil || !strings.Contains(err.Error(), "longer than 4194304 bytes") {
		t.Errorf("got %v", err)
	}
	f = files{}
	for i := range idlFiles + 1 {
		f[fmt.Sprintf("%d.thrift", i)] = fmt.Sprintf("include \"%d.thrift\"\n", i+1)
	}
	if _, err := importIDL("cdp", "0.thrift", f.read); err == nil || !strings.Contains(err.Error(), "64.thrift: more than 64 files") {
		t.Errorf("got %v", err)
	}
	if _, err := Import("cdp", filepath.Join("testdata", "none.thrift")); err == nil || !strings.Contains(err.Error(), "none.thrift") {
		t.Errorf("got %v, want the file named", err)
	}
}

// TestImportIsInventory: each built-in inventory, written as IDL and imported,
// is itself.
func TestImportIsInventory(t *testing.T) {
	for _, label := range Labels() {
		inv := mustLoad(t, label)
		got, err := importIDL(label, "if/all.thrift", idlOf(inv).read)
		if err != nil {
			t.Errorf("%s: %v", label, err)
			continue
		}
		sameText(t, label, inventoryText(t, got), inventoryText(t, inv))
	}
}

// sameText compares texts line by line.
func sameText(t testing.TB, what, got, want string) {
	t.Helper()
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		if at(g, i) != at(w, i) {
			t.Errorf("%s: line %d:\n got %s\nwant %s", what, i+1, at(g, i), at(w, i))
			return
		}
	}
}

// idlOf writes an inventory as IDL, the base service in a file of its own.
func idlOf(inv *Inventory) files {
	var base, own, types strings.Builder
	list := func(fields []Field) string {
		var b strings.Builder
		for _, f := range fields {
			if f.ID > 0 { // others are those that the IDL leaves out
				fmt.Fprintf(&b, "%d: ", f.ID)
			}
			fmt.Fprint(&b, [...]string{"", "required ", "optional "}[f.Req], f.Type.String(), " ", f.Name)
			switch {
			case f.Value != "" && f.Type.Name == "string":
				fmt.Fprintf(&b, " = %q", f.Value)
			case f.Value != "":
				fmt.Fprint(&b, " = ", f.Value)
			}
			b.WriteString(", ")
		}
		return b.String()
	}
	for _, name := range inv.Order {
		m, b := inv.Methods[name], &own
		if m.Base {
			b = &base
		}
		if m.Oneway {
			b.WriteString("oneway ")
		}
		fmt.Fprintf(b, "%s %s(%s) throws (%s)\n", strings.ReplaceAll(m.Returns.String(), "fb_status", "fb303.fb_status"), name,
			list(m.Args), list(m.Throws))
	}
	for _, name := range sortedKeys(inv.Structs) {
		s := inv.Structs[name]
		fmt.Fprintf(&types, "%s %s { %s }\n", structWords[s.Kind], name, list(s.Fields))
	}
	status := ""
	for _, name := range sortedKeys(inv.Enums) {
		var items []string
		for _, v := range sortedKeys(inv.Enums[name].Values) {
			items = append(items, fmt.Sprintf("%s = %d", v, inv.Enums[name].Values[v]))
		}
		text := fmt.Sprintf("enum %s { %s }\n", name, strings.Join(items, ", "))
		if name == "fb_status" {
			status = text
			continue
		}
		types.WriteString(text)
	}
	return files{
		"if/share/fb303/if/fb303.thrift": status + "service FacebookService {\n" + strings.ReplaceAll(base.String(), "fb303.", "") + "}\n",
		"if/all.thrift": "include \"share/fb303/if/fb303.thrift\"\n" + types.String() +
			"service ThriftHiveMetastore extends fb303.FacebookService {\n" + own.String() + "}\n",
	}
}

// FuzzImport: no text makes the importer crash, and what it takes is an
// inventory that reads back as it is.
func FuzzImport(f *testing.F) {
	seed, err := os.ReadFile(filepath.Join("testdata", "idl", "cdp.thrift"))
	if err != nil {
		f.Fatal(err)
	}
	base, err := os.ReadFile(filepath.Join("testdata", "idl", "share", "base.thrift"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(seed), string(base))
	f.Add("include \"b.thrift\"\nservice S extends b.T { i32 x(string a) throws (b.E e) }", "service T {}\nexception E {}")
	f.Fuzz(func(t *testing.T, a, b string) {
		inv, err := importIDL("cdp", "a.thrift", files{"a.thrift": a, "b.thrift": b, "share/base.thrift": b, "share/more.thrift": b}.read)
		if err != nil {
			return
		}
		text := inventoryText(t, inv)
		again, err := Parse("again", strings.NewReader(text))
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		sameText(t, "again", inventoryText(t, again), text)
	})
}
