package hms

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"hmsgate/frame"
	"hmsgate/profiles"
)

// Options of a client.
type Options struct {
	Framed bool
	Limits *Limits // nil for DefaultLimits
}

// Client calls a metastore over one connection, one call at a time; further
// callers wait. After an error of the connection or of the protocol it is of no
// more use: dial again.
type Client struct {
	codec *Codec
	conn  net.Conn
	wire  *Wire

	mu     sync.Mutex
	seq    int32
	broken error
}

// Dial connects to host:port.
func Dial(ctx context.Context, addr string, inv *profiles.Inventory, o Options) (*Client, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return NewClient(conn, inv, o), nil
}

// NewClient is a client on a connection, which it then owns.
func NewClient(conn net.Conn, inv *profiles.Inventory, o Options) *Client {
	codec := NewCodec(inv)
	if o.Limits != nil {
		codec.Limits = *o.Limits
	}
	return &Client{codec: codec, conn: conn, wire: NewWire(conn, codec, o.Framed)}
}

// Codec is what the client reads and writes with.
func (c *Client) Codec() *Codec { return c.codec }

// Close closes the connection. A call in flight fails.
func (c *Client) Close() error { return c.conn.Close() }

// Call calls a method and waits for its reply, at most until ctx ends. The error is
// an *Exception or *AppError when the metastore said so; then the client can be
// used on. A one-way method returns as soon as it is written.
func (c *Client) Call(ctx context.Context, method string, args Struct) (any, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken != nil {
		return nil, fmt.Errorf("%s: %w: %w", method, ErrBroken, c.broken)
	}
	c.seq++
	b, err := c.codec.EncodeCall(method, c.seq, args)
	if err != nil {
		return nil, err
	}
	stop := c.watch(ctx)
	m, err := c.exchange(method, b)
	stop()
	if err != nil {
		switch cause := ctx.Err(); {
		case cause != nil:
			err = errors.Join(cause, err)
		case errors.Is(err, os.ErrDeadlineExceeded): // the socket's clock was first
			err = errors.Join(context.DeadlineExceeded, err)
		}
		c.broken = err
		c.conn.Close()
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	return m.outcome(c.codec)
}

// watch makes ctx's end the connection's deadline; the stop function takes it away.
func (c *Client) watch(ctx context.Context) (stop func()) {
	if d, ok := ctx.Deadline(); ok {
		c.conn.SetDeadline(d)
	} else {
		c.conn.SetDeadline(time.Time{})
	}
	fired := make(chan struct{})
	off := context.AfterFunc(ctx, func() { c.conn.SetDeadline(time.Unix(1, 0)); close(fired) })
	return func() {
		if !off() { // a late one would cut the next call
			<-fired
		}
	}
}

func (c *Client) exchange(method string, b []byte) (*Message, error) {
	if err := c.wire.Write(b); err != nil {
		return nil, err
	}
	if c.codec.Inventory.Methods[method].Oneway {
		return nil, nil
	}
	m, err := c.wire.Read()
	switch {
	case m == nil:
		return nil, err
	case m.Seq != c.seq:
		return nil, fmt.Errorf("reply has sequence id %d, want %d", m.Seq, c.seq)
	case m.Method != method && m.Failure == nil:
		return nil, fmt.Errorf("reply is to %q, want %q", m.Method, method)
	case m.Type != frame.Reply && m.Type != frame.Exception:
		return nil, fmt.Errorf("got a %v, want a reply", m.Type)
	}
	return m, err
}

// outcome is what a reply means to the caller.
func (m *Message) outcome(c *Codec) (any, error) {
	switch {
	case m == nil:
		return nil, nil
	case m.Failure != nil:
		return nil, m.Failure
	case m.Thrown != nil:
		return nil, m.Thrown
	case m.Result == nil && c.Inventory.Methods[m.Method].Returns != nil:
		return nil, &AppError{AppMissingResult, m.Method + " failed: unknown result"}
	}
	return m.Result, nil
}

// Broken says whether the connection is of no more use.
func (c *Client) Broken() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.broken != nil
}
