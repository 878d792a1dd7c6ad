package wiretest

import (
	"fmt"
	"io"
	"math/rand"
	"testing"
)

// exhaustive is the longest stream that EverySplit cuts at each byte.
const exhaustive = 4 << 10

// Chunks hands a stream out in pieces: no Read crosses a cut. Cuts are offsets
// in rising order; those outside the stream are ignored. Like a socket it may
// give less than asked and gives no end of file together with data.
func Chunks(stream []byte, cuts ...int) io.Reader {
	return &chunks{rest: stream, next: func(at int) int {
		for _, c := range cuts {
			if c > at {
				return c - at
			}
		}
		return len(stream)
	}}
}

// OneByte hands a stream out byte by byte.
func OneByte(stream []byte) io.Reader {
	return &chunks{rest: stream, next: func(int) int { return 1 }}
}

// RandomChunks hands a stream out in pieces of 1 to most bytes; the same seed
// gives the same pieces.
func RandomChunks(stream []byte, seed int64, most int) io.Reader {
	rnd := rand.New(rand.NewSource(seed))
	return &chunks{rest: stream, next: func(int) int { return 1 + rnd.Intn(most) }}
}

// EverySplit runs f as one subtest a way of cutting the stream: whole, byte by
// byte, cut in two at every byte (every byte up to 4 KB, about 200 places
// spread over a longer one), and in random pieces. It stops at the first way
// that fails.
func EverySplit(t *testing.T, stream []byte, f func(t *testing.T, r io.Reader)) {
	t.Helper()
	run := func(name string, r io.Reader) bool {
		return t.Run(name, func(t *testing.T) { f(t, r) })
	}
	if !run("whole", Chunks(stream)) || !run("bytewise", OneByte(stream)) {
		return
	}
	step := 1
	if len(stream) > exhaustive {
		step = len(stream)/200 + 1
	}
	ok := t.Run("in two", func(t *testing.T) {
		for at := 1; at < len(stream) && !t.Failed(); at += step {
			f(t, Chunks(stream, at))
			if t.Failed() {
				t.Logf("cut before byte %d of %d", at, len(stream))
			}
		}
	})
	for seed := int64(1); ok && seed <= 3; seed++ {
		ok = run(fmt.Sprintf("random %d", seed), RandomChunks(stream, seed, 1<<uint(3*seed)))
	}
}

type chunks struct {
	rest []byte
	at   int           // bytes handed out
	left int           // bytes left of the present piece
	next func(int) int // length of the piece that begins at an offset
}

func (c *chunks) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		return 0, io.EOF
	}
	if len(p) == 0 {
		return 0, nil
	}
	if c.left <= 0 {
		c.left = c.next(c.at)
	}
	n := copy(p, c.rest[:min(c.left, len(c.rest))])
	c.rest, c.at, c.left = c.rest[n:], c.at+n, c.left-n
	return n, nil
}
