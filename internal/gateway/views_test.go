package gateway

import (
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"hmsgate/internal/hms"
	"hmsgate/internal/memhms"
	"hmsgate/profiles"
)

// viewRig is a gateway before two filled metastores, and a client.
type viewRig struct {
	*hms.Client
	t      *testing.T
	apache *memhms.Server
}

func viewServe(t *testing.T, inv *profiles.Inventory, settings string) *viewRig {
	t.Helper()
	r := &viewRig{t: t}
	yaml := "listen: 127.0.0.1:0\nrouting.default-catalog: hdp\n" + settings + "catalog:\n"
	for _, name := range []string{"hdp", "apache"} {
		s := memhms.New(memhms.Config{Inventory: inv, Name: name})
		memhms.Demo(name)(s)
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go s.Serve(ln)
		t.Cleanup(func() { s.Close() })
		yaml += fmt.Sprintf("  %s: {uris: 'thrift://%s'}\n", name, ln.Addr())
		r.apache = s
	}
	r.Client = sweepDial(t, sweepGateway(t, yaml, nil).Addr().String(), inv, false)
	return r
}

func (r *viewRig) ok(method string, args hms.Struct) any {
	r.t.Helper()
	out, err := r.Call(r.t.Context(), method, args)
	if err != nil {
		r.t.Fatalf("%s: %v", method, err)
	}
	return out
}

// view is a view with both texts and Spark's parameters.
func view(db, name, text, spark string) hms.Struct {
	return hms.Struct{"tableName": name, "dbName": db, "tableType": "VIRTUAL_VIEW", "owner": "etl",
		"sd": hms.Struct{"cols": []any{hms.Struct{"name": "id", "type": "bigint", "comment": ""}},
			"serdeInfo": hms.Struct{"parameters": map[string]string{}}, "parameters": map[string]string{}},
		"partitionKeys": []any{}, "viewOriginalText": text, "viewExpandedText": text,
		"parameters": map[string]string{"comment": "from apache__sales.t", "view.catalogAndNamespace.numParts": "2",
			"view.catalogAndNamespace.part.0": "spark_catalog", "view.catalogAndNamespace.part.1": spark}}
}

// TestDemoViews: what the demo's metastores hold.
func TestDemoViews(t *testing.T) {
	for _, version := range []string{"apache-2.3.10", "apache-3.1.3"} {
		r := viewServe(t, sweepLoad(t, version), "")
		for _, tc := range []struct{ db, view, want string }{
			{"apache__sales", "open_orders", "select `orders`.`id` from `apache__sales`.`orders`"},
			{"sales", "big_orders", "select `orders`.`id`, `orders`.`amount` from `sales`.`orders` where `orders`.`amount` > 1000"},
		} {
			got := r.ok("get_table", hms.Struct{"dbname": tc.db, "tbl_name": tc.view}).(hms.Struct)
			if got.Str("viewOriginalText") != tc.want || got.Str("viewExpandedText") != tc.want {
				t.Errorf("%s, %s.%s: got %q and %q, want %q", version, tc.db, tc.view,
					got.Str("viewOriginalText"), got.Str("viewExpandedText"), tc.want)
			}
			list := r.ok("get_table_objects_by_name", hms.Struct{"dbname": tc.db, "tbl_names": []string{tc.view}}).([]any)
			if len(list) != 1 || list[0].(hms.Struct).Str("viewExpandedText") != tc.want {
				t.Errorf("%s, %s.%s in a list: got %v", version, tc.db, tc.view, list)
			}
		}
	}
}

// TestViewsThroughGateway: a client creates views in apache; what its
// metastore then holds, and what the client reads again. The cases are
// waggle-dance 83, 84, 165, 212 and what the peers lose.
func TestViewsThroughGateway(t *testing.T) {
	presto := "/* Presto View: eyJvcmlnaW5hbFNxbCI6InNlbGVjdCAxIGZyb20gc2FsZXMudCJ9 */"
	cases := []struct{ name, text, stored, spark, sparkStored string }{
		{"own", "select * from apache__sales.t join `apache__crm`.`x` y", "select * from sales.t join `crm`.`x` y", "apache__sales", "sales"},
		{"other", "select * from dim.cust c, apache__sales.t -- dim.cust", "select * from hdp__dim.cust c, sales.t -- dim.cust", "default", "hdp__default"},
		{"dotted", "select a from (select b from c) as `d.c`", "select a from (select b from c) as `d.c`", "apache__crm", "crm"},
		{"presto", presto, presto, "apache__sales", "sales"},
		{"function", "select apache__udfs.f(x), upper(y) from apache__sales.t", "select udfs.f(x), upper(y) from sales.t", "apache__sales", "sales"},
		{"unread", "select ${hiveconf:x} from apache__sales.t", "select ${hiveconf:x} from apache__sales.t", "apache__sales", "sales"},
		{"long", "select 1 from apache__sales.t -- " + strings.Repeat("x", 1<<20), "select 1 from sales.t -- " + strings.Repeat("x", 1<<20), "apache__sales", "sales"},
	}
	for _, mode := range []struct {
		name, settings     string
		original, expanded bool // what is translated
	}{
		{"by default", "", true, true},
		{"original kept", "federation.view-text-rewrite.preserve-original-text: true\n", false, true},
		{"off", "federation.view-text-rewrite.mode: DISABLED\n", false, false},
	} {
		t.Run(mode.name, func(t *testing.T) {
			r := viewServe(t, sweepLoad(t, "apache-3.1.3"), mode.settings)
			pick := func(translated bool, a, b string) string {
				if translated {
					return a
				}
				return b
			}
			for _, tc := range cases {
				r.ok("create_table", hms.Struct{"tbl": view("apache__sales", tc.name, tc.text, tc.spark)})
				raw, err := r.apache.Do("get_table", hms.Struct{"dbname": "sales", "tbl_name": tc.name})
				if err != nil {
					t.Fatal(err)
				}
				in, out := raw.(hms.Struct), r.ok("get_table", hms.Struct{"dbname": "apache__sales", "tbl_name": tc.name}).(hms.Struct)
				for _, c := range []struct{ what, got, want string }{
					{"stored original", in.Str("viewOriginalText"), pick(mode.original, tc.stored, tc.text)},
					{"stored expanded", in.Str("viewExpandedText"), pick(mode.expanded, tc.stored, tc.text)},
					{"stored parameter", param(in, "view.catalogAndNamespace.part.1"), pick(mode.expanded, tc.sparkStored, tc.spark)},
					{"stored catalog of Spark", param(in, "view.catalogAndNamespace.part.0"), "spark_catalog"},
					{"stored comment", param(in, "comment"), "from apache__sales.t"},
					{"original", out.Str("viewOriginalText"), tc.text},
					{"expanded", out.Str("viewExpandedText"), tc.text},
					{"parameter", param(out, "view.catalogAndNamespace.part.1"), tc.spark},
				} {
					if c.got != c.want {
						t.Errorf("%s: %s\ngot  %.200q\nwant %.200q", tc.name, c.what, c.got, c.want)
					}
				}
			}
		})
	}
}

func param(table hms.Struct, key string) string {
	for _, p := range table["parameters"].(hms.Map) {
		if p.Key == key {
			return p.Value.(string)
		}
	}
	return ""
}

// TestNotificationsThroughGateway: events of another catalog, asked for by its
// database or by its name, read in both formats; and the default catalog's,
// which pass as they are. Unknown and optional fields reach the backend
// (impala 58: eventTypeSkipList).
func TestNotificationsThroughGateway(t *testing.T) {
	r := viewServe(t, sweepLoad(t, "apache-4.1.0"), "")
	r.ok("create_table_req", hms.Struct{"request": hms.Struct{"table": view("apache__sales", "v", "select 1 from apache__sales.t", "apache__sales")}})
	for _, tc := range []struct {
		name                string
		rqst                hms.Struct
		db, table, cat, sql string
	}{
		{"by database", hms.Struct{"lastEvent": 0, "dbName": "apache__sales", "tableNames": []string{"v"}},
			"apache__sales", "v", "hive", "select 1 from apache__sales.t"},
		{"by catalog", hms.Struct{"lastEvent": 0, "catName": "apache", "dbName": "sales", "tableNames": []string{"v"}},
			"sales", "v", "apache", "select 1 from sales.t"},
		{"default catalog", hms.Struct{"lastEvent": 0, "dbName": "sales", "tableNames": []string{"big_orders"}},
			"sales", "big_orders", "hive", "select `orders`.`id`, `orders`.`amount` from `sales`.`orders` where"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			events := r.ok("get_next_notification", hms.Struct{"rqst": tc.rqst}).(hms.Struct).Structs("events")
			if len(events) != 1 {
				t.Fatalf("%d events, want 1: %v", len(events), events)
			}
			e := events[0]
			text := gunzip(t, e.Str("message"))
			for _, want := range []string{
				`"db":"` + tc.db + `"`, `"table":"` + tc.table + `"`, `\"2\":{\"str\":\"` + tc.db + `\"}`, `\"17\":{\"str\":\"` + tc.cat + `\"}`,
				`\"11\":{\"str\":\"` + tc.sql, `\"10\":{\"str\":\"` + tc.sql,
			} {
				if !strings.Contains(text, want) {
					t.Errorf("no %s in\n%s", want, text)
				}
			}
			if e.Str("dbName") != tc.db || e.Str("catName") != tc.cat {
				t.Errorf("event of %q in %q, want %q in %q", e.Str("dbName"), e.Str("catName"), tc.db, tc.cat)
			}
		})
	}
	skip := hms.Struct{"rqst": hms.Struct{"lastEvent": 0, "dbName": "apache__sales", "eventTypeSkipList": []string{"CREATE_TABLE"}}}
	for _, e := range r.ok("get_next_notification", skip).(hms.Struct).Structs("events") {
		if e.Str("eventType") == "CREATE_TABLE" {
			t.Errorf("eventTypeSkipList did not reach the backend: %v", e)
		}
	}
	last, id := int64(0), r.ok("get_current_notificationEventId", nil).(hms.Struct)["eventId"]
	for _, e := range r.ok("get_next_notification", hms.Struct{"rqst": hms.Struct{"lastEvent": 0}}).(hms.Struct).Structs("events") {
		if e["eventId"].(int64) != last+1 || strings.Contains(e.Str("dbName"), "__") {
			t.Errorf("event %v of %q after %d: a feed is one catalog's", e["eventId"], e.Str("dbName"), last)
		}
		last++
	}
	if last != id || last == 0 {
		t.Errorf("the last event is %d, the current id %v", last, id)
	}
}

func gunzip(t *testing.T, s string) string {
	t.Helper()
	z, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(s)))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
