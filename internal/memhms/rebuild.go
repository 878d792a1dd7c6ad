package memhms

import "hmsgate/internal/hms"

func init() {
	add("get_lock_materialization_rebuild", (*Server).rebuildLock, "")
	add("get_lock_materialization_rebuild_req", (*Server).rebuildLock, "")
	add("heartbeat_lock_materialization_rebuild", (*Server).rebuildBeat, "")
	add("heartbeat_lock_materialization_rebuild_req", (*Server).rebuildBeat, "")
	add("get_materialization_invalidation_info", func(*Server, *call) (any, error) {
		return hms.Struct{"sourceTablesUpdateDeleteModified": false, "sourceTablesCompacted": false}, nil
	}, "")
}

// rebuildLock is the separate lock for the rebuild of a materialized view: one
// transaction at a time, granted for any name (TxnHandler.lockMaterializationRebuild).
func (s *Server) rebuildLock(c *call) (any, error) {
	key, txn := ident(c.str("dbname"))+"."+ident(c.str("tablename")), c.num("txnid")
	if holder := s.misc.rebuilds[key]; holder != 0 && holder != txn && s.mustBeOpen(holder) == nil {
		return hms.Struct{"lockid": txn, "state": int32(4)}, nil // NOT_ACQUIRED
	}
	s.misc.rebuilds[key] = txn
	return hms.Struct{"lockid": txn, "state": int32(acquired)}, nil
}

func (s *Server) rebuildBeat(c *call) (any, error) {
	return s.misc.rebuilds[ident(c.str("dbname"))+"."+ident(c.str("tablename"))] == c.num("txnid"), nil
}
