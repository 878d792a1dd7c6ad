// Package memhms is a metastore in memory. It speaks real wire, raw and framed, in
// any interface version it is given an inventory of, and behaves as a real
// metastore of that version as far as it goes: databases, tables, partitions,
// locks with real conflicts, transactions and write ids, functions, statistics,
// catalogs, settings and fb303. It is the backend of the demo and of tests.
//
// It keeps nothing on disk, makes folders only when told to, checks no permission
// and never expires a lock (nor do real ones with housekeeping off, the default).
// What it does not know it answers as a real metastore answers what its interface
// lacks: an application exception UNKNOWN_METHOD, and the connection lives on.
//
// # How it is made
//
// A method is a row in a table: the name, the handler, and the field of the
// response struct that takes the handler's value ("" when the value is the
// result). Handlers are written once: positional arguments and request structs are
// both flattened into parameters by folded name, so db_name, dbname and dbName are
// one key, and a name may arrive bare, as "@cat#db", or beside a catName.
//
// Stored values are never changed in place: an alteration stores a changed copy.
// So values can be encoded after the lock is let go. One mutex covers the store.
//
// # Versions
//
// What a version has is read from its inventory: catalogs where get_catalogs
// exists, the habits of Hive 4 where get_fields_req exists. Texts and habits were
// compared with the output of Hive's own client at real 2.3.10, 3.1.3 and 4.1.0
// metastores, which is the source of each message text here; "seen" in a comment
// means there.
//
// # How close it is
//
// Lines of the probe (testdata/rig/probe) that are the same as at the real metastore
// of that version, with its own client: 329 of 348 at 2.3.10, 393 of 439 at 3.1.3, 413
// of 482 at 4.1.0. Missing are resource plans, the schema registry, indexes,
// partition expressions, data connectors, procedures and packages, and the errors
// that only Derby makes. PyIceberg 0.12 prints the same 44 lines, PySpark 3.5 with
// Iceberg 99 of 100 (Folders on). The replay test holds such shares for recorded
// clients.
package memhms
