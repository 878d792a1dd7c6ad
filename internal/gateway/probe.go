package gateway

import (
	"context"
	"errors"
	"sync"
	"time"

	"hmsgate/internal/admin"
	"hmsgate/internal/hms"
	"hmsgate/profiles"
	"hmsgate/route"
)

// How often a metastore is asked who it is: soon again until it answers,
// then at leisure.
const (
	probeFirst = 250 * time.Millisecond
	probeLast  = 10 * time.Second
	probeEvery = 30 * time.Second
	probeTime  = 10 * time.Second
)

// health is what probes know of one metastore.
type health struct {
	catalog int
	uri     *route.URI

	mu      sync.Mutex
	success time.Time
	failure time.Time
	latency time.Duration
	err     string
	version string
}

// patients are all URIs, none of them asked yet.
func (g *Gateway) patients() []*health {
	var out []*health
	for i, cat := range g.table.Catalogs() {
		for _, u := range cat.Backend().URIs() {
			out = append(out, &health{catalog: i, uri: u})
		}
	}
	return out
}

// probeAll starts a probe for every URI.
func (g *Gateway) probeAll(ctx context.Context) {
	for _, h := range g.health {
		if p := g.cfg.Catalogs[h.catalog].Profile; p != "" && p != profiles.AutoLabel {
			h.uri.SetProfile(p)
		}
		g.probing.Add(1)
		go func() {
			defer g.probing.Done()
			g.probe(ctx, h)
		}()
	}
}

// probe asks one metastore until ctx ends.
func (g *Gateway) probe(ctx context.Context, h *health) {
	wait := probeFirst
	for ctx.Err() == nil {
		if g.probeOnce(ctx, h) {
			wait = probeEvery
		} else {
			wait = min(2*wait, probeLast)
		}
		sleep(ctx, wait)
	}
}

func (g *Gateway) probeOnce(ctx context.Context, h *health) bool {
	began := time.Now()
	label, version, err := g.identify(ctx, h)
	if ctx.Err() != nil {
		return false
	}
	cat := &g.cfg.Catalogs[h.catalog]
	h.mu.Lock()
	defer h.mu.Unlock()
	if err != nil {
		if h.err == "" {
			g.log.Warn().Str("catalog", cat.Name).Str("uri", h.uri.Addr()).Err(err).Msg("metastore does not answer")
		}
		h.failure, h.err = time.Now(), err.Error()
		return false
	}
	fixed := cat.Profile != "" && cat.Profile != profiles.AutoLabel
	if h.version != version || h.err != "" {
		l := g.log.Info().Str("catalog", cat.Name).Str("uri", h.uri.Addr()).Str("version", version)
		if fixed {
			label = cat.Profile
		}
		l.Str("profile", label).Msg("metastore answers")
	}
	if !fixed {
		h.uri.SetProfile(label)
	}
	g.warm(label)
	h.success, h.latency, h.err, h.version = time.Now(), time.Since(began), "", version
	return true
}

// warm compiles what calls to a version of metastore need.
func (g *Gateway) warm(label string) {
	for front, e := range g.envs {
		if err := e.Warm(label); err != nil {
			g.log.Error().Err(err).Str("front", front).Str("profile", label).Msg("plans")
		}
	}
}

// identify asks a metastore who it is.
func (g *Gateway) identify(ctx context.Context, h *health) (label, version string, err error) {
	ask, done, err := g.asker(ctx, h.uri, h.catalog)
	if err != nil {
		return "", "", err
	}
	defer done()
	return profiles.Identify(ask)
}

// alive asks a metastore whether it is well.
func (g *Gateway) alive(u *route.URI, catalog int) bool {
	ask, done, err := g.asker(g.life, u, catalog)
	if err != nil {
		return false
	}
	defer done()
	return profiles.Alive(ask)
}

// asker calls methods on a fresh connection to a metastore, until done.
func (g *Gateway) asker(ctx context.Context, u *route.URI, catalog int) (ask profiles.Ask, done func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	inv, err := profiles.AutoInventory()
	if err != nil {
		cancel()
		return nil, nil, err
	}
	conn, err := g.outbound.Dial(ctx, catalog, u.Addr(), "")
	if err != nil {
		cancel()
		return nil, nil, err
	}
	c := hms.NewClient(conn, inv, hms.Options{Framed: g.cfg.Catalogs[catalog].Framed})
	return func(method string) (string, bool, error) {
		v, err := c.Call(ctx, method, nil)
		var app *hms.AppError
		var thrown *hms.Exception
		switch {
		case errors.As(err, &app) && app.Type == unknownMethod:
			return "", false, nil
		case errors.As(err, &app), errors.As(err, &thrown):
			return "", true, nil
		case err != nil:
			return "", false, err
		}
		text, _ := v.(string)
		return text, true, nil
	}, func() { _ = c.Close(); cancel() }, nil
}

const unknownMethod = 1 // TApplicationException.UNKNOWN_METHOD

// Readiness is what the probes know, for /readyz.
func (g *Gateway) Readiness() admin.Readiness {
	r := admin.Readiness{Draining: g.leaving.Load(), Backends: make([]admin.Backend, len(g.cfg.Catalogs))}
	for i := range r.Backends {
		r.Backends[i] = admin.Backend{Name: g.cfg.Catalogs[i].Name, Degraded: true}
	}
	if g.store != nil {
		r.LockStore = &admin.LockStore{}
		if err := g.store.Err(); err != nil {
			r.LockStore.LastError = err.Error()
		} else {
			r.LockStore.Connected = true
		}
	}
	for _, h := range g.health {
		h.mu.Lock()
		b := &r.Backends[h.catalog]
		if h.err == "" && !h.success.IsZero() {
			b.Connected, b.Degraded = true, false
			b.LastLatency, b.Version = h.latency, h.version
		}
		if h.success.After(b.LastSuccess) {
			b.LastSuccess = h.success
		}
		if h.failure.After(b.LastFailure) {
			b.LastFailure, b.LastError = h.failure, h.uri.Addr()+": "+h.err
		}
		h.mu.Unlock()
	}
	if k, ok := g.outbound.Status(); ok {
		r.Kerberos.Backend = admin.Login{Enabled: true, LoggedIn: k.LoggedIn, Principal: k.Principal, Expires: k.End, LastError: k.LastError}
	}
	return r
}
