package memhms

import (
	"strconv"
	"strings"

	"hmsgate/internal/hms"
)

func init() {
	add("allocate_table_write_ids", (*Server).allocate, "txnToWriteIds")
	add("get_valid_write_ids", (*Server).validWriteIDs, "tblValidWriteIds")
	add("get_max_allocated_table_write_id", (*Server).maxAllocated, "maxWriteId")
}

// allocate gives each transaction one write id for a table, the same one when it
// asks again.
func (s *Server) allocate(c *call) (any, error) {
	table := ident(c.str("dbname")) + "." + ident(c.str("tablename"))
	var ids []int64
	for _, v := range c.list("txnids") {
		if id, ok := v.(int64); ok {
			ids = append(ids, id)
		}
	}
	for _, id := range ids {
		if err := s.mustBeOpen(id); err != nil {
			return nil, err
		}
	}
	out := []any{}
	for _, id := range ids {
		w := int64(0)
		for _, x := range s.txn.writes[table] {
			if x.txn == id {
				w = x.write
			}
		}
		if w == 0 {
			s.txn.nextID[table]++
			w = s.txn.nextID[table]
			s.txn.writes[table] = append(s.txn.writes[table], txnWrite{id, w})
		}
		out = append(out, hms.Struct{"txnId": id, "writeId": w})
	}
	return out, nil
}

func (s *Server) maxAllocated(c *call) (any, error) {
	return s.txn.nextID[ident(c.str("dbname"))+"."+ident(c.str("tablename"))], nil
}

// txnList is ValidReadTxnList's text: highwater:minopen:open,open:aborted,aborted,
// where Hive 4 writes runs as 3-31 (seen).
type txnList struct {
	high     int64
	excepted map[int64]bool // open or aborted
	aborted  map[int64]bool
}

func parseTxnList(text string) (txnList, bool) {
	l := txnList{excepted: map[int64]bool{}, aborted: map[int64]bool{}}
	f := strings.Split(text, ":")
	high, err := strconv.ParseInt(f[0], 10, 64)
	if err != nil {
		return l, false
	}
	l.high = high
	for i := 2; i < len(f) && i < 4; i++ {
		for _, x := range strings.Split(f[i], ",") {
			from, to, isRun := strings.Cut(x, "-")
			if !isRun {
				to = from
			}
			a, err1 := strconv.ParseInt(from, 10, 64)
			b, err2 := strconv.ParseInt(to, 10, 64)
			for id := a; err1 == nil && err2 == nil && id <= min(b, l.high); id++ {
				l.excepted[id], l.aborted[id] = true, i == 3
			}
		}
	}
	return l, true
}

// current is the list that a reader of now would have.
func (s *Server) current() txnList {
	l := txnList{high: s.nexts["txn"], excepted: map[int64]bool{}, aborted: map[int64]bool{}}
	for id, t := range s.txn.all {
		if t.state != txnCommitted {
			l.excepted[id], l.aborted[id] = true, t.state == txnAbort
		}
	}
	return l
}

// validWriteIDs answers each table under the name it was asked by: clients key on
// it. A name that is not db.table fails the call.
func (s *Server) validWriteIDs(c *call) (any, error) {
	list, ok := parseTxnList(c.str("validtxnlist"))
	if !ok {
		list = s.current()
	}
	out := []any{}
	for _, full := range c.strs("fulltablenames") {
		if strings.Count(full, ".") != 1 {
			return nil, throw(meta, "Table name %s is not correct", full)
		}
		out = append(out, s.writesOf(full, list))
	}
	return out, nil
}

func (s *Server) writesOf(full string, list txnList) hms.Struct {
	writes := s.txn.writes[ident(full)]
	invalid, aborted, high, least := []any{}, bitSet{}, int64(0), int64(0)
	for _, w := range writes {
		// 4.1.0 leaves out what the transaction at the high water mark wrote (seen).
		if w.txn > list.high || s.era.four && w.txn == list.high {
			continue
		}
		high = max(high, w.write)
		if !list.excepted[w.txn] {
			continue
		}
		if list.aborted[w.txn] {
			aborted.set(len(invalid))
		} else if least == 0 {
			least = w.write
		}
		invalid = append(invalid, w.write)
	}
	if high == 0 && len(writes) > 0 { // allocated only by later transactions
		high = writes[0].write - 1
	}
	o := hms.Struct{"fullTableName": full, "writeIdHighWaterMark": high, "invalidWriteIds": invalid,
		"abortedBits": aborted.bytes()}
	if least != 0 {
		o["minOpenWriteId"] = least
	}
	return o
}
