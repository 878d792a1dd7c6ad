package zk

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"
)

// rotation offers the servers in turn. Unlike the library's own it leaves names
// to each dial, so that a name server that is away does not end the start, and
// a server may move.
type rotation struct {
	mu      sync.Mutex // guards what follows
	servers []string
	next    int
	tried   int // since the last success
}

func (r *rotation) Init(servers []string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.servers = servers
	return nil
}

func (r *rotation) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.servers)
}

// Next is the server to try; all says that every one has been tried since the
// last success, upon which the library pauses for a second.
func (r *rotation) Next() (server string, all bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	server, all = r.servers[r.next], r.tried > 0 && r.tried%len(r.servers) == 0
	r.next = (r.next + 1) % len(r.servers)
	r.tried++
	return server, all
}

func (r *rotation) Connected() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tried = 0
}

// dialer makes connections on which no read waits for ever, and can end them.
type dialer struct {
	attempt time.Duration // for a server to accept, and then to answer for the first time
	session time.Duration
	life    context.Context
	stop    context.CancelFunc

	mu   sync.Mutex // guards what follows
	conn net.Conn
	err  error
}

// newDialer leaves time for a second server, and a third.
func newDialer(connect, session time.Duration) *dialer {
	d := &dialer{attempt: connect / 3, session: session, err: errors.New("none was tried yet")}
	d.life, d.stop = context.WithCancel(context.Background())
	return d
}

func (d *dialer) dial(network, addr string, _ time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(d.life, d.attempt)
	defer cancel()
	c, err := (&net.Dialer{}).DialContext(ctx, network, addr)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.err = err
	if err != nil {
		return nil, err
	}
	if d.life.Err() != nil {
		_ = c.Close()
		return nil, net.ErrClosed
	}
	d.conn = &bounded{Conn: c, most: d.attempt, later: d.session}
	return d.conn, nil
}

// reason is why the last dial failed.
func (d *dialer) reason() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err != nil {
		return d.err.Error()
	}
	return "the server closed the connection or did not answer"
}

func (d *dialer) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stop()
	if d.conn != nil {
		_ = d.conn.Close()
	}
}

// bounded cuts deadlines short: the library gives a server that accepts and
// then says nothing, as one that is starting does, more than six session
// timeouts. Only the goroutine that reads sets deadlines of reads.
type bounded struct {
	net.Conn
	most, later time.Duration // until the first answer, and after it
}

func (b *bounded) SetReadDeadline(t time.Time) error {
	if most := time.Now().Add(b.most); t.IsZero() || t.After(most) {
		t = most
	}
	return b.Conn.SetReadDeadline(t)
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.Conn.Read(p)
	if n > 0 {
		b.most = b.later
	}
	return n, err
}
