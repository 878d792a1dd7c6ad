package rewrite

import (
	"bytes"
	"slices"

	"hmsgate/frame"
)

// The oracle does what a plan says the slow way: it reads a body into a tree,
// edits the tree by the builder's own rules, not by the compiled plan, and
// writes it again.

type tree struct {
	t      frame.Type
	raw    []byte // a fixed value, or a string's bytes
	kt, vt frame.Type
	elems  []*tree // of a list or set; of a map key, value, key, value ...
	fields []branch
}

type branch struct {
	id int16
	v  *tree
}

type treeReader struct {
	b         []byte
	bad, twin bool // twin: a struct has a field twice
	long      bool // a string is longer than a name may be
}

func (r *treeReader) take(n int) []byte {
	if r.bad || n < 0 || n > len(r.b) {
		r.bad = true
		return make([]byte, 16)
	}
	p := r.b[:n]
	r.b = r.b[n:]
	return p
}

func (r *treeReader) count() int { return int(int32(be.Uint32(r.take(4)))) }

func (r *treeReader) value(t frame.Type, depth int) *tree {
	v := &tree{t: t}
	if depth > 60 {
		r.bad = true
	}
	switch {
	case r.bad:
	case frame.FixedSize(t) > 0:
		v.raw = r.take(frame.FixedSize(t))
	case t == frame.String:
		v.raw = r.take(r.count())
		r.long = r.long || len(v.raw) > maxName
	case t == frame.Struct:
		for !r.bad {
			ft := r.take(1)[0]
			if ft == frame.Stop {
				return v
			}
			h := r.take(2)
			f := branch{int16(uint16(h[0])<<8 | uint16(h[1])), r.value(ft, depth+1)}
			r.twin = r.twin || slices.ContainsFunc(v.fields, func(o branch) bool { return o.id == f.id })
			v.fields = append(v.fields, f)
		}
	case t == frame.List || t == frame.Set:
		v.vt = r.take(1)[0]
		n := r.count()
		r.bad = r.bad || n < 0 || n > len(r.b)
		for ; n > 0 && !r.bad; n-- {
			v.elems = append(v.elems, r.value(v.vt, depth+1))
		}
	case t == frame.Map:
		v.kt, v.vt = r.take(1)[0], r.take(1)[0]
		n := r.count()
		r.bad = r.bad || n < 0 || n > len(r.b)
		for ; n > 0 && !r.bad; n-- {
			v.elems = append(v.elems, r.value(v.kt, depth+1), r.value(v.vt, depth+1))
		}
	default:
		r.bad = true
	}
	return v
}

func (v *tree) append(b []byte) []byte {
	switch v.t {
	case frame.String:
		b = be.AppendUint32(b, uint32(len(v.raw)))
		return append(b, v.raw...)
	case frame.Struct:
		for _, f := range v.fields {
			if f.id == literal {
				b = append(b, f.v.raw...)
				continue
			}
			b = append(b, f.v.t, byte(f.id>>8), byte(f.id))
			b = f.v.append(b)
		}
		return append(b, frame.Stop)
	case frame.List, frame.Set:
		b = be.AppendUint32(append(b, v.vt), uint32(len(v.elems)))
	case frame.Map:
		b = be.AppendUint32(append(b, v.kt, v.vt), uint32(len(v.elems)/2))
	default:
		return append(b, v.raw...)
	}
	for _, e := range v.elems {
		b = e.append(b)
	}
	return b
}

// literal marks a branch that an insert gave: raw bytes of a whole field.
const literal = -32768

type oracle struct {
	b      *Builder
	n      Names
	reject bool
}

// body is a struct's fields after its node's edits.
func (o *oracle) body(id NodeID, in []branch) (out []branch) {
	spec, latched := o.b.nodes[id], false
	seen := func(id int16) bool { return slices.ContainsFunc(in, func(f branch) bool { return f.id == id }) }
	for _, f := range in {
		at := slices.IndexFunc(spec.fields, func(s fieldSpec) bool {
			a := s.act.When
			return s.id == f.id && s.typ == f.v.t && (a == Always || (a == IfLatched) == latched)
		})
		if at < 0 {
			planned := slices.ContainsFunc(spec.fields, func(s fieldSpec) bool { return s.id == f.id })
			guards := slices.ContainsFunc(spec.inserts, func(s insertSpec) bool { return s.unless == f.id })
			if !spec.closed || guards && !planned {
				out = append(out, f)
			}
			continue
		}
		a := &spec.fields[at].act
		latched = latched || a.Latch
		id := f.id
		if a.Renumber {
			id = a.To
		}
		switch {
		case a.Drop:
		case a.Unwrap:
			out = append(out, o.body(a.Node, f.v.fields)...)
		case a.Wrap:
			out = append(out, branch{id, &tree{t: frame.Struct, fields: []branch{{a.Inner, o.value(a, f.v)}}}})
		default:
			out = append(out, branch{id, o.value(a, f.v)})
		}
	}
	for _, s := range spec.inserts {
		if !seen(s.unless) {
			out = append(out, branch{literal, &tree{raw: s.lit}})
		}
	}
	return out
}

func (o *oracle) value(a *Action, v *tree) *tree {
	w := *v
	switch a.Do {
	case Name:
		o.name(a, &w)
	case Into:
		w.fields = o.body(a.Node, v.fields)
	case Map:
		for _, m := range a.Enum {
			if m.From == int32(be.Uint32(v.raw)) {
				w.raw = be.AppendUint32(nil, uint32(m.To))
				break
			}
		}
	case Each:
		w.elems = nil
		outer := o.reject
		for i, e := range v.elems {
			o.reject = outer && !a.Filter
			sub := a.Elem
			if v.t == frame.Map && i%2 == 0 {
				sub = a.Key
			}
			if sub != nil && sub.typ() == e.t {
				e = o.value(sub, e)
			}
			if !a.Filter || !o.reject {
				w.elems = append(w.elems, e)
			}
			outer = outer || !a.Filter && o.reject
		}
		o.reject = outer
	}
	return &w
}

func (o *oracle) name(a *Action, v *tree) {
	switch {
	case a.Kind.Opaque(), a.Kind.Long(): // the test's names do not rewrite texts
	case a.Kind.Number():
		id, _ := o.n.ID(a.Kind, int64(be.Uint64(v.raw)))
		v.raw = be.AppendUint64(nil, uint64(id))
	default:
		name, rest := v.raw, []byte(nil)
		if i := bytes.IndexByte(name, ':'); a.Kind == WriteIDs && i >= 0 {
			name, rest = name[:i], name[i:]
		}
		o.reject = o.reject || a.Verdict && !o.n.Keep(a.Kind, name)
		v.raw, _ = o.n.Append(nil, a.Kind, name)
		v.raw = append(v.raw, rest...)
	}
}
