package profiles

import (
	"bytes"
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
					for _, err := range []error{x.call(), x.bare(), x.reply(), x.exceptions(), x.fault()} {
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
	met         uint64 // guards of the last walk
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
	x.met = k.Guards
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
	if want := x.c.Refuse | x.c.Unless; x.met&want != want {
		return fmt.Errorf("a full call meets guards %b, want %b", x.met, want)
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

// bare: a call that says nothing meets no guard.
func (x *candidateTest) bare() error {
	var args []Field
	for i := range x.m.Args {
		args = append(args, Field{ID: x.m.Args[i].ID, Name: x.m.Args[i].Name, Type: &TypeRef{Wire: frame.Struct, Name: "nothing"}})
		if x.m.Args[i].Type.Wire != frame.Struct {
			return nil
		}
	}
	nothing := *x.front
	nothing.Structs = map[string]*Struct{"nothing": {Name: "nothing"}}
	if _, _, err := x.walk(distinct(&nothing, frame.Call, x.m.Name, args), x.p.Call, x.c.CallRoot); err != nil {
		return err
	}
	if x.met != 0 {
		return fmt.Errorf("an empty call meets guards %b", x.met)
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

// TestServes: a program serves fields that some version lacks, each of them.
func TestServes(t *testing.T) {
	r := mustRules(t)
	for _, method := range sortedKeys(r.bridges) {
		for _, field := range r.bridges[method].Serves {
			found := false
			for _, label := range Labels() {
				p, err := Compile(mustUnion(t), mustLoad(t, label))
				if err != nil {
					t.Fatal(err)
				}
				m := p.byName[method]
				found = found || !m.Missing && m.serves() && slices.ContainsFunc(p.reasons, func(s string) bool {
					return strings.HasPrefix(s, field+": ") && m.guards&m.Bridge.Program.Serves>>maxBridgeGuards>>slices.Index(p.reasons, s)&1 != 0
				})
			}
			if !found {
				t.Errorf("%s serves %s, which nothing guards at any version", method, field)
			}
		}
	}
}

func mustUnion(t *testing.T) *Inventory {
	t.Helper()
	u, err := AutoInventory()
	if err != nil {
		t.Fatal(err)
	}
	return u
}
