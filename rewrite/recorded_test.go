package rewrite

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"hmsgate/frame"
	"hmsgate/internal/wiretest"
)

// anywhere plans every string and list of strings, in any struct, as a name:
// no interface, but every shape that real peers send.
func anywhere(t *testing.T) (*Plan, RootID) {
	return build(t, func(b *Builder, n NodeID) {
		into := Action{Do: Into, Node: n}
		for id := int16(-1); id < 40; id++ {
			b.Field(n, id, frame.String, db)
			b.Field(n, id, frame.Struct, into)
			elem := into
			if id%2 == 0 {
				elem = db
			}
			b.Field(n, id, frame.List, Action{Do: Each, Elem: &elem})
			b.Field(n, id, frame.Map, Action{Do: Each, Key: &db, Elem: &elem})
			b.Field(n, id, frame.Set, Action{Do: Each, Elem: &db})
		}
	})
}

// recorded are the messages of real clients and servers, one of each method,
// direction and rough size.
func recorded(t *testing.T) (msgs []wiretest.Message) {
	have := map[string]bool{}
	for _, rec := range wiretest.Recordings(t) {
		for _, c := range rec.Conns {
			calls, _ := wiretest.Messages(c.Client)
			replies, _ := wiretest.Messages(c.Server)
			for _, m := range append(calls, replies...) {
				key := fmt.Sprint(m.Method, m.Type, len(m.Bytes)/512)
				if !have[key] {
					have[key] = true
					msgs = append(msgs, m)
				}
			}
		}
	}
	if len(msgs) < 100 {
		t.Fatalf("only %d recorded messages", len(msgs))
	}
	return msgs
}

// Every recorded message: renamed out and back it is the same, nothing is
// left over, apache/thrift reads what is sent.
func TestRecordedThereAndBack(t *testing.T) {
	p, r := anywhere(t)
	to, back := &side{add: "x_"}, &side{cut: "x_"}
	for i, m := range recorded(t) {
		out := emit(wiretest.RandomChunks(m.Bytes, int64(i), 1+i*7%900), p, r, to, i%2 == 0)
		if out.err != nil {
			t.Fatalf("%s: %v", m.Method, out.err)
		}
		if err := parses(out.out); err != nil {
			t.Fatalf("%s: apache/thrift cannot read the output: %v", m.Method, err)
		}
		home := emit(bytes.NewReader(out.out), p, r, back, i%2 == 1)
		if home.err != nil || !bytes.Equal(home.out, m.Bytes) {
			t.Fatalf("%s: err %v, %d bytes, want %d", m.Method, home.err, len(home.out), len(m.Bytes))
		}
	}
}

// Every recorded message, cut at every byte (a sample of places in long
// ones), gives the same output.
func TestRecordedEverySplit(t *testing.T) {
	p, r := anywhere(t)
	to := &side{add: "x_"}
	for i, m := range recorded(t) {
		if testing.Short() && i%10 != 0 {
			continue
		}
		want := emit(bytes.NewReader(m.Bytes), p, r, to, false)
		step := 1
		if len(m.Bytes) > 4<<10 {
			step = len(m.Bytes)/20 + 1
		}
		try := func(how string, src io.Reader) {
			if got := emit(src, p, r, to, false); got.err != nil || !bytes.Equal(got.out, want.out) {
				t.Fatalf("%s %s: err %v\ngot  %s\nwant %s", m.Method, how, got.err, clip(got.out), clip(want.out))
			}
		}
		for cut := 1; cut < len(m.Bytes); cut += step {
			try(fmt.Sprintf("cut at %d", cut), wiretest.Chunks(m.Bytes, cut))
		}
		if len(m.Bytes) <= 4<<10 {
			try("bytewise", wiretest.OneByte(m.Bytes))
		}
		try("in frames", frame.NewFrameReader(wiretest.RandomChunks(wiretest.Framed(m.Bytes), 1, 50), 0))
	}
}

// Facts of every recorded call lie inside the message and are what stands there.
func TestRecordedFacts(t *testing.T) {
	p, r := anywhere(t)
	found := 0
	for _, m := range recorded(t) {
		if m.Type != wiretest.TypeCall {
			continue
		}
		var k Walker
		var f Facts
		w := frame.NewWindow(bytes.NewReader(m.Bytes), nil)
		w.Start(0, 1<<20)
		if _, err := w.Header(false); err != nil {
			t.Fatal(err)
		}
		if err := k.Gather(w, p, r, &f); err != nil {
			has(t, err, ErrElement) // a list the made-up plan takes for another
			continue
		}
		if w.Pos() != int64(len(m.Bytes)) {
			t.Fatalf("%s: gathered %d of %d bytes", m.Method, w.Pos(), len(m.Bytes))
		}
		for _, o := range f.List() {
			if n := int(be.Uint32(m.Bytes[o.Off-4:])); n != o.Len || !bytes.Equal(w.At(o.Off, o.Len), m.Bytes[o.Off:o.Off+o.Len]) {
				t.Fatalf("%s: fact %+v, its length on the wire %d", m.Method, o, n)
			}
			found++
		}
	}
	if found < 50 {
		t.Fatalf("only %d facts", found)
	}
}
