// Package layertest puts any security layer through the same paces as chunk
// source and sink.
package layertest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"testing"
	"testing/iotest"

	"hmsgate/frame"
	"hmsgate/sasl"
)

// Pair makes two ends of one connection; what a seals, b opens.
type Pair func(t testing.TB) (a, b sasl.Layer)

// Run runs all of it.
func Run(t *testing.T, pair Pair) {
	t.Run("messages", func(t *testing.T) { messages(t, pair) })
	t.Run("every split", func(t *testing.T) { everySplit(t, pair) })
	t.Run("deadlines", func(t *testing.T) { deadlines(t, pair) })
	t.Run("one long token", func(t *testing.T) { longToken(t, pair) })
	t.Run("damaged long token", func(t *testing.T) { damaged(t, pair) })
	t.Run("bounds", func(t *testing.T) { bounds(t, pair) })
	t.Run("memory", func(t *testing.T) { memory(t, pair) })
	t.Run("allocations", func(t *testing.T) { allocations(t, pair) })
}

func payload(n int) []byte {
	b := make([]byte, n)
	r := rand.New(rand.NewPCG(1, uint64(n)))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// Frames seals messages the way a session does.
func frames(t testing.TB, l sasl.Layer, sendMax int, list ...[]byte) []byte {
	var out bytes.Buffer
	k := sasl.NewSink(&out, l, sendMax)
	for _, m := range list {
		for p := m; len(p) > 0; {
			n := min(len(p), 10000)
			if _, err := k.Write(p[:n]); err != nil {
				t.Fatal(err)
			}
			p = p[n:]
		}
		if err := k.End(); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

// one is a single frame around a single token, as Java makes it.
func one(t testing.TB, l sasl.Layer, p []byte) []byte {
	b := make([]byte, 4+l.Head()+len(p)+l.Tail())
	copy(b[4+l.Head():], p)
	tok, err := l.Seal(b[4:], len(p))
	if err != nil {
		t.Fatal(err)
	}
	binary.BigEndian.PutUint32(b, uint32(len(tok)))
	return b[:4+len(tok)]
}

func messages(t *testing.T, pair Pair) {
	limits := []int{0, 1024, 4096, 65536, 0xffffff}
	if raceEnabled {
		limits = []int{1024, 65536}
	}
	for _, sendMax := range limits {
		a, b := pair(t)
		var list [][]byte
		var want []byte
		for _, n := range []int{0, 1, 3, 100, 1000, 1024, 65535, 65536, 70000, 2} {
			list = append(list, payload(n))
			want = append(want, list[len(list)-1]...)
		}
		raw := frames(t, a, sendMax, list...)
		limit := sasl.TokenMax
		if sendMax > 0 {
			limit = min(limit, sendMax)
		}
		for p := raw; len(p) > 0; {
			n := int(binary.BigEndian.Uint32(p))
			if n > limit {
				t.Fatalf("token of %d bytes, the peer takes %d", n, limit)
			}
			p = p[4+n:]
		}
		got, err := io.ReadAll(sasl.NewSource(bytes.NewReader(raw), b, sasl.DataLimits{}))
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("send limit %d: got %d bytes, %v, want %d", sendMax, len(got), err, len(want))
		}
	}
}

func everySplit(t *testing.T, pair Pair) {
	want := append(payload(40), payload(160)...)
	for cut := 0; ; cut++ {
		a, b := pair(t)
		raw := frames(t, a, 0, want[:40], want[40:])
		if cut > len(raw) {
			break
		}
		if raceEnabled && cut > 8 && cut%5 != 0 {
			continue
		}
		src := io.MultiReader(bytes.NewReader(raw[:cut]), bytes.NewReader(raw[cut:]))
		got, err := io.ReadAll(sasl.NewSource(src, b, sasl.DataLimits{}))
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("cut at %d: got %d bytes, %v", cut, len(got), err)
		}
		if cut < len(raw) { // the rest never comes
			a, b := pair(t)
			raw := frames(t, a, 0, want[:40], want[40:])
			_, err := io.ReadAll(sasl.NewSource(bytes.NewReader(raw[:cut]), b, sasl.DataLimits{}))
			first := 4 + int(binary.BigEndian.Uint32(raw))
			if clean := cut == 0 || cut == first; clean != (err == nil) || !clean && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("ended at %d: got %v", cut, err)
			}
		}
	}
	a, b := pair(t)
	raw := frames(t, a, 0, want)
	if err := iotest.TestReader(sasl.NewSource(bytes.NewReader(raw), b, sasl.DataLimits{}), want); err != nil {
		t.Error(err)
	}
}

// timid reads a few bytes, then says that the deadline has passed, and again.
type timid struct {
	r    io.Reader
	tick int
	step int
}

func (x *timid) Read(p []byte) (int, error) {
	if x.tick++; x.tick%2 == 0 {
		return 0, os.ErrDeadlineExceeded
	}
	return x.r.Read(p[:min(len(p), x.step)])
}

// A deadline in the middle of anything loses nothing.
func deadlines(t *testing.T, pair Pair) {
	for _, step := range []int{1, 3, 5000} {
		a, b := pair(t)
		want := payload(min(step*3000, 40000))
		raw := append(frames(t, a, 0, want), one(t, a, want)...)
		s := sasl.NewSource(&timid{r: bytes.NewReader(raw), step: step}, b, sasl.DataLimits{Stream: true, Hold: 2000})
		var got []byte
		buf := make([]byte, 777)
		for {
			n, err := s.Read(buf)
			got = append(got, buf[:n]...)
			if err == io.EOF {
				break
			}
			if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(got, append(want, want...)) {
			t.Fatalf("steps of %d: got %d bytes, want %d", step, len(got), 2*len(want))
		}
	}
}

// A whole message in one token, too long to be held.
func longToken(t *testing.T, pair Pair) {
	for _, n := range []int{3000, 3001, 3007, 3008, 3015, 3016, 3017, 100000, 400005} {
		for _, step := range []int{1, 13, 4096, 1 << 20} {
			if n > 10000 && (step < 4096 || raceEnabled && n > 100000) {
				continue
			}
			a, b := pair(t)
			want := payload(n)
			raw := append(one(t, a, want), frames(t, a, 0, []byte("next"))...)
			s := sasl.NewSource(&stepped{bytes.NewReader(raw), step}, b, sasl.DataLimits{Stream: true, Hold: 2000})
			got := make([]byte, n)
			if _, err := io.ReadFull(s, got[:n-100]); err != nil || s.Settled() {
				t.Fatalf("%d bytes in steps of %d: %v, settled %v before the end", n, step, err, s.Settled())
			}
			if _, err := io.ReadFull(s, got[n-100:]); err != nil || !s.Settled() || !bytes.Equal(got, want) {
				t.Fatalf("%d bytes in steps of %d: %v, settled %v, equal %v", n, step, err, s.Settled(), bytes.Equal(got, want))
			}
			if rest, err := io.ReadAll(s); err != nil || string(rest) != "next" {
				t.Fatalf("then got %q, %v", rest, err)
			}
		}
	}
}

type stepped struct {
	r    io.Reader
	step int
}

func (x *stepped) Read(p []byte) (int, error) { return x.r.Read(p[:min(len(p), x.step)]) }

// A damaged long token never gives out its last byte, and is never settled.
func damaged(t *testing.T, pair Pair) {
	a, _ := pair(t)
	size := len(one(t, a, payload(4000)))
	for at := 4; at < size; at++ {
		if at > 40 && at < size-50 && at%97 != 0 {
			continue
		}
		a, b := pair(t)
		raw := one(t, a, payload(4000))
		raw[at] ^= 0x40
		s := sasl.NewSource(bytes.NewReader(append(raw, one(t, a, []byte("next"))...)), b, sasl.DataLimits{Stream: true, Hold: 2000})
		got, err := io.ReadAll(s)
		if !errors.Is(err, sasl.ErrToken) || len(got) >= 4000 {
			t.Fatalf("byte %d: got %d bytes, %v", at, len(got), err)
		}
		if n, err := s.Read(make([]byte, 1)); n != 0 || err == nil {
			t.Fatalf("byte %d: goes on afterwards: %d, %v", at, n, err)
		}
	}
}

func bounds(t *testing.T, pair Pair) {
	for _, head := range []string{"\x00\x00\x00\x00", "\xff\xff\xff\xff", "\x80\x00\x00\x00", "\x7f\xff\xff\xff", "\x00\x00\x10\x01"} {
		_, b := pair(t)
		s := sasl.NewSource(bytes.NewReader([]byte(head)), b, sasl.DataLimits{Frame: 4096})
		if _, err := s.Read(make([]byte, 1)); !errors.Is(err, sasl.ErrFrame) {
			t.Errorf("length % x: got %v", head, err)
		}
	}
	a, b := pair(t)
	raw := one(t, a, payload(300000))
	budget := frame.NewBudget(1 << 20)
	s := sasl.NewSource(bytes.NewReader(raw), b, sasl.DataLimits{Budget: budget})
	if _, err := io.ReadFull(s, make([]byte, 300000)); err != nil || budget.Used() != 0 {
		t.Errorf("held token: %v, %d bytes of the budget still taken", err, budget.Used())
	}
	a, b = pair(t)
	s = sasl.NewSource(bytes.NewReader(one(t, a, payload(300000))), b, sasl.DataLimits{Budget: frame.NewBudget(100000)})
	if _, err := s.Read(make([]byte, 1)); !errors.Is(err, sasl.ErrBudget) {
		t.Errorf("over the budget: got %v", err)
	}
	budget = frame.NewBudget(1 << 20)
	a, b = pair(t)
	s = sasl.NewSource(bytes.NewReader(one(t, a, payload(300000))[:200000]), b, sasl.DataLimits{Budget: budget})
	if _, err := s.Read(make([]byte, 1)); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("cut: got %v", err)
	}
	if s.Drop(); budget.Used() != 0 {
		t.Errorf("%d bytes of the budget are lost with the connection", budget.Used())
	}
}

// repeated gives b again and again.
type repeated struct {
	b    []byte
	at   int
	left int
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), r.left)], r.b[r.at:])
	r.at, r.left = (r.at+n)%len(r.b), r.left-n
	return n, nil
}

// A promise of 100 MiB costs what has come of it; a long stream costs nothing.
func memory(t *testing.T, pair Pair) {
	_, b := pair(t)
	head := []byte{6, 0x40, 0, 0}
	used := allocated(func() {
		s := sasl.NewSource(bytes.NewReader(append(head, make([]byte, 1000)...)), b, sasl.DataLimits{})
		if _, err := s.Read(make([]byte, 1)); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Error(err)
		}
	})
	if used > 1<<20 {
		t.Errorf("a length of 100 MiB and 1000 bytes cost %d bytes", used)
	}
	_, b = pair(t)
	binary.BigEndian.PutUint32(head, 4<<20)
	used = allocated(func() { // never verified, but all of it decrypted
		a, _ := pair(t)
		h := one(t, a, payload(4000))[4 : 4+64]
		src := io.MultiReader(bytes.NewReader(head), bytes.NewReader(h), &repeated{b: payload(4096), left: 4<<20 - 64})
		if _, err := io.Copy(io.Discard, struct{ io.Reader }{sasl.NewSource(src, b, sasl.DataLimits{Stream: true})}); err == nil {
			t.Error("noise passes")
		}
	})
	if used > 1<<20 {
		t.Errorf("4 MB of one token cost %d bytes", used)
	}
}

func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// loop is a wire: what is written can be read.
type loop struct{ bytes.Buffer }

func allocations(t *testing.T, pair Pair) {
	a, b := pair(t)
	wire := new(loop)
	k, s := sasl.NewSink(wire, a, 0), sasl.NewSource(wire, b, sasl.DataLimits{})
	m, got := payload(500), make([]byte, 500)
	if n := testing.AllocsPerRun(200, func() {
		if _, err := k.Write(m); err != nil {
			t.Fatal(err)
		}
		if err := k.End(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(s, got); err != nil {
			t.Fatal(err)
		}
	}); n > 0.1 && !raceEnabled {
		t.Errorf("%v allocations a message, want 0", n)
	}
}
