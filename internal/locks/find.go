package locks

import (
	"context"
	"errors"
	"slices"

	"hmsgate/internal/hms"
)

// What a request for a mirror holds (hive_metastore.thrift, LockLevel and
// DataOperationType).
const (
	levelDB        = 1
	levelTable     = 2
	levelPartition = 3
	opNoTxn        = 6
)

// Ready waits until what an earlier run left has been looked for once, where
// that may be about a lock.
func (k *Keeper) Ready(ctx context.Context, id int64) {
	if !k.o.Mirrors || id >= 1<<slotBit {
		return
	}
	select {
	case <-k.swept:
	case <-ctx.Done():
	}
}

// find remembers the primaries of an earlier run that lack mirrors: those that
// waited when it ended. The lines of show_locks tell what is to be locked, all
// but the operation, which is none of a transaction for a mirror in any case.
func (k *Keeper) find(primaries []hms.Struct) {
	lacking := map[int64]*Lock{}
	for _, e := range primaries {
		catalog, db := k.o.Outside(e.Str("dbname"))
		if !slices.Contains(k.o.Owners, catalog) {
			continue
		}
		id := e.Int("lockid")
		l := lacking[id]
		if l == nil {
			l = &Lock{ID: id, Txn: e.Int("txnid")}
			lacking[id] = l
		}
		i := l.mirror(catalog)
		if i < 0 {
			i, l.Mirrors = len(l.Mirrors), append(l.Mirrors, Mirror{Catalog: catalog,
				Request: hms.Struct{"user": e.Str("user"), "hostname": e.Str("hostname")}})
		}
		req := l.Mirrors[i].Request
		req["component"] = append(req.List("component"), component(e, db))
	}
	for _, l := range lacking {
		k.lacks(*l)
	}
}

// component is a line of show_locks as what was asked for.
func component(e hms.Struct, db string) hms.Struct {
	out := hms.Struct{"type": int32(e.Int("type")), "level": int32(levelDB), "dbname": db,
		"isTransactional": false, "operationType": int32(opNoTxn)}
	if t := e.Str("tablename"); t != "" {
		out["tablename"], out["level"] = t, int32(levelTable)
	}
	if p := e.Str("partname"); p != "" {
		out["partitionname"], out["level"] = p, int32(levelPartition)
	}
	return out
}

// lacks adds to what is known of a lock the mirrors that it lacks.
func (k *Keeper) lacks(l Lock) {
	defer k.hold(l.ID).Unlock()
	l.By = k.o.Instance
	for range tries {
		known, ok, err := k.o.Store.Get(l.ID)
		if err != nil {
			k.stored(l.ID, err)
			return
		}
		if !ok {
			known = l
		}
		n := len(known.Mirrors)
		for _, m := range l.Mirrors {
			if known.mirror(m.Catalog) < 0 {
				known.Mirrors = append(known.Mirrors, m)
			}
		}
		if ok && len(known.Mirrors) == n {
			return
		}
		k.inOrder(&known)
		if err := k.put(&known); !errors.Is(err, ErrConflict) {
			k.stored(l.ID, err)
			return
		}
	}
}

// inOrder puts mirrors into the order in which they are taken.
func (k *Keeper) inOrder(l *Lock) {
	slices.SortFunc(l.Mirrors, func(a, b Mirror) int {
		return slices.Index(k.o.Owners, a.Catalog) - slices.Index(k.o.Owners, b.Catalog)
	})
}
