package memhms

import (
	"fmt"
	"strings"

	"hmsgate/frame"
	"hmsgate/internal/hms"
	"hmsgate/profiles"
)

// call is one call with its parameters, wherever they travelled.
type call struct {
	s       *Server
	c       *session
	method  *profiles.Method
	request string         // the request struct's name, "" when positional
	p       map[string]any // by folded name
}

// atCatStructs are the request structs in which real servers parse "@cat#db" in a
// database name that has no catalog field beside it; in all others it is a name
// like any other (HMSHandler of 3.1 and 4.1).
var atCatStructs = map[string]bool{"TruncateTableRequest": true, "AlterDatabaseRequest": true,
	"GetPartitionsByNamesRequest": true, "GetPartitionsRequest": true}

func newCall(s *Server, c *session, m *profiles.Method, args hms.Struct) *call {
	k := &call{s: s, c: c, method: m, p: map[string]any{}}
	src := args
	if len(m.Args) == 1 && isRequest(m.Args[0].Type) {
		k.request = m.Args[0].Type.Name
		src = args.Struct(m.Args[0].Name)
	}
	for name, v := range src {
		k.p[fold(name)] = v
	}
	if st := s.conf.Inventory.Structs[k.request]; st != nil { // a Java object begins with the IDL's defaults
		for i := range st.Fields {
			f := &st.Fields[i]
			if _, ok := src[f.Name]; !ok {
				if v := s.codec.Default(f); v != nil {
					k.p[fold(f.Name)] = v
				}
			}
		}
	}
	return k
}

func isRequest(t *profiles.TypeRef) bool {
	if t.Wire != frame.Struct {
		return false
	}
	for _, end := range []string{"Request", "Rqst", "Req"} {
		if strings.HasSuffix(t.Name, end) {
			return true
		}
	}
	return t.Name == "AddDynamicPartitions"
}

func fold(s string) string { return strings.ReplaceAll(strings.ToLower(s), "_", "") }

// value is the first parameter of these names that is there.
func (c *call) value(names ...string) any {
	for _, n := range names {
		if v, ok := c.p[n]; ok {
			return v
		}
	}
	return nil
}

func (c *call) has(names ...string) bool { return c.value(names...) != nil }

func (c *call) str(names ...string) string {
	for _, n := range names {
		if v, ok := c.p[n].(string); ok {
			return v
		}
	}
	return ""
}

func (c *call) strct(names ...string) hms.Struct {
	v, _ := c.value(names...).(hms.Struct)
	return v
}

func (c *call) strs(names ...string) []string    { return hms.Strings(c.value(names...)) }
func (c *call) flag(names ...string) bool        { v, _ := c.value(names...).(bool); return v }
func (c *call) list(names ...string) []any       { v, _ := c.value(names...).([]any); return v }
func (c *call) num(names ...string) int64        { return hms.Struct{"n": c.value(names...)}.Int("n") }
func (c *call) env() map[string]string           { return envOf(c.strct("environmentcontext", "envcontext")) }
func envOf(x hms.Struct) map[string]string       { return hms.StringMap(x["properties"]) }
func (c *call) structs(n ...string) []hms.Struct { return hms.Struct{"l": c.value(n...)}.Structs("l") }

// max is a limit of results: negative for none, as clients send it.
func (c *call) max(names ...string) int {
	if n := c.num(names...); c.has(names...) && n >= 0 {
		return int(n)
	}
	return -1
}

// dbName is a database as a call names it.
type dbName struct {
	cat, db string // as sent, but for the "@cat#"
	raw     string // as sent
	null    bool   // no name at all: no restriction
}

var dbKeys = []string{"dbname", "databasename", "database", "db"}

// dbNamed reads the database under these names, and the catalog beside it.
func (c *call) dbNamed(keys ...string) dbName {
	var n dbName
	n.raw = c.str(keys...)
	n.db, n.null = n.raw, !c.has(keys...)
	n.cat = c.str("catname", "catalogname", "catalog")
	if !c.s.era.catalogs {
		n.cat = defaultCatalog
		return n
	}
	if c.request == "" || atCatStructs[c.request] {
		n = n.split()
	}
	if n.cat == "" {
		n.cat = defaultCatalog
	}
	return n
}

// split parses "@cat#db" (MetaStoreUtils.parseDbName of 3.1): nothing after # is
// null, an exclamation mark the empty name.
func (n dbName) split() dbName {
	if !strings.HasPrefix(n.db, "@") {
		return n
	}
	cat, db, ok := strings.Cut(n.db[1:], "#")
	if !ok {
		return n
	}
	n.cat, n.db, n.null = cat, db, db == ""
	if db == "!" {
		n.db, n.null = "", false
	}
	return n
}

func (c *call) db() dbName { return c.dbNamed(dbKeys...) }

func (c *call) table() string { return c.str("tblname", "tablename", "table", "name") }

// qualified is "cat.db.table", without the catalog where there are none.
func (s *Server) qualified(n dbName, table string) string {
	if s.era.catalogs {
		return n.cat + "." + n.db + "." + table
	}
	return n.db + "." + table
}

// ident is Hive's normalizeIdentifier.
func ident(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

// Exceptions of the interface that handlers throw.
const (
	meta          = "MetaException"
	noSuchObject  = "NoSuchObjectException"
	alreadyExists = "AlreadyExistsException"
	invalidObject = "InvalidObjectException"
	invalidOp     = "InvalidOperationException"
	invalidInput  = "InvalidInputException"
	unknownDB     = "UnknownDBException"
	unknownTable  = "UnknownTableException"
	noSuchTxn     = "NoSuchTxnException"
	txnAborted    = "TxnAbortedException"
	txnOpen       = "TxnOpenException"
	noSuchLock    = "NoSuchLockException"
	configDenied  = "ConfigValSecurityException"
)

func throw(exception, format string, a ...any) error {
	return &hms.Exception{Type: exception, Message: fmt.Sprintf(format, a...)}
}

// row says how a method is answered.
type row struct {
	do func(*Server, *call) (any, error)
	in string // field of the response struct for the handler's value
}

func (s *Server) now() int64 { return s.conf.Clock().Unix() }

// next is the next id of a sequence, from 1.
func (s *Server) next(what string) int64 {
	s.nexts[what]++
	return s.nexts[what]
}
