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

// Profiles are the interface versions that a configuration may name: the
// built-in ones and those it imports.
func Profiles(cfg *config.Config) (*profiles.Set, error) {
	set, err := profiles.Builtin()
	if err != nil {
		return nil, err
	}
	var invs []*profiles.Inventory
	err = cfg.CheckImports(func(label, path string) error {
		if err := profiles.CheckLabel(label); err != nil {
			return err
		}
		inv, err := profiles.Import(label, path)
		if err != nil {
			return err
		}
		with, err := profiles.NewSet(append(invs, inv)...)
		if err == nil {
			invs, set = append(invs, inv), with
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return set, cfg.CheckProfiles(append(set.Labels(), profiles.AutoLabel))
}

// env makes what sessions of one front profile share.
func (g *Gateway) env(front string) (*session.Env, error) {
	cfg := g.cfg
	plans, err := g.profiles.Plans(front, profiles.AutoLabel)
	if err != nil {
		return nil, err
	}
	e := &session.Env{
		Table: g.table, Profiles: g.profiles, Plans: plans, Dial: g.outbound.Dial, Alive: g.alive,
		Budget: g.budget, Metrics: g.metrics, Log: g.log,
		LogCalls: cfg.Log.Calls, Draining: &g.draining, InFlight: &g.inFlight,
		Limits: session.Limits{
			Call: cfg.Limits.CallBytes, Reply: cfg.Limits.ReplyBytes, Frame: int(cfg.Limits.FrameBytes),
			HeldCall: int(cfg.Limits.HeldCall), InFlight: int64(cfg.Limits.CallsInFlight),
			Patience: cfg.Routing.ConnectPatience, Fanout: cfg.Routing.FanoutTimeout,
			CloseDead: cfg.Routing.CloseUnreachable, Lenient: cfg.Routing.LenientFanout,
		},
	}
	o := answer.Options{Name: cfg.Name, Started: g.started, GlobalWrites: cfg.Routing.GlobalWrites,
		Locks: g.locks, Tokens: g.security.tokens, AcidRead: cfg.Locks.AcidRead, AllLists: cfg.Routing.AllLists,
		AllStatus: cfg.Routing.AllStatus}
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
