//go:build !race

package rewrite

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"testing"

	"hmsgate/frame"
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

// spent reports processor time, which other load on the machine changes less
// than the wall clock.
func spent(b *testing.B, bytes int, f func() error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	b.SetBytes(int64(bytes))
	b.ReportAllocs()
	at := clock()
	for b.Loop() {
		if err := f(); err != nil {
			b.Fatal(err)
		}
	}
	ns := float64(clock()-at) / float64(b.N)
	b.ReportMetric(ns, "cpu-ns/op")
	b.ReportMetric(float64(bytes)/ns, "cpu-GB/s")
}

func bench(b *testing.B, what string, msg []byte, plan *Plan, r RootID, n Names) {
	b.Run(title(what, msg), func(b *testing.B) {
		p := newPipe()
		spent(b, len(msg), func() error { return p.send(msg, plan, r, n) })
	})
}

func baseline(b *testing.B, msg []byte) {
	to := make([]byte, len(msg))
	b.Run(title("memmove", msg), func(b *testing.B) {
		spent(b, len(msg), func() error { copy(to, msg); return nil })
	})
	b.Run(title("reference-skip", msg), func(b *testing.B) {
		spent(b, len(msg), func() error {
			if yardSkip(msg) != len(msg) {
				return io.ErrUnexpectedEOF
			}
			return nil
		})
	})
	b.Run(title("token-copy", msg), func(b *testing.B) {
		var s counted
		spent(b, len(msg), func() error { return tokenCopy(bytes.NewReader(msg), &s) })
	})
}

// BenchmarkCall is the life of a small call: gather, rewind, emit.
func BenchmarkCall(b *testing.B) {
	bd := NewBuilder()
	args := bd.Node("get_table args")
	bd.Field(args, 1, frame.String, db)
	root := bd.Root(args)
	plan, err := bd.Build()
	if err != nil {
		b.Fatal(err)
	}
	msg := call(st{}.String(1, "sales_analytics").String(2, "orders_fact"))
	p, f := newPipe(), &Facts{}
	spent(b, len(msg), func() error { return p.call(msg, f, plan, root, prefix{}) })
}
