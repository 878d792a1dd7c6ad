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
// A mirror's agentInfo is hmsgate/<gateway>/<primary id>/<transaction id>, where
// instances that serve the same metastores have the first part in common. By
// it the mirror is known and hidden from clients, and a gateway that starts
// again finds the mirrors it had. Those that it had still to take it finds by the
// names under which the default metastore holds locks; until it has looked once,
// checks of locks wait. A mirror ends with an unlock, commit or abort that passes
// here, or when the default metastore no longer shows the primary.
// Whether it does is asked with show_locks, which, unlike check_lock, does not
// keep the transaction of a client that died alive (seen on 3.1.3 and 4.1.0).
//
// A mirror is in no transaction at an owner of Hive 4 either. It was meant to sit
// in a read-only one there; tried with two metastores of 4.1.0 (30 November 2026,
// testdata/rig/locks --backend 4.1.0 --instances 2, 59 of 59 steps right) there is
// no need: mirrors of SHARED_READ, SHARED_WRITE, EXCL_WRITE and EXCLUSIVE are
// granted without one, conflict with direct writers both ways, are kept alive by
// heartbeat and end with unlock.
//
// # Stores
//
// What is known of a lock is one record in a Store. That in memory is one
// instance's own: with it only one instance of the gateway may mirror. That in
// ZooKeeper (zookeeper.go has its layout and format) is shared by all, so that
// any of them can check, release and beat. A record too large for it is refused
// before anything is locked, with ErrTooLarge. When it does not answer, a
// lock that needs a mirror is refused, before its primary is taken; a check of
// one that has mirrors is an error, since nobody knows how they stand; all other
// locks and transactions go on, being told apart by the names under which the
// default metastore holds them. Mirrors that were known are still beaten for.
//
// # Several instances
//
// Every change of a record is conditional on the revision that was read, and a
// store's error that is no conflict means: may have happened, may still happen.
// Four rules follow, each from a sequence that goes wrong without it. A and B are
// instances, L a lock, m a mirror at an owner.
//
// 1. A claim is stored before an owner is asked for a mirror. Else A, in the
// client's lock, and B, in its check after the connection broke, both ask, and
// the second exclusive mirror waits for the first for ever. B leaves a claim of A
// alone for claimTime, longer than what A does may take, and tells
// the client that the lock waits.
//
// 2. Who takes an old claim over, or goes on after an error of its own, looks at
// the owner for a mirror with L's mark first. Else A, killed between the
// owner's answer and its note, leaves an m that B's mirror waits for. Should A
// not be dead but late, it cannot note its m: the record has changed. It finds
// B's claim or mirror there and gives its own up. No clock decides this: a claim
// that is taken too early, by clocks that differ, costs one mirror too many for
// a moment, which conflicts with nobody but L's own.
//
// 3. A mirror is unlocked only after the record says that it counts no more
// (Going), or is gone with its primary. Else A, giving L up since a second owner
// refused, unlocks m, and B, reading the record as it was, tells the client that L
// is acquired. For the same reason A does not unlock what it could not note
// when the store did not answer: the note may be there. Unlocking twice is
// harmless, ids are never given again, so anyone may finish what is Going.
//
// 4. A record is deleted only when the primary is no more: released, its
// transaction ended, or not shown by the default metastore, which was asked after
// the record was read. So A, whose owner answers when B has deleted the record,
// may unlock its m at once, and a client that asks gets the default
// metastore's exception before anybody looks at mirrors.
//
// A stray that a sweep adopts may be one that another instance just now unlocks
// by rule 3, so an adopted mirror counts only when a check has found it acquired;
// one that turns out to be gone makes the lock give all its mirrors up and take
// them again in their order, since a later one must not be held meanwhile.
// Primaries are found by every instance that starts, also one whose lock is just
// being noted by another: whoever comes second finds a record and goes on from it.
//
// What readers of remote transactional tables see (Snapshots) is not shared: a
// client that moves to another instance in the middle of a transaction may see a
// later state there.
//
// # Every minute
//
// Or five times in a transaction's timeout, where that is shorter. Metastores
// whose housekeeping is off, the default, never expire a lock, and
// those that have it on expire one without heartbeats in five minutes. So
// mirrors whose primary lives are beaten for, others are unlocked; a mirror
// that is in nobody's store is adopted when its primary lives, and unlocked
// when nobody has beaten for it longer than a transaction may be silent, by the
// clocks of owner and gateway, which must not differ by so much.
//
// The instance that took a mirror beats for it. Another one takes that over when
// it has seen the heartbeat stand still from one sweep of its own to the next.
//
// A primary that its metastore never expires outlives its client. When its
// heartbeat, or its transaction's, has stood still for the whole timeout, as this
// process has watched it, its mirrors are given up, so that writers at the owner
// proceed; should the client be alive, its next check takes them again.
package locks
