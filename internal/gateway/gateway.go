package gateway

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"hmsgate/frame"
	"hmsgate/internal/admin"
	"hmsgate/internal/config"
	"hmsgate/internal/locks"
	"hmsgate/internal/metrics"
	"hmsgate/internal/outbound"
	"hmsgate/internal/session"
	"hmsgate/internal/zk"
	"hmsgate/profiles"
	"hmsgate/route"
)

// Gateway is one running configuration.
type Gateway struct {
	cfg      *config.Config
	log      zerolog.Logger
	version  string
	started  time.Time
	table    *route.Table
	profiles *profiles.Set
	metrics  *metrics.Registry
	budget   *frame.Budget
	outbound *outbound.Dialer
	locks    *locks.Keeper
	zk       *zk.Conn         // of the lock store, nil when that is in memory
	store    *locks.ZooKeeper // that instances share, nil likewise
	security *security
	envs     map[string]*session.Env // by front profile

	listeners []*listener
	admin     *admin.Server
	health    []*health // by URI

	leaving  atomic.Bool // readiness is off
	draining atomic.Bool // sessions end at their next message border
	inFlight atomic.Int64
	clients  atomic.Int64
	away     atomic.Int64 // clients being turned away

	mu       sync.Mutex // guards sessions: those with a place, and those being turned away
	sessions map[*session.Session]struct{}
	running  sync.WaitGroup     // sessions and accept loops
	probing  sync.WaitGroup     // what works in the background
	life     context.Context    // of what the gateway asks metastores itself
	stop     context.CancelFunc // ends it
}

// New makes a gateway; Start opens its listeners.
func New(cfg *config.Config, log zerolog.Logger, version string) (*Gateway, error) {
	set, err := Profiles(cfg)
	if err != nil {
		return nil, err
	}
	table, err := Table(cfg)
	if err != nil {
		return nil, err
	}
	secure, err := newSecurity(cfg, log)
	if err != nil {
		return nil, err
	}
	g := &Gateway{cfg: cfg, log: log, version: version, started: time.Now(), table: table, profiles: set, budget: newBudget(cfg),
		security: secure,
		sessions: map[*session.Session]struct{}{}, envs: map[string]*session.Env{}}
	token := func(end string) { g.metrics.Token(end) }
	if g.outbound, err = outbound.New(cfg, outbound.Options{Log: log, Token: token}); err != nil {
		return nil, err
	}
	if g.locks, err = g.keeper(); err != nil {
		return nil, err
	}
	o := metrics.Options{Prefix: cfg.MetricsPrefix, Version: version, Held: g.budget.Used}
	if g.store != nil {
		o.LockStore = func() bool { return g.store.Err() == nil }
	}
	g.metrics = metrics.New(o)
	if _, ok := g.outbound.Status(); ok {
		g.metrics.Kerberos("backend", func() metrics.Login {
			k, _ := g.outbound.Status()
			return metrics.Login{LoggedIn: k.LoggedIn, End: k.End, Logins: k.Logins, Failures: k.Failures}
		})
	}
	g.life, g.stop = context.WithCancel(context.Background())
	g.health = g.patients()
	for _, l := range cfg.Listeners {
		if g.envs[l.FrontendProfile] == nil {
			if g.envs[l.FrontendProfile], err = g.env(l.FrontendProfile); err != nil {
				g.closeStore()
				return nil, fmt.Errorf("listener %s: %w", l.Name, err)
			}
		}
	}
	return g, nil
}

// Start opens all listeners and begins to serve.
func (g *Gateway) Start() error {
	for _, note := range slices.Concat(g.cfg.Notes, g.profiles.Notes(), g.table.Warnings(), g.security.notes) {
		g.log.Warn().Msg(note)
	}
	if a := g.security.tokens; a != nil {
		if err := a.Start(g.life); err != nil {
			return err
		}
	}
	for i := range g.cfg.Listeners {
		l, err := g.listen(&g.cfg.Listeners[i])
		if err != nil {
			g.closeListeners()
			g.closeStore()
			return err
		}
		g.listeners = append(g.listeners, l)
	}
	if g.cfg.Admin != "" {
		var err error
		if g.admin, err = admin.Listen(g.cfg.Admin, admin.Options{
			Ready: g.Readiness, Metrics: g.metrics.Handler(), Version: g.version}); err != nil {
			g.closeListeners()
			g.closeStore()
			return err
		}
		g.log.Info().Str("addr", g.admin.Addr().String()).Msg("admin listener")
	}
	g.keepTokens()
	g.probeAll(g.life)
	g.probing.Go(func() { g.locks.Run(g.life) })
	g.probing.Go(func() { g.outbound.Run(g.life) })
	for _, l := range g.listeners {
		g.running.Add(1)
		go func() {
			defer g.running.Done()
			g.accept(l)
		}()
		g.log.Info().Str("listener", l.cfg.Name).Str("addr", l.Addr().String()).Msg("listening")
	}
	return nil
}

// Addr is where the main listener listens.
func (g *Gateway) Addr() net.Addr { return g.listeners[0].Addr() }

// AdminAddr is where the admin listener listens, nil when there is none.
func (g *Gateway) AdminAddr() net.Addr {
	if g.admin == nil {
		return nil
	}
	return g.admin.Addr()
}

// ErrCut says that a drain had to cut calls in flight.
var ErrCut = errors.New("calls in flight were cut")

// Drain ends the gateway as the package comment says. When ctx ends, what is
// still there is cut at once.
func (g *Gateway) Drain(ctx context.Context) error {
	g.leaving.Store(true)
	if d := g.cfg.DrainDelay; d > 0 {
		g.log.Info().Dur("delay", d).Msg("draining: readiness is off, still accepting")
		sleep(ctx, d)
	}
	g.closeListeners()
	g.draining.Store(true)
	g.log.Info().Int64("clients", g.clients.Load()).Int64("calls", g.inFlight.Load()).Msg("draining: not accepting any more")
	g.each((*session.Session).Wake)
	err := g.finish(ctx)
	g.stop()
	g.probing.Wait()
	g.closeStore()
	g.outbound.Close()
	if g.admin != nil {
		bye, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = g.admin.Close(bye)
	}
	return err
}

// finish waits for sessions, then cuts what is left.
func (g *Gateway) finish(ctx context.Context) error {
	done := make(chan struct{})
	go func() { g.running.Wait(); close(done) }()
	ctx, cancel := context.WithTimeout(ctx, g.cfg.ShutdownTimeout)
	defer cancel()
	select {
	case <-done:
		g.metrics.Drained("clean")
		g.log.Info().Msg("drained")
		return nil
	case <-ctx.Done():
	}
	g.metrics.Drained("cut")
	g.log.Error().Int64("clients", g.clients.Load()).Msg("drain: time is over, cutting")
	g.stop()
	g.each((*session.Session).Cut)
	<-done
	return ErrCut
}

// Close ends the gateway at once.
func (g *Gateway) Close() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = g.Drain(ctx)
}

func (g *Gateway) each(f func(*session.Session)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for s := range g.sessions {
		f(s)
	}
}

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
