// Package answer makes the replies that the gateway does not simply forward:
// lists merged over catalogs, the catalogs themselves, the base service
// fb303, and what a client tells its connection. Rows of profiles name an
// answer; Answers is all of them under those names. It knows no method by
// name and opens no connection: a session.Call is handed to it.
//
// # Merged lists
//
// Every catalog that can have a part in the answer is asked at once, under one
// deadline. Names come sorted and once each, as a metastore lists them
// (ObjectStore orders by name); other elements in the catalogs' order. A
// catalog that fails fails the call, with its own exception, unless the
// configuration says that lists may do without (then a metric and a log line
// tell); when all fail the call fails in any case.
//
// # Programs
//
// A method that a backend's version lacks may be served by several calls that
// it has (profiles/data/bridges.yaml names program and calls). A program sees
// values of package hms under the backend's names, makes its calls on the
// client's own connection to that backend, under the client's identity, and
// gives a result or an error: an exception of the backend reaches the client
// under the id that its own method declares for it, else as MetaException. A
// read is begun again as a whole when the backend gave no answer, a write never.
//
// Some programs are for methods that the backend has, and of whose requests it
// understands less: they serve the calls that hold such fields (serves, in the
// same file), and those alone. A call that would lose something else too is
// refused, one that is too large to be held streams and is refused by what it
// would lose.
//
// # Locks
//
// A request that names one other catalog than the default one, and belongs to
// no transaction, is that catalog's metastore's alone. Any other is one lock of
// the default metastore, under names that tell catalogs apart, and, where the
// configuration allows it, mirrors at the owners (package locks). Requests are
// taken apart field by field (raw.go), not decoded, so that fields of versions
// to come stay. While mirrors wait, the client is told that its lock waits.
//
// A client's transactions are the default metastore's. Another one's tables
// are read with its own list of open transactions instead of the caller's,
// taken once for the caller's transaction; Hive 4 reads plain ones only.
package answer
