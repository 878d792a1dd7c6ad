package memhms

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"hmsgate/internal/hms"
)

func init() {
	add("open_txns", (*Server).openTxns, "txn_ids")
	add("commit_txn", (*Server).commitTxn, "")
	add("abort_txn", (*Server).abortTxn, "")
	add("abort_txns", (*Server).abortTxns, "")
	add("get_open_txns", (*Server).openList, "")
	add("get_open_txns_req", (*Server).openList, "")
	add("get_open_txns_info", (*Server).openInfo, "")
	add("heartbeat_txn_range", (*Server).heartbeatRange, "")
	add("add_dynamic_partitions", (*Server).addDynamic, "")
	add("compact", (*Server).compact, "")
	add("compact2", (*Server).compact, "")
	add("show_compact", (*Server).showCompact, "compacts")
	add("get_latest_txnid_in_conflict", func(*Server, *call) (any, error) { return int64(0), nil }, "")
}

// errInternal is an exception that no method declares.
var errInternal = errors.New("internal error")

const (
	txnCommitted = 1
	txnAbort     = 2
	txnStillOpen = 3
)

// txnTable holds transactions, the write ids of tables, and compaction requests.
type txnTable struct {
	all      map[int64]*transaction
	writes   map[string][]txnWrite // by "db.table", in order of write id
	nextID   map[string]int64      // write ids by "db.table"
	compacts []hms.Struct
}

type transaction struct {
	id          int64
	state       int32 // TxnState
	user, host  string
	agent       string
	began, beat int64
}

type txnWrite struct{ txn, write int64 }

func (t *txnTable) init() {
	t.all, t.writes, t.nextID = map[int64]*transaction{}, map[string][]txnWrite{}, map[string]int64{}
}

// cutTable splits db.table.
func cutTable(s string) (db, table string, ok bool) { return strings.Cut(s, ".") }

func (s *Server) mustBeOpen(id int64) error {
	t := s.txn.all[id]
	switch {
	case t == nil, t.state == txnCommitted:
		return throw(noSuchTxn, "No such transaction txnid:%d", id)
	case t.state == txnAbort:
		return throw(txnAborted, "Transaction txnid:%d already aborted", id)
	}
	return nil
}

func (s *Server) openTxns(c *call) (any, error) {
	out := []any{}
	for range max(c.num("numtxns"), 0) {
		t := &transaction{id: s.next("txn"), state: txnStillOpen, user: c.str("user"), host: c.str("hostname"),
			agent: c.str("agentinfo"), began: s.millis(), beat: s.millis()}
		s.txn.all[t.id] = t
		out = append(out, t.id)
	}
	return out, nil
}

// commitTxn of one that is committed already succeeds (seen).
func (s *Server) commitTxn(c *call) (any, error) {
	id := c.num("txnid")
	if t := s.txn.all[id]; t != nil && t.state == txnCommitted {
		return nil, nil
	}
	if err := s.mustBeOpen(id); err != nil {
		return nil, err
	}
	s.end(id, txnCommitted)
	return nil, nil
}

func (s *Server) end(id int64, state int32) {
	s.txn.all[id].state = state
	s.release(func(l *heldLock) bool { return l.txn == id })
}

// abortTxn of one that is aborted already succeeds (seen).
func (s *Server) abortTxn(c *call) (any, error) {
	id := c.num("txnid")
	if t := s.txn.all[id]; t != nil && t.state == txnAbort {
		return nil, nil
	}
	if err := s.mustBeOpen(id); err != nil {
		return nil, err
	}
	s.end(id, txnAbort)
	return nil, nil
}

func (s *Server) abortTxns(c *call) (any, error) {
	for _, v := range c.list("txnids") {
		if id, ok := v.(int64); ok && s.mustBeOpen(id) == nil {
			s.end(id, txnAbort)
		}
	}
	return nil, nil
}

func (s *Server) txnIDs() []int64 { return slices.Sorted(maps.Keys(s.txn.all)) }

// openList: every transaction that is open or aborted, with a bit for the latter
// (TxnCommonUtils.createValidReadTxnList reads it so).
func (s *Server) openList(*call) (any, error) {
	ids, aborted, least := []any{}, bitSet{}, int64(0)
	for _, id := range s.txnIDs() {
		t := s.txn.all[id]
		if t.state == txnCommitted {
			continue
		}
		if t.state == txnAbort {
			aborted.set(len(ids))
		} else if least == 0 {
			least = id
		}
		ids = append(ids, id)
	}
	out := hms.Struct{"txn_high_water_mark": s.nexts["txn"], "open_txns": ids, "abortedBits": aborted.bytes()}
	if least != 0 {
		out["min_open_txn"] = least
	}
	return out, nil
}

func (s *Server) openInfo(*call) (any, error) {
	list := []any{}
	for _, id := range s.txnIDs() {
		t := s.txn.all[id]
		if t.state == txnCommitted {
			continue
		}
		list = append(list, hms.Struct{"id": id, "state": t.state, "user": t.user, "hostname": t.host,
			"startedTime": t.began, "lastHeartbeatTime": t.beat})
	}
	return hms.Struct{"txn_high_water_mark": s.nexts["txn"], "open_txns": list}, nil
}

func (s *Server) heartbeatRange(c *call) (any, error) {
	aborted, lost := []any{}, []any{}
	for id := c.num("min"); id <= c.num("max"); id++ {
		switch t := s.txn.all[id]; {
		case t == nil, t.state == txnCommitted:
			lost = append(lost, id)
		case t.state == txnAbort:
			aborted = append(aborted, id)
		default:
			t.beat = s.millis()
		}
		if len(lost) > 100_000 { // a range nobody means
			break
		}
	}
	return hms.Struct{"aborted": aborted, "nosuch": lost}, nil
}

func (s *Server) addDynamic(c *call) (any, error) { return nil, s.mustBeOpen(c.num("txnid")) }

// compact queues a request; one that is queued already is not accepted again.
func (s *Server) compact(c *call) (any, error) {
	db, table, part := ident(c.str("dbname")), ident(c.str("tablename")), c.str("partitionname")
	for _, k := range s.txn.compacts {
		if k.Str("dbname") == db && k.Str("tablename") == table && k.Str("partitionname") == part {
			state := "initiated"
			if s.era.four {
				state = "refused" // seen
			}
			return hms.Struct{"id": k.Int("id"), "state": state, "accepted": false}, nil
		}
	}
	k := hms.Struct{"id": s.next("compaction"), "dbname": db, "tablename": table, "type": c.value("type"),
		"state": "initiated"}
	if part != "" {
		k["partitionname"] = part
	}
	s.txn.compacts = append(s.txn.compacts, k)
	return hms.Struct{"id": k.Int("id"), "state": "initiated", "accepted": true}, nil
}

func (s *Server) showCompact(*call) (any, error) {
	out := []any{}
	for _, k := range s.txn.compacts {
		out = append(out, k)
	}
	return out, nil
}

// bitSet is java.util.BitSet's byte form: little-endian, no zero bytes at the end.
type bitSet struct{ b []byte }

func (s *bitSet) set(i int) {
	for len(s.b) <= i/8 {
		s.b = append(s.b, 0)
	}
	s.b[i/8] |= 1 << (i % 8)
}

func (s *bitSet) bytes() []byte { return append([]byte{}, s.b...) }
