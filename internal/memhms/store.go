package memhms

import (
	"maps"
	"slices"
	"strings"

	"hmsgate/internal/hms"
)

const (
	defaultCatalog  = "hive"
	defaultDatabase = "default"
)

type catalog struct {
	obj hms.Struct
	dbs map[string]*database
}

type database struct {
	obj    hms.Struct
	tables map[string]*table
	funcs  map[string]hms.Struct
}

type table struct {
	obj   hms.Struct
	seq   int64                 // the order of creation
	parts map[string]*partition // by name: "ds=1/hr=2"
	stats map[string]hms.Struct // ColumnStatisticsObj by column
	marks map[string]bool       // markPartitionForEvent
	cons  map[string][]any      // constraints by kind
}

type partition struct {
	obj   hms.Struct
	stats map[string]hms.Struct
}

func sortedKeys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }

// addCatalog makes a catalog with its default database.
func (s *Server) addCatalog(name, description, location string) {
	obj := hms.Struct{"name": name, "description": description, "locationUri": location}
	if s.era.four {
		obj["createTime"] = int32(s.now())
	}
	k := &catalog{obj: obj, dbs: map[string]*database{}}
	s.cats[name] = k
	k.dbs[defaultDatabase] = newDatabase(s.stamp(hms.Struct{"name": defaultDatabase,
		"description": "Default Hive database", "locationUri": location, "parameters": hms.Map{},
		"ownerName": "public", "ownerType": int32(2)}, name))
}

func newDatabase(obj hms.Struct) *database {
	return &database{obj: obj, tables: map[string]*table{}, funcs: map[string]hms.Struct{}}
}

// stamp adds to a database what a version adds by itself.
func (s *Server) stamp(db hms.Struct, cat string) hms.Struct {
	if s.era.catalogs {
		db["catalogName"] = cat
	}
	if s.era.four {
		db["createTime"] = int32(s.now())
		db["type"] = int32(1) // DatabaseType NATIVE
	}
	return db
}

func (s *Server) catalogOf(n dbName) *catalog { return s.cats[ident(n.cat)] }

// find is a database, or nil.
func (s *Server) find(n dbName) *database {
	if k := s.catalogOf(n); k != nil {
		return k.dbs[ident(n.db)]
	}
	return nil
}

// noDatabase is what a real metastore calls a database that is not there.
func (s *Server) noDatabase(n dbName) string {
	if s.era.four {
		return "database " + n.cat + "." + n.db
	}
	return n.db
}

// findTable is a table, or nil.
func (s *Server) findTable(n dbName, name string) *table {
	if d := s.find(n); d != nil {
		return d.tables[ident(name)]
	}
	return nil
}

// tableOr is a table, or an exception of this type with the usual text.
func (s *Server) tableOr(exception string, n dbName, name string) (*table, error) {
	if t := s.findTable(n, name); t != nil {
		return t, nil
	}
	return nil, throw(exception, "%s table not found", s.qualified(n, name))
}

// location joins a URI and names below it.
func location(base string, names ...string) string {
	return strings.TrimRight(base, "/") + "/" + strings.Join(names, "/")
}

// with is a copy of a struct with one field changed.
func with(s hms.Struct, field string, v any) hms.Struct {
	out := make(hms.Struct, len(s)+1)
	for k, x := range s {
		out[k] = x
	}
	out[field] = v
	return out
}

// params are a struct's parameters as a map of its own.
func params(s hms.Struct) map[string]string { return hms.StringMap(s["parameters"]) }

// fullSD is a storage descriptor as it comes out of the store: what a client left
// out is empty, not absent (ObjectStore.convertToStorageDescriptor).
func fullSD(sd hms.Struct) hms.Struct {
	if sd == nil {
		return nil
	}
	out := sd.Clone()
	for _, f := range []string{"cols", "bucketCols", "sortCols"} {
		if out[f] == nil {
			out[f] = []any{}
		}
	}
	if out["parameters"] == nil {
		out["parameters"] = hms.Map{}
	}
	if out["skewedInfo"] == nil {
		out["skewedInfo"] = hms.Struct{"skewedColNames": []any{}, "skewedColValues": []any{},
			"skewedColValueLocationMaps": hms.Map{}}
	}
	if out["storedAsSubDirectories"] == nil {
		out["storedAsSubDirectories"] = false
	}
	if si := out.Struct("serdeInfo"); si != nil && si["parameters"] == nil {
		out["serdeInfo"] = with(si, "parameters", hms.Map{})
	}
	return out
}
