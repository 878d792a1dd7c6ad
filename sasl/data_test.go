package sasl_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"testing"

	"hmsgate/frame"
	"hmsgate/sasl"
)

// Under auth a message costs no allocation, either way.
func TestAuthAllocations(t *testing.T) {
	var wire bytes.Buffer
	k, s := sasl.NewSink(&wire, nil, 0), sasl.NewSource(&wire, nil, sasl.DataLimits{})
	m, got := bytes.Repeat([]byte("m"), 700), make([]byte, frame.SmallSize) // a window's buffer
	if n := testing.AllocsPerRun(500, func() {
		if _, err := k.Write(m); err != nil {
			t.Fatal(err)
		}
		if err := k.End(); err != nil {
			t.Fatal(err)
		}
		if n, err := s.Read(got); err != nil || n != len(m) {
			t.Fatal(n, err)
		}
	}); n > 0.1 && !raceEnabled {
		t.Errorf("%v allocations a message, want 0", n)
	}
}

// A window writes through a sink and reads through a source: the walker does
// not see what is around it.
func TestWindowOnTop(t *testing.T) {
	message := frame.AppendFault(nil, "get_table", 7, frame.InternalError, string(bytes.Repeat([]byte("x"), 300000)))
	var framed, again bytes.Buffer
	k := sasl.NewSink(&framed, nil, 0)
	if _, err := k.Write(message); err != nil {
		t.Fatal(err)
	}
	if err := k.End(); err != nil {
		t.Fatal(err)
	}
	w := frame.NewWindow(sasl.NewSource(&framed, nil, sasl.DataLimits{}), nil)
	w.Start(0, 0)
	out := sasl.NewSink(&again, nil, 0)
	w.Emit(out, false)
	h, err := w.Header(false)
	if err != nil || string(h.Method) != "get_table" {
		t.Fatalf("got %v, %v", h, err)
	}
	if err := w.Skip(frame.Struct, 0); err != nil {
		t.Fatal(err)
	}
	if err := w.End(); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(sasl.NewSource(&again, nil, sasl.DataLimits{}))
	if err != nil || !bytes.Equal(got, message) {
		t.Errorf("got %d bytes, %v, want %d", len(got), err, len(message))
	}
}

// Large frames go to a TCP connection uncopied; the stream is the same.
func TestDirectWrites(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	peer, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Close()
	var want []byte
	result := make(chan error, 1)
	parts := [][]byte{bytes.Repeat([]byte("a"), 10), bytes.Repeat([]byte("b"), 200000), bytes.Repeat([]byte("c"), 5), bytes.Repeat([]byte("d"), 20000)}
	for _, p := range parts {
		want = append(want, p...)
	}
	go func() {
		k := sasl.NewSink(conn, nil, 0)
		var err error
		for _, p := range parts {
			n, e := k.Write(p)
			if e == nil && n != len(p) {
				e = io.ErrShortWrite
			}
			if err == nil {
				err = e
			}
		}
		if e := k.End(); err == nil {
			err = e
		}
		conn.Close()
		result <- err
	}()
	got, err := io.ReadAll(sasl.NewSource(peer, nil, sasl.DataLimits{}))
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("got %d bytes, %v, want %d", len(got), err, len(want))
	}
	if err := <-result; err != nil {
		t.Error(err)
	}
}

// A sink that is dropped sends nothing of the cut message.
func TestDrop(t *testing.T) {
	var wire bytes.Buffer
	k := sasl.NewSink(&wire, nil, 0)
	if _, err := k.Write([]byte("half a mess")); err != nil {
		t.Fatal(err)
	}
	k.Drop()
	if _, err := k.Write([]byte("whole")); err != nil {
		t.Fatal(err)
	}
	if err := k.End(); err != nil {
		t.Fatal(err)
	}
	if got, want := wire.String(), "\x00\x00\x00\x05whole"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := k.End(); err != nil || binary.BigEndian.Uint32(wire.Bytes()) != 5 || wire.Len() != 9 {
		t.Errorf("an end without bytes says something: %q, %v", wire.String(), err)
	}
}
