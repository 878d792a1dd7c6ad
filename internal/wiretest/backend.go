package wiretest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// stepPatience bounds every read, write and stall of a script, so that a test
// that waits for the wrong thing ends with a message.
const stepPatience = 15 * time.Second

// Backend is a metastore that does what it is told. Each connection it accepts
// follows the next script; what a script did not find as expected is reported
// as an error of the test when the backend closes, at the end of the test.
type Backend struct {
	tb     testing.TB
	framed bool
	ln     *net.TCPListener
	done   chan struct{} // closed by Close
	wg     sync.WaitGroup

	mu       sync.Mutex // guards everything below
	scripts  [][]Step
	others   []Step
	accepted int
	open     map[*net.TCPConn]bool
	calls    []Message
	errs     []error
	closed   bool
}

// NewBackend listens on a free port of 127.0.0.1. The n-th connection follows
// the n-th script; one more connection than scripts is an error, unless Others
// says otherwise.
func NewBackend(tb testing.TB, scripts ...[]Step) *Backend {
	tb.Helper()
	return listen(tb, false, scripts)
}

// NewFramedBackend is NewBackend on the framed transport.
func NewFramedBackend(tb testing.TB, scripts ...[]Step) *Backend {
	tb.Helper()
	return listen(tb, true, scripts)
}

func listen(tb testing.TB, framed bool, scripts [][]Step) *Backend {
	tb.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	b := &Backend{tb: tb, framed: framed, ln: ln.(*net.TCPListener), done: make(chan struct{}),
		scripts: scripts, open: map[*net.TCPConn]bool{}}
	b.wg.Add(1)
	go b.accept()
	tb.Cleanup(b.Close)
	return b
}

// Script is a list of steps, for readable calls of NewBackend.
func Script(steps ...Step) []Step { return append([]Step{}, steps...) }

// Others is the script of every connection beyond the listed ones. Call it
// before the first client connects.
func (b *Backend) Others(steps ...Step) *Backend {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.others = steps
	return b
}

// Addr is host:port.
func (b *Backend) Addr() string { return b.ln.Addr().String() }

// Accepted counts the connections so far.
func (b *Backend) Accepted() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.accepted
}

// Calls lists the calls read to their last byte, on all connections, in the
// order they were complete.
func (b *Backend) Calls() []Message {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]Message(nil), b.calls...)
}

// Refuse makes further connects fail; the connections there are go on.
func (b *Backend) Refuse() { b.ln.Close() }

// Close ends the listener and all connections, waits for their scripts and
// reports what they complained of. NewBackend arranges for it.
func (b *Backend) Close() {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return
	}
	b.closed = true
	close(b.done)
	b.ln.Close()
	for c := range b.open {
		c.Close()
	}
	b.mu.Unlock()
	b.wg.Wait()
	for _, err := range b.errs {
		b.tb.Errorf("scripted backend: %v", err)
	}
}

func (b *Backend) accept() {
	defer b.wg.Done()
	for {
		c, err := b.ln.AcceptTCP()
		if err != nil {
			return
		}
		b.mu.Lock()
		n := b.accepted
		b.accepted++
		steps := b.others
		if n < len(b.scripts) {
			steps = b.scripts[n]
		}
		if b.closed || steps == nil {
			if !b.closed {
				b.errs = append(b.errs, fmt.Errorf("connection %d, but there are %d scripts", n+1, len(b.scripts)))
			}
			b.mu.Unlock()
			c.Close()
			continue
		}
		b.open[c] = true
		b.wg.Add(1)
		b.mu.Unlock()
		go b.follow(&peer{TCPConn: c, b: b}, n+1, steps)
	}
}

func (b *Backend) follow(p *peer, n int, steps []Step) {
	defer b.wg.Done()
	var err error
	name := ""
	for i, s := range append(steps[:len(steps):len(steps)], untilClose) {
		p.SetDeadline(time.Now().Add(stepPatience))
		name = fmt.Sprintf("connection %d, step %d, %s", n, i+1, s.name)
		if err = s.run(p); err != nil || p.over {
			break
		}
	}
	p.Close()
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.open, p.TCPConn)
	if err != nil && !b.closed {
		b.errs = append(b.errs, fmt.Errorf("%s: %w", name, err))
	}
}

// peer is the server's end of one connection.
type peer struct {
	*net.TCPConn
	b    *Backend
	buf  []byte  // read, not yet part of a call
	last Message // the call that Answer answers
	over bool    // the script ended the connection
}

// fill reads more; a closed connection is io.EOF however it was closed.
func (p *peer) fill() error {
	var tmp [64 << 10]byte
	n, err := p.Read(tmp[:])
	p.buf = append(p.buf, tmp[:n]...)
	if n > 0 {
		return nil
	}
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return fmt.Errorf("nothing came for %v", stepPatience)
	}
	return io.EOF
}

// call reads one whole call, io.EOF when the client left between two calls.
func (p *peer) call() (Message, error) {
	for {
		m, used, err := p.parse()
		if err == nil && used > 0 {
			p.buf = p.buf[used:]
			p.last = m
			p.b.mu.Lock()
			p.b.calls = append(p.b.calls, m)
			p.b.mu.Unlock()
			return m, nil
		}
		if err != nil && !IsShort(err) {
			return m, err
		}
		if err := p.fill(); err != nil {
			if err == io.EOF && len(p.buf) > 0 {
				return m, fmt.Errorf("the client left after %d bytes of a call", len(p.buf))
			}
			return m, err
		}
	}
}

func (p *peer) parse() (Message, int, error) {
	if !p.b.framed {
		if len(p.buf) < 4 {
			return Message{}, 0, errShort
		}
		m, err := Parse(p.buf)
		return m, len(m.Bytes), err
	}
	if len(p.buf) < 4 || uint64(len(p.buf)-4) < uint64(binary.BigEndian.Uint32(p.buf)) {
		return Message{}, 0, errShort
	}
	n := int(binary.BigEndian.Uint32(p.buf))
	m, err := Parse(p.buf[4 : 4+n])
	if err != nil {
		return m, 0, fmt.Errorf("frame of %d bytes: %v", n, err)
	}
	if len(m.Bytes) != n {
		return m, 0, fmt.Errorf("frame of %d bytes holds a message of %d", n, len(m.Bytes))
	}
	return m, 4 + n, nil
}

// reply writes one message, in a frame where the transport has them.
func (p *peer) reply(message []byte) error {
	if p.b.framed {
		message = Framed(message)
	}
	_, err := p.Write(message)
	return err
}
