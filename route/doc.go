// Package route knows which catalog a name belongs to and how each side
// spells it.
//
// It owns the immutable table of catalogs, the name binding of one call (what
// the call names, where it goes, how its names read on the other side), the
// splitting of database patterns over catalogs, the refusals that follow, and
// each catalog's backend: its URIs, what was learned about them, and fail-over
// before anything was sent. It does not read or write messages (package
// rewrite asks a binding name by name), does not know methods (it gets their
// profiles.Row) and opens no sockets of its own (it is handed a dial function).
//
// Words: a namespace is the name clients see (apache__sales), a db the
// backend's own (sales), a catalog one configured backend group, the default
// catalog the one whose names are bare.
//
// # One call
//
//	b.Reset(table, nil)                     // nil, or the listener's own default catalog
//	b.Add(rewrite.DBAt, name)               // each routing fact, bytes are copied
//	cat, refusal := b.Route(row)
//	call, reply := b.Call(true), b.Reply()  // rewrite.Names of both directions
//
// A Binding is one session's and is used call after call without allocating.
// The Names it gives are valid until its next Reset. For a merged list each
// catalog has its own pair: ForCatalog says whether the call's pattern can
// match there at all, From reads its reply, Listed filters it. Those pairs
// may be used by several goroutines at once.
//
// # How a name is read
//
//	sales                    the default catalog, or the catalog that claims it
//	apache__sales            catalog apache, db sales; the longest prefix wins
//	@hive#X, @spark_catalog#X   X is read again, the form is kept for the backend
//	@apache#sales            catalog apache, db sales
//	@apache#  @apache#!      all of apache; its empty name
//	@x#sales, x unknown      kept as it is, for the default backend to refuse
//	hive.X, spark_catalog.X  X is read again
//	_dummy_database          no catalog, never renamed
//
// Catalog parts are compared without regard to the case of ASCII letters (Hive
// lower-cases identifiers: Apache Hive, StringUtils.normalizeIdentifier); all
// other bytes, valid UTF-8 or not, pass as they came.
//
// A prefix, "@apache#" and a catName that names a catalog are explicit hints
// and must agree. With "@apache#" or catName the other bare names of the call
// are apache's too and the reply reads that way: db names bare, every catName
// the proxy catalog. With a prefix alone a bare name still means the default
// catalog, so both in one call are refused. Names that routing did not see (a
// call that streams) are judged when they are written: rewrite.Names.Append
// then returns a *Refusal.
//
// # Texts
//
// A view's text is translated db by db on the way in and out, and never
// refused: a db of another catalog than the call's keeps, or gets, its
// external name inside the metastore, and comes back as the client wrote it.
// See text.go.
//
// # Decisions
//
// The dotted form hive.X is dropped towards every backend, also towards those
// that keep "@hive#": no metastore reads a dot in a database argument (Apache
// Hive, MetaStoreUtils.parseDbName looks at the first character only), so the
// kept form could find nothing. In a full table name (hive.db.table) it stays
// where "@hive#" stays, since some versions do read three parts there.
//
// A pattern is divided by a prefix exactly (the set of places a pattern can be
// at after reading the prefix), not by text replacement: "a*s" becomes "*s"
// for apache__, "apache..s*" becomes "s*" there and stays as it is for the
// default catalog, whose apachexxs it matches too. Results are matched again
// by their outside names.
//
// A proxy catalog whose name is another backend's own catalog gives no hint by
// catName: replies of that backend carry the name and clients send it back.
package route
