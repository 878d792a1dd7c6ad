package gateway

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"hmsgate/internal/wiretest"
)

// bytesOf joins bytes, numbers and texts.
func bytesOf(parts ...any) []byte {
	var b []byte
	for _, p := range parts {
		switch v := p.(type) {
		case string:
			b = append(b, v...)
		case []byte:
			b = append(b, v...)
		case int:
			b = append(b, byte(v))
		}
	}
	return b
}

// callWith is a get_table whose arguments struct is made by hand.
func callWith(body ...any) []byte {
	b := tableCall("get_table", 7)
	m, _ := wiretest.Parse(b)
	return append(b[:m.Body:m.Body], bytesOf(body...)...)
}

// Each input ends its client's connection with a line that says why, and
// nothing else happens.
func TestHostileBytes(t *testing.T) {
	deep := bytes.Repeat([]byte{wiretest.WireStruct, 0, 1}, 10_000)
	for _, tc := range []struct {
		name  string
		bytes []byte
		log   string // "" when the reply says it
	}{
		{"L50 old-style name with a NUL", bytesOf(0, 0, 0, 8, "NI_PING", 0), "old-style"},
		{"L53 SASL", bytesOf(1, 0, 0, 0, 6, "GSSAPI"), "SASL client on a listener without SASL"},
		{"TLS", bytesOf(0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc), "TLS client"},
		{"HTTP", []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), "HTTP client"},
		{"compact", bytesOf(0x82, 0x21, 1, 9, "get_table"), "compact"},
		{"old-style", bytesOf(0, 0, 0, 9, "get_table", 1, 0, 0, 0, 1, 0), "old-style"},
		{"zeros", make([]byte, 64), "not a Thrift client"},
		{"wrong version", bytesOf(0x80, 2, 0, 1, 0, 0, 0, 1), "not a Thrift client"},
		{"long name", bytesOf(0x80, 1, 0, 1, 0x7f, 0xff, 0xff, 0xff), "not a call"},
		{"negative name", bytesOf(0x80, 1, 0, 1, 0xff, 0xff, 0xff, 0xff), "not a call"},
		{"huge frame", bytesOf(0x7f, 0xff, 0xff, 0xff, 0x80, 1, 0, 1), "frame length"},
		{"L58 depth", callWith(deep), ""},
		{"L58 list of 2^31 bools", callWith(wiretest.WireList, 0, 9, wiretest.WireBool, 0x7f, 0xff, 0xff, 0xff), ""},
		{"L58 map of map", callWith(wiretest.WireMap, 0, 9, wiretest.WireMap, wiretest.WireMap, 0x7f, 0xff, 0xff, 0xff), ""},
		{"negative string", callWith(wiretest.WireString, 0, 1, 0xff, 0xff, 0xff, 0xfe), ""},
		{"unknown type", callWith(99, 0, 1), ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := answering(t, nil)
			g, log := startGateway(t, b.Addr(), "limits.call-bytes: 64MB")
			other := dialGateway(t, g)
			if _, err := exchange(other, tableCall("get_table", 1)); err != nil {
				t.Fatal(err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			c := dialGateway(t, g)
			if _, err := c.Write(tc.bytes); err != nil {
				t.Fatal(err)
			}
			c.(*net.TCPConn).CloseWrite() // what waits for more bytes must not wait for ever
			got, _ := io.ReadAll(c)
			wiretest.Until(t, "the session to end", func() bool { return g.clients.Load() == 1 })
			runtime.ReadMemStats(&after)
			if n := after.TotalAlloc - before.TotalAlloc; n > 16<<20 {
				t.Errorf("%d bytes were allocated", n)
			}
			if tc.log != "" && !strings.Contains(log.String(), tc.log) {
				t.Errorf("got log %q, want %q in it", log.String(), tc.log)
			}
			if tc.log == "" && !bytes.Contains(got, []byte("malformed call")) && !bytes.Contains(got, []byte("limits.call-bytes")) && !strings.Contains(log.String(), "client broke off") {
				t.Errorf("got reply %q and log %q, want a reason", got, log.String())
			}
			if m, err := exchange(other, tableCall("get_table", 2)); err != nil || m.Seq != 2 {
				t.Errorf("other client: got %q, %v, want a reply", m.Bytes, err)
			}
		})
	}
}

// L56, L57: two calls in one segment, and calls byte by byte.
func TestL56L57PipelinedAndSplit(t *testing.T) {
	g, _ := startGateway(t, answering(t, nil).Addr())
	c := dialGateway(t, g)
	two := append(tableCall("get_table", 7), tableCall("get_table", 8)...)
	if _, err := c.Write(two); err != nil {
		t.Fatal(err)
	}
	want := append(wiretest.Reply("get_table", 7, wiretest.Struct(nil).Stop()), wiretest.Reply("get_table", 8, wiretest.Struct(nil).Stop())...)
	got := make([]byte, len(want))
	if _, err := io.ReadFull(c, got); err != nil || !bytes.Equal(got, want) {
		t.Errorf("pipelined: got %q, %v\nwant %q", got, err, want)
	}
	c = dialGateway(t, g)
	for i := range two {
		if _, err := c.Write(two[i : i+1]); err != nil {
			t.Fatal(err)
		}
	}
	clear(got)
	if _, err := io.ReadFull(c, got); err != nil || !bytes.Equal(got, want) {
		t.Errorf("byte by byte: got %q, %v\nwant %q", got, err, want)
	}
}

// FuzzPort sends any bytes at all. The connection must end, another client be
// served, and nothing be held.
func FuzzPort(f *testing.F) {
	f.Add(tableCall("get_table", 7))
	f.Add(wiretest.Framed(tableCall("drop_table", 7)))
	f.Add(wiretest.Call("get_all_databases", 1, wiretest.Struct(nil).Stop()))
	f.Add(wiretest.Call("set_ugi", 1, wiretest.Struct(nil).String(1, "a").Strings(2, "b").Stop()))
	f.Add(wiretest.Call("get_catalog", 1, wiretest.Struct(nil).Struct(1, wiretest.Struct(nil).String(1, "hdp").Stop()).Stop()))
	f.Add(bytesOf(0, 0, 0, 8, "NI_PING", 0))
	f.Add(bytesOf(1, 0, 0, 0, 6, "GSSAPI"))
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Add(binary.BigEndian.AppendUint64(nil, 0x8001000100000009))
	b := answering(f, nil)
	g, _ := startGateway(f, b.Addr())
	f.Fuzz(func(t *testing.T, in []byte) {
		c, err := net.Dial("tcp", g.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		c.SetDeadline(time.Now().Add(wiretest.Patience))
		c.Write(in)
		c.(*net.TCPConn).CloseWrite()
		if _, err := io.Copy(io.Discard, c); err != nil {
			if ne, ok := err.(net.Error); ok && ne.Timeout() {
				t.Fatalf("the connection stays open: %q", in)
			}
		}
		wiretest.Until(t, "the session to end", func() bool { return g.clients.Load() == 0 })
		if n := g.budget.Used(); n != 0 {
			t.Fatalf("%d bytes are still held", n)
		}
		o := dialGateway(t, g)
		if m, err := exchange(o, tableCall("get_table", 3)); err != nil || m.Seq != 3 {
			t.Fatalf("other client: got %q, %v, want a reply", m.Bytes, err)
		}
		o.Close()
		wiretest.Until(t, "the other session to end", func() bool { return g.clients.Load() == 0 })
	})
}
