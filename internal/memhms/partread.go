package memhms

import (
	"strings"

	"hmsgate/internal/hms"
)

func init() {
	for m, in := range map[string]string{"get_partition": "", "get_partition_by_name": "",
		"get_partition_with_auth": "", "get_partition_req": "partition"} {
		add(m, (*Server).getPartition, in)
	}
	for m, in := range map[string]string{"get_partitions": "", "get_partitions_with_auth": "", "get_partitions_ps": "",
		"get_partitions_ps_with_auth": "", "get_partitions_by_filter": "", "get_partitions_by_filter_req": "",
		"get_partitions_req": "partitions", "get_partitions_ps_with_auth_req": "partitions"} {
		add(m, partitionsAs((*Server).objects), in)
	}
	for m, in := range map[string]string{"get_partition_names": "", "get_partition_names_ps": "",
		"fetch_partition_names_req":  "",
		"get_partition_names_ps_req": "names"} {
		add(m, partitionsAs((*Server).names), in)
	}
	for _, m := range []string{"get_partitions_pspec", "get_part_specs_by_filter"} {
		add(m, partitionsAs((*Server).specs), "")
	}
	add("get_num_partitions_by_filter", partitionsAs(func(_ *Server, _ *table,
		l []string) any {
		return int32(len(l))
	}), "")
	add("get_partitions_by_names", (*Server).partitionsByNames, "")
	add("get_partitions_by_names_req", (*Server).partitionsByNames, "partitions")
	add("get_partition_values", (*Server).partitionValues, "partitionValues")
}

func (s *Server) getPartition(c *call) (any, error) {
	t, name, err := s.namedPart(c)
	if err != nil {
		return nil, err
	}
	return t.parts[name].obj, nil
}

// namedPart is the partition that a call names, of which table.
func (s *Server) namedPart(c *call) (*table, string, error) {
	t, err := s.tableOr(noSuchObject, c.db(), c.str("tblname", "tablename"))
	if err != nil {
		return nil, "", err
	}
	vals := c.partVals()
	name, err := nameFor(t, vals)
	if err == nil && t.parts[name] == nil {
		err = throw(noSuchObject, "%s", noPartition(vals))
	}
	return t, name, err
}

// partitionsAs makes a handler that selects partitions, by a partial list of
// values, a filter or neither, and shows them in one of several forms.
func partitionsAs(show func(*Server, *table, []string) any) func(*Server, *call) (any, error) {
	return func(s *Server, c *call) (any, error) {
		n, name := c.db(), c.str("tblname", "tablename")
		t := s.findTable(n, name)
		if t == nil {
			if s.era.four && !c.has("filter") { // 4.x answers with nothing (seen)
				return show(s, &table{}, nil), nil
			}
			return nil, throw(noSuchObject, "%s table not found", s.qualified(n, name))
		}
		names, err := s.sel(c, t)
		if err != nil {
			return nil, err
		}
		if max := c.max("maxparts"); max >= 0 && len(names) > max {
			names = names[:max]
		}
		return show(s, t, names), nil
	}
}

// sel are the names of the partitions that a call asks for, in order.
func (s *Server) sel(c *call, t *table) ([]string, error) {
	keys := t.obj.Structs("partitionKeys")
	vals := c.strs("partvals", "partvalues", "partitionvalues")
	if len(vals) > len(keys) {
		return nil, throw(meta, "Incorrect number of partition values")
	}
	f, err := s.parseFilter(c.str("filter"))
	if err != nil {
		return nil, err
	}
	var out []string
	for _, name := range sortedKeys(t.parts) {
		have := hms.Strings(t.parts[name].obj["values"])
		if !partial(vals, have) {
			continue
		}
		ok, err := f.match(func(key string) (field, error) { return partField(keys, have, key) })
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, name)
		}
	}
	if len(t.parts) == 0 { // the keys are checked even then
		_, err = f.match(func(key string) (field, error) { return partField(keys, make([]string, len(keys)), key) })
	}
	return out, err
}

// partial: an empty value leaves that key open.
func partial(want, have []string) bool {
	for i, v := range want {
		if v != "" && have[i] != v {
			return false
		}
	}
	return true
}

func partField(keys []hms.Struct, vals []string, key string) (field, error) {
	for i, k := range keys {
		if strings.EqualFold(k.Str("name"), key) {
			return field{text: vals[i], number: widening[baseType(k.Str("type"))] > 0}, nil
		}
	}
	return field{}, throw(meta, "Specified key <%s> is not a partitioning key for the table", key)
}

func (s *Server) objects(t *table, names []string) any {
	out := []any{}
	for _, name := range names {
		out = append(out, t.parts[name].obj)
	}
	return out
}

func (s *Server) names(_ *table, names []string) any { return hms.ListOf(names) }

// specs is one spec of all partitions below the table's folder and one of those
// elsewhere, if there are any (MetaStoreUtils.getPartitionspecsGroupedByStorageDescriptor).
func (s *Server) specs(t *table, names []string) any {
	root := t.obj.Struct("sd").Str("location")
	within, without := []any{}, []any{}
	for _, name := range names {
		p := t.parts[name].obj
		loc := p.Struct("sd").Str("location")
		if rel, ok := strings.CutPrefix(loc, root); ok {
			q := hms.Struct{"relativePath": rel}
			for _, f := range []string{"values", "createTime", "lastAccessTime", "parameters"} {
				if v := p[f]; v != nil {
					q[f] = v
				}
			}
			within = append(within, q)
		} else {
			without = append(without, p)
		}
	}
	out := []any{}
	spec := func(f string, v hms.Struct) hms.Struct {
		x := hms.Struct{"dbName": t.obj["dbName"], "tableName": t.obj["tableName"], f: v, "rootPath": root}
		if s.era.catalogs {
			x["catName"] = t.obj["catName"]
		}
		return x
	}
	if len(within) > 0 || len(without) == 0 {
		sd := t.obj.Struct("sd")
		if len(names) > 0 && len(within) > 0 {
			sd = t.parts[names[0]].obj.Struct("sd")
		}
		out = append(out, spec("sharedSDPartitionSpec", hms.Struct{"partitions": within,
			"sd": with(sd, "location", root)}))
	}
	if len(without) > 0 {
		out = append(out, with(spec("partitionList", hms.Struct{"partitions": without}), "rootPath", nil))
	}
	return out
}

// partitionsByNames leaves out names that are not there.
func (s *Server) partitionsByNames(c *call) (any, error) {
	x := noSuchObject
	if s.era.four && hasThrow(c, invalidObject) {
		x = invalidObject // seen at 4.1.0
	}
	t, err := s.tableOr(x, c.db(), c.str("tblname", "tablename"))
	if err != nil {
		return nil, err
	}
	wanted := map[string]bool{}
	for _, n := range c.strs("names") {
		wanted[n] = true
	}
	out := []any{}
	for _, name := range sortedKeys(t.parts) {
		if wanted[name] {
			out = append(out, t.parts[name].obj)
		}
	}
	return out, nil
}

func hasThrow(c *call, exception string) bool { return hms.Throws(c.method, exception) != nil }

// partitionValues are rows of the asked keys' values.
func (s *Server) partitionValues(c *call) (any, error) {
	t, err := s.tableOr(noSuchObject, c.db(), c.table())
	if err != nil {
		return nil, err
	}
	names, err := s.sel(c, t)
	if err != nil {
		return nil, err
	}
	keys, asked := t.obj.Structs("partitionKeys"), c.structs("partitionkeys")
	out, seen := []any{}, map[string]bool{}
	for _, name := range names {
		vals := hms.Strings(t.parts[name].obj["values"])
		var row []string
		for _, k := range asked {
			f, err := partField(keys, vals, k.Str("name"))
			if err != nil {
				return nil, err
			}
			row = append(row, f.text)
		}
		if id := strings.Join(row, "\x00"); !c.has("applydistinct") || !c.flag("applydistinct") || !seen[id] {
			seen[id] = true
			out = append(out, hms.Struct{"row": hms.ListOf(row)})
		}
	}
	if max := c.max("maxparts"); max >= 0 && len(out) > max {
		out = out[:max]
	}
	return out, nil
}
