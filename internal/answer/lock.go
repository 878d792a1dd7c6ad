package answer

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"hmsgate/frame"
	"hmsgate/internal/hms"
	"hmsgate/internal/locks"
	"hmsgate/internal/session"
	"hmsgate/profiles"
	"hmsgate/route"
)

// lockCall is a lock request taken apart (hive_metastore.thrift, LockRequest
// and LockComponent; ids are the same in every version).
//
//	args   1 LockRequest
//	  1 component  2 txnid  3 user  4 hostname  5 agentInfo
//	component  1 type  2 level  3 dbname  4 tablename  5 partitionname
//	           6 operationType  7 isTransactional (2.3: isAcid)  9 catName
type lockCall struct {
	args, req fields
	comps     []lockPart
	txn       int64
	foreign   []*route.Catalog // other catalogs than the metastores' default, in slot order
	home      bool             // a component of the default catalog
}

type lockPart struct {
	fields
	place route.Place
}

// readLock takes the request apart. Without a refusal and without a result it
// is for the metastore to say what is wrong with it.
func readLock(c *session.Call) (*lockCall, *route.Refusal) {
	args, req, err := argument(c.Body(), 1)
	if err != nil {
		return nil, nil
	}
	list, err := splitList(req.get(frame.List, 1), frame.Struct)
	if err != nil {
		return nil, nil
	}
	l := &lockCall{args: args, req: req, txn: req.i64(2)}
	for _, e := range list {
		fs, err := splitStruct(e)
		if err != nil {
			return nil, nil
		}
		place, ref := c.Names().Place(fs.text(3), fs.text(9))
		if ref != nil {
			return nil, ref
		}
		l.comps = append(l.comps, lockPart{fs, place})
		switch cat := place.Catalog; {
		case cat == nil:
		case cat == c.Env().Table.Default():
			l.home = true
		case !slices.Contains(l.foreign, cat):
			l.foreign = append(l.foreign, cat)
		}
	}
	slices.SortFunc(l.foreign, func(a, b *route.Catalog) int { return a.Slot() - b.Slot() })
	return l, nil
}

// lock sends a request where its locks are: to the metastore of the one catalog
// it names, or, when it belongs to a transaction or names several, to the
// default catalog's metastore, which locks any name.
func (s *set) lock(c *session.Call) error {
	l, ref := readLock(c)
	if ref == nil && l != nil {
		ref = s.barred(c, l)
	}
	switch {
	case ref != nil:
		c.Refuse(ref)
		return nil
	case l == nil, len(l.foreign) == 0:
		return forward(c)
	}
	asked := l.without(func(cat *route.Catalog) bool { return s.mode(cat) == locks.Synthetic })
	switch {
	case len(asked.foreign) == 0 && !asked.home:
		return s.grant(c, l)
	case len(l.foreign) == 1 && l.txn == 0 && !l.home && s.mode(l.foreign[0]) == locks.Owner:
		return forward(c)
	}
	return s.primary(c, asked)
}

// mode is what a catalog's locks are; the default catalog's are a metastore's.
func (s *set) mode(cat *route.Catalog) locks.Mode { return s.modes[cat.Name] }

// barred is the refusal of a request that names a catalog without locks, or
// that wants more of a synthetic lock than it can give.
func (s *set) barred(c *session.Call, l *lockCall) *route.Refusal {
	t := c.Env().Table
	for _, p := range l.comps {
		cat := p.place.Catalog
		if cat == nil || cat == t.Default() {
			continue
		}
		switch s.mode(cat) {
		case locks.Off:
			return &route.Refusal{Exception: route.Meta, Reason: route.Elsewhere, Text: textNoLocks(cat.Name)}
		case locks.Synthetic:
			if !p.synthetic() {
				return t.AcidElsewhere(c.Method(), cat)
			}
		}
	}
	return nil
}

// Operations of a component (hive_metastore.thrift, DataOperationType): 1 to 4
// are SELECT, INSERT, UPDATE and DELETE.
const (
	opSelect = 1
	opDelete = 4
	opUnset  = 5
	opNoTxn  = 6
)

// synthetic says whether a component may be granted without asking anybody, as
// the Java proxy decides: never what is transactional, and no vague one.
func (p *lockPart) synthetic() bool {
	acid := p.get(frame.Bool, 7)
	switch op := p.i32(6); {
	case len(acid) == 1 && acid[0] != 0:
		return false
	case op == opSelect:
		return p.i32(1) != 1 || acid != nil // SHARED_READ is for metastores unless it says it is not
	case op > opSelect && op <= opDelete, op == opNoTxn:
		return true
	}
	return false
}

// without is the request less the components of some catalogs.
func (l *lockCall) without(drop func(*route.Catalog) bool) *lockCall {
	out := *l
	out.comps, out.foreign = nil, slices.DeleteFunc(slices.Clone(l.foreign), drop)
	for _, p := range l.comps {
		if p.place.Catalog == nil || !slices.Contains(l.foreign, p.place.Catalog) || !drop(p.place.Catalog) {
			out.comps = append(out.comps, p)
		}
	}
	return &out
}

// primary takes one lock for all components at the default metastore: one id,
// which a commit or an abort of the transaction releases there. Mirrors follow
// when it is acquired.
func (s *set) primary(c *session.Call, l *lockCall) error {
	def := c.Env().Table.Default()
	body, ref := l.primaryBody(c)
	if ref != nil {
		c.Refuse(ref)
		return nil
	}
	k := locks.Lock{Txn: l.txn, Mirrors: s.mirrors(l)}
	if len(k.Mirrors) > 0 { // else a lock would be there that nobody keeps
		if err := s.o.Locks.Admit(k); err != nil {
			return s.storeFailed(c, err)
		}
	}
	msg, err := c.Other(&session.Other{Catalog: def, Method: c.Method(), Body: body})
	if err != nil {
		c.Failed(def, err)
		return nil
	}
	result, ok, err := success(msg)
	if err != nil || !ok || len(k.Mirrors) == 0 {
		c.Raw(msg)
		return nil
	}
	k.ID = result.i64(1)
	all, err := s.o.Locks.Take(context.Background(), k, result.i32(2) == locks.Acquired)
	if errors.Is(err, locks.ErrStore) && l.txn == 0 {
		s.giveUp(c, k.ID) // its client will never know the id
	}
	return s.settled(c, k.ID, l.txn, msg, all, err)
}

// settled answers with what the default metastore said of a lock, and how its
// mirrors stand: while one waits, the lock does.
func (s *set) settled(c *session.Call, id, txn int64, msg []byte, all bool, err error) error {
	if errors.Is(err, locks.ErrStore) {
		return s.storeFailed(c, err)
	}
	if err != nil {
		c.Env().Log.Error().Err(err).Int64("lock", id).Msg("a mirror was not taken: the lock is given up")
		if txn == 0 {
			s.giveUp(c, id)
		}
		c.Refuse(&route.Refusal{Exception: route.Meta, Reason: "mirror", Text: textMirror})
		return nil
	}
	if !all {
		msg = inState(msg, locks.Waiting)
	}
	c.Raw(msg)
	return nil
}

// giveUp releases a primary that belongs to no transaction. One of a
// transaction ends with it: a metastore does not unlock it.
func (s *set) giveUp(c *session.Call, id int64) {
	def := c.Env().Table.Default()
	req := fields{{frame.I64, 1, be.AppendUint64(nil, uint64(id))}}
	args := fields{{frame.Struct, 1, req.appendTo(nil)}}
	if _, err := c.Other(&session.Other{Catalog: def, Method: profiles.CallUnlock, Body: args.appendTo(nil)}); err != nil {
		c.Env().Log.Error().Err(err).Int64("lock", id).Msg("lock not released: it expires without heartbeats")
		return
	}
	s.o.Locks.Release(context.Background(), id)
}

// mirrors are the locks at other catalogs' metastores that go with a primary.
func (s *set) mirrors(l *lockCall) []locks.Mirror {
	var out []locks.Mirror
	for _, cat := range l.foreign {
		if !s.o.Locks.Mirrors() || s.mode(cat) != locks.Owner {
			continue
		}
		var parts []any
		for _, p := range l.comps {
			if p.place.Catalog == cat {
				parts = append(parts, p.mirrored())
			}
		}
		out = append(out, locks.Mirror{Catalog: cat.Name, Request: hms.Struct{
			"component": parts, "user": string(l.req.text(3)), "hostname": string(l.req.text(4))}})
	}
	return out
}

// mirrored is a component as its own metastore knows the names.
func (p *lockPart) mirrored() hms.Struct {
	out := hms.Struct{"type": p.i32(1), "level": p.i32(2), "dbname": string(p.place.DB), "isTransactional": false,
		"operationType": int32(opNoTxn)}
	if p.get(frame.String, 4) != nil {
		out["tablename"] = string(p.text(4))
	}
	if p.get(frame.String, 5) != nil {
		out["partitionname"] = string(p.text(5))
	}
	if op := p.i32(6); op != 0 && op != opUnset {
		out["operationType"] = op
	}
	return out
}

// inState is a lock's reply with another state.
//
//	header | 0c 00 00 LockResponse { 1 lockid 2 state .. } | 00
func inState(msg []byte, state int32) []byte {
	at := 12 + int(be.Uint32(msg[4:]))
	fs, err := splitStruct(msg[at:])
	if err != nil {
		return msg
	}
	r, err := splitStruct(fs.get(frame.Struct, 0))
	if err != nil {
		return msg
	}
	r = r.set(frame.I32, 2, be.AppendUint32(nil, uint32(state)))
	return fs.set(frame.Struct, 0, r.appendTo(nil)).appendTo(slices.Clone(msg[:at]))
}

// primaryBody is the request under names that the default metastore can tell
// apart. Components of other catalogs are not transactional there: else a
// metastore would remember them in TXN_COMPONENTS, from where only a compactor
// of that table would remove them (TxnHandler.enqueueLockWithRetry), and there
// is none. Seen on 3.1.3: an update and an insert, one transaction aborted, one
// committed, leave no row through the gateway, and one each when the metastore
// is asked for the same names directly.
func (l *lockCall) primaryBody(c *session.Call) ([]byte, *route.Refusal) {
	t := c.Env().Table
	var list [][]byte
	for _, p := range l.comps {
		fs := slices.Clone(p.fields)
		switch {
		case p.place.Catalog == nil:
		case p.place.Catalog == t.Default():
			if !bytes.Equal(fs.text(3), p.place.DB) {
				fs = fs.set(frame.String, 3, stringValue(p.place.DB))
			}
			if fs.get(frame.String, 9) != nil {
				fs = fs.set(frame.String, 9, stringValue([]byte(t.Default().BackendCatalog)))
			}
		default:
			name, ref := t.LockName(nil, p.place)
			if ref != nil {
				return nil, ref
			}
			fs = fs.without(9).set(frame.String, 3, stringValue(name)).set(frame.Bool, 7, []byte{0})
		}
		list = append(list, fs.appendTo(nil))
	}
	req := slices.Clone(l.req).set(frame.List, 1, joinList(frame.Struct, list))
	return slices.Clone(l.args).set(frame.Struct, 1, req.appendTo(nil)).appendTo(nil), nil
}
