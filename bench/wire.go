package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// The strict binary protocol, just enough of it: an appending writer and a skipping reader.

const (
	tStop, tBool, tByte, tDouble, tI16, tI32, tI64      = 0, 2, 3, 4, 6, 8, 10
	tString, tStruct, tMap, tSet, tList            byte = 11, 12, 13, 14, 15

	kindCall, kindReply, kindException = 1, 2, 3

	strict    = 0x80010000
	maxString = 64 << 20
)

type enc struct{ b []byte }

func (e *enc) u8(v byte)   { e.b = append(e.b, v) }
func (e *enc) i16(v int16) { e.b = binary.BigEndian.AppendUint16(e.b, uint16(v)) }
func (e *enc) i32(v int32) { e.b = binary.BigEndian.AppendUint32(e.b, uint32(v)) }
func (e *enc) i64(v int64) { e.b = binary.BigEndian.AppendUint64(e.b, uint64(v)) }
func (e *enc) stop()       { e.u8(tStop) }

func (e *enc) str(s string) {
	e.i32(int32(len(s)))
	e.b = append(e.b, s...)
}

func (e *enc) head(method string, kind byte, seq int32) {
	e.b = binary.BigEndian.AppendUint32(e.b, strict|uint32(kind))
	e.str(method)
	e.i32(seq)
}

func (e *enc) field(t byte, id int16) { e.u8(t); e.i16(id) }
func (e *enc) list(t byte, n int)     { e.u8(t); e.i32(int32(n)) }

func (e *enc) strField(id int16, s string) {
	e.field(tString, id)
	e.str(s)
}

func (e *enc) i32Field(id int16, v int32) {
	e.field(tI32, id)
	e.i32(v)
}

func (e *enc) boolField(id int16, v byte) {
	e.field(tBool, id)
	e.u8(v)
}

func (e *enc) strsField(id int16, ss ...string) {
	e.field(tList, id)
	e.list(tString, len(ss))
	for _, s := range ss {
		e.str(s)
	}
}

func (e *enc) mapField(id int16, pairs ...string) {
	e.field(tMap, id)
	e.u8(tString)
	e.u8(tString)
	e.i32(int32(len(pairs) / 2))
	for _, s := range pairs {
		e.str(s)
	}
}

// A dec reads from a stream, counts what it consumed, and counts two strings when it meets them.
type dec struct {
	r     *bufio.Reader
	n     int64
	t     [8]byte
	names [2]string // what to count in skipped values
	seen  [2]int
}

func newDec(r io.Reader, size int) *dec { return &dec{r: bufio.NewReaderSize(r, size)} }

func (d *dec) raw(n int) ([]byte, error) {
	d.n += int64(n)
	_, err := io.ReadFull(d.r, d.t[:n])
	return d.t[:n], err
}

func (d *dec) u8() (byte, error) {
	d.n++
	return d.r.ReadByte()
}

func (d *dec) i16() (int16, error) {
	b, err := d.raw(2)
	return int16(binary.BigEndian.Uint16(b)), err
}

func (d *dec) i32() (int32, error) {
	b, err := d.raw(4)
	return int32(binary.BigEndian.Uint32(b)), err
}

func (d *dec) str() (string, error) {
	n, err := d.i32()
	if err != nil {
		return "", err
	}
	if n < 0 || n > maxString {
		return "", fmt.Errorf("string of %d bytes", n)
	}
	b := make([]byte, n)
	d.n += int64(n)
	_, err = io.ReadFull(d.r, b)
	return string(b), err
}

func (d *dec) head() (method string, kind byte, seq int32, err error) {
	v, err := d.i32()
	if err != nil {
		return
	}
	if uint32(v)&0xffff0000 != strict {
		return "", 0, 0, errors.New("not a strict binary message")
	}
	if method, err = d.str(); err != nil {
		return
	}
	seq, err = d.i32()
	return method, byte(v), seq, err
}

func (d *dec) discard(n int) error {
	d.n += int64(n)
	_, err := d.r.Discard(n)
	return err
}

func (d *dec) skip(t byte) error {
	switch t {
	case tBool, tByte:
		return d.discard(1)
	case tI16:
		return d.discard(2)
	case tI32:
		return d.discard(4)
	case tI64, tDouble:
		return d.discard(8)
	case tString:
		return d.skipString()
	case tStruct:
		return d.skipFields()
	case tList, tSet:
		return d.skipElements(1)
	case tMap:
		return d.skipElements(2)
	}
	return fmt.Errorf("unknown type %d", t)
}

func (d *dec) skipString() error {
	n, err := d.i32()
	if err != nil {
		return err
	}
	if n < 0 || n > maxString {
		return fmt.Errorf("string of %d bytes", n)
	}
	for i, name := range d.names {
		if int(n) == len(name) {
			if b, err := d.r.Peek(len(name)); err == nil && string(b) == name {
				d.seen[i]++
			}
		}
	}
	return d.discard(int(n))
}

func (d *dec) skipFields() error {
	for {
		t, err := d.u8()
		if err != nil || t == tStop {
			return err
		}
		if err := d.discard(2); err != nil {
			return err
		}
		if err := d.skip(t); err != nil {
			return err
		}
	}
}

// skipElements skips a list or set (one type) or a map (two).
func (d *dec) skipElements(types int) error {
	b, err := d.raw(types)
	if err != nil {
		return err
	}
	var ts [2]byte
	copy(ts[:], b)
	n, err := d.i32()
	for i := 0; i < int(n) && err == nil; i++ {
		for _, t := range ts[:types] {
			if err == nil {
				err = d.skip(t)
			}
		}
	}
	return err
}

// args reads an argument struct and returns its strings by field id.
func (d *dec) args() (map[int16]string, error) {
	m := map[int16]string{}
	for {
		t, err := d.u8()
		if err != nil || t == tStop {
			return m, err
		}
		id, err := d.i16()
		if err != nil {
			return nil, err
		}
		if t == tString {
			m[id], err = d.str()
		} else {
			err = d.skip(t)
		}
		if err != nil {
			return nil, err
		}
	}
}
