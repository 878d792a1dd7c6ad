package gateway

import (
	"io"
	"net"
	"net/http/httptest"
	"runtime"
	"sync"
	"testing"

	"hmsgate/internal/wiretest"
)

// streaming is a metastore whose get_table has a reply of about total bytes,
// made without memory: a list of strings.
func streaming(t testing.TB, total int) string {
	return serving(t, func(c net.Conn) { stream(c, total) })
}

// serving is a metastore that forgives a client that leaves in a call.
func serving(t testing.TB, serve func(net.Conn)) (addr string) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			all.Go(func() { defer c.Close(); serve(c) })
		}
	})
	t.Cleanup(func() { ln.Close(); all.Wait() })
	return ln.Addr().String()
}

func stream(c net.Conn, total int) {
	for {
		m, err := readMessage(c)
		if err != nil {
			return
		}
		if m.Method != "get_table" {
			result := wiretest.Struct(nil)
			if m.Method == "getVersion" {
				result = result.String(0, "3.0")
			}
			if _, err := c.Write(wiretest.Reply(m.Method, m.Seq, result.Stop())); err != nil {
				return
			}
			continue
		}
		chunk := make([]byte, 64<<10)
		part := wiretest.Text(string(chunk[4:]))
		n := total / len(part)
		// result { 0: Table { 15: list<string> } }: a field no version has
		b := wiretest.Envelope(m.Method, wiretest.TypeReply, m.Seq, nil)
		b = append(b, wiretest.WireStruct, 0, 0, wiretest.WireList, 0, 99, wiretest.WireString, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
		if _, err := c.Write(b); err != nil {
			return
		}
		for range n {
			if _, err := c.Write(part); err != nil {
				return
			}
		}
		if _, err := c.Write([]byte{0, 0}); err != nil {
			return
		}
	}
}

// allocations is how many bytes of memory f takes, again and again or at once.
func allocations(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// scrape is the gateway's metrics.
func scrape(t testing.TB, g *Gateway) string {
	w := httptest.NewRecorder()
	g.metrics.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	b, err := io.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
