package route

import (
	"sort"
	"strings"
	"testing"

	"hmsgate/profiles"
	"hmsgate/rewrite"
)

var databases = map[string][]string{
	"hdp":    {"default", "my_database", "sales"},
	"apache": {"crm", "default", "sales"},
}

// ask runs a merged list over pretended backends: what each one was sent, and
// the namespaces of the answer.
func ask(t *testing.T, tbl *Table, stored map[string][]string, keepAt bool, in ...val) (
	sent map[string]string, got []string) {
	t.Helper()
	b := gather(tbl, nil, in...)
	sent = map[string]string{}
	for _, c := range tbl.Catalogs() {
		n, ok := b.ForCatalog(c, keepAt)
		if !ok {
			continue
		}
		pattern := "*"
		for _, v := range in {
			out := apply(t, n, v.k, v.v)
			if v.k == rewrite.PatternAt || v.k == rewrite.Pattern {
				pattern = out
			}
		}
		sent[c.Name] = pattern
		for _, d := range stored[c.Name] {
			if !metastoreMatches(pattern, d) || !b.Listed(c, []byte(d)) {
				continue
			}
			out, err := b.From(c).Append(nil, rewrite.DB, []byte(d))
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(out))
		}
	}
	sort.Strings(got)
	return sent, got
}

// metastoreMatches answers as real metastores do: "@hive#" means all, an empty
// pattern nothing, alternatives otherwise.
func metastoreMatches(pattern, db string) bool {
	if i := strings.IndexByte(pattern, '#'); strings.HasPrefix(pattern, "@") && i > 0 {
		if pattern = pattern[i+1:]; pattern == "" {
			return true
		}
	}
	for _, sub := range strings.Split(pattern, "|") {
		if matches([]byte(sub), []byte(db)) {
			return true
		}
	}
	return false
}

func TestMergedLists(t *testing.T) {
	pat := func(s string) []val { return []val{{rewrite.PatternAt, s}} }
	all := "apache__crm apache__default apache__sales default my_database sales"
	tests := []struct {
		name        string
		in          []val
		old         bool   // backends of Hive 2
		hdp, apache string // what is sent, "-" for not asked
		want        string
	}{
		{"L02 null", pat("@hive#"), false, "@hive#", "@hive#", all},
		{"L02 null to Hive 2", pat("@hive#"), true, "*", "*", all},
		{"L02 empty", pat("@hive#!"), false, "@hive#!", "@hive#!", ""},
		{"L02 empty to Hive 2", pat("@hive#!"), true, "", "", ""},
		{"no pattern", nil, false, "*", "*", all},
		{"empty", pat(""), false, "", "", ""},
		{"bars only", pat("||"), false, "||", "||", ""},
		{"L08 star", pat("*"), false, "*", "*", all},
		{"star in Hive's notation", pat("@hive#*"), false, "@hive#*", "@hive#*", all},
		{"star in Hive's notation to Hive 2", pat("@hive#*"), true, "*", "*", all},
		{"L05", pat("apache..default"), false, "apache..default", "default", "apache__default"},
		{"L06", pat("apache..def.*"), false, "apache..def.*", "def.*", "apache__default"},
		{"L09", pat("my_*|apache__c*"), false, "my_*", "c*", "apache__crm my_database"},
		{"L09 in Hive's notation", pat("@hive#my_*|apache__c*"), false, "@hive#my_*", "@hive#c*",
			"apache__crm my_database"},
		{"L10 literal", pat("apache__sales"), false, "-", "sales", "apache__sales"},
		{"L14 other case", pat("APACHE__C*"), false, "-", "C*", "apache__crm"},
		{"HS2 dots", pat("apache..sa.es"), false, "apache..sa.es", "sa.es", "apache__sales"},
		{"whole catalog", pat("apache__*"), false, "-", "*", "apache__crm apache__default apache__sales"},
		{"prefix alone", pat("apache__"), false, "-", "-", ""},
		{"bare literal", pat("sales"), false, "sales", "-", "sales"},
		{"star over the prefix", pat("a*s"), false, "a*s", "*s", "apache__sales"},
		{"star into the prefix", pat("a*e_*"), false, "a*e_*", "*", "apache__crm apache__default apache__sales"},
		{"star at both ends", pat("*s*"), false, "*s*", "*s*", "apache__sales my_database sales"},
		{"dots over the prefix", pat("......__crm"), false, "......__crm", "crm", "apache__crm"},
		{"own prefix", pat("hdp__s*"), false, "s*", "-", "sales"},
		{"own prefix, dots", pat("hdp..s*"), false, "hdp..s*|s*", "-", "sales"},
		{"spaces around", pat(" sales "), false, " sales ", "-", ""},
		{"proxy catalog in Hive's notation", pat("@apache#s*"), false, "-", "@hive#s*", "sales"},
		{"proxy catalog, all", pat("@apache#"), false, "-", "@hive#", "crm default sales"},
		{"proxy catalog, all, to Hive 2", pat("@apache#"), true, "-", "*", "crm default sales"},
		{"proxy catalog, empty", pat("@apache#!"), false, "-", "@hive#!", ""},
		{"proxy catalog and its prefix", pat("@apache#apache__s*"), false, "-", "@hive#s*", "sales"},
		{"catName", []val{cat("apache"), {rewrite.Pattern, "s*"}}, false, "-", "s*", "sales"},
		{"catName of the backend", []val{cat("hive"), {rewrite.Pattern, "*sales"}}, false, "*sales", "*sales",
			"apache__sales sales"},
		{"contradiction", []val{cat("hdp"), {rewrite.PatternAt, "@apache#s*"}}, false, "-", "-", ""},
		{"unknown catalog", pat("@x#s*"), false, "@x#s*", "-", "sales"},
	}
	tbl := fixture(t, nil)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sent, got := ask(t, tbl, databases, !tt.old, tt.in...)
			for name, want := range map[string]string{"hdp": tt.hdp, "apache": tt.apache} {
				have, ok := sent[name]
				if !ok {
					have = "-"
				}
				if have != want {
					t.Errorf("sent to %s: got %q, want %q", name, have, want)
				}
			}
			if s := strings.Join(got, " "); s != tt.want {
				t.Errorf("answer: got %q, want %q", s, tt.want)
			}
		})
	}
}

// One goroutine a catalog may use the binding of a merged list (for the race
// detector).
func TestMergedListInParallel(t *testing.T) {
	tbl := fixture(t, three)
	b := gather(tbl, nil, val{rewrite.PatternAt, "@hive#*s"})
	names := make(chan string)
	for _, c := range tbl.Catalogs() {
		go func() {
			n, ok := b.ForCatalog(c, true)
			sent, err := n.Append(nil, rewrite.PatternAt, []byte("@hive#*s"))
			if !ok || err != nil || !b.Listed(c, []byte("news")) {
				names <- "not asked: " + c.Name
				return
			}
			out, _ := b.From(c).Append(append(sent, ' '), rewrite.DB, []byte("news"))
			names <- string(out)
		}()
	}
	var got []string
	for range tbl.Catalogs() {
		got = append(got, <-names)
	}
	sort.Strings(got)
	if s, want := strings.Join(got, ", "), "@hive#*s apache__news, @hive#*s news, @hive#*s|Orders Crm_EU__news"; s != want {
		t.Errorf("got %q, want %q", s, want)
	}
}

// L04: a real database of the default catalog that looks prefixed.
func TestShadowed(t *testing.T) {
	tbl := fixture(t, three)
	for name, want := range map[string]bool{"apache__x": true, "APACHE__x": true, "hdp__x": true, "orders": true,
		"apache_x": false, "sales": false, "_dummy_database": false} {
		if got := tbl.Shadowed([]byte(name)); got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	_, got := ask(t, tbl, map[string][]string{"hdp": {"apache__x", "orders", "sales"}, "Crm_EU": {"orders",
		"y"}}, true)
	if s, want := strings.Join(got, " "), "Crm_EU__y orders sales"; s != want {
		t.Errorf("answer: got %q, want %q", s, want)
	}
	_, got = ask(t, tbl, map[string][]string{"Crm_EU": {"orders", "y"}}, true, val{rewrite.Pattern, "ord*"})
	if s, want := strings.Join(got, " "), "orders"; s != want {
		t.Errorf("claimed by pattern: got %q, want %q", s, want)
	}
	b := gather(tbl, nil, db("apache__x"))
	if c, r := b.Route(readRow); catName(c) != "apache" {
		t.Errorf("get_database: got %q (%s), want apache", catName(c), text(r))
	}
}

// The separator of the Java proxy is a wildcard in patterns too.
func TestDotSeparator(t *testing.T) {
	tbl := fixture(t, func(c *Config) { c.Separator = "." })
	sent, got := ask(t, tbl, databases, true, val{rewrite.PatternAt, "apache.s*"})
	if sent["apache"] != "s*" || strings.Join(got, " ") != "apache.sales" {
		t.Errorf("got %v, sent %v", got, sent)
	}
	for in, want := range map[val]string{
		{rewrite.DB, "apache.sales"}:             "sales",
		{rewrite.DB, "hive.apache.sales"}:        "sales",
		{rewrite.TableFull, "apache.sales.t"}:    "sales.t",
		{rewrite.Policy, "apache.sales.*"}:       "sales.*",
		{rewrite.WriteIDs, "apache.sales.t:1::"}: "sales.t:1::",
	} {
		b := gather(tbl, nil, in)
		if c, r := b.Route(readRow); catName(c) != "apache" {
			t.Errorf("%q: got catalog %q (%s), want apache", in.v, catName(c), text(r))
			continue
		}
		if out := apply(t, b.Call(true), in.k, in.v); out != want {
			t.Errorf("%q: got %q, want %q", in.v, out, want)
		}
	}
}

// Dividing a pattern by a prefix is exact: the quotient means a name if and
// only if the pattern means the prefixed name.
func FuzzPatternQuotient(f *testing.F) {
	for _, s := range []string{"a*s", "apache..s*", "*", "**", "*a*e*_*s", "a.*e__*s|x", "apache__", ".", `a\*`,
		"*__*__s"} {
		f.Add(s, "sales")
		f.Add(s, "s")
	}
	prefix := []byte("apache__")
	f.Fuzz(func(t *testing.T, pat, db string) {
		if len(pat) > 200 || len(db) > 200 || db == "" || strings.ContainsAny(pat, "|") {
			return
		}
		quotient := string(appendBehind(nil, 0, []byte(pat), prefix))
		inside := false
		for _, sub := range strings.Split(quotient, "|") {
			inside = inside || quotient != "" && matches([]byte(sub), []byte(db))
		}
		if outside := matches([]byte(pat), append(prefix[:8:8], db...)); inside != outside {
			t.Errorf("pattern %q, db %q: outside %v, inside %v by %q", pat, db, outside, inside, quotient)
		}
	})
}

// A list that is not merged (its request names a pattern and no catalog) goes
// where its pattern can match.
func TestPatternRoutesAnUnmergedList(t *testing.T) {
	for _, c := range []struct{ pattern, want string }{
		{"apache__c*", "apache"}, {"APACHE__*", "apache"}, {"*", "hdp"}, {"sales", "hdp"}, {"apache..s*", "hdp"},
		{"hdp__s*", "hdp"}, {"s*|apache__c*", "hdp"},
	} {
		var b Binding
		b.Reset(fixture(t, nil), nil)
		b.Add(rewrite.Cat, []byte("hive"))
		b.Add(rewrite.Pattern, []byte(c.pattern))
		got, r := b.Route(&profiles.Row{Method: "list", Class: profiles.List})
		if r != nil || got.Name != c.want {
			t.Errorf("%s: got %v, %v; want %s", c.pattern, got, r, c.want)
		}
	}
}
