package profiles

import (
	"bufio"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hmsgate/rewrite"
)

// A second reading of nine interfaces, made with other rules (by field name,
// in Python), lies in testdata. The inventories win; where the two differ the
// reason stands in deviations.

// deviations are lines that only we have, with the reason.
var deviations = map[string]string{
	"struct ShowLocksRequest 2 tablename table_maybe":         "arrives as db.table from Hive 3 and 4 (recorded)",
	"struct ShowLocksResponseElement 3 tablename table_maybe": "the same",
	"struct ScheduledQueryProgressInfo 4 errorMessage text":   "prose like every other errorMessage",
}

// reading reads a file of testdata: line -> versions that have it.
func reading(t *testing.T, file string) (lines map[string][]string, versions []string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	label := map[string]string{}
	lines = map[string][]string{}
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		line := in.Text()
		if line == "" || line[0] == '#' {
			continue
		}
		if rest, ok := strings.CutPrefix(line, "version "); ok {
			mark, name, _ := strings.Cut(rest, " ")
			label[mark] = name
			versions = append(versions, name)
			continue
		}
		what, marks, ok := strings.Cut(line, " : ")
		if !ok {
			t.Fatalf("%s: no versions in %q", file, line)
		}
		if marks == "*" {
			lines[what] = versions
			continue
		}
		for _, m := range strings.Fields(marks) {
			lines[what] = append(lines[what], label[m])
		}
	}
	if len(versions) != 9 || len(lines) < 300 {
		t.Fatalf("%s: %d versions and %d lines, want 9 and at least 300", file, len(versions), len(lines))
	}
	return lines, versions
}

// compare reports lines that only one side has for a version.
func compare(t *testing.T, version string, got []string, want map[string][]string, used map[string]bool) {
	t.Helper()
	have := map[string]bool{}
	for _, line := range got {
		have[line] = true
		if !slices.Contains(want[line], version) {
			if used[line] = true; deviations[line] == "" {
				t.Errorf("%s: we have %q, the other reading does not", version, line)
			}
		}
	}
	for line, versions := range want {
		if slices.Contains(versions, version) && !have[line] {
			t.Errorf("%s: the other reading has %q, we do not", version, line)
		}
	}
}

// TestKinds compares the kinds of all fields and arguments.
func TestKinds(t *testing.T) {
	want, versions := reading(t, "testdata/kinds.txt")
	r := mustRules(t)
	used := map[string]bool{}
	for _, version := range versions {
		inv := mustLoad(t, version)
		s := newShaper(inv, nil, r, false)
		var got []string
		add := func(what, owner string, f *Field, u rule) {
			if k := s.fieldKind(f, u); k != rewrite.None && !k.Number() {
				got = append(got, strings.Join([]string{what, owner, strconv.Itoa(int(f.ID)), f.Name, k.String()}, " "))
			}
		}
		for name, st := range inv.Structs {
			for i := range st.Fields {
				f := &st.Fields[i]
				u := r.structs[name][f.Name]
				if st.Kind == Exception && f.Name == "message" {
					u = rule{kind: rewrite.Text}
				}
				add("struct", name, f, u)
			}
		}
		for name, m := range inv.Methods {
			for i := range m.Args {
				add("arg", name, &m.Args[i], r.arg(name, &m.Args[i]))
			}
		}
		compare(t, version, got, want, used)
	}
	for line := range deviations {
		if !used[line] {
			t.Errorf("the deviation %q is none", line)
		}
	}
}

// fieldKind is the one kind in a field, where structs are not entered.
func (s *shaper) fieldKind(f *Field, u rule) rewrite.Kind {
	if !u.fits(f.Type) {
		return rewrite.None
	}
	switch {
	case u.key != rewrite.None:
		return s.kind(u.key)
	case u.value != rewrite.None:
		return s.kind(u.value)
	}
	return s.kind(u.kind)
}

// TestPaths compares every place of a name in the call and reply of every
// method.
func TestPaths(t *testing.T) {
	want, versions := reading(t, "testdata/paths.txt")
	for _, version := range versions {
		inv := mustLoad(t, version)
		p, err := Compile(inv, inv)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, name := range p.Methods() {
			mp := p.byName[name]
			got = append(got, places("call", name, mp.call)...)
			got = append(got, places("reply", name, mp.reply)...)
		}
		compare(t, version, got, want, map[string]bool{})
	}
}

// places is a shape as a line of paths.txt, none when nothing is planned.
func places(side, method string, sh *shape) []string {
	tr := tree{}
	tr.shape(sh, "", "")
	var out []string
	for _, r := range tr.rows {
		what, _, _ := strings.Cut(r[3], ",")
		if k, ok := rewrite.ParseKind(what); ok && !k.Number() && !k.Long() && k != rewrite.TableMaybe {
			out = append(out, r[0]+"="+what)
		} else if strings.HasPrefix(what, "see ") {
			out = append(out, r[0]+".*=recursive")
		}
	}
	if out == nil {
		return nil
	}
	slices.Sort(out)
	return []string{side + " " + method + " " + strings.Join(out, " ")}
}

func mustRules(t testing.TB) *rules {
	t.Helper()
	r, err := builtin()
	if err != nil {
		t.Fatal(err)
	}
	return r
}
