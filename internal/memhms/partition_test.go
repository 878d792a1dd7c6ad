package memhms

import (
	"testing"

	"hmsgate/internal/hms"
)

func part(db, table string, vals ...string) hms.Struct {
	return hms.Struct{"dbName": db, "tableName": table, "values": vals, "parameters": map[string]string{},
		"sd": hms.Struct{"cols": columns([]string{"a", "int"})}}
}

func (r *rig) addParts(db, table string, vals ...[]string) {
	r.Helper()
	for _, v := range vals {
		r.ok("add_partition", hms.Struct{"new_part": part(db, table, v...)})
	}
}

// two makes default.p with keys ds and hr and five partitions.
func (r *rig) two() {
	r.Helper()
	r.createTable(simple("default", "p", "ds", "string", "hr", "int"))
	r.addParts("default", "p", []string{"2024-01-01", "1"}, []string{"2024-01-01", "2"}, []string{"2024-01-02", "1"},
		[]string{"2024-01-02", "10"}, []string{"2024-01-03", "1"})
}

func at(more hms.Struct) hms.Struct {
	out := hms.Struct{"db_name": "default", "tbl_name": "p"}
	for k, v := range more {
		out[k] = v
	}
	return out
}

func TestPartitionsReadAndAdd(t *testing.T) {
	each(t, func(t *testing.T, r *rig, label string) {
		r.two()
		all := []string{"ds=2024-01-01/hr=1", "ds=2024-01-01/hr=2", "ds=2024-01-02/hr=1", "ds=2024-01-02/hr=10",
			"ds=2024-01-03/hr=1"}
		r.is(all, r.ok("get_partition_names", at(hms.Struct{"max_parts": -1})))
		r.is(all[:2], r.ok("get_partition_names", at(hms.Struct{"max_parts": 2})))
		r.is(all[:2], r.ok("get_partition_names_ps", at(hms.Struct{"part_vals": []string{"2024-01-01"},
			"max_parts": -1})))
		if l := r.ok("get_partitions_ps", at(hms.Struct{"part_vals": []string{"", "1"},
			"max_parts": -1})).([]any); len(l) != 3 {
			t.Errorf("ps: got %d, want 3", len(l))
		}
		p := r.ok("get_partition_by_name", at(hms.Struct{"part_name": "ds=2024-01-02/hr=10"})).(hms.Struct)
		r.is([]any{"2024-01-02", "10"}, p["values"])
		r.is("file:/warehouse/mem/p/ds=2024-01-02/hr=10", p.Struct("sd")["location"])
		r.is(by[any](label, nil, "hive", "hive"), p["catName"])
		r.fails("NoSuchObjectException: partition values=[x, 1]", "get_partition",
			at(hms.Struct{"part_vals": []string{"x", "1"}}))
		r.fails("MetaException: Invalid partition key & values; keys [ds, hr, ], values [x, ]", "get_partition",
			at(hms.Struct{"part_vals": []string{"x"}}))
		if l := r.ok("get_partitions_by_names", at(hms.Struct{"names": []string{all[4], "none",
			all[0]}})).([]any); len(l) != 2 {
			t.Errorf("by names: got %d, want 2", len(l))
		}
		_, err := r.c.Call(t.Context(), "add_partition", hms.Struct{"new_part": part("default", "p", "2024-01-03",
			"1")})
		if x, ok := err.(*hms.Exception); !ok || x.Type != "AlreadyExistsException" {
			t.Errorf("again: got %v", err)
		}
		r.fails("InvalidObjectException: "+by(label, "Unable to add partition because table or database do not exist",
			"Unable to add partition because table or database do not exist",
			"Unable to add partitions because hive.default.none does not exist"), "add_partition", hms.Struct{"new_part": part("default", "none", "1")})
		r.is(int32(2), r.ok("add_partitions", hms.Struct{"new_parts": []any{part("default", "p", "2024-02-01", "1"),
			part("default", "p", "2024-02-01", "2")}}))
		req := hms.Struct{"dbName": "default", "tblName": "p", "ifNotExists": true,
			"parts": []any{part("default", "p", "2024-02-01", "1"), part("default", "p", "2024-02-02", "1")}}
		if l := r.ok("add_partitions_req", hms.Struct{"request": req}).(hms.Struct).Structs("partitions"); len(l) != 1 {
			t.Errorf("add_partitions_req: got %d, want 1", len(l))
		}
		p = r.ok("append_partition_by_name", at(hms.Struct{"part_name": "ds=a%3Ab/hr=1"})).(hms.Struct)
		r.is([]any{"a:b", "1"}, p["values"])
		if l := r.ok("get_partitions_pspec", at(hms.Struct{"max_parts": -1})).([]any); len(l) != 1 ||
			len(l[0].(hms.Struct).Struct("sharedSDPartitionSpec").List("partitions")) != 9 {
			t.Errorf("pspec: %v", l)
		}
	})
}

func TestFilters(t *testing.T) {
	for _, c := range []struct {
		filter string
		want   [3]int // by version
		err    [3]string
	}{
		{filter: `ds = "2024-01-01"`, want: [3]int{2, 2, 2}},
		{filter: `ds != '2024-01-01'`, want: [3]int{3, 3, 3}},
		{filter: `ds >= "2024-01-02" and hr = 1`, want: [3]int{2, 2, 2}},
		{filter: `hr > 2`, want: [3]int{1, 1, 1}}, // a number: 10 is more than 2
		{filter: `(ds = "2024-01-01" or ds = "2024-01-03") and hr <= 1`, want: [3]int{2, 2, 2}},
		{filter: `ds < "2024-01-02" OR hr = 10`, want: [3]int{3, 3, 3}},
		{filter: `"2024-01-02" <= ds`, want: [3]int{3, 3, 3}},
		{filter: `ds like "2024-01-0%"`, want: [3]int{0, 0, 5}},
		{filter: `ds like "2024-01-0.*"`, want: [3]int{5, 5, 5}},
		{filter: `hr in (1, 10)`, want: [3]int{4, 4, 4}},
		{filter: ``, want: [3]int{5, 5, 5}},
		{filter: `ds = = 1`, err: [3]string{"Error parsing partition filter; lexer error: null; exception NoViableAltException(9@[])", "",
			"Error parsing partition filter: lexer error: extraneous input '=' expecting {'-', 'DATE', 'TIMESTAMP', STRING, INTEGER_VALUE, DATE_VALUE, TIMESTAMP_VALUE}"}},
		{filter: `ds =`, err: [3]string{"Error parsing partition filter; lexer error: null; exception NoViableAltException(-1@[])", "",
			"Error parsing partition filter: lexer error: mismatched input '<EOF>' expecting {'-', 'DATE', 'TIMESTAMP', STRING, INTEGER_VALUE, DATE_VALUE, TIMESTAMP_VALUE}"}},
		{filter: `nokey = 1`, err: [3]string{"Specified key <nokey> is not a partitioning key for the table", "",
			"Specified key <nokey> is not a partitioning key for the table"}},
	} {
		c.err[1] = c.err[0]
		for i, label := range labels {
			t.Run(label+" "+c.filter, func(t *testing.T) {
				r := start(t, label)
				r.two()
				args := at(hms.Struct{"filter": c.filter, "max_parts": -1})
				if c.err[i] != "" {
					r.fails("MetaException: "+c.err[i], "get_partitions_by_filter", args)
					return
				}
				if l := r.ok("get_partitions_by_filter", args).([]any); len(l) != c.want[i] {
					t.Errorf("got %d, want %d", len(l), c.want[i])
				}
				r.is(int32(c.want[i]), r.ok("get_num_partitions_by_filter", at(hms.Struct{"filter": c.filter})))
			})
		}
	}
}

func TestPartitionsChange(t *testing.T) {
	each(t, func(t *testing.T, r *rig, label string) {
		r.two()
		p := r.ok("get_partition", at(hms.Struct{"part_vals": []string{"2024-01-01", "1"}})).(hms.Struct)
		p["parameters"] = map[string]string{"new": "1"}
		r.ok("alter_partition", at(hms.Struct{"new_part": p}))
		q := r.ok("get_partition", at(hms.Struct{"part_vals": []string{"2024-01-01", "1"}})).(hms.Struct)
		r.is("1", params(q)["new"])
		r.is("0", params(q)["numFiles"])
		_, err := r.c.Call(t.Context(), "alter_partitions", at(hms.Struct{"new_parts": []any{p,
			part("default", "p", "none", "1")}}))
		if err == nil {
			t.Error("altered a partition that is not there")
		}
		p["values"] = []string{"2024-01-09", "1"}
		r.ok("rename_partition", at(hms.Struct{"part_vals": []string{"2024-01-01", "1"}, "new_part": p}))
		r.fails("NoSuchObjectException: partition values=[2024-01-01, 1]", "get_partition",
			at(hms.Struct{"part_vals": []string{"2024-01-01", "1"}}))
		r.is(true, r.ok("drop_partition", at(hms.Struct{"part_vals": []string{"2024-01-09", "1"}, "deleteData": true})))
		r.is(true, r.ok("drop_partition_by_name", at(hms.Struct{"part_name": "ds=2024-01-03/hr=1"})))
		r.fails("NoSuchObjectException: partition values=[9, 9]", "drop_partition",
			at(hms.Struct{"part_vals": []string{"9", "9"}}))
		req := hms.Struct{"dbName": "default", "tblName": "p",
			"parts": hms.Struct{"names": []string{"ds=2024-01-02/hr=1"}}, "needResult": true}
		if l := r.ok("drop_partitions_req", hms.Struct{"req": req}).(hms.Struct).Structs("partitions"); len(l) != 1 {
			t.Errorf("drop_partitions_req: %v", l)
		}
		r.is([]string{"ds=2024-01-01/hr=2", "ds=2024-01-02/hr=10"},
			r.ok("get_partition_names", at(hms.Struct{"max_parts": -1})))

		r.createTable(simple("default", "q", "ds", "string", "hr", "int"))
		x := hms.Struct{"partitionSpecs": map[string]string{"ds": "2024-01-01"}, "source_db": "default",
			"source_table_name": "p", "dest_db": "default", "dest_table_name": "q"}
		if l := r.ok("exchange_partitions", x).([]any); len(l) != 1 {
			t.Errorf("exchange: %v", l)
		}
		none := "MetaException: No partition is found with the values {ds=2024-01-01} for the table p"
		r.fails(by(label, "MetaException: Got exception: java.io.FileNotFoundException File file:/warehouse/mem/p/ds=2024-01-01 does not exist", none, none), "exchange_partitions", x)
		ev := at(hms.Struct{"part_vals": map[string]string{"ds": "a", "hr": "1"}, "eventType": 1})
		r.is(false, r.ok("isPartitionMarkedForEvent", ev))
		r.ok("markPartitionForEvent", ev)
		r.is(true, r.ok("isPartitionMarkedForEvent", ev))
	})
}

func TestPartitionRequests(t *testing.T) {
	r := start(t, v4)
	r.two()
	home := hms.Struct{"dbName": "default", "tblName": "p"}
	if p := r.ok("get_partition_req", hms.Struct{"req": with(home, "partVals",
		[]string{"2024-01-01", "1"})}).(hms.Struct).Struct("partition"); p == nil {
		t.Error("get_partition_req: no partition")
	}
	if l := r.ok("get_partitions_req", hms.Struct{"req": with(home, "maxParts",
		3)}).(hms.Struct).List("partitions"); len(l) != 3 {
		t.Errorf("get_partitions_req: %d, want 3", len(l))
	}
	if l := r.ok("get_partition_names_ps_req", hms.Struct{"req": with(home, "partValues",
		[]string{"2024-01-02"})}).(hms.Struct).List("names"); len(l) != 2 {
		t.Errorf("get_partition_names_ps_req: %v", l)
	}
	if l := r.ok("get_partitions_by_filter_req", hms.Struct{"req": with(home, "filter",
		"hr = 1")}).([]any); len(l) != 3 {
		t.Errorf("get_partitions_by_filter_req: %d, want 3", len(l))
	}
	if l := r.ok("fetch_partition_names_req", hms.Struct{"partitionReq": home}).([]any); len(l) != 5 {
		t.Errorf("fetch_partition_names_req: %d, want 5", len(l))
	}
	// 4.x answers a missing table with nothing.
	r.is([]string{}, r.ok("get_partition_names", hms.Struct{"db_name": "default", "tbl_name": "none", "max_parts": -1}))
	start(t, v3).fails("NoSuchObjectException: hive.default.none table not found", "get_partition_names",
		hms.Struct{"db_name": "default", "tbl_name": "none", "max_parts": -1})
}

func TestStatistics(t *testing.T) {
	each(t, func(t *testing.T, r *rig, label string) {
		r.two()
		stats := func(part string, lo, hi int) hms.Struct {
			return hms.Struct{"statsDesc": hms.Struct{"isTblLevel": part == "", "dbName": "default", "tableName": "p",
				"partName": part},
				"statsObj": []any{hms.Struct{"colName": "a", "colType": "int",
					"statsData": hms.Struct{"longStats": hms.Struct{"lowValue": lo, "highValue": hi, "numNulls": 3,
						"numDVs": 7}}}}}
		}
		r.is(true, r.ok("update_table_column_statistics", hms.Struct{"stats_obj": stats("", 1, 9)}))
		for i, name := range []string{"ds=2024-01-01/hr=1", "ds=2024-01-01/hr=2"} {
			r.is(true, r.ok("update_partition_column_statistics", hms.Struct{"stats_obj": stats(name, 5-i, 50+i)}))
		}
		req := hms.Struct{"dbName": "default", "tblName": "p", "colNames": []string{"a"},
			"partNames": []string{"ds=2024-01-01/hr=1", "ds=2024-01-01/hr=2"}}
		sum := r.ok("get_aggr_stats_for", hms.Struct{"request": req}).(hms.Struct)
		r.is(int64(2), sum["partsFound"])
		r.is(hms.Struct{"lowValue": int64(4), "highValue": int64(51), "numNulls": int64(6), "numDVs": int64(7)},
			sum.Structs("colStats")[0].Struct("statsData")["longStats"])
		col := hms.Struct{"db_name": "default", "tbl_name": "p", "col_name": "a"}
		r.is("a", r.ok("get_table_column_statistics", col).(hms.Struct).Structs("statsObj")[0]["colName"])
		r.fails("application exception 5: get_table_column_statistics failed: unknown result",
			"get_table_column_statistics", with(col, "col_name", "b"))
		if r.has("delete_column_statistics_req") {
			r.is(true, r.ok("delete_column_statistics_req", hms.Struct{"req": hms.Struct{"db_name": "default",
				"tbl_name": "p", "col_names": []string{"a"}, "tableLevel": true}}))
		} else {
			r.is(true, r.ok("delete_table_column_statistics", col))
		}
		r.fails("application exception 5: get_table_column_statistics failed: unknown result",
			"get_table_column_statistics", col)
	})
}
