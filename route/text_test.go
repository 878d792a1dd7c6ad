package route

import (
	"regexp"
	"strings"
	"testing"

	"hmsgate/rewrite"
)

func views(c *Config) { c.RewriteViews = true }

// both writes a text for the backend of a routed call, and back.
func both(t *testing.T, b *Binding, k rewrite.Kind, text string) (in, out string) {
	t.Helper()
	if _, r := b.Route(writeRow); r != nil {
		t.Fatal(r.Text)
	}
	in = apply(t, b.Call(true), k, text)
	return in, apply(t, b.Reply(), k, in)
}

// TestViewText: what a client writes, what the metastore of apache stores,
// what comes back ("" for the same as written).
func TestViewText(t *testing.T) {
	own, hinted := []val{db("apache__sales")}, []val{cat("apache"), db("sales")}
	for _, tc := range []struct {
		name           string
		call           []val
		change         func(*Config)
		text, in, back string
	}{
		{"own db", own, nil, "from apache__sales.orders o join `apache__sales`.`x`", "from sales.orders o join `sales`.`x`", ""},
		{"own db, not the view's", own, nil, "from apache__crm.t", "from crm.t", ""},
		{"other letter case", own, nil, "from APACHE__Sales.t", "from Sales.t", "from apache__sales.t"},
		{"default catalog's", own, nil, "from dim.cust", "from hdp__dim.cust", ""},
		{"default catalog's in full", own, nil, "from hdp__dim.cust", "from hdp__dim.cust", "from dim.cust"},
		{"a third catalog's", own, three, "from crm_eu__x.t, orders.t, Crm_EU__orders.t",
			"from crm_eu__x.t, Crm_EU__orders.t, Crm_EU__orders.t", "from crm_eu__x.t, orders.t, orders.t"},
		{"function", own, nil, "select apache__udfs.f(x), upper(y), default.g(1) from apache__sales.t",
			"select udfs.f(x), upper(y), hdp__default.g(1) from sales.t", ""},
		{"backend's catalog", own, nil, "from hive.apache__sales.t", "from hive.sales.t", "from apache__sales.t"},
		{"Spark's catalog", own, nil, "from spark_catalog.apache__sales.t", "from spark_catalog.sales.t", ""},
		{"a proxy catalog as a part", own, nil, "from apache.sales.t", "from hive.sales.t", "from apache__sales.t"},
		{"another proxy catalog as a part", own, nil, "from hdp.sales.t", "from hdp.sales.t", ""},
		{"unknown catalog", own, nil, "from ice.rig_a.i", "from ice.rig_a.i", ""},
		{"a db that looks prefixed", own, nil, "from apache__hdp__x.t", "from apache__hdp__x.t", ""},
		{"a db that alone is none", own, nil, "from apache___dummy_database.t, apache__.t", "from apache___dummy_database.t, apache__.t",
			"from _dummy_database.t, apache__.t"},
		{"dummy", own, nil, "from _dummy_database._dummy_table", "from _dummy_database._dummy_table", ""},
		{"at form", own, nil, "from @hive.t, `@hive#sales`.t", "from @hive.t, `@hive#sales`.t", ""},
		{"alias with a dot", own, nil, "select a from (select b from c) as `d.c`", "select a from (select b from c) as `d.c`", ""},
		{"variable", own, nil, "select ${hiveconf:x} from apache__sales.t", "select ${hiveconf:x} from apache__sales.t", ""},
		{"presto", own, nil, "/* Presto View: eyJmcm9tIjoic2FsZXMudCJ9 */", "/* Presto View: eyJmcm9tIjoic2FsZXMudCJ9 */", ""},
		{"presto, expanded", own, nil, "/* Presto View */", "/* Presto View */", ""},
		{"literal and comment", own, nil, "select 'apache__sales.t' -- apache__sales.t\nfrom apache__sales.t",
			"select 'apache__sales.t' -- apache__sales.t\nfrom sales.t", ""},
		{"hinted: bare is the catalog's", hinted, nil, "from sales.t, apache__sales.t, hdp__dim.c",
			"from sales.t, sales.t, hdp__dim.c", "from sales.t, sales.t, hdp__dim.c"},
		{"hinted: the catalog as a part", hinted, nil, "from apache.sales.t", "from hive.sales.t", ""},
		{"separator with a dot", []val{db("apache.sales")}, func(c *Config) { c.Separator = "." },
			"from apache.sales.t, `apache.sales`.t, hdp.dim.c, dim.c", "from sales.t, `sales`.t, hdp.dim.c, `hdp.dim`.c",
			"from `apache.sales`.t, `apache.sales`.t, dim.c, `dim`.c"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tbl := fixture(t, func(c *Config) {
				views(c)
				if tc.change != nil {
					tc.change(c)
				}
			})
			in, out := both(t, gather(tbl, nil, tc.call...), rewrite.SQL, tc.text)
			if in != tc.in {
				t.Errorf("stored\ngot  %s\nwant %s", in, tc.in)
			}
			want := tc.back
			if want == "" {
				want = tc.text
			}
			if out != want {
				t.Errorf("and back\ngot  %s\nwant %s", out, want)
			}
		})
	}
}

// TestViewParameter: the database that Spark looks tables up in.
func TestViewParameter(t *testing.T) {
	tbl := fixture(t, views)
	for _, tc := range []struct{ text, in string }{
		{"apache__sales", "sales"}, {"default", "hdp__default"}, {"", ""}, {"a.b", "hdp__a.b"},
	} {
		in, out := both(t, gather(tbl, nil, db("apache__sales")), rewrite.DBRef, tc.text)
		if in != tc.in || out != tc.text {
			t.Errorf("%q: stored %q, want %q; back %q", tc.text, in, tc.in, out)
		}
	}
}

func TestTextsAreRewrittenAsConfigured(t *testing.T) {
	for _, tc := range []struct {
		views, keep bool
		want        string
		params      bool // of another catalog's call are read all the same: one of them may have to be refused
	}{
		{false, false, "json object", true},
		{true, false, "sql sql_original table_params json object", false},
		{true, true, "sql table_params json object", false},
	} {
		b := gather(fixture(t, func(c *Config) { c.RewriteViews, c.KeepOriginalText = tc.views, tc.keep }), nil, db("apache__sales"))
		if _, r := b.Route(writeRow); r != nil {
			t.Fatal(r.Text)
		}
		for i, n := range []rewrite.Names{b.Call(true), b.Reply()} {
			if i == 0 && tc.params {
				if !n.(rewrite.Texts).Rewrites(rewrite.TableParams) {
					t.Errorf("views %v, keep %v: parameters of a call are not read", tc.views, tc.keep)
				}
				continue
			}
			var got []string
			for k := rewrite.SQL; k.Long(); k++ {
				if n.(rewrite.Texts).Rewrites(k) {
					got = append(got, k.String())
				}
			}
			if s := strings.Join(got, " "); s != tc.want {
				t.Errorf("views %v, keep %v: rewritten are %q, want %q", tc.views, tc.keep, s, tc.want)
			}
		}
	}
}

var digit = regexp.MustCompile("apache__[0-9]")

// FuzzViewText: what a client stored comes back, when it spelled its names as
// they are computed.
func FuzzViewText(f *testing.F) {
	for _, s := range []string{"select 1 from apache__sales.t", "from dim.c, `apache__x`.y -- z\n", "from hdp__a.b", "from ice.a.b",
		"select apache__u.f(1)", "from a.apache__b", "from `a``b`.c"} {
		f.Add(s)
	}
	tbl := fixture(f, views)
	f.Fuzz(func(t *testing.T, text string) {
		low := strings.ToLower(text)
		for _, form := range []string{"hdp", "hive", "spark_catalog", "apache.", "apache`", "apache/", "apache-", "apache "} {
			if strings.Contains(low, form) {
				return // forms that come back as another one that means the same
			}
		}
		if digit.MatchString(low) {
			return // comes back in quotes: bare it would be a number
		}
		if strings.Count(low, "apache") != strings.Count(text, "apache") {
			return
		}
		if in, out := both(t, gather(tbl, nil, db("apache__sales")), rewrite.SQL, text); out != text {
			t.Errorf("written %q\nstored  %q\nback    %q", text, in, out)
		}
	})
}
