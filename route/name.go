package route

import "bytes"

// dummyDatabase is where Hive puts tables that exist only inside a query
// (Apache Hive, SemanticAnalyzer.DUMMY_DATABASE). It is in no catalog.
const dummyDatabase = "_dummy_database"

type form uint8

const (
	plain   form = iota
	atOwn        // @hive#X: a backend's own catalog
	atProxy      // @apache#X: one of ours
	foreign      // @x#X of an unknown catalog, or malformed: passes as it is
)

type void uint8

const (
	named  void = iota
	absent      // the empty name: no hint
	null        // "@cat#": no database at all
	empty       // "@cat#!": the empty name
	dummy       // _dummy_database
)

// spec is one name taken apart. Its slices point into the name.
type spec struct {
	form form
	void void
	at   []byte   // the catalog inside "@cat#"
	by   *Catalog // whom "@cat#" names, for atProxy
	dot  []byte   // "hive." in front of the rest
	pre  *Catalog // whom the prefix names
	ns   []byte   // the namespace as spelled, without "@cat#" and "hive."
	db   []byte   // the backend's name: ns without the prefix
}

// isPlain says, for most bare names and at the cost of a glance, that a name
// is one: no form, no prefix, not the dummy database.
func (t *Table) isPlain(name []byte) bool {
	return len(name) > 0 && !t.special[name[0]] && bytes.IndexByte(name, '.') < 0
}

// takeAt takes the "@cat#" form apart and leaves the rest in ns and db.
//
// The order is that of Apache Hive, MetaStoreUtils.parseDbName: a trailing '#'
// means null, a trailing '!' the empty name, else the first '#' divides. So a
// server reads "@hive#sales!" as a catalog that nobody has: foreign.
func (t *Table) takeAt(name []byte) (s spec) {
	s.ns, s.db = name, name
	if len(name) == 0 {
		s.void = absent
		return s
	}
	if name[0] != '@' {
		return s
	}
	i := bytes.IndexByte(name, '#')
	if i < 0 {
		s.form = foreign
		return s
	}
	at, rest := name[1:i], name[i+1:]
	by := t.hint(at)
	switch {
	case t.isOwn(at):
		s.form = atOwn
	case by != nil:
		s.form = atProxy
	default:
		s.form = foreign
		return s
	}
	switch {
	case len(rest) == 0:
		s.void = null
	case len(rest) == 1 && rest[0] == '!':
		s.void, rest = empty, nil
	case rest[len(rest)-1] == '#' || rest[len(rest)-1] == '!':
		s.form = foreign
		return s
	}
	s.at, s.by, s.ns, s.db = at, by, rest, rest
	return s
}

// take takes a database name apart.
func (t *Table) take(name []byte) spec {
	s := t.takeAt(name)
	if s.void != named || s.form == foreign {
		return s
	}
	pre, n := t.prefixOf(s.ns, t.longest)
	if pre == nil {
		if i := bytes.IndexByte(s.ns, '.'); i > 0 && i+1 < len(s.ns) && t.isOwn(s.ns[:i]) {
			s.dot, s.ns = s.ns[:i+1], s.ns[i+1:]
			pre, n = t.prefixOf(s.ns, t.longest)
		}
	}
	s.pre, s.db = pre, s.ns[n:]
	if pre == nil && foldEqual(s.ns, dummyDatabase) {
		s.void = dummy
	}
	return s
}

// view is how one call looks at names: which catalog's names are bare in it.
type view struct {
	tbl *Table
	def *Catalog // the session's default catalog
	rel *Catalog // the catalog of a catName or @cat#: bare names are relative to it
}

// bare is the catalog whose names are spelled bare.
func (v *view) bare() *Catalog {
	if v.rel != nil {
		return v.rel
	}
	return v.def
}

// owner is the catalog of a name without prefix and "@cat#".
func (v *view) owner(s *spec) *Catalog {
	switch {
	case v.rel != nil:
		return v.rel
	case s.form == foreign:
		return v.def
	}
	return v.unhinted(s.ns)
}

// unhinted is the catalog of a bare name in a call without hints.
func (v *view) unhinted(name []byte) *Catalog {
	if c := v.tbl.claimer(name); c != nil {
		return c
	}
	return v.def
}

// isBareOf says whether a plain bare name is c's.
func (v *view) isBareOf(c *Catalog, name []byte) bool {
	if v.rel != nil {
		return v.rel == c
	}
	return v.unhinted(name) == c
}

// external appends the computed namespace of a db.
func (v *view) external(dst []byte, c *Catalog, db []byte) []byte {
	if c != v.bare() && !(v.rel == nil && v.tbl.claimer(db) == c) && !foldEqual(db, dummyDatabase) {
		dst = append(dst, c.prefix...)
	}
	return append(dst, db...)
}

// shadowed says whether the computed namespace of a db reads as another one.
func (v *view) shadowed(c *Catalog, db []byte) bool {
	var buf [192]byte
	s := v.tbl.take(v.external(buf[:0], c, db))
	switch {
	case s.void == dummy, s.void == absent:
		return false
	case s.pre != nil:
		return s.pre != c || !bytes.Equal(s.db, db)
	default:
		return v.owner(&s) != c
	}
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func upper(c byte) byte {
	if c >= 'a' && c <= 'z' {
		return c - ('a' - 'A')
	}
	return c
}

// foldPrefix says whether s begins with prefix, letter case aside.
func foldPrefix(s, prefix []byte) bool {
	return len(s) >= len(prefix) && foldEqual(s[:len(prefix)], prefix)
}

func foldEqual[S []byte | string](a []byte, b S) bool {
	if len(a) != len(b) {
		return false
	}
	for i, c := range a {
		if c != b[i] && lower(c) != lower(b[i]) {
			return false
		}
	}
	return true
}
