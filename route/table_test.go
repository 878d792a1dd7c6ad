package route

import (
	"strings"
	"testing"
)

func TestConfigErrors(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Config)
		want   string // part of the error
	}{
		{"no catalog", func(c *Config) { c.Catalogs = nil }, "no catalog configured"},
		{"unknown default", func(c *Config) { c.Default = "x" },
			`default catalog "x" is not configured: configured are hdp, apache`},
		{"no default", func(c *Config) { c.Default = "" }, `default catalog ""`},
		{"no separator", func(c *Config) { c.Separator = "" }, `separator "" is blank`},
		{"wildcard separator", func(c *Config) { c.Separator = "*" }, `separator "*" has "*" in it`},
		{"letter separator", func(c *Config) { c.Separator = "x" }, `separator "x" has "x" in it`},
		{"no name", func(c *Config) { c.Catalogs[0].Name = "" }, "without a name"},
		{"bad name", func(c *Config) { c.Catalogs[0].Name = "a.b" }, `"." is not allowed in a catalog name`},
		{"separator in name", func(c *Config) { c.Catalogs[1].Name = "a__b" },
			`"a__b": the name contains the separator`},
		{"same name", func(c *Config) { c.Catalogs[1].Name = "HDP" }, `"HDP": its name equals catalog "hdp"`},
		{"no uris", func(c *Config) { c.Catalogs[1].URIs = nil }, `"apache": no uris`},
		{"bad uri", func(c *Config) { c.Catalogs[1].URIs = []string{"http://h:1"} }, "want thrift://host:port"},
		{"uri without port", func(c *Config) { c.Catalogs[1].URIs = []string{"thrift://h"} },
			"want thrift://host:port"},
		{"same uri", func(c *Config) { c.Catalogs[1].URIs = []string{"h:1", "thrift://h:1"} }, "listed twice"},
		{"claimed twice", func(c *Config) {
			c.Catalogs[0].Claims, c.Catalogs[1].Claims = []string{"a"}, []string{"A"}
		}, `database "A" is claimed by catalog "hdp" too`},
		{"claim with prefix", func(c *Config) { c.Catalogs[1].Claims = []string{"hdp__a"} }, "cannot be claimed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := Config{Default: "hdp", Separator: "__", Catalogs: []CatalogConfig{
				{Name: "hdp", URIs: []string{"h:1"}}, {Name: "apache", URIs: []string{"h:2"}}}}
			tt.change(&cfg)
			if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q in it", err, tt.want)
			}
		})
	}
}

func TestLongestPrefix(t *testing.T) {
	tbl := fixture(t, func(c *Config) {
		c.Catalogs = append(c.Catalogs, CatalogConfig{Name: "a", URIs: []string{"h:1"}},
			CatalogConfig{Name: "a_", URIs: []string{"h:2"}})
	})
	for in, want := range map[string]string{"a__x": "a", "a___x": "a_", "A___x": "a_", "a_x": "hdp"} {
		if c, r := gather(tbl, nil, db(in)).Route(readRow); catName(c) != want {
			t.Errorf("%s: got %q (%s), want %q", in, catName(c), text(r), want)
		}
	}
	b := gather(tbl, nil)
	if b.Listed(tbl.Catalog("a"), []byte("_x")) {
		t.Error("_x of catalog a reads as x of catalog a_ and must not be listed")
	}
	if w := tbl.Warnings(); len(w) != 1 || !strings.Contains(w[0],
		`names of catalog "a" that begin with "a___" read as catalog "a_"`) {
		t.Errorf("warnings: got %q", w)
	}
}

// A proxy catalog with a backend's own name gives no hint by catName or "@",
// and still has its prefix.
func TestCatalogCalledHive(t *testing.T) {
	tbl := fixture(t, func(c *Config) {
		c.Catalogs = append(c.Catalogs, CatalogConfig{Name: "hive", URIs: []string{"h:1"}})
	})
	for in, want := range map[val]string{
		cat("hive"):        "hdp",
		db("@hive#sales"):  "hdp",
		db("hive.sales"):   "hdp",
		db("hive__sales"):  "hive",
		db("@hive#hive__"): "hive",
	} {
		if c, r := gather(tbl, nil, in).Route(readRow); catName(c) != want {
			t.Errorf("%q: got %q (%s), want %q", in.v, catName(c), text(r), want)
		}
	}
	if w := tbl.Warnings(); len(w) != 1 || !strings.Contains(w[0], `"hive" is called like a backend's own catalog`) {
		t.Errorf("warnings: got %q", w)
	}
}

// A catalog named like its own backend's catalog still gives the hint: both
// readings lead to the same backend.
func TestCatalogCalledLikeItsOwnBackend(t *testing.T) {
	tbl := fixture(t, func(c *Config) {
		c.Catalogs = append(c.Catalogs, CatalogConfig{Name: "cdp", URIs: []string{"h:1"}, BackendCatalog: "cdp"})
	})
	if c, r := gather(tbl, nil, cat("cdp"), db("a")).Route(readRow); catName(c) != "cdp" {
		t.Errorf("got %q (%s), want cdp", catName(c), text(r))
	}
	if w := tbl.Warnings(); len(w) != 0 {
		t.Errorf("warnings: got %q", w)
	}
}
