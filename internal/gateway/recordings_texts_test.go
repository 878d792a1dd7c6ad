package gateway

import "hmsgate/rewrite"

// Rewrites implements rewrite.Texts. Bodies of notifications stay: what Java
// has compressed does not come back byte for byte.
func (n *recNames) Rewrites(k rewrite.Kind) bool { return k != rewrite.JSON }

// Qualify implements rewrite.Qualifiers: what tells a db in SQL.
func (n *recNames) Qualify(q rewrite.Qualifier) (rewrite.Qualifier, bool) {
	if q.Cat != nil {
		return q, false
	}
	n.edits++
	return rewrite.Qualifier{DB: []byte(n.db(string(q.DB)))}, true
}
