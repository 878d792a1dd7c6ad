package memhms

import (
	"strconv"
	"strings"

	"hmsgate/internal/hms"
)

func init() {
	for _, m := range []string{"alter_table", "alter_table_with_cascade", "alter_table_with_environment_context",
		"alter_table_req"} {
		add(m, (*Server).alterTable, "")
	}
	add("update_creation_metadata", (*Server).updateCreationMetadata, "")
	add("update_table_params", (*Server).updateTableParams, "")
}

func (s *Server) alterTable(c *call) (any, error) {
	n, name := c.db(), c.str("tblname", "tablename")
	t := c.strct("newtbl", "table")
	if t == nil || !s.validName(t.Str("tableName")) {
		return nil, throw(invalidOp, "%s is not a valid object name", t.Str("tableName"))
	}
	old, err := s.tableOr(invalidOp, n, name)
	if err != nil {
		return nil, err
	}
	env := c.env()
	to := s.nameOfTable(t)
	if t.Str("catName") == "" {
		to.cat = n.cat
	}
	if err := s.checkAlter(old, t, env, to); err != nil {
		return nil, err
	}
	d := s.find(to)
	moved := ident(to.db) != ident(n.db) || ident(t.Str("tableName")) != ident(name)
	obj := s.altered(old, t, env, to)
	if moved {
		if err := s.moveData(s.find(n), d, old, obj); err != nil {
			return nil, err
		}
	}
	next := &table{obj: obj, seq: old.seq, parts: old.parts, stats: old.stats, marks: old.marks, cons: old.cons}
	if moved {
		next.parts = renamedParts(old.parts, obj)
		delete(s.find(n).tables, ident(name))
	}
	if (c.flag("cascade") || env["CASCADE"] == "true") && len(next.parts) > 0 {
		next.parts = cascaded(next.parts, obj.Struct("sd").List("cols"))
	}
	d.tables[obj.Str("tableName")] = next
	s.noteAlter(old.obj, obj)
	return nil, nil
}

// checkAlter is everything that can refuse (HiveAlterHandler.alterTable).
func (s *Server) checkAlter(old *table, t hms.Struct, env map[string]string, to dbName) error {
	d := s.find(to)
	if d == nil {
		db := to.db
		if s.era.catalogs {
			db = to.cat + "." + db
		}
		return throw(invalidOp, "Unable to change partition or table. Check metastore logs for detailed stack.Database %s doesn't exist.", db)
	}
	if other := d.tables[ident(t.Str("tableName"))]; other != nil && other != old {
		name := to.db + "." + t.Str("tableName")
		if s.era.catalogs {
			name = s.qualified(to, t.Str("tableName"))
		}
		return throw(invalidOp, "new table %s already exists", name)
	}
	if key := env["expected_parameter_key"]; s.era.cas && key != "" {
		want, given := env["expected_parameter_value"]
		has, found := params(old.obj)[key]
		if !found {
			has = "null"
		}
		if !given {
			want = "null"
		}
		if has != want {
			return throw(meta, "The table has been modified. The parameter value for key '%s' is '%s'. The expected was value was '%s'", key, has, want)
		}
	}
	if !isView(old.obj) {
		if err := compatible(old.obj.Struct("sd").Structs("cols"), t.Struct("sd").Structs("cols")); err != nil {
			return err
		}
	}
	if !isView(old.obj) && !sameKeys(old.obj.Structs("partitionKeys"), t.Structs("partitionKeys")) {
		return throw(invalidOp, "partition keys can not be changed.")
	}
	return nil
}

// altered is the new state of a table: what the client sent, but for what only the
// metastore knows.
func (s *Server) altered(old *table, t hms.Struct, env map[string]string, to dbName) hms.Struct {
	out := t.Clone()
	out["dbName"], out["tableName"] = ident(to.db), ident(t.Str("tableName"))
	for _, f := range []string{"catName", "ownerType", "writeId", "id", "partitionKeys", "rewriteEnabled",
		"tableType"} {
		if v, ok := old.obj[f]; ok && (out[f] == nil || f == "id") {
			out[f] = v
		}
	}
	for _, f := range []string{"privileges", "temporary", "accessType", "requiredReadCapabilities",
		"requiredWriteCapabilities"} {
		delete(out, f)
	}
	if out.Int("createTime") == 0 {
		out["createTime"] = old.obj["createTime"]
	}
	p := params(t)
	forgetEmptyState(p)
	if p["EXTERNAL"] == "TRUE" && out.Str("tableType") == "MANAGED_TABLE" {
		out["tableType"] = "EXTERNAL_TABLE"
	}
	if n, _ := strconv.ParseInt(p[lastDDL], 10, 64); n == 0 {
		p[lastDDL] = itoa(s.now())
	}
	if env["DO_NOT_UPDATE_STATS"] != "true" && !isView(out) && len(out.List("partitionKeys")) == 0 {
		s.fastStats(p)
	}
	out["parameters"] = hms.MapOf(p)
	if sd := fullSD(out.Struct("sd")); sd != nil {
		if sd.Str("location") == "" && !isView(out) {
			sd["location"] = old.obj.Struct("sd").Str("location")
		}
		out["sd"] = sd
	}
	return out
}

// forgetEmptyState: a note that no column has figures is not kept (seen with Spark).
func forgetEmptyState(p map[string]string) {
	if p["COLUMN_STATS_ACCURATE"] == "{}" {
		delete(p, "COLUMN_STATS_ACCURATE")
	}
}

// fastStats are the figures of the data folder, which is always empty here
// (MetaStoreUtils.updateTableStatsFast).
func (s *Server) fastStats(p map[string]string) {
	keys := []string{"numFiles", "totalSize"}
	if s.era.four {
		keys = append(keys, "numFilesErasureCoded")
	}
	for _, k := range keys {
		if _, ok := p[k]; !ok {
			p[k] = "0"
		}
	}
}

// moveData gives a renamed table the folder of its new name, if the old one lay in
// its database's folder and its data is the metastore's own
// (HiveAlterHandler.alterTable).
func (s *Server) moveData(from, to *database, old *table, obj hms.Struct) error {
	if !ownsData(obj) {
		return nil
	}
	was := old.obj.Struct("sd").Str("location")
	if strings.HasPrefix(was, location(from.obj.Str("locationUri"), "")) {
		obj["sd"] = with(obj.Struct("sd"), "location", location(to.obj.Str("locationUri"), obj.Str("tableName")))
		return s.moveFolder(was, obj.Struct("sd").Str("location"))
	}
	return nil
}

// renamedParts are partitions with their table's new name and, where they lay in
// its folder, new place.
func renamedParts(parts map[string]*partition, t hms.Struct) map[string]*partition {
	out := map[string]*partition{}
	for name, p := range parts {
		o := with(with(p.obj, "dbName", t["dbName"]), "tableName", t["tableName"])
		if strings.HasSuffix(o.Struct("sd").Str("location"), "/"+name) && ownsData(t) {
			o["sd"] = with(o.Struct("sd"), "location", location(t.Struct("sd").Str("location"), name))
		}
		out[name] = &partition{obj: o, stats: p.stats}
	}
	return out
}

func cascaded(parts map[string]*partition, cols []any) map[string]*partition {
	out := map[string]*partition{}
	for name, p := range parts {
		out[name] = &partition{obj: with(p.obj, "sd", with(p.obj.Struct("sd"), "cols", cols)), stats: p.stats}
	}
	return out
}

func sameKeys(a, b []hms.Struct) bool {
	if len(b) == 0 { // clients that leave them out mean no change
		return true
	}
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if ident(a[i].Str("name")) != ident(b[i].Str("name")) {
			return false
		}
	}
	return true
}

// widening orders the numeric types that may become one another to the right
// (TypeInfoUtils.implicitConvertible).
var widening = map[string]int{"tinyint": 1, "smallint": 2, "int": 3, "bigint": 4, "float": 5, "double": 6, "decimal": 7}

// compatible compares the columns that both have, place by place
// (ColumnType.areColTypesCompatible).
func compatible(old, new []hms.Struct) error {
	var bad []string
	for i := range min(len(old), len(new)) {
		a, b := baseType(old[i].Str("type")), baseType(new[i].Str("type"))
		if a == b || b == "string" || b == "varchar" || a == "void" || strings.ContainsAny(old[i].Str("type"), "<") {
			continue
		}
		if x, y := widening[a], widening[b]; x > 0 && x <= y {
			continue
		}
		bad = append(bad, new[i].Str("name"))
	}
	if len(bad) > 0 {
		return throw(invalidOp, "The following columns have types incompatible with the existing columns in their respective positions :\n%s", strings.Join(bad, ","))
	}
	return nil
}

func baseType(t string) string {
	t, _, _ = strings.Cut(strings.ToLower(t), "(")
	return strings.TrimSpace(t)
}

func (s *Server) updateCreationMetadata(c *call) (any, error) {
	t, err := s.tableOr(meta, c.db(), c.table())
	if err != nil {
		return nil, err
	}
	t.obj = with(t.obj, "creationMetadata", with(c.strct("creationmetadata"), "materializationTime", s.now()*1000))
	return nil, nil
}

func (s *Server) updateTableParams(c *call) (any, error) {
	for _, u := range c.structs("updates") {
		n := dbName{cat: u.Str("cat_name"), db: u.Str("db_name")}
		t, err := s.tableOr(meta, n, u.Str("table_name"))
		if err != nil {
			return nil, err
		}
		p := params(t.obj)
		if k := u.Str("expected_param_key"); k != "" && p[k] != u.Str("expected_param_value") {
			return nil, throw(meta, "The table has been modified. The parameter value for key '%s' is '%s'. The expected was value was '%s'", k, p[k], u.Str("expected_param_value"))
		}
		for k, v := range hms.StringMap(u["params"]) {
			p[k] = v
		}
		t.obj = with(t.obj, "parameters", hms.MapOf(p))
	}
	return nil, nil
}
