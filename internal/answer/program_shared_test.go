package answer_test

import (
	"fmt"
	"strings"
	"testing"

	"hmsgate/internal/hms"
)

// shared is a client of 4.1.0 before metastores of 3.1.3, which have the
// methods below and understand less of their requests.
func shared(t *testing.T, settings ...string) (*front, *caller) {
	f := newFront(t, settings...)
	return f, f.dial("apache-4.1.0")
}

func wantError(t *testing.T, what string, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: got %v, want %q in it", what, err, want)
	}
}

// A database that is not there is dropped where the request takes it so.
func TestDropDatabaseOfNone(t *testing.T) {
	f, c := shared(t)
	drop := func(name string, ignore, soft bool) error {
		_, err := c.try("drop_database_req", hms.Struct{"req": hms.Struct{"name": name, "ignoreUnknownDb": ignore, "deleteData": false,
			"cascade": true, "softDelete": soft}})
		return err
	}
	for _, prefix := range []string{"", "apache__"} {
		if err := drop(prefix+"none", true, false); err != nil {
			t.Errorf("%snone, ignored: %v", prefix, err)
		}
		wantError(t, prefix+"none", drop(prefix+"none", false, false), "NoSuchObjectException")
		wantError(t, prefix+"soft", drop(prefix+"sales", true, true), "softDelete: the backend has no soft delete")
		if err := drop(prefix+"sales", true, false); err != nil {
			t.Errorf("%ssales: %v", prefix, err)
		}
	}
	for name, s := range map[string]*store{"hdp": f.hdp, "apache": f.apache} {
		got := s.calls("drop_database")
		if len(got) != 1 || got[0].args.Str("name") != "sales" || !got[0].args.Bool("cascade") {
			t.Errorf("%s was asked %v, want sales dropped with its tables, and nothing else", name, got)
		}
	}
}

// 4.x asks for a catalog to be dropped if it is there.
func TestDropCatalogOfNone(t *testing.T) {
	_, c := shared(t, "routing.global-writes: default")
	for ifExists, want := range map[bool]string{true: "", false: "NoSuchObjectException"} {
		_, err := c.try("drop_catalog", hms.Struct{
			"catName": hms.Struct{"name": "none", "ifExists": ifExists}})
		if want == "" && err != nil {
			t.Errorf("if exists: %v", err)
		} else if want != "" {
			wantError(t, "drop", err, want)
		}
	}
}

// Partitions without columns get the request's or the table's, and come back
// without them.
func TestAddPartitionsWithoutColumns(t *testing.T) {
	f, c := shared(t)
	cols := []any{hms.Struct{"name": "only", "type": "string"}}
	table := hms.Struct{"dbName": "sales", "tableName": "p", "owner": "me", "tableType": "MANAGED_TABLE",
		"sd": hms.Struct{"cols": []any{hms.Struct{"name": "a", "type": "int"}}, "serdeInfo": hms.Struct{}}, "parameters": hms.MapOf(nil),
		"partitionKeys": []any{hms.Struct{"name": "ds", "type": "string"}}}
	c.must("create_table_req", hms.Struct{"request": hms.Struct{"table": table}})
	for ds, schema := range map[string][]any{"1": cols, "2": nil} {
		part := hms.Struct{"values": []any{ds}, "dbName": "sales", "tableName": "p", "sd": hms.Struct{"serdeInfo": hms.Struct{}}}
		req := hms.Struct{"dbName": "sales", "tblName": "p", "parts": []any{part}, "ifNotExists": true, "needResult": true,
			"skipColumnSchemaForPartition": true}
		want := "a"
		if schema != nil {
			req["partitionColSchema"], want = schema, "only"
		}
		v := c.must("add_partitions_req", hms.Struct{"request": req}).(hms.Struct)
		calls := f.hdp.calls("add_partitions_req")
		stored := calls[len(calls)-1].args.Struct("request").Structs("parts")[0].Struct("sd").Structs("cols")
		if len(stored) != 1 || stored[0].Str("name") != want {
			t.Errorf("%s: stored with columns %v, want %s", ds, stored, want)
		}
		back, told := v.Structs("partitions"), v.Structs("partitionColSchema")
		if len(back) != 1 || len(back[0].Struct("sd").List("cols")) != 0 || len(told) != 1 || told[0].Str("name") != want {
			t.Errorf("%s: got %v, want one without columns, and %s told once", ds, v, want)
		}
		// what the program cannot keep is still refused
		part["colStats"] = hms.Struct{"statsDesc": hms.Struct{"isTblLevel": false, "dbName": "sales", "tableName": "p"},
			"statsObj": []any{hms.Struct{"colName": "a", "colType": "timestamp", "statsData": hms.Struct{
				"timestampStats": hms.Struct{"numNulls": 0, "numDVs": 0}}}}}
		_, err := c.try("add_partitions_req", hms.Struct{"request": req})
		wantError(t, "statistics of timestamps", err, "timestampStats: the backend has no statistics of timestamps")
		if n := len(f.hdp.calls("add_partitions_req")); n != len(calls) {
			t.Errorf("the refused call reached the metastore")
		}
	}
}

// A call too large to be held, whose prefix alone says where it goes, streams as it did before there was a program;
// one that would lose something is refused.
func TestAddManyPartitions(t *testing.T) {
	f, c := shared(t, "limits.frame-bytes: 300000")
	for _, skip := range []bool{false, true} {
		var parts []any
		for i := range 600 {
			parts = append(parts, hms.Struct{"values": []any{strings.Repeat("x", 1000) + fmt.Sprint(i), "1"}, "dbName": "apache__sales", "tableName": "orders",
				"sd": hms.Struct{"cols": []any{}, "serdeInfo": hms.Struct{}}})
		}
		req := hms.Struct{"dbName": "apache__sales", "tblName": "orders", "parts": parts, "ifNotExists": true, "needResult": false}
		if skip {
			req["skipColumnSchemaForPartition"] = true
		}
		_, err := c.try("add_partitions_req", hms.Struct{"request": req})
		if !skip && err != nil {
			t.Errorf("many partitions: %v", err)
		}
		if skip {
			wantError(t, "many partitions without columns", err, "skipColumnSchemaForPartition: the backend would store partitions without columns")
		}
	}
	if n := len(f.apache.calls("add_partitions_req")); n != 1 {
		t.Errorf("the metastore got %d calls, want the one that loses nothing", n)
	}
}

// Of another catalog the same is refused, since its locks are put together
// from two metastores.
func TestShowLocksOfTxnElsewhere(t *testing.T) {
	_, c := shared(t)
	_, err := c.try("show_locks", hms.Struct{"rqst": hms.Struct{"dbname": "apache__sales", "txnid": int64(3)}})
	if err == nil {
		t.Error("the filter was dropped in silence")
	}
}

func TestShowLocksOfTxn(t *testing.T) {
	_, c := shared(t)
	var txns []int64
	for range 2 {
		txn := c.openTxn()
		txns = append(txns, txn)
		c.must("lock", request("a", txn, part(sharedRead, "sales", "orders", opSelect)))
	}
	v := c.must("show_locks", hms.Struct{"rqst": hms.Struct{"txnid": txns[1]}}).(hms.Struct)
	if l := v.Structs("locks"); len(l) != 1 || l[0].Int("txnid") != txns[1] {
		t.Errorf("got %v, want the lock of transaction %d", l, txns[1])
	}
	if v = c.must("show_locks", hms.Struct{"rqst": hms.Struct{}}).(hms.Struct); len(v.List("locks")) != 2 {
		t.Errorf("without a transaction: got %v, want both", v)
	}
}

func TestShowCompactSelects(t *testing.T) {
	for _, prefix := range []string{"", "apache__"} {
		_, c := shared(t)
		var ids []int64
		for i, db := range []string{"sales", "sales", "crm"} {
			v := c.must("compact2", hms.Struct{"rqst": hms.Struct{"dbname": prefix + db, "tablename": fmt.Sprintf("t%d", i),
				"type": int32(1 + i%2)}}).(hms.Struct)
			ids = append(ids, v.Int("id"))
		}
		for _, s := range []struct {
			name string
			req  hms.Struct
			want string
		}{
			{"database", hms.Struct{"dbName": prefix + "SALES"}, "[t0 t1]"},
			{"table", hms.Struct{"dbName": prefix + "sales", "tbName": "t1"}, "[t1]"},
			{"type", hms.Struct{"dbName": prefix + "sales", "type": int32(1)}, "[t0]"},
			{"limit", hms.Struct{"dbName": prefix + "sales", "limit": int64(1)}, "[t0]"},
			{"id", hms.Struct{"dbName": prefix + "sales", "id": ids[1]}, "[t1]"},
			{"none", hms.Struct{"dbName": prefix + "sales", "partName": "ds=1"}, "[]"},
		} {
			v := c.must("show_compact", hms.Struct{"rqst": s.req}).(hms.Struct)
			got := []string{}
			for _, e := range v.Structs("compacts") {
				got = append(got, e.Str("tablename"))
				if db := e.Str("dbname"); !strings.EqualFold(db, prefix+"sales") {
					t.Errorf("%s%s: a database is told as %q", prefix, s.name, db)
				}
			}
			if fmt.Sprint(got) != s.want {
				t.Errorf("%s%s: got %v, want %s", prefix, s.name, got, s.want)
			}
		}
		for _, field := range []string{"state", "poolName"} {
			_, err := c.try("show_compact", hms.Struct{"rqst": hms.Struct{"dbName": prefix + "sales", field: "x"}})
			wantError(t, field, err, field+": the backend ")
		}
	}
}

// Hive 4 may leave its list of transactions out and writes runs; 3.1.3 must
// have one, and none of these.
func TestWriteIDsWithoutList(t *testing.T) {
	f, c := shared(t)
	c.write("sales", "orders", true)
	c.write("sales", "orders", false)
	ask := func(req hms.Struct) (string, error) {
		v, err := c.try("get_valid_write_ids", hms.Struct{"rqst": req})
		if err != nil {
			return "", err
		}
		e := v.(hms.Struct).Structs("tblValidWriteIds")
		if len(e) == 0 {
			return "", fmt.Errorf("no tables in %v", v)
		}
		return fmt.Sprint(e[0].Str("fullTableName"), e[0].Int("writeIdHighWaterMark"), e[0].List("invalidWriteIds")), nil
	}
	one := hms.ListOf(names("sales.orders"))
	if got, err := ask(hms.Struct{"fullTableNames": one}); err != nil || got != "sales.orders2 [2]" {
		t.Errorf("without a list: got %q, %v, want what a reader of now sees", got, err)
	}
	if _, err := ask(hms.Struct{"fullTableNames": one, "validTxnList": "9:3:3-5,7:8"}); err != nil {
		t.Error(err)
	}
	calls := f.hdp.calls("get_valid_write_ids")
	if got := calls[len(calls)-1].args.Struct("rqst").Str("validTxnList"); got != "9:3:3,4,5,7:8" {
		t.Errorf("the metastore got %q, want no runs", got)
	}
	_, err := ask(hms.Struct{"fullTableNames": one, "validTxnList": "9:3:3-9000000000:"})
	wantError(t, "a run of billions", err, "too many to write out")
	_, err = ask(hms.Struct{"fullTableNames": one, "writeId": int64(1)})
	wantError(t, "by write id", err, "writeId: the backend cannot tell")
}

// Two catalogs and no list: each is read as of now, every time.
func TestWriteIDsWithoutListOfTwoCatalogs(t *testing.T) {
	f := newFront(t)
	c := f.dial("hdp-3.1.0.0-78")
	c.Codec().Lax = true
	direct := f.apache.direct(t)
	for want := 1; want <= 2; want++ {
		direct.write("sales", "orders", true)
		c.write("sales", "orders", true)
		v, err := c.try("get_valid_write_ids", hms.Struct{"rqst": hms.Struct{"fullTableNames": hms.ListOf(names("sales.orders", "apache__sales.orders"))}})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range v.(hms.Struct).Structs("tblValidWriteIds") {
			if e.Int("writeIdHighWaterMark") != int64(want) {
				t.Errorf("%s: up to %d, want %d", e.Str("fullTableName"), e.Int("writeIdHighWaterMark"), want)
			}
		}
	}
}
