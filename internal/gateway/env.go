package gateway

import (
	"hmsgate/frame"
	"hmsgate/internal/answer"
	"hmsgate/internal/config"
	"hmsgate/internal/locks"
	"hmsgate/internal/session"
	"hmsgate/profiles"
	"hmsgate/route"
)

// Table makes the routing table of a configuration.
func Table(cfg *config.Config) (*route.Table, error) {
	rc := route.Config{
		Default: cfg.DefaultCatalog, Separator: cfg.Separator,
		PreserveBackendCatalog: cfg.PreserveBackendCatalogName,
		RewriteViews:           cfg.RewriteViews,
		KeepOriginalText:       cfg.KeepOriginalViewText,
		GlobalWritesAtDefault:  cfg.Routing.GlobalWrites,
		RefuseHintWrites:       cfg.Routing.RefuseHintWrites,
		RefuseUnknownMethods:   cfg.Routing.RefuseUnknownMethods,
	}
	for _, c := range cfg.Catalogs {
		rc.Catalogs = append(rc.Catalogs, route.CatalogConfig{
			Name: c.Name, URIs: c.Addresses, RandomURIs: c.Random, BackendCatalog: c.BackendCatalog,
			IDSlot: c.IDSlot})
	}
	return route.New(rc)
}

// Plans compiles the plans for clients of a front profile.
func Plans(front string) (*profiles.Plans, error) {
	if front == "" || front == profiles.AutoLabel {
		return profiles.Auto(), nil
	}
	f, err := profiles.Load(front)
	if err != nil {
		return nil, err
	}
	back, err := profiles.AutoInventory()
	if err != nil {
		return nil, err
	}
	return profiles.Compile(f, back)
}

// env makes what sessions of one front profile share.
func (g *Gateway) env(front string) (*session.Env, error) {
	cfg := g.cfg
	plans, err := Plans(front)
	if err != nil {
		return nil, err
	}
	e := &session.Env{
		Table: g.table, Plans: plans, Dial: g.outbound.Dial, Alive: g.alive, Budget: g.budget, Metrics: g.metrics, Log: g.log,
		LogCalls: cfg.Log.Calls, Draining: &g.draining, InFlight: &g.inFlight,
		Limits: session.Limits{
			Call: cfg.Limits.CallBytes, Reply: cfg.Limits.ReplyBytes, Frame: int(cfg.Limits.FrameBytes),
			HeldCall: int(cfg.Limits.HeldCall), InFlight: int64(cfg.Limits.CallsInFlight),
			Patience: cfg.Routing.ConnectPatience, Fanout: cfg.Routing.FanoutTimeout,
			CloseDead: cfg.Routing.CloseUnreachable, Lenient: cfg.Routing.LenientFanout,
		},
	}
	o := answer.Options{Name: cfg.Name, Started: g.started, GlobalWrites: cfg.Routing.GlobalWrites,
		Locks: g.locks, AcidRead: cfg.Locks.AcidRead}
	for _, c := range cfg.Catalogs {
		e.Targets = append(e.Targets, session.Target{Framed: c.Framed, SASL: c.SASL, Impersonate: c.Impersonate, Timeout: c.CallTimeout})
		o.Catalogs = append(o.Catalogs, answer.Catalog{Name: c.Name, Description: c.Description, Location: c.LocationURI,
			Locks: locks.Mode(c.Locks)})
	}
	answers, err := answer.Answers(o)
	if err != nil {
		return nil, err
	}
	return e, e.Prepare(answers)
}

func newBudget(cfg *config.Config) *frame.Budget { return frame.NewBudget(cfg.Limits.HeldTotal) }
