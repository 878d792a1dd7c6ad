package frame

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/apache/thrift/lib/go/thrift"
)

func TestHeader(t *testing.T) {
	long := strings.Repeat("m", MaxMethod)
	for _, c := range []struct {
		name   string
		in     []byte
		old    bool
		method string
		typ    MessageType
		seq    int32
		err    error
	}{
		{"call", AppendHeader(nil, Call, "get_table", 7), false, "get_table", Call, 7, nil},
		{"negative sequence id", AppendHeader(nil, Reply, "x", -1), false, "x", Reply, -1, nil},
		{"no name", AppendHeader(nil, Call, "", 0), false, "", Call, 0, nil},
		{"longest name", AppendHeader(nil, Oneway, long, 1), false, long, Oneway, 1, nil},
		{"name too long", AppendHeader(nil, Call, long+"m", 1), false, "", 0, 0, ErrTooLong},
		{"name of -1", []byte{0x80, 1, 0, 1, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}, false, "", 0, 0, ErrTooLong},
		{"version 2", []byte{0x80, 2, 0, 1, 0, 0, 0, 1, 'x', 0, 0, 0, 0}, false, "", 0, 0, ErrNotThrift},
		{"compact", []byte{0x82, 0x21, 1, 9, 'g', 'e', 't', '_', 't'}, false, "", 0, 0, ErrNotThrift},
		{"old, refused", []byte{0, 0, 0, 1, 'x', 1, 0, 0, 0, 9}, false, "", 0, 0, ErrOldHeader},
		{"old, accepted", []byte{0, 0, 0, 1, 'x', 1, 0, 0, 0, 9}, true, "x", Call, 9, nil},
		{"old, no name", []byte{0, 0, 0, 0, 1, 0, 0, 0, 9}, true, "", 0, 0, ErrOldHeader},
		{"old, name too long", []byte{0, 0, 1, 1, 'x', 'x', 'x', 'x', 'x'}, true, "", 0, 0, ErrOldHeader},
		{"NI_PING (L50)", []byte("\x00\x00\x00\x08NI_PING\x00"), false, "", 0, 0, ErrOldHeader},
		{"GSSAPI on a plain port (L53)", []byte("\x01\x00\x00\x00\x06GSSAPI"), false, "", 0, 0, ErrOldHeader},
		{"GSSAPI, old accepted (L53)", []byte("\x01\x00\x00\x00\x06GSSAPI"), true, "", 0, 0, ErrOldHeader},
		{"HTTP", []byte("GET / HTTP/1.1\r\n"), false, "", 0, 0, ErrOldHeader},
	} {
		t.Run(c.name, func(t *testing.T) {
			for cut := 0; cut <= len(c.in); cut++ {
				w := NewWindow(&cutAt{c.in, cut}, nil)
				w.Start(0, 0)
				h, err := w.Header(c.old)
				if !errors.Is(err, c.err) {
					t.Fatalf("cut %d: got %v, want %v", cut, err, c.err)
				}
				if err != nil {
					continue
				}
				if string(h.Method) != c.method || h.Type != c.typ || h.Seq != c.seq || h.Size != len(c.in) || int(w.Pos()) != len(c.in) {
					t.Fatalf("cut %d: got %q %s %d size %d pos %d", cut, h.Method, h.Type, h.Seq, h.Size, w.Pos())
				}
			}
		})
	}
}

// FuzzHeader reads what apache/thrift's strict reader reads, names up to
// MaxMethod.
func FuzzHeader(f *testing.F) {
	f.Add(AppendHeader(nil, Call, "get_table", 7))
	f.Add([]byte("\x00\x00\x00\x08NI_PING\x00"))
	f.Add([]byte("\x80\x01\x00\x01\xff\xff\xff\xff\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, in []byte) {
		strict := true
		tr := &thrift.TMemoryBuffer{Buffer: bytes.NewBuffer(in)}
		p := thrift.NewTBinaryProtocolConf(tr, &thrift.TConfiguration{TBinaryStrictRead: &strict, MaxMessageSize: 1 << 16})
		name, typ, seq, werr := p.ReadMessageBegin(context.Background())
		w := NewWindow(&bits{in, rnd(1), 3}, nil)
		w.Start(0, 0)
		h, err := w.Header(false)
		if len(name) > MaxMethod || errors.Is(err, ErrTooLong) {
			return
		}
		if (err == nil) != (werr == nil) {
			if werr == nil && len(in) < 12 && errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("got %v, apache/thrift read it\n% x", err, in)
			}
			t.Fatalf("got %v, apache/thrift %v\n% x", err, werr, in)
		}
		if err != nil {
			return
		}
		if string(h.Method) != name || int32(h.Type) != int32(typ) || h.Seq != seq || int(w.Pos()) != len(in)-tr.Len() {
			t.Fatalf("got %q %s %d, apache/thrift %q %v %d", h.Method, h.Type, h.Seq, name, typ, seq)
		}
	})
}

func TestFaultMessages(t *testing.T) {
	ctx := context.Background()
	read := func(b []byte) (string, thrift.TMessageType, int32, *thrift.TBinaryProtocol) {
		tr := &thrift.TMemoryBuffer{Buffer: bytes.NewBuffer(b)}
		p := thrift.NewTBinaryProtocolConf(tr, nil)
		name, typ, seq, err := p.ReadMessageBegin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return name, typ, seq, p
	}
	name, typ, seq, p := read(AppendFault(nil, "get_table", 42, UnknownMethod, "no such thing"))
	x := thrift.NewTApplicationException(0, "")
	if err := x.Read(ctx, p); err != nil {
		t.Fatal(err)
	}
	if name != "get_table" || typ != thrift.EXCEPTION || seq != 42 || x.TypeId() != thrift.UNKNOWN_METHOD || x.Error() != "no such thing" {
		t.Fatalf("got %q %v %d %d %q", name, typ, seq, x.TypeId(), x.Error())
	}
	b := AppendDeclared(nil, "get_table", 42, 3, "text")
	want := AppendHeader(nil, Reply, "get_table", 42)
	want = append(want, Struct, 0, 3, String, 0, 1, 0, 0, 0, 4, 't', 'e', 'x', 't', Stop, Stop)
	if !bytes.Equal(b, want) {
		t.Fatalf("got  % x\nwant % x", b, want)
	}
}

func TestNames(t *testing.T) {
	for typ, want := range map[Type]string{Stop: "stop", Bool: "bool", Byte: "byte", Double: "double", I16: "i16", I32: "i32",
		I64: "i64", String: "string", Struct: "struct", Map: "map", Set: "set", List: "list", UUID: "uuid", 99: "type 99"} {
		if got := TypeName(typ); got != want {
			t.Errorf("type %d: got %q, want %q", typ, got, want)
		}
	}
	for typ, want := range map[MessageType]string{Call: "call", Reply: "reply", Exception: "exception", Oneway: "oneway", 9: "message type 9"} {
		if got := typ.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
