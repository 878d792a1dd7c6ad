package rewrite

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"hmsgate/frame"
)

var be = binary.BigEndian

// Walker runs plans over a window. One serves one session; the zero value is
// ready.
type Walker struct {
	w      *frame.Window
	p      *Plan
	names  Names
	facts  *Facts // set while gathering
	open   int    // gathering: structs around the walk whose catalog field can still come
	named  bool   // gathering: a name other than a catalog's was met
	reject bool   // a Verdict said no

	// Guards are the guards that the last Emit met: bit n-1 is guard n.
	Guards uint64
	// Unseen counts planned values that were copied unseen, since they had
	// another type than the plan knows or (in replies) an impossible length.
	Unseen int
}

// Gather walks the message's body behind the header, collecting facts; the
// window keeps the bytes. frame.ErrFull says that it outgrew the window.
func (k *Walker) Gather(w *frame.Window, p *Plan, r RootID, f *Facts) error {
	f.Reset()
	k.w, k.p, k.names, k.facts, k.open, k.named = w, p, nil, f, 0, false
	err := k.root(r)
	k.facts = nil
	return err
}

// Emit walks the whole message from its header, which the window stands at,
// and edits it on its way to the window's sink. names may be nil: then names
// and ids are the same on both sides and filters keep all; a plan with Split
// cannot do without. The last bytes stay in the window until
// its End, so that the message can still be cut.
func (k *Walker) Emit(w *frame.Window, p *Plan, r RootID, names Names) error {
	k.w, k.p, k.names, k.facts = w, p, names, nil
	k.Unseen, k.Guards, k.reject = 0, 0, false
	w.Forget() // values that an earlier walk with another plan has met
	o := &p.roots[r]
	if err := k.header(o); err != nil {
		return err
	}
	if o.open.n > 0 {
		if err := w.Put(p.lit(o.open)); err != nil {
			return err
		}
	}
	if err := k.root(r); err != nil {
		return err
	}
	if o.close.n > 0 {
		return w.Put(p.lit(o.close))
	}
	return nil
}

// Measure is an Emit that writes nothing and answers how many bytes it would
// write. The message must be kept whole in the window, at its header.
func (k *Walker) Measure(w *frame.Window, p *Plan, r RootID, names Names) (int64, error) {
	w.Measure()
	if err := k.Emit(w, p, r, names); err != nil {
		return 0, err
	}
	err := w.End()
	return w.Written(), err
}

// header moves over the message's header; an old-style one becomes strict, a
// renamed method gets its new name.
func (k *Walker) header(o *root) error {
	h, err := k.w.Header(true)
	if err != nil {
		return err
	}
	if o.rename.n == 0 && !h.Old {
		return nil
	}
	k.w.Advance(-h.Size)
	out, err := k.w.Open(12 + len(h.Method) + int(o.rename.n))
	if err != nil {
		return err
	}
	name := k.p.lit(o.rename)
	if o.rename.n == 0 {
		name = k.w.Bytes()[4 : 4+len(h.Method)] // of an old-style header
	}
	k.w.Close(frame.AppendHeader(out, h.Type, name, h.Seq), h.Size)
	return nil
}

func (k *Walker) root(r RootID) error {
	o := &k.p.roots[r]
	if o.node == none || k.names == nil && k.facts == nil && !o.edits {
		return k.w.Skip(frame.Struct, 0)
	}
	return k.body(o.node, 0, false)
}

// body walks one struct's fields. spliced: the struct is unwrapped, its stop
// byte is not forwarded.
func (k *Walker) body(at uint16, depth int, spliced bool) error {
	if depth >= frame.MaxDepth {
		return fmt.Errorf("%w at byte %d", frame.ErrTooDeep, k.w.Pos())
	}
	n := &k.p.nodes[at]
	w, lo, mask := k.w, int(n.lo), n.mask
	var st state
	if k.facts != nil && n.flags&nodeCat != 0 {
		st.cat = true
		k.open++
	}
	b, i := w.Bytes(), 0
	for {
		if len(b)-i < 7 {
			// near the end of what is buffered: make one field's head whole
			stop, err := k.border(i, len(b))
			if err != nil {
				return err
			}
			b, i = w.Bytes(), 0
			if stop {
				return k.stop(n, &st, spliced)
			}
			if len(b) < 7 {
				if err := k.field(at, &st, depth); err != nil {
					return err
				}
				b = w.Bytes()
				continue
			}
		}
		t := b[i]
		if t == frame.Stop {
			w.Advance(i)
			return k.stop(n, &st, spliced)
		}
		id := int(int16(uint16(b[i+1])<<8 | uint16(b[i+2])))
		if d := uint(id - lo); d < 64 && mask>>d&1 != 0 || n.flags&nodeClosed != 0 {
			w.Advance(i)
			if err := k.field(at, &st, depth); err != nil {
				return err
			}
			b, i = w.Bytes(), 0
			continue
		}
		if t == frame.String {
			l := be.Uint32(b[i+3:])
			if int32(l) < 0 {
				w.Advance(i)
				return k.at(fmt.Errorf("%w: string of %d", frame.ErrNegative, int32(l)), int(at), id)
			}
			i += 7 + int(l)
			continue
		}
		if z := frame.FixedSize(t); z != 0 {
			i += 3 + z
			continue
		}
		w.Advance(i + 3)
		if err := w.Skip(t, depth+1); err != nil {
			return k.at(err, int(at), id)
		}
		b, i = w.Bytes(), 0
	}
}

// state is what a struct's walk remembers of its fields.
type state struct {
	seen    uint64
	latched bool
	cat     bool // gathering: the catalog field can still come
}

// border moves to offset i, which may lie behind the n buffered bytes, and
// reads a field's head.
func (k *Walker) border(i, n int) (stop bool, err error) {
	w := k.w
	if i > n {
		w.Advance(n)
		if err := w.SkipN(int64(i - n)); err != nil {
			return false, err
		}
	} else {
		w.Advance(i)
	}
	if err := w.Need(1); err != nil {
		return false, err
	}
	if w.Bytes()[0] == frame.Stop {
		return true, nil
	}
	return false, w.Need(3)
}

// stop moves over the struct's stop byte, after what must stand before it.
func (k *Walker) stop(n *node, st *state, spliced bool) error {
	if st.cat {
		k.closeCat(st)
	}
	if k.facts == nil {
		for _, in := range k.p.inserts[n.ins : n.ins+uint16(n.nins)] {
			if st.seen>>in.bit&1 == 0 && (in.bit != insertAlone || st.seen == 0) {
				if err := k.w.Put(k.p.lits[in.at : in.at+uint32(in.n)]); err != nil {
					return err
				}
			}
		}
		if spliced {
			out, err := k.w.Open(0)
			if err != nil {
				return err
			}
			k.w.Close(out, 1)
			return nil
		}
	}
	k.w.Advance(1)
	return nil
}

// closeCat notes that a struct's catalog field was met or can no longer come.
func (k *Walker) closeCat(st *state) {
	st.cat = false
	k.open--
	if k.open == 0 && k.named {
		k.facts.Final = true
	}
}

// field walks one field from its head; the head is buffered.
func (k *Walker) field(at uint16, st *state, depth int) error {
	n, b := &k.p.nodes[at], k.w.Bytes()
	t, id := b[0], int(int16(uint16(b[1])<<8|uint16(b[2])))
	d := uint(id - int(n.lo))
	if d >= 64 || n.mask>>d&1 == 0 {
		return k.unplanned(n, int(at), t, id, depth)
	}
	bit := uint64(1) << d
	if st.seen&bit != 0 {
		return k.at(fmt.Errorf("%w at byte %d", frame.ErrDuplicate, k.w.Pos()), int(at), id)
	}
	st.seen |= bit
	e := &k.p.edges[n.edge+uint32(bits.OnesCount64(n.mask&(bit-1)))]
	for !e.fits(t, st.latched) {
		if e.alt == 0 {
			k.Unseen++
			return k.unplanned(n, int(at), t, id, depth)
		}
		e = &k.p.edges[e.alt]
	}
	if e.flags&edgeLatch != 0 {
		st.latched = true
	}
	if st.cat && e.kind == Cat && e.flags&edgeRoute != 0 {
		k.closeCat(st)
	}
	if err := k.apply(e, t, depth+1); err != nil {
		return k.at(err, int(at), id)
	}
	return nil
}

func (e *edge) fits(t frame.Type, latched bool) bool {
	return (e.typ == t || e.typ == frame.Stop) && (e.when == Always || (e.when == IfLatched) == latched)
}

// unplanned moves over a field without an edge: kept, but dropped from a
// closed node.
func (k *Walker) unplanned(n *node, at int, t frame.Type, id, depth int) error {
	drop := n.flags&nodeClosed != 0 && k.facts == nil
	if drop {
		if err := k.w.Mute(); err != nil {
			return err
		}
	}
	k.w.Advance(3)
	err := k.w.Skip(t, depth+1)
	if drop {
		k.w.Unmute()
	}
	if err != nil {
		return k.at(err, at, id)
	}
	return nil
}

// apply does what an edge says with a field whose head is buffered.
func (k *Walker) apply(e *edge, t frame.Type, depth int) error {
	if e.flags&edgeField == 0 || k.facts != nil {
		k.w.Advance(3)
		return k.value(e, t, depth)
	}
	if e.flags&edgeGuard != 0 {
		if err := k.guard(e, t); err != nil {
			return err
		}
	}
	if e.flags&edgeDrop != 0 {
		if err := k.w.Mute(); err != nil {
			return err
		}
		k.w.Advance(3)
		err := k.w.Skip(t, depth)
		k.w.Unmute()
		return err
	}
	b := k.w.Bytes()
	id := int16(uint16(b[1])<<8 | uint16(b[2]))
	if e.flags&edgeRenumber != 0 {
		id = e.id
	}
	out, err := k.w.Open(6)
	if err != nil {
		return err
	}
	switch {
	case e.flags&edgeUnwrap != 0:
		k.w.Close(out, 3)
		return k.body(e.next, depth, true)
	case e.flags&edgeWrap != 0:
		out = append(out, frame.Struct, byte(id>>8), byte(id), t, byte(e.arg>>8), byte(e.arg))
	default:
		out = append(out, t, byte(id>>8), byte(id))
	}
	k.w.Close(out, 3)
	if e.flags&edgeSplit != 0 {
		return k.split(e)
	}
	if err := k.value(e, t, depth); err != nil {
		return err
	}
	if e.flags&edgeWrap != 0 {
		return k.w.Put([]byte{frame.Stop})
	}
	return nil
}

// guard notes whether a field, whose head is buffered, passes its edge's test.
func (k *Walker) guard(e *edge, t frame.Type) error {
	test, size := Test(e.next), frame.FixedSize(t)
	switch {
	case test == Present:
		k.Guards |= 1 << e.arg
		return nil
	case t == frame.String:
		size = 4
	case t == frame.List || t == frame.Set:
		size = 5
	case t == frame.Map:
		size = 6
	}
	if err := k.w.Need(3 + size); err != nil {
		return err
	}
	v := k.w.Bytes()[3 : 3+size]
	if t == frame.List || t == frame.Set || t == frame.Map {
		v = v[size-4:] // the count
	}
	on := false
	for _, b := range v {
		on = on || b != 0
	}
	if on && !(test == Positive && v[0] >= 0x80) {
		k.Guards |= 1 << e.arg
	}
	return nil
}
