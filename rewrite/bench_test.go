package rewrite

import (
	"bytes"
	"fmt"
	"testing"
)

// Benchmark measures whole messages through a window, from a reader in memory
// to a sink that counts: skip, rewrite, with repeated columns, with columns
// that never repeat, and two baselines.
func Benchmark(b *testing.B) {
	plain, repeated := newWarehouse(false), newWarehouse(true)
	for _, size := range []int{100 << 10, 1 << 20, 10 << 20} {
		msg, never := partitions(size, -1), partitions(size, 29)
		bench(b, "skip", msg, plain.plan, plain.none, nil)
		bench(b, "rewrite", msg, plain.plan, plain.partitions, prefix{})
		bench(b, "repeated", msg, repeated.plan, repeated.partitions, prefix{})
		bench(b, "never-repeated", never, repeated.plan, repeated.partitions, prefix{})
		baseline(b, msg)
	}
	for _, msg := range [][]byte{smallReply(), tableReply(), namesReply(20_000)} {
		root := plain.table
		if !bytes.Contains(msg[:20], []byte("get_table")) {
			root = plain.names
		}
		bench(b, "skip", msg, plain.plan, plain.none, nil)
		bench(b, "rewrite", msg, plain.plan, root, prefix{})
		baseline(b, msg)
	}
}

func title(what string, msg []byte) string { return fmt.Sprintf("%s/%dB", what, len(msg)) }

func bench(b *testing.B, what string, msg []byte, plan *Plan, r RootID, n Names) {
	b.Run(title(what, msg), func(b *testing.B) {
		p := newPipe()
		b.SetBytes(int64(len(msg)))
		b.ReportAllocs()
		for b.Loop() {
			if err := p.send(msg, plan, r, n); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func baseline(b *testing.B, msg []byte) {
	to := make([]byte, len(msg))
	b.Run(title("memmove", msg), func(b *testing.B) {
		b.SetBytes(int64(len(msg)))
		for b.Loop() {
			copy(to, msg)
		}
	})
	b.Run(title("reference-skip", msg), func(b *testing.B) {
		b.SetBytes(int64(len(msg)))
		for b.Loop() {
			if yardSkip(msg) != len(msg) {
				b.Fatal("not skipped")
			}
		}
	})
	b.Run(title("token-copy", msg), func(b *testing.B) {
		var s counted
		b.SetBytes(int64(len(msg)))
		b.ReportAllocs()
		for b.Loop() {
			if err := tokenCopy(bytes.NewReader(msg), &s); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkCall is the life of a small call: gather, rewind, emit.
func BenchmarkCall(b *testing.B) {
	bd := NewBuilder()
	args := bd.Node("get_table args")
	bd.Field(args, 1, 11, db)
	root := bd.Root(args)
	plan, err := bd.Build()
	if err != nil {
		b.Fatal(err)
	}
	msg := call(st{}.String(1, "sales_analytics").String(2, "orders_fact"))
	p, f := newPipe(), &Facts{}
	b.SetBytes(int64(len(msg)))
	b.ReportAllocs()
	for b.Loop() {
		if err := p.call(msg, f, plan, root, prefix{}); err != nil {
			b.Fatal(err)
		}
	}
}
