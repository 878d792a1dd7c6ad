package token

import "errors"

var errShort = errors.New("ends too early")

// appendVLong appends Hadoop's variable-length number (WritableUtils.writeVLong):
// [-112,127] in one byte; else -112-n, or -120-n with the value complemented,
// and n bytes, big endian.
func appendVLong(dst []byte, v int64) []byte {
	if v >= -112 && v <= 127 {
		return append(dst, byte(v))
	}
	first := -112
	if v < 0 {
		v, first = ^v, -120
	}
	n := 0
	for t := v; t != 0; t >>= 8 {
		n++
	}
	dst = append(dst, byte(first-n))
	for i := n - 1; i >= 0; i-- {
		dst = append(dst, byte(v>>(8*i)))
	}
	return dst
}

func appendText(dst []byte, s string) []byte { return append(appendVLong(dst, int64(len(s))), s...) }

// reader takes Writables from bytes; the first error stays.
type reader struct {
	b   []byte
	err error
}

func (r *reader) take(n int) []byte {
	if r.err != nil || n < 0 || n > len(r.b) {
		if r.err == nil {
			r.err = errShort
		}
		return nil
	}
	p := r.b[:n]
	r.b = r.b[n:]
	return p
}

func (r *reader) vlong() int64 {
	p := r.take(1)
	if p == nil {
		return 0
	}
	first := int64(int8(p[0]))
	if first >= -112 {
		return first
	}
	n, negative := int(-112-first), false
	if first < -120 {
		n, negative = int(-120-first), true
	}
	var v int64
	for _, c := range r.take(n) {
		v = v<<8 | int64(c)
	}
	if negative {
		v = ^v
	}
	return v
}

// vint is a vlong that fits 32 bits, as Java demands.
func (r *reader) vint() int32 {
	v := r.vlong()
	if int64(int32(v)) != v && r.err == nil {
		r.err = errors.New("number of more than 32 bits")
	}
	return int32(v)
}

// bytes reads a length and as many bytes, at most most.
func (r *reader) bytes(most int) []byte {
	n := r.vint()
	if r.err == nil && (n < 0 || int(n) > most) {
		r.err = errors.New("length out of bounds")
	}
	return r.take(int(n))
}

func (r *reader) text(most int) string { return string(r.bytes(most)) }

// end is the reader's error, or one about what is left over.
func (r *reader) end() error {
	if r.err == nil && len(r.b) > 0 {
		return errors.New("bytes after the end")
	}
	return r.err
}
