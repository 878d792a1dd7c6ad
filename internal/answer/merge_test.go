package answer_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"hmsgate/internal/hms"
	"hmsgate/internal/wiretest"
)

// Fixture: hdp (default) holds default, my_database, sales; apache holds crm,
// default, sales. Numbers are those of public bug reports.

var six = names("apache__crm", "apache__default", "apache__sales", "default", "my_database", "sales")

func pattern(p string) hms.Struct { return hms.Struct{"pattern": p} }

func TestMergedNames(t *testing.T) {
	f := newFront(t)
	c := f.dial("apache-3.1.3")
	c.wantNames("get_all_databases", nil, six...)
	cases := []struct {
		name, pattern string
		want          []string
	}{
		{"all", "*", six},
		{"L02 null name of the backend's catalog", "@hive#", six},
		{"L02 empty name", "@hive#!", nil},
		{"null name of a proxy catalog", "@apache#", names("crm", "default", "sales")},
		{"L05 HiveServer2's dots", "apache..default", names("apache__default")},
		{"prefix and star", "apache__*", names("apache__crm", "apache__default", "apache__sales")},
		{"L09 alternation", "my_*|apache__c*", names("apache__crm", "my_database")},
		{"bare", "sales", names("sales")},
		{"none", "nothing_like_it", nil},
		{"letter case", "APACHE__SALES", names("apache__sales")},
		{"star straddles the separator", "*sales", names("apache__sales", "sales")},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			c.t = t
			c.wantNames("get_databases", pattern(tc.pattern), tc.want...)
		})
	}
}

// L09: each metastore gets only what can match it, without the prefix.
func TestL09EachCatalogGetsItsOwnPatterns(t *testing.T) {
	f := newFront(t)
	f.dial("apache-3.1.3").must("get_databases", pattern("my_*|apache__c*"))
	for _, s := range []*store{f.hdp, f.apache} {
		for _, call := range s.calls("get_databases") {
			got := call.args.Str("pattern")
			if want := map[*store]string{f.hdp: "my_*", f.apache: "c*"}[s]; got != want {
				t.Errorf("got pattern %q, want %q", got, want)
			}
		}
	}
}

// L04: a database of the default catalog that reads as another catalog's.
func TestL04ShadowedDatabase(t *testing.T) {
	hdp := newStore(t, "hdp", "apache-3.1.3")
	if _, err := hdp.Do("create_database", hms.Struct{"database": hms.Struct{"name": "apache__x"}}); err != nil {
		t.Fatal(err)
	}
	f := frontOf(t, hdp, newStore(t, "apache", "apache-3.1.3"))
	c := f.dial("apache-3.1.3")
	c.wantNames("get_all_databases", nil, six...)
	f.wantMetric("hmsgate_shadowed_database_total", "", 1)
	_, err := c.try("get_database", hms.Struct{"name": "apache__x"})
	var x *hms.Exception
	if !errors.As(err, &x) || x.Type != "NoSuchObjectException" {
		t.Errorf("got %v, want NoSuchObjectException", err)
	}
	if n := len(hdp.calls("get_database")); n != 0 {
		t.Errorf("hdp got %d get_database, want none", n)
	}
}

func metas(v any) []string {
	var out []string
	for _, m := range v.([]any) {
		s := m.(hms.Struct)
		out = append(out, s.Str("dbName")+"."+s.Str("tableName"))
	}
	return out
}

func TestMergedTableMeta(t *testing.T) {
	f := newFront(t)
	c := f.dial("apache-3.1.3")
	if _, err := f.apache.Do("create_table", hms.Struct{"tbl": hms.Struct{"dbName": "default", "tableName": "one",
		"tableType": "MANAGED_TABLE", "sd": hms.Struct{"cols": []any{}}}}); err != nil {
		t.Fatal(err)
	}
	ask := func(db string, types ...string) []string {
		t.Helper()
		got := metas(c.must("get_table_meta", hms.Struct{"db_patterns": db, "tbl_patterns": "*", "tbl_types": types}))
		slices.Sort(got)
		return got
	}
	// L06
	if got, want := ask("apache..def.*"), names("apache__default.one"); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	// L08
	all := ask("*")
	for _, want := range []string{"sales.orders", "sales.big_orders", "my_database.notes", "apache__sales.leads",
		"apache__crm.accounts", "apache__default.one"} {
		if !slices.Contains(all, want) {
			t.Errorf("got %q, want %s among them", all, want)
		}
	}
	if len(slices.Compact(all)) != len(all) {
		t.Errorf("got %q, some twice", all)
	}
	// Filters apply to each row.
	got := ask("*", "VIRTUAL_VIEW")
	if want := names("apache__sales.open_orders", "sales.big_orders"); !slices.Equal(got, want) {
		t.Errorf("views: got %q, want %q", got, want)
	}
}

// A list that a catalog cannot serve is no list, unless the operator says so.
func TestMergeStrictAndLenient(t *testing.T) {
	t.Run("strict", func(t *testing.T) {
		f := newFront(t)
		f.apache.stop()
		_, err := f.dial("apache-3.1.3").try("get_all_databases", nil)
		var app *hms.AppError
		if !errors.As(err, &app) || app.Type != hms.AppInternalError || !strings.Contains(app.Message, "'apache'") {
			t.Errorf("got %v, want an internal error that names apache", err)
		}
	})
	t.Run("lenient", func(t *testing.T) {
		f := newFront(t, "routing.degraded-routing-policy: SAFE_FANOUT_READS")
		f.apache.stop()
		f.dial("apache-3.1.3").wantNames("get_all_databases", nil, "default", "my_database", "sales")
		f.wantMetric("hmsgate_fanout_degraded_total", `catalog="apache"`, 1)
		f.wantMetric("hmsgate_requests_total", `status="degraded"`, 1)
	})
	t.Run("lenient, all fail", func(t *testing.T) {
		f := newFront(t, "routing.degraded-routing-policy: SAFE_FANOUT_READS")
		f.apache.stop()
		f.hdp.stop()
		if v, err := f.dial("apache-3.1.3").try("get_all_databases", nil); err == nil {
			t.Errorf("got %v, want an error", v)
		}
		f.wantMetric("hmsgate_requests_total", `status="error"`, 1)
	})
}

// scripted is a front whose second metastore does as told.
func scripted(t *testing.T, answer func(m wiretest.Message) []byte, settings ...string) *front {
	t.Helper()
	b := wiretest.NewBackend(t).Others(wiretest.Serve(answer))
	apache := &store{addr: b.Addr()}
	return frontOf(t, newStore(t, "hdp", "apache-3.1.3"), apache, append(settings, "catalog.apache.runtime-profile: apache-3.1.3")...)
}

// A catalog's own exception fails the call with its own bytes.
func TestMergePassesACatalogsOwnException(t *testing.T) {
	meta := wiretest.Struct(nil).Struct(1, wiretest.Struct(nil).String(1, "disk full in sales").Stop()).Stop()
	f := scripted(t, func(m wiretest.Message) []byte { return wiretest.Reply(m.Method, m.Seq, meta) })
	_, err := f.dial("apache-3.1.3").try("get_databases", pattern("*"))
	var x *hms.Exception
	if !errors.As(err, &x) || x.Type != "MetaException" || x.Message != "disk full in sales" {
		t.Errorf("got %v, want the catalog's own MetaException", err)
	}
}

// What cannot be merged is an error, never a wrong list.
func TestMergeRefusesWhatIsNoList(t *testing.T) {
	for name, result := range map[string][]byte{
		"nothing":            wiretest.Struct(nil).Stop(),
		"a string":           wiretest.Struct(nil).String(0, "x").Stop(),
		"numbers":            wiretest.Struct(nil).List(0, wiretest.WireI32, []byte{0, 0, 0, 1}).Stop(),
		"a field behind it":  wiretest.Struct(nil).Strings(0, "x").String(9, "more").Stop(),
		"a field before it":  wiretest.Struct(nil).String(9, "more").Strings(0, "x").Stop(),
		"set instead":        wiretest.Struct(nil).Field(wiretest.WireSet, 0, []byte{11, 0, 0, 0, 0}).Stop(),
		"list of structs is": wiretest.Struct(nil).List(0, wiretest.WireStruct, []byte{0}).Stop(),
	} {
		t.Run(name, func(t *testing.T) {
			f := scripted(t, func(m wiretest.Message) []byte { return wiretest.Reply(m.Method, m.Seq, result) })
			if v, err := f.dial("apache-3.1.3").try("get_databases", pattern("*")); err == nil {
				t.Errorf("got %v, want an error", v)
			}
		})
	}
}

// A name that two metastores spell alike, or one lists twice, comes once.
func TestMergedNamesAreUnique(t *testing.T) {
	f := scripted(t, func(m wiretest.Message) []byte {
		return wiretest.Reply(m.Method, m.Seq, wiretest.Struct(nil).Strings(0, "zoo", "crm", "zoo").Stop())
	})
	f.dial("apache-3.1.3").wantNames("get_databases", pattern("*"),
		"apache__crm", "apache__zoo", "default", "my_database", "sales")
}

// One deadline holds for all shares, and a lost share is asked once more.
func TestMergeDeadline(t *testing.T) {
	f := scripted(t, func(m wiretest.Message) []byte { return []byte{} }, "routing.hedged-read.fanout-timeout-ms: 200")
	c := f.dial("apache-3.1.3")
	began := time.Now()
	_, err := c.try("get_databases", pattern("*"))
	var app *hms.AppError
	if !errors.As(err, &app) || !strings.Contains(app.Message, "'apache'") || !strings.Contains(app.Message, "200ms") {
		t.Errorf("got %v, want an error that names apache and the limit", err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %v, want about 200ms", took)
	}
}
