package route

import (
	"strings"
	"testing"
)

func TestPlace(t *testing.T) {
	tbl := fixture(t, nil)
	for _, c := range []struct{ name, ns, cat, want, lock string }{
		{"bare", "sales", "", "hdp sales", ""},
		{"own catalog's prefix", "hdp__sales", "", "hdp sales", ""},
		{"prefix in another case", "Apache__Sales", "", "apache Sales", "apache__sales"},
		{"at", "@apache#sales", "", "apache sales", "apache__sales"},
		{"at of the metastore's own", "@hive#sales", "", "hdp @hive#sales", ""},
		{"unknown at", "@x#sales", "", "hdp @x#sales", ""},
		{"catName", "sales", "Apache", "apache sales", "apache__sales"},
		{"catName and prefix", "apache__sales", "apache", "apache sales", "apache__sales"},
		{"catName of the metastore's own", "sales", "hive", "hdp sales", ""},
		{"nobody's", "_dummy_database", "", "- _dummy_database", ""},
		{"nobody's for any catName", "_dummy_database", "apache", "- _dummy_database", ""},
		{"none", "", "", "- ", ""},
		{"contradiction", "apache__sales", "hdp", "refused", ""},
		{"at against prefix", "@hdp#apache__sales", "", "refused", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b Binding
			b.Reset(tbl, nil)
			p, ref := b.Place([]byte(c.ns), []byte(c.cat))
			got := "refused"
			if ref == nil {
				got = "- "
				if p.Catalog != nil {
					got = p.Catalog.Name + " "
				}
				got += string(p.DB)
			}
			if got != c.want {
				t.Fatalf("got %q, want %q", got, c.want)
			}
			if c.lock == "" {
				return
			}
			if name, ref := tbl.LockName(nil, p); ref != nil || string(name) != c.lock {
				t.Errorf("locked as %q, %v, want %q", name, ref, c.lock)
			}
		})
	}
}

func TestLockNameLimit(t *testing.T) {
	tbl := fixture(t, nil)
	for n, fits := range map[int]bool{120: true, 121: false} {
		_, ref := tbl.LockName(nil, Place{tbl.Catalog("apache"), []byte(strings.Repeat("x", n))})
		if (ref == nil) != fits {
			t.Errorf("%d bytes behind apache__: got %v, want it to fit %v", n, ref, fits)
		}
	}
}
