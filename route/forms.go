package route

import (
	"bytes"

	"hmsgate/rewrite"
)

// dbEnd finds the end of the database part of a value that holds one; 0 when
// it names no database.
//
//	TableFull, TableMaybe  db.table: up to the last dot, so that hive.db.table
//	                       and a separator with a dot keep their parts together;
//	                       without a dot it is a table
//	WriteIDs               db.table:highwater:...: the same, before the colon
//	Policy                 db, db.* or db.table: up to the first dot after the prefix
func (t *Table) dbEnd(k rewrite.Kind, v []byte) int {
	switch k {
	case rewrite.WriteIDs:
		if i := bytes.IndexByte(v, ':'); i >= 0 {
			v = v[:i]
		}
		return max(bytes.LastIndexByte(v, '.'), 0)
	case rewrite.TableFull, rewrite.TableMaybe:
		return max(bytes.LastIndexByte(v, '.'), 0)
	case rewrite.Policy:
		_, n := t.prefixOf(v, t.longest)
		return policyEnd(v, n)
	}
	return len(v)
}

// policyEnd is the end of the db of a replication policy whose first n bytes
// are a catalog's prefix (Apache Hive, ReplLoadWork and TxnHandler write
// db.* and db.table).
func policyEnd(v []byte, n int) int {
	if i := bytes.IndexByte(v[n:], '.'); i >= 0 {
		return n + i
	}
	return len(v)
}

// nextEntry finds the next db.table of "txn$db.table:...$db2.table2:..." at or
// after from (Apache Hive, ValidTxnWriteIdList.writeToString). What stands
// before the first '$' is a transaction id.
func nextEntry(v []byte, from int) (lo, hi int, ok bool) {
	i := bytes.IndexByte(v[from:], '$')
	if i < 0 {
		return 0, 0, false
	}
	lo = from + i + 1
	hi = lo
	for hi < len(v) && v[hi] != ':' && v[hi] != '$' {
		hi++
	}
	return lo, hi, true
}
