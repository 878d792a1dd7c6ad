package frame

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"testing"

	"github.com/apache/thrift/lib/go/thrift"
)

// body is a struct of one field.
func body(t Type, value ...byte) []byte {
	return append(append([]byte{t, 0, 1}, value...), Stop)
}

func head(t Type, n uint32, rest ...byte) []byte {
	return append(be.AppendUint32([]byte{t}, n), rest...)
}

func pair(k, v Type, n uint32, rest ...byte) []byte {
	return append(be.AppendUint32([]byte{k, v}, n), rest...)
}

func nested(depth int) []byte {
	return append(bytes.Repeat([]byte{Struct, 0, 1}, depth), make([]byte, depth+1)...)
}

func nestedLists(depth int) []byte {
	b := []byte{List, 0, 1}
	for range depth {
		b = append(b, head(List, 1)...)
	}
	return append(append(b, head(Byte, 0)...), Stop)
}

var skipCases = []struct {
	name string
	in   []byte
	err  error // nil: all of in is consumed
}{
	{"empty struct", []byte{Stop}, nil},
	{"each fixed type", []byte{Bool, 0, 1, 1, Byte, 0, 2, 9, I16, 0, 3, 0, 1, I32, 0, 4, 0, 0, 0, 1, I64, 0, 5, 0, 0, 0, 0, 0, 0, 0, 1, Double, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0, Stop}, nil},
	{"uuid", body(UUID, make([]byte, 16)...), nil},
	{"negative id", append([]byte{Bool, 0xff, 0xff, 1}, Stop), nil},
	{"string", body(String, str(5)...), nil},
	{"empty string", body(String, str(0)...), nil},
	{"string of -1", body(String, 0xff, 0xff, 0xff, 0xff), ErrNegative},
	{"string of -2^31", body(String, 0x80, 0, 0, 0), ErrNegative},
	{"list of i32", body(List, head(I32, 2, make([]byte, 8)...)...), nil},
	{"list of strings", body(List, append(head(String, 2), append(str(3), str(0)...)...)...), nil},
	{"list of string of -1", body(List, head(String, 1, 0xff, 0xff, 0xff, 0xff)...), ErrNegative},
	{"set of structs", body(Set, head(Struct, 2, Stop, Stop)...), nil},
	{"list of -1", body(List, head(I32, 0xffffffff)...), ErrNegative},
	{"set of -2^31", body(Set, head(I32, 0x80000000)...), ErrNegative},
	{"map of -1", body(Map, pair(I32, I32, 0xffffffff)...), ErrNegative},
	{"map of strings", body(Map, append(pair(String, String, 1), append(str(1), str(2)...)...)...), nil},
	{"map of i32 to bool", body(Map, pair(I32, Bool, 2, make([]byte, 10)...)...), nil},
	{"map of string to struct", body(Map, append(pair(String, Struct, 1), append(str(1), Stop)...)...), nil},
	{"map of map", body(Map, append(pair(I16, Map, 1), append([]byte{0, 1}, pair(Byte, Byte, 1, 1, 2)...)...)...), nil},
	{"empty map without types", body(Map, pair(0, 0, 0)...), nil},
	{"empty list without type", body(List, head(0, 0)...), nil},
	{"map of one without types", body(Map, pair(0, 0, 1, 0)...), ErrBadType},
	{"map of bad values", body(Map, pair(Byte, 1, 1, 0, 0)...), ErrBadType},
	{"list of stops", body(List, head(0, 1, 0)...), ErrBadType},
	{"list of type 127", body(List, head(127, 1, 0)...), ErrBadType},
	{"field of type 1", body(1, 0), ErrBadType},
	{"field of type 128", body(128, 0), ErrBadType},
	{"depth 64", nested(63), nil},
	{"depth 65", nested(64), ErrTooDeep},
	{"depth 10000 (L58)", nested(10_000), ErrTooDeep},
	{"lists 63 deep", nestedLists(62), nil},
	{"lists 10000 deep (L58)", nestedLists(10_000), ErrTooDeep},
}

func TestSkip(t *testing.T) {
	for _, c := range skipCases {
		t.Run(c.name, func(t *testing.T) {
			for cut := 0; cut <= len(c.in) && cut < 300; cut++ {
				w := NewWindow(&cutAt{append(c.in[:len(c.in):len(c.in)], 0xaa), cut}, nil)
				w.Start(0, 0)
				err := w.Skip(Struct, 0)
				if c.err != nil {
					if !errors.Is(err, c.err) {
						t.Fatalf("cut %d: got %v, want %v", cut, err, c.err)
					}
					continue
				}
				if err != nil || w.Pos() != int64(len(c.in)) || !bytes.Equal(w.Kept(), c.in) {
					t.Fatalf("cut %d: err %v after %d bytes, want %d", cut, err, w.Pos(), len(c.in))
				}
			}
		})
	}
}

// Any prefix of a value ends in a truncation, not in an answer.
func TestSkipTruncated(t *testing.T) {
	for _, c := range skipCases {
		if c.err != nil || len(c.in) > 300 {
			continue
		}
		for n := range c.in {
			w := window(c.in[:n])
			w.Start(0, 0)
			if err := w.Skip(Struct, 0); !errors.Is(err, io.ErrUnexpectedEOF) && !(n == 0 && errors.Is(err, io.EOF)) {
				t.Fatalf("%s: first %d of %d bytes: got %v", c.name, n, len(c.in), err)
			}
		}
	}
}

// A count is held against what the limit still allows before it is believed,
// a length before bytes are waited for.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		name  string
		in    []byte
		limit int64
		err   error
	}{
		{"list of 2^31-1 bools (L58)", body(List, head(Bool, math.MaxInt32)...), 64 << 20, ErrTooLong},
		{"list of 2^31-1 empty structs", body(List, head(Struct, math.MaxInt32)...), 64 << 20, ErrTooLong},
		{"list of 2^31-1 i64", body(List, head(I64, math.MaxInt32)...), 4 << 30, ErrTooLong},
		{"map of 2^31-1", body(Map, pair(UUID, UUID, math.MaxInt32)...), 8 << 30, ErrTooLong},
		{"map of 2^31-1 without types", body(Map, pair(0, 0, math.MaxInt32)...), 1 << 20, ErrBadType},
		{"list of strings", body(List, head(String, 300)...), 1200, ErrTooLong},
		{"string", body(String, 0x7f, 0xff, 0xff, 0xff), 64 << 20, ErrTooLong},
		{"string in list", body(List, head(String, 1, 0x7f, 0xff, 0xff, 0xff)...), 64 << 20, ErrTooLong},
		{"exactly at the limit", body(String, str(100)...), 108, nil},
		{"one byte more", body(String, str(101)...), 108, ErrTooLong},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, most := range []int{1, 7, 1 << 20} {
				w := NewWindow(&bits{c.in, rnd(1), most}, nil)
				w.Start(c.limit, 0)
				err := w.Skip(Struct, 0)
				if most > 1 && c.err == ErrTooLong && err == nil && len(c.in) < SmallSize {
					continue // was at hand already: the limit bounds what is asked for
				}
				if !errors.Is(err, c.err) {
					t.Errorf("pieces of %d: got %v, want %v", most, err, c.err)
				}
			}
		})
	}
}

func TestNeedOverLimit(t *testing.T) {
	w := window(make([]byte, 200))
	w.Start(100, 0)
	if err := w.Need(100); err != nil {
		t.Fatal(err)
	}
	w.Advance(50)
	for _, n := range []int64{1 << 20, math.MaxInt64} {
		if err := w.SkipN(n); !errors.Is(err, ErrTooLong) {
			t.Errorf("skip %d: got %v, want ErrTooLong", n, err)
		}
	}
	w = window(make([]byte, 20))
	w.Start(10, 0)
	if err := w.Need(11); !errors.Is(err, ErrTooLong) {
		t.Errorf("got %v, want ErrTooLong", err)
	}
}

// reference is what apache/thrift makes of b as a struct: the bytes consumed.
func reference(b []byte) (int, error) {
	tr := &thrift.TMemoryBuffer{Buffer: bytes.NewBuffer(b)}
	p := thrift.NewTBinaryProtocolConf(tr, &thrift.TConfiguration{MaxMessageSize: math.MaxInt32})
	err := thrift.Skip(context.Background(), p, thrift.STRUCT, 1000)
	return len(b) - tr.Len(), err
}

// FuzzSkip accepts and consumes exactly what apache/thrift does, however the
// bytes arrive. Depth is the one thing in which the two may differ.
func FuzzSkip(f *testing.F) {
	for _, c := range skipCases {
		if len(c.in) < 300 {
			f.Add(c.in, int64(1))
		}
	}
	f.Fuzz(func(t *testing.T, in []byte, seed int64) {
		if len(in) > 1<<16 {
			return
		}
		want, werr := reference(in)
		w := NewWindow(&bits{in, rnd(seed), 1 + int(uint64(seed)%97)}, NewBudget(1<<20))
		w.Start(int64(len(in)), 0)
		err := w.Skip(Struct, 0)
		if errors.Is(err, ErrTooDeep) {
			return
		}
		if (err == nil) != (werr == nil) {
			t.Fatalf("got %v, apache/thrift %v\n% x", err, werr, in)
		}
		if err == nil && int(w.Pos()) != want {
			t.Fatalf("consumed %d, apache/thrift %d\n% x", w.Pos(), want, in)
		}
	})
}
