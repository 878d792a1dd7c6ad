package answer

import (
	"context"
	"fmt"
	"slices"

	"hmsgate/frame"
	"hmsgate/internal/hms"
	"hmsgate/internal/locks"
	"hmsgate/internal/session"
)

// Texts of locks. The first is the Java proxy's.
const (
	textNoSynthetic = "Synthetic read lock ID does not exist"
	textMirror      = "the lock could not be taken at every catalog it names and is given up; " +
		"the gateway's log says at which one and why"
	textLockStore = "the gateway's lock store does not answer or does not take the lock; its log says why"
	textTooLarge  = "the lock names too many tables and partitions outside the default catalog for the gateway's lock " +
		"store; ask for fewer at once"
)

// textNoLocks: a catalog whose locks are switched off.
func textNoLocks(catalog string) string {
	return fmt.Sprintf("Locks are switched off for catalog '%s' (catalog.%s.locks)", catalog, catalog)
}

// lockID is the id that a check, a release or a heartbeat is about.
func lockID(c *session.Call) int64 {
	_, req, err := argument(c.Body(), 1)
	if err != nil {
		return 0
	}
	return req.i64(1)
}

// checkLock asks the default metastore, then, when it says acquired, the
// mirrors. All other locks are their metastore's alone.
func (s *set) checkLock(c *session.Call) error {
	id := lockID(c)
	if locks.IsSynthetic(id) {
		return s.checkSynthetic(c, id)
	}
	s.o.Locks.Ready(context.Background(), id)
	known, ok, err := s.o.Locks.Known(context.Background(), id)
	switch {
	case err != nil:
		return s.storeFailed(c, err)
	case !ok:
		return forward(c)
	}
	def := c.Env().Table.Default()
	msg, err := c.Other(&session.Other{Catalog: def, Method: c.Method(), Body: c.Body()})
	if err != nil {
		c.Failed(def, err)
		return nil
	}
	result, ok, err := success(msg)
	switch {
	case err != nil:
	case !ok && frame.MessageType(msg[3]) == frame.Reply: // it is gone, or its transaction is
		s.o.Locks.Release(context.Background(), id)
	case ok && result.i32(2) == locks.Acquired:
		all, err := s.o.Locks.Check(context.Background(), id)
		return s.settled(c, id, known.Txn, msg, all, err)
	}
	c.Raw(msg)
	return nil
}

// unlock releases the mirrors when the default metastore has released the lock.
// While the store does not tell whether there are any, a sweep does, later.
func (s *set) unlock(c *session.Call) error {
	id := lockID(c)
	_, known, err := s.o.Locks.Known(context.Background(), id)
	switch {
	case locks.IsSynthetic(id) && err != nil:
		return s.storeFailed(c, err)
	case locks.IsSynthetic(id) && !known:
		return s.noLock(c)
	case locks.IsSynthetic(id):
		s.o.Locks.Release(context.Background(), id)
		c.Reply(func(dst []byte) []byte { return append(dst, frame.Stop) })
		return nil
	}
	if !known {
		return forward(c)
	}
	if msg, ended := s.atDefault(c); ended {
		s.o.Locks.Release(context.Background(), id)
		c.Raw(msg)
	}
	return nil
}

// atDefault sends the call to the default metastore as it is. ended is true
// when that returned without an exception; else the client has been answered.
func (s *set) atDefault(c *session.Call) (msg []byte, ended bool) {
	def := c.Env().Table.Default()
	msg, err := c.Other(&session.Other{Catalog: def, Method: c.Method(), Body: c.Body()})
	if err != nil {
		c.Failed(def, err)
		return nil, false
	}
	at := 12 + int(be.Uint32(msg[4:]))
	if frame.MessageType(msg[3]) != frame.Reply || msg[at] != frame.Stop { // they return nothing
		c.Raw(msg)
		return nil, false
	}
	return msg, true
}

// heartbeat of a synthetic lock stays here; that of its transaction goes on.
func (s *set) heartbeat(c *session.Call) error {
	args, req, err := argument(c.Body(), 1)
	if err != nil || !locks.IsSynthetic(req.i64(1)) {
		return forward(c)
	}
	ok, err := s.o.Locks.Touch(req.i64(1), true)
	switch {
	case err != nil:
		return s.storeFailed(c, err)
	case !ok:
		return s.noLock(c)
	case req.i64(2) == 0:
		c.Reply(func(dst []byte) []byte { return append(dst, frame.Stop) })
		return nil
	}
	def := c.Env().Table.Default()
	body := args.set(frame.Struct, 1, req.without(1).appendTo(nil)).appendTo(nil)
	msg, err := c.Other(&session.Other{Catalog: def, Method: c.Method(), Body: body})
	if err != nil {
		c.Failed(def, err)
		return nil
	}
	c.Raw(msg)
	return nil
}

// endTxn lets the default metastore commit or abort, and ends what the gateway
// held for those transactions before the client hears of it. When it failed, a
// sweep finds out whether they are over.
func (s *set) endTxn(c *session.Call) error {
	ids := endedTxns(c)
	if !slices.ContainsFunc(ids, s.o.Locks.InTxn) {
		c.Forward()
		if c.Answered() {
			s.txnsEnded(ids)
		}
		return nil
	}
	if msg, ended := s.atDefault(c); ended {
		s.txnsEnded(ids)
		c.Raw(msg)
	}
	return nil
}

func (s *set) txnsEnded(ids []int64) {
	for _, id := range ids {
		s.o.Locks.EndTxn(context.Background(), id)
	}
}

// endedTxns are the transactions that a commit or an abort is about: field 1
// of the request is one, or a list.
func endedTxns(c *session.Call) []int64 {
	_, req, err := argument(c.Body(), 1)
	if err != nil {
		return nil
	}
	if txn := req.i64(1); txn != 0 {
		return []int64{txn}
	}
	list, err := splitList(req.get(frame.List, 1), frame.I64)
	if err != nil {
		return nil
	}
	ids := make([]int64, len(list))
	for i, v := range list {
		ids[i] = int64(be.Uint64(v))
	}
	return ids
}

// grant makes a synthetic lock.
func (s *set) grant(c *session.Call, l *lockCall) error {
	var shown []hms.Struct
	for _, p := range l.comps {
		if p.place.Catalog == nil {
			continue
		}
		e := hms.Struct{"dbname": string(p.text(3)), "state": locks.Acquired, "type": p.i32(1), "user": string(l.req.text(3)),
			"hostname": string(l.req.text(4)), "agentInfo": string(l.req.text(5)), "txnid": l.txn, "catalog": p.place.Catalog.Name,
			"db": string(p.place.DB)}
		if t := p.text(4); t != nil {
			e["tablename"] = string(t)
		}
		shown = append(shown, e)
	}
	id, err := s.o.Locks.Grant(l.txn, shown)
	if err != nil {
		return s.storeFailed(c, err)
	}
	return s.reply(c, hms.Struct{"lockid": id, "state": locks.Acquired})
}

func (s *set) checkSynthetic(c *session.Call, id int64) error {
	ok, err := s.o.Locks.Touch(id, false)
	switch {
	case err != nil:
		return s.storeFailed(c, err)
	case !ok:
		return s.noLock(c)
	}
	return s.reply(c, hms.Struct{"lockid": id, "state": locks.Acquired})
}

func (s *set) noLock(c *session.Call) error {
	return s.reply(c, &hms.Exception{Type: "NoSuchLockException", Message: textNoSynthetic})
}
