package locks

import (
	"errors"
	"fmt"

	"hmsgate/internal/hms"
)

// syntheticFloor is below every synthetic id: half of what a Java long holds,
// as the Java proxy has it. Ids with a slot are below it too.
const syntheticFloor = int64(1)<<62 - 1

// IsSynthetic says whether an id is one of a lock that no metastore knows.
func IsSynthetic(id int64) bool { return id > syntheticFloor }

// Grant makes a synthetic lock, which nobody is asked about.
func (k *Keeper) Grant(txn int64, shown []hms.Struct) (int64, error) {
	n, err := k.o.Store.Next()
	if err != nil {
		return 0, err
	}
	if n <= 0 || n > syntheticFloor {
		return 0, fmt.Errorf("synthetic lock number %d is out of range", n)
	}
	l := Lock{ID: syntheticFloor + n, Txn: txn, Touched: k.o.Now()}
	for _, e := range shown {
		e["lockid"] = l.ID
		l.Shown = append(l.Shown, e)
	}
	return l.ID, k.put(&l)
}

// Touch is a heartbeat of a synthetic lock; ok is false when there is none.
func (k *Keeper) Touch(id int64, beat bool) (ok bool, err error) {
	defer k.hold(id).Unlock()
	for range tries {
		l, ok, err := k.o.Store.Get(id)
		if err != nil || !ok {
			return false, storeError(err)
		}
		switch old := k.o.Now().Sub(l.Touched) > k.o.Timeout; {
		case old:
			ok, err = false, k.o.Store.Delete(l)
		case beat:
			l.Touched = k.o.Now()
			err = k.put(&l)
		}
		if !errors.Is(err, ErrConflict) {
			return ok, storeError(err)
		}
	}
	return false, storeError(fmt.Errorf("%w again and again", ErrConflict))
}

// Shown is what show_locks says of the synthetic locks.
func (k *Keeper) Shown() []hms.Struct {
	list, err := k.o.Store.All()
	if err != nil {
		k.o.Log.Error().Err(err).Msg("lock store")
	}
	var out []hms.Struct
	for _, l := range list {
		for _, e := range l.Shown {
			e = e.Clone()
			e["lastheartbeat"] = l.Touched.UnixMilli()
			out = append(out, e)
		}
	}
	return out
}

// expire forgets synthetic locks whose client has been silent for too long.
func (k *Keeper) expire(known []Lock) {
	for _, l := range known {
		if l.Synthetic() {
			if _, err := k.Touch(l.ID, false); err != nil {
				k.o.Log.Error().Err(err).Msg("lock store")
			}
		}
	}
}
