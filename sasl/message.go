package sasl

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Status is the first byte of a negotiation message (Thrift,
// TSaslTransport.NegotiationStatus).
type Status byte

// Statuses.
const (
	Start    Status = 1
	OK       Status = 2
	Bad      Status = 3
	Fault    Status = 4 // ERROR on the wire
	Complete Status = 5
)

var statusNames = [...]string{Start: "START", OK: "OK", Bad: "BAD", Fault: "ERROR", Complete: "COMPLETE"}

func (s Status) String() string {
	if s >= Start && s <= Complete {
		return statusNames[s]
	}
	return fmt.Sprintf("status %d", byte(s))
}

const messageHead = 5

var (
	errStatus = errors.New("unknown status byte")
	errLength = errors.New("message length out of bounds")
)

// AppendMessage appends one negotiation message.
func AppendMessage(dst []byte, s Status, payload []byte) []byte {
	dst = append(dst, byte(s))
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(payload)))
	return append(dst, payload...)
}

// growStep is how much is allocated before the bytes have arrived: a header
// that promises a long payload costs its sender that payload.
const growStep = 4 << 10

// readMessage reads one message. most says, for a status, how long its
// payload may be; it is asked before anything is allocated. No byte behind
// the message is read. The payload is valid until the next call with the
// same buf.
func readMessage(r io.Reader, buf *[]byte, most func(Status) int) (Status, []byte, error) {
	var head [messageHead]byte
	if _, err := io.ReadFull(r, head[:1]); err != nil {
		return 0, nil, err
	}
	s := Status(head[0])
	if s < Start || s > Complete { // before its length: a plain client may never send four more bytes
		return s, nil, fmt.Errorf("%w: %d", errStatus, head[0])
	}
	if err := readRest(r, head[1:]); err != nil {
		return s, nil, err
	}
	n := int64(int32(binary.BigEndian.Uint32(head[1:])))
	if limit := most(s); n < 0 || n > int64(limit) {
		return s, nil, fmt.Errorf("%w: %s of %d bytes, at most %d", errLength, s, n, limit)
	}
	b := (*buf)[:0]
	for int64(len(b)) < n {
		have, k := len(b), min(int(n)-len(b), growStep)
		if cap(b)-have < k {
			b = append(make([]byte, 0, max(2*cap(b), have+k)), b...)
		}
		b = b[:have+k]
		if err := readRest(r, b[have:]); err != nil {
			return s, nil, err
		}
	}
	*buf = b
	return s, b, nil
}

// readRest reads what must follow: an end of the stream is an unexpected one.
func readRest(r io.Reader, p []byte) error {
	_, err := io.ReadFull(r, p)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}
