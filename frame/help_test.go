package frame

import (
	"bytes"
	"errors"
	"io"
	"math/rand"
)

// record is a sink that remembers.
type record struct {
	bytes.Buffer
	writes, ends int
	fail         int // writes left until failure; 0: never
}

var errSink = errors.New("sink broke")

func (r *record) Write(p []byte) (int, error) {
	r.writes++
	if r.fail > 0 {
		if r.fail--; r.fail == 0 {
			n, _ := r.Buffer.Write(p[:len(p)/2])
			return n, errSink
		}
	}
	return r.Buffer.Write(p)
}

func (r *record) End() error { r.ends++; return nil }

// bits hands out a stream in random pieces of 1 to most bytes.
type bits struct {
	b    []byte
	rnd  *rand.Rand
	most int
}

func (s *bits) Read(p []byte) (int, error) {
	if len(s.b) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.b[:min(len(s.b), 1+s.rnd.Intn(s.most))])
	s.b = s.b[n:]
	return n, nil
}

// str is a string value on the wire.
func str(n int) []byte {
	b := be.AppendUint32(nil, uint32(n))
	return append(b, bytes.Repeat([]byte{'x'}, n)...)
}

func window(b []byte) *Window { return NewWindow(bytes.NewReader(b), nil) }

func rnd(seed int64) *rand.Rand { return rand.New(rand.NewSource(seed)) }
