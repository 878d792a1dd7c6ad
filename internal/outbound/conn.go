package outbound

import (
	"io"
	"net"

	"hmsgate/sasl"
)

// low is what TLS and SASL stand on: the TCP connection while it is made
// ready, then whatever its owner puts in its place.
type low struct {
	net.Conn
	rw io.ReadWriter
}

func (l *low) Read(p []byte) (int, error)  { return l.rw.Read(p) }
func (l *low) Write(p []byte) (int, error) { return l.rw.Write(p) }

// Conn is a protected connection to a metastore. Deadlines and addresses are
// those of the TCP connection. One goroutine uses it.
type Conn struct {
	net.Conn
	low     *low
	top     io.ReadWriter // TLS, or low
	session *sasl.Session // nil without SASL
	source  *sasl.Source
	sink    *sasl.Sink
}

func newConn(tcp net.Conn) *Conn {
	c := &Conn{Conn: tcp, low: &low{Conn: tcp, rw: tcp}}
	c.top = c.low
	return c
}

// begin makes source and sink of a negotiated session.
func (c *Conn) begin(s *sasl.Session, l sasl.DataLimits) {
	c.session, c.source, c.sink = s, s.Source(c.top, l), s.Sink(c.top)
}

// NetConn is the TCP connection.
func (c *Conn) NetConn() net.Conn { return c.Conn }

// Over puts rw between the protection and the TCP connection: TLS cannot go on
// after a write that a deadline has cut, nor can a token, so who retries must
// stand below. It is called before anything is read or written.
func (c *Conn) Over(rw io.ReadWriter, l sasl.DataLimits) {
	c.low.rw = rw
	if c.session != nil {
		c.begin(c.session, l)
	}
}

// Read gives out plain bytes.
func (c *Conn) Read(p []byte) (int, error) {
	if c.source != nil {
		return c.source.Read(p)
	}
	return c.top.Read(p)
}

// Write takes plain bytes. Under SASL they are sent when a token is full or
// End closes it.
func (c *Conn) Write(p []byte) (int, error) {
	if c.sink != nil {
		return c.sink.Write(p)
	}
	return c.top.Write(p)
}

// End sends what is left of a message.
func (c *Conn) End() error {
	if c.sink != nil {
		return c.sink.End()
	}
	return nil
}

// Rest is how many bytes have come, or were announced, that were not read.
func (c *Conn) Rest() int {
	if c.source != nil {
		return c.source.Rest()
	}
	return 0
}

// Settled says whether all bytes read so far are verified.
func (c *Conn) Settled() bool { return c.source == nil || c.source.Settled() }

// Park gives memory back between messages.
func (c *Conn) Park() {
	if c.source != nil {
		c.source.Park()
	}
}

// Close closes the TCP connection, without a word: a metastore takes that for
// what it is, and saying goodbye could block.
func (c *Conn) Close() error {
	if c.source != nil {
		c.source.Drop()
		c.sink.Drop()
	}
	return c.Conn.Close()
}
