package wiretest

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// Step is one thing a scripted backend does on a connection.
type Step struct {
	name string
	run  func(*peer) error
}

// Expect reads a call to its last byte and checks its method.
func Expect(method string) Step {
	return Step{"expect " + method, func(p *peer) error {
		m, err := p.call()
		if err == nil && m.Method != method {
			err = fmt.Errorf("got call %s, want %s", m.Method, method)
		}
		return err
	}}
}

// ExpectBytes reads a call and checks every byte of it.
func ExpectBytes(call []byte) Step {
	return Step{"expect bytes", func(p *peer) error {
		m, err := p.call()
		if err == nil && string(m.Bytes) != string(call) {
			err = fmt.Errorf("got call % x\nwant % x", m.Bytes, call)
		}
		return err
	}}
}

// ExpectBroken reads until the client leaves, which must be before its call
// was complete: the mark of a call that was not to be executed.
func ExpectBroken() Step {
	return Step{"expect a broken call", func(p *peer) error {
		m, err := p.call()
		if err == nil {
			return fmt.Errorf("got a whole call %s", m.Method)
		}
		if len(p.buf) == 0 {
			return fmt.Errorf("the client left without a byte of a call: %w", err)
		}
		p.over = true
		return nil
	}}
}

// ExpectClose reads until the client leaves, which must be at a message border.
func ExpectClose() Step {
	return Step{"expect close", func(p *peer) error {
		m, err := p.call()
		switch {
		case err == nil:
			return fmt.Errorf("got call %s", m.Method)
		case errors.Is(err, io.EOF):
			p.over = true
			return nil
		}
		return err
	}}
}

// untilClose follows every script: what else comes was not expected.
var untilClose = Step{"end of script", ExpectClose().run}

// ReadBytes reads n bytes, wherever in a message they end.
func ReadBytes(n int) Step {
	return Step{fmt.Sprintf("read %d bytes", n), func(p *peer) error {
		for len(p.buf) < n {
			if err := p.fill(); err != nil {
				return fmt.Errorf("after %d bytes: %w", len(p.buf), err)
			}
		}
		p.buf = p.buf[n:]
		return nil
	}}
}

// Send writes bytes as they are, without a frame.
func Send(b []byte) Step {
	return Step{fmt.Sprintf("send %d bytes", len(b)), func(p *peer) error {
		_, err := p.Write(b)
		return err
	}}
}

// Answer replies to the last call with a result struct, under its method and
// sequence id.
func Answer(result []byte) Step {
	return Step{"answer", func(p *peer) error {
		return p.reply(Reply(p.last.Method, p.last.Seq, result))
	}}
}

// Throw replies to the last call with an application exception.
func Throw(kind int32, text string) Step {
	return Step{"throw", func(p *peer) error {
		return p.reply(Exception(p.last.Method, p.last.Seq, kind, text))
	}}
}

// AnswerPart sends the first n bytes of what Answer would send. Followed by
// Close or Reset it is a backend that breaks in the middle of its reply.
func AnswerPart(result []byte, n int) Step {
	return Step{fmt.Sprintf("answer %d bytes", n), func(p *peer) error {
		b := Reply(p.last.Method, p.last.Seq, result)
		if p.b.framed {
			b = Framed(b)
		}
		_, err := p.Write(b[:min(n, len(b))])
		return err
	}}
}

// AnswerUnread replies to the last call, of which the client is to leave a part
// unread, and ends the script.
func AnswerUnread(result []byte) Step {
	return Step{"answer unread", func(p *peer) error {
		p.over = true
		if p.reply(Reply(p.last.Method, p.last.Seq, result)) == nil {
			return errors.New("the reply was read to its end")
		}
		return nil
	}}
}

// Serve answers calls until the client leaves. A nil answer closes the
// connection, an empty one is none at all (one-way calls); others are whole
// messages. The function may be called from several connections at a time.
func Serve(answer func(call Message) []byte) Step {
	return Step{"serve", func(p *peer) error {
		for {
			m, err := p.call()
			if errors.Is(err, io.EOF) {
				p.over = true
				return nil
			}
			if err != nil {
				return err
			}
			b := answer(m)
			if b == nil {
				p.over = true
				return nil
			}
			if len(b) > 0 {
				if err := p.reply(b); err != nil {
					return err
				}
			}
			p.SetDeadline(time.Now().Add(stepPatience))
		}
	}}
}

// Close closes the connection and ends the script.
func Close() Step {
	return Step{"close", func(p *peer) error {
		p.over = true
		return nil
	}}
}

// Reset ends the connection with a reset and ends the script.
func Reset() Step {
	return Step{"reset", func(p *peer) error {
		p.over = true
		return p.SetLinger(0)
	}}
}

// HalfClose ends what the backend sends; it goes on reading.
func HalfClose() Step {
	return Step{"half-close", func(p *peer) error { return p.CloseWrite() }}
}

// Gate holds a script at a Stall until it is opened.
type Gate struct {
	reached, opened chan struct{}
	once, first     sync.Once
}

// NewGate makes a closed gate.
func NewGate() *Gate {
	return &Gate{reached: make(chan struct{}), opened: make(chan struct{})}
}

// Reached is closed when the first script stands at the gate.
func (g *Gate) Reached() <-chan struct{} { return g.reached }

// Open lets scripts pass, now and later.
func (g *Gate) Open() { g.once.Do(func() { close(g.opened) }) }

// Stall waits at a gate. The connection stays open and nothing is read.
func Stall(g *Gate) Step {
	return Step{"stall", func(p *peer) error {
		g.first.Do(func() { close(g.reached) })
		t := time.NewTimer(stepPatience)
		defer t.Stop()
		select {
		case <-g.opened:
			return nil
		case <-p.b.done:
			p.over = true
			return nil
		case <-t.C:
			return fmt.Errorf("the gate stayed closed for %v", stepPatience)
		}
	}}
}
