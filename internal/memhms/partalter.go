package memhms

import (
	"fmt"
	"strings"

	"hmsgate/internal/hms"
)

func init() {
	for _, m := range []string{"alter_partition", "alter_partition_with_environment_context", "alter_partitions",
		"alter_partitions_with_environment_context", "alter_partitions_req"} {
		add(m, (*Server).alterPartitions, "")
	}
	add("rename_partition", (*Server).renamePartition, "")
	add("rename_partition_req", (*Server).renamePartition, "")
	add("exchange_partition", (*Server).exchangePartition, "")
	add("exchange_partitions", (*Server).exchangePartitions, "")
	add("markPartitionForEvent", (*Server).markPartition, "")
	add("isPartitionMarkedForEvent", (*Server).isMarked, "")
}

// alterPartitions changes all or none.
func (s *Server) alterPartitions(c *call) (any, error) {
	t, err := s.tableOr(invalidOp, c.db(), c.str("tblname", "tablename"))
	if err != nil {
		return nil, err
	}
	parts := c.structs("newparts", "partitions")
	if p := c.strct("newpart"); p != nil {
		parts = []hms.Struct{p}
	}
	next := map[string]*partition{}
	for _, p := range parts {
		vals := hms.Strings(p["values"])
		name, err := nameFor(t, vals)
		if err != nil {
			return nil, err
		}
		old := t.parts[name]
		if old == nil {
			return nil, s.notAltered(c, vals, len(parts))
		}
		next[name] = &partition{obj: s.alteredPart(t, old, p, c.env()), stats: old.stats}
	}
	for _, name := range sortedKeys(next) {
		s.notePartition(t.obj, t.parts[name].obj, next[name].obj)
		t.parts[name] = next[name]
	}
	return nil, nil
}

// notAltered: 4.x has another text in the calls that alter many (seen).
func (s *Server) notAltered(c *call, vals []string, n int) error {
	switch {
	case s.era.four && !c.has("newpart"):
		return throw(invalidOp, "Alter partition operation failed: new parts size %d not matching with old parts size %d", n, n-1)
	case s.era.catalogs:
		return throw(invalidOp, "alter is not possible: %s", noPartition(vals))
	}
	return throw(invalidOp, "alter is not possible")
}

func (s *Server) alteredPart(t *table, old *partition, p hms.Struct, env map[string]string) hms.Struct {
	out := p.Clone()
	for _, f := range []string{"dbName", "tableName", "catName"} {
		if v, ok := old.obj[f]; ok {
			out[f] = v
		}
	}
	if out["writeId"] == nil || out.Int("writeId") == 0 {
		if v, ok := old.obj["writeId"]; ok {
			out["writeId"] = v
		}
	}
	delete(out, "privileges")
	m := params(out)
	if m[lastDDL] == "" || m[lastDDL] == "0" {
		m[lastDDL] = itoa(s.now())
	}
	if env["DO_NOT_UPDATE_STATS"] != "true" {
		s.fastStats(m)
	}
	out["parameters"] = hms.MapOf(m)
	if sd := fullSD(out.Struct("sd")); sd != nil {
		out["sd"] = sd
	} else {
		out["sd"] = old.obj["sd"]
	}
	return out
}

func (s *Server) renamePartition(c *call) (any, error) {
	t, err := s.tableOr(invalidOp, c.db(), c.str("tblname", "tablename"))
	if err != nil {
		return nil, err
	}
	from, p := c.partVals(), c.strct("newpart")
	name, err := nameFor(t, from)
	if err != nil {
		return nil, err
	}
	to, err := nameFor(t, hms.Strings(p["values"]))
	if err != nil {
		return nil, err
	}
	old := t.parts[name]
	if old == nil {
		return nil, throw(invalidObject, "Unable to rename partition because old partition does not exist")
	}
	if to != name && t.parts[to] != nil {
		return nil, throw(alreadyExists, "Partition already exists:%s.%s.%s", t.obj.Str("dbName"),
			t.obj.Str("tableName"), javaList(hms.Strings(p["values"])))
	}
	env := map[string]string{}
	if !s.era.catalogs { // 2.3 leaves the figures alone here (seen)
		env["DO_NOT_UPDATE_STATS"] = "true"
	}
	next := &partition{obj: s.alteredPart(t, old, p, env), stats: old.stats}
	if !isExternal(t.obj) {
		next.obj["sd"] = with(next.obj.Struct("sd"), "location", location(t.obj.Struct("sd").Str("location"), to))
	}
	s.notePartition(t.obj, old.obj, next.obj)
	delete(t.parts, name)
	t.parts[to] = next
	return nil, nil
}

func (s *Server) exchangePartition(c *call) (any, error) {
	if _, err := s.exchange(c); err != nil {
		return nil, err
	}
	return hms.Struct{}, nil // a Partition with nothing set, as real ones answer (seen)
}

func (s *Server) exchangePartitions(c *call) (any, error) { return s.exchange(c) }

// exchange moves the partitions that fit a spec from one table to another.
func (s *Server) exchange(c *call) ([]any, error) {
	spec := hms.StringMap(c.value("partitionspecs"))
	src, err := s.tableOr(meta, c.dbNamed("sourcedb"), c.str("sourcetablename"))
	if err != nil {
		return nil, err
	}
	dst, err := s.tableOr(meta, c.dbNamed("destdb"), c.str("desttablename"))
	if err != nil {
		return nil, err
	}
	keys := src.obj.Structs("partitionKeys")
	var vals []string
	for _, k := range keys {
		vals = append(vals, spec[k.Str("name")])
	}
	var names []string
	for _, name := range sortedKeys(src.parts) {
		if partial(vals, hms.Strings(src.parts[name].obj["values"])) {
			names = append(names, name)
		}
	}
	if len(names) == 0 && !s.era.catalogs {
		return nil, throw(meta, "Got exception: java.io.FileNotFoundException File %s does not exist",
			location(src.obj.Struct("sd").Str("location"), partName(keys, prefixOf(vals))))
	}
	if len(names) == 0 {
		return nil, throw(meta, "No partition is found with the values %s for the table %s", specText(spec),
			src.obj.Str("tableName"))
	}
	// The folder of the spec is renamed as a whole: it must not be there yet.
	folder := strings.TrimSuffix(partName(keys, prefixOf(vals)), "/")
	for name := range dst.parts {
		if name == folder || strings.HasPrefix(name, folder+"/") {
			return nil, throw(meta, "Got exception: java.io.IOException Cannot rename the source path. The destination path already exists.")
		}
	}
	out := []any{}
	for _, name := range names {
		o := with(with(src.parts[name].obj, "dbName", dst.obj["dbName"]), "tableName", dst.obj["tableName"])
		o["sd"] = with(o.Struct("sd"), "location", location(dst.obj.Struct("sd").Str("location"), name))
		dst.parts[name] = &partition{obj: o, stats: src.parts[name].stats}
		delete(src.parts, name)
		out = append(out, o)
	}
	return out, nil
}

// prefixOf are the values up to the first that is open.
func prefixOf(vals []string) []string {
	for i, v := range vals {
		if v == "" {
			return vals[:i]
		}
	}
	return vals
}

func specText(spec map[string]string) string {
	var parts []string
	for _, k := range sortedKeys(spec) {
		parts = append(parts, k+"="+spec[k])
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// mark is the key of an event mark.
func (s *Server) mark(c *call) (*table, string, error) {
	n := c.db()
	t := s.findTable(n, c.table())
	if t == nil {
		return nil, "", throw(unknownTable, "Table: %s is not found.", c.table())
	}
	return t, fmt.Sprint(specText(hms.StringMap(c.value("partvals"))), c.num("eventtype")), nil
}

func (s *Server) markPartition(c *call) (any, error) {
	t, key, err := s.mark(c)
	if err == nil {
		t.marks[key] = true
	}
	return nil, err
}

func (s *Server) isMarked(c *call) (any, error) {
	t, key, err := s.mark(c)
	if err != nil {
		return nil, err
	}
	return t.marks[key], nil
}
