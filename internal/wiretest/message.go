package wiretest

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Message types of the strict binary protocol (Apache Thrift,
// doc/specs/thrift-binary-protocol.md).
const (
	TypeCall      byte = 1
	TypeReply     byte = 2
	TypeException byte = 3
	TypeOneway    byte = 4
)

// Wire types of the binary protocol, same source.
const (
	WireStop   byte = 0
	WireBool   byte = 2
	WireByte   byte = 3
	WireDouble byte = 4
	WireI16    byte = 6
	WireI32    byte = 8
	WireI64    byte = 10
	WireString byte = 11
	WireStruct byte = 12
	WireMap    byte = 13
	WireSet    byte = 14
	WireList   byte = 15
)

// Message is one whole message of a raw strict-binary stream.
type Message struct {
	Method string
	Type   byte
	Seq    int32
	Bytes  []byte // header to STOP, a part of the stream it was cut from
	Body   int    // where in Bytes the argument or result struct begins
}

var (
	errShort = errors.New("stream ends inside a message")
	errDepth = errors.New("nested deeper than 200")
)

// Messages cuts a stream into its messages. The rest is what follows the last
// whole one: empty, a message that was broken off, or bytes that are no strict
// binary at all (Parse tells which).
func Messages(stream []byte) (msgs []Message, rest []byte) {
	for len(stream) > 0 {
		m, err := Parse(stream)
		if err != nil {
			return msgs, stream
		}
		msgs = append(msgs, m)
		stream = stream[len(m.Bytes):]
	}
	return msgs, nil
}

// Parse reads the message at the beginning of b.
func Parse(b []byte) (Message, error) {
	d := &reader{b: b}
	head := uint32(d.int(4))
	if d.err == nil && head&0xffffff00 != 0x80010000 {
		return Message{}, fmt.Errorf("not strict binary: begins with % x", b[:4])
	}
	name := d.bytes(d.int(4))
	seq := int32(d.int(4))
	at := d.at
	d.structure(0)
	if d.err != nil {
		return Message{}, d.err
	}
	return Message{Method: string(name), Type: byte(head), Seq: seq, Bytes: b[:d.at:d.at], Body: at}, nil
}

// IsShort tells a message that was broken off from one that is malformed.
func IsShort(err error) bool { return errors.Is(err, errShort) }

// reader reads forward; after the first error it reads nothing more.
type reader struct {
	b   []byte
	at  int
	err error
}

func (d *reader) bytes(n int64) []byte {
	switch {
	case d.err != nil:
		return nil
	case n < 0:
		d.err = fmt.Errorf("negative length %d at byte %d", n, d.at)
		return nil
	case n > int64(len(d.b)-d.at):
		d.err = errShort
		return nil
	}
	d.at += int(n)
	return d.b[d.at-int(n) : d.at]
}

// int reads a signed big-endian number of n bytes.
func (d *reader) int(n int64) int64 {
	b := d.bytes(n)
	if d.err != nil {
		return 0
	}
	switch n {
	case 1:
		return int64(int8(b[0]))
	case 2:
		return int64(int16(binary.BigEndian.Uint16(b)))
	case 4:
		return int64(int32(binary.BigEndian.Uint32(b)))
	}
	return int64(binary.BigEndian.Uint64(b))
}

func (d *reader) structure(depth int) {
	for d.err == nil {
		t := byte(d.int(1))
		if d.err != nil || t == WireStop {
			return
		}
		d.int(2)
		d.value(t, depth+1)
	}
}

func (d *reader) value(t byte, depth int) {
	if d.err == nil && depth > 200 {
		d.err = errDepth
	}
	if d.err != nil {
		return
	}
	switch t {
	case WireBool, WireByte:
		d.bytes(1)
	case WireI16:
		d.bytes(2)
	case WireI32:
		d.bytes(4)
	case WireI64, WireDouble:
		d.bytes(8)
	case WireString:
		d.bytes(d.int(4))
	case WireStruct:
		d.structure(depth)
	case WireList, WireSet:
		e := byte(d.int(1))
		for n := d.int(4); n > 0 && d.err == nil; n-- {
			d.value(e, depth+1)
		}
	case WireMap:
		k, v := byte(d.int(1)), byte(d.int(1))
		for n := d.int(4); n > 0 && d.err == nil; n-- {
			d.value(k, depth+1)
			d.value(v, depth+1)
		}
	default:
		d.err = fmt.Errorf("unknown type %d at byte %d", t, d.at-1)
	}
}
