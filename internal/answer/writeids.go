package answer

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"hmsgate/frame"
	"hmsgate/internal/session"
	"hmsgate/profiles"
	"hmsgate/route"
)

// writeIDs splits a question for the write ids of tables by their catalogs.
// Each metastore has transactions of its own: to another one than the default
// the caller's list of them means nothing, and it gets its own instead. So a
// reader sees what is committed there. Entries keep the caller's order and
// spelling, by which clients find them (HiveServer2's ValidTxnWriteIdList).
//
// Hive 4 compares compacted files with its own list of transactions and may not
// read another catalog's transactional tables. It asks about every table that a
// query reads, before it knows what it is (Hive.getTable), so tables are looked
// at first.
//
//	GetValidWriteIdsRequest   1 fullTableNames  2 validTxnList  3 writeId
//	GetValidWriteIdsResponse  1 tblValidWriteIds: 1 fullTableName ..
func (s *set) writeIDs(c *session.Call) error {
	args, req, err := argument(c.Body(), 1)
	if err != nil {
		return forward(c)
	}
	names, err := splitList(req.get(frame.List, 1), frame.String)
	if err != nil {
		return forward(c)
	}
	t := c.Env().Table
	shares, ref := share(c, names)
	switch {
	case ref != nil:
		c.Refuse(ref)
		return nil
	case len(shares) == 0, len(shares) == 1 && shares[0].cat == t.Default():
		return forward(c)
	}
	if c.Generations() == profiles.Gen4 && !s.o.AcidRead {
		for _, sh := range shares {
			if sh.cat == t.Default() {
				continue
			}
			switch acid, err := transactional(c, sh); {
			case err != nil:
				c.Failed(sh.cat, err)
				return nil
			case acid:
				c.Refuse(t.AcidElsewhere(c.Method(), sh.cat))
				return nil
			}
		}
	}
	out := make([][]byte, len(names))
	for _, sh := range shares {
		if done := s.writeIDsOf(c, sh, args, req, names, out); done {
			return nil
		}
	}
	r := fields{{frame.List, 1, joinList(frame.Struct, out)}}
	c.Reply(func(dst []byte) []byte { return fields{{frame.Struct, 0, r.appendTo(nil)}}.appendTo(dst) })
	return nil
}

// tableShare is what of the question one catalog answers.
type tableShare struct {
	cat    *route.Catalog
	tables [][]byte // as its metastore knows them
	at     []int    // their places in the question
}

func share(c *session.Call, names [][]byte) ([]*tableShare, *route.Refusal) {
	var out []*tableShare
	by := map[*route.Catalog]*tableShare{}
	for i, n := range names {
		p, rest, ref := c.Names().PlaceOfTable(n[4:])
		if ref != nil {
			return nil, ref
		}
		if p.Catalog == nil {
			p.Catalog = c.Env().Table.Default()
		}
		sh := by[p.Catalog]
		if sh == nil {
			sh = &tableShare{cat: p.Catalog}
			by[p.Catalog], out = sh, append(out, sh)
		}
		sh.tables = append(sh.tables, append(bytes.Clone(p.DB), rest...))
		sh.at = append(sh.at, i)
	}
	return out, nil
}

// transactional says whether any of the tables is, or may be: a table that its
// metastore does not show is taken for one (insert-only ones are hidden from
// clients without the capability), one that is not there is none.
//
//	GetTableRequest  1 dbName  2 tblName
//	GetTableResult   1 table: 9 parameters
func transactional(c *session.Call, sh *tableShare) (bool, error) {
	for _, n := range sh.tables {
		db, table, _ := bytes.Cut(n, []byte("."))
		req := fields{{frame.String, 1, stringValue(db)}, {frame.String, 2, stringValue(table)}}
		body := fields{{frame.Struct, 1, req.appendTo(nil)}}.appendTo(nil)
		msg, err := c.Other(&session.Other{Catalog: sh.cat, Method: profiles.CallTable, Body: body})
		if err != nil {
			return false, err
		}
		r, ok, err := success(msg)
		switch {
		case err != nil:
			return false, errors.Join(errWriteIDs, err)
		case !ok && isMissing(msg):
			continue
		case !ok:
			return true, nil
		}
		t, err := splitStruct(r.get(frame.Struct, 1))
		if err != nil {
			return false, errors.Join(errWriteIDs, err)
		}
		if strings.EqualFold(t.mapText(9, "transactional"), "true") {
			return true, nil
		}
	}
	return false, nil
}

// isMissing says whether a reply about a table is that it is not there.
func isMissing(msg []byte) bool {
	if frame.MessageType(msg[3]) != frame.Reply {
		return false
	}
	fs, err := splitStruct(msg[12+be.Uint32(msg[4:]):])
	id := profiles.Auto().Method([]byte(profiles.CallTable)).NoSuchObject
	return err == nil && fs.get(frame.Struct, id) != nil
}

var errWriteIDs = errors.New("the reply does not answer the tables asked for")

// writeIDsOf asks one catalog and puts its entries where the caller expects
// them. done says that the client has been answered.
func (s *set) writeIDsOf(c *session.Call, sh *tableShare, args, req fields, names, out [][]byte) (done bool) {
	var list [][]byte
	for _, n := range sh.tables {
		list = append(list, stringValue(n))
	}
	req = append(fields(nil), req...).set(frame.List, 1, joinList(frame.String, list))
	txns := string(req.text(2))
	if sh.cat != c.Env().Table.Default() || txns == "" && req.i64(3) == 0 {
		if txns, done = s.seenAt(c, sh.cat, txns); done {
			return true
		}
		req = req.without(3)
	} else if strings.Contains(txns, "-") {
		gen, err := c.GenerationAt(sh.cat)
		if err != nil {
			c.Failed(sh.cat, err)
			return true
		}
		if gen&profiles.Gen4 == 0 {
			if txns, err = withoutRuns(txns); err != nil {
				c.Refuse(c.Loss("validTxnList: " + err.Error()))
				return true
			}
		}
	}
	if txns != "" {
		req = req.set(frame.String, 2, stringValue([]byte(txns)))
	}
	body := append(fields(nil), args...).set(frame.Struct, 1, req.appendTo(nil)).appendTo(nil)
	got, done := s.ask(c, &session.Other{Catalog: sh.cat, Method: c.Method(), Body: body})
	if done {
		return true
	}
	if len(got) != len(sh.tables) {
		c.Failed(sh.cat, fmt.Errorf("%w: %d of %d", errWriteIDs, len(got), len(sh.tables)))
		return true
	}
	for i, e := range got {
		fs, err := splitStruct(e)
		if err != nil || !strings.EqualFold(string(fs.text(1)), string(sh.tables[i])) {
			c.Failed(sh.cat, errors.Join(errWriteIDs, err))
			return true
		}
		out[sh.at[i]] = fs.set(frame.String, 1, names[sh.at[i]]).appendTo(nil)
	}
	return false
}

// seenAt is the list of another catalog's transactions that a caller sees:
// taken now, and the same for as long as the caller's own list lives; one
// without a list is told of now each time.
func (s *set) seenAt(c *session.Call, cat *route.Catalog, callers string) (text string, done bool) {
	seen := &s.o.Locks.Seen
	if callers != "" {
		if text = seen.Get(callers, cat.Name, time.Now()); text != "" {
			return text, false
		}
	}
	msg, err := c.Other(&session.Other{Catalog: cat, Method: profiles.CallOpenTxns, Body: []byte{frame.Stop}})
	if err != nil {
		c.Failed(cat, err)
		return "", true
	}
	r, ok, err := success(msg)
	if err != nil || !ok {
		c.Failed(cat, errors.Join(errWriteIDs, err))
		return "", true
	}
	if text, err = txnList(r); err != nil {
		c.Failed(cat, err)
		return "", true
	}
	if callers == "" {
		return text, false
	}
	return seen.Put(callers, cat.Name, text, time.Now()), false
}

// txnList is the text of the transactions that a reader of now does not see
// (ValidReadTxnList.writeToString): highest:lowest open:open,..:aborted,..
//
//	GetOpenTxnsResponse  1 txn_high_water_mark  2 open_txns (list, in 2.3 a set)
//	                     3 min_open_txn  4 abortedBits
func txnList(r fields) (string, error) {
	v := r.get(frame.List, 2)
	if v == nil {
		v = r.get(frame.Set, 2)
	}
	ids, err := splitList(v, frame.I64)
	if err != nil {
		return "", err
	}
	list := make([]int64, len(ids))
	for i, b := range ids {
		list[i] = int64(be.Uint64(b))
	}
	return txnText(r.i64(1), r.i64(3), list, r.text(4)), nil
}

// txnText writes the list; lowest is 0 when it was not told.
func txnText(highest, lowest int64, ids []int64, bits []byte) string {
	var open, aborted []string
	least := int64(math.MaxInt64)
	for i, id := range ids {
		text := strconv.FormatInt(id, 10)
		if i/8 < len(bits) && bits[i/8]&(1<<(i%8)) != 0 { // java.util.BitSet
			aborted = append(aborted, text)
			continue
		}
		open, least = append(open, text), min(least, id)
	}
	if lowest != 0 {
		least = lowest
	}
	return fmt.Sprintf("%d:%d:%s:%s", highest, least, strings.Join(open, ","), strings.Join(aborted, ","))
}
