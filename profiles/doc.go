// Package profiles knows what each version of the metastore's interface has
// (inventories), what the gateway does with it (rules and rows), and compiles
// both into the plans that package rewrite runs.
//
// It owns every method's name: outside this package nothing but the in-memory
// metastore and tests spells one. Fields are spelled only where replies are
// made (packages answer, locks, hms). It does not know catalogs,
// sessions or bytes on the wire; routing is package route's, walking is
// package rewrite's, and answers are named here but given elsewhere.
//
// # Inventories
//
// One text file a version in data/inventory, a line a method, struct or enum,
// so that a new version reviews as a diff:
//
//	# a comment
//	method get_table(1:dbname string; 2:tbl_name string) Table throws 1 MetaException; 2 NoSuchObjectException
//	base oneway shutdown() void
//	struct GetTableRequest 1!dbName string; 2!tblName string; 4?catName string; 10?engine string=hive
//	union RequestPartsSpec 1:names list<string>; 2:exprs list<DropPartitionsExpr>
//	exception MetaException 1:message string
//	enum LockType SHARED_READ=1 SHARED_WRITE=2 EXCLUSIVE=3
//
// A field is its id, a mark, its name and its type: ":" default, "!" required,
// "?" optional requiredness; "=" and one word give the IDL's default value. A
// method that a base service (fb303) brings begins with "base". An exception
// whose name is left out is called "o" and its id, as the IDL has nearly all
// of them. Types are bool, byte, i16, i32, i64, double, string, binary,
// list<T>, set<T>, map<K,V>, or a struct, union, exception or enum of the file
// in any order. Methods stand in the order of the IDL, the rest by name.
// convert.py beside the folder makes such a file from neutral JSON.
//
// Where the twelve files come from (all with the base service fb303):
//
//	apache-2.3.9 3.1.3 4.0.0 4.0.1 4.1.0   release interface text, equal to the
//	                                       class files of the published hive-exec
//	apache-2.3.10 4.2.0                    class files of the published hive-exec
//	apache-master-2026                     development text, may still move
//	hdp-3.1.0.0-78 3.1.4.0-315 3.1.5.0-152 3.1.5.178   vendor tags
//
// A site adds its vendor's from an IDL file (Import) to those that its gateway
// knows (NewSet). A method that no row knows gets a derived one; a field of a
// struct that no rule knows means what its name means everywhere else, if that
// is one thing and a name or id (derive.go); what looks like a name and means
// nothing by that is noted. Facts are as Apache Thrift's compiler takes them:
// the released text of 3.1.3 gives the built-in inventory, a test fetches it
// and compares. A backend is taken for an imported version by setting only:
// what it says of itself (getVersion) is the version it was built from.
//
// AutoInventory is all of them in one: what a port must understand that does not know
// its client's version. A field id may have several meanings there; nearly
// all differ in wire type, and the rules decide the rest (clashes).
//
// # Rules
//
// data/fields.yaml says, by the IDL's names and never by ids, which fields and
// arguments carry names, and why those that look like names are none.
// data/methods.yaml has one row a method: class, where, answer, hold, replay,
// cache, lost, and argument rules of its own. A method that only an inventory has
// (a vendor's) gets a derived row: a write, routed by the names that the
// argument defaults and struct rules find in it.
//
// # Plans
//
// Compile(front, back) makes the plans for clients that speak front and a
// backend that speaks back: calls are walked with the front's fields, replies
// with the back's. Auto is the pair of AutoInventory with itself, by which
// calls are gathered before it is known where they go.
//
// What differs between the two falls out of matching fields by name: another
// id is a renumber, an id that means something else there is left out, an enum
// value that is not there is mapped (enums). What cannot fall out is data in
// fields.yaml: fields whose loss would matter (lacks), keys of maps that only
// some backends act upon (keys), what must be added to replies (always, and
// for 4.x clients always4) and calls (needs), exceptions that older readers do
// not know (unread).
//
// # Bridges
//
// data/bridges.yaml says how a method is served by a backend that lacks it:
// as another method, bytes rewritten as they stream (candidates, of which
// guards choose); by several calls (programs of package answer); here; or not
// at all, and why. Bridges are compiled for methods that the back has, too: a
// backend may turn out to lack what its version has. data/fallback.yaml has
// the answers for those that no bridge helps. Tests hold that every method
// which some version lacks has one of these for every pair of versions, and
// walk each candidate both ways; COMPATIBILITY.md is made from them.
//
// # What a client is
//
// A port with front "auto" does not know its client's version, and the client
// does not say it. What it calls narrows down the generations it may be of
// (Generations): a method that only 4.x has, or "@cat#db", which 2.x does not
// write. ReaderOf makes that one of three readers: unsure, 3.x or later, 4.x.
// Until a client has shown more it is taken for the oldest where that is the
// safe side, and for any where it can be: replies get both forms of what has
// two (get_open_txns), values that some reader would not survive are mapped.
//
// Partition expressions are images of Hive's classes; one of another
// generation can end a server's process (seen: 2.3 and 3.1 clients at 4.0 and
// 4.1 servers). None goes to a 4.x backend unless the client's listener states
// a 4.x profile or the client has called something that only 4.x has; none of
// a client that has shown to be of 4.x goes to an earlier one. Methods that
// are nothing but an expression (rows with expr) are then UNKNOWN_METHOD, upon
// which Hive prunes partitions itself; a request that holds one among other
// things (expressions in fields.yaml) is refused with the reason.
//
// Everything returned is shared and must not be changed.
//
// # Decisions, November 2026
//
// Whole files a version, not a base and differences: 720 KB of text in the
// binary and 60 ms to parse all twelve (once, on first use of Auto), but each
// file can be read and checked alone, and a diff of two needs no tool.
//
// Ids (locks, transactions, write ids, compactions) are planned where they
// stand, although most map to themselves: what carries a catalog in an id
// needs no further rule.
//
// An exception under an id that another version gives to another type is not
// used for refusals at all (Row.Meta and its neighbours are 0 then): the
// client of that version would report a missing result.
package profiles
