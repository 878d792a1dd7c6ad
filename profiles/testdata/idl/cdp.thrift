/* A small interface as a vendor might have it: what the notation allows, and
 * what the metastore's own text leaves out. */
include "share/base.thrift"
include named "share/more.thrift"

namespace java test

const string OWNER = "owner"

typedef i64 Id
typedef list<base.Pair> Pairs

enum Mode { READ, WRITE = 5, BOTH } // 0, 5, 6

struct Table {
  2: string dbName; // order means nothing
  1: string tableName,
  17: optional string catName
  26: optional list<string> vendorTags = []
  27: optional string vendorDbName,
}

struct Catalog { 1: string name } // 3.x and later have catalogs

/** A struct that no rule knows. */
struct TagRequest {
  1: required string catName = OWNER,
  2: required string dbName,
  3: optional map<string, list<set<i8>>> deep (cpp.template = "x"),
  4: optional Pairs pairs,
  5: Mode mode = Mode.BOTH,
  6: optional double part = 0.5
  7: optional bool on = true
  8: optional string text = "two words"
  9: optional Id id = -1
}

union Either { 1: string a, 2: binary b }

exception MetaException { 1: string message }
exception NoSuchObjectException { 1: string message }

service Vendor extends named.More {
  Table get_table(1: string dbname, 2: string tbl_name) throws (1: MetaException o1, 2: NoSuchObjectException o2)
  // The second exception has no id: -1, as in create_ischema of Hive 3.1.3.
  void create_tag(1: TagRequest req) throws (1: MetaException o1, NoSuchObjectException o2)
  oneway void forget(string first, string second)
}
