package answer

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"hmsgate/internal/hms"
)

// echo gives back what the call brought: a table as it would be stored, by a
// metastore that stores tables as they come.
func echo(w *work) (any, error) { return w.request()["table"], nil }

// constraints are the six kinds of them, each of its own call. Parts are named
// as the fields of the result are, here and there.
func constraints(w *work) (any, error) {
	req := w.request()
	ask := hms.Struct{"request": hms.Struct{"catName": req.Str("catName"), "db_name": req.Str("dbName"),
		"tbl_name":        req.Str("tblName"),
		"foreign_db_name": req.Str("dbName"), "foreign_tbl_name": req.Str("tblName")}}
	all := hms.Struct{"primaryKeys": []any{}, "foreignKeys": []any{}, "uniqueConstraints": []any{},
		"notNullConstraints": []any{}, "defaultConstraints": []any{}, "checkConstraints": []any{}}
	for _, part := range slices.Sorted(maps.Keys(w.p.Calls)) {
		v, err := w.ask(part, ask)
		if err != nil {
			return nil, err
		}
		if got, ok := v.(hms.Struct); ok && got[part] != nil {
			all[part] = got[part]
		}
	}
	return hms.Struct{"allTableConstraints": all}, nil
}

// databases are those whose names match, each of its own call.
func databases(w *work) (any, error) {
	req := w.request()
	pattern := req.Str("pattern")
	if pattern == "" && (req["pattern"] == nil || !w.call.Ats()) {
		pattern = "*"
	}
	names, err := w.ask("names", hms.Struct{"pattern": w.db(req.Str("catalogName"), pattern)})
	if err != nil {
		return nil, err
	}
	out := []any{}
	for _, name := range hms.Strings(names) {
		d, err := w.ask("one", hms.Struct{"name": w.db(req.Str("catalogName"), name)})
		if gone(err) {
			continue // dropped meanwhile
		}
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return hms.Struct{"databases": out}, nil
}

// functions are their names or, when asked for, the functions themselves.
func functions(w *work) (any, error) {
	req := w.request()
	db := w.db(req.Str("catalogName"), req.Str("dbName"))
	names, err := w.ask("names", hms.Struct{"dbName": db, "pattern": pattern(req, "pattern")})
	if err != nil {
		return nil, err
	}
	if only, ok := req["returnNames"].(bool); !ok || only {
		return hms.Struct{"function_names": names}, nil
	}
	out := []any{}
	for _, name := range hms.Strings(names) {
		f, err := w.ask("one", hms.Struct{"dbName": db, "funcName": name})
		if gone(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return hms.Struct{"functions": out}, nil
}

// pattern is a field of the request, or what matches anything.
func pattern(req hms.Struct, field string) string {
	if p := req.Str(field); p != "" {
		return p
	}
	return "*"
}

// tableInfos are the names of tables and nothing more: who may do what with
// them is nothing that an older metastore knows.
func tableInfos(w *work) (any, error) {
	req := w.request()
	names, err := w.ask("names", hms.Struct{"db_name": w.db(req.Str("catalog"), req.Str("database")),
		"pattern": pattern(req, "tableNamePattern")})
	if err != nil {
		return nil, err
	}
	list := hms.Strings(names)
	if most := int(req.Int("limit")); most > 0 && most < len(list) {
		list = list[:most]
	}
	out := make([]any, len(list))
	for i, name := range list {
		out[i] = hms.Struct{"tblName": name}
	}
	return out, nil
}

// tablesByPattern are the tables whose names match, of those named if any are.
func tablesByPattern(w *work) (any, error) {
	req := w.request().Clone()
	names, err := w.ask("names", hms.Struct{"db_name": w.db(req.Str("catName"), req.Str("dbName")),
		"pattern": pattern(req, "tablesPattern")})
	if err != nil {
		return nil, err
	}
	list := hms.Strings(names)
	if wanted := hms.Strings(req["tblNames"]); len(wanted) > 0 {
		list = slices.DeleteFunc(list, func(n string) bool {
			return !slices.ContainsFunc(wanted, func(w string) bool { return strings.EqualFold(w, n) })
		})
	}
	if len(list) == 0 {
		return hms.Struct{"tables": []any{}}, nil
	}
	req["tblNames"] = hms.ListOf(list)
	delete(req, "tablesPattern")
	delete(req, "projectionSpec")
	return w.ask("tables", hms.Struct{"req": req})
}

// views are all materialized views that a query may be answered from. A
// metastore that knows none has none.
func views(w *work) (any, error) {
	out := []any{}
	if !w.has("names") {
		return out, nil
	}
	dbs, err := w.ask("databases", nil)
	if err != nil {
		return nil, err
	}
	for _, db := range hms.Strings(dbs) {
		names, err := w.ask("names", hms.Struct{"db_name": db})
		if err != nil {
			return nil, err
		}
		if len(hms.Strings(names)) == 0 {
			continue
		}
		v, err := w.ask("tables", hms.Struct{"req": hms.Struct{"dbName": db, "tblNames": names}})
		if err != nil {
			return nil, err
		}
		if got, ok := v.(hms.Struct); ok {
			out = append(out, got.List("tables")...)
		}
	}
	return out, nil
}

// openTxns are the open transactions in the form that the client reads; one
// that may be of any version gets both forms, of which each reader takes its
// own (tried with clients of 2.3.10, 3.1.3 and 4.1.0). A metastore that does
// not tell aborted transactions from open ones (2.3) has no bits for them.
func openTxns(w *work) (any, error) {
	v, err := w.ask("txns", nil)
	if err != nil {
		return nil, err
	}
	txns, _ := v.(hms.Struct)
	if txns["abortedBits"] == nil {
		txns = txns.Clone()
		txns["abortedBits"] = []byte{}
	}
	return txns, nil
}

// nameFilter is how clients of 4.x ask for tables by a pattern, one call for
// each of its alternatives (HiveMetaStoreClient.getTables; recorded).
var nameFilter = regexp.MustCompile(`^hive_filter_field_tableName__ like "([^"]*)"$`)

// tableNames are those of the tables that a filter selects: one on names is
// applied here; a call with any other goes to the metastore as it came.
func tableNames(w *work) (any, error) {
	f := nameFilter.FindStringSubmatch(w.args.Str("filter"))
	if f == nil {
		return nil, errAsItself
	}
	like, err := regexp.Compile("^(?:" + f[1] + ")$")
	if err != nil {
		return nil, w.call.Loss("filter: not a pattern that can be applied here")
	}
	v, err := w.ask("all", hms.Struct{"db_name": w.args["dbname"]})
	if err != nil {
		return nil, err
	}
	out, most := []string{}, int(w.args.Int("max_tables"))
	for _, name := range hms.Strings(v) {
		if like.MatchString(name) && (w.args["max_tables"] == nil || most < 0 || len(out) < most) {
			out = append(out, name)
		}
	}
	return hms.ListOf(out), nil
}
