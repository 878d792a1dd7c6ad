package memhms

import (
	"hmsgate/internal/hms"
)

func init() {
	add("get_all_databases", (*Server).allDatabases, "")
	add("get_databases", (*Server).databases, "")
	add("get_databases_req", (*Server).databaseObjects, "databases")
	add("get_database", (*Server).getDatabase, "")
	add("get_database_req", (*Server).getDatabase, "")
	add("create_database", (*Server).createDatabase, "")
	add("create_database_req", (*Server).createDatabase, "")
	add("alter_database", (*Server).alterDatabase, "")
	add("alter_database_req", (*Server).alterDatabase, "")
	add("drop_database", (*Server).dropDatabase, "")
	add("drop_database_req", (*Server).dropDatabase, "")
}

// rows are all methods that are answered; each topic adds its own at start.
var rows = map[string]row{}

func add(method string, do func(*Server, *call) (any, error), in string) { rows[method] = row{do, in} }

func (s *Server) allDatabases(*call) (any, error) {
	return hms.ListOf(sortedKeys(s.cats[defaultCatalog].dbs)), nil
}

// matching are the names of databases that fit a pattern; the pattern may name a
// catalog.
func (s *Server) matching(c *call, keys ...string) (dbName, []string) {
	n := c.dbNamed(keys...)
	k := s.catalogOf(n)
	if k == nil {
		return n, nil
	}
	match := anything
	if !n.null {
		match = matcher(n.db)
	}
	var out []string
	for _, name := range sortedKeys(k.dbs) {
		if match(name) {
			out = append(out, name)
		}
	}
	return n, out
}

func (s *Server) databases(c *call) (any, error) {
	_, names := s.matching(c, "pattern")
	return hms.ListOf(names), nil
}

func (s *Server) databaseObjects(c *call) (any, error) {
	n, names := s.matching(c, "pattern")
	out := []any{}
	for _, name := range names {
		out = append(out, s.catalogOf(n).dbs[name].obj)
	}
	return out, nil
}

func (s *Server) getDatabase(c *call) (any, error) {
	n := c.dbNamed("name")
	d := s.find(n)
	if d == nil {
		return nil, throw(noSuchObject, "%s", s.noDatabase(n))
	}
	return d.obj, nil
}

// databaseArg is the database that is to be made or altered: a struct of its own,
// or the fields of 4.1's request.
func databaseArg(c *call) hms.Struct {
	if d := c.strct("database", "db", "newdb"); d != nil {
		return d.Clone()
	}
	out := hms.Struct{}
	for _, f := range []string{"description", "locationUri", "parameters", "privileges", "ownerName", "ownerType",
		"catalogName", "createTime", "managedLocationUri", "type"} {
		if v := c.value(fold(f)); v != nil {
			out[f] = hms.Clone(v)
		}
	}
	out["name"] = c.str("databasename")
	return out
}

func (s *Server) createDatabase(c *call) (any, error) {
	db := databaseArg(c)
	cat := ident(db.Str("catalogName"))
	if cat == "" || !s.era.catalogs {
		cat = defaultCatalog
	}
	k := s.cats[cat]
	if k == nil {
		return nil, throw(invalidObject, "No such catalog %s", cat)
	}
	name := db.Str("name")
	if !s.validName(name) {
		return nil, throw(invalidObject, "%s is not a valid database name", name)
	}
	if k.dbs[ident(name)] != nil {
		return nil, throw(alreadyExists, "Database %s already exists", name)
	}
	db["name"] = ident(name)
	if db["ownerType"] == nil && db["ownerName"] != nil {
		db["ownerType"] = int32(1) // USER
	}
	if db.Str("locationUri") == "" {
		db["locationUri"] = s.databaseLocation(k, ident(name))
	}
	if db["parameters"] == nil {
		db["parameters"] = hms.Map{}
	}
	if err := s.makeFolder(db.Str("locationUri")); err != nil {
		return nil, err
	}
	k.dbs[ident(name)] = newDatabase(s.stamp(db, cat))
	s.noteDatabase("CREATE_DATABASE", db)
	return nil, nil
}

// databaseLocation: 4.x puts databases of the default catalog under the external
// folder (seen).
func (s *Server) databaseLocation(k *catalog, name string) string {
	base := k.obj.Str("locationUri")
	if s.era.four && k.obj.Str("name") == defaultCatalog {
		base = s.conf.External
	}
	return location(base, name+".db")
}

func (s *Server) alterDatabase(c *call) (any, error) {
	n := c.dbNamed("olddbname", "dbname")
	d, db := s.find(n), c.strct("newdb", "db")
	if d == nil {
		if !s.era.catalogs { // 2.3 says nothing (seen)
			return nil, nil
		}
		return nil, throw(noSuchObject, "%s", s.noDatabase(n))
	}
	out := d.obj
	fields := []string{"parameters", "ownerName", "ownerType"}
	if s.era.catalogs { // 2.3 keeps the rest (seen)
		fields = append(fields, "description", "locationUri", "managedLocationUri")
	}
	for _, f := range fields {
		if v := db[f]; v != nil {
			out = with(out, f, hms.Clone(v))
		}
	}
	d.obj = out
	return nil, nil
}

func (s *Server) dropDatabase(c *call) (any, error) {
	n := c.dbNamed("name")
	d := s.find(n)
	switch {
	case d == nil && c.flag("ignoreunknowndb"):
		return nil, nil
	case d == nil && s.era.catalogs && !s.era.four: // 3.1.3 trips over it (seen on Java 17)
		return nil, throw(meta, `java.lang.NullPointerException: Cannot invoke "org.apache.hadoop.hive.metastore.api.Database.getName()" because "db" is null`)
	case d == nil:
		return nil, throw(noSuchObject, "%s", s.noDatabase(n))
	case ident(n.db) == defaultDatabase && ident(n.cat) == defaultCatalog:
		return nil, throw(meta, "Can not drop default database in catalog %s", n.cat)
	case !c.flag("cascade") && len(d.tables) > 0:
		return nil, throw(invalidOp, "Database %s is not empty. One or more tables exist.", n.db)
	case !c.flag("cascade") && len(d.funcs) > 0:
		return nil, throw(invalidOp, "Database %s is not empty. One or more functions exist.", n.db)
	}
	delete(s.catalogOf(n).dbs, ident(n.db))
	s.noteDatabase("DROP_DATABASE", d.obj)
	if c.flag("deletedata") {
		return nil, s.removeFolder(d.obj.Str("locationUri"))
	}
	return nil, nil
}
