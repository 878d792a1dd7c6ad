package route

import (
	"bytes"

	"hmsgate/rewrite"
)

// inward makes the names of a call the backend's.
type inward struct {
	b      *Binding
	cat    *Catalog
	keepAt bool
	late   bool // hints met while writing still count: the call may have streamed
}

// Append implements rewrite.Names. Its error is a *Refusal: the name belongs
// to another catalog than the call.
func (n *inward) Append(dst []byte, k rewrite.Kind, v []byte) ([]byte, error) {
	switch k {
	case rewrite.DB, rewrite.DBAt:
		return n.db(dst, v, false)
	case rewrite.Cat:
		return n.catalog(dst, v)
	case rewrite.Pattern, rewrite.PatternAt:
		return n.pattern(dst, v)
	case rewrite.TableFull, rewrite.TableMaybe, rewrite.WriteIDs, rewrite.Policy:
		return n.part(dst, v, n.b.tbl.dbEnd(k, v))
	case rewrite.WriteIDsMulti:
		return eachEntry(dst, v, n)
	case rewrite.AtDB:
		return n.atDB(dst, v)
	case rewrite.DBPart:
		return n.dbPart(dst, v)
	case rewrite.CatPart:
		return n.catPart(dst, v), nil
	case rewrite.AcidFlag:
		return n.acid(dst, v)
	}
	return n.text(dst, k, v), nil
}

// Keep implements rewrite.Names. Nothing is left out of a call.
func (n *inward) Keep(rewrite.Kind, []byte) bool { return true }

// Strict implements rewrite.Names: what of a call cannot be read is refused.
func (n *inward) Strict() bool { return true }

// part writes a value whose first end bytes are a database.
func (n *inward) part(dst, v []byte, end int) ([]byte, error) {
	if end == 0 {
		return append(dst, v...), nil
	}
	dst, err := n.db(dst, v[:end], n.keepAt)
	return append(dst, v[end:]...), err
}

func (n *inward) db(dst, v []byte, keepDot bool) ([]byte, error) {
	if n.b.tbl.isPlain(v) && n.b.isBareOf(n.cat, v) {
		return append(dst, v...), nil
	}
	for i := range n.b.spelled { // most names of a call are those it was routed by
		if s := &n.b.spelled[i]; s.cat == n.cat && bytes.Equal(s.ns, v) {
			return append(dst, s.db...), nil
		}
	}
	s := n.b.tbl.take(v)
	if err := n.check(&s, v); err != nil {
		return dst, err
	}
	if s.form == foreign {
		return append(dst, v...), nil
	}
	dst = n.head(dst, &s)
	if keepDot {
		dst = append(dst, s.dot...)
	}
	return append(dst, s.db...), nil
}

// head writes "@cat#" where the backend reads it, with the marker of the empty
// name.
func (n *inward) head(dst []byte, s *spec) []byte {
	if !n.keepAt || s.form == plain {
		return dst
	}
	dst = append(dst, '@')
	if s.form == atProxy {
		dst = append(dst, n.cat.BackendCatalog...)
	} else {
		dst = append(dst, s.at...)
	}
	dst = append(dst, '#')
	if s.void == empty {
		dst = append(dst, '!')
	}
	return dst
}

// check finds out whether a name belongs to the catalog written for.
func (n *inward) check(s *spec, v []byte) error {
	if n.late && s.by != nil && n.b.rel == nil {
		n.b.rel = s.by
	}
	switch {
	case s.by != nil && s.by != n.cat:
		return n.refuse(ByAt, v)
	case s.pre != nil && s.pre != n.cat:
		return n.refuse(ByPrefix, s.ns)
	case s.by == nil && s.pre == nil && s.void == named && n.b.owner(s) != n.cat:
		return n.refuse(ByBare, v)
	}
	return nil
}

// refuse is the refusal of a name that belongs elsewhere than the call.
func (n *inward) refuse(how How, v []byte) error {
	b := n.b
	switch {
	case b.hint != nil:
		return ambiguous(b.how, b.hintText, how, v)
	case b.bareCat != nil:
		return ambiguous(ByBare, b.bareText, how, v)
	}
	return ambiguous(ByDefault, []byte(n.cat.Name), how, v)
}

// catalog writes a catName: a proxy catalog's becomes the backend's own.
func (n *inward) catalog(dst, v []byte) ([]byte, error) {
	c := n.b.tbl.hint(v)
	if c == nil {
		return append(dst, v...), nil
	}
	if n.late && n.b.rel == nil {
		n.b.rel = c
	}
	if c != n.cat {
		return dst, n.refuse(ByCatName, v)
	}
	return append(dst, n.cat.BackendCatalog...), nil
}

// pattern writes what of a pattern concerns the catalog.
func (n *inward) pattern(dst, v []byte) ([]byte, error) {
	out, ok := n.b.patternFor(dst, n.cat, v, n)
	if !ok {
		return dst, n.refuse(ByBare, v)
	}
	return out, nil
}

// outward makes the names of a reply the client's.
type outward struct {
	b   *Binding
	cat *Catalog
}

// Append implements rewrite.Names. It has no errors.
func (n *outward) Append(dst []byte, k rewrite.Kind, v []byte) ([]byte, error) {
	switch k {
	case rewrite.DB, rewrite.DBAt:
		return n.db(dst, v), nil
	case rewrite.Cat:
		return n.catalog(dst, v), nil
	case rewrite.TableFull, rewrite.TableMaybe, rewrite.WriteIDs:
		return n.part(dst, v, n.b.tbl.dbEnd(k, v))
	case rewrite.Policy:
		return n.part(dst, v, policyEnd(v, 0))
	case rewrite.WriteIDsMulti:
		return eachEntry(dst, v, n)
	}
	return n.text(dst, k, v), nil
}

// Keep implements rewrite.Names. What a merged list leaves out, Listed decides.
func (n *outward) Keep(rewrite.Kind, []byte) bool { return true }

// Strict implements rewrite.Names: what of a reply cannot be read is copied.
func (n *outward) Strict() bool { return false }

func (n *outward) part(dst, v []byte, end int) ([]byte, error) {
	if end == 0 {
		return append(dst, v...), nil
	}
	db := v[:end]
	if i := bytes.IndexByte(db, '.'); i > 0 && n.b.tbl.isOwn(db[:i]) {
		dst, db = append(dst, db[:i+1]...), db[i+1:]
	}
	return append(n.db(dst, db), v[end:]...), nil
}

// db writes the namespace of a db: as the client spelled it, else computed.
func (n *outward) db(dst, v []byte) []byte {
	if len(v) == 0 {
		return dst
	}
	for i := range n.b.spelled {
		if s := &n.b.spelled[i]; s.cat == n.cat && foldEqual(s.db, v) {
			return append(dst, s.ns...)
		}
	}
	return n.b.external(dst, n.cat, v)
}

// catalog writes a catName. The client that gave a proxy catalog gets it back,
// since it builds its next call from the reply. A catalog that the client
// asked for by a name only the backend knows stays.
func (n *outward) catalog(dst, v []byte) []byte {
	b := n.b
	switch {
	case len(v) == 0, b.rel == nil && b.tbl.cfg.PreserveBackendCatalog,
		b.rel == nil && b.otherCat && !b.tbl.isOwn(v):
		return append(dst, v...)
	}
	return append(dst, n.cat.Name...)
}

// eachEntry writes a list of write-id lists, each entry's name as a full
// table name.
func eachEntry(dst, v []byte, n rewrite.Names) ([]byte, error) {
	from := 0
	var err error
	for lo, hi, ok := nextEntry(v, 0); ok; lo, hi, ok = nextEntry(v, hi) {
		dst = append(dst, v[from:lo]...)
		if dst, err = n.Append(dst, rewrite.TableFull, v[lo:hi]); err != nil {
			return dst, err
		}
		from = hi
	}
	return append(dst, v[from:]...), nil
}
