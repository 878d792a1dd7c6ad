package profiles

import (
	"fmt"

	"hmsgate/frame"
	"hmsgate/rewrite"
)

// shape is a plan node before it is flat: what Explain prints and what the
// builder is fed with. A struct has one per direction; shapes refer to each
// other in circles (Table, CreationMetadata, SourceTable, Table).
type shape struct {
	name  string
	union bool
	edges []shapeEdge
	live  bool // something is planned below
	shown bool // the same, or something opaque is
	merge bool // a reply that is merged over catalogs, or the elements of its list
	id    rewrite.NodeID

	closed  bool          // unplanned fields are dropped
	inserts []shapeInsert // before the stop byte
	alone   []byte        // inserted when no other field was met
}

// shapeInsert is a whole field that is added unless one with an id was met.
type shapeInsert struct {
	unless int16
	lit    []byte
}

type shapeEdge struct {
	id     int16
	name   string
	wire   frame.Type
	value  *value
	when   rewrite.When
	latch  bool
	repeat bool
	filter bool // elements may be left out
	change change
	unwrap bool
	wrap   int16       // the value becomes this field of a struct; 0: it does not
	split  int16       // a "@cat#db": the catalog becomes this field; 0: it does not
	guard  *shapeGuard // nil: none
	word   string      // with guard: the key to find in a map
}

// value is what is planned for a value: one of a kind, a struct, a container.
// nil keeps it.
type value struct {
	kind      rewrite.Kind
	into      *shape
	object    *shape // of kind Object
	key, elem *value
	wire      frame.Type
}

// shaper makes the shapes of one inventory for one direction.
type shaper struct {
	inv      *Inventory
	rules    *rules
	replies  bool // calls are not long enough for repeated values to count
	catalogs bool
	match    *matcher   // towards the other side; nil: it may be any
	back     string     // calls: label of the backend, "" while it may be any
	crossing bool       // partition expressions are of another generation there
	reader   *Inventory // replies: by which they are read
	unsure   bool       // replies: the reader may be of any generation
	old      bool       // the client may be older than 4.x
	guess    bool       // replies: the reader may be older than 4.x, and of several versions
	reasons  []string   // calls: of guards
	shapes   map[string]*shape
	order    []*shape
}

// newShaper plans what an inventory's messages are and, when to is not nil,
// what they become for a peer of that inventory.
func newShaper(inv, to *Inventory, r *rules, replies bool) *shaper {
	s := &shaper{
		inv: inv, rules: r, replies: replies, catalogs: inv.Structs["Catalog"] != nil, shapes: map[string]*shape{},
	}
	if to != nil && to.Label != AutoLabel && to != inv {
		s.match = &matcher{to, r}
	}
	return s
}

// there are the fields of a struct as the other side has it; nil when it is
// not known or has no such struct, not when that one is empty.
func (s *shaper) there(name string) []Field {
	if s.match == nil || s.match.to.Structs[name] == nil {
		return nil
	}
	return append([]Field{}, s.match.to.Structs[name].Fields...)
}

func (s *shaper) add(name string) *shape {
	sh := &shape{name: name}
	s.order = append(s.order, sh)
	return sh
}

// call is the shape of a method's arguments.
func (s *shaper) call(m *Method) (*shape, error) {
	sh := s.add(m.Name + " call")
	var err error
	var there []Field
	if s.match != nil && s.match.to.Methods[m.Name] != nil {
		there = s.match.to.Methods[m.Name].Args
	}
	sh.edges, err = s.edges(m.Name, m.Args, there, func(f *Field) (rule, error) { return s.rules.arg(m.Name, f), nil })
	return sh, err
}

// reply is the shape of a method's result. Exceptions hold prose only.
func (s *shaper) reply(m *Method) (*shape, error) {
	sh := s.add(m.Name + " reply")
	if m.Returns == nil {
		sh.edges = s.thrown(m)
		return sh, nil
	}
	var u rule
	if own := s.rules.rows[m.Name]; own != nil && own.reply != nil {
		u = *own.reply
	}
	v, err := s.value(m.Returns, u)
	if v != nil {
		sh.edges = []shapeEdge{{id: 0, name: "success", wire: m.Returns.Wire, value: v}}
	}
	sh.edges = append(sh.edges, s.thrown(m)...)
	return sh, err
}

// arg is the rule for an argument: the row's own, else the default of its name.
func (r *rules) arg(method string, f *Field) rule {
	if own := r.rows[method]; own != nil {
		if u, ok := own.args[f.Name]; ok {
			return u
		}
	}
	return r.args[f.Name]
}

// structure is the shape of a struct of the inventory.
func (s *shaper) structure(name string) (*shape, error) {
	if sh := s.shapes[name]; sh != nil {
		return sh, nil
	}
	st := s.inv.Structs[name]
	sh := s.add(name)
	sh.union = st.Kind == Union
	s.shapes[name] = sh
	var err error
	if sh.inserts, err = s.additions(name); err != nil {
		return nil, err
	}
	sh.edges, err = s.edges(name, st.Fields, s.there(name), func(f *Field) (rule, error) { return s.rules.field(name, f) })
	return sh, err
}

// edges plans a list of fields. An id may stand there with several wire
// types; with one wire type and different plans it needs a clash rule. there
// are the fields of the other side.
func (s *shaper) edges(owner string, fields, there []Field, of func(*Field) (rule, error)) ([]shapeEdge, error) {
	var out []shapeEdge
	latching := false
	for i := range fields {
		f := &fields[i]
		u, err := of(f)
		var v *value
		if err == nil {
			v, err = s.value(f.Type, u)
		}
		if err == nil {
			v, err = s.text(owner, f, v)
		}
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", owner, f.Name, err)
		}
		e := shapeEdge{id: f.ID, name: f.Name, wire: f.Type.Wire, value: v, repeat: u.repeat && s.replies}
		if err = s.different(owner, f, there, &e); err != nil {
			return nil, err
		}
		twin := twinOf(out, &e)
		switch {
		case twin == nil:
			out = append(out, e)
		case twin.same(&e):
			twin.name += "/" + e.name
		default:
			if err := s.rules.clash(owner, twin, &e); err != nil {
				return nil, err
			}
			out = append(out, e)
			latching = true
		}
	}
	if latching {
		if err := s.rules.latch(owner, fields, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// twinOf finds an edge with the same id and wire type.
func twinOf(edges []shapeEdge, e *shapeEdge) *shapeEdge {
	for i := range edges {
		if edges[i].id == e.id && edges[i].wire == e.wire {
			return &edges[i]
		}
	}
	return nil
}

func (e *shapeEdge) same(o *shapeEdge) bool {
	return e.repeat == o.repeat && e.value.same(o.value) && e.change.same(&o.change)
}

func (v *value) same(o *value) bool {
	if v == nil || o == nil {
		return v == o
	}
	return v.kind == o.kind && v.into == o.into && v.wire == o.wire && v.key.same(o.key) && v.elem.same(o.elem)
}

// clash makes two edges with one id and wire type conditional.
func (r *rules) clash(owner string, a, b *shapeEdge) error {
	c, ok := r.clashes[owner]
	for _, e := range []*shapeEdge{a, b} {
		switch {
		case ok && e.name == c.Latched:
			e.when = rewrite.IfLatched
		case ok && e.name == c.Else:
			e.when = rewrite.UnlessLatched
		default:
			return fmt.Errorf("%s: fields %s and %s share id %d and their wire type, and no clash rule tells them apart",
				owner, a.name, b.name, a.id)
		}
	}
	return nil
}

// latch marks the edge whose wire type tells the dialect.
func (r *rules) latch(owner string, fields []Field, edges []shapeEdge) error {
	c := r.clashes[owner]
	for i := range fields {
		for j := range fields {
			a, b := &fields[i], &fields[j]
			if a.Name != c.Latch[0] || b.Name != c.Latch[1] || a.ID != b.ID || a.Type.Wire == b.Type.Wire {
				continue
			}
			if e := twinOf(edges, &shapeEdge{id: a.ID, wire: a.Type.Wire}); e != nil {
				e.latch = true
				return nil
			}
		}
	}
	return fmt.Errorf("%s: fields %s and %s share no id by which the dialect shows", owner, c.Latch[0], c.Latch[1])
}

// value is what a rule makes of a type; nil when nothing is planned in it.
func (s *shaper) value(t *TypeRef, u rule) (*value, error) {
	switch t.Wire {
	case frame.Struct:
		sh, err := s.structure(t.Name)
		return &value{into: sh, wire: t.Wire}, err
	case frame.List, frame.Set:
		elem, err := s.value(t.Elem, u)
		if elem == nil {
			return nil, err
		}
		return &value{elem: elem, wire: t.Wire}, err
	case frame.Map:
		return s.mapValue(t, u)
	}
	if u.kind == rewrite.None || !fitsKind(u.kind, t) {
		return nil, nil
	}
	return &value{kind: s.kind(u.kind), wire: t.Wire}, nil
}

func (s *shaper) mapValue(t *TypeRef, u rule) (*value, error) {
	if u.kind.Opaque() {
		return &value{kind: u.kind, wire: t.Wire}, nil
	}
	key, err := s.value(t.Key, rule{kind: u.key})
	if err != nil {
		return nil, err
	}
	elem, err := s.value(t.Elem, rule{kind: u.value})
	if key == nil && elem == nil {
		return nil, err
	}
	return &value{key: key, elem: elem, wire: t.Wire}, err
}

// kind is a rule's kind in this inventory: without catalogs (2.x) nothing is
// written "@cat#db".
func (s *shaper) kind(k rewrite.Kind) rewrite.Kind {
	if s.catalogs {
		return k
	}
	switch k {
	case rewrite.DBAt:
		return rewrite.DB
	case rewrite.PatternAt:
		return rewrite.Pattern
	}
	return k
}

// merges marks a reply whose list is merged over catalogs: elements may be
// left out, by the database in them.
func (sh *shape) merges() {
	sh.merge = true
	for i := range sh.edges {
		e := &sh.edges[i]
		if e.value == nil || e.wire != frame.List {
			continue
		}
		e.filter = true
		if v := e.value.elem; v != nil && v.into != nil {
			v.into.merge = true
		}
	}
}

// settle finds out below which shapes something happens, circles included.
func settle(shapes []*shape) {
	for again := true; again; {
		again = false
		for _, sh := range shapes {
			if (sh.closed || len(sh.inserts) > 0 || sh.alone != nil) && !sh.live {
				sh.live, sh.shown, again = true, true, true
			}
			for i := range sh.edges {
				e := &sh.edges[i]
				live := e.live()
				shown := live || e.value.has(true)
				if live && !sh.live || shown && !sh.shown {
					sh.live, sh.shown = sh.live || live, true
					again = true
				}
			}
		}
	}
}

// has says whether something is planned in the value, opaque kinds included
// or not.
func (v *value) has(opaque bool) bool {
	switch {
	case v == nil:
		return false
	case v.kind != rewrite.None:
		return opaque || !v.kind.Opaque()
	case v.into != nil:
		return v.into.live || opaque && v.into.shown
	}
	return v.key.has(opaque) || v.elem.has(opaque)
}

// live says whether something happens to the field or in it.
func (e *shapeEdge) live() bool {
	return e.latch || e.repeat || !e.change.none() || e.unwrap || e.wrap != 0 || e.guard != nil || e.value.has(false)
}
