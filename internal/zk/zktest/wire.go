package zktest

import (
	"encoding/binary"
	"errors"
	"io"
)

// Opcodes (ZooDefs.OpCode) and errors (KeeperException.Code).
const (
	opCreate       = 1
	opDelete       = 2
	opGetData      = 4
	opSetData      = 5
	opSync         = 9
	opPing         = 11
	opGetChildren2 = 12
	opMulti        = 14
	opAuth         = 100
	opClose        = -11

	errUnimplemented = -6
	errNoNode        = -101
	errNoAuth        = -102
	errBadVersion    = -103
	errNodeExists    = -110
	errNotEmpty      = -111
)

var be = binary.BigEndian

// reader takes a record apart; after its end it gives zeroes and sets bad.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) take(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.bad, r.b = true, nil
		return make([]byte, 8)
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

func (r *reader) i32() int32   { return int32(be.Uint32(r.take(4))) }
func (r *reader) i64() int64   { return int64(be.Uint64(r.take(8))) }
func (r *reader) bool() bool   { return r.take(1)[0] != 0 }
func (r *reader) text() string { return string(r.bytes()) }

func (r *reader) bytes() []byte {
	n := r.i32()
	if n < 0 {
		return nil
	}
	if b := r.take(int(n)); !r.bad {
		return append([]byte{}, b...)
	}
	return nil
}

func putI32(b []byte, n int32) []byte   { return be.AppendUint32(b, uint32(n)) }
func putI64(b []byte, n int64) []byte   { return be.AppendUint64(b, uint64(n)) }
func putBytes(b, v []byte) []byte       { return append(putI32(b, int32(len(v))), v...) }
func putText(b []byte, v string) []byte { return putBytes(b, []byte(v)) }

func readPacket(r io.Reader) (*reader, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n := be.Uint32(head[:])
	if n > 0xfffff { // jute.maxbuffer: a server closes the connection
		return nil, errors.New("packet too long")
	}
	b := make([]byte, n)
	_, err := io.ReadFull(r, b)
	return &reader{b: b}, err
}

func writePacket(w io.Writer, b []byte) error {
	_, err := w.Write(append(putI32(nil, int32(len(b))), b...))
	return err
}
