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
	hard  time.Time // when the connection ends whatever comes; zero: never
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
		l.rarm = fired
		if !l.hard.IsZero() && !now.Before(l.hard) {
			return 0, errIdle
		}
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
	if !l.hard.IsZero() {
		if l.rarm.Equal(l.hard) {
			return nil
		}
		l.rarm = l.hard
		return l.conn.SetDeadline(l.hard)
	}
	wait := l.s.opt.Idle
	if keep := l.s.env.keep; l.s.opened.Load() > 0 && (wait == 0 || wait > keep) {
		wait = keep
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

// fired stands for a deadline that is over and must be armed anew, also when
// none is wanted any more.
var fired = time.Unix(1, 0)

// backLink reads and writes a backend on behalf of the client: a wait longer
// than a second or two looks whether the client is still there.
type backLink struct {
	link
	caller *link
	until  time.Time // the call's limit; zero: none
}

// Read blocks for the backend's bytes.
func (l *backLink) Read(p []byte) (int, error) {
	for {
		if err := l.arm(); err != nil {
			return 0, err
		}
		n, err := l.conn.Read(p)
		if n > 0 || err == nil || !timedOut(err) {
			return n, err
		}
		if err := l.look(); err != nil {
			return 0, err
		}
	}
}

// Write blocks until the backend has taken p.
func (l *backLink) Write(p []byte) (done int, err error) {
	for {
		if err := l.arm(); err != nil {
			return done, err
		}
		n, err := l.conn.Write(p[done:])
		done += n
		if err == nil || !timedOut(err) {
			return done, err
		}
		if err := l.look(); err != nil {
			return done, err
		}
	}
}

// arm sets one deadline for both directions, seldom.
func (l *backLink) arm() error {
	now := time.Now()
	if l.rarm.Sub(now) >= time.Second && (l.until.IsZero() || !l.rarm.After(l.until)) {
		return nil
	}
	l.rarm = now.Add(2 * time.Second)
	if !l.until.IsZero() && l.rarm.After(l.until) {
		l.rarm = l.until
	}
	return l.conn.SetDeadline(l.rarm)
}

// look says why a wait is to be given up.
func (l *backLink) look() error {
	l.rarm = time.Time{}
	if l.caller.gone() {
		return errCallerGone
	}
	if !l.until.IsZero() && !time.Now().Before(l.until) {
		return errTimeout
	}
	return nil
}
