package memhms

import (
	"hmsgate/internal/hms"
)

func init() {
	for _, m := range []string{"add_partition", "add_partition_with_environment_context"} {
		add(m, (*Server).addPartition, "")
	}
	add("add_partitions", (*Server).addPartitions, "")
	add("add_partitions_req", (*Server).addPartitionsReq, "")
	add("add_partitions_pspec", (*Server).addPartitionSpecs, "")
	for _, m := range []string{"append_partition", "append_partition_by_name",
		"append_partition_with_environment_context",
		"append_partition_by_name_with_environment_context", "append_partition_req"} {
		add(m, (*Server).appendPartition, "")
	}
	for _, m := range []string{"drop_partition", "drop_partition_by_name", "drop_partition_with_environment_context",
		"drop_partition_by_name_with_environment_context", "drop_partition_req"} {
		add(m, (*Server).dropPartition, "")
	}
	add("drop_partitions_req", (*Server).dropPartitions, "")
}

// placeOf is the table a Partition says it belongs to; the call's own words fill
// what it leaves out.
func (s *Server) placeOf(c *call, p hms.Struct) (dbName, string) {
	n := dbName{cat: p.Str("catName"), db: p.Str("dbName")}
	if n.db == "" && c.has(dbKeys...) {
		n.db = c.db().db
	}
	if n.cat == "" {
		n.cat = c.str("catname")
	}
	if n.cat == "" || !s.era.catalogs {
		n.cat = defaultCatalog
	}
	name := p.Str("tableName")
	if name == "" {
		name = c.str("tblname", "tablename")
	}
	return n, name
}

// noTable is what adding partitions to a table that is not there ends in; calls that
// add many had another text before 4.0 (seen).
func (s *Server) noTable(c *call, n dbName, name string) error {
	many := c.has("newparts", "parts")
	switch {
	case s.era.four, s.era.catalogs && many:
		return throw(invalidObject, "Unable to add partitions because %s does not exist", s.qualified(n, name))
	case many:
		return throw(invalidObject, "Unable to add partitions because database or table %s does not exist",
			s.qualified(n, name))
	}
	return throw(invalidObject, "Unable to add partition because table or database do not exist")
}

// prepare checks a new partition and fills it; nothing is stored yet.
func (s *Server) prepare(c *call, p hms.Struct) (*table, string, hms.Struct, error) {
	n, name := s.placeOf(c, p)
	t := s.findTable(n, name)
	if t == nil {
		return nil, "", nil, s.noTable(c, n, name)
	}
	part, err := nameFor(t, hms.Strings(p["values"]))
	if err != nil {
		return nil, "", nil, err
	}
	if t.parts[part] != nil {
		return t, part, nil, throw(alreadyExists, "Partition already exists: %s", s.codec.StructText("Partition", p))
	}
	return t, part, s.newPartition(p, t, part), nil
}

// newPartition is a partition as add_partition answers it: what the client sent,
// the place and the times.
func (s *Server) newPartition(p hms.Struct, t *table, name string) hms.Struct {
	out := p.Clone()
	out["dbName"], out["tableName"] = t.obj["dbName"], t.obj["tableName"]
	if s.era.catalogs {
		out["catName"] = t.obj["catName"]
	}
	delete(out, "privileges")
	out["createTime"] = int32(s.now())
	m := params(out)
	if m[lastDDL] == "" {
		m[lastDDL] = itoa(s.now())
	}
	out["parameters"] = hms.MapOf(m)
	sd := out.Struct("sd")
	if base := t.obj.Struct("sd").Str("location"); sd != nil && base != "" && sd.Str("location") == "" {
		out["sd"] = with(sd, "location", location(base, name))
	}
	return out
}

// keepParts stores partitions of a table, which is one event.
func (s *Server) keepParts(t *table, names []string, parts []hms.Struct) error {
	for i, name := range names {
		if err := s.keepPart(t, name, parts[i]); err != nil {
			return err
		}
	}
	s.notePartitions("ADD_PARTITION", t.obj, parts)
	return nil
}

// keepPart stores a partition as it will be read.
func (s *Server) keepPart(t *table, name string, p hms.Struct) error {
	if err := s.makeFolder(p.Struct("sd").Str("location")); err != nil {
		return err
	}
	o := p.Clone()
	if sd := fullSD(o.Struct("sd")); sd != nil {
		o["sd"] = sd
	}
	if s.era.four && o["writeId"] == nil {
		o["writeId"] = int64(-1)
	}
	t.parts[name] = &partition{obj: o, stats: map[string]hms.Struct{}}
	return nil
}

func (s *Server) addPartition(c *call) (any, error) {
	t, name, p, err := s.prepare(c, c.strct("newpart"))
	if err != nil {
		return nil, err
	}
	return p, s.keepParts(t, []string{name}, []hms.Struct{p})
}

// addAll adds all or none.
func (s *Server) addAll(c *call, parts []hms.Struct, skipExisting bool) ([]any, error) {
	type made struct {
		t    *table
		name string
		p    hms.Struct
	}
	var all []made
	seen := map[string]bool{}
	for _, p := range parts {
		t, name, q, err := s.prepare(c, p)
		switch {
		case err != nil && t != nil && skipExisting:
			continue
		case err != nil:
			return nil, err
		case len(all) > 0 && all[0].t != t:
			return nil, throw(meta, "Partition does not belong to target table %s: %s",
				s.qualified(s.nameOfTable(all[0].t.obj), all[0].t.obj.Str("tableName")), s.codec.StructText("Partition",
					p))
		case seen[name]:
			return nil, throw(meta, "Duplicate partitions in the list: %s", s.codec.StructText("Partition", p))
		}
		seen[name] = true
		all = append(all, made{t, name, q})
	}
	out, names, objs := []any{}, []string{}, []hms.Struct{}
	for _, m := range all {
		out, names, objs = append(out, m.p), append(names, m.name), append(objs, m.p)
	}
	if len(all) == 0 {
		return out, nil
	}
	return out, s.keepParts(all[0].t, names, objs) // of one table, as real ones demand
}

func (s *Server) addPartitions(c *call) (any, error) {
	out, err := s.addAll(c, c.structs("newparts"), false)
	return int32(len(out)), err
}

func (s *Server) addPartitionsReq(c *call) (any, error) {
	n := c.db()
	if s.findTable(n, c.table()) == nil {
		_, _, _, err := s.prepare(c, hms.Struct{})
		return nil, err
	}
	out, err := s.addAll(c, c.structs("parts"), c.flag("ifnotexists"))
	if err != nil || c.has("needresult") && !c.flag("needresult") {
		return nil, err
	}
	return hms.Struct{"partitions": out}, nil
}

func (s *Server) addPartitionSpecs(c *call) (any, error) {
	var parts []hms.Struct
	for _, spec := range c.structs("newparts") {
		home := hms.Struct{"dbName": spec["dbName"], "tableName": spec["tableName"], "catName": spec["catName"]}
		for _, p := range append(spec.Struct("partitionList").Structs("partitions"), unshared(spec)...) {
			for k, v := range home {
				if p[k] == nil && v != nil {
					p = with(p, k, v)
				}
			}
			parts = append(parts, p)
		}
	}
	out, err := s.addAll(c, parts, false)
	return int32(len(out)), err
}

// unshared are the partitions of a spec that share a storage descriptor.
func unshared(spec hms.Struct) []hms.Struct {
	shared := spec.Struct("sharedSDPartitionSpec")
	var out []hms.Struct
	for _, p := range shared.Structs("partitions") {
		q := hms.Struct{}
		for _, f := range []string{"values", "createTime", "lastAccessTime", "parameters"} {
			if v := p[f]; v != nil {
				q[f] = v
			}
		}
		root := spec.Str("rootPath")
		if root == "" {
			root = shared.Struct("sd").Str("location")
		}
		q["sd"] = with(shared.Struct("sd"), "location", root+p.Str("relativePath"))
		out = append(out, q)
	}
	return out
}

// appendPartition makes a partition from the table's own description.
func (s *Server) appendPartition(c *call) (any, error) {
	n, name := c.db(), c.str("tblname", "tablename")
	t := s.findTable(n, name)
	if t == nil {
		return nil, throw(invalidObject, "Unable to add partition because table or database do not exist")
	}
	vals := c.partVals()
	part, err := nameFor(t, vals)
	if err != nil {
		return nil, err
	}
	p := hms.Struct{"values": hms.ListOf(vals), "dbName": t.obj["dbName"], "tableName": t.obj["tableName"]}
	sd := t.obj.Struct("sd").Clone()
	delete(sd, "location")
	p["sd"] = sd
	if t.parts[part] != nil {
		return nil, throw(alreadyExists, "Partition already exists:%s",
			s.codec.StructText("Partition", t.parts[part].obj))
	}
	o := s.newPartition(p, t, part)
	return o, s.keepParts(t, []string{part}, []hms.Struct{o})
}

func (s *Server) dropPartition(c *call) (any, error) {
	t, name, err := s.namedPart(c)
	if err != nil {
		return nil, err
	}
	if p := t.parts[name]; c.flag("deletedata") && ownsData(t.obj) {
		if err := s.removeFolder(p.obj.Struct("sd").Str("location")); err != nil {
			return nil, err
		}
	}
	s.notePartitions("DROP_PARTITION", t.obj, []hms.Struct{t.parts[name].obj})
	delete(t.parts, name)
	return true, nil
}

// dropPartitions takes names. Expressions are images of Java objects, which only a
// Java metastore can read.
func (s *Server) dropPartitions(c *call) (any, error) {
	t, err := s.tableOr(noSuchObject, c.db(), c.table())
	if err != nil {
		return nil, err
	}
	parts := c.strct("parts")
	names := hms.Strings(parts["names"])
	if len(parts.List("exprs")) > 0 {
		return nil, throw(meta, "partition expressions are not read by an in-memory metastore")
	}
	out := []any{}
	for _, name := range names {
		if p := t.parts[name]; p != nil {
			out = append(out, p.obj)
		} else if !c.has("ifexists") || !c.flag("ifexists") {
			return nil, throw(noSuchObject, "Some partitions to drop are missing")
		}
	}
	for _, name := range names {
		if p := t.parts[name]; p != nil {
			s.notePartitions("DROP_PARTITION", t.obj, []hms.Struct{p.obj})
		}
		delete(t.parts, name)
	}
	if !c.flag("needresult") && c.has("needresult") {
		return nil, nil
	}
	return hms.Struct{"partitions": out}, nil
}
