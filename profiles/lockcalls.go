package profiles

// Calls by which the gateway lists the databases of a metastore of any version.
const (
	CallDatabases = "get_databases"
	CallDatabase  = "get_database"
)

// Calls that the gateway makes of itself to keep locks of several catalogs in
// step: locks beside a client's own, the question which are still there, and
// what a reader of another catalog's tables may be told.
const (
	CallLock      = "lock"
	CallCheckLock = "check_lock"
	CallUnlock    = "unlock"
	CallHeartbeat = "heartbeat"
	CallShowLocks = "show_locks"
	CallTxnsInfo  = "get_open_txns_info"
	CallOpenTxns  = "get_open_txns"
	CallAbortTxn  = "abort_txn"
	CallAbortTxns = "abort_txns"
	CallTable     = "get_table_req"
)
