package locks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"hmsgate/internal/hms"
	"hmsgate/profiles"
)

// advance takes or checks one mirror after the other until one has to wait.
func (k *Keeper) advance(ctx context.Context, l *Lock) (all bool, err error) {
	for range tries + len(l.Mirrors) {
		i := slices.IndexFunc(l.Mirrors, func(m Mirror) bool { return !m.Acquired })
		if i < 0 {
			return true, nil
		}
		catalog := l.Mirrors[i].Catalog
		waits, err := k.step(ctx, l, i)
		switch {
		case errors.Is(err, ErrConflict): // on from what somebody else has made of it
			if *l, err = k.get(l.ID); err != nil {
				return false, err
			}
		case errors.Is(err, errGone): // the later ones must not be held while it is taken again
			if err = k.retreat(ctx, l); err != nil && !errors.Is(err, ErrConflict) {
				return false, err
			}
		case errors.Is(err, ErrStore), errors.Is(err, errOver):
			return false, err
		case err != nil:
			k.stored(l.ID, ignore(k.retreat(ctx, l), ErrConflict))
			return false, fmt.Errorf("lock at catalog '%s': %w", catalog, err)
		case waits:
			return false, nil
		}
	}
	return false, nil // others are at it: the client asks again
}

// errGone: a mirror that the store has is not at its metastore any more.
var errGone = errors.New("the mirror is gone")

// step takes a mirror, or looks whether one that waits is acquired by now.
// ErrConflict says that the lock is to be read again.
func (k *Keeper) step(ctx context.Context, l *Lock, i int) (waits bool, err error) {
	m := &l.Mirrors[i]
	if m.ID == 0 {
		asked := m.Asked
		if m.By != "" && m.By != k.o.Instance && k.o.Now().Sub(asked) < claimTime {
			return true, nil // another instance is asking
		}
		m.By, m.Asked = k.o.Instance, k.o.Now()
		if err := k.put(l); err != nil {
			return false, err
		}
		var state int32
		if state, err = k.ask(ctx, l, m, !asked.IsZero()); err != nil {
			return false, err
		}
		return state == Waiting, k.keep(ctx, l, *m, state == Acquired)
	}
	c, done, err := k.dial(ctx, m.Catalog)
	if err != nil {
		return false, err
	}
	defer done()
	v, err := c.call(profiles.CallCheckLock, hms.Struct{"lockid": m.ID})
	if gone(err) {
		return false, errGone
	}
	if err != nil {
		return false, err
	}
	r, _ := v.(hms.Struct)
	if state := int32(r.Int("state")); state != Acquired {
		return true, ungranted(state)
	}
	m.Acquired = true
	return false, k.put(l)
}

func ungranted(state int32) error {
	if state == Waiting {
		return nil
	}
	return fmt.Errorf("not granted: state %d", state)
}

// ask asks a mirror's metastore for it. When somebody has asked before and got
// no answer, it is looked for first: it may be there. After an error nobody
// knows, and the next one looks.
func (k *Keeper) ask(ctx context.Context, l *Lock, m *Mirror, before bool) (state int32, err error) {
	defer func() {
		if err != nil {
			m.By = ""
		}
	}()
	c, done, err := k.dial(ctx, m.Catalog)
	if err != nil {
		return 0, err
	}
	defer done()
	if before {
		if m.ID, err = k.left(c, l); err != nil || m.ID != 0 {
			return 0, err // taken for one that waits, until it has been asked
		}
	}
	req := m.Request.Clone()
	req["agentInfo"] = k.Mark(l.ID, l.Txn)
	fit(req, c.Codec())
	v, err := c.call(profiles.CallLock, req)
	if err != nil {
		return 0, err
	}
	r, _ := v.(hms.Struct)
	state = int32(r.Int("state"))
	if m.ID = r.Int("lockid"); m.ID == 0 {
		return 0, fmt.Errorf("no lock id in the answer, state %d", state)
	}
	if state != Acquired {
		return state, ungranted(state)
	}
	return state, nil
}

// left is the mirror of a lock that is at a metastore and not going.
func (k *Keeper) left(c *conn, l *Lock) (int64, error) {
	lines, err := c.shown()
	if err != nil {
		return 0, err
	}
	for _, e := range lines {
		by, id, _, ok := readMark(e.Str("agentInfo"))
		if ok && by == k.o.Gateway && id == l.ID && !l.going(e.Int("lockid")) {
			return e.Int("lockid"), nil
		}
	}
	return 0, nil
}

func (l *Lock) going(id int64) bool {
	return slices.ContainsFunc(l.Going, func(h Held) bool { return h.ID == id })
}

// keep notes a mirror that was taken. When the lock was changed meanwhile and
// has no place for it any more, it is given up; when the store does not
// answer, it is left, since the note may have been made.
func (k *Keeper) keep(ctx context.Context, l *Lock, m Mirror, acquired bool) error {
	claim := m.Asked
	for range tries {
		now := &Mirror{}
		if i := l.mirror(m.Catalog); i >= 0 {
			now = &l.Mirrors[i]
		}
		switch {
		case now.By == k.o.Instance && now.Asked.UnixMilli() == claim.UnixMilli():
			now.ID, now.Acquired, now.By, now.Asked = m.ID, acquired, "", time.Time{}
		case now.ID == m.ID:
			return ErrConflict // a sweep has found it first
		default:
			l.Going = append(l.Going, Held{m.Catalog, m.ID})
		}
		err := k.put(l)
		if !errors.Is(err, ErrConflict) {
			if err == nil {
				k.clear(ctx, l)
			}
			return err
		}
		if *l, err = k.get(l.ID); errors.Is(err, errOver) { // its primary is no more: nobody counts on it
			k.unlocked(ctx, []Held{{m.Catalog, m.ID}})
		}
		if err != nil {
			return err
		}
	}
	return ErrConflict
}

// retreat gives all mirrors up: first it is noted that none counts any more,
// then they are unlocked.
func (k *Keeper) retreat(ctx context.Context, l *Lock) error {
	for i := range l.Mirrors {
		m := &l.Mirrors[i]
		if m.ID != 0 {
			l.Going = append(l.Going, Held{m.Catalog, m.ID})
		}
		m.ID, m.Acquired = 0, false
	}
	if err := k.put(l); err != nil {
		return err
	}
	k.clear(ctx, l)
	return nil
}

// clear unlocks what is going.
func (k *Keeper) clear(ctx context.Context, l *Lock) {
	if len(l.Going) == 0 {
		return
	}
	left := k.unlocked(ctx, l.Going)
	if len(left) == len(l.Going) {
		return
	}
	was := *l
	l.Going = left
	if err := k.put(l); err != nil { // unlocked again another time
		k.stored(l.ID, ignore(err, ErrConflict))
		*l = was
	}
}

// fit makes a request one that the version of its metastore knows.
func fit(req hms.Struct, codec *hms.Codec) {
	for _, p := range req.Structs("component") {
		if p.Int("type") == exclWrite && codec.EnumName("LockType", exclWrite) == "" {
			p["type"] = int32(exclusive)
		}
	}
}
