package profiles

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"hmsgate/frame"
	"hmsgate/rewrite"
)

// Explain writes what is known of one method: its row, and every place of a
// name in its call and reply with path, names, wire type and kind. A struct
// that holds itself is written once ("see Table"). Ids are those of the
// plans' front in the call and of their back in the reply.
//
// A path is the ids from the outside in; [] enters a list, <> a set, {k} and
// {v} the keys and values of a map.
func Explain(w io.Writer, p *Plans, method string) error {
	mp := p.byName[method]
	if mp == nil {
		return fmt.Errorf("no method %q in profile %s", method, p.Front)
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%s\n  front %s, back %s\n", method, p.Front, p.Back)
	for _, line := range mp.Row.lines() {
		fmt.Fprintf(out, "  %s\n", line)
	}
	if f := mp.Fallback; f != nil {
		fmt.Fprintf(out, "  empty answer when the backend does not know it%s\n", map[bool]string{true: ", or fails"}[f.Any])
	}
	if p.Back != AutoLabel {
		p.explainBridge(out, mp)
	}
	for _, d := range []struct {
		name string
		sh   *shape
	}{{"call", mp.call}, {"reply", mp.reply}} {
		t := tree{}
		t.shape(d.sh, "", "")
		if len(t.rows) == 0 {
			fmt.Fprintf(out, "  %s: copied unseen\n", d.name)
			continue
		}
		fmt.Fprintf(out, "  %s:\n", d.name)
		t.write(out)
	}
	return out.Flush()
}

// Kinds are the kinds of names and ids that calls of the method may hold.
func (p *MethodPlan) Kinds() map[rewrite.Kind]bool {
	out := map[rewrite.Kind]bool{}
	seen := map[*shape]bool{}
	var visit func(v *value)
	shapes := func(sh *shape) {
		if sh == nil || seen[sh] {
			return
		}
		seen[sh] = true
		for i := range sh.edges {
			visit(sh.edges[i].value)
		}
	}
	visit = func(v *value) {
		if v == nil {
			return
		}
		if v.kind != rewrite.None {
			out[v.kind] = true
		}
		shapes(v.into)
		visit(v.key)
		visit(v.elem)
	}
	shapes(p.call)
	return out
}

// lines are the row as text, one property or group of them a line.
func (r *Row) lines() []string {
	out := []string{"class " + r.Class.String() + ", where " + r.Where.String()}
	if r.Derived {
		out[0] += ", derived: no row in the rules"
	}
	if f := r.flags(); f != "" {
		out = append(out, f)
	}
	if e := r.exceptions(); e != "" {
		out = append(out, "refused with "+e)
	} else if !r.Oneway {
		out = append(out, "refused with an application exception: no fitting one is declared alike in every version")
	}
	if r.Note != "" {
		out = append(out, "note: "+r.Note)
	}
	return out
}

func (r *Row) flags() string {
	var out []string
	add := func(on bool, s string) {
		if on {
			out = append(out, s)
		}
	}
	add(r.Answer != "", "answer "+r.Answer)
	add(r.Hold, "hold")
	add(r.Replay, "replay")
	add(r.Cache != "", "cache "+r.Cache)
	add(r.Lost != "", "lost "+r.Lost)
	add(r.Oneway, "oneway")
	return strings.Join(out, ", ")
}

func (r *Row) exceptions() string {
	var out []string
	for _, x := range []struct {
		name string
		id   int16
	}{
		{"MetaException", r.Meta},
		{"NoSuchObjectException", r.NoSuchObject},
		{"InvalidOperationException", r.InvalidOperation},
	} {
		if x.id != 0 {
			out = append(out, fmt.Sprintf("%d:%s", x.id, x.name))
		}
	}
	return strings.Join(out, " ")
}

// tree lists the places below a shape.
type tree struct {
	rows  [][4]string // path, names, type, what
	stack []*shape
}

func (t *tree) shape(sh *shape, path, names string) {
	t.stack = append(t.stack, sh)
	for i := range sh.edges {
		e := &sh.edges[i]
		if !e.shown() {
			continue
		}
		p, n := join(path, strconv.Itoa(int(e.id))), join(names, e.name)
		if m := e.marks(); m != "" && (!e.value.has(true) || e.value.into != nil) {
			t.rows = append(t.rows, [4]string{p, n, frame.TypeName(e.wire), strings.TrimPrefix(m, ", ")})
			t.value(e.value, p, n, "")
			continue
		}
		t.value(e.value, p, n, e.marks())
	}
	t.stack = t.stack[:len(t.stack)-1]
}

func (t *tree) value(v *value, path, names, marks string) {
	switch {
	case !v.has(true):
	case v.kind != rewrite.None:
		t.rows = append(t.rows, [4]string{path, names, frame.TypeName(v.wire), kindText(v.kind) + marks})
	case v.into != nil:
		for _, sh := range t.stack {
			if sh == v.into {
				t.rows = append(t.rows, [4]string{path, names, "struct", "see " + sh.name + marks})
				return
			}
		}
		t.shape(v.into, path, names)
	case v.wire == frame.Map:
		t.value(v.key, path+".{k}", names+"{k}", marks)
		t.value(v.elem, path+".{v}", names+"{v}", marks)
	case v.wire == frame.Set:
		t.value(v.elem, path+".<>", names+"<>", marks)
	default:
		t.value(v.elem, path+".[]", names+"[]", marks)
	}
}

func (t *tree) write(w io.Writer) {
	var width [4]int
	for _, r := range t.rows {
		for i, s := range r {
			width[i] = max(width[i], len(s))
		}
	}
	for _, r := range t.rows {
		line := fmt.Sprintf("    %-*s  %-*s  %-*s  %s", width[0], r[0], width[1], r[1], width[2], r[2], r[3])
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "." + b
}

func kindText(k rewrite.Kind) string {
	if k.Opaque() {
		return k.String() + " (passes)"
	}
	return k.String()
}

// shown says whether people want to see the edge.
func (e *shapeEdge) shown() bool { return e.live() || e.value.has(true) }

// marks are what an edge has besides its value.
func (e *shapeEdge) marks() string {
	s := ""
	if e.latch {
		s += ", latch"
	}
	switch e.when {
	case rewrite.IfLatched:
		s += ", if latched"
	case rewrite.UnlessLatched:
		s += ", unless latched"
	}
	if e.filter {
		s += ", filter"
	}
	if e.repeat && !e.value.has(false) {
		s += ", repeat"
	}
	return s + e.change.String()
}

// ExplainAll writes every method as one block: its row on one line, then the
// planned arguments and result by id; the structs that they name follow, once
// each.
func ExplainAll(w io.Writer, p *Plans) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "# front %s, back %s\n", p.Front, p.Back)
	seen := map[string]string{}
	for _, name := range p.Methods() {
		mp := p.byName[name]
		fmt.Fprintf(out, "\n%s: %s\n", name, mp.Row.line())
		block(out, mp.call, "  call   ")
		block(out, mp.reply, "  reply  ")
		collect(mp.call, seen, " (call)")
		collect(mp.reply, seen, " (reply)")
	}
	fmt.Fprintln(out, "\n# structs")
	for _, key := range sortedKeys(seen) {
		name, side, _ := strings.Cut(key, " ")
		switch {
		case side == "(reply)" && seen[name+" (call)"] == seen[key]:
			continue
		case seen[name+" (call)"] == seen[name+" (reply)"]:
			key = name
		}
		fmt.Fprintf(out, "\n%s\n%s", key, seen[name+" "+side])
	}
	return out.Flush()
}

// line is the row on one line.
func (r *Row) line() string {
	out := []string{r.Class.String(), "where " + r.Where.String()}
	for _, s := range []string{r.flags(), r.exceptions(), r.Note} {
		if s != "" {
			out = append(out, s)
		}
	}
	if r.Derived {
		out = append(out, "derived")
	}
	return strings.Join(out, ", ")
}

func block(w io.Writer, sh *shape, prefix string) {
	for i := range sh.edges {
		if e := &sh.edges[i]; e.shown() {
			fmt.Fprintf(w, "%s%s\n", prefix, e)
		}
	}
}

// collect writes the structs below a shape, each once a direction.
func collect(sh *shape, seen map[string]string, side string) {
	var visit func(v *value)
	visit = func(v *value) {
		switch {
		case !v.has(true):
		case v.into != nil:
			key := v.into.name + side
			if _, ok := seen[key]; ok {
				return
			}
			var text bytes.Buffer
			block(&text, v.into, "  ")
			seen[key] = text.String()
			collect(v.into, seen, side)
		default:
			if v.kind == rewrite.None {
				visit(v.key)
				visit(v.elem)
			}
		}
	}
	for i := range sh.edges {
		visit(sh.edges[i].value)
	}
}

func (e *shapeEdge) String() string {
	what := e.value.String()
	if !e.value.has(true) {
		what = frame.TypeName(e.wire)
	}
	return fmt.Sprintf("%d %s %s%s", e.id, e.name, what, e.marks())
}

// String is the value's type with the kinds in it.
func (v *value) String() string {
	switch {
	case !v.has(true):
		return "_"
	case v.kind != rewrite.None:
		return frame.TypeName(v.wire) + " " + kindText(v.kind)
	case v.into != nil:
		return v.into.name
	case v.wire == frame.Map:
		return "map<" + v.key.String() + ", " + v.elem.String() + ">"
	}
	return frame.TypeName(v.wire) + "<" + v.elem.String() + ">"
}
