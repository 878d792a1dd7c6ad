package route

import (
	"bytes"
	"fmt"

	"hmsgate/rewrite"
)

// maxLockedDB is how long a database's name can be where a metastore keeps
// its locks (HL_DB of HIVE_LOCKS in the schema scripts, every version).
const maxLockedDB = 128

// Place is whose the database of one lock component is. A call may hold
// several that differ, which Route would refuse.
type Place struct {
	Catalog *Catalog // nil: nobody's, the name stays (the dummy database, no name)
	DB      []byte   // as its metastore knows it; points into what was given
}

// Place reads a component's database and, from Hive 4 on, its catName.
func (b *Binding) Place(ns, catName []byte) (Place, *Refusal) {
	s, h := b.tbl.take(ns), b.tbl.hint(catName)
	if s.void != named {
		return Place{DB: ns}, nil
	}
	p := Place{DB: s.db}
	for _, c := range [...]*Catalog{h, s.by, s.pre} {
		switch {
		case c == nil:
		case p.Catalog == nil:
			p.Catalog = c
		case p.Catalog != c && h != nil:
			return Place{}, ambiguous(ByCatName, catName, ByPrefix, ns)
		case p.Catalog != c:
			return Place{}, ambiguous(ByAt, []byte(s.by.Name), ByPrefix, s.ns)
		}
	}
	switch {
	case p.Catalog != nil:
	case s.form == foreign:
		p.Catalog = b.def
	default:
		p.Catalog = b.unhinted(s.ns)
	}
	if p.Catalog == b.tbl.def && s.pre == nil && s.form != atProxy {
		p.DB = ns // as a client of that metastore alone would have it
	}
	return p, nil
}

// LockName appends the name under which the default metastore holds locks of
// another catalog's database: the canonical namespace, in lower case as a
// metastore compares names, so that every spelling meets. A metastore locks
// any name, whether the database exists or not (seen on 2.3.10, 3.1.3, 4.1.0).
func (t *Table) LockName(dst []byte, p Place) ([]byte, *Refusal) {
	from := len(dst)
	dst = append(append(dst, p.Catalog.prefix...), p.DB...)
	name := bytes.ToLower(dst[from:])
	if len(name) > maxLockedDB {
		return dst, &Refusal{Exception: Meta, Reason: TooLong, Text: textLockName(name)}
	}
	return append(dst[:from], name...), nil
}

// LockOwner is whose a database is under whose name LockName has the default
// metastore hold locks, and what it is called there; nil for that one's own.
func (t *Table) LockOwner(name []byte) (c *Catalog, db []byte) {
	c, n := t.prefixOf(name, t.longest)
	if c == nil || c == t.def {
		return nil, nil
	}
	return c, name[n:]
}

// TooLong is the reason of a refusal: a name does not fit where it must go.
const TooLong Reason = "too_long"

// textLockName: a namespace that no metastore can lock.
func textLockName(name []byte) string {
	return fmt.Sprintf("Database '%s' cannot be locked: its name with the catalog's has %d bytes, at most %d are allowed",
		quote(name), len(name), maxLockedDB)
}

// Slot is the catalog's place among those that locks are taken at, one after
// the other; 0 for the default catalog.
func (c *Catalog) Slot() int { return int(c.slot) }

// InSlot is an id of this catalog's metastore as clients know it.
func (c *Catalog) InSlot(id int64) (int64, error) {
	return (&outward{cat: c}).ID(rewrite.LockID, id)
}

// PlaceOfTable reads a full table name. rest is what stands behind the
// database: ".table".
func (b *Binding) PlaceOfTable(full []byte) (p Place, rest []byte, r *Refusal) {
	end := b.tbl.dbEnd(rewrite.TableFull, full)
	p, r = b.Place(full[:end], nil)
	return p, full[end:], r
}

// AcidElsewhere is the refusal of what only transactions of the default
// catalog can do.
func (t *Table) AcidElsewhere(method string, c *Catalog) *Refusal {
	return &Refusal{Exception: Meta, Reason: Elsewhere, Text: textAcidElsewhere(method, c, t.def)}
}
