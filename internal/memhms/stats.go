package memhms

import (
	"strings"

	"hmsgate/internal/hms"
)

func init() {
	for _, m := range []string{"update_table_column_statistics", "update_partition_column_statistics"} {
		add(m, (*Server).updateStats, "")
	}
	for _, m := range []string{"update_table_column_statistics_req", "update_partition_column_statistics_req"} {
		add(m, (*Server).setStats, "result")
	}
	add("set_aggr_stats_for", (*Server).setStats, "")
	add("get_table_column_statistics", (*Server).columnStats, "")
	add("get_partition_column_statistics", (*Server).columnStats, "")
	add("get_table_statistics_req", (*Server).tableStats, "tableStats")
	add("get_partitions_statistics_req", (*Server).partitionStats, "partStats")
	add("get_aggr_stats_for", (*Server).aggregate, "")
	for _, m := range []string{"delete_table_column_statistics", "delete_partition_column_statistics",
		"delete_column_statistics_req"} {
		add(m, (*Server).deleteStats, "")
	}
}

func (s *Server) updateStats(c *call) (any, error) { return s.store(c.strct("statsobj")) }

func (s *Server) setStats(c *call) (any, error) {
	for _, o := range c.structs("colstats") {
		if _, err := s.store(o); err != nil {
			return nil, err
		}
	}
	return true, nil
}

// store keeps a ColumnStatistics by column, at its table or partition.
func (s *Server) store(o hms.Struct) (any, error) {
	desc := o.Struct("statsDesc")
	n := s.nameOfTable(desc)
	t, err := s.tableOr(noSuchObject, n, desc.Str("tableName"))
	if err != nil {
		return nil, err
	}
	obj, stats := &t.obj, t.stats
	if !desc.Bool("isTblLevel") {
		p := t.parts[desc.Str("partName")]
		if p == nil {
			_, vals := splitPartName(desc.Str("partName"))
			return nil, throw(noSuchObject, "%s", noPartition(vals))
		}
		obj, stats = &p.obj, p.stats
	}
	for _, col := range o.Structs("statsObj") {
		stats[ident(col.Str("colName"))] = with(col, "colName", ident(col.Str("colName")))
	}
	if !s.era.catalogs { // 2.3 leaves the parameters alone (seen)
		return true, nil
	}
	m := params(*obj)
	m["COLUMN_STATS_ACCURATE"] = accurate(sortedKeys(stats))
	*obj = with(*obj, "parameters", hms.MapOf(m))
	return true, nil
}

// accurate is StatsSetupConst's note of columns whose figures hold.
func accurate(cols []string) string {
	for i, c := range cols {
		cols[i] = `"` + c + `":"true"`
	}
	return `{"COLUMN_STATS":{` + strings.Join(cols, ",") + `}}`
}

// columnStats of a column that has none is null: no result at all (seen).
func (s *Server) columnStats(c *call) (any, error) {
	n, name := c.db(), c.table()
	t, err := s.tableOr(noSuchObject, n, name)
	if err != nil {
		return nil, err
	}
	desc := hms.Struct{"isTblLevel": true, "dbName": ident(n.db), "tableName": ident(name), "lastAnalyzed": s.now()}
	if s.era.catalogs {
		desc["catName"] = ident(n.cat)
	}
	stats := t.stats
	if part := c.str("partname"); part != "" {
		p := t.parts[part]
		if p == nil {
			return nil, throw(noSuchObject, "partition %s is not there", part)
		}
		desc["isTblLevel"], desc["partName"], stats = false, part, p.stats
	}
	col := stats[ident(c.str("colname"))]
	if col == nil {
		return nil, nil
	}
	return hms.Struct{"statsDesc": desc, "statsObj": []any{col}, "engine": "hive"}, nil
}

func pick(stats map[string]hms.Struct, cols []string) []any {
	out := []any{}
	for _, c := range cols {
		if o := stats[ident(c)]; o != nil {
			out = append(out, o)
		}
	}
	return out
}

func (s *Server) tableStats(c *call) (any, error) {
	t, err := s.tableOr(noSuchObject, c.db(), c.table())
	if err != nil {
		return nil, err
	}
	return pick(t.stats, c.strs("colnames")), nil
}

func (s *Server) partitionStats(c *call) (any, error) {
	t, err := s.tableOr(noSuchObject, c.db(), c.table())
	if err != nil {
		return nil, err
	}
	out := hms.Map{}
	for _, name := range c.strs("partnames") {
		if p := t.parts[name]; p != nil {
			if l := pick(p.stats, c.strs("colnames")); len(l) > 0 {
				out = append(out, hms.Pair{Key: name, Value: l})
			}
		}
	}
	return out, nil
}

// aggregate joins the figures of partitions that have them.
func (s *Server) aggregate(c *call) (any, error) {
	t, err := s.tableOr(noSuchObject, c.db(), c.table())
	if err != nil {
		return nil, err
	}
	found, list := int64(0), []any{}
	for _, col := range c.strs("colnames") {
		var sum hms.Struct
		for _, name := range c.strs("partnames") {
			p := t.parts[name]
			if p == nil || p.stats[ident(col)] == nil {
				continue
			}
			found++
			sum = joinStats(sum, p.stats[ident(col)])
		}
		if sum != nil {
			list = append(list, sum)
		}
	}
	if n := int64(len(c.strs("colnames"))); n > 0 {
		found /= n
	}
	return hms.Struct{"colStats": list, "partsFound": found}, nil
}

// joinStats adds counts, and takes the wider bound of everything else.
func joinStats(a, b hms.Struct) hms.Struct {
	if a == nil {
		return b
	}
	out := a.Clone()
	for kind, v := range b.Struct("statsData") {
		into, from := out.Struct("statsData").Struct(kind), v.(hms.Struct)
		if into == nil {
			continue
		}
		for f := range from {
			x, y := into.Int(f), from.Int(f)
			switch f {
			case "numNulls", "numTrues", "numFalses":
				into[f] = x + y
			case "lowValue":
				if _, ok := from[f].(int64); ok {
					into[f] = min(x, y)
				}
			case "highValue", "numDVs", "maxColLen":
				if _, ok := from[f].(int64); ok {
					into[f] = max(x, y)
				}
			}
		}
	}
	return out
}

func (s *Server) deleteStats(c *call) (any, error) {
	t, err := s.tableOr(noSuchObject, c.db(), c.table())
	if err != nil {
		return nil, err
	}
	cols := c.strs("colnames")
	if col := c.str("colname"); col != "" {
		cols = []string{col}
	}
	all := []map[string]hms.Struct{t.stats}
	parts := append(c.strs("partnames"), c.strs("partname")...)
	if p := c.str("partname"); p != "" {
		parts = append(parts, p)
	}
	if len(parts) > 0 {
		all = nil
	}
	for _, name := range parts {
		if p := t.parts[name]; p != nil {
			all = append(all, p.stats)
		}
	}
	for _, stats := range all {
		for _, col := range cols {
			delete(stats, ident(col))
		}
	}
	return true, nil
}
