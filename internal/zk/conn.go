package zk

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
)

// Options of a Conn. Servers and the timeouts are required.
type Options struct {
	Servers        []string      // host:port
	ConnectTimeout time.Duration // for a session to come up, and for one call in all
	SessionTimeout time.Duration // asked for; the server has limits of its own
	BaseSleep      time.Duration // before a read is asked again, doubled each time
	MaxRetries     int           // of a read
	ACL            []ACL         // of every node made; nil: anyone may do anything
	Digest         string        // "user:password" to authenticate with, "" for nobody
	// Changed is told when a session comes up (nil) or is lost; it must not
	// block. Nil: nobody is.
	Changed func(err error)
}

// mostPending bounds calls that wait for an answer, whoever asked for them.
const mostPending = 256

// maxReply is more than any list of nodes of ours, and no more.
const maxReply = 16 << 20

// Conn is a connection that comes and goes. Make it with Open, end it with
// Close. It is safe for concurrent use.
type Conn struct {
	o    Options
	lib  *zk.Conn
	acl  []zk.ACL
	dial *dialer

	pending chan struct{} // a place for each call that waits
	life    context.Context
	stop    context.CancelFunc
	running sync.WaitGroup

	mu     sync.Mutex // guards what follows
	up     bool       // there is a session
	since  time.Time  // there has been none
	authed bool       // as far as that is asked for
	moved  chan struct{}
}

// Open begins to connect and does not wait for it.
func Open(o Options) (*Conn, error) {
	c := &Conn{o: o, acl: zk.WorldACL(zk.PermAll), dial: newDialer(o.ConnectTimeout, o.SessionTimeout),
		pending: make(chan struct{}, mostPending), since: time.Now(),
		authed: o.Digest == "", moved: make(chan struct{})}
	if o.ACL != nil {
		c.acl = nil
		for _, a := range o.ACL {
			c.acl = append(c.acl, zk.ACL{Perms: a.perms, Scheme: a.scheme, ID: a.id})
		}
	}
	c.life, c.stop = context.WithCancel(context.Background())
	lib, events, err := zk.Connect(o.Servers, o.SessionTimeout, zk.WithDialer(c.dial.dial),
		zk.WithHostProvider(&rotation{}), zk.WithLogger(silent{}), zk.WithLogInfo(false),
		zk.WithMaxBufferSize(maxReply), zk.WithEventCallback(c.event))
	if err != nil {
		c.stop()
		return nil, fmt.Errorf("ZooKeeper at %s: %w", strings.Join(o.Servers, ","), err)
	}
	c.lib = lib
	c.running.Add(1)
	go func() { // the library closes it when its own goroutines are done
		defer c.running.Done()
		for range events {
		}
	}()
	if o.Digest != "" {
		c.running.Add(1)
		go func() {
			defer c.running.Done()
			c.authenticate()
		}()
	}
	return c, nil
}

// Close ends the session.
func (c *Conn) Close() {
	c.mu.Lock()
	c.stop()
	c.mu.Unlock()
	c.lib.Close()
	c.dial.close() // what does not answer is not waited for
	c.running.Wait()
}

// event is called by the library for each change of its state.
func (c *Conn) event(e zk.Event) {
	if e.Type != zk.EventSession {
		return
	}
	switch e.State {
	case zk.StateHasSession:
		c.change(true)
	case zk.StateDisconnected, zk.StateExpired, zk.StateAuthFailed:
		c.change(false)
	}
}

// change notes that a session came up or was lost; one that is not
// authenticated yet does not count.
func (c *Conn) change(up bool) {
	c.mu.Lock()
	if up && !c.authed || up == c.up {
		c.mu.Unlock()
		return
	}
	if !up {
		c.since = time.Now()
	}
	c.up = up
	close(c.moved)
	c.moved = make(chan struct{})
	c.mu.Unlock()
	if c.o.Changed != nil {
		c.o.Changed(c.Err())
	}
}

// authenticate until it has succeeded once; the library does it again on each
// further connection (resendZkAuth).
func (c *Conn) authenticate() {
	for c.life.Err() == nil {
		if err := c.lib.AddAuth("digest", []byte(c.o.Digest)); err == nil {
			c.mu.Lock()
			c.authed = true
			c.mu.Unlock()
			if c.lib.State() == zk.StateHasSession {
				c.change(true)
			}
			return
		}
		select {
		case <-c.life.Done():
		case <-time.After(c.o.BaseSleep):
		}
	}
}

// Err is why there is no session, nil when there is one.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.up {
		return nil
	}
	return fmt.Errorf("%w: no session with any of %s: %s", ErrUnavailable, strings.Join(c.o.Servers, ","), c.dial.reason())
}

// Session waits for one as a call does, and says why there is none.
func (c *Conn) Session() error {
	ctx, cancel := context.WithTimeout(c.life, c.o.ConnectTimeout)
	defer cancel()
	return c.session(ctx)
}

// session waits for one, or fails when there has been none for too long.
func (c *Conn) session(ctx context.Context) error {
	for {
		c.mu.Lock()
		up, moved, left := c.up, c.moved, c.o.ConnectTimeout-time.Since(c.since)
		c.mu.Unlock()
		switch {
		case up:
			return nil
		case left <= 0 || ctx.Err() != nil:
			return c.Err()
		}
		t := time.NewTimer(left)
		select {
		case <-moved:
		case <-t.C:
		case <-ctx.Done():
		}
		t.Stop()
	}
}

// do makes one call of the library's, which cannot be called off: one that
// takes too long is left to end when the library gives its connection up.
func (c *Conn) do(ctx context.Context, call func() error) error {
	if err := c.session(ctx); err != nil {
		return err
	}
	select {
	case c.pending <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("%w: %d calls are waiting for it", ErrUnavailable, mostPending)
	}
	if !c.enter() {
		<-c.pending
		return fmt.Errorf("%w: closed", ErrUnavailable)
	}
	done := make(chan error, 1)
	go func() {
		defer c.running.Done()
		defer func() { <-c.pending }()
		done <- call()
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("%w within %v", ErrUnavailable, c.o.ConnectTimeout)
	}
}

// enter counts a call that Close waits for; false when that has begun.
func (c *Conn) enter() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.life.Err() != nil {
		return false
	}
	c.running.Add(1)
	return true
}

// read is do, again when the connection broke.
func (c *Conn) read(verb, path string, call func() error) error {
	ctx, cancel := context.WithTimeout(c.life, c.o.ConnectTimeout)
	defer cancel()
	wait := c.o.BaseSleep
	for try := 0; ; try++ {
		err := failed(verb, path, c.do(ctx, call))
		if !errors.Is(err, ErrUnavailable) || try >= c.o.MaxRetries || ctx.Err() != nil || c.lost() {
			return err
		}
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-ctx.Done():
		}
		t.Stop()
		wait *= 2
	}
}

// lost says whether there has been no session for so long that nobody waits.
func (c *Conn) lost() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.up && time.Since(c.since) >= c.o.ConnectTimeout
}

// Fresh makes the server catch up with all that was confirmed anywhere before
// it is asked for a path.
func (c *Conn) Fresh(path string) error {
	return c.read("sync", path, func() error {
		_, err := c.lib.Sync(path)
		return err
	})
}

// Get gives a node's data and version.
func (c *Conn) Get(path string) ([]byte, int32, error) {
	type node struct {
		data    []byte
		version int32
	}
	got := make(chan node, c.o.MaxRetries+1) // a call that was left may still answer
	err := c.read("get", path, func() error {
		data, stat, err := c.lib.Get(path)
		if err == nil {
			got <- node{data, stat.Version}
		}
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	n := <-got
	return n.data, n.version, nil
}

// Children gives the names below a node.
func (c *Conn) Children(path string) ([]string, error) {
	got := make(chan []string, c.o.MaxRetries+1)
	err := c.read("list", path, func() error {
		names, _, err := c.lib.Children(path)
		if err == nil {
			got <- names
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return <-got, nil
}

// Multi does all of its parts or none. The error is that of the first part that
// cannot be done.
func (c *Conn) Multi(ops ...Op) error {
	size := 0
	reqs := make([]any, len(ops))
	for i := range ops {
		reqs[i] = ops[i].request(c.acl)
		size += len(ops[i].path) + len(ops[i].data)
	}
	if size > maxPacket {
		return fmt.Errorf("%s %s: %d bytes, ZooKeeper takes at most %d", ops[0].verb, ops[0].path, size, maxPacket)
	}
	ctx, cancel := context.WithTimeout(c.life, c.o.ConnectTimeout)
	defer cancel()
	at := make(chan int, 1)
	err := c.do(ctx, func() error {
		parts, err := c.lib.Multi(reqs...)
		at <- firstFailed(parts)
		return err
	})
	o := ops[0]
	if answers[err] != nil {
		o = ops[min(<-at, len(ops)-1)]
	}
	return failed(o.verb, o.path, err)
}

// firstFailed: the server undoes the parts before the one that failed, and
// reports those behind it as of its own code (DataTree.processTxn, -2).
func firstFailed(parts []zk.MultiResponse) int {
	for i, p := range parts {
		if answers[p.Error] != nil {
			return i
		}
	}
	return 0
}

// Root makes the nodes of a path, those that are not there.
func (c *Conn) Root(path string) error {
	for i := 1; i <= len(path); i++ {
		if i < len(path) && path[i] != '/' {
			continue
		}
		if err := c.Multi(Create(path[:i], nil)); err != nil && !errors.Is(err, ErrExists) {
			return err
		}
	}
	return nil
}

// Servers takes a connect string apart, as Java's clients read it:
// host:port,host:port/root, the port being 2181 where none is given.
func Servers(connect string) (servers []string, root string, err error) {
	list, root := connect, ""
	if i := strings.IndexByte(connect, '/'); i >= 0 {
		list, root = connect[:i], strings.TrimRight(connect[i:], "/")
	}
	for _, s := range strings.Split(list, ",") {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		if !strings.Contains(s, ":") || strings.HasSuffix(s, "]") {
			s += ":2181"
		}
		host, port, err := net.SplitHostPort(s)
		if err != nil || host == "" || port == "" {
			return nil, "", fmt.Errorf("%q is not host:port", s)
		}
		servers = append(servers, s)
	}
	if len(servers) == 0 {
		return nil, "", errors.New("names no server")
	}
	return servers, root, CheckPath(root + "/x")
}

// CheckPath says what is wrong with the path of a node.
func CheckPath(path string) error {
	if !strings.HasPrefix(path, "/") || path == "/" || strings.HasSuffix(path, "/") {
		return errors.New("is not a path that begins with / and ends without")
	}
	for _, part := range strings.Split(path[1:], "/") {
		bad := strings.ContainsFunc(part, func(r rune) bool { return r <= ' ' || r > '~' })
		if part == "" || part == "." || part == ".." || bad {
			return fmt.Errorf("has a part %q that is no node's name", part)
		}
	}
	return nil
}

type silent struct{}

func (silent) Printf(string, ...any) {}
