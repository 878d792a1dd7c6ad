package gateway

import (
	"context"
	"crypto/rand"
	"fmt"
	"hash/fnv"
	"net"
	"slices"

	"hmsgate/internal/hms"
	"hmsgate/internal/locks"
	"hmsgate/internal/zk"
	"hmsgate/route"
)

// keeper makes what keeps the gateway's own locks.
func (g *Gateway) keeper() (*locks.Keeper, error) {
	o := locks.Options{Store: locks.NewMemory(), Gateway: g.lockMark(), Instance: rand.Text()[:12], Default: g.table.Default().Name,
		Mirrors: g.cfg.Locks.Mirrors, Dial: g.dialLocks, Outside: g.outside, Timeout: g.cfg.Locks.Timeout,
		Log: g.log}
	if z := g.cfg.Locks.ZooKeeper; z != nil {
		conn, err := zk.Open(zk.Options{Servers: z.Servers, ConnectTimeout: z.ConnectTimeout, SessionTimeout: z.SessionTimeout,
			BaseSleep: z.BaseSleep, MaxRetries: z.MaxRetries, ACL: z.ACL, Digest: z.Digest, Changed: g.storeChanged})
		if err != nil {
			return nil, fmt.Errorf("lock store: %w", err)
		}
		g.zk, g.store = conn, locks.NewZooKeeper(conn, z.Root, o.Gateway, g.log)
		o.Store = g.store
	}
	var owners []*route.Catalog
	for i, c := range g.table.Catalogs() {
		if c != g.table.Default() && locks.Mode(g.cfg.Catalogs[i].Locks) == locks.Owner {
			owners = append(owners, c)
		}
	}
	slices.SortFunc(owners, func(a, b *route.Catalog) int { return a.Slot() - b.Slot() })
	for _, c := range owners {
		o.Owners = append(o.Owners, c.Name)
	}
	return locks.New(o), nil
}

func (g *Gateway) storeChanged(err error) {
	if err != nil {
		g.log.Error().Err(err).Msg("lock store lost: locks that need a mirror are refused")
		return
	}
	g.log.Info().Msg("lock store answers")
}

// closeStore ends the connection to the lock store, if there is one.
func (g *Gateway) closeStore() {
	if g.zk != nil {
		g.zk.Close()
	}
}

func (g *Gateway) outside(name string) (catalog, db string) {
	c, b := g.table.LockOwner([]byte(name))
	if c == nil {
		return "", ""
	}
	return c.Name, string(b)
}

// lockMark tells the mirrors of this gateway from those of another one with
// other catalogs: by the metastores of the default catalog, whose lock ids the
// marks hold. It is the same after a restart.
func (g *Gateway) lockMark() string {
	h := fnv.New32a()
	for i, c := range g.table.Catalogs() {
		if c == g.table.Default() {
			addrs := slices.Sorted(slices.Values(g.cfg.Catalogs[i].Addresses))
			fmt.Fprint(h, addrs)
		}
	}
	return fmt.Sprintf("%08x", h.Sum32())
}

// dialLocks connects to a catalog's metastore for the keeper.
func (g *Gateway) dialLocks(ctx context.Context, catalog string) (*hms.Client, error) {
	cat := g.table.Catalog(catalog)
	index := slices.Index(g.table.Catalogs(), cat)
	if index < 0 {
		return nil, fmt.Errorf("catalog %q is not configured", catalog)
	}
	conn, uri, err := cat.Backend().Dial(ctx, func(ctx context.Context, addr string) (net.Conn, error) {
		return g.outbound.Dial(ctx, index, addr, "")
	}, g.cfg.Routing.ConnectPatience)
	if err != nil {
		return nil, err
	}
	c, err := g.lockClient(ctx, conn, uri, g.cfg.Catalogs[index].Framed)
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return c, nil
}

func (g *Gateway) lockClient(ctx context.Context, conn net.Conn, uri *route.URI, framed bool) (*hms.Client, error) {
	label, _, err := uri.AwaitProfile(ctx)
	if err != nil {
		return nil, err
	}
	inv, err := g.profiles.Load(label)
	if err != nil {
		return nil, err
	}
	return hms.NewClient(conn, inv, hms.Options{Framed: framed}), nil
}
