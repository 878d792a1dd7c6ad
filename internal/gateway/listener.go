package gateway

import (
	"errors"
	"fmt"
	"net"
	"runtime/debug"
	"strings"
	"time"

	"hmsgate/internal/config"
	"hmsgate/internal/session"
)

// listener is one address clients connect to.
type listener struct {
	net.Listener
	cfg *config.Listener
	env *session.Env
	opt session.Options
}

// current is the environment of the listener's sessions.
func (l *listener) current() *session.Env { return l.env }

// Places for clients that are told that there is no place, and how long one
// may take to hear it. Beyond them the connection is closed without a word.
const (
	maxAway      = 64
	awayPatience = 2 * time.Second
)

func (g *Gateway) listen(cfg *config.Listener) (*listener, error) {
	ln, err := net.Listen("tcp", cfg.Bind) // the system's backlog, not Java's 50
	if err != nil {
		return nil, fmt.Errorf("listener %s %q: %w", cfg.Name, cfg.Bind, err)
	}
	opt := session.Options{Raw: cfg.Raw, Framed: cfg.Framed, Old: cfg.AcceptOldBinary, Idle: cfg.ReadTimeout}
	if s := &cfg.Security; s.Mode == config.ModeNone {
		opt.UGI = session.UGI{Drop: s.SetUGI == config.UGIIgnore, Need: s.SetUGI == config.UGIRequire}
		if s.SetUGI == config.UGIFixed {
			opt.UGI.User = s.SetUGIUser
		}
	}
	if k, ok := g.outbound.Status(); ok {
		opt.Own, _, _ = strings.Cut(strings.ReplaceAll(k.Principal, "@", "/"), "/")
	}
	if d := g.door(cfg); d != nil {
		opt.Door = d
	}
	if cfg.DefaultCatalog != "" {
		opt.Default = g.table.Catalog(cfg.DefaultCatalog)
	}
	return &listener{ln, cfg, g.envs[cfg.FrontendProfile], opt}, nil
}

func (g *Gateway) closeListeners() {
	for _, l := range g.listeners {
		_ = l.Close()
	}
}

// accept serves a listener until it is closed. A shortage of descriptors is
// waited out: it ends when clients leave.
func (g *Gateway) accept(l *listener) {
	for wait := time.Duration(0); ; {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			wait = min(max(2*wait, 5*time.Millisecond), time.Second)
			g.log.Error().Err(err).Str("listener", l.cfg.Name).Dur("wait", wait).Msg("accept")
			time.Sleep(wait)
			continue
		}
		wait = 0
		g.admit(l, conn)
	}
}

// admit gives a client its session, or tells it that there is no place.
func (g *Gateway) admit(l *listener, conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		k := l.cfg.KeepAlive
		_ = tcp.SetKeepAliveConfig(net.KeepAliveConfig{Enable: k.Enabled, Idle: k.Idle, Interval: k.Interval, Count: k.Count})
	}
	s := session.New(l.current, conn, l.opt)
	if n := g.clients.Add(1); g.cfg.Limits.Connections > 0 && n > int64(g.cfg.Limits.Connections) {
		g.clients.Add(-1)
		g.turnAway(s)
		return
	}
	g.metrics.ClientOpened()
	g.enter(s)
	go func() {
		defer func() {
			g.clients.Add(-1)
			g.metrics.ClientClosed()
			g.leave(s)
		}()
		defer g.survive(s)
		s.Run()
	}()
}

// enter and leave keep the list of sessions that a drain wakes and cuts.
func (g *Gateway) enter(s *session.Session) {
	g.running.Add(1)
	g.mu.Lock()
	g.sessions[s] = struct{}{}
	g.mu.Unlock()
}

func (g *Gateway) leave(s *session.Session) {
	g.mu.Lock()
	delete(g.sessions, s)
	g.mu.Unlock()
	g.running.Done()
}

// survive keeps one client's defect from taking the others down.
func (g *Gateway) survive(s *session.Session) {
	if v := recover(); v != nil {
		g.log.Error().Str("panic", fmt.Sprint(v)).Str("stack", string(debug.Stack())).Msg("session ended by a defect of the gateway: please report it")
		s.Cut()
	}
}

func (g *Gateway) turnAway(s *session.Session) {
	g.metrics.Refused("limit")
	if g.away.Add(1) > maxAway {
		g.away.Add(-1)
		s.Cut()
		return
	}
	g.enter(s)
	go func() {
		defer g.leave(s)
		defer g.away.Add(-1)
		defer g.survive(s)
		s.TurnAway("too many clients (limits.connections)", awayPatience)
	}()
}
