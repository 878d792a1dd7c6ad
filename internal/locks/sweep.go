package locks

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"hmsgate/internal/hms"
	"hmsgate/profiles"
)

// sweepEvery is how often is swept, where timeouts are not shorter than usual.
const sweepEvery = time.Minute

// Run sweeps until ctx ends.
func (k *Keeper) Run(ctx context.Context) {
	t := time.NewTicker(min(sweepEvery, k.o.Timeout/5))
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

// watch is what one sweep has to know of those before.
type watch struct {
	found bool           // what an earlier run left has been found
	last  []Lock         // as the store had them when it last answered
	beats map[Held]int64 // of mirrors, as their metastores last showed them
	quiet map[int64]pulse
}

// pulse is the heartbeat of a primary, and since when it has not moved as this
// process has seen it: no clock is compared with a metastore's.
type pulse struct {
	beat  int64
	since time.Time
}

// Sweep beats for the mirrors whose primary lives, unlocks the others, and
// takes care of those that are in no store. While the store does not answer it
// only beats, for those it had.
func (k *Keeper) Sweep(ctx context.Context) {
	known, err := k.o.Store.All() // before the primaries are asked for: each of these had one by then
	if err != nil {
		k.o.Log.Error().Err(err).Msg("lock store: nothing is released now")
		known = k.watch.last
	} else {
		k.watch.last = known
		k.expire(known)
	}
	if !k.o.Mirrors {
		return
	}
	strays, beats := k.held(ctx, known)
	if len(strays) > 0 || mirrored(known) || !k.watch.found {
		k.judge(ctx, known, strays, beats, err == nil)
	}
	k.watch.beats = beats
}

// judge is Sweep with what the store and the owners tell; stored is false when
// the store did not.
func (k *Keeper) judge(ctx context.Context, known []Lock, strays []stray, beats map[Held]int64, stored bool) {
	primaries, err := k.shown(ctx, k.o.Default)
	var alive map[int64]bool // nil: not told
	if err != nil {
		k.o.Log.Warn().Err(err).Msg("the default metastore does not tell its locks: mirrors are kept")
	} else {
		alive = idsOf(primaries)
	}
	quiet := k.quiet(ctx, known, primaries)
	for _, l := range known {
		switch {
		case l.Synthetic():
		case alive != nil && !alive[l.ID]:
			if stored {
				k.Release(ctx, l.ID)
			}
		case quiet[l.ID]:
			if stored {
				k.forsake(ctx, l.ID)
			}
		default:
			k.beat(ctx, l, beats)
			if stored && len(l.Going) > 0 {
				k.settleGoing(ctx, l.ID)
			}
		}
	}
	if !stored {
		return
	}
	for i := range strays {
		k.settle(ctx, &strays[i], alive)
	}
	if err == nil && !k.watch.found {
		k.find(primaries)
		k.watch.found = true
	}
}

// quiet are the known locks whose client has given no sign for longer than a
// transaction may be silent, by the heartbeats that the default metastore shows.
func (k *Keeper) quiet(ctx context.Context, known []Lock, primaries []hms.Struct) map[int64]bool {
	shown, txns := map[int64]int64{}, map[int64]int64{}
	for _, e := range primaries {
		shown[e.Int("lockid")] = e.Int("lastheartbeat")
	}
	if slices.ContainsFunc(known, func(l Lock) bool { return l.Txn != 0 && !l.Synthetic() }) {
		list, err := k.openTxns(ctx)
		if err != nil {
			k.o.Log.Warn().Err(err).Msg("the default metastore does not tell its transactions: they count as alive")
		}
		for _, e := range list {
			txns[e.Int("id")] = e.Int("lastHeartbeatTime")
		}
	}
	out, pulses := map[int64]bool{}, map[int64]pulse{}
	for _, l := range known {
		beat := shown[l.ID]
		if l.Txn != 0 {
			beat = txns[l.Txn]
		}
		if beat == 0 {
			continue
		}
		p := k.watch.quiet[l.ID]
		if p.beat != beat {
			p = pulse{beat, k.o.Now()}
		}
		pulses[l.ID], out[l.ID] = p, k.o.Now().Sub(p.since) > k.o.Timeout
	}
	k.watch.quiet = pulses
	return out
}

func (k *Keeper) openTxns(ctx context.Context) ([]hms.Struct, error) {
	c, done, err := k.dial(ctx, k.o.Default)
	if err != nil {
		return nil, err
	}
	defer done()
	v, err := c.Call(c.ctx, profiles.CallTxnsInfo, nil)
	if err != nil {
		return nil, err
	}
	r, _ := v.(hms.Struct)
	var out []hms.Struct
	for field := range r { // the one that is a list of structs
		out = append(out, r.Structs(field)...)
	}
	return out, nil
}

// forsake gives up the mirrors of a client that seems to be dead while its
// primary stays, as it does at a metastore that never expires one. Should it
// come back, a check takes them again.
func (k *Keeper) forsake(ctx context.Context, id int64) {
	defer k.hold(id).Unlock()
	l, err := k.get(id)
	if err != nil || !slices.ContainsFunc(l.Mirrors, func(m Mirror) bool { return m.ID != 0 }) {
		k.stored(id, ignore(err, errOver))
		return
	}
	k.o.Log.Warn().Int64("lock", id).Int64("txn", l.Txn).Msg("no heartbeat from the client: its mirrors are given up")
	k.stored(id, ignore(k.retreat(ctx, &l), ErrConflict))
}

func (k *Keeper) settleGoing(ctx context.Context, id int64) {
	defer k.hold(id).Unlock()
	if l, err := k.get(id); err == nil {
		k.clear(ctx, &l)
	}
}

func mirrored(list []Lock) bool {
	for _, l := range list {
		if len(l.Mirrors) > 0 || len(l.Going) > 0 {
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
	return c.shown()
}

func (c *conn) shown() ([]hms.Struct, error) {
	v, err := c.call(profiles.CallShowLocks, hms.Struct{})
	if err != nil {
		return nil, err
	}
	r, _ := v.(hms.Struct)
	return r.Structs("locks"), nil
}

// beat keeps a lock's mirrors from expiring. The instance that took them always
// does; another one takes that over when nobody has since its last sweep. A mirror
// that is gone all the same no longer protects what its client believes to be
// locked, which is said loudly.
func (k *Keeper) beat(ctx context.Context, l Lock, beats map[Held]int64) {
	for _, m := range l.Mirrors {
		at := Held{m.Catalog, m.ID}
		was, seen := k.watch.beats[at]
		mine := l.By == k.o.Instance
		if m.ID == 0 || !mine && seen && beats[at] != was {
			continue
		}
		if !mine && seen {
			k.takeOver(l.ID)
		}
		c, done, err := k.dial(ctx, m.Catalog)
		if err == nil {
			_, err = c.call(profiles.CallHeartbeat, hms.Struct{"lockid": m.ID})
			done()
		}
		if err != nil && !(gone(err) && k.ended(l.ID, at)) {
			k.o.Log.Error().Err(err).Str("catalog", m.Catalog).Int64("lock", l.ID).Int64("mirror", m.ID).
				Msg("no heartbeat for a mirror")
		}
	}
}

// takeOver makes this instance the one that beats for a lock.
func (k *Keeper) takeOver(id int64) {
	defer k.hold(id).Unlock()
	l, err := k.get(id)
	if err == nil {
		l.By = k.o.Instance
		err = k.put(&l)
	}
	if err != nil && !errors.Is(err, ErrConflict) && !errors.Is(err, errOver) {
		k.stored(id, err)
	}
}

// ended says whether a lock has given a mirror up by now.
func (k *Keeper) ended(id int64, at Held) bool {
	l, ok, err := k.o.Store.Get(id)
	return err == nil && (!ok || !slices.ContainsFunc(l.Mirrors, func(m Mirror) bool { return Held{m.Catalog, m.ID} == at }))
}

// stray is a mirror in no store.
type stray struct {
	Held
	own       bool  // by the mark, a mirror of this gateway's
	lock, txn int64 // of the primary
	beat      time.Time
	request   hms.Struct // what it holds
}

// held are the mirrors at all owners: those that no known lock has, and when
// each was last beaten for.
func (k *Keeper) held(ctx context.Context, known []Lock) (strays []stray, beats map[Held]int64) {
	have := map[Held]bool{}
	for _, l := range known {
		for _, m := range l.Mirrors {
			have[Held{m.Catalog, m.ID}] = true
		}
		for _, h := range l.Going {
			have[h] = true
		}
	}
	beats = map[Held]int64{}
	at := map[Held]int{}
	for _, cat := range k.o.Owners {
		list, err := k.shown(ctx, cat)
		if err != nil {
			k.o.Log.Debug().Err(err).Str("catalog", cat).Msg("locks not shown")
			continue
		}
		for _, e := range list {
			by, id, txn, ok := readMark(e.Str("agentInfo"))
			here := Held{cat, e.Int("lockid")}
			if !ok {
				continue
			}
			beats[here] = e.Int("lastheartbeat")
			if have[here] {
				continue
			}
			i, more := at[here]
			if !more { // a lock has a line for each component
				i = len(strays)
				at[here] = i
				strays = append(strays, stray{here, by == k.o.Gateway, id, txn, time.UnixMilli(beats[here]),
					hms.Struct{"user": e.Str("user"), "hostname": e.Str("hostname")}})
			}
			req := strays[i].request
			req["component"] = append(req.List("component"), component(e, e.Str("dbname")))
		}
	}
	return strays, beats
}

// settle adopts a mirror whose primary lives, and unlocks one that nobody has
// beaten for longer than a transaction may be silent. A younger one may have
// been taken a moment ago, or is another gateway's, whose primary is elsewhere.
func (k *Keeper) settle(ctx context.Context, s *stray, alive map[int64]bool) {
	old := k.o.Now().Sub(s.beat) > k.o.Timeout
	switch {
	case alive == nil:
	case s.own && alive[s.lock]:
		k.adopt(ctx, s, old)
	case old:
		k.o.Log.Warn().Str("catalog", s.Catalog).Int64("lock", s.ID).Msg("unlocking a mirror that was left behind")
		k.unlocked(ctx, []Held{s.Held})
	}
}

// adopt makes a stray the mirror of its lock, where that has none; it counts
// when a check has found it acquired. One too many, if old, is noted as going
// before it is unlocked: another instance may be about to adopt it.
func (k *Keeper) adopt(ctx context.Context, s *stray, old bool) {
	defer k.hold(s.lock).Unlock()
	l, ok, err := k.o.Store.Get(s.lock)
	if err != nil {
		k.stored(s.lock, err)
		return
	}
	if !ok {
		l = Lock{ID: s.lock, Txn: s.txn, By: k.o.Instance}
	}
	i := l.mirror(s.Catalog)
	if i < 0 {
		l.Mirrors = append(l.Mirrors, Mirror{Catalog: s.Catalog, Request: s.request})
		k.inOrder(&l)
		i = l.mirror(s.Catalog)
	}
	m := &l.Mirrors[i]
	if m.ID == s.ID || l.going(s.ID) || m.ID != 0 && !old {
		return
	}
	what := "mirror of an earlier run adopted"
	if m.ID != 0 {
		what = "a mirror too many is unlocked"
		l.Going = append(l.Going, s.Held)
	} else {
		m.ID, m.Acquired, m.By, m.Asked = s.ID, false, "", time.Time{}
		l.By = k.o.Instance
	}
	if err := k.put(&l); err != nil {
		k.stored(l.ID, ignore(err, ErrConflict))
		return
	}
	k.o.Log.Info().Str("catalog", s.Catalog).Int64("lock", s.lock).Int64("mirror", s.ID).Msg(what)
	k.clear(ctx, &l)
}
