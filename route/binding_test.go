package route

import (
	"errors"
	"testing"

	"hmsgate/profiles"
	"hmsgate/rewrite"
)

// One name in a call: where it goes, what the backend sees (3.x and 2.x), and
// how a reply that names the same db reads.
func TestOneName(t *testing.T) {
	tests := []struct {
		name     string
		in       val
		cat      string
		at, bare string // to a backend that reads "@cat#", and to one that does not
		reply    string // of the db as the backend stores it
		stored   string
	}{
		{"bare", db("sales"), "hdp", "sales", "sales", "sales", "sales"},
		{"bare, other case", db("SALES"), "hdp", "SALES", "SALES", "sales", "sales"},
		{"prefixed", db("apache__sales"), "apache", "sales", "sales", "apache__sales", "sales"},
		{"L14 prefix and db in other case", db("APACHE__CRM2"), "apache", "CRM2", "CRM2", "APACHE__CRM2", "crm2"},
		{"default's own prefix", db("hdp__sales"), "hdp", "sales", "sales", "hdp__sales", "sales"},
		{"L10 underscores are literal", db("apacheXXsales"), "hdp", "apacheXXsales", "apacheXXsales",
			"apacheXXsales", "apacheXXsales"},
		{"L01 own catalog and prefix", db("@hive#apache__default"), "apache", "@hive#default", "default",
			"apache__default", "default"},
		{"own catalog", db("@hive#sales"), "hdp", "@hive#sales", "sales", "sales", "sales"},
		{"spark's catalog", db("@spark_catalog#sales"), "hdp", "@spark_catalog#sales", "sales", "sales", "sales"},
		{"own catalog, other case", db("@HIVE#sales"), "hdp", "@HIVE#sales", "sales", "sales", "sales"},
		{"unknown catalog", db("@x#sales"), "hdp", "@x#sales", "@x#sales", "sales", "sales"},
		{"unknown catalog, prefix inside", db("@x#apache__sales"), "hdp", "@x#apache__sales",
			"@x#apache__sales", "sales", "sales"},
		{"at without hash", db("@sales"), "hdp", "@sales", "@sales", "sales", "sales"},
		{"proxy catalog", db("@apache#sales"), "apache", "@hive#sales", "sales", "sales", "sales"},
		{"proxy catalog and agreeing prefix", db("@apache#apache__sales"), "apache", "@hive#sales", "sales",
			"apache__sales", "sales"},
		{"proxy catalog, null", db("@apache#"), "apache", "@hive#", "", "sales", "sales"},
		{"proxy catalog, empty", db("@apache#!"), "apache", "@hive#!", "", "sales", "sales"},
		{"own catalog, null", db("@hive#"), "hdp", "@hive#", "", "sales", "sales"},
		{"own catalog, empty", db("@hive#!"), "hdp", "@hive#!", "", "sales", "sales"},
		{"dotted", db("hive.sales"), "hdp", "sales", "sales", "sales", "sales"},
		{"dotted and prefixed", db("spark_catalog.apache__sales"), "apache", "sales", "sales", "apache__sales",
			"sales"},
		{"dot of no catalog", db("a.b"), "hdp", "a.b", "a.b", "a.b", "a.b"},
		{"empty", db(""), "hdp", "", "", "", ""},
		{"dummy", db("_dummy_database"), "hdp", "_dummy_database", "_dummy_database", "_dummy_database",
			"_dummy_database"},
		{"invalid UTF-8", db("apache__\xff\xfe"), "apache", "\xff\xfe", "\xff\xfe", "apache__\xff\xfe", "\xff\xfe"},
		{"another db of the catalog", db("apache__sales"), "apache", "sales", "sales", "apache__crm", "crm"},
		{"dummy from another catalog", db("apache__sales"), "apache", "sales", "sales", "_dummy_database",
			"_dummy_database"},
		{"claimed", db("orders"), "Crm_EU", "orders", "orders", "orders", "orders"},
		{"claimed, with prefix", db("crm_eu__orders"), "Crm_EU", "orders", "orders", "crm_eu__orders", "orders"},
		{"beside a claimed one", db("crm_eu__x"), "Crm_EU", "x", "x", "orders", "orders"},
		{"catalog name with underscore", db("crm_eu__x"), "Crm_EU", "x", "x", "Crm_EU__y", "y"},
		{"backend catalog of its own", db("@crm_eu#x"), "Crm_EU", "@main#x", "x", "x", "x"},
		{"another backend's catalog is no hint", db("@main#x"), "hdp", "@main#x", "x", "x", "x"},
	}
	tbl := fixture(t, three)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := gather(tbl, nil, tt.in)
			c, r := b.Route(readRow)
			if catName(c) != tt.cat || r != nil {
				t.Fatalf("catalog: got %q (%s), want %q", catName(c), text(r), tt.cat)
			}
			if got := apply(t, b.Call(true), tt.in.k, tt.in.v); got != tt.at {
				t.Errorf("call with @: got %q, want %q", got, tt.at)
			}
			if got := apply(t, b.Call(false), tt.in.k, tt.in.v); got != tt.bare {
				t.Errorf("call without @: got %q, want %q", got, tt.bare)
			}
			if got := apply(t, b.Reply(), rewrite.DB, tt.stored); got != tt.reply {
				t.Errorf("reply: got %q, want %q", got, tt.reply)
			}
		})
	}
}

func TestRoute(t *testing.T) {
	const unowned = "Operation m requires explicit namespace ownership for deterministic routing; use explicit " +
		"catalog.db naming or a catalog-aware request so the proxy can fail safely instead of guessing a target catalog"
	needs := &profiles.Row{Method: "m", Class: profiles.GlobalWrite, Where: profiles.NeedsNames}
	txn := &profiles.Row{Method: "m", Class: profiles.Txn, Where: profiles.AtDefault}
	only := &profiles.Row{Method: "m", Class: profiles.Lock, Where: profiles.AtDefault}
	tests := []struct {
		name   string
		row    *profiles.Row
		change func(*Config)
		in     []val
		cat    string
		how    How
		text   string
		why    Reason
	}{
		{name: "nothing", row: readRow, cat: "hdp"},
		{name: "catName", row: readRow, in: []val{db("sales"), cat("apache")}, cat: "apache", how: ByCatName},
		{name: "catName alone", row: readRow, in: []val{cat("Apache")}, cat: "apache", how: ByCatName},
		{name: "catName first", row: readRow, in: []val{cat("apache"), db("sales")}, cat: "apache", how: ByCatName},
		{name: "own catName", row: readRow, in: []val{cat("hive"), db("sales")}, cat: "hdp", how: ByBare},
		{name: "own catName and prefix", row: readRow, in: []val{cat("hive"), db("apache__sales")},
			cat: "apache", how: ByPrefix},
		{name: "unknown catName", row: readRow, in: []val{cat("x"), db("sales")}, cat: "hdp", how: ByBare},
		{name: "agreeing catName and prefix", row: readRow, in: []val{cat("apache"), db("apache__sales")},
			cat: "apache", how: ByCatName},
		{name: "L12", row: readRow, in: []val{db("apache__sales"), cat("hdp")}, why: Ambiguous,
			text: "Request has conflicting catalog and database namespace: catName='hdp', dbName='apache__sales'"},
		{name: "L12 the other way round", row: readRow, in: []val{cat("hdp"), db("apache__sales")}, why: Ambiguous,
			text: "Request has conflicting catalog and database namespace: catName='hdp', dbName='apache__sales'"},
		{name: "two prefixes", row: readRow, in: []val{db("apache__a"), db("hdp__b")}, why: Ambiguous,
			text: "Request contains conflicting namespace hints: 'apache__a' and 'hdp__b'"},
		{name: "two dbs of one catalog", row: writeRow, in: []val{db("apache__a"), db("APACHE__b")},
			cat: "apache", how: ByPrefix},
		{name: "prefix and bare", row: writeRow, in: []val{db("apache__a"), db("b")}, why: Ambiguous,
			text: "Request contains conflicting namespace hints: 'apache__a' and 'b'"},
		{name: "bare and prefix", row: writeRow, in: []val{db("b"), db("apache__a")}, why: Ambiguous,
			text: "Request contains conflicting namespace hints: 'apache__a' and 'b'"},
		{name: "default's prefix and bare", row: writeRow, in: []val{db("hdp__a"), db("b")}, cat: "hdp",
			how: ByPrefix},
		{name: "@ and bare", row: writeRow, in: []val{db("@apache#a"), db("b")}, cat: "apache", how: ByAt},
		{name: "@ against prefix inside", row: writeRow, in: []val{db("@apache#hdp__a")}, why: Ambiguous,
			text: "Request contains conflicting namespace hints: '@apache#hdp__a' and 'hdp__a'"},
		{name: "@ against catName", row: writeRow, in: []val{db("@apache#a"), cat("hdp")}, why: Ambiguous,
			text: "Request has conflicting catalog and database namespace: catName='hdp', dbName='@apache#a'"},
		{name: "two catNames", row: writeRow, in: []val{cat("apache"), cat("hdp")}, why: Ambiguous,
			text: "Request contains conflicting namespace hints: 'apache' and 'hdp'"},
		{name: "catName agrees with one of two prefixes", row: writeRow, in: []val{db("apache__a"),
			cat("apache"), db("hdp__b")},
			why: Ambiguous, text: "Request contains conflicting namespace hints: 'apache__a' and 'hdp__b'"},
		{name: "dummy beside prefix", row: readRow, in: []val{db("_dummy_database"), db("apache__a")},
			cat: "apache", how: ByPrefix},
		{name: "empty beside prefix", row: readRow, in: []val{db(""), cat(""), db("apache__a")}, cat: "apache",
			how: ByPrefix},
		{name: "claimed", row: readRow, change: three, in: []val{db("ORDERS")}, cat: "Crm_EU", how: ByBare},
		{name: "claimed and bare", row: readRow, change: three, in: []val{db("orders"), db("sales")}, why: Ambiguous,
			text: "Request contains conflicting namespace hints: 'orders' and 'sales'"},
		{name: "claim yields to catName", row: readRow, change: three, in: []val{db("orders"), cat("apache")},
			cat: "apache", how: ByCatName},
		{name: "table", row: readRow, in: []val{{rewrite.TableFull, "apache__a.t"}}, cat: "apache", how: ByPrefix},
		{name: "table without db", row: readRow, in: []val{{rewrite.TableMaybe, "apache__a"}}, cat: "hdp"},
		{name: "write ids", row: readRow, in: []val{{rewrite.WriteIDs, "apache__a.t:5:9::"}}, cat: "apache",
			how: ByPrefix},
		{name: "several write ids", row: readRow, in: []val{{rewrite.WriteIDsMulti,
			"7$apache__a.t:5:9::$b.u:1:2::"}}, why: Ambiguous,
			text: "Request contains conflicting namespace hints: 'apache__a' and 'b'"},
		{name: "policy", row: readRow, in: []val{{rewrite.Policy, "apache__a.*"}}, cat: "apache", how: ByPrefix},
		{name: "needs names", row: needs, why: Unowned, text: unowned},
		{name: "needs names, own catName is none", row: needs, in: []val{cat("hive"), db("_dummy_database"),
			db("@hive#")}, why: Unowned, text: unowned},
		{name: "needs names, has a bare one", row: needs, in: []val{db("sales")}, cat: "hdp", how: ByBare},
		{name: "needs names, has a catName", row: needs, in: []val{cat("apache")}, cat: "apache", how: ByCatName},
		{name: "needs names, one catalog", row: needs, cat: "hdp",
			change: func(c *Config) { c.Catalogs = c.Catalogs[:1] }},
		{name: "needs names, global writes at default", row: needs, cat: "hdp",
			change: func(c *Config) { c.GlobalWritesAtDefault = true }},
		{name: "at default", row: txn, in: []val{db("sales"), db("hdp__x")}, cat: "hdp", how: ByPrefix},
		{name: "transaction elsewhere", row: txn, in: []val{db("apache__x")}, why: Elsewhere,
			text: "ACID transactional operation 'm' is not supported for non-default catalog 'apache'. " +
				"Transaction management is only available in the default catalog 'hdp'"},
		{name: "at default, elsewhere", row: only, in: []val{db("apache__x")}, why: Elsewhere,
			text: "Operation 'm' is only available in the default catalog 'hdp', the request names catalog 'apache'"},
		{name: "hint write", row: writeRow, in: []val{db("a"), cat("apache")}, why: HintWrite,
			change: func(c *Config) { c.RefuseHintWrites = true },
			text: "Operation 'm' names catalog 'apache' by its catalog field alone; writes need the database " +
				"written as apache__db (routing.catalog-hint-writes)"},
		{name: "hint read", row: readRow, in: []val{db("a"), cat("apache")}, cat: "apache", how: ByCatName,
			change: func(c *Config) { c.RefuseHintWrites = true }},
		{name: "hint write with prefix", row: writeRow, in: []val{db("apache__a"), cat("apache")},
			cat: "apache", how: ByCatName,
			change: func(c *Config) { c.RefuseHintWrites = true }},
		{name: "hint write to the default catalog", row: writeRow, in: []val{db("a"), cat("hdp")}, cat: "hdp",
			how:    ByCatName,
			change: func(c *Config) { c.RefuseHintWrites = true }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := gather(fixture(t, tt.change), nil, tt.in...)
			c, r := b.Route(tt.row)
			if catName(c) != tt.cat || text(r) != tt.text {
				t.Fatalf("got catalog %q, refusal %q\nwant catalog %q, refusal %q", catName(c), text(r), tt.cat,
					tt.text)
			}
			if r != nil && (r.Reason != tt.why || r.Exception != Meta) {
				t.Errorf("refusal: got reason %q, exception %d; want %q, %d", r.Reason, r.Exception, tt.why, Meta)
			}
			if r == nil && b.How() != tt.how {
				t.Errorf("how: got %v, want %v", b.How(), tt.how)
			}
		})
	}
}

// A call's other names, its reply and its catNames, by the way it was routed.
func TestNames(t *testing.T) {
	overwrite := func(c *Config) { c.PreserveBackendCatalog = false }
	tests := []struct {
		name   string
		change func(*Config)
		in     []val
		reply  bool
		k      rewrite.Kind
		v      string
		want   string
	}{
		{"table by prefix", nil, []val{db("apache__a")}, false, rewrite.TableFull, "apache__B.t", "B.t"},
		{"table, three parts", nil, []val{db("apache__a")}, false, rewrite.TableFull, "hive.apache__b.t", "hive.b.t"},
		{"table, no db", nil, []val{db("apache__a")}, false, rewrite.TableMaybe, "t", "t"},
		{"table, maybe db", nil, []val{db("apache__a")}, false, rewrite.TableMaybe, "apache__a.t", "a.t"},
		{"write ids", nil, []val{db("apache__a")}, false, rewrite.WriteIDs, "apache__a.t:5:9::", "a.t:5:9::"},
		{"write ids, several", nil, []val{db("apache__a")}, false, rewrite.WriteIDsMulti,
			"7$apache__a.t:5:9:1,2:$apache__b.u:1:2::", "7$a.t:5:9:1,2:$b.u:1:2::"},
		{"write ids, txn list only", nil, []val{db("apache__a")}, false, rewrite.WriteIDsMulti, "7:8::", "7:8::"},
		{"policy db", nil, []val{db("apache__a")}, false, rewrite.Policy, "apache__a", "a"},
		{"policy all", nil, []val{db("apache__a")}, false, rewrite.Policy, "apache__a.*", "a.*"},
		{"policy table", nil, []val{db("apache__a")}, false, rewrite.Policy, "apache__a.t", "a.t"},
		{"catName of a proxy catalog", nil, []val{cat("apache")}, false, rewrite.Cat, "APACHE", "hive"},
		{"catName of a proxy catalog, own backend name", three, []val{cat("crm_eu")}, false, rewrite.Cat,
			"crm_eu", "main"},
		{"catName of the backend", nil, []val{db("apache__a"), cat("hive")}, false, rewrite.Cat, "hive", "hive"},
		{"catName unknown", nil, []val{cat("x")}, false, rewrite.Cat, "x", "x"},
		{"text passes", nil, []val{db("apache__a")}, false, rewrite.SQL, "select apache__a", "select apache__a"},

		{"reply table", nil, []val{db("APACHE__a")}, true, rewrite.TableFull, "A.t", "APACHE__a.t"},
		{"reply table of another db", nil, []val{db("APACHE__a")}, true, rewrite.TableFull, "b.t", "apache__b.t"},
		{"reply table, three parts", nil, []val{db("apache__a")}, true, rewrite.TableFull, "hive.b.t",
			"hive.apache__b.t"},
		{"reply write ids", nil, []val{db("apache__a")}, true, rewrite.WriteIDsMulti, "7$a.t:5$b.t:6",
			"7$apache__a.t:5$apache__b.t:6"},
		{"reply policy", nil, []val{db("apache__a")}, true, rewrite.Policy, "a.*", "apache__a.*"},
		{"reply of the default catalog", nil, []val{db("sales")}, true, rewrite.TableFull, "a.t", "a.t"},
		{"reply catName, preserved", nil, []val{db("apache__a")}, true, rewrite.Cat, "hive", "hive"},
		{"reply catName, overwritten", overwrite, []val{db("apache__a")}, true, rewrite.Cat, "hive", "apache"},
		{"reply catName, overwritten at default", overwrite, []val{db("a"), cat("hive")}, true, rewrite.Cat,
			"hive", "hdp"},
		{"reply catName nobody overwrites", overwrite, []val{db("a"), cat("x")}, true, rewrite.Cat, "x", "x"},
		{"reply catName, empty", overwrite, []val{db("a")}, true, rewrite.Cat, "", ""},
		{"reply catName given back", nil, []val{cat("Apache"), db("a")}, true, rewrite.Cat, "hive", "apache"},
		{"reply db bare under catName", nil, []val{cat("apache"), db("a")}, true, rewrite.DB, "b", "b"},
		{"reply db as spelled under catName", nil, []val{cat("apache"), db("apache__a")}, true, rewrite.DB, "a",
			"apache__a"},
		{"reply db bare under @", nil, []val{db("@apache#a")}, true, rewrite.DB, "a", "a"},
		{"reply catName under @", nil, []val{db("@apache#a")}, true, rewrite.Cat, "hive", "apache"},
		{"reply default catName given back", nil, []val{cat("hdp"), db("a")}, true, rewrite.Cat, "hive", "hdp"},
		{"reply empty db", nil, []val{db("apache__a")}, true, rewrite.DB, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := gather(fixture(t, tt.change), nil, tt.in...)
			if _, r := b.Route(readRow); r != nil {
				t.Fatal(r)
			}
			n := b.Call(true)
			if tt.reply {
				n = b.Reply()
			}
			if got := apply(t, n, tt.k, tt.v); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if n.Strict() == tt.reply {
				t.Errorf("strict: got %v", n.Strict())
			}
		})
	}
}

// Names that come after routing, in a streamed call.
func TestLateNames(t *testing.T) {
	tests := []struct {
		name  string
		first []val
		late  []val
		err   string // of the last late one
		then  string // what the reply makes of db "x"
	}{
		{"same catalog", []val{db("apache__a")}, []val{db("apache__b")}, "", "apache__x"},
		{"bare after prefix", []val{db("apache__a")}, []val{db("b")},
			"Request contains conflicting namespace hints: 'apache__a' and 'b'", ""},
		{"prefix after bare", []val{db("a")}, []val{db("apache__b")},
			"Request contains conflicting namespace hints: 'a' and 'apache__b'", ""},
		{"prefix after nothing", nil, []val{db("apache__b")},
			"Request contains conflicting namespace hints: 'hdp' and 'apache__b'", ""},
		{"catName after bare", []val{db("a")}, []val{cat("apache")},
			"Request has conflicting catalog and database namespace: catName='apache', dbName='a'", ""},
		{"agreeing catName after prefix", []val{db("apache__a")}, []val{cat("apache"), db("b")}, "", "x"},
		{"agreeing @ after prefix", []val{db("apache__a")}, []val{db("@apache#b"), db("b")}, "", "x"},
		{"@ against prefix inside", []val{db("apache__a")}, []val{db("@apache#hdp__b")},
			"Request contains conflicting namespace hints: 'apache__a' and 'hdp__b'", ""},
		{"table elsewhere", []val{db("apache__a")}, []val{{rewrite.TableFull, "hdp__b.t"}},
			"Request contains conflicting namespace hints: 'apache__a' and 'hdp__b'", ""},
		{"write id list elsewhere", []val{db("a")}, []val{{rewrite.WriteIDsMulti, "1$a.t:1$apache__b.t:2"}},
			"Request contains conflicting namespace hints: 'a' and 'apache__b'", ""},
		{"dummy", []val{db("apache__a")}, []val{db("_dummy_database")}, "", "apache__x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := gather(fixture(t, nil), nil, tt.first...)
			if _, r := b.Route(readRow); r != nil {
				t.Fatal(r)
			}
			n := b.Call(true)
			var err error
			for _, v := range tt.late {
				_, err = n.Append(nil, v.k, []byte(v.v))
			}
			if tt.err == "" {
				if err != nil {
					t.Fatal(err)
				}
				if got := apply(t, b.Reply(), rewrite.DB, "x"); got != tt.then {
					t.Errorf("reply: got %q, want %q", got, tt.then)
				}
				return
			}
			var r *Refusal
			if !errors.As(err, &r) || r.Text != tt.err || r.Reason != Ambiguous {
				t.Fatalf("got %v, want %q", err, tt.err)
			}
		})
	}
}

// A listener's own default catalog turns bare and prefixed round.
func TestListenerDefault(t *testing.T) {
	tbl := fixture(t, nil)
	b := gather(tbl, tbl.Catalog("apache"), db("sales"))
	if c, r := b.Route(readRow); catName(c) != "apache" || r != nil {
		t.Fatalf("got %q (%s), want apache", catName(c), text(r))
	}
	if got := apply(t, b.Reply(), rewrite.DB, "crm"); got != "crm" {
		t.Errorf("reply: got %q, want %q", got, "crm")
	}
	if got := apply(t, b.From(tbl.Catalog("hdp")), rewrite.DB, "crm"); got != "hdp__crm" {
		t.Errorf("reply of the other: got %q, want %q", got, "hdp__crm")
	}
}

func TestIdentity(t *testing.T) {
	tests := []struct {
		name        string
		change      func(*Config)
		in          []val
		keepAt      bool
		call, reply bool
	}{
		{"nothing", nil, nil, true, true, true},
		{"bare", nil, []val{db("a"), cat("hive")}, true, true, true},
		{"@ kept", nil, []val{db("@hive#a")}, true, true, true},
		{"@ removed", nil, []val{db("@hive#a")}, false, false, true},
		{"dotted", nil, []val{db("hive.a")}, true, false, true},
		{"own prefix", nil, []val{db("hdp__a")}, true, false, false},
		{"catName", nil, []val{db("a"), cat("hdp")}, true, false, false},
		{"other catalog", nil, []val{db("apache__a")}, true, false, false},
		{"catName overwritten", func(c *Config) { c.PreserveBackendCatalog = false }, []val{db("a")}, true,
			true, false},
		{"pattern", nil, []val{{rewrite.Pattern, "*"}}, true, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := gather(fixture(t, tt.change), nil, tt.in...)
			if _, r := b.Route(readRow); r != nil {
				t.Fatal(r)
			}
			b.Call(tt.keepAt)
			if call, reply := b.Identity(); call != tt.call || reply != tt.reply {
				t.Errorf("got %v, %v, want %v, %v", call, reply, tt.call, tt.reply)
			}
		})
	}
}

func TestUnknownMethods(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Config)
		in     []string
		ok     bool
	}{
		{"no string", nil, nil, true},
		{"bare ones", nil, []string{"sales", "hive", "hdp", "hdp__x", "@hive#x", "select 1"}, true},
		{"prefix", nil, []string{"a", "apache__x"}, false},
		{"table", nil, []string{"apache__x.t"}, false},
		{"three parts", nil, []string{"hive.apache__x.t"}, false},
		{"catName", nil, []string{"Apache"}, false},
		{"@", nil, []string{"@apache#x"}, false},
		{"@ and prefix", nil, []string{"@hive#apache__x"}, false},
		{"write ids", nil, []string{"7$a.t:1$apache__x.t:1"}, false},
		{"claimed", three, []string{"orders"}, false},
		{"claimed table", three, []string{"orders.t"}, false},
		{"refused by setting", func(c *Config) { c.RefuseUnknownMethods = true }, nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := gather(fixture(t, tt.change), nil)
			for _, s := range tt.in {
				b.AddUnknown([]byte(s))
			}
			c, r := b.RouteUnknown([]byte("new_call"))
			if tt.ok {
				if catName(c) != "hdp" || r != nil {
					t.Errorf("got %q (%s), want hdp", catName(c), text(r))
				}
				return
			}
			if want := "Invalid method name: 'new_call'"; c != nil || text(r) != want || r.Exception != UnknownMethod {
				t.Errorf("got %q, %+v, want refusal %q", catName(c), r, want)
			}
		})
	}
}
