package route

import "bytes"

// Bridges between methods move a catalog from a field of its own into the
// "@cat#db" form or out of it (Apache Hive, MetaStoreUtils.prependCatalogToDbName
// and parseDbName).

// atDB writes a db together with the catalog that the call has in another
// field, for a method that reads both in one argument.
func (n *inward) atDB(dst, v []byte) ([]byte, error) {
	cat := n.b.catText
	if !n.keepAt || len(cat) == 0 || len(v) > 0 && v[0] == '@' {
		return n.db(dst, v, false)
	}
	dst = append(dst, '@')
	at := len(dst)
	dst, err := n.catalog(dst, cat)
	if err != nil {
		return dst[:at-1], err
	}
	return n.db(append(dst, '#'), v, false)
}

// dbPart writes the db of a "@cat#db" alone.
func (n *inward) dbPart(dst, v []byte) ([]byte, error) {
	s := n.b.tbl.take(v)
	if err := n.check(&s, v); err != nil {
		return dst, err
	}
	if s.form == foreign {
		_, db := cutAt(v)
		return append(dst, db...), nil
	}
	return append(dst, s.db...), nil
}

// catPart writes the catalog of a "@cat#db" as the backend knows it; nothing
// when there is none.
func (n *inward) catPart(dst, v []byte) []byte {
	s := n.b.tbl.take(v)
	switch s.form {
	case atOwn:
		return append(dst, s.at...)
	case atProxy:
		return append(dst, n.cat.BackendCatalog...)
	case foreign:
		cat, _ := cutAt(v)
		return append(dst, cat...)
	}
	return dst
}

// cutAt divides "@cat#db" at its first '#'; without one all of it is db, which
// a metastore refuses in its own words.
func cutAt(v []byte) (cat, db []byte) {
	i := bytes.IndexByte(v, '#')
	if i < 1 || v[0] != '@' {
		return nil, v
	}
	return v[1:i], v[i+1:]
}
