package profiles

import (
	"fmt"
	"slices"
	"strings"

	"hmsgate/frame"
)

// reply makes the target's reply the client's: the result as spec says, each
// exception under the id that the client's method declares for its type.
func (b *bridger) reply(m, target *Method, spec string) (*shape, error) {
	s := b.replies
	sh := s.add(m.Name + " reply from " + target.Name)
	how, field, _ := strings.Cut(spec, " ")
	if target.Returns != nil {
		e, err := b.result(m, target, how, field)
		if err != nil {
			return nil, err
		}
		sh.edges = append(sh.edges, *e)
	}
	switch {
	case how == "empty":
		sh.alone = []byte{frame.Struct, 0, 0, frame.Stop}
	case target.Returns == nil && m.Returns != nil && how != "void":
		return nil, fmt.Errorf("%s returns nothing, %s %s: the reply must be empty or void", target.Name, m.Name, m.Returns)
	}
	for i := range target.Throws {
		x := &target.Throws[i]
		sh.edges = append(sh.edges, shapeEdge{id: x.ID, name: x.Name, wire: frame.Struct, change: throwAs(x, m)})
	}
	return sh, nil
}

// result is the edge of the success value.
func (b *bridger) result(m, target *Method, how, field string) (*shapeEdge, error) {
	s := b.replies
	at := len(s.order)
	natural, err := s.reply(target)
	if err != nil {
		return nil, err
	}
	s.order = slices.Delete(s.order, at, at+1) // the shape itself is not used; those it is the first to need are
	e := &shapeEdge{id: 0, name: "success", wire: target.Returns.Wire}
	if len(natural.edges) > 0 && natural.edges[0].id == 0 { // else nothing happens in it, and the first is an exception
		e = &natural.edges[0]
	}
	switch how {
	case "", "same", "empty", "void":
		return e, nil
	case "wrap":
		st := b.calls.inv.Structs[m.Returns.Name]
		if st == nil || st.Field(field) == nil {
			return nil, fmt.Errorf("%s has no field %q", m.Returns, field)
		}
		e.wrap = st.Field(field).ID
		return e, nil
	case "unwrap":
		st := b.back.Structs[target.Returns.Name]
		if st == nil || st.Field(field) == nil {
			return nil, fmt.Errorf("%s has no field %q", target.Returns, field)
		}
		f := st.Field(field)
		v, err := s.value(f.Type, s.rules.structs[st.Name][f.Name])
		if err != nil {
			return nil, err
		}
		in := s.add(st.Name + " for " + m.Name)
		in.closed = true
		in.edges = []shapeEdge{{id: f.ID, name: f.Name, wire: f.Type.Wire, value: v, change: change{renumber: true, to: 0}}}
		e.value, e.unwrap = &value{into: in, wire: frame.Struct}, true
		return e, nil
	}
	return nil, fmt.Errorf("reply %q is none of same, wrap, unwrap, empty, void", how)
}

// throwAs is what becomes of an exception for a client of method m: the id it
// has there, else MetaException's, since all exceptions have the same one
// field.
func throwAs(x *Field, m *Method) change {
	var c change
	meta := int16(0)
	for i := range m.Throws {
		o := &m.Throws[i]
		switch {
		case o.Type.Name == x.Type.Name && o.ID == x.ID:
			return change{}
		case o.Type.Name == x.Type.Name:
			c = change{renumber: true, to: o.ID}
		case o.Type.Name == "MetaException":
			meta = o.ID
		}
	}
	if !c.renumber && meta != 0 && meta != x.ID {
		c = change{renumber: true, to: meta}
	}
	return c
}
