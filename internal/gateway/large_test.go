package gateway

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"hmsgate/internal/wiretest"
)

// manyNames is get_partitions_by_names of so many names, and its result.
func manyNames(db string, n int) (args, result []byte) {
	names := make([]string, n)
	parts := make([][]byte, n)
	for i := range names {
		names[i] = fmt.Sprintf("ds=2026-11-30/hr=%06d", i)
		parts[i] = fields().Strings(1, "2026-11-30", names[i][17:]).String(2, db).String(3, "p").Stop()
	}
	return fields().String(1, db).String(2, "p").Strings(3, names...).Stop(), fields().List(0, wiretest.WireStruct, parts...).Stop()
}

// L40 (trino 12525, 12527, spark 48337): names of all partitions of a large
// table in one call. Neither it nor its reply is held.
func TestManyPartitionNames(t *testing.T) {
	n := 300_000
	if testing.Short() || sweepRace {
		n = 100_000
	}
	args, result := manyNames("apache__sales", n)
	backArgs, backResult := manyNames("sales", n)
	gate := wiretest.NewGate()
	b := wiretest.NewBackend(t, wiretest.Script(wiretest.Stall(gate),
		wiretest.ExpectBytes(wiretest.Call("get_partitions_by_names", 7, backArgs)), wiretest.Answer(backResult), wiretest.ExpectClose()))
	g := sweepGateway(t, fmt.Sprintf("listen: 127.0.0.1:0\nrouting.default-catalog: hdp\ncatalog:\n"+
		"  hdp: {uris: 'thrift://127.0.0.1:1'}\n  apache: {uris: thrift://%s, runtime-profile: apache-3.1.3}\n", b.Addr()), func(g *Gateway) {
		g.health = nil // the script knows no probes
	})
	held := func(when string) {
		t.Helper()
		if got := g.budget.Used(); got > 1<<20 {
			t.Errorf("%s: %d bytes are held", when, got)
		}
	}
	for _, cat := range g.table.Catalogs() {
		for _, u := range cat.Backend().URIs() {
			u.SetProfile("apache-3.1.3")
		}
	}
	c := dialGateway(t, g)
	sent := make(chan error, 1)
	go func() {
		_, err := c.Write(wiretest.Call("get_partitions_by_names", 7, args))
		sent <- err
	}()
	<-gate.Reached()
	wiretest.Until(t, "the call to be on its way", func() bool { return g.inFlight.Load() == 1 })
	held("while the metastore does not read")
	gate.Open()
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	want := wiretest.Reply("get_partitions_by_names", 7, result)
	got := make([]byte, 0, len(want))
	for buf := make([]byte, 1<<20); len(got) < len(want); {
		k, err := c.Read(buf)
		if err != nil {
			t.Fatalf("after %d of %d bytes: %v", len(got), len(want), err)
		}
		got = append(got, buf[:k]...)
		held("while the client reads")
	}
	if !bytes.Equal(got, want) {
		t.Error(sweepSame("the reply", got, want))
	}
}

// L40: what is too long is refused by the limit's name, and in a way that no
// client takes as a reason to send it again.
func TestCallOverTheLimitNamesIt(t *testing.T) {
	b := wiretest.NewBackend(t).Others(wiretest.ExpectBroken())
	g, _ := newGateway(t, b.Addr(), "limits.call-bytes: 1MB")
	g.health = nil // the script knows no probes
	g.table.Default().Backend().URIs()[0].SetProfile("apache-3.1.3")
	begin(t, g)
	args, _ := manyNames("sales", 100_000)
	c := dialGateway(t, g)
	go c.Write(wiretest.Call("get_partitions_by_names", 7, args))
	m, err := readMessage(c)
	if err != nil || m.Type != wiretest.TypeReply || m.Bytes[m.Body+2] != 1 || // MetaException
		!bytes.Contains(m.Bytes, []byte("limits.call-bytes")) || !bytes.Contains(m.Bytes, []byte("1048576")) {
		t.Errorf("got %q, %v, want a MetaException with the limit", m.Bytes, err)
	}
	if n := len(b.Calls()); n != 0 {
		t.Errorf("the metastore got %d calls, want none", n)
	}
}

// L41 (THRIFT-5237, spark 49489, HIVE-28824): a reply that a client reads
// directly, and that longer names take over what it reads.
func TestReplyThatOutgrowsItsClient(t *testing.T) {
	for size, outgrown := range map[int]float64{104_857_500: 1, 104_757_500: 0} {
		const parts = 10_000
		value := bytes.Repeat([]byte("x"), size/parts+parts)
		part := func(n int) []byte { return fields().String(2, "sales").String(4, string(value[:n])).Stop() }
		empty := wiretest.Reply("get_partitions", 7, fields().List(0, wiretest.WireStruct).Stop())
		each := (size-len(empty))/parts - len(part(0))
		list := [][]byte{part(each + (size-len(empty))%parts)}
		for len(list) < parts {
			list = append(list, part(each))
		}
		reply := wiretest.Reply("get_partitions", 7, fields().List(0, wiretest.WireStruct, list...).Stop())
		if len(reply) != size {
			t.Fatalf("made a reply of %d bytes, want %d", len(reply), size)
		}
		b := wiretest.NewBackend(t).Others(wiretest.Serve(func(m wiretest.Message) []byte {
			if m.Method == "get_partitions" {
				return reply
			}
			return wiretest.Reply(m.Method, m.Seq, fields().String(0, "3.0").Stop())
		}))
		g := sweepGateway(t, fmt.Sprintf("listen: 127.0.0.1:0\nrouting.default-catalog: hdp\ncatalog:\n"+
			"  hdp: {uris: 'thrift://127.0.0.1:1'}\n  apache: {uris: thrift://%s, runtime-profile: apache-3.1.3}\n", b.Addr()), nil)
		c := dialGateway(t, g)
		c.Write(wiretest.Call("get_partitions", 7, fields().String(1, "apache__sales").String(2, "p").I16(3, -1).Stop()))
		if n, err := io.CopyN(io.Discard, c, int64(size+parts*len("apache__"))); err != nil {
			t.Fatalf("after %d bytes: %v", n, err)
		}
		c.Close()
		wiretest.Until(t, "the session to end", func() bool { return g.clients.Load() == 0 })
		if got := counted(t, g, "hmsgate_replies_outgrown_total"); got != outgrown {
			t.Errorf("%d bytes: %v replies are counted, want %v", size, got, outgrown)
		}
	}
}

// counted is a metric without labels, or the sum of those with.
func counted(t *testing.T, g *Gateway, name string) (sum float64) {
	t.Helper()
	w := httptest.NewRecorder()
	g.metrics.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for line := range strings.Lines(w.Body.String()) {
		if series, value, ok := strings.Cut(line, " "); ok && (series == name || strings.HasPrefix(series, name+"{")) {
			var v float64
			fmt.Sscan(value, &v)
			sum += v
		}
	}
	return sum
}

// L42 (HIVE-27113): a reply of more than a gigabyte costs next to nothing.
func TestReplyOfAGigabyte(t *testing.T) {
	size := int64(1_200_000_000)
	if testing.Short() || sweepRace {
		size = 120_000_000
	}
	part := fields().Strings(1, strings.Repeat("x", 1000)).String(2, "sales").String(3, "p").Stop()
	n := int(size) / len(part)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	served := make(chan error, 1)
	go func() { served <- serveParts(ln, part, n) }()
	g := sweepGateway(t, fmt.Sprintf("listen: 127.0.0.1:0\nrouting.default-catalog: hdp\ncatalog:\n"+
		"  hdp: {uris: 'thrift://127.0.0.1:1'}\n  apache: {uris: thrift://%s, runtime-profile: apache-3.1.3}\n", ln.Addr()), func(g *Gateway) {
		g.health = nil // the listener knows no probes
		for _, cat := range g.table.Catalogs() {
			cat.Backend().URIs()[0].SetProfile("apache-3.1.3")
		}
	})
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	before, most := m.Sys-m.HeapReleased, uint64(0)
	c := dialGateway(t, g)
	c.SetDeadline(time.Now().Add(5 * time.Minute))
	c.Write(wiretest.Call("get_partitions", 7, fields().String(1, "apache__sales").String(2, "p").I16(3, -1).Stop()))
	head := len(wiretest.Reply("get_partitions", 7, fields().List(0, wiretest.WireStruct).Stop()))
	left := int64(head) + int64(n)*int64(len(part)+len("apache__"))
	for left > 0 {
		k, err := io.CopyN(io.Discard, c, min(left, 50_000_000))
		if left -= k; err != nil {
			t.Fatalf("%d bytes are missing: %v", left, err)
		}
		runtime.ReadMemStats(&m)
		most = max(most, m.Sys-m.HeapReleased)
	}
	if err := <-served; err != nil {
		t.Fatal(err)
	}
	if most > before+64<<20 {
		t.Errorf("memory grew by %d MB for a reply of %d", (most-before)>>20, size)
	}
}

// serveParts answers one call with n equal partitions.
func serveParts(ln net.Listener, part []byte, n int) error {
	c, err := ln.Accept()
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := readMessage(c); err != nil {
		return err
	}
	w := bufio.NewWriterSize(c, 1<<20)
	b := wiretest.Reply("get_partitions", 7, fields().List(0, wiretest.WireStruct).Stop())
	b = b[:len(b)-5] // the count and the end
	w.Write(binary.BigEndian.AppendUint32(b, uint32(n)))
	for range n {
		w.Write(part)
	}
	w.WriteByte(wiretest.WireStop)
	return w.Flush()
}
