package answer

import (
	"errors"
	"slices"
	"strings"

	"hmsgate/frame"
	"hmsgate/internal/hms"
	"hmsgate/internal/locks"
	"hmsgate/internal/session"
	"hmsgate/rewrite"
	"hmsgate/route"
)

// showLocks of another catalog's database are those of its metastore, less the
// mirrors, and those that the default metastore holds for it under the
// external name. Without a database they are those of the catalog's metastore
// alone, which is the default one where no catalog is named, or those of all
// catalogs, where the configuration says so.
//
//	ShowLocksRequest  1 dbname  2 tablename, also "db.table"  6 catname
//	element           1 lockid  2 dbname  13 agentInfo  14 blockedByExtId
func (s *set) showLocks(c *session.Call) error {
	cat, ref := c.Names().Route(c.Row())
	if ref != nil {
		c.Refuse(ref)
		return nil
	}
	def := c.Env().Table.Default()
	args, req, err := argument(c.Body(), 1)
	if err == nil && s.o.AllStatus && len(req.without(4)) == 0 { // 4 isExtended
		return s.allLocks(c)
	}
	if cat == def || err != nil {
		return forward(c)
	}
	place, ref := shownPlace(c, req)
	switch {
	case ref != nil:
		c.Refuse(ref)
		return nil
	case place.Catalog != cat:
		place = route.Place{Catalog: cat}
	}
	var lines [][]byte
	if s.mode(cat) != locks.Synthetic {
		own, done := s.ask(c, &session.Other{Catalog: cat, Method: c.Method(), Body: c.Body(),
			Names: func(at bool) (call, reply rewrite.Names) { return c.Names().Call(at), c.Names().Reply() }})
		if done {
			return nil
		}
		if lines, err = unmirrored(own); err != nil {
			return err
		}
	}
	if len(place.DB) == 0 {
		return s.replyLocks(c, lines)
	}
	var more [][]byte
	if name, ref := c.Env().Table.LockName(nil, place); ref == nil { // nothing longer is held there
		var done bool
		more, done = s.ask(c, &session.Other{Catalog: def, Method: c.Method(), Body: shownAs(args, req, name)})
		if done {
			return nil
		}
	}
	outside, err := c.Names().Reply().Append(nil, rewrite.DB, place.DB)
	if err != nil {
		return err
	}
	for _, e := range more {
		if fs, err := splitStruct(e); err == nil {
			lines = append(lines, fs.set(frame.String, 2, stringValue(outside)).appendTo(nil))
		}
	}
	synthetic, err := s.syntheticLines(c, req, place, outside)
	if err != nil {
		return err
	}
	return s.replyLocks(c, append(lines, synthetic...))
}

// shownPlace is the database that the request filters by.
func shownPlace(c *session.Call, req fields) (route.Place, *route.Refusal) {
	if db := req.text(1); len(db) > 0 {
		return c.Names().Place(db, req.text(6))
	}
	p, _, ref := c.Names().PlaceOfTable(req.text(2))
	return p, ref
}

// shownAs is the request under another database's name.
func shownAs(args, req fields, name []byte) []byte {
	req = slices.Clone(req).without(6)
	if len(req.text(1)) > 0 {
		req = req.set(frame.String, 1, stringValue(name))
	}
	if table := string(req.text(2)); strings.Contains(table, ".") {
		req = req.set(frame.String, 2, stringValue(append(slices.Clone(name), table[strings.LastIndexByte(table, '.'):]...)))
	}
	return slices.Clone(args).set(frame.Struct, 1, req.appendTo(nil)).appendTo(nil)
}

// unmirrored leaves the mirrors out. What one of them keeps waiting waits for
// its primary, which the client can look at.
func unmirrored(list [][]byte) ([][]byte, error) {
	seen := make([]fields, 0, len(list))
	primary := map[int64]int64{} // by mirror
	for _, e := range list {
		fs, err := splitStruct(e)
		if err != nil {
			return nil, err
		}
		if agent := string(fs.text(13)); !locks.IsMark(agent) {
			seen = append(seen, fs)
		} else if id, ok := locks.PrimaryOf(agent); ok {
			primary[fs.i64(1)] = id
		}
	}
	list = list[:0]
	for _, fs := range seen {
		if id, ok := primary[fs.i64(14)]; ok {
			fs = fs.set(frame.I64, 14, be.AppendUint64(nil, uint64(id)))
		}
		list = append(list, fs.appendTo(nil))
	}
	return list, nil
}

var errNoLocks = errors.New("the reply is no list of locks")

// ask gives the elements of a reply that is a struct whose field 1 is their
// list. done says that the client has been answered: an exception, or no reply.
func (s *set) ask(c *session.Call, o *session.Other) (list [][]byte, done bool) {
	msg, err := c.Other(o)
	if err != nil {
		c.Failed(o.Catalog, err)
		return nil, true
	}
	r, ok, err := success(msg)
	if err == nil && !ok && c.Without(msg) {
		return nil, false
	}
	if err == nil && !ok {
		c.Raw(msg)
		return nil, true
	}
	if v := r.get(frame.List, 1); err == nil && v != nil {
		list, err = splitList(v, frame.Struct)
	}
	if err != nil {
		c.Failed(o.Catalog, errors.Join(errNoLocks, err))
		return nil, true
	}
	return list, false
}

func (s *set) replyLocks(c *session.Call, lines [][]byte) error {
	r := fields{{frame.List, 1, joinList(frame.Struct, lines)}}
	c.Reply(func(dst []byte) []byte { return fields{{frame.Struct, 0, r.appendTo(nil)}}.appendTo(dst) })
	return nil
}

// syntheticLines are the lines of synthetic locks that the request asks for.
func (s *set) syntheticLines(c *session.Call, req fields, p route.Place, outside []byte) ([][]byte, error) {
	table := strings.ToLower(string(req.text(2)))
	table = table[strings.LastIndexByte(table, '.')+1:]
	return s.shownLocks(c, func(e hms.Struct) ([]byte, bool) {
		return outside, e.Str("catalog") == p.Catalog.Name && strings.EqualFold(e.Str("db"), string(p.DB)) &&
			(table == "" || strings.ToLower(e.Str("tablename")) == table)
	})
}

// shownLocks are lines of synthetic locks: of those that are wanted, under the
// name that their database has outside.
func (s *set) shownLocks(c *session.Call, wanted func(e hms.Struct) (outside []byte, ok bool)) ([][]byte, error) {
	var list []any
	for _, e := range s.o.Locks.Shown() {
		outside, ok := wanted(e)
		if !ok {
			continue
		}
		delete(e, "catalog")
		delete(e, "db")
		e["dbname"] = string(outside)
		list = append(list, e)
	}
	if list == nil {
		return nil, nil
	}
	msg, err := s.codec.EncodeReply(c.Method(), c.Seq(), hms.Struct{"locks": list})
	if err != nil {
		return nil, err
	}
	r, _, err := success(msg)
	if err != nil {
		return nil, err
	}
	return splitList(r.get(frame.List, 1), frame.Struct)
}

func (s *set) storeFailed(c *session.Call, err error) error {
	c.Env().Log.Error().Err(err).Msg("lock store")
	text := textLockStore
	if errors.Is(err, locks.ErrTooLarge) {
		text = textTooLarge
	}
	c.Refuse(&route.Refusal{Exception: route.Meta, Reason: "lock_store", Text: text})
	return nil
}
