package route

import (
	"runtime"
	"testing"

	"hmsgate/rewrite"
)

// script is the names of a few calls and of their replies.
var script = [][]val{
	{db("apache__sales")},
	{db("@hive#sales"), cat("hive")},
	{db("sales"), cat("apache")},
	{{rewrite.TableFull, "apache__sales.t"}, {rewrite.WriteIDsMulti, "7$apache__sales.t:1:2::$apache__crm.u:1:2::"}},
	{{rewrite.PatternAt, "@hive#my_*|apache__c*"}},
	{db("hdp__a"), db("b"), db("_dummy_database")},
}

type bytesVal struct {
	k rewrite.Kind
	v []byte
}

func replay(t testing.TB, tbl *Table, b *Binding, calls [][]bytesVal, dst []byte) []byte {
	for _, call := range calls {
		b.Reset(tbl, nil)
		for _, v := range call {
			b.Add(v.k, v.v)
		}
		c, r := b.Route(readRow)
		if r != nil {
			t.Fatal(r)
		}
		n := b.Call(true)
		for _, v := range call {
			if v.k == rewrite.PatternAt {
				n, _ = b.ForCatalog(c, true)
			}
			var err error
			if dst, err = n.Append(dst[:0], v.k, v.v); err != nil {
				t.Fatal(err)
			}
		}
		n = b.Reply()
		for _, v := range call {
			dst, _ = n.Append(dst[:0], v.k, v.v)
		}
	}
	return dst
}

func bytesOf(script [][]val) (out [][]bytesVal) {
	for _, call := range script {
		var vs []bytesVal
		for _, v := range call {
			vs = append(vs, bytesVal{v.k, []byte(v.v)})
		}
		out = append(out, vs)
	}
	return out
}

func TestNoAllocations(t *testing.T) {
	tbl := fixture(t, three)
	calls := bytesOf(script)
	var b Binding
	dst := replay(t, tbl, &b, calls, make([]byte, 0, 1024))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	rounds := 20_000/len(calls) + 1
	for range rounds {
		dst = replay(t, tbl, &b, calls, dst)
	}
	runtime.ReadMemStats(&after)
	if n := after.Mallocs - before.Mallocs; n > 20 {
		t.Errorf("%d allocations in %d calls, want none (20 are allowed to the runtime)", n, rounds*len(calls))
	}
}

// A call with very many names must not leave a big buffer with an idle session.
func TestScratchIsBounded(t *testing.T) {
	tbl := fixture(t, nil)
	var b Binding
	b.Reset(tbl, nil)
	for i := range 100_000 {
		b.Add(rewrite.TableFull, []byte{'a', 'p', 'a', 'c', 'h', 'e', '_', '_', byte('a' + i%26),
			byte('a' + i/26%26), byte('a' + i/676%26), '.', 't'})
	}
	if n := len(b.spelled); n > maxSpellings {
		t.Errorf("%d spellings kept, want at most %d", n, maxSpellings)
	}
	b.Add(rewrite.DB, append([]byte("hdp__"), make([]byte, 1<<20)...))
	b.Reset(tbl, nil)
	if n := cap(b.scratch); n > keepScratch {
		t.Errorf("%d bytes kept over Reset, want at most %d", n, keepScratch)
	}
}

func BenchmarkCall(b *testing.B) {
	for _, bb := range []struct {
		name string
		call []val
	}{
		{"bare", []val{db("sales")}},
		{"prefix", []val{db("apache__sales")}},
		{"at", []val{db("@hive#apache__sales"), cat("hive")}},
		{"catName", []val{db("sales"), cat("apache")}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			tbl := fixture(b, three)
			calls := bytesOf([][]val{bb.call})
			var bind Binding
			dst := make([]byte, 0, 1024)
			b.ReportAllocs()
			for b.Loop() {
				dst = replay(b, tbl, &bind, calls, dst)
			}
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	tbl := fixture(b, three)
	bind := gather(tbl, nil, db("apache__sales"))
	if _, r := bind.Route(readRow); r != nil {
		b.Fatal(r)
	}
	for _, bb := range []struct {
		name string
		n    rewrite.Names
		v    string
	}{
		{"call", bind.Call(true), "apache__sales"},
		{"reply", bind.Reply(), "sales"},
		{"reply computed", bind.Reply(), "other"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			v, dst := []byte(bb.v), make([]byte, 0, 64)
			b.ReportAllocs()
			for b.Loop() {
				dst, _ = bb.n.Append(dst[:0], rewrite.DB, v)
			}
		})
	}
}
