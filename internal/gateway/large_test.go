package gateway

import (
	"bytes"
	"fmt"
	"testing"

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
	const n = 300_000
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
	waitFor(t, "the call to be on its way", func() bool { return g.inFlight.Load() == 1 })
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
