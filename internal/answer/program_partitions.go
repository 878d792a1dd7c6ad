package answer

import "hmsgate/internal/hms"

// How get_partitions_with_specs selects (PartitionFilterMode, 4.0 and later).
const (
	byNames  = 0
	byValues = 1
)

// partitionSpecs are a table's partitions, all or those selected, in one
// specification that lists them: what the request would leave out of them
// (projectionSpec) comes too, which its readers pass over.
func partitionSpecs(w *work) (any, error) {
	req := w.request()
	db := w.db(req.Str("catName"), req.Str("dbName"))
	args := hms.Struct{"db_name": db, "tbl_name": req.Str("tblName"), "max_parts": -1,
		"user_name": req.Str("user"), "group_names": hms.ListOf(hms.Strings(req["groupNames"]))}
	filter := req.Struct("filterSpec")
	part := "all"
	if mode, ok := filter["filterMode"]; ok && filter["filters"] != nil {
		switch n, _ := mode.(int32); n {
		case byNames:
			part = "names"
			args = hms.Struct{"db_name": db, "tbl_name": req.Str("tblName"), "names": filter["filters"]}
		case byValues:
			part, args["part_vals"] = "values", filter["filters"]
		default:
			return nil, w.call.Loss("filterMode: it cannot select partitions by an expression here")
		}
	}
	v, err := w.ask(part, args)
	if err != nil {
		return nil, err
	}
	list, _ := v.([]any)
	specs := []any{}
	if len(list) > 0 {
		specs = append(specs, hms.Struct{"catName": req.Str("catName"), "dbName": req.Str("dbName"),
			"tableName":     req.Str("tblName"),
			"partitionList": hms.Struct{"partitions": list}})
	}
	return hms.Struct{"partitionSpec": specs}, nil
}

// defaultEngine is the engine whose statistics a metastore without engines keeps.
const defaultEngine = "hive"

// columnStatistics deletes statistics of a table or of partitions, column by
// column. What has none is no error, as in a metastore that has the method.
func columnStatistics(w *work) (any, error) {
	req := w.request()
	if e := req.Str("engine"); e != "" && e != defaultEngine && !w.engines() {
		return nil, w.call.Loss("engine: the backend keeps statistics of one engine only")
	}
	db, tbl := w.db(req.Str("cat_name"), req.Str("db_name")), req.Str("tbl_name")
	parts, cols, err := w.statistics(req, db)
	if err != nil {
		return nil, err
	}
	for _, col := range cols {
		args := hms.Struct{"db_name": db, "tbl_name": tbl, "col_name": col, "engine": w.engine(req)}
		if parts == nil {
			if _, err := w.ask("ofTable", args); err != nil && !gone(err) {
				return nil, err
			}
		}
		for _, p := range parts {
			args["part_name"] = p
			if _, err := w.ask("ofPartition", args); err != nil && !gone(err) {
				return nil, err
			}
		}
	}
	return true, nil
}

// statistics are the partitions, nil for the table itself, and the columns
// that a request means.
func (w *work) statistics(req hms.Struct, db string) (parts, cols []string, err error) {
	t, err := w.table(req, db)
	if err != nil {
		return nil, nil, err
	}
	if cols = hms.Strings(req["col_names"]); len(cols) == 0 {
		for _, c := range t.Struct("sd").Structs("cols") {
			cols = append(cols, c.Str("name"))
		}
	}
	if len(t.List("partitionKeys")) == 0 || req.Bool("tableLevel") {
		return nil, cols, nil
	}
	if parts = hms.Strings(req["part_names"]); len(parts) > 0 {
		return parts, cols, nil
	}
	v, err := w.ask("partitions", hms.Struct{"db_name": db, "tbl_name": req.Str("tbl_name"), "max_parts": -1})
	if parts = hms.Strings(v); parts == nil {
		parts = []string{}
	}
	return parts, cols, err
}

// table reads the table, by whichever call the backend has.
func (w *work) table(req hms.Struct, db string) (hms.Struct, error) {
	v, err := w.ask("table", hms.Struct{"dbname": db, "tbl_name": req.Str("tbl_name"),
		"req": hms.Struct{"catName": req.Str("cat_name"), "dbName": req.Str("db_name"), "tblName": req.Str("tbl_name")}})
	if err != nil {
		return nil, err
	}
	t, _ := v.(hms.Struct)
	if in := t.Struct("table"); in != nil {
		t = in
	}
	return t, nil
}

// engines says whether the backend keeps statistics by engine.
func (w *work) engines() bool {
	m := w.p.Back.Methods[w.p.Calls["ofTable"]]
	if m == nil {
		return false
	}
	for i := range m.Args {
		if m.Args[i].Name == "engine" {
			return true
		}
	}
	return false
}

func (w *work) engine(req hms.Struct) string {
	if e := req.Str("engine"); e != "" {
		return e
	}
	return defaultEngine
}
