package memhms

import "hmsgate/internal/hms"

func init() {
	add("create_function", (*Server).createFunction, "")
	add("alter_function", (*Server).alterFunction, "")
	add("drop_function", (*Server).dropFunction, "")
	add("get_function", (*Server).getFunction, "")
	add("get_functions", (*Server).functionNames, "")
	add("get_functions_req", (*Server).functionObjects, "")
	add("get_all_functions", (*Server).allFunctions, "functions")
}

// newFunction: one without an owner belongs to the connection's user (seen).
func (s *Server) newFunction(c *call, f hms.Struct, n dbName) hms.Struct {
	out := f.Clone()
	out["functionName"], out["dbName"] = ident(f.Str("functionName")), ident(n.db)
	out["createTime"] = int32(s.now())
	if out["ownerName"] == nil && c.c.user != "" {
		out["ownerName"] = c.c.user
	}
	if s.era.catalogs {
		out["catName"] = ident(n.cat)
	}
	return out
}

func (s *Server) createFunction(c *call) (any, error) {
	f := c.strct("func")
	n, name := s.nameOfTable(f), f.Str("functionName")
	if !s.validName(name) {
		return nil, throw(invalidObject, "%s is not a valid object name", name)
	}
	d := s.find(n)
	if d == nil {
		return nil, throw(noSuchObject, "The database %s does not exist", n.db)
	}
	if d.funcs[ident(name)] != nil {
		return nil, throw(alreadyExists, "Function %s already exists", name)
	}
	d.funcs[ident(name)] = s.newFunction(c, f, n)
	return nil, nil
}

func (s *Server) alterFunction(c *call) (any, error) {
	n, name := c.db(), ident(c.str("funcname"))
	d, f := s.find(n), c.strct("newfunc")
	if d == nil || d.funcs[name] == nil {
		return nil, throw(invalidOp, "Function %s does not exist", name)
	}
	next := s.newFunction(c, f, n)
	next["createTime"] = d.funcs[name]["createTime"]
	delete(d.funcs, name)
	d.funcs[next.Str("functionName")] = next
	return nil, nil
}

func (s *Server) dropFunction(c *call) (any, error) {
	d, name := s.find(c.db()), ident(c.str("funcname"))
	if d == nil || d.funcs[name] == nil {
		return nil, throw(noSuchObject, "Function %s does not exist", c.str("funcname"))
	}
	delete(d.funcs, name)
	return nil, nil
}

// getFunction's text holds the database as it was sent, prefix and all (seen).
func (s *Server) getFunction(c *call) (any, error) {
	n, name := c.db(), ident(c.str("funcname"))
	if d := s.find(n); d != nil && d.funcs[name] != nil {
		return d.funcs[name], nil
	}
	return nil, throw(noSuchObject, "Function %s.%s does not exist", n.raw, c.str("funcname"))
}

func (s *Server) functionNames(c *call) (any, error) {
	out, match := []any{}, c.patternOf("pattern")
	if d := s.find(c.db()); d != nil {
		for _, name := range sortedKeys(d.funcs) {
			if match(name) {
				out = append(out, name)
			}
		}
	}
	return out, nil
}

func (s *Server) functionObjects(c *call) (any, error) {
	names, err := s.functionNames(c)
	if err != nil {
		return nil, err
	}
	if c.flag("returnnames") || !c.has("returnnames") {
		return hms.Struct{"function_names": names}, nil
	}
	list, d := []any{}, s.find(c.db())
	for _, n := range hms.Strings(names) {
		list = append(list, d.funcs[n])
	}
	return hms.Struct{"functions": list}, nil
}

func (s *Server) allFunctions(*call) (any, error) {
	out := []any{}
	for _, cat := range sortedKeys(s.cats) {
		for _, db := range sortedKeys(s.cats[cat].dbs) {
			for _, name := range sortedKeys(s.cats[cat].dbs[db].funcs) {
				out = append(out, s.cats[cat].dbs[db].funcs[name])
			}
		}
	}
	return out, nil
}
