package rewrite

import (
	"bytes"
	"strings"
	"testing"
)

// prefixed stands for a catalog whose namespaces are its dbs behind "c1__".
type prefixed struct{ inward bool }

func (p prefixed) Qualify(q Qualifier) (Qualifier, bool) {
	db := q.DB
	if p.inward {
		if !bytes.HasPrefix(db, []byte("c1__")) || q.Cat != nil && string(q.Cat) != "hive" {
			return q, false
		}
		return Qualifier{q.Cat, db[4:]}, true
	}
	if bytes.Contains(db, []byte("__")) || q.Cat != nil && string(q.Cat) != "hive" {
		return q, false
	}
	return Qualifier{DB: append([]byte("c1__"), db...)}, true
}

// odd makes names that cannot stand bare, and keeps the catalog.
type odd struct{}

func (odd) Qualify(q Qualifier) (Qualifier, bool) {
	if q.Cat != nil {
		return Qualifier{[]byte("my-cat"), append([]byte("x`"), q.DB...)}, true
	}
	return Qualifier{DB: append([]byte("c1."), q.DB...)}, true
}

// TestSQLOutward has the examples of waggle-dance 83, 84, 165, 212 and of
// hms-proxy's README, and what the word after them may be.
func TestSQLOutward(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"empty", "", ""},
		{"plain", "select a from sales.orders", "select a from c1__sales.orders"},
		{"quotes kept", "select `orders`.`id` from `sales`.`orders` where `orders`.`amount` > 1000",
			"select `orders`.`id` from `c1__sales`.`orders` where `orders`.`amount` > 1000"},
		{"only the db quoted", "FROM `sales`.orders", "FROM `c1__sales`.orders"},
		{"backend catalog collapses", "select * from `hive`.`sales`.`orders`", "select * from `c1__sales`.`orders`"},
		{"bare backend catalog collapses", "select * from hive.sales.orders o", "select * from c1__sales.orders o"},
		{"other catalog", "SELECT id FROM ice.rig_a.i", "SELECT id FROM ice.rig_a.i"},
		{"four parts", "select * from hive.a.b.c", "select * from hive.a.b.c"},
		{"five parts", "select * from hive.a.b.c.d", "select * from hive.a.b.c.d"},
		{"join", "SELECT t.id, d.label FROM rig_a.t t JOIN rig_b.d d ON t.id = d.id",
			"SELECT t.id, d.label FROM c1__rig_a.t t JOIN c1__rig_b.d d ON t.id = d.id"},
		{"column qualifiers", "select sales.col from sales.t where sales.x = 1 group by sales.y",
			"select sales.col from c1__sales.t where sales.x = 1 group by sales.y"},
		{"literal", `select 'sales.orders from sales.t', "from sales.t" from sales.t`,
			`select 'sales.orders from sales.t', "from sales.t" from c1__sales.t`},
		{"escaped quote", `select 'it\'s from a.b' from a.b`, `select 'it\'s from a.b' from c1__a.b`},
		{"doubled quote", `select 'it''s from a.b' from a.b`, `select 'it''s from a.b' from c1__a.b`},
		{"raw literal", `select r'\' from a.b where x = r'\'`, `select r'\' from c1__a.b where x = r'\'`},
		{"no raw literal", `select xr'\' from a.b'`, `select xr'\' from a.b'`},
		{"line comment", "-- from a.b\nselect 1 from a.b -- from a.b", "-- from a.b\nselect 1 from c1__a.b -- from a.b"},
		{"block comment", "/* from a.b */ select 1 from/**/a/*x*/./*y*/b", "/* from a.b */ select 1 from/**/c1__a/*x*/./*y*/b"},
		{"spaces at the dot", "from a . b", "from c1__a . b"},
		{"comma join", "from a.b x, c.d as y, (select 1 from e.f) z, g.h where i.j = 1, k.l",
			"from c1__a.b x, c1__c.d as y, (select 1 from c1__e.f) z, c1__g.h where i.j = 1, k.l"},
		{"comma after on", "from a.b join c.d on f(b.x, d.y) = 1, e.f", "from c1__a.b join c1__c.d on f(b.x, d.y) = 1, c1__e.f"},
		{"comma in a select list", "select t.a, t.b, c.d from a.b", "select t.a, t.b, c.d from c1__a.b"},
		{"subquery", "select * from (select x.y from a.b x) q join c.d", "select * from (select x.y from c1__a.b x) q join c1__c.d"},
		{"tables in parentheses", "from (a.b join c.d on b.x = d.x)", "from (c1__a.b join c1__c.d on b.x = d.x)"},
		{"in subquery", "select 1 from a.b where x in (select c.d from e.f)", "select 1 from c1__a.b where x in (select c.d from c1__e.f)"},
		{"union", "select 1 from a.b union all select c.d, e.f from g.h", "select 1 from c1__a.b union all select c.d, e.f from c1__g.h"},
		{"cte", "with sales as (select 1 from a.b), x as (select 2) select sales.id, x.id from sales, x",
			"with sales as (select 1 from c1__a.b), x as (select 2) select sales.id, x.id from sales, x"},
		{"lateral view", "from a.b lateral view explode(b.m) e as k, v join c.d", "from c1__a.b lateral view explode(b.m) e as k, v join c1__c.d"},
		{"lateral subquery", "from a.b, lateral (select c.d) x, e.f", "from c1__a.b, lateral (select c.d) x, c1__e.f"},
		{"extract", "select extract(year from o.ts), trim(both ' ' from o.n), substring(o.n from o.i for 2) from a.b o",
			"select extract(year from o.ts), trim(both ' ' from o.n), substring(o.n from o.i for 2) from c1__a.b o"},
		{"subquery in trim", "select trim(from (select x from a.b))", "select trim(from (select x from c1__a.b))"},
		{"distinct from", "select 1 from a.b where b.x is not distinct from b.y", "select 1 from c1__a.b where b.x is not distinct from b.y"},
		{"function with db", "select udfs.f(x), upper(y), cast(z as decimal(10,2)) from sales.t",
			"select c1__udfs.f(x), upper(y), cast(z as decimal(10,2)) from c1__sales.t"},
		{"function with catalog", "select hive.udfs.f (x)", "select c1__udfs.f (x)"},
		{"quoted function", "select `udfs`.`f`(1)", "select `c1__udfs`.`f`(1)"},
		{"table function", "from udfs.f(1), table(x.g(2))", "from c1__udfs.f(1), table(c1__x.g(2))"},
		{"insert", "insert into a.b (c, d) select 1", "insert into c1__a.b (c, d) select 1"},
		{"insert table", "insert overwrite table a.b select c.d from e.f", "insert overwrite table c1__a.b select c.d from c1__e.f"},
		{"number", "select 1.5, 2e3, 0.x from a.b limit 10.5", "select 1.5, 2e3, 0.x from c1__a.b limit 10.5"},
		{"digits in a table", "from a.2020_b", "from c1__a.2020_b"},
		{"one part", "select x from orders join items", "select x from orders join items"},
		{"a star", "select t.*, sales.* from sales.t", "select t.*, sales.* from c1__sales.t"},
		{"keywords in any case", "SeLeCt 1 FrOm a.b", "SeLeCt 1 FrOm c1__a.b"},
		{"keyword as a part", "select t.from, t.join from a.table", "select t.from, t.join from c1__a.table"},
		{"doubled backquote", "from `a``b`.`c`", "from `c1__a``b`.`c`"},
		{"alias with a dot", "select a from (select b from c) as `d.c`", "select a from (select b from c) as `d.c`"},
		{"foreign name", "from c2__dim.cust join sales.t", "from c2__dim.cust join c1__sales.t"},
		{"file", "select * from parquet.`/data/a.b`", "select * from parquet.`/data/a.b`"},
		{"presto", "/* Presto View: eyJvcmlnaW5hbFNxbCI6ImZyb20gYS5iIn0= */", "/* Presto View: eyJvcmlnaW5hbFNxbCI6ImZyb20gYS5iIn0= */"},
		{"presto expanded", "/* Presto View */", "/* Presto View */"},
		{"high bytes", "from \xc3\xa4.b where \xff = 1", "from c1__\xc3\xa4.b where \xff = 1"},
		{"variable", "select ${hiveconf:x} from sales.t", "select ${hiveconf:x} from sales.t"},
		{"variable behind a name", "from sales.t_${hiveconf:x}", "from sales.t_${hiveconf:x}"},
		{"open literal", "select 1 from a.b where x = 'y", "select 1 from a.b where x = 'y"},
		{"open comment", "select 1 from a.b /* x", "select 1 from a.b /* x"},
		{"open quote", "select 1 from a.b join `c", "select 1 from a.b join `c"},
		{"open parenthesis", "select 1 from a.b join (c.d", "select 1 from a.b join (c.d"},
		{"closed too often", "select 1 from a.b)", "select 1 from a.b)"},
		{"ends at a dot", "select 1 from a.", "select 1 from a."},
		{"comma without a table", "from , a.b", "from , a.b"},
		{"alias that is a word", "select a.b table, c.d from e.f", "select a.b table, c.d from c1__e.f"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := string(AppendSQL(nil, []byte(tc.in), prefixed{})); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
			back := string(AppendSQL([]byte("before "), []byte(tc.want), prefixed{inward: true}))
			if want := "before " + strings.ReplaceAll(strings.ReplaceAll(tc.in, "`hive`.", ""), "hive.", ""); !strings.Contains(tc.in, "hive.a.b") && back != want {
				t.Errorf("and back\ngot  %s\nwant %s", back, want)
			}
		})
	}
}

func TestSQLQuotesWhatCannotStandBare(t *testing.T) {
	in := "from sales.t, `sales`.t, hive.sales.t join `hive`.`sales`.`t`"
	want := "from `c1.sales`.t, `c1.sales`.t, `my-cat`.`x``sales`.t join `my-cat`.`x``sales`.`t`"
	if got := string(AppendSQL(nil, []byte(in), odd{})); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestSQLNestsOnlySoDeep(t *testing.T) {
	deep := func(n int) []byte {
		return []byte("from " + strings.Repeat("(", n) + "a.b" + strings.Repeat(")", n))
	}
	if got := AppendSQL(nil, deep(maxParens), prefixed{}); !bytes.Contains(got, []byte("c1__a.b")) {
		t.Errorf("%d levels: not read", maxParens)
	}
	if got := AppendSQL(nil, deep(maxParens+1), prefixed{}); bytes.Contains(got, []byte("c1__")) {
		t.Errorf("%d levels: edited", maxParens+1)
	}
}

// TestSQLTakesLinearTime: a scan that looked ahead from each of many tokens
// would need days here.
func TestSQLTakesLinearTime(t *testing.T) {
	for _, unit := range []string{"a.", "a /**/ ", "`a` ", "--\n", "a(b,", "from ", "''", "/* */", "a . "} {
		text := bytes.Repeat([]byte(unit), (4<<20)/len(unit))
		if got := AppendSQL(nil, text, prefixed{}); len(got) < len(text) {
			t.Errorf("%q: %d bytes of %d", unit, len(got), len(text))
		}
	}
}

func TestSQLAllocatesNothingWhenItHasRoom(t *testing.T) {
	text := []byte("select `o`.`id` from c2__sales.orders o join c2__x.y where a = 'from b.c'")
	dst := make([]byte, 0, 1024)
	var q Qualifiers = prefixed{}
	if n := testing.AllocsPerRun(100, func() { AppendSQL(dst, text, q) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// spans lists the literals and comments of a text that can be read.
func spans(text []byte) (out []string, ok bool) {
	s := sqlScan{in: text, q: prefixed{inward: true}}
	for s.i < len(text) {
		at, keep := s.i, text[s.i] == '\'' || text[s.i] == '"' || s.comment(s.i)
		if !s.token() {
			return nil, false
		}
		if keep {
			out = append(out, string(text[at:s.i]))
		}
	}
	return out, len(s.outer) == 0
}

func FuzzSQL(f *testing.F) {
	for _, s := range []string{
		"select a from sales.orders", "with x as (select 1) select * from `sales`.`t` x, b.c -- d.e\n",
		`select 'a.b', "c.d" from hive.e.f where extract(day from g.h) = 1`, "select ${x} from a.b", "from a.b /* c */ join (d.e",
		"/* Presto View: e30= */", "from `a``b`.c",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		out := AppendSQL(nil, text, prefixed{})
		was, ok := spans(text)
		if !ok && !bytes.Equal(out, text) {
			t.Fatalf("cannot be read, yet edited: %q", out)
		}
		if now, ok2 := spans(out); ok && (!ok2 || strings.Join(was, "\x00") != strings.Join(now, "\x00")) {
			t.Fatalf("literals and comments\nwere %q\nare  %q", was, now)
		}
		if bytes.Contains(text, []byte("__")) || bytes.Contains(bytes.ToLower(text), []byte("hive")) {
			return
		}
		if back := AppendSQL(nil, out, prefixed{inward: true}); !bytes.Equal(back, text) {
			t.Fatalf("there and back\ngot  %q\nwant %q\nthere %q", back, text, out)
		}
	})
}
