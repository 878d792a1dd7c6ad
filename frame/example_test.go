package frame_test

import (
	"bytes"
	"fmt"
	"os"

	"hmsgate/frame"
)

// stdout is a sink that prints messages in hex, a line each.
type stdout struct{ buf bytes.Buffer }

func (s *stdout) Write(p []byte) (int, error) { return s.buf.Write(p) }
func (s *stdout) End() error {
	fmt.Fprintf(os.Stdout, "% x\n", s.buf.Bytes())
	s.buf.Reset()
	return nil
}

// A relay of whole messages: it finds where each ends, holds it until it is
// whole, and lets it out in one write.
func ExampleWindow() {
	call := frame.AppendHeader(nil, frame.Call, "get", 7)
	call = frame.AppendString(call, 1, "ab")
	call = append(call, frame.Stop)
	stream := append(call, call...) // two calls in one segment

	w := frame.NewWindow(bytes.NewReader(stream), nil)
	for w.Need(1) == nil {
		w.Start(1<<20, 0)
		h, err := w.Header(false)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s %s %d\n", h.Type, h.Method, h.Seq)
		if err := w.Skip(frame.Struct, 0); err != nil {
			fmt.Println(err)
			return
		}
		size := int(w.Pos())
		w.Rewind()
		w.Emit(&stdout{}, false)
		w.Advance(size)
		if err := w.End(); err != nil {
			fmt.Println(err)
			return
		}
		w.Release()
	}
	// Output:
	// call get 7
	// 80 01 00 01 00 00 00 03 67 65 74 00 00 00 07 0b 00 01 00 00 00 02 61 62 00
	// call get 7
	// 80 01 00 01 00 00 00 03 67 65 74 00 00 00 07 0b 00 01 00 00 00 02 61 62 00
}

func ExampleSniff() {
	for _, first := range []string{"\x80\x01\x00\x01", "\x00\x00\x00\x20\x80\x01", "\x01\x00\x00\x00\x06GSSAPI", "GET / HTTP/1.1", "\x00"} {
		fmt.Println(frame.Sniff([]byte(first)))
	}
	// Output:
	// raw
	// framed
	// sasl
	// http
	// undecided
}

func ExampleAppendFault() {
	b := frame.AppendFault(nil, "get_table", 7, frame.UnknownMethod, "Invalid method name: 'get_table'")
	fmt.Printf("%d bytes, %q\n", len(b), b[:21])
	// Output: 68 bytes, "\x80\x01\x00\x03\x00\x00\x00\tget_table\x00\x00\x00\a"
}
