package rewrite

import (
	"bytes"
	"math/bits"
	"strconv"

	"hmsgate/frame"
)

// jsonScan edits one JSON text: strings at planned places are replaced, all
// other bytes stay. Its methods answer false at what is no JSON, or not of the
// form they expect; the text then stays as it is.
type jsonScan struct {
	k    *Walker
	in   []byte
	i    int
	out  []byte
	base int // length of out before the scan
	done int // in[:done] has been written
	err  error
}

// scanJSON appends what f makes of a text, or the text itself.
func (k *Walker) scanJSON(dst, text []byte, f func(*jsonScan) bool) ([]byte, error) {
	s := jsonScan{k: k, in: text, out: dst, base: len(dst)}
	ok := f(&s) && s.next() == 0
	if s.err != nil || !ok || s.done == 0 {
		return append(s.out[:s.base], text...), s.err
	}
	return append(s.out, text[s.done:]...), nil
}

// next moves to the next byte that is no white space; 0 at the end.
func (s *jsonScan) next() byte {
	for ; s.i < len(s.in); s.i++ {
		switch c := s.in[s.i]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// take moves over one byte that must be c.
func (s *jsonScan) take(c byte) bool {
	if s.next() != c {
		return false
	}
	s.i++
	return true
}

// str moves over a string and gives the borders of what is inside its quotes.
func (s *jsonScan) str() (lo, hi int, ok bool) {
	if !s.take('"') {
		return 0, 0, false
	}
	for lo = s.i; s.i < len(s.in); s.i++ {
		switch s.in[s.i] {
		case '"':
			s.i++
			return lo, s.i - 1, true
		case '\\':
			s.i++
		}
	}
	return 0, 0, false
}

// word moves over a string and gives what is inside its quotes, as it stands.
func (s *jsonScan) word() ([]byte, bool) {
	lo, hi, ok := s.str()
	return s.in[lo:hi], ok
}

// scalar moves over a number, true, false or null.
func (s *jsonScan) scalar() ([]byte, bool) {
	s.next()
	lo := s.i
	for ; s.i < len(s.in); s.i++ {
		c := s.in[s.i]
		if c != '-' && c != '+' && c != '.' && !(c >= '0' && c <= '9') && !(c|0x20 >= 'a' && c|0x20 <= 'z') {
			break
		}
	}
	return s.in[lo:s.i], s.i > lo
}

// each moves over an object or array that ends with end, by f for each of its
// members.
func (s *jsonScan) each(end byte, f func() bool) bool {
	if s.next() == end {
		s.i++
		return true
	}
	for f() {
		switch c := s.next(); {
		case c == end:
			s.i++
			return true
		case c != ',':
			return false
		}
		s.i++
	}
	return false
}

// skip moves over a value.
func (s *jsonScan) skip(depth int) bool {
	if depth > frame.MaxDepth {
		return false
	}
	switch s.next() {
	case '{':
		s.i++
		return s.each('}', func() bool { return s.skip(depth+1) && s.take(':') && s.skip(depth+1) })
	case '[':
		s.i++
		return s.each(']', func() bool { return s.skip(depth + 1) })
	case '"':
		_, _, ok := s.str()
		return ok
	}
	_, ok := s.scalar()
	return ok
}

// replace puts text in the place of in[lo:hi].
func (s *jsonScan) replace(lo, hi int, text []byte) {
	s.out = append(s.out, s.in[s.done:lo]...)
	s.out = append(s.out, text...)
	s.done = hi
}

// message walks a notification's body: an object of which the plan knows some
// keys, whose values are strings or lists of strings.
func (s *jsonScan) message() bool {
	return s.take('{') && s.each('}', func() bool {
		word, ok := s.word()
		if !ok || !s.take(':') {
			return false
		}
		p, ok := s.k.p.keys[string(word)]
		switch {
		case ok && s.next() == '"':
			return s.text(p.kind, p.node)
		case ok && s.next() == '[':
			s.i++
			return s.each(']', func() bool {
				if s.next() != '"' {
					return s.skip(1)
				}
				return s.text(p.kind, p.node)
			})
		}
		return s.skip(1)
	})
}

// text walks a string of a kind.
func (s *jsonScan) text(kind Kind, node uint16) bool {
	lo, hi, ok := s.str()
	if !ok || s.err != nil {
		return ok
	}
	if tx, ok := s.k.names.(Texts); kind >= SQL && !(ok && tx.Rewrites(kind)) {
		return true
	}
	old := s.in[lo:hi]
	if bytes.IndexByte(old, '\\') >= 0 {
		if old, ok = unescape(old); !ok {
			return false
		}
	}
	var to []byte
	switch {
	case kind == Object:
		to, s.err = s.k.object(nil, old, node)
	case kind == WriteIDs:
		cut := bytes.IndexByte(old, ':')
		if cut < 0 {
			cut = len(old)
		}
		if cut > maxName { // no name
			return true
		}
		to, s.err = s.k.names.Append(nil, TableFull, old[:cut])
		to = append(to, old[cut:]...)
	case kind < SQL && len(old) > maxName && (kind != WriteIDsMulti || len(old) > maxMulti):
		return true
	default:
		to, s.err = s.k.names.Append(nil, kind, old)
	}
	if s.err == nil && !bytes.Equal(old, to) {
		s.replace(lo, hi, escape(nil, to))
	}
	return true
}

// wireTypes are the names of types in Thrift's JSON protocol (Apache Thrift,
// TJSONProtocol).
var wireTypes = map[string]frame.Type{
	"tf": frame.Bool, "i8": frame.Byte, "i16": frame.I16, "i32": frame.I32, "i64": frame.I64, "dbl": frame.Double,
	"str": frame.String, "rec": frame.Struct, "map": frame.Map, "lst": frame.List, "set": frame.Set,
}

// wire reads the name of a type.
func (s *jsonScan) wire() (frame.Type, bool) {
	word, ok := s.word()
	t := wireTypes[string(word)]
	return t, ok && t != frame.Stop
}

// structure walks a struct: {"1":{"str":"x"},"2":{"rec":{...}}}. What the plan
// does with fields as a whole is not done here: the text is as its writer
// stores it.
func (s *jsonScan) structure(at uint16, depth int) bool {
	if depth > frame.MaxDepth || !s.take('{') {
		return false
	}
	n, latched := &s.k.p.nodes[at], false
	return s.each('}', func() bool {
		word, ok := s.word()
		id, err := strconv.ParseInt(string(word), 10, 16)
		if !ok || err != nil || !s.take(':') || !s.take('{') {
			return false
		}
		t, ok := s.wire()
		if !ok || !s.take(':') {
			return false
		}
		e := s.k.p.edgeOf(n, int(id), t, latched)
		latched = latched || e.flags&edgeLatch != 0
		return s.value(e, t, depth+1) && s.take('}')
	})
}

// edgeOf is the edge of a field, or the one that keeps its value.
func (p *Plan) edgeOf(n *node, id int, t frame.Type, latched bool) *edge {
	keep := &p.edges[0]
	d := uint(id - int(n.lo))
	if d >= 64 || n.mask>>d&1 == 0 {
		return keep
	}
	e := &p.edges[n.edge+uint32(bits.OnesCount64(n.mask&(1<<d-1)))]
	for !e.fits(t, latched) {
		if e.alt == 0 {
			return keep
		}
		e = &p.edges[e.alt]
	}
	return e
}

// value walks a value under an edge.
func (s *jsonScan) value(e *edge, t frame.Type, depth int) bool {
	switch {
	case depth > frame.MaxDepth:
		return false
	case e.do == Into:
		return s.structure(e.next, depth)
	case e.do == Each && t == frame.Map, e.do == Name && e.kind == TableParams:
		return s.pairs(e, depth)
	case e.do == Each:
		return s.elements(e, depth)
	case e.do == Name && e.kind.Number():
		return s.number(e.kind)
	case e.do == Name && e.kind != JSON && e.kind != Object:
		return s.text(e.kind, none)
	}
	return s.skip(depth)
}

// elements walks ["rec",2,{...},{...}].
func (s *jsonScan) elements(e *edge, depth int) bool {
	if !s.take('[') {
		return false
	}
	t, ok := s.wire()
	if !ok || !s.take(',') {
		return false
	}
	if _, ok := s.scalar(); !ok {
		return false
	}
	v := &s.k.p.edges[e.next]
	if v.typ != t {
		v = &s.k.p.edges[0]
	}
	if s.next() == ']' {
		s.i++
		return true
	}
	return s.take(',') && s.each(']', func() bool { return s.value(v, t, depth+1) })
}

// pairs walks ["str","str",2,{"a":"b","c":"d"}].
func (s *jsonScan) pairs(e *edge, depth int) bool {
	if !s.take('[') {
		return false
	}
	kt, ok := s.wire()
	if !ok || !s.take(',') {
		return false
	}
	vt, ok := s.wire()
	if !ok || !s.take(',') {
		return false
	}
	if _, ok := s.scalar(); !ok || !s.take(',') || !s.take('{') {
		return false
	}
	key, val := &s.k.p.edges[0], &s.k.p.edges[0]
	if e.do == Each && s.k.p.edges[e.key].typ == kt && kt == frame.String {
		key = &s.k.p.edges[e.key]
	}
	if e.do == Each && s.k.p.edges[e.next].typ == vt {
		val = &s.k.p.edges[e.next]
	}
	return s.each('}', func() bool {
		at := s.i
		if !s.value(key, kt, depth+1) {
			return false
		}
		v := val
		if e.kind == TableParams && vt == frame.String {
			v = s.param(at)
		}
		return s.take(':') && s.value(v, vt, depth+1)
	}) && s.take(']')
}

// param is what is planned for the value under the key at a place.
func (s *jsonScan) param(at int) *edge {
	k := jsonScan{in: s.in[:s.i], i: at}
	word, _ := k.word()
	for i := range s.k.p.params {
		if p := &s.k.p.params[i]; string(word) == p.key {
			return &p.edge
		}
	}
	return &s.k.p.edges[0]
}

func (s *jsonScan) number(kind Kind) bool {
	s.next()
	lo := s.i
	word, ok := s.scalar()
	old, err := strconv.ParseInt(string(word), 10, 64)
	if !ok || err != nil || s.err != nil {
		return ok && s.err != nil
	}
	var id int64
	if id, s.err = s.k.names.ID(kind, old); s.err == nil && id != old {
		s.replace(lo, s.i, strconv.AppendInt(nil, id, 10))
	}
	return true
}
