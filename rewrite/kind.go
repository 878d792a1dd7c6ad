package rewrite

// Kind says what a planned value is, and so how the other side writes it.
type Kind uint8

// The closed list of kinds. The first group is edited in the stream, the
// second held whole and edited where Names wants it (Texts); the third passes.
const (
	None          Kind = iota
	DB                 // database name, plain
	DBAt               // database name, also as "@cat#db" (Hive MetaStoreUtils.parseDbName)
	Cat                // catalog name
	Pattern            // database pattern, plain
	PatternAt          // database pattern, also as "@cat#pattern"
	TableFull          // "db.table"
	TableMaybe         // "table" or "db.table" (ShowLocksRequest.tablename)
	WriteIDs           // "db.table:highwater:minopen:open:aborted"
	WriteIDsMulti      // "txn$db.table:...$db2.table2:..."
	Policy             // replication policy: "db", "db.*" or "db.table"
	DBPart             // the db of "@cat#db", for an interface that has a field for each part
	CatPart            // the catalog of "@cat#db"; nothing when there is none
	AtDB               // a db whose catalog the call has in another field, written "@cat#db"
	DBRef              // a db that a text refers to: may be another catalog's, and then stays external
	AcidFlag           // "true" says that the table's writes are transactions: names no database, but not every metastore's may
	LockID             // i64 ids that belong to one backend
	TxnID
	WriteID
	CompactionID

	SQL         // view and procedure text
	SQLOriginal // a view's text as its author wrote it; the engine reads the other one
	TableParams // string map, some of whose values name databases (Builder.Param)
	JSON        // notification bodies (Builder.Key)
	Object      // a struct as Thrift's JSON protocol writes it

	Params       // string map without databases that anybody resolves
	ParamsText   // the same as one string
	PropertyPath // property-store keys; properties live in the default catalog
	Text         // prose for people
	kinds
)

var kindNames = [kinds]string{
	None: "none", DB: "db", DBAt: "db@", Cat: "cat", Pattern: "db_pattern", PatternAt: "db_pattern@",
	TableFull: "table_full", TableMaybe: "table_maybe", WriteIDs: "writeid_list", WriteIDsMulti: "writeid_multi",
	Policy: "repl_policy", LockID: "lock_id", TxnID: "txn_id", WriteID: "write_id", CompactionID: "compaction_id",
	DBPart: "db_part", CatPart: "cat_part", AtDB: "at_db",
	AcidFlag: "acid_flag",
	DBRef:    "db_ref", SQL: "sql", SQLOriginal: "sql_original", TableParams: "table_params", Object: "object",
	Params: "params", ParamsText: "params_text", JSON: "json", PropertyPath: "property_path", Text: "text",
}

func (k Kind) String() string {
	if k < kinds {
		return kindNames[k]
	}
	return "kind?"
}

// ParseKind finds a kind by the name that rules use.
func ParseKind(s string) (Kind, bool) {
	for k, n := range kindNames {
		if n == s {
			return Kind(k), true
		}
	}
	return None, false
}

// Opaque kinds pass untouched.
func (k Kind) Opaque() bool { return k >= Params }

// Long kinds are texts that hold names; routing does not look into them.
func (k Kind) Long() bool { return k >= SQL && k <= Object }

// Number says whether values of the kind are i64 ids, not strings.
func (k Kind) Number() bool { return k >= LockID && k <= CompactionID }

// Routes says whether a value of the kind can say where its call belongs.
func (k Kind) Routes() bool { return !k.Number() || k == LockID || k == CompactionID }

// Names gives the other side's form of a name: the backend's for a call, the
// client's for a reply. One value serves one call. An error (only for calls)
// ends the walk: the name belongs elsewhere than the call was routed.
type Names interface {
	// Append appends the other side's form of name, a value of kind k, to
	// dst. name is valid only during the call. WriteIDs never comes here:
	// the walker cuts its head and passes it as TableFull.
	Append(dst []byte, k Kind, name []byte) ([]byte, error)
	// ID gives the other side's form of an i64 id of kind k.
	ID(k Kind, id int64) (int64, error)
	// Keep says whether a list element with this name stays in the list.
	Keep(k Kind, name []byte) bool
	// Strict says whether this direction refuses what it cannot read (a
	// call), or copies it unseen (a reply).
	Strict() bool
}
