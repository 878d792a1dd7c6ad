package route

import (
	"bytes"

	"hmsgate/rewrite"
)

// Names inside of texts. A view may name tables of any catalog, and its text
// is kept by one metastore, whose own clients read it too. So:
//
//	client: view in apache             apache's metastore
//	from apache__sales.t          <->  from sales.t          its own, for its own clients
//	from other__dim.c             <->  from other__dim.c     stays external
//	from dim.c                    <->  from hdp__dim.c       hdp is the default catalog
//
// The peers store dim.c for the last two, which is a table of apache then.

// rewrites says whether texts of a kind are rewritten at all.
func (t *Table) rewrites(k rewrite.Kind) bool {
	switch k {
	case rewrite.SQL, rewrite.TableParams:
		return t.cfg.RewriteViews
	case rewrite.SQLOriginal:
		return t.cfg.RewriteViews && !t.cfg.KeepOriginalText
	}
	return true
}

// Rewrites implements rewrite.Texts.
func (n *inward) Rewrites(k rewrite.Kind) bool {
	return n.b.tbl.rewrites(k) || k == rewrite.TableParams && n.cat != n.b.tbl.def
}

// Rewrites implements rewrite.Texts.
func (n *outward) Rewrites(k rewrite.Kind) bool { return n.b.tbl.rewrites(k) }

// text appends the backend's form of a text, or of a db in one.
func (n *inward) text(dst []byte, k rewrite.Kind, v []byte) []byte {
	switch k {
	case rewrite.SQL, rewrite.SQLOriginal:
		return rewrite.AppendSQL(dst, v, n)
	case rewrite.DBRef:
		if !n.b.tbl.rewrites(rewrite.TableParams) {
			break
		}
		db, _ := n.ref(v)
		return append(dst, db...)
	}
	return append(dst, v...)
}

// acid refuses a table whose writes would be another metastore's transactions.
func (n *inward) acid(dst, v []byte) ([]byte, error) {
	if n.cat != n.b.tbl.def && foldEqual(v, "true") {
		return dst, n.b.tbl.AcidElsewhere(n.b.method, n.cat)
	}
	return append(dst, v...), nil
}

// text appends the client's form of a text, or of a db in one.
func (n *outward) text(dst []byte, k rewrite.Kind, v []byte) []byte {
	switch k {
	case rewrite.SQL, rewrite.SQLOriginal:
		return rewrite.AppendSQL(dst, v, n)
	case rewrite.DBRef:
		db, _ := n.ref(v)
		return append(dst, db...)
	}
	return append(dst, v...)
}

// takeRef takes a db in a text apart; false when it is in a form that texts
// do not have.
func (t *Table) takeRef(db []byte) (spec, bool) {
	s := t.take(db)
	return s, s.form == plain && s.dot == nil && s.void == named
}

// joined is "cat.db" as one name where the separator has a dot, so that the
// two parts may be one namespace.
func (t *Table) joined(q rewrite.Qualifier) (c *Catalog, db []byte) {
	if bytes.IndexByte([]byte(t.cfg.Separator), '.') < 0 {
		return nil, nil
	}
	name := append(append(bytes.Clone(q.Cat), '.'), q.DB...)
	c, n := t.prefixOf(name, t.longest)
	return c, name[n:]
}

// ref is the backend's form of a db in a text, and whether it differs.
func (n *inward) ref(db []byte) ([]byte, bool) {
	s, ok := n.b.tbl.takeRef(db)
	if !ok {
		return db, false
	}
	if s.pre == nil {
		owner := n.b.owner(&s)
		if owner == n.cat {
			return db, false
		}
		return append(bytes.Clone(owner.prefix), db...), true
	}
	if s.pre != n.cat {
		return db, false
	}
	if alone, ok := n.b.tbl.takeRef(s.db); !ok || alone.pre != nil {
		return db, false // alone it would read as another catalog's, or as no db
	}
	return s.db, true
}

// Qualify implements rewrite.Qualifiers.
func (n *inward) Qualify(q rewrite.Qualifier) (rewrite.Qualifier, bool) {
	t := n.b.tbl
	if q.Cat == nil {
		db, ok := n.ref(q.DB)
		return rewrite.Qualifier{DB: db}, ok
	}
	if c, db := t.joined(q); c != nil {
		return rewrite.Qualifier{DB: db}, c == n.cat
	}
	if t.isOwn(q.Cat) {
		db, ok := n.ref(q.DB)
		return rewrite.Qualifier{Cat: q.Cat, DB: db}, ok
	}
	return rewrite.Qualifier{Cat: []byte(n.cat.BackendCatalog), DB: q.DB}, t.hint(q.Cat) == n.cat
}

// ref is the client's form of a db in a text, and whether it differs.
func (n *outward) ref(db []byte) ([]byte, bool) {
	s, ok := n.b.tbl.takeRef(db)
	if !ok {
		return db, false
	}
	var out []byte
	if s.pre != nil {
		out = n.b.external(nil, s.pre, s.db)
	} else {
		out = n.db(nil, db)
	}
	return out, !foldEqual(out, db)
}

// Qualify implements rewrite.Qualifiers. A backend's own catalog before a db
// goes: "hive.sales" is apache__sales, since "hive" is the default catalog's
// for the client. One that only an engine knows (spark_catalog) stays.
func (n *outward) Qualify(q rewrite.Qualifier) (rewrite.Qualifier, bool) {
	t := n.b.tbl
	if q.Cat == nil {
		db, ok := n.ref(q.DB)
		return rewrite.Qualifier{DB: db}, ok
	}
	own := foldEqual(q.Cat, n.cat.BackendCatalog)
	switch {
	case own && n.b.rel != nil:
		s, ok := t.takeRef(q.DB)
		return rewrite.Qualifier{Cat: []byte(n.cat.Name), DB: q.DB}, ok && s.pre == nil
	case own:
		db, ok := n.ref(q.DB)
		return rewrite.Qualifier{DB: db}, ok
	case t.isOwn(q.Cat):
		db, ok := n.ref(q.DB)
		return rewrite.Qualifier{Cat: q.Cat, DB: db}, ok
	}
	if c, db := t.joined(q); c != nil {
		out := n.b.external(nil, c, db)
		return rewrite.Qualifier{DB: out}, c == n.b.bare()
	}
	return q, false
}
