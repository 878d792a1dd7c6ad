package memhms

import (
	"cmp"
	"slices"
	"strings"

	"hmsgate/internal/hms"
)

func init() {
	add("get_all_tables", (*Server).tableNames, "")
	add("get_tables", (*Server).tableNames, "")
	add("get_tables_by_type", (*Server).tableNames, "")
	add("get_materialized_views_for_rewriting", (*Server).rewritable, "")
	add("get_table_meta", (*Server).tableMeta, "")
	add("get_table_objects_by_name", (*Server).tableObjects, "")
	add("get_table_objects_by_name_req", (*Server).tableObjects, "tables")
	add("get_all_materialized_view_objects_for_rewriting", (*Server).allRewritable, "")
	add("get_tables_ext", (*Server).tablesExt, "")
	add("get_table_names_by_filter", (*Server).tablesByFilter, "")
}

// listed are a database's tables in the order that lists have: by name, but by
// creation from 4.0 on where a pattern is given (seen).
func (s *Server) listed(d *database, pattern bool) []string {
	names := sortedKeys(d.tables)
	if s.era.four && pattern {
		byCreation(names, d)
	}
	return names
}

func byCreation(names []string, d *database) {
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(d.tables[a].seq, d.tables[b].seq) })
}

// tableNames: a database that is not there has no tables, which is no error. A
// pattern is compared as databases' are.
func (s *Server) tableNames(c *call) (any, error) {
	d, match, kind := s.find(c.db()), c.patternOf("pattern"), c.str("tabletype")
	out := []any{}
	if d == nil {
		return out, nil
	}
	for _, name := range s.listed(d, c.has("pattern")) {
		if match(name) && (kind == "" || d.tables[name].obj.Str("tableType") == kind) {
			out = append(out, name)
		}
	}
	return out, nil
}

func (s *Server) rewritable(c *call) (any, error) {
	out := []any{}
	if d := s.find(c.db()); d != nil {
		for _, name := range sortedKeys(d.tables) {
			if d.tables[name].obj.Bool("rewriteEnabled") {
				out = append(out, name)
			}
		}
	}
	return out, nil
}

func (s *Server) allRewritable(*call) (any, error) {
	out := []any{}
	for _, k := range s.cats {
		for _, db := range sortedKeys(k.dbs) {
			for _, name := range sortedKeys(k.dbs[db].tables) {
				if t := k.dbs[db].tables[name].obj; t.Bool("rewriteEnabled") {
					out = append(out, t)
				}
			}
		}
	}
	return out, nil
}

// tableMeta comes in the order of creation, as from a query without an order (seen).
func (s *Server) tableMeta(c *call) (any, error) {
	n, dbs := s.matching(c, "dbpatterns")
	match, kinds := c.patternOf("tblpatterns"), c.strs("tbltypes")
	var found []*table
	for _, db := range dbs {
		d := s.catalogOf(n).dbs[db]
		for _, name := range sortedKeys(d.tables) {
			if t := d.tables[name]; match(name) && (len(kinds) == 0 || contains(kinds, t.obj.Str("tableType"))) {
				found = append(found, t)
			}
		}
	}
	slices.SortFunc(found, func(a, b *table) int { return cmp.Compare(a.seq, b.seq) })
	out := []any{}
	for _, t := range found {
		out = append(out, s.metaOf(t.obj))
	}
	return out, nil
}

func (s *Server) metaOf(t hms.Struct) hms.Struct {
	m := hms.Struct{"dbName": t.Str("dbName"), "tableName": t.Str("tableName"), "tableType": t.Str("tableType")}
	if v, ok := params(t)["comment"]; ok {
		m["comments"] = v
	}
	if s.era.four {
		m["catName"], m["ownerName"], m["ownerType"] = t.Str("catName"), t["owner"], t["ownerType"]
	}
	return m
}

func contains(l []string, s string) bool {
	for _, x := range l {
		if strings.EqualFold(x, s) {
			return true
		}
	}
	return false
}

// tableObjects leaves out names that are not there. From 4.0 a pattern may stand
// for the names.
func (s *Server) tableObjects(c *call) (any, error) {
	n := c.db()
	d := s.find(n)
	if d == nil {
		db := n.db
		if s.era.catalogs {
			db = n.cat + "." + n.db
		}
		return nil, throw(unknownDB, "Could not find database %s", db)
	}
	names := c.strs("tblnames")
	switch {
	case c.str("tablespattern") != "":
		match := matcher(c.str("tablespattern"))
		for _, name := range sortedKeys(d.tables) {
			if match(name) {
				names = append(names, name)
			}
		}
	case !c.has("tblnames"):
		return nil, throw(invalidOp, "%s cannot find null tables", n.db)
	}
	found := names[:0:0]
	for _, name := range names {
		if name = ident(name); d.tables[name] != nil && !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	byCreation(found, d)
	out := []any{}
	for _, name := range found {
		out = append(out, projected(d.tables[name].obj, c.strct("projectionspec")))
	}
	return out, nil
}

// projected is a table of 4.x with only the asked fields; what is left over is what
// a new object has (seen).
func projected(t, spec hms.Struct) hms.Struct {
	paths := hms.Strings(spec["fieldList"])
	if len(paths) == 0 {
		return t
	}
	out := project(t, paths)
	for k, v := range map[string]any{"tableType": "MANAGED_TABLE", "rewriteEnabled": false, "ownerType": int32(1),
		"writeId": int64(0), "id": t["id"]} {
		if out[k] == nil {
			out[k] = v
		}
	}
	return out
}

// project keeps the fields that dotted paths name.
func project(s hms.Struct, paths []string) hms.Struct {
	out := hms.Struct{}
	under := map[string][]string{}
	for _, p := range paths {
		head, rest, nested := strings.Cut(p, ".")
		if nested {
			under[head] = append(under[head], rest)
		} else if v := s[head]; v != nil {
			out[head] = v
		}
	}
	for head, rest := range under {
		if v := s.Struct(head); v != nil && out[head] == nil {
			out[head] = project(v, rest)
		}
	}
	return out
}

func (s *Server) tablesExt(c *call) (any, error) {
	d, match, max := s.find(c.db()), c.patternOf("tablenamepattern"), c.max("limit")
	out := []any{}
	if d == nil {
		return out, nil
	}
	for _, name := range sortedKeys(d.tables) {
		if match(name) && (max < 0 || len(out) < max) {
			out = append(out, hms.Struct{"tblName": name})
		}
	}
	return out, nil
}

// tablesByFilter knows the keys of hive_metastore.thrift's constants: three up to
// 3.1, five from 4.0 on.
func (s *Server) tablesByFilter(c *call) (any, error) {
	n := c.db()
	d := s.find(n)
	if d == nil {
		return nil, throw(unknownDB, "Could not find database %s", s.noDatabase(n))
	}
	f, err := s.parseFilter(c.str("filter"))
	if err != nil {
		return nil, err
	}
	out, max := []any{}, c.max("maxtables")
	for _, name := range sortedKeys(d.tables) {
		t := d.tables[name].obj
		ok, err := f.match(func(key string) (field, error) { return s.tableField(t, key) })
		if err != nil {
			return nil, err
		}
		if ok && (max < 0 || len(out) < max) {
			out = append(out, name)
		}
	}
	return out, nil
}

func (s *Server) tableField(t hms.Struct, key string) (field, error) {
	switch {
	case key == "hive_filter_field_tableName__" && s.era.four:
		return field{text: t.Str("tableName")}, nil
	case key == "hive_filter_field_tableType__" && s.era.four:
		return field{text: t.Str("tableType")}, nil
	case key == "hive_filter_field_owner__":
		return field{text: t.Str("owner")}, nil
	case key == "hive_filter_field_last_access__":
		return field{text: itoa(t.Int("lastAccessTime")), number: true}, nil
	case strings.HasPrefix(key, "hive_filter_field_params__"):
		v, ok := params(t)[strings.TrimPrefix(key, "hive_filter_field_params__")]
		return field{text: v, absent: !ok}, nil
	}
	return field{}, throw(meta, "Invalid key name in filter.  Use constants from org.apache.hadoop.hive.metastore.api")
}
