package memhms

import (
	"hmsgate/internal/hms"
)

func init() {
	add("lock", (*Server).takeLock, "")
	add("check_lock", (*Server).checkLock, "")
	add("unlock", (*Server).unlock, "")
	add("heartbeat", (*Server).heartbeat, "")
	add("show_locks", (*Server).showLocks, "locks")
}

// Lock types, levels and states (hive_metastore.thrift).
const (
	sharedRead  = 1
	sharedWrite = 2
	exclusive   = 3
	exclWrite   = 4 // 4.0 and later

	levelDB    = 1
	levelTable = 2

	opUnset = 5 // DataOperationType

	acquired = 1
	waiting  = 2
)

// lockTable holds locks in the order they came, which is the order they are
// granted in.
type lockTable struct{ locks []*heldLock }

// init: 4.1 elects a leader by locks that are there from the start. Their type is one
// that 3.1 does not know, so that a client of 3.1 cannot read an unfiltered
// show_locks (seen).
func (l *lockTable) init(s *Server) {
	if !s.era.leader {
		return
	}
	for _, task := range []string{"metastore_always_tasks", "metastore_housekeeping"} {
		part := lockPart{exclWrite, levelTable, "__metastore_leader_election__", task, ""}
		l.locks = append(l.locks, &heldLock{id: s.next("lock"), state: acquired, user: "hive", host: "localhost",
			agent: "Unknown", beat: s.millis(), got: s.millis(), parts: []lockPart{part}})
	}
}

// heldLock is one request: it is acquired when all its components can be.
type heldLock struct {
	id, txn           int64
	state             int32
	user, host, agent string
	beat, got         int64 // milliseconds
	parts             []lockPart
	blocker, part     int64 // what it waits for: id and component of another lock
}

type lockPart struct {
	kind, level          int32
	db, table, partition string
}

// conflicts are the pairs of types that exclude one another (TxnHandler's jump
// table; EXCL_WRITE from DbTxnManager of 4.x).
func (s *Server) conflicts(a, b int32) bool {
	if a > b {
		a, b = b, a
	}
	switch {
	case b == exclusive, b == exclWrite && a == exclusive:
		return true
	case b == exclWrite:
		return a != sharedRead
	case a == sharedWrite && b == sharedWrite:
		return !s.era.four
	}
	return false
}

// overlap: a component without a table means its whole database, one without a
// partition its whole table. Reading a database's description and changing a table
// in it get along (TxnHandler.ignoreConflict).
func overlap(a, b lockPart) bool {
	if a.db != b.db || a.table != "" && b.table != "" && a.table != b.table ||
		a.partition != "" && b.partition != "" && a.partition != b.partition {
		return false
	}
	soft := func(x, y lockPart) bool {
		return x.level == levelDB && x.kind == sharedRead && y.level == levelTable && y.kind == exclusive
	}
	return !soft(a, b) && !soft(b, a)
}

// settle grants a lock if no earlier one is in its way.
func (s *Server) settle(l *heldLock) {
	if l.state == acquired {
		return
	}
	for _, other := range s.lock.locks {
		if other == l {
			break
		}
		if l.txn != 0 && l.txn == other.txn {
			continue
		}
		for _, a := range l.parts {
			for i, b := range other.parts {
				if s.conflicts(a.kind, b.kind) && overlap(a, b) {
					l.blocker, l.part = other.id, int64(i+1)
					return
				}
			}
		}
	}
	l.state, l.got, l.blocker, l.part = acquired, s.millis(), 0, 0
}

func (s *Server) millis() int64 { return s.conf.Clock().UnixMilli() }

func (s *Server) takeLock(c *call) (any, error) {
	txn := c.num("txnid")
	if txn != 0 {
		if err := s.mustBeOpen(txn); err != nil {
			return nil, err
		}
	}
	parts := c.structs("component")
	if len(parts) == 0 || len(c.str("agentinfo")) > 128 { // a column of 128 (seen)
		return nil, errInternal
	}
	if err := s.vague(txn, parts); err != nil {
		return nil, err
	}
	l := &heldLock{id: s.next("lock"), txn: txn, state: waiting, user: c.str("user"), host: c.str("hostname"),
		agent: c.str("agentinfo"), beat: s.millis()}
	for _, p := range parts {
		l.parts = append(l.parts, lockPart{int32(p.Int("type")), int32(p.Int("level")), ident(p.Str("dbname")),
			ident(p.Str("tablename")), p.Str("partitionname")})
	}
	s.lock.locks = append(s.lock.locks, l)
	s.settle(l)
	return hms.Struct{"lockid": l.id, "state": l.state}, nil
}

// vague: in a transaction a component must say what it is for or whether it is
// transactional; 3.1.3 trips over one that does not, 4.x says so (seen).
func (s *Server) vague(txn int64, parts []hms.Struct) error {
	for _, p := range parts {
		op := p.Int("operationType")
		if txn == 0 || !s.era.catalogs || p["isTransactional"] != nil || op != 0 && op != opUnset {
			continue
		}
		if s.era.four {
			return errInternal
		}
		return errHangUp
	}
	return nil
}

func (s *Server) findLock(id int64) *heldLock {
	for _, l := range s.lock.locks {
		if l.id == id {
			return l
		}
	}
	return nil
}

func (s *Server) checkLock(c *call) (any, error) {
	l := s.findLock(c.num("lockid"))
	if l == nil {
		return nil, throw(noSuchLock, "No such lock lockid:%d", c.num("lockid"))
	}
	l.beat = s.millis()
	if l.txn != 0 {
		if err := s.mustBeOpen(l.txn); err != nil {
			return nil, err
		}
		s.txn.all[l.txn].beat = s.millis()
	}
	s.settle(l)
	return hms.Struct{"lockid": l.id, "state": l.state}, nil
}

var states = map[int32]string{acquired: "ACQUIRED", waiting: "WAITING"}

// unlock of a lock that is not there succeeds; one of a transaction ends with it.
func (s *Server) unlock(c *call) (any, error) {
	l := s.findLock(c.num("lockid"))
	if l == nil {
		return nil, nil
	}
	if l.txn != 0 && len(l.parts) > 0 {
		p := l.parts[0]
		return nil, throw(txnOpen, "Unlocking locks associated with transaction not permitted.  lockid:%d intLockId:1 txnid:%d db:%s table:%s partition:%s state:%s type:%s",
			l.id, l.txn, p.db, orNull(p.table), orNull(p.partition), states[l.state],
			s.codec.EnumName("LockType", p.kind))
	}
	s.release(func(x *heldLock) bool { return x == l })
	return nil, nil
}

func orNull(s string) string {
	if s == "" {
		return "null"
	}
	return s
}

func (s *Server) release(gone func(*heldLock) bool) {
	kept := s.lock.locks[:0:0]
	for _, l := range s.lock.locks {
		if !gone(l) {
			kept = append(kept, l)
		}
	}
	s.lock.locks = kept
}

func (s *Server) heartbeat(c *call) (any, error) {
	if id := c.num("lockid"); id != 0 {
		l := s.findLock(id)
		if l == nil {
			return nil, throw(noSuchLock, "No such lock: lockid:%d", id)
		}
		l.beat = s.millis()
	}
	if id := c.num("txnid"); id != 0 {
		if err := s.mustBeOpen(id); err != nil {
			return nil, err
		}
		s.txn.all[id].beat = s.millis()
	}
	return nil, nil
}

// showLocks: a line a component; the filters of ShowLocksRequest.
func (s *Server) showLocks(c *call) (any, error) {
	out := []any{}
	db, table, part, txn := ident(c.str("dbname")), ident(c.str("tablename")), c.str("partname"), c.num("txnid")
	if d, t, ok := cutTable(table); ok { // Hive 3 and 4 send db.table (seen)
		db, table = d, t
	}
	for _, l := range s.lock.locks {
		for i, p := range l.parts {
			if db != "" && p.db != db || table != "" && p.table != table || part != "" && p.partition != part ||
				txn != 0 && l.txn != txn {
				continue
			}
			out = append(out, s.lockLine(l, i, p))
		}
	}
	return out, nil
}

func (s *Server) lockLine(l *heldLock, i int, p lockPart) hms.Struct {
	e := hms.Struct{"lockid": l.id, "lockIdInternal": int64(i + 1), "dbname": p.db, "state": l.state, "type": p.kind,
		"txnid": l.txn, "lastheartbeat": l.beat, "user": l.user, "hostname": l.host}
	if p.table != "" {
		e["tablename"] = p.table
	}
	if p.partition != "" {
		e["partname"] = p.partition
	}
	if l.txn != 0 {
		e["lastheartbeat"] = int64(0) // the transaction's counts
	}
	if l.state == acquired {
		e["acquiredat"] = l.got
	}
	if l.blocker != 0 {
		e["blockedByExtId"], e["blockedByIntId"] = l.blocker, l.part
	}
	if l.agent != "" {
		e["agentInfo"] = l.agent
	}
	return e
}
