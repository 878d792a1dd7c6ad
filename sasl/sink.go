package sasl

import (
	"encoding/binary"
	"io"
	"net"
	"sync"
)

// TokenMax is the longest token or frame we write, length not counted. It is
// what Java announces as its receive buffer; longer ones gain little (doc.go)
// and would cost each sending connection their size.
const TokenMax = 64 << 10

const (
	lengthHead = 4
	slack      = 512 // room for what a layer puts around a chunk
	bufferSize = lengthHead + TokenMax + slack
	directMin  = 16 << 10 // from here on a frame without a layer is not copied
)

// buffers serves sources and sinks of all connections.
var buffers = sync.Pool{New: func() any { return new([bufferSize]byte) }}

// Sink writes data frames; it is a frame.Sink.
//
//	len(4) token | len(4) token | ...        with a layer
//	len(4) bytes | ...                       without one
//
// Bytes collect until a token is full or End closes it. Between messages a
// sink holds no buffer.
type Sink struct {
	w     io.Writer
	layer Layer
	head  int // bytes before the plain text in buf
	chunk int // plain bytes in a full token
	buf   *[bufferSize]byte
	n     int // plain bytes in buf

	direct *net.TCPConn // takes large frames uncopied
	length [lengthHead]byte
	vec    [2][]byte
	bufs   net.Buffers
}

// Sink returns the writing side of the connection.
func (s *Session) Sink(w io.Writer) *Sink { return NewSink(w, s.Layer, s.SendMax) }

// NewSink writes to w tokens of at most sendMax bytes (0: TokenMax).
func NewSink(w io.Writer, layer Layer, sendMax int) *Sink {
	k := &Sink{w: w, layer: layer, head: lengthHead, chunk: TokenMax}
	if layer != nil {
		k.head += layer.Head()
		if sendMax <= 0 || sendMax > TokenMax {
			sendMax = TokenMax
		}
		k.chunk = layer.PlainMax(sendMax)
	} else {
		k.direct, _ = w.(*net.TCPConn)
	}
	return k
}

// Write takes p, which is not kept.
func (k *Sink) Write(p []byte) (int, error) {
	if k.direct != nil && len(p) >= directMin {
		return k.writeDirect(p)
	}
	done := 0
	for done < len(p) {
		if k.buf == nil {
			k.buf = buffers.Get().(*[bufferSize]byte)
		}
		m := copy(k.buf[k.head+k.n:k.head+k.chunk], p[done:])
		done += m
		if k.n += m; k.n == k.chunk {
			if err := k.flush(); err != nil {
				return done, err
			}
		}
	}
	return done, nil
}

// writeDirect sends what is buffered, then p as a frame of its own, in one
// system call.
func (k *Sink) writeDirect(p []byte) (int, error) {
	if err := k.flush(); err != nil {
		return 0, err
	}
	binary.BigEndian.PutUint32(k.length[:], uint32(len(p)))
	k.vec[0], k.vec[1] = k.length[:], p
	k.bufs = k.vec[:]
	n, err := k.bufs.WriteTo(k.direct)
	k.vec[0], k.vec[1] = nil, nil
	return max(int(n)-lengthHead, 0), err
}

// flush makes a token of what is buffered.
func (k *Sink) flush() error {
	if k.n == 0 {
		return nil
	}
	size := k.n
	if k.layer != nil {
		t, err := k.layer.Seal(k.buf[lengthHead:], k.n)
		if err != nil {
			return err
		}
		size = len(t)
	}
	k.n = 0
	binary.BigEndian.PutUint32(k.buf[:], uint32(size))
	_, err := k.w.Write(k.buf[:lengthHead+size])
	return err
}

// End closes the token: the message is complete and the peer shall have it.
func (k *Sink) End() error {
	err := k.flush()
	k.Drop()
	return err
}

// Drop forgets what was not sent yet and gives the buffer back: the message
// was cut, or the connection is at its end.
func (k *Sink) Drop() {
	k.n = 0
	if k.buf != nil {
		buffers.Put(k.buf)
		k.buf = nil
	}
}
