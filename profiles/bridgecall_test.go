package profiles

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"hmsgate/frame"
	"hmsgate/rewrite"
)

// fronts are the versions whose every candidate is walked.
var fronts = []string{"apache-2.3.10", "apache-3.1.3", "apache-4.0.0", "apache-4.0.1", "apache-4.1.0", "apache-4.2.0",
	"hdp-3.1.5.0-152",
	"apache-master-2026"}

// TestEveryCandidate: a call with every field set, of every method that some
// version lacks, becomes the call of each candidate with each value where the
// rules say; and a full reply of that becomes one of the method's, exceptions
// under the ids that it declares.
func TestEveryCandidate(t *testing.T) {
	walked := map[string]bool{}
	for _, f := range fronts {
		for _, label := range Labels() {
			front, back := mustLoad(t, f), mustLoad(t, label)
			p, err := Compile(front, back)
			if err != nil {
				t.Fatal(err)
			}
			for _, mp := range p.List() {
				if !mp.Missing {
					continue
				}
				for i := range mp.candidates() {
					c := &mp.Bridge.Candidates[i]
					x := &candidateTest{front: front, back: back, p: p, c: c, m: front.Methods[mp.Method],
						target: back.Methods[c.Call], text: candidateOf(t, mp.Method, c.Call)}
					walked[mp.Method+" as "+c.Call] = true
					for _, err := range []error{x.call(), x.reply(), x.exceptions(), x.fault()} {
						if err != nil {
							t.Errorf("%s at %s: %s as %s: %v", f, label, mp.Method, c.Call, err)
						}
					}
				}
			}
		}
	}
	for name, b := range mustRules(t).bridges {
		for i := range b.Candidates {
			if s := name + " as " + b.Candidates[i].Call; !walked[s] && !elderly[name] {
				t.Errorf("%s: no pair of versions needs it", s)
			}
		}
	}
	if len(walked) < 30 {
		t.Errorf("%d candidates walked, want at least 30", len(walked))
	}
}

// elderly are methods that every inventory has and metastores before 2.3 have
// not: their bridges serve what says UNKNOWN_METHOD.
var elderly = map[string]bool{"get_table_req": true}

func candidateOf(t *testing.T, method, target string) *candidateText {
	t.Helper()
	b := mustRules(t).bridges[method]
	at := slices.IndexFunc(b.Candidates, func(c candidateText) bool { return c.Call == target })
	if at < 0 {
		t.Fatalf("%s: no candidate %s in the rules", method, target)
	}
	return &b.Candidates[at]
}

type candidateTest struct {
	front, back *Inventory
	p           *Plans
	c           *Candidate
	m, target   *Method
	text        *candidateText
}

// catNames writes catalogs into names and takes them out, as routes do.
type catNames struct{ recorder }

func (*catNames) Append(dst []byte, k rewrite.Kind, v []byte) ([]byte, error) {
	cat, db, ok := strings.Cut(strings.TrimPrefix(string(v), "@"), "#")
	switch {
	case k == rewrite.AtDB:
		return append(append(dst, "@cat#"...), v...), nil
	case k == rewrite.DBPart && ok:
		return append(dst, db...), nil
	case k == rewrite.CatPart:
		if !ok {
			cat = ""
		}
		return append(dst, cat...), nil
	}
	return append(dst, v...), nil
}

func (*catNames) Rewrites(rewrite.Kind) bool { return false }

func (x *candidateTest) walk(msg []byte, p *rewrite.Plan, root rewrite.RootID) (string, map[int16]any, error) {
	w := frame.NewWindow(bytes.NewReader(msg), nil)
	w.Start(0, 0)
	var k rewrite.Walker
	var out sink
	w.Emit(&out, false)
	err := k.Emit(w, p, root, &catNames{})
	if err == nil {
		err = w.End()
	}
	w.Release()
	if err != nil {
		return "", nil, err
	}
	method, fields, err := decoded(out.Bytes())
	return method, fields, err
}

func (x *candidateTest) call() error {
	in := distinct(x.front, frame.Call, x.m.Name, x.m.Args)
	_, from, err := decoded(in)
	if err != nil {
		return err
	}
	method, to, err := x.walk(in, x.p.Call, x.c.CallRoot)
	if err != nil {
		return err
	}
	if method != x.target.Name {
		return fmt.Errorf("is sent as %s", method)
	}
	if err := fits(x.back, x.target.Name, x.target.Args, to, true); err != nil {
		return err
	}
	for place, source := range x.text.Args {
		got, known := lookup(x.back, x.target.Args, to, place)
		source, _, _ = strings.Cut(source, "=")
		part, rest, ok := strings.Cut(source, " of ")
		if !ok {
			part, rest = "", source
		}
		_, db, at := strings.Cut(rest, "@")
		if at {
			rest = db
		}
		want, there := lookup(x.front, x.m.Args, from, rest)
		if !known || !there {
			continue // a version without it, or one that refuses what it says
		}
		if s, ok := want.(string); ok {
			c, d, _ := strings.Cut(strings.TrimPrefix(s, "@"), "#")
			switch {
			case at:
				want = "@cat#" + s
			case part == "db":
				want = d
			case part == "cat":
				want = c
			}
		}
		if !reflect.DeepEqual(got, want) && !grown(got, want) {
			return fmt.Errorf("%s is %v, want %v from %s", place, got, want, source)
		}
	}
	return nil
}

// grown accepts a struct of which the backend's version lacks fields, or that
// became another one: its fields are compared one by one.
func grown(got, want any) bool {
	_, a := got.(map[int16]any)
	_, b := want.(map[int16]any)
	_, c := got.([]any)
	return a && b || c
}

func (x *candidateTest) reply() error {
	var fields []Field
	if x.target.Returns != nil {
		fields = []Field{{ID: 0, Name: "success", Type: x.target.Returns}}
	}
	in := distinct(x.back, frame.Reply, x.target.Name, fields)
	_, from, err := decoded(in)
	if err != nil {
		return err
	}
	method, to, err := x.walk(in, x.p.Reply, x.c.ReplyRoot)
	if err != nil {
		return err
	}
	if method != x.m.Name {
		return fmt.Errorf("reply is called %s", method)
	}
	want := from[0]
	how, field, _ := strings.Cut(x.text.Reply, " ")
	got := to[0]
	switch how {
	case "void":
		if got != nil {
			return fmt.Errorf("reply %v, want none", got)
		}
		return nil
	case "empty":
		want = map[int16]any{}
	case "wrap":
		in, _ := got.(map[int16]any)
		got = in[x.front.Structs[x.m.Returns.Name].Field(field).ID]
	case "unwrap":
		in, _ := want.(map[int16]any)
		want = in[x.back.Structs[x.target.Returns.Name].Field(field).ID]
	}
	if !reflect.DeepEqual(got, want) && !grown(got, want) || (got == nil) != (want == nil) {
		return fmt.Errorf("reply is %v, want %v", got, want)
	}
	if x.m.Returns == nil {
		return nil
	}
	return fits(x.front, x.m.Name, []Field{{ID: 0, Name: "success", Type: x.m.Returns}}, to, false)
}

// exceptions: each that the target declares has the id of its type in the
// method, else that of MetaException.
func (x *candidateTest) exceptions() error {
	for i := range x.target.Throws {
		e := &x.target.Throws[i]
		in := distinct(x.back, frame.Reply, x.target.Name, []Field{*e})
		_, to, err := x.walk(in, x.p.Reply, x.c.ReplyRoot)
		if err != nil {
			return err
		}
		want := int16(0)
		for j := range x.m.Throws {
			if d := &x.m.Throws[j]; d.Type.Name == e.Type.Name || want == 0 && d.Type.Name == "MetaException" {
				want = d.ID
			}
		}
		if len(to) != 1 || to[want] == nil && want != 0 {
			return fmt.Errorf("%s arrives as %v, want field %d", e.Type.Name, to, want)
		}
	}
	return nil
}

func (x *candidateTest) fault() error {
	in := frame.AppendFault(nil, x.target.Name, 7, frame.InternalError, "text")
	method, to, err := x.walk(in, x.p.Reply, x.c.FaultRoot)
	if err == nil && (method != x.m.Name || to[1] != "text") {
		err = fmt.Errorf("a fault arrives as %s %v", method, to)
	}
	return err
}

// distinct is a message with every field set, strings by their place.
func distinct(inv *Inventory, t frame.MessageType, method string, fields []Field) []byte {
	g := &distinctly{inv: inv}
	g.out = frame.AppendHeader(nil, t, method, 7)
	g.fields(method, fields)
	return g.out
}

type distinctly struct {
	inv   *Inventory
	out   []byte
	stack []string
	n     byte
}

func (g *distinctly) fields(owner string, fields []Field) {
	for i := range fields {
		f := &fields[i]
		g.out = append(g.out, f.Type.Wire, byte(f.ID>>8), byte(f.ID))
		g.value(f.Type, owner+"."+f.Name)
	}
	g.out = append(g.out, frame.Stop)
}

func (g *distinctly) value(t *TypeRef, place string) {
	switch t.Wire {
	case frame.String:
		if strings.HasSuffix(strings.ToLower(place), "dbname") || strings.HasSuffix(place, "db_name") {
			place = "@c#" + place
		}
		g.out = append(binary.BigEndian.AppendUint32(g.out, uint32(len(place))), place...)
	case frame.Struct:
		fields := g.inv.Structs[t.Name].Fields
		if slices.Contains(g.stack, t.Name) {
			fields = nil
		}
		if g.inv.Structs[t.Name].Kind == Union && len(fields) > 0 {
			fields = fields[:1]
		}
		g.stack = append(g.stack, t.Name)
		g.fields(t.Name, fields)
		g.stack = g.stack[:len(g.stack)-1]
	case frame.List, frame.Set:
		g.out = append(g.out, t.Elem.Wire, 0, 0, 0, 1)
		g.value(t.Elem, place)
	case frame.Map:
		g.out = append(g.out, t.Key.Wire, t.Elem.Wire, 0, 0, 0, 1)
		g.value(t.Key, place)
		g.value(t.Elem, place)
	default:
		g.n = g.n%100 + 1
		b := make([]byte, frame.FixedSize(t.Wire))
		b[len(b)-1] = g.n
		if t.Wire == frame.Bool {
			b[0] = 1
		}
		g.out = append(g.out, b...)
	}
}

// decoded reads a message by its wire types alone.
func decoded(msg []byte) (method string, fields map[int16]any, err error) {
	n := int(binary.BigEndian.Uint32(msg[4:]))
	d := &wireReader{b: msg[12+n:]}
	fields = d.fields()
	if len(d.b) != 0 || d.bad {
		return "", nil, fmt.Errorf("message does not end where it should: %d bytes are left", len(d.b))
	}
	return string(msg[8 : 8+n]), fields, nil
}

type wireReader struct {
	b   []byte
	bad bool
}

func (d *wireReader) take(n int) []byte {
	if n < 0 || n > len(d.b) {
		d.bad, d.b = true, nil
		return make([]byte, max(n, 8)%(1<<16))
	}
	v := d.b[:n]
	d.b = d.b[n:]
	return v
}

func (d *wireReader) fields() map[int16]any {
	out := map[int16]any{}
	for {
		t := d.take(1)[0]
		if t == frame.Stop || d.bad {
			return out
		}
		id := int16(binary.BigEndian.Uint16(d.take(2)))
		if _, twice := out[id]; twice {
			d.bad = true
		}
		out[id] = d.value(t)
	}
}

func (d *wireReader) value(t frame.Type) any {
	switch t {
	case frame.Struct:
		return d.fields()
	case frame.String:
		return string(d.take(int(binary.BigEndian.Uint32(d.take(4)))))
	case frame.List, frame.Set:
		elem := d.take(1)[0]
		out := []any{}
		for range binary.BigEndian.Uint32(d.take(4)) {
			out = append(out, d.value(elem))
		}
		return out
	case frame.Map:
		kv := d.take(2)
		out := []any{}
		for range binary.BigEndian.Uint32(d.take(4)) {
			out = append(out, d.value(kv[0]), d.value(kv[1]))
		}
		return out
	}
	return fmt.Sprintf("%x", d.take(frame.FixedSize(t)))
}

// fits says whether fields are such as an inventory has: at the top all are
// known (closed) and the required ones are there, all the way down.
func fits(inv *Inventory, owner string, fields []Field, got map[int16]any, closed bool) error {
	for id := range got {
		if closed && !slices.ContainsFunc(fields, func(f Field) bool { return f.ID == id }) {
			return fmt.Errorf("%s has no field %d", owner, id)
		}
	}
	for i := range fields {
		f := &fields[i]
		v, ok := got[f.ID]
		if !ok && f.Req == Required {
			return fmt.Errorf("%s.%s is required and absent", owner, f.Name)
		}
		if !ok {
			continue
		}
		if err := fitsType(inv, owner+"."+f.Name, f.Type, v); err != nil {
			return err
		}
	}
	return nil
}

func fitsType(inv *Inventory, place string, t *TypeRef, v any) error {
	switch x := v.(type) {
	case map[int16]any:
		if t.Wire != frame.Struct {
			return fmt.Errorf("%s is a struct, want %s", place, t)
		}
		if len(x) == 0 {
			return nil // a struct inside of itself
		}
		return fits(inv, t.Name, inv.Structs[t.Name].Fields, x, false)
	case []any:
		if t.Wire == frame.Map {
			return nil
		}
		if t.Wire != frame.List && t.Wire != frame.Set {
			return fmt.Errorf("%s is a list, want %s", place, t)
		}
		for _, e := range x {
			if err := fitsType(inv, place, t.Elem, e); err != nil {
				return err
			}
		}
	case string:
		if n := frame.FixedSize(t.Wire); n > 0 && len(x) != 2*n || t.Wire == frame.Struct || t.Wire == frame.List {
			return fmt.Errorf("%s is %q, want %s", place, x, t)
		}
	}
	return nil
}

// lookup finds ARG or ARG.FIELD.
func lookup(inv *Inventory, args []Field, in map[int16]any, place string) (any, bool) {
	arg, field, nested := strings.Cut(place, ".")
	a := fieldNamed(args, arg)
	if a == nil {
		return nil, false
	}
	v, ok := in[a.ID]
	if !nested {
		return v, ok
	}
	st := inv.Structs[a.Type.Name]
	if st == nil || st.Field(field) == nil {
		return nil, false
	}
	m, _ := v.(map[int16]any)
	v, ok = m[st.Field(field).ID]
	return v, ok
}
