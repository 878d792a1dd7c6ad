package profiles

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
)

// compatBacks are the versions of metastores that people are told about, with
// the names they know them by.
var compatBacks = []struct{ label, name string }{
	{"apache-2.3.10", "2.3.10"}, {"apache-3.1.3", "3.1.3"}, {"hdp-3.1.5.0-152", "HDP 3.1.5"},
	{"apache-4.0.1", "4.0.1"}, {"apache-4.1.0", "4.1.0"}, {"apache-4.2.0", "4.2.0"},
}

// compatReaders are the clients that make a difference to a call: those that
// have not shown to be of 4.x, and those that have.
var compatReaders = []Reader{Unsure, Since4}

// WriteCompatibility writes what becomes of each method at each version of
// metastore, for people.
func WriteCompatibility(w io.Writer) error {
	front, err := AutoInventory()
	if err != nil {
		return err
	}
	var plans [][]*Plans // by back, by reader
	for _, b := range compatBacks {
		back, err := Load(b.label)
		if err != nil {
			return err
		}
		var of []*Plans
		for _, r := range compatReaders {
			p, err := CompileFor(front, back, r)
			if err != nil {
				return err
			}
			of = append(of, p)
		}
		plans = append(plans, of)
	}
	out := bufio.NewWriter(w)
	fmt.Fprint(out, compatHead)
	for _, b := range compatBacks {
		fmt.Fprintf(out, " %s |", b.name)
	}
	fmt.Fprintf(out, "\n|---|%s\n", strings.Repeat("---|", len(compatBacks)))
	same := 0
	for i, m := range plans[0][0].List() {
		cells, differs := compatRow(plans, i)
		if !differs {
			same++
			continue
		}
		fmt.Fprintf(out, "| %s | %s |\n", m.Method, strings.Join(cells, " | "))
	}
	fmt.Fprintf(out, "\n%d more methods are the same everywhere.\n", same)
	compatNotes(out, plans)
	return out.Flush()
}

const compatHead = `# Compatibility

What the gateway does with each method of any client at each version of metastore. Made from the data of package
profiles (go test ./profiles -run Compatibility -update); hmsgate explain METHOD --back LABEL tells more of one.

- *same*: the backend has it; fields that mean something else there are renumbered, mapped or left out.
- *as M*: it becomes a call of M, bytes rewritten as they stream; *as M or N*: the first that fits what the call holds.
- *program*: several calls on the client's own connection make the answer. *program for some*: only where the backend
  would lose something, or where a client may not be able to read its answer.
- *here*: the gateway answers, nothing found, nothing done. *empty*: the same, when the backend says it does not know it.
- *never*: UNKNOWN_METHOD, with the method's name.

Where clients of 4.x fare otherwise than older ones, or than one that has not shown yet what it is, both are given.

## Methods

| method |`

func compatRow(plans [][]*Plans, i int) (cells []string, differs bool) {
	for _, of := range plans {
		old, four := of[0].list[i].outcome(), of[1].list[i].outcome()
		cell := old
		if old != four {
			cell = fmt.Sprintf("%s (4.x clients: %s)", old, four)
		}
		differs = differs || cell != "same"
		cells = append(cells, cell)
	}
	return cells, differs
}

// outcome is what becomes of the method, in a few words.
func (p *MethodPlan) outcome() string {
	b := p.Bridge
	switch {
	case !p.Missing && p.serves():
		return "program for some"
	case !p.Missing:
		return "same"
	case b == nil && p.Fallback != nil:
		return "empty"
	case b == nil, b.Never != "":
		return "never"
	case b.Here != nil:
		return "here"
	case b.Program != nil:
		return "program"
	}
	var names []string
	for i := range b.Candidates {
		names = append(names, b.Candidates[i].Call)
	}
	return "as " + strings.Join(names, " or ")
}

// compatNotes writes what is lost and refused, and why nothing else can be.
func compatNotes(out io.Writer, plans [][]*Plans) {
	section := func(title, text string, notes func(*Plans, *MethodPlan) []string) {
		fmt.Fprintf(out, "\n## %s\n\n%s\n\n", title, text)
		at := map[string][]string{} // line -> names of backs
		var lines []string
		for i, of := range plans {
			for _, m := range of[1].list {
				for _, n := range notes(of[1], m) {
					line := "- " + m.Method + n
					if at[line] == nil {
						lines = append(lines, line)
					}
					at[line] = append(at[line], compatBacks[i].name)
				}
			}
		}
		slices.Sort(lines)
		for _, line := range lines {
			fmt.Fprintf(out, "%s (%s)\n", line, strings.Join(at[line], ", "))
		}
	}
	section("Lost", "What such a backend is not told, since it has no place for it and nobody misses it.", lostNotes)
	section("Refused", "With MetaException where the method declares it, naming what would be lost: \"M cannot be served by the "+
		"version\nof catalog 'C': FIELD: REASON\".", refusedNotes)
	section("Never, and why", "", func(_ *Plans, m *MethodPlan) []string {
		if m.Missing && m.Bridge != nil && m.Bridge.Never != "" {
			return []string{": " + m.Bridge.Never}
		}
		return nil
	})
}

func lostNotes(_ *Plans, m *MethodPlan) (out []string) {
	if !m.Missing || m.Bridge == nil {
		return nil
	}
	for i := range m.Bridge.Candidates {
		if c := &m.Bridge.Candidates[i]; len(c.Lost) > 0 {
			out = append(out, fmt.Sprintf(" as %s: %s", c.Call, strings.Join(c.Lost, ", ")))
		}
	}
	if p := m.Bridge.Program; p != nil && len(p.Lost) > 0 {
		out = append(out, ": "+strings.Join(p.Lost, ", "))
	}
	return out
}

func refusedNotes(p *Plans, m *MethodPlan) (out []string) {
	if m.Missing && m.Bridge != nil {
		for i := range m.Bridge.Candidates {
			c := &m.Bridge.Candidates[i]
			for n, r := range c.Reasons {
				if c.Refuse>>n&1 != 0 {
					out = append(out, fmt.Sprintf(" as %s: %s", c.Call, r))
				}
			}
		}
		return out
	}
	if m.Missing {
		return nil
	}
	met := m.guards
	if b := m.Bridge; b != nil && b.Program != nil {
		met &^= b.Program.Serves
	}
	for i, r := range p.reasons {
		if met>>(maxBridgeGuards+i)&1 != 0 {
			out = append(out, ": "+r)
		}
	}
	return out
}

// guards collects the guards in the shape and below it.
func (sh *shape) guards(seen map[*shape]bool, met *uint64) {
	if seen[sh] {
		return
	}
	seen[sh] = true
	for i := range sh.edges {
		if g := sh.edges[i].guard; g != nil {
			*met |= 1 << (g.n - 1)
		}
		sh.edges[i].value.guards(seen, met)
	}
}

func (v *value) guards(seen map[*shape]bool, met *uint64) {
	if v == nil {
		return
	}
	if v.into != nil {
		v.into.guards(seen, met)
	}
	v.key.guards(seen, met)
	v.elem.guards(seen, met)
}
