package locks

import (
	"context"
	"sync"
	"time"

	"hmsgate/internal/hms"
	"hmsgate/profiles"
)

// sweepEvery is often enough for a metastore's shortest sensible timeout.
const sweepEvery = time.Minute

// Run sweeps until ctx ends.
func (k *Keeper) Run(ctx context.Context) {
	t := time.NewTicker(sweepEvery)
	defer t.Stop()
	first := sync.OnceFunc(func() { close(k.swept) })
	for {
		k.Sweep(ctx)
		first()
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}

// Sweep beats for the mirrors whose primary lives, unlocks the others, and
// takes care of those that are in no store.
func (k *Keeper) Sweep(ctx context.Context) {
	known, err := k.o.Store.All() // before the primaries are asked for: each of these had one by then
	if err != nil {
		k.o.Log.Error().Err(err).Msg("lock store: nothing is released now")
		return
	}
	k.expire(known)
	if !k.o.Mirrors {
		return
	}
	strays := k.strays(ctx, known)
	if len(strays) == 0 && !mirrored(known) && k.found {
		return
	}
	primaries, err := k.shown(ctx, k.o.Default)
	var alive map[int64]bool // nil: not told
	if err != nil {
		k.o.Log.Warn().Err(err).Msg("the default metastore does not tell its locks: mirrors are kept")
	} else {
		alive = idsOf(primaries)
	}
	for _, l := range known {
		switch {
		case l.Synthetic():
		case alive == nil || alive[l.ID]:
			k.beat(ctx, l)
		default:
			k.Release(ctx, l.ID)
		}
	}
	for _, s := range strays {
		k.settle(ctx, &s, alive)
	}
	if err == nil && !k.found {
		k.find(primaries)
		k.found = true
	}
}

func mirrored(list []Lock) bool {
	for _, l := range list {
		if len(l.Mirrors) > 0 {
			return true
		}
	}
	return false
}

func idsOf(list []hms.Struct) map[int64]bool {
	out := make(map[int64]bool, len(list))
	for _, e := range list {
		out[e.Int("lockid")] = true
	}
	return out
}

func (k *Keeper) shown(ctx context.Context, catalog string) ([]hms.Struct, error) {
	c, done, err := k.dial(ctx, catalog)
	if err != nil {
		return nil, err
	}
	defer done()
	v, err := c.call(profiles.CallShowLocks, hms.Struct{})
	if err != nil {
		return nil, err
	}
	r, _ := v.(hms.Struct)
	return r.Structs("locks"), nil
}

// beat keeps a lock's mirrors from expiring. One that is gone all the same no
// longer protects what its client believes to be locked, which is said loudly.
func (k *Keeper) beat(ctx context.Context, l Lock) {
	for _, m := range l.Mirrors {
		if m.ID == 0 {
			continue
		}
		c, done, err := k.dial(ctx, m.Catalog)
		if err == nil {
			_, err = c.call(profiles.CallHeartbeat, hms.Struct{"lockid": m.ID})
			done()
		}
		if err != nil {
			k.o.Log.Error().Err(err).Str("catalog", m.Catalog).Int64("lock", l.ID).Int64("mirror", m.ID).
				Msg("no heartbeat for a mirror")
		}
	}
}

// stray is a mirror in no store.
type stray struct {
	catalog   string
	id        int64
	own       bool  // by the mark, a mirror of this gateway's
	lock, txn int64 // of the primary
	state     int32
	beat      time.Time
}

// strays are the mirrors at all owners that no known lock has.
func (k *Keeper) strays(ctx context.Context, known []Lock) []stray {
	type at struct {
		catalog string
		id      int64
	}
	have := map[at]bool{}
	for _, l := range known {
		for _, m := range l.Mirrors {
			have[at{m.Catalog, m.ID}] = true
		}
	}
	var out []stray
	for _, cat := range k.o.Owners {
		list, err := k.shown(ctx, cat)
		if err != nil {
			k.o.Log.Debug().Err(err).Str("catalog", cat).Msg("locks not shown")
			continue
		}
		for _, e := range list {
			by, id, txn, ok := readMark(e.Str("agentInfo"))
			here := at{cat, e.Int("lockid")}
			if !ok || have[here] {
				continue
			}
			have[here] = true // a lock has a line for each component
			out = append(out, stray{cat, here.id, by == k.o.Instance, id, txn, int32(e.Int("state")), time.UnixMilli(e.Int("lastheartbeat"))})
		}
	}
	return out
}

// settle adopts a mirror whose primary lives, and unlocks one that nobody has
// beaten for longer than a transaction may be silent. A younger one may have
// been taken a moment ago, or is another gateway's, whose primary is elsewhere.
func (k *Keeper) settle(ctx context.Context, s *stray, alive map[int64]bool) {
	switch {
	case alive == nil:
	case s.own && alive[s.lock]:
		k.adopt(s)
	case k.o.Now().Sub(s.beat) > k.o.Timeout:
		k.o.Log.Warn().Str("catalog", s.catalog).Int64("lock", s.id).Msg("unlocking a mirror that was left behind")
		if err := k.unlock(ctx, s.catalog, s.id); err != nil {
			k.o.Log.Error().Err(err).Str("catalog", s.catalog).Int64("lock", s.id).Msg("mirror not unlocked yet")
		}
	}
}

func (k *Keeper) adopt(s *stray) {
	defer k.hold(s.lock).Unlock()
	l, ok, err := k.o.Store.Get(s.lock)
	if err != nil {
		return
	}
	if !ok {
		l = Lock{ID: s.lock, Txn: s.txn}
	}
	i := l.mirror(s.catalog)
	switch {
	case i < 0:
		i, l.Mirrors = len(l.Mirrors), append(l.Mirrors, Mirror{Catalog: s.catalog})
	case l.Mirrors[i].ID != 0:
		return // taken meanwhile
	}
	l.Mirrors[i].ID, l.Mirrors[i].Acquired = s.id, s.state == Acquired
	if err := k.o.Store.Put(l); err != nil {
		k.o.Log.Error().Err(err).Msg("lock store")
		return
	}
	k.o.Log.Info().Str("catalog", s.catalog).Int64("lock", s.lock).Msg("mirror of an earlier run adopted")
}
