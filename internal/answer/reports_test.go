package answer_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"hmsgate/internal/hms"
	"hmsgate/internal/wiretest"
)

// What public bug reports say, in a client's own calls.

// L24 (waggle-dance 346): an exception that the interface declares is an
// answer. Counted as a failure it wakes people up for nothing.
func TestDeclaredExceptionsAreNoErrors(t *testing.T) {
	f := newFront(t)
	c := f.dial("apache-3.1.3")
	for range 20 {
		for _, db := range []string{"sales", "apache__sales"} {
			if _, err := c.try("get_table", hms.Struct{"dbname": db, "tbl_name": "none"}); !isThrown(err, "NoSuchObjectException") {
				t.Fatalf("got %v, want NoSuchObjectException", err)
			}
		}
	}
	f.wantMetric("hmsgate_requests_total", `method="get_table",status="ok"`, 40)
	f.wantMetric("hmsgate_requests_total", `status="error"`, 0)
	f.wantMetric("hmsgate_backend_failures_total", "", 0)
}

// only is a front whose default catalog does as told.
func only(t *testing.T, profile string, answer func(m wiretest.Message) []byte) *front {
	t.Helper()
	b := wiretest.NewBackend(t).Others(wiretest.Serve(func(m wiretest.Message) []byte {
		if m.Method == "getVersion" || m.Method == "getStatus" || m.Method == "get_catalogs" {
			return wiretest.Reply(m.Method, m.Seq, wiretest.Struct(nil).String(0, "3.0").Stop())
		}
		return answer(m)
	}))
	return frontOf(t, &store{addr: b.Addr()}, newStore(t, "apache", profile), "catalog.hdp.runtime-profile: "+profile)
}

func unknownMethod(m wiretest.Message) []byte {
	return wiretest.Exception(m.Method, m.Seq, hms.AppUnknownMethod, "Invalid method name: '"+m.Method+"'")
}

// L25, L33 (spark 35321): an empty answer stands for a method that the
// metastore does not have, never for one that failed.
func TestEmptyAnswersHideNothing(t *testing.T) {
	for _, tc := range []struct {
		method string
		args   hms.Struct
		empty  string
	}{
		{"show_locks", hms.Struct{"rqst": hms.Struct{}}, "map[locks:[]]"},
		{"show_locks", hms.Struct{"rqst": hms.Struct{"dbname": "sales"}}, "map[locks:[]]"},
		{"show_locks", hms.Struct{"rqst": hms.Struct{"dbname": "apache__sales"}}, "map[locks:[]]"},
		{"get_all_functions", nil, "map[functions:[]]"},
		{"get_role_names", nil, "[]"},
		{"get_next_notification", hms.Struct{"rqst": hms.Struct{"lastEvent": 1}}, "map[events:[]]"},
	} {
		for _, c := range []struct {
			name   string
			answer func(m wiretest.Message) []byte
			want   string
		}{
			{"unknown", unknownMethod, ""},
			{"fault", func(m wiretest.Message) []byte { return wiretest.Exception(m.Method, m.Seq, 6, "disk full") }, "disk full"},
			{"declared", func(m wiretest.Message) []byte {
				return wiretest.Reply(m.Method, m.Seq, wiretest.Struct(nil).Struct(1, wiretest.Struct(nil).String(1, "disk full").Stop()).Stop())
			}, "error"},
			{"lost", func(wiretest.Message) []byte { return nil }, "error"},
		} {
			t.Run(fmt.Sprint(tc.method, tc.args, c.name), func(t *testing.T) {
				got, err := only(t, "apache-3.1.3", c.answer).dial("apache-3.1.3").try(tc.method, tc.args)
				switch {
				case c.want == "" && (err != nil || fmt.Sprint(got) != tc.empty):
					t.Errorf("got %v, %v, want %s", got, err, tc.empty)
				case c.want == "disk full" && (err == nil || !strings.Contains(err.Error(), c.want)):
					t.Errorf("got %v, %v, want the metastore's own words", got, err)
				case c.want != "" && err == nil:
					t.Errorf("got %v, want an error", got)
				}
			})
		}
	}
}

// L32 (trino 21438): HDP 2.6 has no get_table_meta. Clients list tables
// otherwise when they are told so, and only then.
func TestTableMetaIsUnknown(t *testing.T) {
	f := only(t, "apache-2.3.10", unknownMethod)
	for _, db := range []string{"sales", "*"} {
		_, err := f.dial("apache-2.3.10").try("get_table_meta", hms.Struct{"db_patterns": db, "tbl_patterns": "*", "tbl_types": []string{}})
		var app *hms.AppError
		if !errors.As(err, &app) || app.Type != hms.AppUnknownMethod || app.Message != "Invalid method name: 'get_table_meta'" {
			t.Errorf("%s: got %v, want that the method is unknown", db, err)
		}
	}
}

// L17 (waggle-dance 4.0.1): a catalog that went away under a client is not a
// catalog without the table.
func TestStoppedCatalog(t *testing.T) {
	f := newFront(t)
	c := f.dial("apache-3.1.3")
	get := hms.Struct{"dbname": "apache__sales", "tbl_name": "orders"}
	c.must("get_table", get)
	f.apache.stop()
	for range 2 { // over the connection there was, and without one
		_, err := c.try("get_table", get)
		var app *hms.AppError
		if !errors.As(err, &app) || app.Type != hms.AppInternalError || !strings.Contains(app.Message, "'apache'") {
			t.Errorf("got %v, want an internal error that names apache", err)
		}
	}
	c.must("get_table", hms.Struct{"dbname": "sales", "tbl_name": "orders"})
}

// L85 (iceberg 2301, iceberg-python 3121): a writer dies with its lock, on a
// table that is still to be made. Nobody beats for it, so that its metastore
// can expire it; until then whoever looks finds it and may release it.
func TestLockOfADeadClient(t *testing.T) {
	for _, mode := range []string{"owner", "primary"} {
		t.Run(mode, func(t *testing.T) {
			f := newFront(t, oneInstance, "catalog.apache.locks: "+mode)
			dead := f.dial("apache-3.1.3")
			v := dead.must("lock", request("Iceberg-dead", 0, part(exclusive, "apache__sales", "to_be_made", opUnset))).(hms.Struct)
			dead.Close()
			next := f.dial("apache-3.1.3")
			mine := next.lock(waiting, 0, part(exclusive, "apache__sales", "to_be_made", opUnset))
			admin := f.dial("apache-3.1.3")
			list := admin.must("show_locks", hms.Struct{"rqst": hms.Struct{"dbname": "apache__sales", "tablename": "to_be_made"}}).(hms.Struct).Structs("locks")
			at := slices.IndexFunc(list, func(e hms.Struct) bool { return e.Str("agentInfo") == "Iceberg-dead" })
			if at < 0 || list[at].Int("lockid") != v.Int("lockid") || list[at].Str("dbname") != "apache__sales" {
				t.Fatalf("got %v, want the dead client's lock among them", list)
			}
			next.check(mine, waiting)
			admin.unlock(list[at].Int("lockid"))
			next.check(mine, acquired)
		})
	}
}

// L89 (hudi 19345): a lock that is not there, whoever would have given it.
func TestUnknownLocksAreNoSuchLock(t *testing.T) {
	f := newFront(t, oneInstance, "catalog.apache.locks: synthetic")
	c := f.dial("apache-3.1.3")
	here := c.lock(acquired, 0, part(exclusive, "apache__sales", "t", opNoTxn))
	c.unlock(here)
	for _, id := range []int64{here, here + 77, 77, 1 << 40} {
		for method, args := range map[string]hms.Struct{"check_lock": {"rqst": hms.Struct{"lockid": id}},
			"heartbeat": {"ids": hms.Struct{"lockid": id}}} {
			if _, err := c.try(method, args); !isThrown(err, "NoSuchLockException") {
				t.Errorf("%s of %d: got %v, want NoSuchLockException", method, id, err)
			}
		}
	}
}

// L90 (iceberg 15446): a writer slept for longer than its lock lived, and
// another one committed. Its own commit says what it expects to find.
func TestStaleCommitIsRefused(t *testing.T) {
	for _, profile := range []string{"apache-4.1.0", "apache-2.3.10", "apache-3.1.3"} {
		for _, db := range []string{"sales", "apache__sales"} {
			t.Run(profile+" "+db, func(t *testing.T) {
				f := frontOf(t, newStore(t, "hdp", profile), newStore(t, "apache", profile))
				c := f.dial("apache-4.1.0")
				create := hms.Struct{"tbl": iceberg(db, "v3")}
				c.must("create_table", create)
				commit := func(expects, says string) error {
					env := map[string]string{"expected_parameter_key": "metadata_location", "expected_parameter_value": expects}
					if expects == "" {
						env = nil
					}
					_, err := c.try("alter_table_with_environment_context", hms.Struct{"dbname": db, "tbl_name": "ice",
						"new_tbl": iceberg(db, says), "environment_context": hms.Struct{"properties": env}})
					return err
				}
				guards := profile != "apache-3.1.3"
				if err := commit("v3", "v4"); (err == nil) != guards {
					t.Fatalf("the commit in time: %v", err)
				}
				if !guards { // which would ignore what is expected
					if err := commit("", "v4"); err != nil {
						t.Fatal(err)
					}
				}
				if err := commit("v3", "v9"); !isThrown(err, "MetaException") {
					t.Errorf("the stale commit: got %v, want a MetaException", err)
				}
				got := c.must("get_table_req", hms.Struct{"req": hms.Struct{"dbName": db, "tblName": "ice"}}).(hms.Struct).Struct("table")
				if at := got["parameters"].(hms.Map).Get("metadata_location"); at != "v4" {
					t.Errorf("the table is at %v, want v4", at)
				}
			})
		}
	}
}

// iceberg is a table at a version of its metadata.
func iceberg(db, at string) hms.Struct {
	return hms.Struct{"dbName": db, "tableName": "ice", "owner": "o", "tableType": "EXTERNAL_TABLE", "partitionKeys": []any{},
		"parameters": map[string]string{"EXTERNAL": "TRUE", "table_type": "ICEBERG", "metadata_location": at},
		"sd": hms.Struct{"cols": []any{hms.Struct{"name": "a", "type": "int", "comment": ""}}, "location": "file:/ice",
			"parameters": map[string]string{}, "serdeInfo": hms.Struct{"serializationLib": "l", "parameters": map[string]string{}}}}
}
