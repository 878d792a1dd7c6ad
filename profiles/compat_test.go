package profiles

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestCompatibility: the page about versions is what the data say, and what
// real clients were seen to be unable to do.
func TestCompatibility(t *testing.T) {
	const file = "../COMPATIBILITY.md"
	var got bytes.Buffer
	if err := WriteCompatibility(&got); err != nil {
		t.Fatal(err)
	}
	listed, err := os.ReadFile("../testdata/rig/matrix.tsv")
	if err != nil {
		t.Fatal(err)
	}
	got.WriteString(seenImpossible(t, string(listed)))
	if *update {
		if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%s is not what the data say: run with -update and review it", file)
	}
}

// seenImpossible is the list of testdata/rig/matrix as a table.
func seenImpossible(t *testing.T, rows string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("\n## Seen to be impossible\n\nWhat Hive's own client can do at a metastore of its own version and not through the gateway at " +
		"another one\n(testdata/rig/matrix; client, metastore, calls and answers are regular expressions).\n\n" +
		"| client | metastore | calls | answer | why |\n|---|---|---|---|---|\n")
	for _, line := range strings.Split(strings.TrimSpace(rows), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(line, "\t")
		if len(f) != 5 {
			t.Fatalf("matrix.tsv: want 5 columns: %q", line)
		}
		for i := range f {
			f[i] = strings.ReplaceAll(strings.ReplaceAll(f[i], "|", "\\|"), "\\t", " ")
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(f, " | "))
	}
	return b.String()
}

// TestEveryMethodHasAWay: what one version has and another lacks is bridged,
// answered, or said to be impossible, for every pair of versions.
func TestEveryMethodHasAWay(t *testing.T) {
	missing := 0
	for _, f := range Labels() {
		for _, b := range Labels() {
			p, err := Compile(mustLoad(t, f), mustLoad(t, b))
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range p.List() {
				if !m.Missing {
					continue
				}
				if missing++; m.Bridge == nil && m.Fallback == nil {
					t.Errorf("%s at %s: nothing says what becomes of %s", f, b, m.Method)
				}
			}
		}
	}
	if missing < 3000 {
		t.Errorf("%d methods were missing somewhere, want at least 3000", missing)
	}
}

// TestBridgesAreNeeded: every entry is about a method that some version lacks,
// or that readers see in two forms; every program is named.
func TestBridgesAreNeeded(t *testing.T) {
	r := mustRules(t)
	named := map[string]bool{}
	for _, name := range sortedKeys(r.bridges) {
		b := r.bridges[name]
		named[b.Program] = true
		has, lacks := 0, 0
		for _, l := range Labels() {
			if mustLoad(t, l).Methods[name] != nil {
				has++
			} else {
				lacks++
			}
		}
		if guarded := b.Program != "" && has > 0; has == 0 || lacks == 0 && !elderly[name] && !guarded {
			t.Errorf("bridge %s: %d versions have it, %d lack it", name, has, lacks)
		}
		for part, calls := range b.Calls {
			for _, call := range strings.Split(calls, "|") {
				if !slices.ContainsFunc(Labels(), func(l string) bool {
					return mustLoad(t,
						l).Methods[strings.TrimSpace(call)] != nil
				}) {
					t.Errorf("bridge %s: %s is %s, which no version has", name, part, call)
				}
			}
		}
	}
	for _, p := range Programs() {
		if !named[p] {
			t.Errorf("program %s: no bridge names it", p)
		}
	}
	for name := range r.fallbacks {
		if r.rows[name] == nil {
			t.Errorf("fallback %s: there is no such row", name)
		}
	}
}

// TestPathsOfVersions: every struct and field that the rules about versions
// name is in some inventory.
func TestPathsOfVersions(t *testing.T) {
	u, err := AutoInventory()
	if err != nil {
		t.Fatal(err)
	}
	r := mustRules(t)
	for section, rules := range map[string]map[string]map[string]string{"lacks": r.lacks, "always": r.always, "always4": r.always4,
		"needs": r.needs} {
		for owner, fields := range rules {
			for field := range fields {
				st, m := u.Structs[owner], u.Methods[owner]
				if (st == nil || st.Field(field) == nil) && (m == nil || fieldNamed(m.Args, field) == nil) {
					t.Errorf("%s: no version has %s.%s", section, owner, field)
				}
			}
		}
	}
	for method, x := range r.unread {
		for from, to := range x {
			if m := u.Methods[method]; m == nil || thrown(m, from) == nil || thrown(m, to) == nil {
				t.Errorf("unread: %s does not throw %s and %s in any version", method, from, to)
			}
		}
	}
}

func thrown(m *Method, exception string) *Field {
	for i := range m.Throws {
		if m.Throws[i].Type.Name == exception {
			return &m.Throws[i]
		}
	}
	return nil
}

// TestFallbacks: answers to what a backend does not know, byte by byte.
func TestFallbacks(t *testing.T) {
	for _, c := range []struct {
		method, want string
		any          bool
	}{
		{"get_current_notificationEventId", "0c0000" + "0a00010000000000000000" + "0000", false},
		{"get_next_notification", "0c0000" + "0f00010c00000000" + "0000", false},
		{"get_notification_events_count", "0c0000" + "0a00010000000000000000" + "0000", false},
		{"get_open_txns",
			"0c0000" + "0a00010000000000000000" + "0e00020a00000000" + "0f00020a00000000" + "0b000400000000" + "0000",
			false},
		{"get_open_txns_info", "0c0000" + "0a00010000000000000000" + "0f00020c00000000" + "0000", false},
		{"show_locks", "0c0000" + "0f00010c00000000" + "0000", false},
		{"show_compact", "0c0000" + "0f00010c00000000" + "0000", false},
		{"get_role_names", "0f00000b0000000000", false},
		{"list_privileges", "0f00000c0000000000", false},
		{"get_principals_in_role", "0c0000" + "0f00010c00000000" + "0000", false},
		{"get_role_grants_for_principal", "0c0000" + "0f00010c00000000" + "0000", false},
		{"get_privilege_set", "0c0000" + "0d00010b0f00000000" + "0d00020b0f00000000" + "0d00030b0f00000000" + "0000",
			false},
		{"refresh_privileges", "0c0000" + "02000101" + "0000", false},
		{"get_runtime_stats", "0f00000c0000000000", true},
		{"get_active_resource_plan", "0c0000" + "0000", true},
		{"get_all_resource_plans", "0c0000" + "0f00010c00000000" + "0000", true},
		{"get_all_functions", "0c0000" + "0f00010c00000000" + "0000", false},
	} {
		t.Run(c.method, func(t *testing.T) {
			f := Auto().Method([]byte(c.method)).Fallback
			if f == nil {
				t.Fatal("got none")
			}
			if got := fmt.Sprintf("%x", f.Result); got != c.want || f.Any != c.any {
				t.Errorf("got %s, any %v, want %s, any %v", got, f.Any, c.want, c.any)
			}
		})
	}
	if n := len(mustRules(t).fallbacks); n != 17 {
		t.Errorf("%d fallbacks, want the 17 above", n)
	}
}
