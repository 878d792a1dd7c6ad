package rewrite

import (
	"bytes"
	"errors"
	"math/rand"
	"testing"

	"hmsgate/frame"
	"hmsgate/internal/wiretest"
)

var allTypes = []frame.Type{frame.Bool, frame.Byte, frame.Double, frame.I16, frame.I32, frame.I64, frame.String, frame.String,
	frame.Struct, frame.Struct, frame.List, frame.List, frame.Set, frame.Map}

// someBody is a random struct, of a shape that random plans have something
// to say about.
func someBody(r *rand.Rand, depth int) st {
	s := st{}
	for _, id := range r.Perm(8)[:r.Intn(8)] {
		t := allTypes[r.Intn(len(allTypes))]
		s = s.Field(t, int16(id), someValue(r, t, depth+1))
	}
	return s
}

func someValue(r *rand.Rand, t frame.Type, depth int) []byte {
	elem := func() frame.Type {
		if depth > 5 {
			return frame.Byte
		}
		return allTypes[r.Intn(len(allTypes))]
	}
	n := r.Intn(4)
	switch t {
	case frame.String:
		words := []string{"", "a", "hidden", "db.t:5:4:3:", "a_rather_long_name_of_a_database"}
		return text(words[r.Intn(len(words))])
	case frame.Struct:
		if depth > 5 {
			return st{}.Stop()
		}
		return someBody(r, depth).Stop()
	case frame.List, frame.Set:
		e := elem()
		b := be.AppendUint32([]byte{e}, uint32(n))
		for range n {
			b = append(b, someValue(r, e, depth+1)...)
		}
		return b
	case frame.Map:
		k, v := elem(), elem()
		b := be.AppendUint32([]byte{k, v}, uint32(n))
		for range n {
			b = append(b, someValue(r, k, depth+1)...)
			b = append(b, someValue(r, v, depth+1)...)
		}
		return b
	}
	b := make([]byte, frame.FixedSize(t))
	b[len(b)-1] = byte(r.Intn(5))
	return b
}

// somePlan fills a builder with random nodes. namesOnly: nothing but names
// and ids, which can be undone.
func somePlan(r *rand.Rand, namesOnly bool) (*Builder, RootID) {
	b := NewBuilder()
	nodes := make([]NodeID, 1+r.Intn(4))
	for i := range nodes {
		nodes[i] = b.Node(string(rune('A' + i)))
	}
	for _, n := range nodes {
		for range r.Intn(60) {
			t := allTypes[r.Intn(len(allTypes))]
			a := someAction(r, t, nodes, namesOnly, 0)
			b.Field(n, int16(r.Intn(8)), t, a)
		}
		if namesOnly {
			continue
		}
		if r.Intn(10) == 0 {
			b.Closed(n)
		}
		if r.Intn(4) == 0 {
			b.Insert(n, int16(r.Intn(8)), st{}.I32(int16(r.Intn(8)+10), 1))
		}
	}
	if r.Intn(2) == 0 || namesOnly {
		return b, b.Root(nodes[0])
	}
	return b, b.RootAs(nodes[0], "renamed", nil, nil)
}

func someAction(r *rand.Rand, t frame.Type, nodes []NodeID, namesOnly bool, depth int) (a Action) {
	one := func(n int) bool { return !namesOnly && r.Intn(n) == 0 }
	switch t {
	case frame.String:
		a = Action{Do: Name, Kind: []Kind{DB, DBAt, Cat, TableFull, WriteIDs, WriteIDsMulti, SQL}[r.Intn(7)]}
		a.Verdict = one(3) && !a.Kind.Long()
	case frame.I64:
		a = Action{Do: Name, Kind: LockID + Kind(r.Intn(4))}
	case frame.I32:
		if one(2) {
			a = Action{Do: Map, Enum: []EnumPair{{1, 9}, {2, 8}}}
		}
	case frame.Struct:
		a = Action{Do: Into, Node: nodes[r.Intn(len(nodes))]}
		if r.Intn(5) == 0 {
			a = Action{Repeat: true}
		}
	case frame.List, frame.Set, frame.Map:
		a = Action{Do: Each, Type: t}
		sub := func() *Action {
			et := allTypes[r.Intn(len(allTypes))]
			e := someAction(r, et, nodes, namesOnly, depth+1)
			if e.Do == Keep {
				e = Action{Do: Name, Kind: DB, Verdict: one(2)}
			}
			return &e
		}
		if depth < 2 {
			a.Elem = sub()
			if t == frame.Map {
				a.Key = sub()
			}
		}
		a.Filter = t != frame.Map && one(3)
	}
	if depth > 0 {
		return a
	}
	switch {
	case one(8):
		a.Drop = true
		a.Verdict = false
	case one(8) && a.Do != Map:
		a.Wrap, a.Inner = true, int16(r.Intn(3))
	case one(4) && a.Do == Into:
		a.Unwrap = true
	case one(8):
		a.Renumber, a.To = true, int16(r.Intn(9)-1)
	}
	if one(10) {
		a.Latch = true
	}
	if one(8) {
		a.When = When(1 + r.Intn(2))
	}
	return a
}

// against walks a body under a plan in pieces and compares with the oracle.
// It says whether the plan changed the body.
func against(t *testing.T, b *Builder, root RootID, body []byte, r *rand.Rand) bool {
	t.Helper()
	p, err := b.Build()
	if err != nil {
		return false // contradicts itself: an unwrapped struct of which nothing is planned
	}
	in := wiretest.Envelope("m", wiretest.TypeReply, 5, body)
	names := &side{add: "x_", id: 1 << 48, hide: []string{"hidden"}}
	got := emit(wiretest.RandomChunks(in, r.Int63(), 1+r.Intn(300)), p, root, names, r.Intn(2) == 0)
	rd := &treeReader{b: body}
	tr := rd.value(frame.Struct, 0)
	if rd.twin || rd.long {
		return false
	}
	if rd.bad || len(rd.b) > 0 {
		if got.err == nil && rd.bad && !errors.Is(parses(in), nil) {
			t.Fatalf("accepted what nobody reads: % x", body)
		}
		return false
	}
	if got.err != nil {
		t.Fatalf("got %v\n% x", got.err, body)
	}
	o := &oracle{b: b, n: names}
	want := &tree{t: frame.Struct, fields: o.body(b.roots[root].node, tr.fields)}
	method := "m"
	if b.roots[root].rename != "" {
		method = b.roots[root].rename
	}
	msg := wiretest.Envelope(method, wiretest.TypeReply, 5, want.append(nil))
	if !bytes.Equal(got.out, msg) {
		var plan bytes.Buffer
		if err := p.Write(&plan, root); err != nil {
			t.Fatal(err)
		}
		t.Fatalf("%s\nin   % x\ngot  % x\nwant % x", plan.String(), body, got.out, msg)
	}
	if err := parses(got.out); err != nil {
		t.Fatalf("apache/thrift cannot read the output: %v\n% x", err, got.out)
	}
	return !bytes.Equal(body, want.append(nil))
}

func TestWalkAgainstOracle(t *testing.T) {
	runs := int64(6000)
	if testing.Short() {
		runs = 1500
	}
	changed, at := 0, int64(0)
	defer func() { t.Logf("last seed %d", at) }()
	for seed := range runs {
		at = seed
		r := rand.New(rand.NewSource(seed))
		b, root := somePlan(r, false)
		if against(t, b, root, someBody(r, 0).Stop(), r) {
			changed++
		}
	}
	t.Logf("%d of %d messages changed", changed, runs)
	if changed < int(runs)/10 {
		t.Fatalf("only %d of %d messages changed", changed, runs)
	}
}

// FuzzWalk: any bytes under any plan. No panic, no more memory than a name
// may need, only planned fields differ, apache/thrift reads what comes out.
func FuzzWalk(f *testing.F) {
	for seed := range int64(20) {
		f.Add(seed, []byte(someBody(rand.New(rand.NewSource(seed)), 0).Stop()))
	}
	f.Add(int64(3), []byte{frame.List, 0, 1, frame.Struct, 0x7f, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, seed int64, body []byte) {
		if len(body) > 1<<14 {
			return
		}
		r := rand.New(rand.NewSource(seed))
		b, root := somePlan(r, false)
		against(t, b, root, body, r)
		p, err := b.Build()
		if err != nil {
			return
		}
		budget := frame.NewBudget(0)
		w := frame.NewWindow(wiretest.RandomChunks(wiretest.Envelope("m", 1, 5, body), seed, 100), budget)
		var k Walker
		var facts Facts
		w.Start(int64(len(body)+13), 0)
		if _, err := w.Header(false); err == nil {
			_ = k.Gather(w, p, root, &facts)
		}
		if budget.Used() > 0 {
			t.Fatalf("%d bytes held for %d received", budget.Used(), len(body))
		}
	})
}

// What a random plan of names changes, its opposite changes back.
func TestThereAndBack(t *testing.T) {
	to, back := &side{add: "x_", id: 1 << 48}, &side{cut: "x_", id: 1 << 48}
	changed := 0
	for seed := range int64(1500) {
		r := rand.New(rand.NewSource(seed))
		b, root := somePlan(r, true)
		p, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		in := call(someBody(r, 0))
		out := emit(wiretest.RandomChunks(in, seed, 50), p, root, to, false)
		if out.err != nil {
			t.Fatalf("seed %d: %v", seed, out.err)
		}
		if !bytes.Equal(in, out.out) {
			changed++
		}
		home := emit(wiretest.RandomChunks(out.out, seed, 50), p, root, back, true)
		if home.err != nil || !bytes.Equal(home.out, in) {
			t.Fatalf("seed %d: err %v\nin   % x\nout  % x\nback % x", seed, home.err, in, out.out, home.out)
		}
	}
	if changed < 300 {
		t.Fatalf("only %d of 1500 messages changed", changed)
	}
}
