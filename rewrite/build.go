package rewrite

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"hmsgate/frame"
)

// Build compiles what was collected.
func (b *Builder) Build() (*Plan, error) {
	if len(b.nodes) >= math.MaxUint16 {
		return nil, errors.New("plan too large: more than 65534 nodes")
	}
	c := &compiler{b: b, p: &Plan{edges: make([]edge, 1), lits: []byte{}}}
	c.live = c.fix(func(a *Action) bool { return a.edits() || a.Do == Name && !a.Kind.Opaque() })
	c.useful = c.fix(func(a *Action) bool { return a.Repeat || a.edits() || a.Do == Name && !a.Kind.Opaque() })
	c.edited = c.fix(func(a *Action) bool { return a.edits() })
	c.place = make([]uint16, len(b.nodes))
	for i := range c.place {
		c.place[i] = none
	}
	for i := range b.roots {
		if err := c.root(&b.roots[i]); err != nil {
			return nil, err
		}
	}
	c.texts()
	for len(c.todo) > 0 {
		id := c.todo[0]
		c.todo = c.todo[1:]
		if err := c.node(id); err != nil {
			return nil, fmt.Errorf("node %s: %w", b.nodes[id].name, err)
		}
	}
	if len(c.p.edges) > math.MaxUint16 || len(c.p.nodes) >= math.MaxUint16 || len(c.p.lits) > math.MaxUint16 {
		return nil, errors.New("plan too large: more than 65535 edges, nodes or literal bytes")
	}
	return c.p, nil
}

// edits says whether the action changes anything that is no name.
func (a *Action) edits() bool {
	return a.Drop || a.Renumber || a.Wrap || a.Unwrap || a.Filter || a.Split || a.Guard > 0 || a.Do == Map
}

type compiler struct {
	b      *Builder
	p      *Plan
	live   []bool // nodes below which names or edits are
	useful []bool // the same, or repeated values
	edited []bool // nodes below which something is edited that is no name
	place  []uint16
	todo   []NodeID
	memos  uint16
}

// fix finds the nodes below which an action holds, circles included.
func (c *compiler) fix(holds func(*Action) bool) []bool {
	in := make([]bool, len(c.b.nodes))
	for i, n := range c.b.nodes {
		in[i] = n.closed || len(n.inserts) > 0
	}
	for again := true; again; {
		again = false
		for i, n := range c.b.nodes {
			for f := range n.fields {
				if !in[i] && c.below(&n.fields[f].act, in, holds) {
					in[i], again = true, true
				}
			}
		}
	}
	return in
}

func (c *compiler) below(a *Action, in []bool, holds func(*Action) bool) bool {
	if a == nil {
		return false
	}
	if holds(a) {
		return true
	}
	switch a.Do {
	case Into:
		return in[a.Node]
	case Each:
		return c.below(a.Elem, in, holds) || c.below(a.Key, in, holds)
	}
	return false
}

// texts takes over what is planned inside of texts.
func (c *compiler) texts() {
	c.p.params = c.b.pars
	for _, p := range c.p.params {
		c.p.longest = max(c.p.longest, len(p.key))
	}
	c.p.keys = make(map[string]key, len(c.b.keys))
	for _, s := range c.b.keys {
		k := key{kind: s.kind, node: none}
		if s.kind == Object {
			if !c.live[s.node] {
				continue
			}
			k.node = c.at(s.node)
		}
		c.p.keys[s.key] = k
	}
}

func (c *compiler) root(r *rootSpec) error {
	o := root{node: none, rename: c.literal([]byte(r.rename)), open: c.literal(r.open), close: c.literal(r.close)}
	o.edits = r.rename != "" || len(r.open)+len(r.close) > 0 || c.edited[r.node]
	if c.live[r.node] {
		o.node = c.at(r.node)
	}
	c.p.roots = append(c.p.roots, o)
	return nil
}

func (c *compiler) literal(b []byte) span {
	s := span{uint16(len(c.p.lits)), uint16(len(b))}
	c.p.lits = append(c.p.lits, b...)
	return s
}

// at is a node's place in the plan, given on first use.
func (c *compiler) at(id NodeID) uint16 {
	if c.place[id] == none {
		c.place[id] = uint16(len(c.p.nodes))
		c.p.nodes = append(c.p.nodes, node{name: uint16(len(c.p.names))})
		c.p.names = append(c.p.names, c.b.nodes[id].name)
		c.todo = append(c.todo, id)
	}
	return c.place[id]
}

func (c *compiler) node(id NodeID) error {
	spec := c.b.nodes[id]
	fields := c.wanted(spec)
	n := node{edge: uint32(len(c.p.edges)), name: c.p.nodes[c.place[id]].name}
	if spec.closed {
		n.flags |= nodeClosed
	}
	if c.edited[id] {
		n.flags |= nodeEdits
	}
	if spec.union && (spec.closed || len(spec.inserts) > 0) {
		return errors.New("nothing may be inserted in or dropped from a union")
	}
	if len(fields) > 0 {
		n.lo = fields[0].id
		if int(fields[len(fields)-1].id)-int(n.lo) > 63 {
			return fmt.Errorf("field ids %d to %d: at most 64 apart", n.lo, fields[len(fields)-1].id)
		}
	}
	groups := group(fields)
	c.p.edges = append(c.p.edges, make([]edge, len(groups))...)
	for i, g := range groups {
		bit := uint(int(g[0].id) - int(n.lo))
		n.mask |= 1 << bit
		at := uint16(0)
		for j := len(g) - 1; j >= 0; j-- { // later meanings hang on earlier ones
			e, err := c.edge(spec, &g[j])
			if err != nil {
				return fmt.Errorf("field %d: %w", g[j].id, err)
			}
			e.alt = at
			if e.kind == Cat && e.flags&edgeRoute != 0 {
				n.flags |= nodeCat
			}
			if j == 0 {
				c.p.edges[int(n.edge)+i] = e
			} else {
				at = c.add(e)
			}
		}
	}
	if err := c.insertAll(&n, spec); err != nil {
		return err
	}
	c.p.nodes[c.place[id]] = n
	return nil
}

// alone says whether an insert of the node looks at all planned fields.
func (n *nodeSpec) alone() bool {
	return slices.ContainsFunc(n.inserts, func(in insertSpec) bool { return in.alone })
}

// wanted are the fields that stay in the plan, in order of id; what an insert
// looks at is kept as well, so that it is seen.
func (c *compiler) wanted(spec *nodeSpec) []fieldSpec {
	var fs []fieldSpec
	has := map[int16]bool{}
	holds := func(a *Action) bool {
		return a.edits() || a.Repeat || a.Latch || a.When != Always || a.Do == Name && !a.Kind.Opaque()
	}
	for _, f := range spec.fields {
		has[f.id] = has[f.id] || spec.closed || spec.alone() || c.below(&f.act, c.useful, holds)
	}
	for _, f := range spec.fields { // all meanings of an id or none: one that is kept is no surprise
		if has[f.id] {
			fs = append(fs, f)
		}
	}
	for _, in := range spec.inserts {
		if !has[in.unless] && !in.alone {
			fs = append(fs, fieldSpec{in.unless, frame.Stop, Action{}})
			has[in.unless] = true
		}
	}
	sort.SliceStable(fs, func(i, j int) bool { return fs[i].id < fs[j].id })
	return fs
}

func group(fs []fieldSpec) [][]fieldSpec {
	var out [][]fieldSpec
	for i, f := range fs {
		if i == 0 || f.id != fs[i-1].id {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], f)
	}
	return out
}

func (c *compiler) insertAll(n *node, spec *nodeSpec) error {
	n.ins = uint16(len(c.p.inserts))
	for _, in := range spec.inserts {
		s := c.literal(in.lit)
		bit := uint8(insertAlone)
		if !in.alone {
			bit = uint8(int(in.unless) - int(n.lo))
		}
		c.p.inserts = append(c.p.inserts, insert{bit, uint32(s.at), s.n})
		n.nins++
	}
	return nil
}

func (c *compiler) add(e edge) uint16 {
	c.p.edges = append(c.p.edges, e)
	return uint16(len(c.p.edges) - 1)
}

func (c *compiler) edge(spec *nodeSpec, f *fieldSpec) (edge, error) {
	e, err := c.action(f.typ, &f.act)
	if err != nil {
		return e, err
	}
	if spec != nil && spec.union && e.flags&edgeDrop != 0 {
		return e, errors.New("nothing may be dropped from a union")
	}
	return e, nil
}

var actionFlags = []struct {
	flag uint16
	on   func(*Action) bool
}{
	{edgeRoute, func(a *Action) bool { return a.Route }},
	{edgeDrop, func(a *Action) bool { return a.Drop }},
	{edgeRenumber, func(a *Action) bool { return a.Renumber }},
	{edgeWrap, func(a *Action) bool { return a.Wrap }},
	{edgeUnwrap, func(a *Action) bool { return a.Unwrap }},
	{edgeFilter, func(a *Action) bool { return a.Filter }},
	{edgeVerdict, func(a *Action) bool { return a.Verdict }},
	{edgeLatch, func(a *Action) bool { return a.Latch }},
	{edgeSplit, func(a *Action) bool { return a.Split }},
	{edgeGuard, func(a *Action) bool { return a.Guard > 0 }},
}

func (c *compiler) action(typ frame.Type, a *Action) (edge, error) {
	e := edge{typ: typ, do: a.Do, kind: a.Kind, when: a.When, id: a.To}
	if err := a.check(typ); err != nil {
		return e, err
	}
	for _, f := range actionFlags {
		if f.on(a) {
			e.flags |= f.flag
		}
	}
	switch {
	case a.Wrap:
		e.arg = uint16(a.Inner)
	case a.Split:
		e.arg = uint16(a.Second)
	case a.Do == Find:
		e.flags &^= edgeGuard
		e.arg, e.next = uint16(a.Guard-1), uint16(len(c.p.words))
		c.p.words = append(c.p.words, c.literal([]byte(a.Word)))
	case a.Guard > 0:
		e.arg, e.next = uint16(a.Guard-1), uint16(a.Test)
	}
	var err error
	switch a.Do {
	case Name:
		if a.Kind.Opaque() || a.Kind == None || a.Kind == Object && !c.live[a.Node] {
			e.do, e.kind = Keep, None
		} else if a.Kind == Object {
			e.next = c.at(a.Node)
		}
	case Into:
		if c.useful[a.Node] {
			e.next = c.at(a.Node)
		} else if a.Unwrap {
			return e, errors.New("unwraps a struct of which nothing is planned")
		} else {
			e.do = Keep
		}
	case Each:
		err = c.each(&e, a)
	case Map:
		e.arg = uint16(len(c.p.tables))
		c.p.tables = append(c.p.tables, span{uint16(len(c.p.enums)), uint16(len(a.Enum))})
		c.p.enums = append(c.p.enums, a.Enum...)
	}
	if a.Repeat && e.do == Keep && c.memos < frame.Memos && !a.Wrap {
		e.flags |= edgeRepeat
		e.arg = c.memos
		c.memos++
	}
	return e, err
}

// check finds what contradicts the wire type or itself.
func (a *Action) check(typ frame.Type) error {
	want := []frame.Type{typ}
	switch a.Do {
	case Name:
		switch want[0] = frame.String; {
		case a.Kind.Number():
			want[0] = frame.I64
		case a.Kind == TableParams:
			want[0] = frame.Map
		}
		if a.Kind.Opaque() || a.Kind == None {
			want[0] = typ // any: it is copied
		}
	case Into:
		want[0] = frame.Struct
	case Map:
		want[0] = frame.I32
	case Each:
		if want = []frame.Type{frame.List, frame.Set, frame.Map}; a.Filter {
			want = want[:2]
		} else if a.Key != nil {
			want = want[2:]
		}
	}
	switch {
	case !slices.Contains(want, typ):
		return fmt.Errorf("%s does not fit a %s", a.what(), frame.TypeName(typ))
	case a.Filter && a.Do != Each:
		return errors.New("filters what is no list")
	case a.Unwrap && a.Do != Into:
		return errors.New("unwraps what is no struct")
	case a.Unwrap && (a.Wrap || a.Renumber):
		return errors.New("an unwrapped struct has no field to wrap or renumber")
	case a.Guard > 64:
		return errors.New("guards are numbered 1 to 64")
	case a.Do == Find && (a.Guard == 0 || typ != frame.Map || a.edits() && (a.Drop || a.Wrap || a.Split)):
		return errors.New("a key is found in a map that is kept, for a guard")
	case a.Guard > 0 && a.Do != Find && (a.Do != Keep || a.Wrap || a.Split || a.Repeat):
		return errors.New("a guarded value is kept or dropped, nothing else")
	case a.Split && (a.Do != Name || a.Kind != DBPart || a.Wrap):
		return errors.New("only a db_part is split")
	case a.Wrap && a.Do == Map:
		return errors.New("an enum is mapped or wrapped, not both")
	case a.Repeat && typ == frame.Stop:
		return errors.New("only values of one wire type can be compared") // equal bytes of another type may be longer
	case a.Verdict && (a.Do != Name || a.Kind.Number() || a.Kind >= SQL):
		return errors.New("a verdict needs a name")
	}
	return nil
}

func (a *Action) what() string {
	switch a.Do {
	case Name:
		return "kind " + a.Kind.String()
	case Map:
		return "an enum table"
	case Into:
		return "a struct's node"
	}
	return "an action for elements"
}

// onField says whether the action changes the field around the value.
func (a *Action) onField() bool {
	return a.Drop || a.Renumber || a.Wrap || a.Unwrap || a.Latch || a.When != Always
}

// each compiles a container's elements; nothing planned below makes it a Keep.
func (c *compiler) each(e *edge, a *Action) error {
	holds := func(a *Action) bool { return a.edits() || a.Repeat || a.Do == Name && !a.Kind.Opaque() }
	sub := func(a *Action) (uint16, error) {
		if a == nil || !c.below(a, c.useful, holds) {
			return 0, nil
		}
		if a.onField() {
			return 0, errors.New("an element is no field: nothing to drop, renumber, wrap, unwrap or latch")
		}
		s, err := c.action(a.typ(), a)
		return c.add(s), err
	}
	var err error
	if e.next, err = sub(a.Elem); err == nil {
		e.key, err = sub(a.Key)
	}
	if e.next == 0 && e.key == 0 && !a.Filter {
		e.do = Keep
	}
	return err
}

// typ is the wire type an element's action holds for.
func (a *Action) typ() frame.Type {
	switch a.Do {
	case Into:
		return frame.Struct
	case Name:
		if a.Kind.Number() {
			return frame.I64
		}
		return frame.String
	case Map:
		return frame.I32
	}
	return a.Type
}
