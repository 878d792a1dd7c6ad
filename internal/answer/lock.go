package answer

import (
	"bytes"
	"slices"

	"hmsgate/frame"
	"hmsgate/internal/session"
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
	switch {
	case ref != nil:
		c.Refuse(ref)
		return nil
	case l == nil, len(l.foreign) == 0, len(l.foreign) == 1 && l.txn == 0 && !l.home:
		return forward(c)
	}
	return s.primary(c, l)
}

// primary takes one lock for all components at the default metastore: one id,
// which a commit or an abort of the transaction releases there.
func (s *set) primary(c *session.Call, l *lockCall) error {
	def := c.Env().Table.Default()
	body, ref := l.primaryBody(c)
	if ref != nil {
		c.Refuse(ref)
		return nil
	}
	msg, err := c.Other(&session.Other{Catalog: def, Method: c.Method(), Body: body})
	if err != nil {
		c.Failed(def, err)
		return nil
	}
	c.Raw(msg)
	return nil
}

// primaryBody is the request under names that the default metastore can tell
// apart. Components of other catalogs are not transactional there: else a
// metastore would remember them in TXN_COMPONENTS, from where only a compactor
// of that table would remove them (TxnHandler.enqueueLockWithRetry), and there
// is none.
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
