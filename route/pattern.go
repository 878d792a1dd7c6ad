package route

import (
	"bytes"
	"slices"

	"hmsgate/rewrite"
)

// Database patterns are Hive's (Apache Hive, ObjectStore.appendPatternCondition
// and getDatabases): alternatives divided by '|', in each '*' stands for any
// text and '.' for any one character, letter case is ignored. A backslash
// takes the next character as it is.

// Pattern is the call's database pattern as it came; false when it has none.
func (b *Binding) Pattern() ([]byte, bool) { return b.pattern, b.hasPat }

// ForCatalog is the names for writing a merged list's call to one catalog's
// backend; false when nothing of that catalog can be in the answer, and then
// it is not asked. ForCatalog and From may be called, and their Names used, by
// one goroutine a catalog at once; the Names stay valid until the next Reset.
func (b *Binding) ForCatalog(c *Catalog, keepAt bool) (rewrite.Names, bool) {
	p := &b.fan[c.index]
	p.in = inward{b: b, cat: c, keepAt: keepAt}
	if b.cross != nil || b.rel != nil && b.rel != c {
		return &p.in, false
	}
	if !b.hasPat {
		return &p.in, true
	}
	var buf [256]byte
	_, ok := b.patternFor(buf[:0], c, b.pattern, &p.in)
	return &p.in, ok
}

// From is the names for reading the reply of one catalog's backend.
func (b *Binding) From(c *Catalog) rewrite.Names {
	p := &b.fan[c.index]
	p.out = outward{b: b, cat: c}
	return &p.out
}

// Refused is the refusal of a merged list whose hints contradict each other.
func (b *Binding) Refused() *Refusal { return b.cross }

// Listed says whether a db that c's backend answered belongs in the merged
// list: it can be named by clients, and the call's pattern means it.
func (b *Binding) Listed(c *Catalog, db []byte) bool {
	if b.shadowed(c, db) {
		return false
	}
	if c == b.bare() {
		return true // it got the pattern as it is, and has matched it
	}
	var buf [192]byte
	return b.Match(b.external(buf[:0], c, db))
}

// Match says whether the call's pattern means this namespace. A call without
// a pattern means all; with an empty one each backend's own answer counts.
func (b *Binding) Match(ns []byte) bool {
	if !b.hasPat {
		return true
	}
	s := b.tbl.takeAt(b.pattern)
	if s.form == foreign || s.void != named || ownAnswer(s.ns) {
		return true
	}
	rest := bytes.TrimSpace(s.ns)
	own := b.bare().prefix
	for len(rest) > 0 {
		var sub []byte
		sub, rest = cutAlternative(rest)
		if matches(sub, ns) {
			return true
		}
		if inner, ok := trimPrefix(sub, own); ok && matches(inner, ns) {
			return true
		}
	}
	return false
}

// patternFor appends what of a pattern is to be sent to c; false when nothing
// of it can match there.
func (v *view) patternFor(dst []byte, c *Catalog, pat []byte, n *inward) ([]byte, bool) {
	s := v.tbl.takeAt(pat)
	switch {
	case s.form == foreign:
		return append(dst, pat...), c == v.bare()
	case v.rel != nil && v.rel != c, s.by != nil && s.by != c:
		return dst, false
	}
	dst = n.head(dst, &s)
	switch {
	case s.void == null && !n.keepAt:
		return append(dst, '*'), true
	case s.void != named || ownAnswer(s.ns):
		return append(dst, s.ns...), true
	case c == v.bare():
		return v.patternBare(dst, c, s.ns)
	}
	return v.patternBehind(dst, c, s.ns)
}

// ownAnswer says whether a pattern has no alternative that is not empty. What
// that means differs between servers, so each one's answer counts.
func ownAnswer(pat []byte) bool {
	return len(bytes.Trim(pat, "| \t\r\n")) == 0
}

// patternBare keeps those alternatives that can mean a name without prefix.
// The catalog's own prefix is accepted and removed.
func (v *view) patternBare(dst []byte, c *Catalog, pat []byte) ([]byte, bool) {
	start, all := len(dst), true
	rest := bytes.TrimSpace(pat)
	for len(rest) > 0 {
		var sub []byte
		sub, rest = cutAlternative(rest)
		if len(sub) == 0 {
			continue
		}
		if v.literalPrefix(sub) {
			all = false
		} else {
			dst = appendAlternative(dst, start, sub)
		}
		if inner, ok := trimPrefix(sub, c.prefix); ok {
			all = false
			if len(inner) > 0 {
				dst = appendAlternative(dst, start, inner)
			}
		}
	}
	if all {
		return append(dst[:start], pat...), true
	}
	return dst, len(dst) > start
}

// literalPrefix says whether every name that an alternative means begins with
// some catalog's prefix.
func (v *view) literalPrefix(sub []byte) bool {
	end := bytes.IndexAny(sub, `*.\`)
	if end < 0 {
		end = len(sub)
	}
	pre, _ := v.tbl.prefixOf(sub[:end], v.tbl.longest)
	return pre != nil
}

// patternBehind divides a pattern by the catalog's prefix.
func (v *view) patternBehind(dst []byte, c *Catalog, pat []byte) ([]byte, bool) {
	start := len(dst)
	rest := bytes.TrimSpace(pat)
	for len(rest) > 0 {
		var sub []byte
		sub, rest = cutAlternative(rest)
		if len(sub) == 0 {
			continue
		}
		dst = appendBehind(dst, start, sub, c.prefix)
		if v.rel != nil {
			continue
		}
		for _, db := range c.claims {
			if matches(sub, []byte(db)) {
				dst = appendAlternative(dst, start, []byte(db))
			}
		}
	}
	return dst, len(dst) > start
}

// cutAlternative cuts the first alternative off.
func cutAlternative(pat []byte) (sub, rest []byte) {
	if i := bytes.IndexByte(pat, '|'); i >= 0 {
		return pat[:i], pat[i+1:]
	}
	return pat, nil
}

// appendAlternative appends one more alternative to the pattern that begins at
// dst[start:].
func appendAlternative(dst []byte, start int, sub []byte) []byte {
	if len(dst) > start {
		dst = append(dst, '|')
	}
	return append(dst, sub...)
}

// token reads the token at sub[i]: its byte, its width, whether it is '*' or '.'.
func token(sub []byte, i int) (c byte, width int, star, any bool) {
	switch c = sub[i]; {
	case c == '\\' && i+1 < len(sub):
		return sub[i+1], 2, false, false
	case c == '*':
		return c, 1, true, false
	case c == '.':
		return c, 1, false, true
	}
	return c, 1, false, false
}

// trimPrefix removes a prefix that an alternative spells out, a '.' standing
// for an underscore as HiveServer2 writes it (or for a dot). A wildcard over
// anything else does not count: "*" and "....." mean names without the prefix.
func trimPrefix(sub, prefix []byte) ([]byte, bool) {
	i := 0
	for _, p := range prefix {
		if i >= len(sub) {
			return nil, false
		}
		c, w, star, any := token(sub, i)
		if star || any && p != '_' && p != '.' || !any && lower(c) != lower(p) {
			return nil, false
		}
		i += w
	}
	return sub[i:], true
}

// appendBehind appends the alternatives that mean exactly those texts which,
// behind the prefix, one alternative means: one for each place it can be at
// after reading the prefix. A place at a later '*' means everything that the
// earlier ones mean, so of those at or before the last reachable '*' only that
// one is kept.
func appendBehind(dst []byte, start int, sub, prefix []byte) []byte {
	var bufA, bufB [64]int
	at, next := reach(append(bufA[:0], 0), sub), bufB[:0]
	for _, p := range prefix {
		next = next[:0]
		for _, i := range at {
			if i >= len(sub) {
				continue
			}
			c, w, star, any := token(sub, i)
			switch {
			case star:
				next = addPlace(next, i)
			case any, lower(c) == lower(p):
				next = addPlace(next, i+w)
			}
		}
		at, next = reach(next, sub), at
		if len(at) == 0 {
			return dst
		}
	}
	last := -1
	for _, i := range at {
		if i < len(sub) && sub[i] == '*' && i > last {
			last = i
		}
	}
	for _, i := range at {
		// Behind the last '*' stand the places it reaches by meaning nothing,
		// which it means too, and those an earlier token reached.
		if i < len(sub) && (i == last || i > last && !reaches(sub, last, i)) {
			dst = appendAlternative(dst, start, sub[i:])
		}
	}
	return dst
}

// reach adds to each place at a '*' the place behind it.
func reach(at []int, sub []byte) []int {
	for k := 0; k < len(at); k++ {
		if i := at[k]; i < len(sub) && sub[i] == '*' {
			at = addPlace(at, i+1)
		}
	}
	return at
}

// reaches says whether only a '*' at last stands before place i.
func reaches(sub []byte, last, i int) bool {
	return last >= 0 && i == last+1
}

func addPlace(at []int, i int) []int {
	if slices.Contains(at, i) {
		return at
	}
	return append(at, i)
}

// matches says whether an alternative means a name. A name of several bytes a
// character is matched byte by byte, so '.' wants one byte.
func matches(sub, name []byte) bool {
	i, j := 0, 0
	star, mark := -1, 0
	for j < len(name) {
		if i < len(sub) {
			c, w, isStar, any := token(sub, i)
			if isStar {
				star, mark = i, j
				i++
				continue
			}
			if any || lower(c) == lower(name[j]) {
				i += w
				j++
				continue
			}
		}
		if star < 0 {
			return false
		}
		mark++
		i, j = star+1, mark
	}
	for i < len(sub) && sub[i] == '*' {
		i++
	}
	return i == len(sub)
}
