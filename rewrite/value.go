package rewrite

import (
	"bytes"
	"fmt"

	"hmsgate/frame"
)

// Longest values that are edited. Metastores store database names in 128
// bytes; the multi-table write-id text of a materialized view is legally
// large.
const (
	maxName  = 8 << 10
	maxMulti = 16 << 20
)

// value walks one value under an edge.
func (k *Walker) value(e *edge, t frame.Type, depth int) error {
	switch e.do {
	case Name:
		if k.facts == nil && k.names == nil {
			return k.w.Skip(t, depth)
		}
		if e.kind >= LockID {
			if e.kind.Long() {
				return k.long(e, t, depth)
			}
			return k.number(e)
		}
		return k.name(e)
	case Into:
		if k.facts == nil && k.names == nil && k.p.nodes[e.next].flags&nodeEdits == 0 {
			return k.w.Skip(t, depth)
		}
		return k.body(e.next, depth, false)
	case Each:
		return k.each(e, t, depth)
	case Map:
		return k.enum(e)
	case Find:
		if k.facts == nil {
			return k.find(e, depth)
		}
	}
	if e.flags&edgeRepeat != 0 && k.facts == nil {
		return k.repeat(e, t, depth)
	}
	return k.w.Skip(t, depth)
}

// repeat jumps over a value that is byte for byte the one before. A binary
// value says its own length, so equal bytes are an equal value.
func (k *Walker) repeat(e *edge, t frame.Type, depth int) error {
	w := k.w
	if w.Same(int(e.arg)) {
		return nil
	}
	at, slid := w.Pos(), w.Slid()
	if err := w.Skip(t, depth); err != nil {
		return err
	}
	if w.Slid() == slid {
		w.Remember(int(e.arg), int(w.Pos()-at))
	}
	return nil
}

// each walks a container's elements under their own edges.
func (k *Walker) each(e *edge, t frame.Type, depth int) error {
	if depth >= frame.MaxDepth {
		return fmt.Errorf("%w at byte %d", frame.ErrTooDeep, k.w.Pos())
	}
	if t == frame.Map {
		return k.eachPair(e, depth)
	}
	if e.flags&edgeFilter != 0 && k.names != nil {
		return k.filter(e, depth)
	}
	et, n, err := k.w.ListHeader()
	if err != nil {
		return err
	}
	v := &k.p.edges[e.next]
	if n > 0 && et != v.typ {
		if err := k.mistyped(et, v.typ); err != nil {
			return err
		}
		return k.w.SkipElements(et, n, depth)
	}
	for i := 0; i < n; i++ {
		if err := k.value(v, et, depth+1); err != nil {
			return element(err, i)
		}
	}
	return nil
}

func (k *Walker) eachPair(e *edge, depth int) error {
	kt, vt, n, err := k.w.MapHeader()
	if err != nil {
		return err
	}
	key, val := &k.p.edges[e.key], &k.p.edges[e.next]
	if n > 0 && e.key != 0 && kt != key.typ {
		if err := k.mistyped(kt, key.typ); err != nil {
			return err
		}
		key = &k.p.edges[0]
	}
	if n > 0 && e.next != 0 && vt != val.typ {
		if err := k.mistyped(vt, val.typ); err != nil {
			return err
		}
		val = &k.p.edges[0]
	}
	for i := 0; i < n; i++ {
		if err := k.value(key, kt, depth+1); err != nil {
			return element(err, i)
		}
		if err := k.value(val, vt, depth+1); err != nil {
			return element(err, i)
		}
	}
	return nil
}

// mistyped notes elements of another type than the planned one. In a reply
// they are copied unseen. In a call they are refused: generated readers take
// the elements for what their own interface says, whatever type the container
// states (Apache Thrift, t_java_generator, generate_deserialize_container),
// so the backend would read names there that nobody has seen.
func (k *Walker) mistyped(got, want frame.Type) error {
	if k.facts != nil || k.names != nil && k.names.Strict() {
		return fmt.Errorf("%w: elements of type %s at byte %d, must be %s",
			ErrElement, frame.TypeName(got), k.w.Pos(), frame.TypeName(want))
	}
	k.Unseen++
	return nil
}

// filter walks a list whose elements may be left out. The list is held in
// the output until its count is known.
func (k *Walker) filter(e *edge, depth int) error {
	w := k.w
	outer, rejected := w.Holding(), k.reject
	at, err := w.HoldList()
	if err != nil {
		return err
	}
	et, n, err := w.ListHeader()
	if err != nil {
		return err
	}
	v, kept := &k.p.edges[e.next], n
	if n > 0 && e.next != 0 && et != v.typ {
		if err = k.mistyped(et, v.typ); err == nil {
			err = w.SkipElements(et, n, depth)
		}
		n = 0
	}
	for i := 0; i < n && err == nil; i++ {
		var mark int
		if mark, err = w.Mark(); err != nil {
			break
		}
		k.reject = false
		if err = k.value(v, et, depth+1); err != nil {
			err = element(err, i)
		} else if k.reject {
			w.Rollback(mark)
			kept--
		}
	}
	k.reject = rejected // the verdict on the element this list stands in
	if err == nil {
		err = w.Cut()
	}
	if err == nil {
		w.Patch(at+1, uint32(kept), !outer)
	}
	return err
}

// name replaces a string by the other side's form of it.
func (k *Walker) name(e *edge) error {
	w := k.w
	if err := w.Need(4); err != nil {
		return err
	}
	n := int(int32(be.Uint32(w.Bytes())))
	if n < 0 {
		return fmt.Errorf("%w: string of %d at byte %d", frame.ErrNegative, n, w.Pos())
	}
	if e.kind == WriteIDs {
		return k.head(e, n)
	}
	most := maxName
	if e.kind == WriteIDsMulti {
		most = maxMulti
	}
	if n > most {
		return k.tooLong(e, n, most)
	}
	if err := w.Need(4 + n); err != nil {
		return err
	}
	return k.replace(e.kind, e.flags, n, n)
}

// find notes the edge's guard when a map has a key.
func (k *Walker) find(e *edge, depth int) error {
	w := k.w
	kt, vt, n, err := w.MapHeader()
	if err != nil {
		return err
	}
	word := k.p.lit(k.p.words[e.next])
	for ; n > 0; n-- {
		if kt == frame.String {
			if err := w.Need(4); err != nil {
				return err
			}
			if l := be.Uint32(w.Bytes()); int(l) == len(word) {
				if err := w.Need(4 + len(word)); err != nil {
					return err
				}
				if bytes.Equal(w.Bytes()[4:4+len(word)], word) {
					k.Guards |= 1 << e.arg
				}
			}
		}
		if err := w.Skip(kt, depth+1); err != nil {
			return err
		}
		if err := w.Skip(vt, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// split replaces a "@cat#db" by its db and, when it has a catalog, by a field
// for that behind it. The field's own head has been written.
func (k *Walker) split(e *edge) error {
	w := k.w
	if err := w.Need(4); err != nil {
		return err
	}
	n := int(int32(be.Uint32(w.Bytes())))
	if n < 0 || n > maxName {
		return fmt.Errorf("%w: %s of %d bytes at byte %d, at most %d", ErrName, e.kind, n, w.Pos(), maxName)
	}
	if err := w.Need(4 + n); err != nil {
		return err
	}
	out, err := w.Open(11 + 2*n + 512)
	if err != nil {
		return err
	}
	name := w.Bytes()[4 : 4+n]
	if out, err = k.part(out, DBPart, name); err != nil {
		return err
	}
	end := len(out)
	out = append(out, frame.String, byte(e.arg>>8), byte(e.arg))
	if out, err = k.part(out, CatPart, name); err != nil {
		return err
	}
	if len(out) == end+7 {
		out = out[:end] // no catalog, no field
	}
	w.Close(out, 4+n)
	return nil
}

// part appends the length and text of one part of a name.
func (k *Walker) part(out []byte, kind Kind, name []byte) ([]byte, error) {
	at := len(out)
	out, err := k.names.Append(append(out, 0, 0, 0, 0), kind, name)
	if err == nil {
		be.PutUint32(out[at:], uint32(len(out)-at-4))
	}
	return out, err
}

// tooLong refuses a name in a call and passes it in a reply.
func (k *Walker) tooLong(e *edge, n, most int) error {
	if k.facts != nil || k.names.Strict() {
		return fmt.Errorf("%w: %s of %d bytes at byte %d, at most %d", ErrName, e.kind, n, k.w.Pos(), most)
	}
	k.Unseen++
	if e.flags&edgeVerdict != 0 {
		k.reject = true // what cannot be judged is not shown
	}
	return k.w.Skip(frame.String, 0)
}

// replace handles a buffered string of n bytes whose first cut bytes are the
// name.
func (k *Walker) replace(kind Kind, flags uint16, n, cut int) error {
	w := k.w
	if k.facts != nil {
		if flags&edgeRoute != 0 {
			k.facts.add(w.Whole(), kind, int(w.Pos())+4, cut)
			if kind != Cat {
				k.named = true
				k.facts.Final = k.facts.Final || k.open == 0
			}
		}
		w.Advance(4 + cut)
		return nil
	}
	out, err := w.Open(4 + 2*cut + 256)
	if err != nil {
		return err
	}
	name := w.Bytes()[4 : 4+cut]
	if flags&edgeVerdict != 0 && !k.names.Keep(kind, name) {
		k.reject = true
	}
	at := len(out)
	out = append(out, 0, 0, 0, 0)
	out, err = k.names.Append(out, kind, name)
	if err != nil {
		return err
	}
	be.PutUint32(out[at:], uint32(len(out)-at-4+n-cut))
	w.Close(out, 4+cut)
	return nil
}

// head replaces the "db.table" in front of a write-id list and copies the
// rest, which may be long.
func (k *Walker) head(e *edge, n int) error {
	w := k.w
	have := min(n, maxName)
	if err := w.Need(4 + have); err != nil {
		return err
	}
	cut := bytes.IndexByte(w.Bytes()[4:4+have], ':')
	if cut < 0 {
		if have < n {
			return k.tooLong(e, n, have)
		}
		cut = n
	}
	if err := k.replace(TableFull, e.flags, n, cut); err != nil {
		return err
	}
	return w.SkipN(int64(n - cut))
}

// number maps an id.
func (k *Walker) number(e *edge) error {
	w := k.w
	if err := w.Need(8); err != nil {
		return err
	}
	if k.facts != nil {
		if e.flags&edgeRoute != 0 {
			k.facts.add(w.Whole(), e.kind, int(w.Pos()), 8)
		}
		w.Advance(8)
		return nil
	}
	old := int64(be.Uint64(w.Bytes()))
	id, err := k.names.ID(e.kind, old)
	if err != nil || id == old {
		w.Advance(8)
		return err
	}
	out, err := w.Open(8)
	if err == nil {
		w.Close(be.AppendUint64(out, uint64(id)), 8)
	}
	return err
}

// enum maps an enum value by the edge's table; values not in it stay.
func (k *Walker) enum(e *edge) error {
	w := k.w
	if err := w.Need(4); err != nil {
		return err
	}
	if k.facts == nil {
		v, s := int32(be.Uint32(w.Bytes())), k.p.tables[e.arg]
		for _, m := range k.p.enums[s.at : s.at+s.n] {
			if m.From == v {
				out, err := w.Open(4)
				if err == nil {
					w.Close(be.AppendUint32(out, uint32(m.To)), 4)
				}
				return err
			}
		}
	}
	w.Advance(4)
	return nil
}

// Strings visits every string of the struct the window stands at, however
// deep, of a call that no inventory knows. Strings longer than a name can be
// are passed over.
func (k *Walker) Strings(w *frame.Window, visit func([]byte) error) error {
	k.w = w
	return k.strings(frame.Struct, 0, visit)
}

func (k *Walker) strings(t frame.Type, depth int, visit func([]byte) error) error {
	w := k.w
	if depth >= frame.MaxDepth && t != frame.String {
		return w.Skip(t, depth) // says so where it goes deeper
	}
	switch t {
	case frame.String:
		if err := w.Need(4); err != nil {
			return err
		}
		n := int(int32(be.Uint32(w.Bytes())))
		if n < 0 || n > maxName {
			return w.Skip(t, depth)
		}
		if err := w.Need(4 + n); err != nil {
			return err
		}
		err := visit(w.Bytes()[4 : 4+n])
		w.Advance(4 + n)
		return err
	case frame.Struct:
		for {
			if err := w.Need(1); err != nil {
				return err
			}
			ft := w.Bytes()[0]
			if ft == frame.Stop {
				w.Advance(1)
				return nil
			}
			if err := w.Need(3); err != nil {
				return err
			}
			w.Advance(3)
			if err := k.strings(ft, depth+1, visit); err != nil {
				return err
			}
		}
	case frame.List, frame.Set:
		et, n, err := w.ListHeader()
		if err == nil && frame.FixedSize(et) != 0 {
			return w.SkipElements(et, n, depth)
		}
		for ; n > 0 && err == nil; n-- {
			err = k.strings(et, depth+1, visit)
		}
		return err
	case frame.Map:
		kt, vt, n, err := w.MapHeader()
		for ; n > 0 && err == nil; n-- {
			if err = k.strings(kt, depth+1, visit); err == nil {
				err = k.strings(vt, depth+1, visit)
			}
		}
		return err
	}
	return w.Skip(t, depth)
}
