package profiles

import (
	"fmt"
	"strings"
	"sync"

	"hmsgate/frame"
	"hmsgate/rewrite"
)

// Compile makes the plans for clients that speak front and a backend that
// speaks back: calls are walked with front's fields, replies with back's.
// A method that back lacks keeps front's reply: it is forwarded and its
// answer, most likely UNKNOWN_METHOD, comes back.
func Compile(front, back *Inventory) (*Plans, error) { return CompileFor(front, back, Unsure) }

// CompileFor makes the plans for clients of front "auto" that have shown what
// they are.
func CompileFor(front, back *Inventory, reader Reader) (*Plans, error) {
	r, err := builtin()
	if err != nil {
		return nil, err
	}
	return compile(r, front, back, reader)
}

var auto = sync.OnceValue(func() *Plans {
	u, err := AutoInventory()
	if err != nil {
		panic(err) // compiled-in data that no test would have let through
	}
	p, err := Compile(u, u)
	if err != nil {
		panic(err)
	}
	return p
})

// Auto is the plans of a port and a backend of which no version is known,
// compiled on first use.
func Auto() *Plans { return auto() }

func compile(r *rules, front, back *Inventory, reader Reader) (*Plans, error) {
	invs, err := all()
	if err != nil {
		return nil, err
	}
	invs = append(invs, own(front, back)...)
	p := &Plans{Front: front.Label, Back: back.Label, byName: make(map[string]*MethodPlan, len(front.Methods))}
	calls, replies, err := shapers(r, front, back, reader)
	if err != nil {
		return nil, err
	}
	missing := newShaper(front, nil, r, true)
	br := &bridger{back, calls, replies}
	for _, name := range sortedKeys(front.Methods) {
		m := front.Methods[name]
		mp := &MethodPlan{Row: r.rowOf(m, invs), Gens: generations(name, invs)}
		if mp.call, err = calls.call(m); err != nil {
			return nil, err
		}
		if b := back.Methods[name]; b != nil {
			mp.reply, err = replies.reply(b)
		} else if mp.reply, err = missing.reply(m); err == nil {
			mp.Missing = true
		}
		if err == nil && (mp.Missing || back.Label != AutoLabel) {
			mp.Bridge, err = br.bridge(m)
		}
		if b, t := back.Methods[name], mp.Bridge; b != nil && t != nil && t.Program != nil {
			mp.Formed = t.Program.serves(b, back, replies.reader)
			if !mp.Formed && (t.Program.Form || t.Program.At != nil) {
				mp.Bridge = nil
			}
		}
		if err == nil {
			mp.Fallback, err = r.fallback(front, m)
		}
		mp.call.guards(map[*shape]bool{}, &mp.guards)
		mp.Guarded = mp.guards != 0
		if calls.crossing && mp.Expr {
			mp.Missing, mp.Bridge = true, &Bridge{Never: "a partition expression of another Hive generation"}
		}
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(mp.Answer, "merge-") {
			mp.reply.merges()
		}
		p.byName[name] = mp
	}
	p.reasons = calls.reasons
	for _, name := range p.Methods() {
		p.list = append(p.list, p.byName[name])
	}
	b, err := p.build(calls.order, true)
	if err != nil {
		return nil, fmt.Errorf("%s to %s: calls: %w", front.Label, back.Label, err)
	}
	p.Call = b
	if p.Reply, err = p.build(append(replies.order, missing.order...), false); err != nil {
		return nil, fmt.Errorf("%s to %s: replies: %w", front.Label, back.Label, err)
	}
	return p, nil
}

// shapers makes the shapers of both directions.
func shapers(r *rules, front, back *Inventory, reader Reader) (calls, replies *shaper, err error) {
	to := front
	if label := readerLabels[reader]; front.Label == AutoLabel && label != "" {
		if to, err = Load(label); err != nil {
			return nil, nil, err
		}
	}
	calls, replies = newShaper(front, back, r, false), newShaper(back, to, r, true)
	replies.reader = to
	client := GenerationOf(front.Label)
	if front.Label == AutoLabel {
		client = Gen2 | Gen3 // an unsure client is taken for an old one: never on a guess to 4.x
		if reader == Since4 {
			client = Gen4
		}
	}
	known := back.Label != AutoLabel
	if known {
		calls.back = back.Label
	}
	calls.crossing = known && (GenerationOf(back.Label) == Gen4) != (client == Gen4)
	replies.unsure = known && to.Label == AutoLabel
	calls.old = client != Gen4
	replies.old = known && calls.old
	replies.guess = known && front.Label == AutoLabel && reader != Since4
	return calls, replies, nil
}

// own are the inventories among the two, and of the union among them, that are
// not built in: a site's. The union says nothing about exceptions that its
// parts do not say better.
func own(front, back *Inventory) []*Inventory {
	var out []*Inventory
	for _, inv := range []*Inventory{front, back} {
		out = append(out, inv.parts...)
		if have, err := Load(inv.Label); inv.Label != AutoLabel && (err != nil || have != inv) {
			out = append(out, inv)
		}
	}
	return out
}

// build feeds the shapes of one direction to a builder.
func (p *Plans) build(shapes []*shape, call bool) (*rewrite.Plan, error) {
	settle(shapes)
	b := rewrite.NewBuilder()
	for _, sh := range shapes {
		sh.id = b.Node(sh.name)
		if sh.union {
			b.Union(sh.id)
		}
		if sh.closed {
			b.Closed(sh.id)
		}
		for _, in := range sh.inserts {
			b.Insert(sh.id, in.unless, in.lit)
		}
		if sh.alone != nil {
			b.InsertAlone(sh.id, sh.alone)
		}
	}
	for _, sh := range shapes {
		for i := range sh.edges {
			e := &sh.edges[i]
			if !e.live() && !sh.closed && sh.alone == nil && e.when == rewrite.Always {
				continue
			}
			a := e.value.action(call, sh.merge)
			e.apply(&a)
			a.When, a.Latch = e.when, e.latch
			a.Repeat = e.repeat && !e.value.has(false)
			a.Filter = e.filter && a.Do == rewrite.Each
			b.Field(sh.id, e.id, e.wire, a)
		}
	}
	for _, name := range sortedKeys(p.byName) {
		mp := p.byName[name]
		if call {
			mp.CallRoot = b.Root(mp.call.id)
		} else {
			mp.ReplyRoot = b.Root(mp.reply.id)
		}
		for i := range mp.candidates() {
			c := &mp.Bridge.Candidates[i]
			if !call {
				c.ReplyRoot = b.RootAs(c.reply.id, mp.Method, nil, nil)
				c.FaultRoot = b.RootAs(b.Node("exception"), mp.Method, nil, nil)
				continue
			}
			var open, stop []byte
			if c.open != 0 {
				open, stop = []byte{frame.Struct, byte(c.open >> 8), byte(c.open)}, []byte{frame.Stop}
			}
			c.CallRoot = b.RootAs(c.call.id, c.Call, open, stop)
		}
	}
	if err := planTexts(b, shapes); err != nil {
		return nil, err
	}
	return b.Build()
}

// action is what the plan does with a value. Every name in a call takes part
// in routing; in a merged reply the db decides whether its element stays.
func (v *value) action(call, merge bool) rewrite.Action {
	switch {
	case v == nil || !v.has(false):
		return rewrite.Action{}
	case v.kind != rewrite.None:
		a := rewrite.Action{Do: rewrite.Name, Kind: v.kind, Route: call && v.kind.Routes() && !v.kind.Long(),
			Verdict: merge && v.kind == rewrite.DB}
		if v.object != nil {
			a.Node = v.object.id
		}
		return a
	case v.into != nil:
		return rewrite.Action{Do: rewrite.Into, Node: v.into.id}
	}
	a := rewrite.Action{Do: rewrite.Each, Type: v.wire}
	if v.elem.has(false) {
		e := v.elem.action(call, merge)
		a.Elem = &e
	}
	if v.key.has(false) {
		k := v.key.action(call, merge)
		a.Key = &k
	}
	return a
}
