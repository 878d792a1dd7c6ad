package hms

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"

	"github.com/apache/thrift/lib/go/thrift"

	"hmsgate/frame"
)

// Wire reads and writes whole messages on a connection, raw or framed. It is used
// by one goroutine at a time.
type Wire struct {
	codec  *Codec
	conn   net.Conn
	in     *bufio.Reader
	raw    *thrift.TBinaryProtocol // reads from in
	framed bool
}

// NewWire is a wire over a connection that already knows its transport.
func NewWire(conn net.Conn, codec *Codec, framed bool) *Wire {
	w := &Wire{codec: codec, conn: conn, in: bufio.NewReader(conn), framed: framed}
	w.raw = thrift.NewTBinaryProtocolConf(thrift.NewStreamTransportR(unbuffered{w.in}), codec.thriftConf())
	return w
}

// unbuffered hides everything of a bufio.Reader but Read, so that the stream
// transport's own buffer is the only thing that reads ahead.
type unbuffered struct{ io.Reader }

// Sniff finds the transport by the first byte of the stream: 80 begins a strict
// message, 00 a frame of less than 16 MB (Apache Thrift, thrift-binary-protocol.md
// and THeader's protocol detection). It blocks until that byte is there.
func (w *Wire) Sniff() error {
	b, err := w.in.Peek(1)
	if err != nil {
		return err
	}
	switch b[0] {
	case 0x80:
		w.framed = false
	case 0x00:
		w.framed = true
	default:
		return fmt.Errorf("first byte %#02x: neither a strict message nor a frame", b[0])
	}
	return nil
}

// Read reads the next message. Errors that leave the stream in step, a method that
// is not in the inventory and a missing required field, come with the message.
func (w *Wire) Read() (*Message, error) {
	if !w.framed {
		return w.codec.readMessage(w.raw)
	}
	var head [4]byte
	if _, err := io.ReadFull(w.in, head[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n == 0 || uint64(n) > uint64(w.codec.Limits.Message) {
		return nil, fmt.Errorf("frame of %d bytes, at most %d: %w", n, w.codec.Limits.Message, ErrTooLong)
	}
	b := make([]byte, 0, min(int(n), 1<<16))
	for len(b) < int(n) {
		k := min(int(n)-len(b), 1<<16)
		b = append(b, make([]byte, k)...)
		if _, err := io.ReadFull(w.in, b[len(b)-k:]); err != nil {
			return nil, err
		}
	}
	return w.codec.DecodeMessage(b)
}

// Write writes a message.
func (w *Wire) Write(b []byte) error {
	if w.framed {
		b = append(binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(b)), uint32(len(b))), b...)
	}
	_, err := w.conn.Write(b)
	if k, ok := w.conn.(frame.Sink); ok && err == nil { // SASL's tokens end with a message
		err = k.End()
	}
	return err
}
