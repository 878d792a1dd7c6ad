package rewrite

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// unescape is what a string with escapes says. It refuses what it could not
// write again.
func unescape(in []byte) ([]byte, bool) {
	out := make([]byte, 0, len(in))
	for i := 0; i < len(in); i++ {
		if in[i] != '\\' {
			out = append(out, in[i])
			continue
		}
		if i++; i == len(in) {
			return nil, false
		}
		switch at := bytes.IndexByte([]byte(`"\/bfnrt`), in[i]); {
		case at >= 0:
			out = append(out, "\"\\/\b\f\n\r\t"[at])
		case in[i] == 'u':
			r, n := unicodeEscape(in[i+1:])
			if n == 0 {
				return nil, false
			}
			out = utf8.AppendRune(out, r)
			i += n
		default:
			return nil, false
		}
	}
	return out, true
}

// unicodeEscape reads the digits behind \u, and a second \uXXXX that makes a
// pair with it; n is the number of bytes read, 0 when that is no character.
func unicodeEscape(in []byte) (r rune, n int) {
	hex := func(at int) rune {
		if at+4 > len(in) {
			return -1
		}
		v, err := strconv.ParseUint(string(in[at:at+4]), 16, 16)
		if err != nil {
			return -1
		}
		return rune(v)
	}
	r = hex(0)
	switch {
	case r < 0:
		return 0, 0
	case !utf16.IsSurrogate(r):
		return r, 4
	case len(in) < 6 || in[4] != '\\' || in[5] != 'u':
		return 0, 0
	}
	if r = utf16.DecodeRune(r, hex(6)); r == utf8.RuneError {
		return 0, 0
	}
	return r, 10
}

// escape appends a string's inside as Jackson and Thrift write it: other than
// what must be escaped, bytes stand for themselves.
func escape(dst, text []byte) []byte {
	for _, c := range text {
		at := bytes.IndexByte([]byte("\"\\\b\f\n\r\t"), c)
		switch {
		case at >= 0:
			dst = append(dst, '\\', `"\bfnrt`[at])
		case c < ' ':
			dst = append(dst, '\\', 'u', '0', '0', "0123456789ABCDEF"[c>>4], "0123456789ABCDEF"[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return dst
}
