package route

import (
	"bytes"
	"testing"

	"hmsgate/rewrite"
)

// Out and back: what the client named comes back as it was spelled, by
// whatever way the name goes.
func FuzzThereAndBack(f *testing.F) {
	for _, s := range []string{"sales", "apache__sales", "APACHE__Sales", "@hive#apache__x", "@apache#x",
		"@apache#!", "@hive#",
		"@x#y", "hive.apache__x", "hdp__x", "orders", "crm_eu__orders", "_dummy_database", "apache__", "\xff__",
		"@#!", "@hive#a!"} {
		f.Add(s, true)
	}
	tbl := fixture(f, three)
	f.Fuzz(func(t *testing.T, name string, keepAt bool) {
		in := []byte(name)
		b := gather(tbl, nil, db(name))
		c, r := b.Route(readRow)
		if r != nil {
			if s := tbl.take(in); s.by == nil || s.pre == nil || s.by == s.pre {
				t.Fatalf("%q refused: %s", name, r.Text)
			}
			return
		}
		inner, err := b.Call(keepAt).Append(nil, rewrite.DBAt, in)
		if err != nil {
			t.Fatalf("%q goes to %s, yet: %v", name, c.Name, err)
		}
		s := tbl.take(in)
		if s.form == foreign {
			if !bytes.Equal(inner, in) {
				t.Fatalf("%q became %q", name, inner)
			}
			return
		}
		if s.form == plain && !bytes.Equal(inner, s.db) {
			t.Fatalf("%q became %q, want %q", name, inner, s.db)
		}
		outer, err := b.Reply().Append(nil, rewrite.DB, s.db)
		if err != nil {
			t.Fatal(err)
		}
		if len(s.db) > 0 && !bytes.Equal(outer, s.ns) && !foldEqual(s.db, dummyDatabase) {
			t.Fatalf("%q comes back as %q, want %q", name, outer, s.ns)
		}
		again := b.From(c)
		if same, _ := again.Append(nil, rewrite.DB, s.db); !bytes.Equal(same, outer) {
			t.Fatalf("%q: Reply says %q, From says %q", name, outer, same)
		}
	})
}

// A name that a backend gave never reads as another catalog's unless Listed
// says that it is not to be shown, and a name of another catalog is never bare.
func FuzzReplyNames(f *testing.F) {
	for _, s := range []string{"sales", "apache__x", "orders", "hdp__x", "@apache#x", "hive.x",
		"_dummy_database", "Crm_EU__", "\xff"} {
		f.Add(s)
	}
	tbl := fixture(f, three)
	f.Fuzz(func(t *testing.T, stored string) {
		if stored == "" || stored[0] == '@' || foldEqual([]byte(stored), dummyDatabase) {
			return // Hive forbids '@' in names
		}
		for _, c := range tbl.Catalogs() {
			b := gather(tbl, nil)
			out, err := b.From(c).Append(nil, rewrite.DB, []byte(stored))
			if err != nil {
				t.Fatal(err)
			}
			if c != tbl.Default() && bytes.Equal(out, []byte(stored)) && tbl.claimer(out) != c {
				t.Fatalf("%q of %s comes out bare", stored, c.Name)
			}
			back := gather(tbl, nil, db(string(out)))
			owner, r := back.Route(readRow)
			if b.Listed(c, []byte(stored)) && (r != nil || owner != c) {
				t.Fatalf("%q of %s is listed as %q, which goes to %s (%s)", stored, c.Name, out, catName(owner),
					text(r))
			}
		}
	})
}

// No value of any kind panics or is lost, in either direction.
func FuzzKinds(f *testing.F) {
	for _, s := range []string{"7$apache__a.t:1:2::$b.u:1", "$", "$$:", "a.", ".", "apache__a.*",
		"hive.apache__a.t:5", "@hive#a|b*", "|", "*"} {
		for k := rewrite.DB; k <= rewrite.Policy; k++ {
			f.Add(uint8(k), s)
		}
	}
	tbl := fixture(f, three)
	f.Fuzz(func(t *testing.T, kind uint8, s string) {
		k := rewrite.Kind(kind)
		b := gather(tbl, nil, val{k, s})
		b.AddUnknown([]byte(s))
		c, r := b.Route(writeRow)
		if r != nil {
			return
		}
		for _, keepAt := range []bool{true, false} {
			out, err := b.Call(keepAt).Append(nil, k, []byte(s))
			if err != nil && k != rewrite.Pattern && k != rewrite.PatternAt {
				t.Fatalf("%v %q was routed to %s, yet: %v", k, s, c.Name, err)
			}
			if _, err := b.Reply().Append(nil, k, out); err != nil {
				t.Fatal(err)
			}
		}
		if c == tbl.Default() && tbl.take([]byte(s)).pre == nil && !bytes.Contains([]byte(s), []byte("__")) &&
			!bytes.Contains([]byte(s), []byte("hive.")) && !bytes.Contains([]byte(s), []byte("catalog.")) &&
			!bytes.Contains([]byte(s),
				[]byte("main.")) && k != rewrite.Cat && k != rewrite.Pattern && k != rewrite.PatternAt {
			if out, err := b.Call(true).Append(nil, k, []byte(s)); err != nil || string(out) != s {
				t.Fatalf("%v %q of the default catalog became %q (%v)", k, s, out, err)
			}
		}
	})
}
