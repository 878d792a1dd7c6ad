package session

import (
	"io"
	"math"
	"net"

	"hmsgate/frame"
	"hmsgate/sasl"
)

// transport is what messages from and to a backend travel on: its TCP connection,
// or what protects it.
type transport interface {
	io.Reader
	frame.Sink
	Rest() int     // bytes that have come, or were announced, and were not read
	Settled() bool // all bytes read are verified
	Park()         // gives memory back, between messages
}

// Protected is a connection to a backend with SASL or TLS on it. Its bytes
// leave when End closes a message.
type Protected interface {
	net.Conn
	transport
	NetConn() net.Conn
	// Over puts rw between the protection and the TCP connection.
	Over(rw io.ReadWriter, l sasl.DataLimits)
}

// open puts the session's way of waiting on a backend's TCP connection, below
// whatever protects it.
func (b *backend) open(conn net.Conn, s *Session) {
	b.conn = conn
	p, ok := conn.(Protected)
	if ok {
		conn = p.NetConn()
	}
	b.link = backLink{link: newLink(conn, 0), caller: &s.client.link}
	b.wire = &b.link
	if ok {
		// A reply of any size is one token of Java's: it comes piece by piece,
		// and its last byte goes on only when all are verified.
		p.Over(&b.link, sasl.DataLimits{Frame: math.MaxInt32, Stream: true, Budget: s.env.Budget})
		b.wire = p
	}
}

// A TCP connection protects nothing and buffers nothing.

func (*backLink) Rest() int     { return 0 }
func (*backLink) Settled() bool { return true }
func (*backLink) Park()         {}
