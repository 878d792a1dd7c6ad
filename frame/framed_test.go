package frame

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"
)

func framesOf(payloads ...[]byte) (stream, payload []byte) {
	for _, p := range payloads {
		stream = be.AppendUint32(stream, uint32(len(p)))
		stream = append(stream, p...)
		payload = append(payload, p...)
	}
	return stream, payload
}

// cutAt gives b up to at, then the rest.
type cutAt struct {
	b  []byte
	at int
}

func (c *cutAt) Read(p []byte) (int, error) {
	if len(c.b) == 0 {
		return 0, io.EOF
	}
	n := len(c.b)
	if c.at > 0 {
		n = min(n, c.at)
	}
	n = copy(p, c.b[:n])
	c.b, c.at = c.b[n:], max(0, c.at-n)
	return n, nil
}

func TestFrameReaderAtEveryCut(t *testing.T) {
	stream, want := framesOf([]byte("hello"), nil, []byte("x"), bytes.Repeat([]byte("abc"), 20), []byte("end"))
	for size := 1; size <= len(stream)+1; size++ {
		for cut := 0; cut <= len(stream); cut++ {
			f := NewFrameReader(&cutAt{stream, cut}, 0)
			got, buf := []byte(nil), make([]byte, size)
			var err error
			for err == nil {
				var n int
				n, err = f.Read(buf)
				got = append(got, buf[:n]...)
			}
			if err != io.EOF || !bytes.Equal(got, want) {
				t.Fatalf("cut %d, reads of %d: err %v\ngot  %q\nwant %q", cut, size, err, got, want)
			}
		}
	}
}

func TestFrameReaderKeepsStateOverErrors(t *testing.T) {
	stream, want := framesOf([]byte("hello"), []byte("world"))
	for at := range stream {
		tick := &ticking{b: stream, at: at}
		f, got, buf := NewFrameReader(tick, 0), []byte(nil), make([]byte, 9)
		ticks := 0
		for {
			n, err := f.Read(buf)
			got = append(got, buf[:n]...)
			if err == errTick {
				ticks++
				continue
			}
			if err != nil {
				break
			}
		}
		if ticks != 1 || !bytes.Equal(got, want) {
			t.Fatalf("error before byte %d: %d errors, got %q", at, ticks, got)
		}
	}
}

var errTick = errors.New("deadline")

// ticking fails once, before byte at.
type ticking struct {
	b    []byte
	at   int
	done bool
}

func (c *ticking) Read(p []byte) (int, error) {
	if c.at == 0 && !c.done {
		c.done = true
		return 0, errTick
	}
	if len(c.b) == 0 {
		return 0, io.EOF
	}
	n := len(c.b)
	if !c.done {
		n = c.at
	}
	n = copy(p, c.b[:n])
	c.b, c.at = c.b[n:], c.at-n
	return n, nil
}

func TestFrameReaderBounds(t *testing.T) {
	for _, c := range []struct {
		name string
		head uint32
		max  int
		ok   bool
	}{
		{"at the cap", 100, 100, true},
		{"above the cap", 101, 100, false},
		{"negative", 0xffffffff, 100, false},
		{"most negative", 0x80000000, 100, false},
		{"default cap", DefaultFrameMax, 0, true},
		{"above the default cap", DefaultFrameMax + 1, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			// behind a bad length stands what looks like a good frame
			stream := append(be.AppendUint32(nil, c.head), 0, 0, 0, 1, 'x', 0, 0, 0, 1, 'y')
			f, buf := NewFrameReader(bytes.NewReader(stream), c.max), make([]byte, 64)
			n, err := f.Read(buf)
			if c.ok != (err == nil) || !c.ok && !errors.Is(err, ErrFrameSize) {
				t.Fatalf("got %d bytes, %v", n, err)
			}
			if !c.ok {
				if n, err := f.Read(buf); n != 0 || !errors.Is(err, ErrFrameSize) {
					t.Fatalf("after a bad length %d bytes were read on, %v", n, err)
				}
			}
		})
	}
}

// The bytes in front of a bad length are good, those behind it are nothing.
func TestFrameReaderStopsAtBadLength(t *testing.T) {
	stream := append([]byte{0, 0, 0, 2, 'o', 'k', 0xff, 0, 0, 0}, bytes.Repeat([]byte{0, 0, 0, 1, 'x'}, 10)...)
	w := NewWindow(NewFrameReader(bytes.NewReader(stream), 0), nil)
	if err := w.Need(2); err != nil {
		t.Fatal(err)
	}
	if err := w.Need(3); !errors.Is(err, ErrFrameSize) {
		t.Fatalf("got %v and %q", err, w.Bytes())
	}
}

func TestFrameReaderEndsInsideFrame(t *testing.T) {
	stream, _ := framesOf([]byte("hello"))
	for cut := range stream {
		f := NewFrameReader(bytes.NewReader(stream[:cut]), 0)
		_, err := io.ReadAll(f)
		want := io.ErrUnexpectedEOF
		if cut == 0 {
			want = nil
		}
		if err != want {
			t.Errorf("stream of %d bytes: got %v, want %v", cut, err, want)
		}
	}
}

// One read of the source a message (two small frames in one piece: one).
func TestFrameReaderReadsOnce(t *testing.T) {
	stream, want := framesOf([]byte("first message"), []byte("second"))
	src := &counting{r: bytes.NewReader(stream)}
	f, buf := NewFrameReader(src, 0), make([]byte, 4096)
	n, err := f.Read(buf)
	if err != nil || string(buf[:n]) != string(want) || src.n != 1 {
		t.Fatalf("got %q, %v after %d reads", buf[:n], err, src.n)
	}
	if f.Left() != 0 {
		t.Fatalf("left %d", f.Left())
	}
}

type counting struct {
	r io.Reader
	n int
}

func (c *counting) Read(p []byte) (int, error) { c.n++; return c.r.Read(p) }

func TestHeaderPut(t *testing.T) {
	w, sink := window([]byte("payload")), &record{}
	w.Start(0, 0)
	if err := w.Need(7); err != nil {
		t.Fatal(err)
	}
	w.Emit(sink, true)
	if err := w.FrameHeader(0x01020304); err != nil {
		t.Fatal(err)
	}
	w.Advance(7)
	if err := w.End(); err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprintf("%q %d %d", sink.Bytes(), sink.writes, sink.ends), `"\x01\x02\x03\x04payload" 1 1`; got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
}
