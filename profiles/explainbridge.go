package profiles

import (
	"fmt"
	"io"
	"strings"
)

// explainBridge writes how a known backend serves the method: as it is, what
// would be refused, or the bridge with its edits.
func (p *Plans) explainBridge(out io.Writer, mp *MethodPlan) {
	fmt.Fprintf(out, "  at this backend: %s\n", mp.outcome())
	b := mp.Bridge
	if !mp.Missing {
		for _, n := range refusedNotes(p, mp) {
			fmt.Fprintf(out, "    refused%s\n", n)
		}
		if mp.serves() {
			b.Program.explain(out)
		}
		return
	}
	switch {
	case b == nil:
	case b.Never != "":
		fmt.Fprintf(out, "    since: %s\n", b.Never)
	case b.Here != nil:
		fmt.Fprintf(out, "    since: %s\n", b.Why)
	case b.Program != nil:
		b.Program.explain(out)
	default:
		for i := range b.Candidates {
			b.Candidates[i].explain(out)
		}
	}
}

func (p *Program) explain(out io.Writer) {
	fmt.Fprintf(out, "    program %s\n", p.Name)
	for _, part := range sortedKeys(p.Calls) {
		fmt.Fprintf(out, "      %s: %s\n", part, p.Calls[part])
	}
	if len(p.Lost) > 0 {
		fmt.Fprintf(out, "      not told: %s\n", strings.Join(p.Lost, ", "))
	}
}

func (c *Candidate) explain(out io.Writer) {
	fmt.Fprintf(out, "    as %s\n", c.Call)
	for n, r := range c.Reasons {
		switch {
		case c.Unless>>n&1 != 0:
			fmt.Fprintf(out, "      not with %s\n", strings.TrimSuffix(r, ": "))
		case c.Refuse>>n&1 != 0:
			fmt.Fprintf(out, "      refused: %s\n", r)
		}
	}
	if len(c.Lost) > 0 {
		fmt.Fprintf(out, "      not told: %s\n", strings.Join(c.Lost, ", "))
	}
	if c.open != 0 {
		fmt.Fprintf(out, "      arguments become fields of %d\n", c.open)
	}
	for _, d := range []struct {
		name string
		sh   *shape
	}{{"call", c.call}, {"reply", c.reply}} {
		fmt.Fprintf(out, "      %s:\n", d.name)
		d.sh.explainEdits(out, "        ", 0)
		if d.sh.alone != nil {
			fmt.Fprintf(out, "        0 inserted: an empty struct\n")
		}
	}
}

// explainEdits writes what happens to the fields of a candidate's shape: one
// that is not written is copied, or left out where the shape is closed.
func (sh *shape) explainEdits(out io.Writer, indent string, depth int) {
	for i := range sh.edges {
		e := &sh.edges[i]
		var what []string
		if e.unwrap {
			what = append(what, "unwrapped")
		}
		if e.wrap != 0 {
			what = append(what, fmt.Sprintf("wrapped, as field %d of a struct", e.wrap))
		}
		if e.split != 0 {
			what = append(what, fmt.Sprintf("its catalog becomes field %d", e.split))
		}
		if e.value != nil && e.value.kind != 0 {
			what = append(what, e.value.kind.String())
		}
		switch {
		case e.guard != nil:
			what = append(what, "looked at, left out")
		case e.change.renumber:
			what = append(what, fmt.Sprintf("becomes %d", e.change.to))
		case e.change.drop:
			what = append(what, "left out")
		case len(what) == 0:
			what = append(what, "stays")
		}
		fmt.Fprintf(out, "%s%d %s: %s\n", indent, e.id, e.name, strings.Join(what, ", "))
		if v := e.value; depth == 0 && v != nil && v.into != nil && v.into.closed {
			v.into.explainEdits(out, indent+"  ", depth+1)
		}
	}
	for _, in := range sh.inserts {
		fmt.Fprintf(out, "%sinserted unless %d is there: %d bytes\n", indent, in.unless, len(in.lit))
	}
	if sh.closed {
		fmt.Fprintf(out, "%sanything else is left out\n", indent)
	}
}
