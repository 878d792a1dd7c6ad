package memhms

import (
	"os"
	"path/filepath"
	"testing"

	"hmsgate/internal/hms"
)

func (r *rig) createDB(name string) {
	r.Helper()
	r.ok("create_database", hms.Struct{"database": hms.Struct{"name": name, "description": "d",
		"parameters": map[string]string{"k": "v"}}})
}

func (r *rig) createTable(t hms.Struct) {
	r.Helper()
	r.ok("create_table", hms.Struct{"tbl": t})
}

// get reads a table in the form that the version has.
func (r *rig) get(db, name string) hms.Struct {
	r.Helper()
	if r.has("get_table") {
		return r.ok("get_table", hms.Struct{"dbname": db, "tbl_name": name}).(hms.Struct)
	}
	return r.ok("get_table_req", hms.Struct{"req": hms.Struct{"dbName": db,
		"tblName": name}}).(hms.Struct).Struct("table")
}

func (r *rig) getFails(want, db, name string) {
	r.Helper()
	if r.has("get_table") {
		r.fails(want, "get_table", hms.Struct{"dbname": db, "tbl_name": name})
	} else {
		r.fails(want, "get_table_req", hms.Struct{"req": hms.Struct{"dbName": db, "tblName": name}})
	}
}

func TestDatabases(t *testing.T) {
	each(t, func(t *testing.T, r *rig, label string) {
		r.is([]string{"default"}, r.ok("get_all_databases", nil))
		for _, n := range []string{"Sales", "sales_2", "crm"} {
			r.createDB(n)
		}
		r.is([]string{"crm", "default", "sales", "sales_2"}, r.ok("get_all_databases", nil))
		for pattern, want := range map[string][]string{"*": {"crm", "default", "sales", "sales_2"}, "sales": {"sales"},
			"SALES*":    {"sales", "sales_2"},
			"crm|sales": {"crm", "sales"}, "s.les": {"sales"}, "": {}, "ales": {}, "s*2|d*": {"default", "sales_2"}} {
			if got := r.ok("get_databases", hms.Struct{"pattern": pattern}); len(got.([]any)) != len(want) {
				t.Errorf("pattern %q: got %v, want %v", pattern, got, want)
			} else {
				r.is(want, got)
			}
		}
		d := r.ok("get_database", hms.Struct{"name": "SALES"}).(hms.Struct)
		r.is("sales", d["name"])
		r.is("file:/warehouse/mem/sales.db", d["locationUri"])
		r.is(by[any](label, nil, "hive", "hive"), d["catalogName"])
		r.fails(by(label, "NoSuchObjectException: x", "NoSuchObjectException: x",
			"NoSuchObjectException: database hive.x"), "get_database", hms.Struct{"name": "x"})
		r.fails("AlreadyExistsException: Database crm already exists", "create_database",
			hms.Struct{"database": hms.Struct{"name": "crm"}})
		r.ok("alter_database", hms.Struct{"dbname": "crm", "db": hms.Struct{"name": "crm", "description": "new",
			"parameters": map[string]string{"x": "y"}}})
		d = r.ok("get_database", hms.Struct{"name": "crm"}).(hms.Struct)
		r.is(by(label, "d", "new", "new"), d["description"])
		r.is(hms.Map{{Key: "x", Value: "y"}}, d["parameters"])

		r.createTable(simple("sales", "t"))
		r.fails("InvalidOperationException: Database sales is not empty. One or more tables exist.", "drop_database",
			hms.Struct{"name": "sales"})
		r.ok("drop_database", hms.Struct{"name": "sales", "cascade": true})
		r.ok("drop_database", hms.Struct{"name": "crm"})
		r.is([]string{"default", "sales_2"}, r.ok("get_all_databases", nil))
		if _, err := r.c.Call(t.Context(), "drop_database",
			hms.Struct{"name": "default", "cascade": true}); err == nil {
			t.Error("the default database was dropped")
		}
	})
}

func TestDatabaseRequests(t *testing.T) {
	r := start(t, v4)
	r.ok("create_database_req", hms.Struct{"createDatabaseRequest": hms.Struct{"databaseName": "Crm",
		"description": "x"}})
	d := r.ok("get_database_req", hms.Struct{"request": hms.Struct{"name": "crm"}}).(hms.Struct)
	r.is("x", d["description"])
	r.is(int32(1_700_000_000), d["createTime"])
	r.ok("alter_database_req", hms.Struct{"alterDbReq": hms.Struct{"oldDbName": "@hive#crm",
		"newDb": hms.Struct{"name": "crm", "description": "y"}}})
	r.is("y", r.ok("get_database", hms.Struct{"name": "crm"}).(hms.Struct)["description"])
	l := r.ok("get_databases_req", hms.Struct{"request": hms.Struct{"pattern": "c*"}}).(hms.Struct).Structs("databases")
	if len(l) != 1 || l[0]["name"] != "crm" {
		t.Errorf("get_databases_req: got %v", l)
	}
	r.ok("drop_database_req", hms.Struct{"req": hms.Struct{"name": "nothing", "ignoreUnknownDb": true,
		"deleteData": true, "cascade": false}})
	r.ok("drop_database_req", hms.Struct{"req": hms.Struct{"name": "crm", "ignoreUnknownDb": false, "deleteData": true,
		"cascade": false}})
	r.fails("NoSuchObjectException: database hive.crm", "get_database", hms.Struct{"name": "crm"})
}

// The prefix names a catalog from 3.0 on, and is part of the name before.
func TestCatalogPrefix(t *testing.T) {
	each(t, func(t *testing.T, r *rig, label string) {
		r.createDB("sales")
		if label == v2 {
			r.is([]string{}, r.ok("get_databases", hms.Struct{"pattern": "@hive#*"}))
			r.fails("NoSuchObjectException: @hive#sales", "get_database", hms.Struct{"name": "@hive#sales"})
			r.is([]string{}, r.ok("get_all_tables", hms.Struct{"db_name": "@hive#sales"}))
			return
		}
		for pattern, want := range map[string][]string{"@hive#": {"default", "sales"}, "@hive#!": {},
			"@hive#s*": {"sales"}, "@nowhere#": {}} {
			r.is(want, r.ok("get_databases", hms.Struct{"pattern": pattern}))
		}
		r.is("sales", r.ok("get_database", hms.Struct{"name": "@hive#sales"}).(hms.Struct)["name"])
		r.createTable(simple("sales", "t"))
		r.is([]string{"t"}, r.ok("get_all_tables", hms.Struct{"db_name": "@hive#sales"}))
		// In a request struct it is a name like any other.
		r.fails("NoSuchObjectException: hive.@hive#sales.t table not found", "get_table_req",
			hms.Struct{"req": hms.Struct{"dbName": "@hive#sales", "tblName": "t"}})

		r.ok("create_catalog", hms.Struct{"catalog": hms.Struct{"catalog": hms.Struct{"name": "other",
			"locationUri": "file:/o"}}})
		r.is([]string{"hive", "other"}, r.ok("get_catalogs", nil).(hms.Struct)["names"])
		r.ok("create_database", hms.Struct{"database": hms.Struct{"name": "crm", "catalogName": "other"}})
		r.is([]string{"crm", "default"}, r.ok("get_databases", hms.Struct{"pattern": "@other#"}))
		r.is([]string{"default", "sales"}, r.ok("get_all_databases", nil))
		r.is("file:/o/crm.db", r.ok("get_database", hms.Struct{"name": "@other#crm"}).(hms.Struct)["locationUri"])
		r.fails("InvalidOperationException: There are non-default databases in the catalog other so it cannot be dropped.", "drop_catalog", hms.Struct{"catName": hms.Struct{"name": "other"}})
		r.ok("drop_database", hms.Struct{"name": "@other#crm"})
		r.ok("drop_catalog", hms.Struct{"catName": hms.Struct{"name": "other"}})
		r.fails("NoSuchObjectException: No catalog other", "get_catalog",
			hms.Struct{"catName": hms.Struct{"name": "other"}})
	})
}

func TestTables(t *testing.T) {
	each(t, func(t *testing.T, r *rig, label string) {
		r.createDB("sales")
		in := simple("Sales", "Orders", "ds", "string")
		in["parameters"] = map[string]string{"k": "v"}
		r.createTable(in)
		got := r.get("SALES", "ORDERS")
		r.is("orders", got["tableName"])
		r.is("sales", got["dbName"])
		r.is(int32(1_700_000_000), got["createTime"])
		r.is(by[any](label, nil, "hive", "hive"), got["catName"])
		r.is(by(label, "MANAGED_TABLE", "MANAGED_TABLE", "EXTERNAL_TABLE"), got["tableType"])
		r.is("file:/warehouse/mem/sales.db/orders", got.Struct("sd")["location"])
		r.is("1700000000", params(got)["transient_lastDdlTime"])
		r.is("v", params(got)["k"])

		q := by(label, "", "hive.", "hive.")
		r.getFails("NoSuchObjectException: "+q+"sales.x table not found", "sales", "x")
		r.fails("AlreadyExistsException: Table "+by(label, "orders", "hive.sales.orders",
			"hive.sales.orders")+" already exists", "create_table", hms.Struct{"tbl": simple("sales", "orders")})
		r.fails("InvalidObjectException: "+by(label, "x", "x", "database hive.x"), "create_table",
			hms.Struct{"tbl": simple("x", "t")})
		if label != v4 {
			r.fails("InvalidObjectException: e-! is not a valid object name", "create_table",
				hms.Struct{"tbl": simple("sales", "e-!")})
		}
		r.createTable(simple("sales", "e1"))
		r.createTable(simple("sales", "e2"))
		r.is([]string{"e1", "e2", "orders"}, r.ok("get_all_tables", hms.Struct{"db_name": "sales"}))
		r.is(by(label, []string{"e1", "orders"}, []string{"e1", "orders"}, []string{"orders", "e1"}),
			r.ok("get_tables", hms.Struct{"db_name": "sales", "pattern": "e1|O*"}))
		r.is([]string{}, r.ok("get_tables", hms.Struct{"db_name": "nowhere", "pattern": "*"}))
		r.is([]string{}, r.ok("get_tables_by_type", hms.Struct{"db_name": "sales", "pattern": "*",
			"tableType": "VIRTUAL_VIEW"}))
		metas := r.ok("get_table_meta", hms.Struct{"db_patterns": "s*", "tbl_patterns": "e*",
			"tbl_types": []string{"MANAGED_TABLE", "EXTERNAL_TABLE"}}).([]any)
		if len(metas) != 2 || metas[1].(hms.Struct)["tableName"] != "e2" {
			t.Errorf("get_table_meta: got %v", metas)
		}
		req := hms.Struct{"dbName": "sales", "tblNames": []string{"e1", "none", "ORDERS", "e1"}}
		if l := r.ok("get_table_objects_by_name_req",
			hms.Struct{"req": req}).(hms.Struct).Structs("tables"); len(l) != 2 {
			t.Errorf("objects by name: got %d, want 2", len(l))
		}
		r.fails("UnknownDBException: Could not find database "+q+"no", "get_table_objects_by_name_req",
			hms.Struct{"req": hms.Struct{"dbName": "no", "tblNames": []string{}}})
		if f := r.ok("get_fields", hms.Struct{"db_name": "sales", "table_name": "orders"}).([]any); len(f) != 2 {
			t.Errorf("fields: got %d, want 2", len(f))
		}
		if f := r.ok("get_schema", hms.Struct{"db_name": "sales", "table_name": "orders"}).([]any); len(f) != 3 {
			t.Errorf("schema: got %d, want 3", len(f))
		}
		r.is([]string{"orders"}, r.ok("get_table_names_by_filter",
			hms.Struct{"dbname": "sales", "filter": `hive_filter_field_params__k = "v" and hive_filter_field_owner__ like ".e"`, "max_tables": -1}))
		r.ok("drop_table", hms.Struct{"dbname": "sales", "name": "E1"})
		r.fails("NoSuchObjectException: "+q+"sales.E1 table not found", "drop_table",
			hms.Struct{"dbname": "sales", "name": "E1"})
	})
}

func TestAlterTable(t *testing.T) {
	each(t, func(t *testing.T, r *rig, label string) {
		r.createDB("a")
		r.createDB("b")
		acid := simple("a", "t", "ds", "string")
		acid["parameters"] = map[string]string{"EXTERNAL": "TRUE"}
		acid["tableType"] = "EXTERNAL_TABLE"
		r.createTable(acid)
		r.createTable(simple("a", "other"))
		r.addParts("a", "t", []string{"1"}, []string{"2"})

		alter := func(name string, change func(hms.Struct)) hms.Struct {
			n := r.get("a", name)
			change(n)
			return hms.Struct{"dbname": "a", "tbl_name": name, "new_tbl": n}
		}
		r.ok("alter_table", alter("t", func(n hms.Struct) {
			n["parameters"] = append(n["parameters"].(hms.Map), hms.Pair{Key: "k", Value: "1"})
		}))
		r.is("1", params(r.get("a", "t"))["k"])
		args := alter("t", func(n hms.Struct) {
			n["sd"] = with(n.Struct("sd"), "cols", columns([]string{"a", "bigint", "b", "string", "c", "int"}))
		})
		args["cascade"] = true
		r.ok("alter_table_with_cascade", args)
		p := r.ok("get_partition", hms.Struct{"db_name": "a", "tbl_name": "t", "part_vals": []string{"1"}}).(hms.Struct)
		if n := len(p.Struct("sd").List("cols")); n != 3 {
			t.Errorf("cascade: partition has %d columns, want 3", n)
		}
		r.fails("InvalidOperationException: The following columns have types incompatible with the existing columns in their respective positions :\nb", "alter_table",
			alter("t", func(n hms.Struct) {
				n["sd"] = with(n.Struct("sd"), "cols", columns([]string{"a", "bigint", "b", "int"}))
			}))
		if _, err := r.c.Call(t.Context(), "alter_table",
			alter("t", func(n hms.Struct) { n["tableName"] = "other" })); err == nil {
			t.Error("renamed onto another table")
		}
		r.ok("alter_table", alter("t", func(n hms.Struct) { n["tableName"], n["dbName"] = "T2", "b" }))
		r.getFails("NoSuchObjectException: "+by(label, "", "hive.", "hive.")+"a.t table not found", "a", "t")
		r.is("t2", r.get("b", "t2")["tableName"])
		r.is([]string{"ds=1", "ds=2"}, r.ok("get_partition_names", hms.Struct{"db_name": "b", "tbl_name": "t2",
			"max_parts": -1}))
		r.fails("InvalidOperationException: "+by(label, "", "hive.", "hive.")+"a.t table not found", "alter_table",
			hms.Struct{"dbname": "a", "tbl_name": "t", "new_tbl": simple("a", "t")})
	})
}

// The check of an expected parameter: in 4.x and 2.3.10; 3.1.3 writes silently.
func TestExpectedParameter(t *testing.T) {
	each(t, func(t *testing.T, r *rig, label string) {
		tbl := simple("default", "ice")
		tbl["parameters"] = map[string]string{"metadata_location": "m0", "EXTERNAL": "TRUE"}
		r.createTable(tbl)
		env := func(want, next string) hms.Struct {
			n := r.get("default", "ice")
			n["parameters"] = map[string]string{"metadata_location": next}
			return hms.Struct{"dbname": "default", "tbl_name": "ice", "new_tbl": n,
				"environment_context": hms.Struct{"properties": map[string]string{
					"expected_parameter_key": "metadata_location", "expected_parameter_value": want}}}
		}
		if label == v3 {
			r.ok("alter_table_with_environment_context", env("wrong", "m1"))
		} else {
			r.fails("MetaException: The table has been modified. The parameter value for key 'metadata_location' is 'm0'. The expected was value was 'wrong'",
				"alter_table_with_environment_context", env("wrong", "m1"))
		}
		r.is(by(label, "m0", "m1", "m0"), params(r.get("default", "ice"))["metadata_location"])
		r.ok("alter_table_with_environment_context", env(by(label, "m0", "m1", "m0"), "m2"))
		r.is("m2", params(r.get("default", "ice"))["metadata_location"])
	})
}

func TestTableRequests(t *testing.T) {
	r := start(t, v4)
	r.ok("create_table_req", hms.Struct{"request": hms.Struct{"table": simple("default", "t")}})
	tbl := r.ok("get_table_req", hms.Struct{"req": hms.Struct{"dbName": "default", "tblName": "t", "catName": "hive",
		"processorCapabilities": []string{"EXTREAD"}}}).(hms.Struct).Struct("table")
	r.is(int8(8), tbl["accessType"])
	tbl["owner"] = "you"
	r.ok("alter_table_req", hms.Struct{"req": hms.Struct{"dbName": "default", "tableName": "t", "table": tbl,
		"catName": "hive"}})
	r.is("you", r.get("default", "t")["owner"])
	r.is(nil, r.get("default", "t")["accessType"])
	if f := r.ok("get_fields_req", hms.Struct{"req": hms.Struct{"dbName": "default",
		"tblName": "t"}}).(hms.Struct).Structs("fields"); len(f) != 2 {
		t.Errorf("get_fields_req: %v", f)
	}
	if l := r.ok("get_table_objects_by_name_req", hms.Struct{"req": hms.Struct{"dbName": "default",
		"tablesPattern": "t*", "projectionSpec": hms.Struct{"fieldList": []string{"tableName",
			"sd.location"}}}}).(hms.Struct).Structs("tables"); len(l) != 1 ||
		l[0]["tableName"] != "t" || l[0].Struct("sd").Str("location") == "" || l[0]["owner"] != nil {
		t.Errorf("projection: %v", l)
	}
	r.ok("drop_table_req", hms.Struct{"dropTableReq": hms.Struct{"dbName": "default", "tableName": "t",
		"deleteData": true}})
	r.getFails("NoSuchObjectException: hive.default.t table not found", "default", "t")
	acid := simple("default", "acid")
	acid["parameters"] = map[string]string{"transactional": "true"}
	r.fails("MetaException: Processor has no capabilities, cannot create an ACID table.", "create_table",
		hms.Struct{"tbl": acid})
}

func TestFunctions(t *testing.T) {
	each(t, func(t *testing.T, r *rig, label string) {
		f := hms.Struct{"functionName": "Fn1", "dbName": "default", "className": "x.Y", "ownerName": "me"}
		r.ok("create_function", hms.Struct{"func": f})
		r.fails("AlreadyExistsException: Function Fn1 already exists", "create_function", hms.Struct{"func": f})
		r.is("fn1", r.ok("get_function", hms.Struct{"dbName": "default",
			"funcName": "FN1"}).(hms.Struct)["functionName"])
		r.is([]string{"fn1"}, r.ok("get_functions", hms.Struct{"dbName": "default", "pattern": "f*"}))
		r.ok("alter_function", hms.Struct{"dbName": "default", "funcName": "fn1",
			"newFunc": with(f, "className", "x.Z")})
		if l := r.ok("get_all_functions", nil).(hms.Struct).Structs("functions"); len(l) != 1 ||
			l[0]["className"] != "x.Z" {
			t.Errorf("get_all_functions: %v", l)
		}
		r.ok("drop_function", hms.Struct{"dbName": "default", "funcName": "fn1"})
		r.fails("NoSuchObjectException: Function default.fn1 does not exist", "get_function",
			hms.Struct{"dbName": "default", "funcName": "fn1"})
	})
}

func TestFolders(t *testing.T) {
	dir := t.TempDir()
	r := start(t, v3, func(c *Config) { c.Folders, c.Warehouse = true, "file:"+dir+"/w" })
	there := func(want bool, path string) {
		t.Helper()
		if _, err := os.Stat(filepath.Join(dir, path)); (err == nil) != want {
			t.Errorf("%s: there %v, want %v", path, err == nil, want)
		}
	}
	r.createDB("d")
	r.createTable(simple("d", "t", "ds", "string"))
	r.addParts("d", "t", []string{"1"})
	there(true, "w/d.db/t/ds=1")
	n := r.get("d", "t")
	n["tableName"] = "u"
	r.ok("alter_table", hms.Struct{"dbname": "d", "tbl_name": "t", "new_tbl": n})
	there(true, "w/d.db/u/ds=1")
	there(false, "w/d.db/t")
	r.is("file:"+dir+"/w/d.db/u/ds=1", r.ok("get_partition", hms.Struct{"db_name": "d", "tbl_name": "u",
		"part_vals": []string{"1"}}).(hms.Struct).Struct("sd")["location"])
	// Elsewhere folders are made, and stay.
	out := simple("d", "x")
	out["sd"] = with(out.Struct("sd"), "location", "file:"+dir+"/x")
	r.createTable(out)
	r.ok("drop_table", hms.Struct{"dbname": "d", "name": "x", "deleteData": true})
	there(true, "x")
	r.ok("drop_table", hms.Struct{"dbname": "d", "name": "u", "deleteData": true})
	there(false, "w/d.db/u")
	r.ok("drop_database", hms.Struct{"name": "d", "deleteData": true})
	there(false, "w/d.db")
}

func TestDemo(t *testing.T) {
	for _, label := range []string{v2, v3, v4, "hdp-3.1.0.0-78", "apache-4.0.1"} {
		for name, want := range map[string][]string{"hdp": {"default", "my_database", "sales"},
			"apache": {"crm", "default", "sales"}} {
			t.Run(label+" "+name, func(t *testing.T) {
				r := start(t, label)
				Demo(name)(r.s)
				r.is(want, r.ok("get_all_databases", nil))
				if n := len(r.ok("get_partitions", hms.Struct{"db_name": "sales", "tbl_name": "orders",
					"max_parts": -1}).([]any)); n < 2 {
					t.Errorf("%d partitions", n)
				}
				if l := r.ok("get_tables_by_type", hms.Struct{"db_name": "sales", "pattern": "*",
					"tableType": "VIRTUAL_VIEW"}).([]any); len(l) != 1 {
					t.Errorf("views: %v", l)
				}
			})
		}
	}
}
