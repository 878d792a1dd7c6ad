package memhms

import "hmsgate/internal/hms"

func init() {
	add("get_catalogs", (*Server).catalogs, "names")
	add("get_catalog", (*Server).getCatalog, "catalog")
	add("create_catalog", (*Server).createCatalog, "")
	add("alter_catalog", (*Server).alterCatalog, "")
	add("drop_catalog", (*Server).dropCatalog, "")
}

func (s *Server) catalogs(*call) (any, error) { return hms.ListOf(sortedKeys(s.cats)), nil }

func (s *Server) getCatalog(c *call) (any, error) {
	k := s.cats[ident(c.str("name"))]
	if k == nil {
		return nil, throw(noSuchObject, "No catalog %s", c.str("name"))
	}
	return k.obj, nil
}

func (s *Server) createCatalog(c *call) (any, error) {
	o := c.strct("catalog")
	name := ident(o.Str("name"))
	switch {
	case s.cats[name] != nil:
		return nil, throw(alreadyExists, "Catalog %s already exists", name)
	case !s.validName(name):
		return nil, throw(invalidObject, "%s is not a valid catalog name", name)
	case o.Str("locationUri") == "":
		return nil, throw(invalidObject, "You must specify a path for the catalog")
	}
	s.addCatalog(name, "", o.Str("locationUri"))
	k := s.cats[name]
	for f, v := range k.obj {
		if o[f] == nil && f != "description" {
			o = with(o, f, v)
		}
	}
	k.obj = o
	return nil, nil
}

func (s *Server) alterCatalog(c *call) (any, error) {
	k, o := s.cats[ident(c.str("name"))], c.strct("newcat")
	if k == nil {
		return nil, throw(noSuchObject, "No catalog %s", c.str("name"))
	}
	for _, f := range []string{"description", "locationUri"} {
		if v := o[f]; v != nil {
			k.obj = with(k.obj, f, v)
		}
	}
	return nil, nil
}

func (s *Server) dropCatalog(c *call) (any, error) {
	name := ident(c.str("name"))
	k := s.cats[name]
	switch {
	case k == nil && c.flag("ifexists"):
		return nil, nil
	case k == nil:
		return nil, throw(noSuchObject, "No catalog %s", name)
	case name == defaultCatalog:
		return nil, throw(meta, "Can not drop hive catalog")
	}
	if len(k.dbs) > 1 {
		return nil, throw(invalidOp, "There are non-default databases in the catalog %s so it cannot be dropped.", name)
	}
	for db, d := range k.dbs {
		if db != defaultDatabase || len(d.tables) > 0 || len(d.funcs) > 0 {
			return nil, throw(invalidOp, "The catalog %s is not empty, it contains at least one database", name)
		}
	}
	delete(s.cats, name)
	return nil, nil
}
