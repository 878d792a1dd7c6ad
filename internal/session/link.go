package session

import (
	"errors"
	"net"
	"os"
	"syscall"
	"time"
)

// What ends a wait.
var (
	errCallerGone = errors.New("the client has left")
	errTimeout    = errors.New("no answer in time")
	errIdle       = errors.New("idle for too long")
	errDrain      = errors.New("draining")
)

// link is a connection with deadlines that are re-armed rarely: arming costs
// 245 ns, looking at the clock 63.
type link struct {
	conn  net.Conn
	raw   syscall.RawConn // nil when the connection has none
	write time.Duration   // a write may take this long; 0: for ever
	rarm  time.Time       // when the armed read deadline fires
	warm  time.Time
}

func newLink(c net.Conn, write time.Duration) link {
	l := link{conn: c, write: write}
	if sc, ok := c.(syscall.Conn); ok {
		l.raw, _ = sc.SyscallConn()
	}
	return l
}

func (l *link) gone() bool { return l.raw != nil && gone(l.raw) }

// Write arms the deadline when less than the allowed time is left of it.
func (l *link) Write(p []byte) (int, error) {
	if l.write > 0 {
		if now := time.Now(); l.warm.Sub(now) < l.write {
			l.warm = now.Add(l.write + l.write/10 + time.Second)
			if err := l.conn.SetWriteDeadline(l.warm); err != nil {
				return 0, err
			}
		}
	}
	return l.conn.Write(p)
}

// End has nothing to mark: a message's border is in its bytes.
func (l *link) End() error { return nil }

func timedOut(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }

// clientLink reads from the client: no longer than idle between bytes, and
// with an eye on backend connections that nobody uses.
type clientLink struct {
	link
	s     *Session
	since time.Time // of the last byte
}

// Read blocks for the client's bytes. While it waits between calls, backend
// connections unused for a minute are closed.
//
// The race with a drain: the gateway sets draining, then a past deadline. We
// arm a future deadline, then look at draining. Whichever comes first, either
// our deadline is overwritten by the past one, or draining is already seen.
func (l *clientLink) Read(p []byte) (int, error) {
	now := time.Now()
	l.since = now
	for {
		if err := l.arm(now); err != nil {
			return 0, err
		}
		if l.s.idle.Load() && l.s.env.Draining.Load() {
			return 0, errDrain
		}
		n, err := l.conn.Read(p)
		if n > 0 || err == nil || !timedOut(err) {
			return n, err
		}
		now = time.Now()
		l.rarm = time.Time{}
		if idle := l.s.opt.Idle; idle > 0 && now.Sub(l.since) >= idle {
			return 0, errIdle
		}
		if l.s.idle.Load() {
			l.s.reap(now)
		}
	}
}

// arm sets a deadline at which the wait is looked at again.
func (l *clientLink) arm(now time.Time) error {
	wait := l.s.opt.Idle
	if l.s.opened.Load() > 0 && (wait == 0 || wait > backendIdle) {
		wait = backendIdle
	}
	if wait == 0 {
		if !l.rarm.IsZero() {
			l.rarm = time.Time{}
			return l.conn.SetReadDeadline(time.Time{})
		}
		return nil
	}
	if left := l.rarm.Sub(now); left < wait || left > 2*wait+time.Second {
		l.rarm = now.Add(wait + wait/10)
		return l.conn.SetReadDeadline(l.rarm)
	}
	return nil
}

// backLink reads from a backend on behalf of the client: a wait longer than
// a second or two looks whether the client is still there.
type backLink struct {
	link
	caller *link
	until  time.Time // the call's limit; zero: none
}

// Read blocks for the backend's bytes.
func (l *backLink) Read(p []byte) (int, error) {
	for {
		now := time.Now()
		if left := l.rarm.Sub(now); left < time.Second || !l.until.IsZero() && l.rarm.After(l.until) {
			l.rarm = now.Add(2 * time.Second)
			if !l.until.IsZero() && l.rarm.After(l.until) {
				l.rarm = l.until
			}
			if err := l.conn.SetReadDeadline(l.rarm); err != nil {
				return 0, err
			}
		}
		n, err := l.conn.Read(p)
		if n > 0 || err == nil || !timedOut(err) {
			return n, err
		}
		l.rarm = time.Time{}
		if l.caller.gone() {
			return 0, errCallerGone
		}
		if !l.until.IsZero() && !time.Now().Before(l.until) {
			return 0, errTimeout
		}
	}
}
