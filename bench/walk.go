package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"

	"github.com/apache/thrift/lib/go/thrift"

	"hmsgate/frame"
	"hmsgate/profiles"
	"hmsgate/rewrite"
	"hmsgate/route"
)

// In memory: what walking a reply costs, without sockets and without a second process.

// A walked is one reply and the ways it is moved.
type walked struct {
	name   string
	method string
	msg    []byte
}

func walkedOf(l load) walked { return walked{l.name, l.method, makeReply(l).appendHead(nil, 1)} }

func walkedReplies() []walked {
	var ws []walked
	for _, l := range loads {
		ws = append(ws, walkedOf(l))
	}
	const n = 4600
	var e enc
	e.head("get_partitions", kindReply, 1)
	e.field(tList, 0)
	e.list(tStruct, n)
	for k := range n {
		partitionOf(&e, k, 30*k, "orders_10m")
	}
	e.stop()
	return append(ws, walked{"the same, no two partitions with equal columns", "get_partitions", e.b})
}

// binding is the names of a call for the catalog apache.
func binding(method *profiles.MethodPlan) (*route.Binding, error) {
	t, err := route.New(route.Config{
		Default: "hdp", Separator: "__", PreserveBackendCatalog: true,
		Catalogs: []route.CatalogConfig{{Name: "hdp", URIs: []string{"thrift://127.0.0.1:1"}}, {Name: "apache", URIs: []string{"thrift://127.0.0.1:1"}}},
	})
	if err != nil {
		return nil, err
	}
	b := &route.Binding{}
	b.Reset(t, nil)
	b.Add(rewrite.DBAt, []byte(renamed))
	if _, refusal := b.Route(&method.Row); refusal != nil {
		return nil, fmt.Errorf("%s: %v", method.Method, refusal)
	}
	return b, nil
}

// A counter is a sink that keeps nothing.
type counter struct{ n int64 }

func (c *counter) Write(p []byte) (int, error) { c.n += int64(len(p)); return len(p), nil }
func (c *counter) End() error                  { return nil }

// A way moves a reply once.
type way struct {
	name string
	once func() error
}

// ways gives all of them, and the sink of those that have one.
func (m walked) ways() ([]way, *counter, error) {
	plans := profiles.Auto()
	method := plans.Method([]byte(m.method))
	b, err := binding(method)
	if err != nil {
		return nil, nil, err
	}
	out := &counter{}
	src := bytes.NewReader(m.msg)
	w := frame.NewWindow(src, nil)
	var k rewrite.Walker
	pass := func(names rewrite.Names) func() error {
		return func() error {
			src.Reset(m.msg)
			w.Reset(src, nil)
			w.Start(0, 0)
			w.Emit(out, false)
			if err := k.Emit(w, plans.Reply, method.ReplyRoot, names); err != nil {
				return err
			}
			err := w.End()
			w.Release()
			return err
		}
	}
	skip := func() error {
		src.Reset(m.msg)
		w.Reset(src, nil)
		w.Start(0, 0)
		w.Emit(out, false)
		if _, err := w.Header(true); err != nil {
			return err
		}
		if err := w.Skip(frame.Struct, 0); err != nil {
			return err
		}
		err := w.End()
		w.Release()
		return err
	}
	return []way{{"skip", skip}, {"rename", pass(b.Reply())}, {"token copy", m.tokenCopy()}}, out, nil
}

// tokenCopy is how a Thrift proxy without structs is usually made: each value read and written through TProtocol.
func (m walked) tokenCopy() func() error {
	ctx := context.Background()
	src := bytes.NewReader(m.msg)
	conf := &thrift.TConfiguration{}
	in := thrift.NewTBinaryProtocolConf(thrift.NewTBufferedTransport(&thrift.StreamTransport{Reader: src, Writer: io.Discard}, 64<<10), conf)
	out := thrift.NewTBinaryProtocolConf(thrift.NewTBufferedTransport(thrift.NewStreamTransportW(io.Discard), 64<<10), conf)
	return func() error {
		src.Reset(m.msg)
		name, kind, seq, err := in.ReadMessageBegin(ctx)
		if err == nil {
			err = out.WriteMessageBegin(ctx, name, kind, seq)
		}
		if err == nil {
			err = (&copier{ctx, in, out}).value(thrift.STRUCT)
		}
		if err == nil {
			err = out.Flush(ctx)
		}
		return err
	}
}

type figure struct{ ns, allocs float64 }

// timed is the least processor time of several takes within about dur, and the allocations of one message. It
// counts the thread's own time, so that strangers on the machine do not show.
func timed(f func() error, dur time.Duration) (figure, error) {
	const takes = 5
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for range 3 {
		if err := f(); err != nil {
			return figure{}, err
		}
	}
	best := figure{ns: 1e18}
	for range takes {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		n, at, cpu := 0, time.Now(), threadCPU()
		for time.Since(at) < dur/takes {
			for range 8 {
				if err := f(); err != nil {
					return figure{}, err
				}
				n++
			}
		}
		took := threadCPU() - cpu
		runtime.ReadMemStats(&after)
		best.ns = min(best.ns, float64(took.Nanoseconds())/float64(n))
		best.allocs = float64((after.Mallocs - before.Mallocs) / uint64(n))
	}
	return best, nil
}

// walkTable measures all replies all ways, dur each, and prints them.
func walkTable(b *strings.Builder, dur time.Duration) error {
	b.WriteString("\n## In memory, one core\n\n\"skip\" finds the message's end, \"rename\" is what the gateway does in the other catalog, \"token copy\" reads and writes\n" +
		"each value through apache/thrift.\n\n")
	b.WriteString("| reply | skip | rename | token copy | rename of token copy | allocations of rename |\n|---|--:|--:|--:|--:|--:|\n")
	for _, m := range walkedReplies() {
		ways, _, err := m.ways()
		if err != nil {
			return err
		}
		figures := make([]figure, len(ways))
		for i, x := range ways {
			if figures[i], err = timed(x.once, dur); err != nil {
				return fmt.Errorf("%s, %s: %w", m.name, x.name, err)
			}
		}
		fmt.Fprintf(b, "| %s |", m.name)
		for _, f := range figures {
			if f.ns < 10_000 {
				fmt.Fprintf(b, " %.0f ns |", f.ns)
			} else {
				fmt.Fprintf(b, " %.2f GB/s |", float64(len(m.msg))/f.ns)
			}
		}
		fmt.Fprintf(b, " %.1f | %.0f |\n", figures[2].ns/figures[1].ns, figures[1].allocs)
	}
	return nil
}
