package profiles

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hmsgate/frame"
	"hmsgate/rewrite"
)

// Bridge is how a method is served by a backend that lacks it.
type Bridge struct {
	Never      string   // why it cannot be served
	Program    *Program // several calls
	Here       []byte   // the result struct that answers it without a backend
	Why        string   // with Here: why nobody misses more
	Candidates []Candidate
}

// Replaces says whether the bridge serves a backend without the method: a
// program that calls the method itself only helps it.
func (b *Bridge) Replaces(method string) bool {
	if b.Program == nil {
		return b.Never == ""
	}
	for _, call := range b.Program.Calls {
		if call == method {
			return false
		}
	}
	return b.Never == ""
}

// Candidate is one other method that can serve the call.
type Candidate struct {
	Call                string // the method called instead
	CallRoot, ReplyRoot rewrite.RootID
	FaultRoot           rewrite.RootID // of an application exception
	Unless              uint64         // guards (rewrite.Walker.Guards) that send the call to the next candidate
	Refuse              uint64         // guards that refuse it
	Reasons             []string       // by guard, counting from 0
	Lost                []string       // what the backend is not told

	call, reply *shape
	open        int16 // the arguments become fields of this argument; 0: they do not
}

// Reason says why guards that were met refuse a call.
func (c *Candidate) Reason(met uint64) string {
	for i, r := range c.Reasons {
		if met&c.Refuse>>i&1 != 0 {
			return r
		}
	}
	return ""
}

// bridger makes the bridges of one front and back.
type bridger struct {
	back           *Inventory
	calls, replies *shaper
}

// bridge is how a method that back lacks is served there; nil when the rules
// know no way and no reason.
func (b *bridger) bridge(m *Method) (*Bridge, error) {
	t, ok := b.calls.rules.bridges[m.Name]
	if !ok {
		return nil, nil
	}
	out := &Bridge{Why: t.Here}
	switch {
	case t.Program != "" && t.Never != "" && b.back.Methods[m.Name] == nil:
		out.Never = t.Never
		return out, nil
	case t.Program != "":
		out.Program = b.program(m, &t)
	}
	if t.Here != "" {
		var err error
		out.Here, err = b.calls.inv.emptyResult(m)
		return out, err
	}
	for i := range t.Candidates {
		ct := &t.Candidates[i]
		target := b.back.Methods[ct.Call]
		if target == nil {
			continue
		}
		c, err := b.candidate(m, target, ct)
		if err != nil {
			return nil, fmt.Errorf("bridge %s to %s at %s: %w", m.Name, ct.Call, b.back.Label, err)
		}
		out.Candidates = append(out.Candidates, *c)
	}
	if len(out.Candidates) == 0 && out.Program == nil {
		out.Never = t.Never
	}
	if len(out.Candidates) == 0 && out.Never == "" && out.Program == nil {
		return nil, nil
	}
	return out, nil
}

func (b *bridger) candidate(m, target *Method, t *candidateText) (*Candidate, error) {
	c := &Candidate{Call: target.Name, Lost: t.Lost}
	br := &build{b: b, m: m, target: target, c: c}
	if err := br.guards(t); err != nil {
		return nil, err
	}
	for _, to := range sortedKeys(t.Args) {
		if err := br.arg(to, t.Args[to]); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", to, t.Args[to], err)
		}
	}
	var err error
	if c.call, err = br.call(); err != nil {
		return nil, err
	}
	c.reply, err = b.reply(m, target, t.Reply)
	return c, err
}

// build collects the edits of one candidate's call.
type build struct {
	b         *bridger
	m, target *Method
	c         *Candidate
	edges     []argEdge
	inserts   []shapeInsert
}

// argEdge is what becomes of one argument, or field of an argument, of the
// client's call.
type argEdge struct {
	arg, field string // field "" for the argument itself
	toArg      *Field // of the target
	toField    *Field // nil for the argument itself
	part       string // "", "db", "cat" or the name of the field with the catalog
	guard      *shapeGuard
}

// arg takes in one line of args.
func (br *build) arg(to, from string) error {
	e := argEdge{}
	toArg, toField, _ := strings.Cut(to, ".")
	if e.toArg = fieldNamed(br.target.Args, toArg); e.toArg == nil {
		return br.noPlace(from)
	}
	if toField != "" {
		st := br.b.back.Structs[e.toArg.Type.Name]
		if st == nil || st.Field(toField) == nil {
			return nil // a field that this version of the target does not have yet
		}
		e.toField = st.Field(toField)
	}
	if part, rest, ok := strings.Cut(from, " of "); ok {
		e.part, from = part, rest
	}
	from, value, hasValue := strings.Cut(from, "=")
	if cat, db, ok := strings.Cut(from, "@"); ok {
		e.part, from = cat, db
	}
	e.arg, e.field, _ = strings.Cut(from, ".")
	if _, err := br.source(&e); err != nil {
		return err
	}
	br.edges = append(br.edges, e)
	if hasValue {
		return br.value(&e, value)
	}
	return nil
}

// noPlace refuses a call whose field this version of the target has no
// argument for, when the field says something.
func (br *build) noPlace(from string) error {
	e := argEdge{}
	e.arg, e.field, _ = strings.Cut(from, ".")
	src, err := br.source(&e)
	if err != nil {
		return err
	}
	word := "filled"
	switch {
	case src.Type.Wire == frame.Bool:
		word = "true"
	case src.Type.Wire == frame.Struct:
		word = "present"
	case frame.FixedSize(src.Type.Wire) > 0:
		word = "positive"
	}
	return br.guard(from, word+", the backend has no place for it", &br.c.Refuse)
}

// source is the client's argument or field of an edge.
func (br *build) source(e *argEdge) (*Field, error) {
	a := fieldNamed(br.m.Args, e.arg)
	if a == nil {
		return nil, fmt.Errorf("%s has no argument %q", br.m.Name, e.arg)
	}
	if e.field == "" {
		return a, nil
	}
	st := br.b.calls.inv.Structs[a.Type.Name]
	if st == nil || st.Field(e.field) == nil {
		return nil, fmt.Errorf("%s has no field %q", a.Type.Name, e.field)
	}
	return st.Field(e.field), nil
}

// value gives the target's argument a value for when the client's is absent.
func (br *build) value(e *argEdge, text string) error {
	src, err := br.source(e)
	if err != nil {
		return err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return fmt.Errorf("value %q is no integer", text)
	}
	size := frame.FixedSize(e.toArg.Type.Wire)
	lit := []byte{e.toArg.Type.Wire, byte(e.toArg.ID >> 8), byte(e.toArg.ID)}
	for i := size - 1; i >= 0; i-- {
		lit = append(lit, byte(n>>(8*i)))
	}
	br.inserts = append(br.inserts, shapeInsert{unless: src.ID, lit: lit})
	return nil
}

var tests = map[string]rewrite.Test{
	"present": rewrite.Present, "true": rewrite.True, "positive": rewrite.Positive, "filled": rewrite.Filled,
}

// shapeGuard is a guard of a plan: its number and test.
type shapeGuard struct {
	n    uint8
	test rewrite.Test
}

// guards takes in unless and refuse. A field that this front's version does
// not have needs none.
func (br *build) guards(t *candidateText) error {
	for _, g := range []struct {
		texts map[string]string
		mask  *uint64
	}{{t.Unless, &br.c.Unless}, {t.Refuse, &br.c.Refuse}} {
		for _, from := range sortedKeys(g.texts) {
			if err := br.guard(from, g.texts[from], g.mask); err != nil {
				return err
			}
		}
	}
	return nil
}

// guard takes in one guard: "TEST, reason".
func (br *build) guard(from, text string, mask *uint64) error {
	word, reason, _ := strings.Cut(text, ", ")
	test, ok := tests[word]
	if !ok {
		return fmt.Errorf("%s: test %q is none of present, true, positive, filled", from, word)
	}
	e := argEdge{guard: &shapeGuard{uint8(len(br.c.Reasons) + 1), test}}
	e.arg, e.field, _ = strings.Cut(from, ".")
	if _, err := br.source(&e); err != nil {
		if e.field != "" && fieldNamed(br.m.Args, e.arg) != nil {
			return nil
		}
		return err
	}
	if e.guard.n > maxBridgeGuards {
		return errors.New("more guards than a bridge may have")
	}
	br.edges = append(br.edges, e)
	*mask |= 1 << (e.guard.n - 1)
	br.c.Reasons = append(br.c.Reasons, fmt.Sprintf("%s: %s", strings.TrimPrefix(from, e.arg+"."), reason))
	return nil
}

const maxBridgeGuards = 32

// call puts the edges together: arguments that stay arguments, a request
// struct that is unwrapped or becomes another struct, arguments that become
// fields of one.
func (br *build) call() (*shape, error) {
	s := br.b.calls
	sh := s.add(br.m.Name + " as " + br.target.Name)
	sh.closed = true
	inner := map[string]*shape{}
	for i := range br.edges {
		e := &br.edges[i]
		a := fieldNamed(br.m.Args, e.arg)
		to := sh
		if e.field != "" {
			if inner[e.arg] == nil {
				in := s.add(a.Type.Name + " for " + br.target.Name)
				in.closed = true
				inner[e.arg] = in
				sh.edges = append(sh.edges, br.outer(e, a, in))
			}
			to = inner[e.arg]
		}
		if err := br.add(to, e); err != nil {
			return nil, err
		}
	}
	for _, in := range inner {
		in.inserts = br.inserts
		sortEdges(in.edges)
	}
	sortEdges(sh.edges)
	return sh, nil
}

// outer is the edge of an argument whose fields have edges: unwrapped when
// they become arguments, else a struct in another's place.
func (br *build) outer(e *argEdge, a *Field, in *shape) shapeEdge {
	o := shapeEdge{id: a.ID, name: a.Name, wire: frame.Struct, value: &value{into: in, wire: frame.Struct}}
	if !br.intoStruct(e.arg) {
		o.unwrap = true
		return o
	}
	for i := range br.edges {
		if f := &br.edges[i]; f.arg == e.arg && f.toArg != nil && f.toArg.ID != a.ID {
			o.change = change{renumber: true, to: f.toArg.ID}
		}
	}
	return o
}

// intoStruct says whether fields of an argument become fields of another.
func (br *build) intoStruct(arg string) bool {
	return slices.ContainsFunc(br.edges, func(e argEdge) bool { return e.arg == arg && e.field != "" && e.toField != nil })
}

// add puts one edge into a shape.
func (br *build) add(sh *shape, e *argEdge) error {
	src, err := br.source(e)
	if err != nil {
		return err
	}
	o := shapeEdge{id: src.ID, name: src.Name, wire: src.Type.Wire}
	if e.guard != nil {
		o.guard, o.change = e.guard, change{drop: true}
		sh.edges = append(sh.edges, o)
		return nil
	}
	u := br.rule(e, src)
	if o.value, err = br.b.calls.value(src.Type, u); err != nil {
		return err
	}
	to := e.toArg.ID
	switch {
	case e.toField != nil && e.field == "":
		br.c.open, to = e.toArg.ID, e.toField.ID
	case e.toField != nil:
		to = e.toField.ID
	}
	switch e.part {
	case "":
	case "db":
		o.value = &value{kind: rewrite.DBPart, wire: frame.String}
	case "cat":
		return br.split(sh, src, to)
	default:
		o.value = &value{kind: rewrite.AtDB, wire: frame.String}
	}
	if to != src.ID {
		o.change = change{renumber: true, to: to}
	}
	if old := slices.IndexFunc(sh.edges, func(x shapeEdge) bool { return x.id == o.id && x.wire == o.wire }); old >= 0 {
		o.split = sh.edges[old].split // "cat of" came first
		sh.edges = slices.Delete(sh.edges, old, old+1)
	}
	sh.edges = append(sh.edges, o)
	return nil
}

// split notes that the catalog part of an argument becomes field to.
func (br *build) split(sh *shape, src *Field, to int16) error {
	for i := range sh.edges {
		if sh.edges[i].id == src.ID {
			sh.edges[i].split = to
			return nil
		}
	}
	sh.edges = append(sh.edges, shapeEdge{id: src.ID, name: src.Name, wire: src.Type.Wire, split: to,
		value: &value{kind: rewrite.DBPart, wire: frame.String}})
	return nil
}

// rule is what the rules say of the client's argument or field.
func (br *build) rule(e *argEdge, src *Field) rule {
	if e.field == "" {
		return br.b.calls.rules.arg(br.m.Name, src)
	}
	a := fieldNamed(br.m.Args, e.arg)
	return br.b.calls.rules.structs[a.Type.Name][src.Name]
}

func fieldNamed(fields []Field, name string) *Field {
	for i := range fields {
		if fields[i].Name == name {
			return &fields[i]
		}
	}
	return nil
}

func sortEdges(edges []shapeEdge) {
	slices.SortStableFunc(edges, func(a, b shapeEdge) int { return int(a.id) - int(b.id) })
}
