package profiles

// Calls that the gateway makes of itself to keep locks of several catalogs in
// step: locks beside a client's own, and the question which are still there.
const (
	CallLock      = "lock"
	CallCheckLock = "check_lock"
	CallUnlock    = "unlock"
	CallHeartbeat = "heartbeat"
	CallShowLocks = "show_locks"
	CallOpenTxns  = "get_open_txns"
	CallAbortTxn  = "abort_txn"
	CallAbortTxns = "abort_txns"
)
