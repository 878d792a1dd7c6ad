// Package locks keeps the locks that the gateway holds itself: mirrors at the
// metastores of other catalogs than the default one, beside a client's lock at
// the default metastore, and synthetic locks that no metastore knows.
//
// It is a room of its own since these locks outlive the calls and connections
// that asked for them: something must beat for them, notice that their
// reason is gone, and find what another process of the gateway left behind. It
// does not read clients' messages and does not route (package answer does both).
//
// # Mirrors
//
// A lock of a transaction, or over several catalogs, is one lock of the default
// metastore, the primary: it has the client's id and ends with the transaction.
// Clients of another catalog alone, through the gateway or around it, lock at
// that catalog's metastore. There the two meet: when the primary is acquired,
// one mirror for each other catalog is taken, without a transaction, under the
// metastore's own names.
//
//	primary, then owners in the order of their slots; the next one only when
//	the one before is acquired
//
// Nothing else takes a primary for another catalog's table, and everybody who
// takes several takes them in this order: no cycle can arise. The client's lock
// counts as acquired when the primary and all mirrors are.
//
// A mirror's agentInfo is hmsgate/<instance>/<primary id>/<transaction id>. By
// it the mirror is known and hidden from clients, and a gateway that starts
// again finds the mirrors it had. Those that it had still to take it finds by the
// names under which the default metastore holds locks; until it has looked once,
// checks of locks wait. A mirror ends with an unlock, commit or abort that passes
// here, or when the default metastore no longer shows the primary.
// Whether it does is asked with show_locks, which, unlike check_lock, does not
// keep the transaction of a client that died alive (seen on 3.1.3 and 4.1.0).
//
// # Every minute
//
// Metastores whose housekeeping is off, the default, never expire a lock, and
// those that have it on expire one without heartbeats in five minutes. So
// mirrors whose primary lives are beaten for, others are unlocked; a mirror
// that is in nobody's store is adopted when its primary lives, and unlocked
// when nobody has beaten for it longer than a transaction may be silent.
//
// # Stores
//
// A Store that all instances share would let any of them check and release.
// With the one in memory only one instance of the gateway may mirror.
package locks
