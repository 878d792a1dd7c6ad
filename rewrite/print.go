package rewrite

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"hmsgate/frame"
)

// Roots is the number of entry points of the plan.
func (p *Plan) Roots() int { return len(p.roots) }

// Nodes is the number of structs of which anything is planned.
func (p *Plan) Nodes() int { return len(p.nodes) }

// NodeName is the name that Builder.Node gave node n.
func (p *Plan) NodeName(n int) string { return p.names[p.nodes[n].name] }

// Reach lists the nodes that a walk from root r can come to, the root's own
// first, in the order in which their fields name them.
func (p *Plan) Reach(r RootID) []int {
	var order []int
	seen := make([]bool, len(p.nodes))
	var edgeOf func(at uint16)
	visit := func(n uint16) {
		if n != none && !seen[n] {
			seen[n] = true
			order = append(order, int(n))
		}
	}
	edgeOf = func(at uint16) {
		switch e := &p.edges[at]; e.do {
		case Into:
			visit(e.next)
		case Each:
			edgeOf(e.key)
			edgeOf(e.next)
		}
	}
	visit(p.roots[r].node)
	for i := 0; i < len(order); i++ {
		for _, at := range p.fields(order[i]) {
			for ; at != 0; at = p.edges[at].alt {
				edgeOf(at)
			}
		}
	}
	return order
}

// fields lists the first edge of each planned field of node n, by id.
func (p *Plan) fields(n int) []uint16 {
	var at []uint16
	next := uint16(p.nodes[n].edge)
	for m := p.nodes[n].mask; m != 0; m &= m - 1 {
		at = append(at, next)
		next++
	}
	return at
}

// Write prints root r and the nodes it reaches.
func (p *Plan) Write(w io.Writer, r RootID) error {
	if err := p.WriteRoot(w, r); err != nil {
		return err
	}
	for _, n := range p.Reach(r) {
		if err := p.WriteNode(w, n); err != nil {
			return err
		}
	}
	return nil
}

// WriteRoot prints what happens around the body of root r: one line.
func (p *Plan) WriteRoot(w io.Writer, r RootID) error {
	o := &p.roots[r]
	var s strings.Builder
	fmt.Fprintf(&s, "root %d:", r)
	if o.rename.n > 0 {
		fmt.Fprintf(&s, " method becomes %s,", p.lit(o.rename))
	}
	if o.open.n > 0 {
		fmt.Fprintf(&s, " opens with % x,", p.lit(o.open))
	}
	if o.close.n > 0 {
		fmt.Fprintf(&s, " closes with % x,", p.lit(o.close))
	}
	if o.node == none {
		s.WriteString(" body copied unseen\n")
	} else {
		fmt.Fprintf(&s, " body is %s\n", p.NodeName(int(o.node)))
	}
	_, err := io.WriteString(w, s.String())
	return err
}

// WriteNode prints node n: its name, a line for each meaning of each planned
// field in order of id, then its inserts.
//
//	Table
//	  2 string: name db, route
//	  16 struct: into CreationMetadata
//	  22 i32, if latched: keep, renumber 24
//	  unless 7: insert 02 00 07 00
func (p *Plan) WriteNode(w io.Writer, n int) error {
	o := &p.nodes[n]
	var b bytes.Buffer
	b.WriteString(p.NodeName(n))
	if o.flags&nodeClosed != 0 {
		b.WriteString(" (closed: other fields are dropped)")
	}
	b.WriteByte('\n')
	id := int(o.lo)
	mask := o.mask
	for _, at := range p.fields(n) {
		for ; mask&1 == 0; mask >>= 1 {
			id++
		}
		for ; at != 0; at = p.edges[at].alt {
			fmt.Fprintf(&b, "  %d ", id)
			p.writeEdge(&b, &p.edges[at])
			b.WriteByte('\n')
		}
		mask >>= 1
		id++
	}
	for _, in := range p.inserts[o.ins : o.ins+uint16(o.nins)] {
		fmt.Fprintf(&b, "  unless %d: insert % x\n", int(o.lo)+int(in.bit), p.lits[in.at:in.at+uint32(in.n)])
	}
	_, err := w.Write(b.Bytes())
	return err
}

var printedFlags = []struct {
	flag uint16
	text string
}{
	{edgeRoute, "route"}, {edgeVerdict, "verdict"}, {edgeFilter, "filter"}, {edgeLatch, "latch"},
	{edgeRepeat, "repeat"}, {edgeDrop, "drop"}, {edgeUnwrap, "unwrap"},
}

// writeEdge prints "string: name db, route".
func (p *Plan) writeEdge(b *bytes.Buffer, e *edge) {
	if e.typ == frame.Stop {
		b.WriteString("any")
	} else {
		b.WriteString(frame.TypeName(e.typ))
	}
	switch e.when {
	case IfLatched:
		b.WriteString(", if latched")
	case UnlessLatched:
		b.WriteString(", unless latched")
	}
	b.WriteString(": ")
	switch e.do {
	case Keep:
		b.WriteString("keep")
	case Name:
		b.WriteString("name " + e.kind.String())
	case Into:
		b.WriteString("into " + p.NodeName(int(e.next)))
	case Each:
		p.writeEach(b, e)
	case Map:
		b.WriteString("enum")
		s := p.tables[e.arg]
		for _, m := range p.enums[s.at : s.at+s.n] {
			fmt.Fprintf(b, " %d>%d", m.From, m.To)
		}
	}
	for _, f := range printedFlags {
		if e.flags&f.flag != 0 {
			b.WriteString(", " + f.text)
		}
	}
	if e.flags&edgeRenumber != 0 {
		fmt.Fprintf(b, ", renumber %d", e.id)
	}
	if e.flags&edgeWrap != 0 {
		fmt.Fprintf(b, ", wrap as %d", int16(e.arg))
	}
}

func (p *Plan) writeEach(b *bytes.Buffer, e *edge) {
	b.WriteString("each (")
	if e.key != 0 {
		b.WriteString("key ")
		p.writeEdge(b, &p.edges[e.key])
		if e.next != 0 {
			b.WriteString("; ")
		}
	}
	if e.next != 0 {
		p.writeEdge(b, &p.edges[e.next])
	}
	b.WriteByte(')')
}
