package gateway

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"hmsgate/internal/hms"
	"hmsgate/internal/memhms"
	"hmsgate/profiles"
)

// st is a struct, short to write.
type st = hms.Struct

// bridgeStep is a call of a client, and what must be told of its answer: the
// gist of what a client is told by a metastore of its own version, or want.
type bridgeStep struct {
	name, method string
	args         st
	want         string
}

// heard is what an in-memory metastore was asked.
type heard struct {
	mu    sync.Mutex
	calls []string
}

func (h *heard) take() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := h.calls
	h.calls = nil
	return out
}

func bridgeServer(t *testing.T, label string, h *heard) (addr string) {
	t.Helper()
	s := memhms.New(memhms.Config{Inventory: sweepLoad(t, label), Name: "mem", OnCall: func(_ int, method string, _ st) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.calls = append(h.calls, method)
	}})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go s.Serve(ln)
	t.Cleanup(func() { s.Close() })
	return ln.Addr().String()
}

// bridgeGateway is a gateway before two metastores of a version.
func bridgeGateway(t *testing.T, label string, h *heard) *Gateway {
	t.Helper()
	yaml := "listen: 127.0.0.1:0\nrouting.default-catalog: hdp\ncatalog:\n"
	for _, name := range []string{"hdp", "apache"} {
		yaml += fmt.Sprintf("  %s: {uris: thrift://%s, runtime-profile: %s}\n", name, bridgeServer(t, label, h), label)
	}
	return sweepGateway(t, yaml, nil)
}

// TestBridges: what a 4.1.0 client does by its own calls at a metastore of its
// version it does through the gateway at older ones, in both catalogs, and
// every bridge that leads there is walked.
func TestBridges(t *testing.T) {
	for _, back := range []string{"apache-2.3.10", "apache-3.1.3", "hdp-3.1.5.0-152", "apache-4.0.1"} {
		for _, prefix := range []string{"", "apache__"} {
			t.Run(back+" "+prefix, func(t *testing.T) { bridgeRun(t, "apache-4.1.0", back, prefix, bridgeSteps()) })
		}
	}
}

// TestBridgesOfOlderClients: the same for clients of earlier versions and of
// HDP, which have other calls for some of it.
func TestBridgesOfOlderClients(t *testing.T) {
	for _, pair := range [][2]string{
		{"apache-2.3.10", "apache-4.1.0"}, {"apache-3.1.3", "apache-4.1.0"}, {"apache-3.1.3", "apache-4.2.0"},
		{"hdp-3.1.5.0-152", "apache-4.1.0"}, {"hdp-3.1.5.0-152", "apache-3.1.3"}, {"apache-3.1.3", "apache-2.3.10"},
		{"apache-4.2.0", "apache-3.1.3"},
	} {
		for _, prefix := range []string{"", "apache__"} {
			t.Run(pair[0]+" at "+pair[1]+" "+prefix, func(t *testing.T) {
				bridgeRun(t, pair[0], pair[1], prefix, bridgeStepsOf(sweepLoad(t, pair[0])))
			})
		}
	}
}

// bridgeStepsOf are the steps that a version has, positional calls first where
// it lacks those that the others build upon.
func bridgeStepsOf(inv *profiles.Inventory) []bridgeStep {
	at := func(table string) st { return st{"dbname": w, "tbl_name": table} }
	all := []bridgeStep{
		call("create_database", st{"database": st{"name": w, "description": "d"}}),
		call("create_table", st{"tbl": bridgeTable("plain", "1")}),
		step("partitioned", "create_table", st{"tbl": bridgeTable("p", "1", "ds")}),
		call("get_table", at("plain")),
		step("of none", "get_table", at("none")),
		call("get_table_objects_by_name", st{"dbname": w, "tbl_names": []string{"plain", "none", "p"}}),
		{"constraints that 2.3 lacks", "get_unique_constraints",
			st{"request": st{"catName": "hive", "db_name": w, "tbl_name": "plain"}}, "{}"},
		{"indexes", "get_indexes", st{"db_name": w, "tbl_name": "plain", "max_indexes": int16(-1)}, "[]"},
		call("append_partition", st{"db_name": w, "tbl_name": "p", "part_vals": []string{"1"}}),
		call("get_open_txns", nil),
	}
	var out []bridgeStep
	for _, s := range append(all, bridgeSteps()...) {
		m := inv.Methods[s.method]
		newer := inv.Methods["create_database_req"] != nil
		older := s.method == "create_database" || s.method == "create_table" || s.method == "append_partition"
		if m == nil || newer && older || !newer && s.method == "get_table_names_by_filter" {
			continue
		}
		out = append(out, s)
	}
	return out
}

func bridgeRun(t *testing.T, front, back, prefix string, steps []bridgeStep) {
	h := &heard{}
	direct := sweepDial(t, bridgeServer(t, front, &heard{}), sweepLoad(t, front), false)
	through := sweepDial(t, bridgeGateway(t, back, h).Addr().String(), sweepLoad(t, front), false)
	direct.Codec().Lax, through.Codec().Lax = true, true // earlier versions lack some fields
	seen, inv := map[string][]string{}, sweepLoad(t, back)
	plans, err := profiles.Compile(sweepLoad(t, front), inv)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range steps {
		args, _ := sweepPrefixed(s.args, "").(st)
		v, err := direct.Call(t.Context(), s.method, args)
		want := bridgeGist(v, err)
		if s.want != "" && (inv.Methods[s.method] == nil || err != nil) {
			want = s.want // the in-memory one does not know it
		}
		if b := plans.Method([]byte(s.method)).Bridge; b != nil && b.Never != "" {
			want = "error: application exception 1: Invalid method name: '" + s.method + "'"
		}
		args, _ = sweepPrefixed(s.args, prefix).(st)
		h.take()
		v, err = through.Call(t.Context(), s.method, args)
		if got := strings.ReplaceAll(bridgeGist(v, err), prefix, ""); got != want {
			t.Errorf("%s: got\n%s, want\n%s", s.name, got, want)
		}
		if errors.Is(err, hms.ErrBroken) {
			return
		}
		seen[s.method] = append(seen[s.method], h.take()...)
	}
	bridgesWalked(t, plans, seen)
}

// bridgesWalked checks that every bridge of the pair was asked for, by each of
// its calls.
func bridgesWalked(t *testing.T, p *profiles.Plans, seen map[string][]string) {
	t.Helper()
	for _, m := range p.List() {
		if !m.Missing || m.Bridge == nil || m.Bridge.Never != "" || m.Bridge.Here != nil {
			continue
		}
		var calls []string
		for i := range m.Bridge.Candidates {
			calls = append(calls, m.Bridge.Candidates[i].Call)
		}
		if m.Bridge.Program != nil {
			calls = slices.Collect(maps.Values(m.Bridge.Program.Calls))
			if m.Bridge.Program.Name == "views" && m.Bridge.Program.Calls["names"] == "" {
				calls = nil // there are no views to ask for
			}
		}
		for _, call := range calls {
			if !slices.Contains(seen[m.Method], call) && !bridgeUnheard[m.Method+" "+call] {
				t.Errorf("%s did not become %s: the metastore heard %v", m.Method, call, seen[m.Method])
			}
		}
	}
}

// bridgeUnheard are calls that no step leads to, since no view can be made.
var bridgeUnheard = map[string]bool{"get_all_materialized_view_objects_for_rewriting get_table_objects_by_name_req": true}

// bridgeGist is what matters of an answer in every version.
func bridgeGist(v any, err error) string {
	var x *hms.Exception
	switch {
	case errors.As(err, &x):
		return "throws " + x.Type
	case err != nil:
		return "error: " + err.Error()
	}
	var b strings.Builder
	gist(&b, v)
	return b.String()
}

// told are the fields that a gist tells.
var told = map[string]bool{"name": true, "tblName": true, "tableName": true, "dbName": true, "values": true,
	"functionName":   true,
	"function_names": true, "functions": true, "names": true, "tables": true, "table": true, "partitions": true,
	"partition": true,
	"databases": true, "fields": true, "result": true, "description": true, "allTableConstraints": true,
	"primaryKeys": true,
	"column_name": true, "table_db": true, "table_name": true, "parameters": true, "partitionSpec": true,
	"partitionList":      true,
	"notNullConstraints": true, "open_txns": true, "statsObj": true, "colName": true}

func gist(b *strings.Builder, v any) {
	switch x := v.(type) {
	case st:
		b.WriteByte('{')
		for _, k := range slices.Sorted(maps.Keys(x)) {
			if m, ok := x[k].(hms.Map); ok && told[k] {
				fmt.Fprintf(b, "%s.mark=%v ", k, m.Get("mark"))
			} else if told[k] {
				fmt.Fprintf(b, "%s:", k)
				gist(b, x[k])
				b.WriteByte(' ')
			}
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for _, e := range x {
			gist(b, e)
			b.WriteByte(' ')
		}
		b.WriteByte(']')
	default:
		fmt.Fprint(b, v)
	}
}

func bridgeCols(names ...string) []any {
	out := []any{}
	for _, n := range names {
		out = append(out, st{"name": n, "type": "string", "comment": ""})
	}
	return out
}

func bridgeTable(name, mark string, keys ...string) st {
	return st{"tableName": name, "dbName": sweepDB("w"), "owner": "o", "tableType": "EXTERNAL_TABLE",
		"sd": st{"cols": bridgeCols("a", "b"), "location": "file:/w/" + name, "parameters": map[string]string{},
			"serdeInfo": st{"serializationLib": "l", "parameters": map[string]string{}}},
		"partitionKeys": bridgeCols(keys...), "parameters": map[string]string{"mark": mark, "EXTERNAL": "TRUE"}}
}

func bridgePart(value, mark string) st {
	return st{"dbName": sweepDB("w"), "tableName": "p", "values": []string{value},
		"parameters": map[string]string{"mark": mark},
		"sd":         bridgeTable("p", "")["sd"]}
}

func bridgeStats(part string) []any {
	desc := st{"isTblLevel": part == "", "dbName": sweepDB("w"), "tableName": "p"}
	if part == "" {
		desc["tableName"] = "plain"
	} else {
		desc["partName"] = part
	}
	return []any{st{"statsDesc": desc, "engine": "hive", "statsObj": []any{st{"colName": "a", "colType": "string",
		"statsData": st{"stringStats": st{"maxColLen": int64(3), "avgColLen": 2.0, "numNulls": int64(0),
			"numDVs": int64(2)}}}}}}
}

const w = sweepDB("w")

func call(method string, args st) bridgeStep { return bridgeStep{method, method, args, ""} }
func step(what, method string, args st) bridgeStep {
	return bridgeStep{method + " " + what, method, args, ""}
}

// ofP is a request about table p.
func ofP(more st) st {
	r := st{"dbName": w, "tblName": "p"}
	maps.Copy(r, more)
	return st{"req": r}
}

// bridgeSteps are the calls of 4.1.0 that older metastores lack, in an order
// in which each finds what it needs.
func bridgeSteps() []bridgeStep {
	return slices.Concat(bridgeTables(), bridgeParts(), bridgeRest(), bridgeSpecs())
}

// bridgeTables are about databases and tables.
func bridgeTables() []bridgeStep {
	return []bridgeStep{
		call("create_database_req", st{"createDatabaseRequest": st{"databaseName": w, "description": "d"}}),
		step("again", "create_database_req", st{"createDatabaseRequest": st{"databaseName": w}}),
		call("get_database_req", st{"request": st{"name": w, "catalogName": "hive"}}),
		step("of none", "get_database_req", st{"request": st{"name": sweepDB("none")}}),
		call("get_databases_req", st{"request": st{"pattern": w}}),
		call("alter_database_req", st{"alterDbReq": st{"oldDbName": w, "newDb": st{"name": w, "description": "e"}}}),
		call("create_table_req", st{"request": st{"table": bridgeTable("plain", "1")}}),
		step("again", "create_table_req", st{"request": st{"table": bridgeTable("plain", "1")}}),
		step("partitioned", "create_table_req", st{"request": st{"table": bridgeTable("p", "1", "ds")}}),
		step("with a key", "create_table_req", st{"request": st{"table": bridgeTable("keyed", "1"),
			"primaryKeys": []any{st{"table_db": w, "table_name": "keyed", "column_name": "a", "key_seq": int32(1),
				"pk_name":     "pk",
				"enable_cstr": false, "validate_cstr": false, "rely_cstr": true}}}}),
		call("get_all_table_constraints", st{"request": st{"dbName": w, "tblName": "keyed", "catName": "hive"}}),
		call("alter_table_req", st{"req": st{"dbName": w, "tableName": "plain", "table": bridgeTable("plain", "2")}}),
		step("of none", "alter_table_req", st{"req": st{"dbName": w, "tableName": "none", "table": bridgeTable("none",
			"2")}}),
		step("altered", "get_table_req", st{"req": st{"dbName": w, "tblName": "plain", "catName": "hive"}}),
	}
}

// bridgeParts are about partitions.
func bridgeParts() []bridgeStep {
	return []bridgeStep{
		step("by values", "append_partition_req", st{"appendPartitionsReq": st{"catalogName": "hive", "dbName": w,
			"tableName": "p", "partVals": []string{"1"}}}),
		step("by name", "append_partition_req", st{"appendPartitionsReq": st{"dbName": w, "tableName": "p",
			"name": "ds=2"}}),
		step("again", "append_partition_req", st{"appendPartitionsReq": st{"dbName": w, "tableName": "p", "name": "ds=2"}}),
		call("get_partition_req", ofP(st{"partVals": []string{"1"}})),
		step("of none", "get_partition_req", ofP(st{"partVals": []string{"9"}})),
		call("get_partitions_req", ofP(nil)),
		step("most", "get_partitions_req", ofP(st{"maxParts": int16(1)})),
		call("get_partitions_by_filter_req", ofP(st{"filter": `ds > "1"`})),
		call("get_partition_names_ps_req", ofP(nil)),
		step("of values", "get_partition_names_ps_req", ofP(st{"partValues": []string{"2"}})),
		call("get_partitions_ps_with_auth_req", ofP(nil)),
		step("of values", "get_partitions_ps_with_auth_req", ofP(st{"partVals": []string{"1"}, "userName": "u"})),
		{"by names", "get_partitions_ps_with_auth_req", ofP(st{"partNames": []string{"ds=2"}}),
			"{partitions:[{dbName:w parameters.mark=<nil> tableName:p values:[2 ] } ] }"},
		call("fetch_partition_names_req", st{"partitionReq": st{"dbName": w, "tblName": "p"}}),
		call("get_partitions_by_names_req", st{"req": st{"db_name": w, "tbl_name": "p", "names": []string{"ds=1",
			"ds=7"}}}),
		call("get_fields_req", ofP(nil)),
		call("get_schema_req", ofP(nil)),
		call("alter_partitions_req", st{"req": st{"dbName": w, "tableName": "p", "partitions": []any{bridgePart("1",
			"3")}}}),
		step("altered", "get_partition_req", ofP(st{"partVals": []string{"1"}})),
		call("rename_partition_req", st{"req": st{"dbName": w, "tableName": "p", "partVals": []string{"1"},
			"newPart": bridgePart("3", "4")}}),
		step("renamed", "get_partitions_req", ofP(nil)),
	}
}

// bridgeRest are about statistics, lists, and the end of it all.
func bridgeRest() []bridgeStep {
	return []bridgeStep{
		call("update_table_column_statistics_req", st{"req": st{"colStats": bridgeStats(""), "engine": "hive"}}),
		call("update_partition_column_statistics_req", st{"req": st{"colStats": bridgeStats("ds=2"), "engine": "hive"}}),
		step("of the table", "delete_column_statistics_req", st{"req": st{"db_name": w, "tbl_name": "plain",
			"col_names": []string{"a"}}}),
		step("of partitions", "delete_column_statistics_req", st{"req": st{"db_name": w, "tbl_name": "p"}}),
		call("create_function", st{"func": st{"functionName": "f", "dbName": w, "className": "x.Y", "ownerType": int32(1),
			"functionType": int32(1), "resourceUris": []any{}}}),
		call("get_functions_req", st{"request": st{"dbName": w, "catalogName": "hive", "pattern": "*"}}),
		step("whole", "get_functions_req", st{"request": st{"dbName": w, "returnNames": false}}),
		call("get_tables_ext", st{"req": st{"catalog": "hive", "database": w, "tableNamePattern": "*p*",
			"requestedFields": int32(0)}}),
		step("most", "get_tables_ext", st{"req": st{"catalog": "hive", "database": w, "tableNamePattern": "*",
			"requestedFields": int32(0), "limit": int32(1)}}),
		step("by a pattern", "get_table_objects_by_name_req", st{"req": st{"dbName": w, "tablesPattern": "pl*"}}),
		call("get_table_names_by_filter", st{"dbname": w, "filter": `hive_filter_field_tableName__ like "(?i)p.*"`,
			"max_tables": int16(-1)}),
		call("translate_table_dryrun", st{"request": st{"table": bridgeTable("dry", "1")}}),
		call("get_all_materialized_view_objects_for_rewriting", nil),
		call("get_open_txns_req", st{"getOpenTxnsRequest": st{}}),
		call("truncate_table_req", st{"req": st{"dbName": w, "tableName": "plain"}}),
		step("by values", "drop_partition_req", st{"dropPartitionReq": st{"dbName": w, "tblName": "p",
			"partVals": []string{"3"}}}),
		step("by name", "drop_partition_req", st{"dropPartitionReq": st{"catName": "hive", "dbName": w, "tblName": "p",
			"partName": "ds=2"}}),
		step("of none", "drop_partition_req", st{"dropPartitionReq": st{"dbName": w, "tblName": "p", "partName": "ds=2"}}),
		{"nothing", "get_dataconnectors", nil, "[]"},
		call("add_write_ids_to_min_history", st{"txnId": int64(1), "writeIds": map[string]int64{}}),
		call("drop_table_req", st{"dropTableReq": st{"dbName": w, "tableName": "plain", "deleteData": false}}),
		step("not empty", "drop_database_req", st{"req": st{"name": w, "ignoreUnknownDb": false, "deleteData": false,
			"cascade": false}}),
		step("cascade", "drop_database_req", st{"req": st{"name": w, "ignoreUnknownDb": false, "deleteData": false,
			"cascade": true}}),
	}
}

// bridgeSpecs are calls that the in-memory metastore does not have in any version.
func bridgeSpecs() []bridgeStep {
	table := st{"request": st{"table": bridgeTable("p", "1", "ds")}}
	specs := func(filter st) st {
		return st{"request": st{"dbName": w, "tblName": "p", "projectionSpec": st{}, "filterSpec": filter}}
	}
	const one = "{partitionSpec:[{dbName:w partitionList:{partitions:[{dbName:w parameters.mark=<nil> tableName:p values:[%s ] } ] } tableName:p } ] }"
	return []bridgeStep{
		{"database", "create_database_req", st{"createDatabaseRequest": st{"databaseName": w}}, ""},
		{"table", "create_table_req", table, ""},
		{"partition 1", "append_partition_req", st{"appendPartitionsReq": st{"dbName": w, "tableName": "p",
			"name": "ds=1"}}, ""},
		{"specs of all", "get_partitions_with_specs", specs(st{}), fmt.Sprintf(one, "1")},
		{"partition 2", "append_partition_req", st{"appendPartitionsReq": st{"dbName": w, "tableName": "p",
			"name": "ds=2"}}, ""},
		{"specs by names", "get_partitions_with_specs", specs(st{"filterMode": int32(0), "filters": []string{"ds=2"}}),
			fmt.Sprintf(one, "2")},
		{"specs by values", "get_partitions_with_specs", specs(st{"filterMode": int32(1), "filters": []string{"1"}}),
			fmt.Sprintf(one, "1")},
		{"specs by expression", "get_partitions_with_specs", specs(st{"filterMode": int32(2),
			"filters": []string{"ds=1"}}), "throws MetaException"},
	}
}
