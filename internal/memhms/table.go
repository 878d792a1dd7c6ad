package memhms

import (
	"strconv"
	"strings"

	"hmsgate/internal/hms"
)

func init() {
	for _, m := range []string{"create_table", "create_table_with_environment_context", "create_table_req",
		"create_table_with_constraints"} {
		add(m, (*Server).createTable, "")
	}
	add("get_table", (*Server).getTable, "")
	add("get_table_req", (*Server).getTable, "table")
	for _, m := range []string{"drop_table", "drop_table_with_environment_context", "drop_table_req"} {
		add(m, (*Server).dropTable, "")
	}
	for _, m := range []string{"get_fields", "get_fields_with_environment_context"} {
		add(m, (*Server).getFields, "")
	}
	add("get_fields_req", (*Server).getFields, "fields")
	for _, m := range []string{"get_schema", "get_schema_with_environment_context"} {
		add(m, (*Server).getSchema, "")
	}
	add("get_schema_req", (*Server).getSchema, "fields")
	add("translate_table_dryrun", (*Server).translateTable, "")
	add("truncate_table", (*Server).truncateTable, "")
	add("truncate_table_req", (*Server).truncateTable, "")
}

const lastDDL = "transient_lastDdlTime"

func isView(t hms.Struct) bool     { return t.Str("tableType") == "VIRTUAL_VIEW" }
func isExternal(t hms.Struct) bool { return t.Str("tableType") == "EXTERNAL_TABLE" }
func isAcid(t hms.Struct) bool     { return params(t)["transactional"] == "true" }

// ownsData: the data of a managed table goes and moves with it, and since 4.0 that of
// a table that was asked for as managed.
func ownsData(t hms.Struct) bool {
	return !isView(t) && (!isExternal(t) || params(t)["TRANSLATED_TO_EXTERNAL"] == "TRUE")
}

// nameOfTable is where a Table says it belongs.
func (s *Server) nameOfTable(t hms.Struct) dbName {
	n := dbName{cat: t.Str("catName"), db: t.Str("dbName"), raw: t.Str("dbName")}
	if n.cat == "" || !s.era.catalogs {
		n.cat = defaultCatalog
	}
	return n
}

func (s *Server) createTable(c *call) (any, error) {
	t := c.strct("tbl", "table")
	if t == nil {
		return nil, throw(invalidObject, "null is not a valid object name")
	}
	n, name := s.nameOfTable(t), t.Str("tableName")
	if !s.validName(name) {
		return nil, throw(invalidObject, "%s is not a valid object name", name)
	}
	d := s.find(n)
	if d == nil {
		return nil, throw(invalidObject, "%s", s.noDatabase(n))
	}
	if d.tables[ident(name)] != nil {
		if s.era.catalogs {
			name = s.qualified(n, name)
		}
		return nil, throw(alreadyExists, "Table %s already exists", name)
	}
	if s.era.four && t.Str("tableType") == "MANAGED_TABLE" && isAcid(t) && len(c.strs("processorcapabilities")) == 0 {
		return nil, throw(meta, "Processor has no capabilities, cannot create an ACID table.")
	}
	obj := s.newTable(t, n, d)
	if s.era.four {
		obj["id"] = s.next("table")
	}
	if err := s.makeFolder(obj.Struct("sd").Str("location")); err != nil {
		return nil, err
	}
	d.tables[ident(name)] = &table{obj: obj, seq: s.next("table row"), parts: map[string]*partition{},
		stats: map[string]hms.Struct{}, marks: map[string]bool{}}
	s.noteCreate(asSent(obj, t))
	return nil, s.constrainNew(c, n, ident(name))
}

// newTable is a table as the store keeps it: names lower-cased, defaults filled.
func (s *Server) newTable(t hms.Struct, n dbName, d *database) hms.Struct {
	out := t.Clone()
	out["dbName"], out["tableName"] = ident(n.db), ident(t.Str("tableName"))
	if s.era.catalogs {
		out["catName"] = ident(n.cat)
		if out["ownerType"] == nil {
			out["ownerType"] = int32(1) // the IDL's default, PrincipalType USER
		}
	}
	p := params(t)
	forgetEmptyState(p)
	if out.Str("tableType") == "" {
		out["tableType"] = "MANAGED_TABLE"
	}
	if p["EXTERNAL"] == "TRUE" && out.Str("tableType") == "MANAGED_TABLE" {
		out["tableType"] = "EXTERNAL_TABLE"
	}
	s.translate(out, p)
	now := s.now()
	out["createTime"] = int32(now)
	p[lastDDL] = strconv.FormatInt(now, 10)
	if p["transactional"] == "false" && s.era.catalogs { // TransactionalValidationListener takes it out (seen)
		delete(p, "transactional")
	}
	if p["transactional"] == "true" && s.era.catalogs && p["transactional_properties"] == "" {
		p["transactional_properties"] = "default"
	}
	out["parameters"] = hms.MapOf(p)
	if out["partitionKeys"] == nil {
		out["partitionKeys"] = []any{}
	}
	if out["rewriteEnabled"] == nil {
		out["rewriteEnabled"] = false
	}
	delete(out, "privileges")
	delete(out, "temporary")
	if m := out.Struct("creationMetadata"); m != nil {
		out["creationMetadata"] = with(m, "materializationTime", now*1000)
	}
	sd := fullSD(out.Struct("sd"))
	if sd != nil && sd.Str("location") == "" && !isView(out) {
		sd["location"] = s.tableLocation(d, out, n.cat)
	}
	if sd != nil {
		if si := sd.Struct("serdeInfo"); s.era.four && strings.HasSuffix(si.Str("serializationLib"), ".OrcSerde") {
			p := params(si) // 4.x takes it out for ORC (seen)
			delete(p, "serialization.format")
			sd["serdeInfo"] = with(si, "parameters", hms.MapOf(p))
		}
		out["sd"] = sd
	}
	return out
}

// translate is what 4.x makes of a managed table that is not transactional
// (MetastoreDefaultTransformer; values seen).
func (s *Server) translate(t hms.Struct, p map[string]string) {
	if !s.era.four {
		return
	}
	if t.Str("tableType") == "MANAGED_TABLE" && p["transactional"] != "true" {
		t["tableType"] = "EXTERNAL_TABLE"
		p["EXTERNAL"], p["TRANSLATED_TO_EXTERNAL"], p["external.table.purge"] = "TRUE", "TRUE", "TRUE"
	}
	t["writeId"] = int64(0)
	if p["transactional"] == "true" {
		t["writeId"] = int64(-1)
	}
}

// forReader is a table as get_table_req of 4.x hands it to a client that states its
// capabilities: with the access it has, 8 for reading and writing, 1 for a view and
// what reading that takes (MetastoreDefaultTransformer; values seen with a client
// that has all capabilities). Only in the default catalog.
func (s *Server) forReader(c *call, t hms.Struct) hms.Struct {
	if !s.era.four || len(c.strs("processorcapabilities")) == 0 || t.Str("catName") != defaultCatalog {
		return t
	}
	switch t.Str("tableType") {
	case "VIRTUAL_VIEW":
		return with(with(t, "accessType", int8(1)), "requiredReadCapabilities", []any{"HIVESQL", "CONNECTORREAD"})
	case "MATERIALIZED_VIEW":
		return with(with(t, "accessType", int8(1)), "requiredReadCapabilities", []any{"CONNECTORREAD", "HIVEMQT"})
	}
	return with(t, "accessType", int8(8))
}

// tableLocation: a managed table lies in its database's folder, an external one in
// the external folder, since 3.0 (Warehouse.getDefaultTablePath).
func (s *Server) tableLocation(d *database, t hms.Struct, cat string) string {
	base := d.obj.Str("locationUri")
	db, name := t.Str("dbName"), t.Str("tableName")
	switch {
	case isExternal(t) && s.era.catalogs && (!s.era.four || cat == defaultCatalog) &&
		base == s.databaseLocation(s.cats[ident(cat)], db):
		base = location(s.conf.External, db+".db")
	case s.era.four && !isExternal(t) && base == s.databaseLocation(s.cats[ident(cat)], db):
		base = location(s.cats[ident(cat)].obj.Str("locationUri"), db+".db")
	}
	return location(base, name)
}

func (s *Server) getTable(c *call) (any, error) {
	if !s.era.catalogs && c.request == "" && !(c.has("dbname") && c.has("tblname")) { // seen on Java 17
		return nil, throw(meta, `java.lang.NullPointerException: Cannot invoke "String.trim()" because "identifier" is null`)
	}
	t, err := s.tableOr(noSuchObject, c.db(), c.table())
	if err != nil {
		return nil, err
	}
	return s.forReader(c, t.obj), nil
}

func (s *Server) dropTable(c *call) (any, error) {
	n := c.db()
	name := c.str("tablename", "name")
	t, err := s.tableOr(noSuchObject, n, name)
	if err != nil {
		return nil, err
	}
	delete(s.find(n).tables, ident(name))
	s.noteDrop(t.obj)
	if c.flag("deletedata") && ownsData(t.obj) {
		return nil, s.removeFolder(t.obj.Struct("sd").Str("location"))
	}
	return nil, nil
}

func (s *Server) getFields(c *call) (any, error) {
	t, err := s.tableOr(unknownTable, c.db(), c.table())
	if err != nil {
		return nil, err
	}
	return t.obj.Struct("sd").List("cols"), nil
}

func (s *Server) getSchema(c *call) (any, error) {
	t, err := s.tableOr(unknownTable, c.db(), c.table())
	if err != nil {
		return nil, err
	}
	cols := append([]any{}, t.obj.Struct("sd").List("cols")...)
	return append(cols, t.obj.List("partitionKeys")...), nil
}

// translateTable is what create_table would make of a table.
func (s *Server) translateTable(c *call) (any, error) {
	t := c.strct("table")
	n := s.nameOfTable(t)
	d := s.find(n)
	if d == nil {
		return nil, throw(invalidObject, "%s", s.noDatabase(n))
	}
	return s.newTable(t, n, d), nil
}

func (s *Server) truncateTable(c *call) (any, error) {
	_, err := s.tableOr(meta, c.db(), c.table())
	return nil, err
}
