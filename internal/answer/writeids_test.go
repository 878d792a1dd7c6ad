package answer_test

import (
	"fmt"
	"strings"
	"testing"

	"hmsgate/internal/hms"
)

// write makes a transaction write to a table, and commits it or not.
func (c *caller) write(db, table string, commit bool) {
	c.t.Helper()
	txn := c.openTxn()
	c.must("allocate_table_write_ids", hms.Struct{"rqst": hms.Struct{"dbName": db, "tableName": table, "txnIds": []any{txn}}})
	if commit {
		c.must("commit_txn", hms.Struct{"rqst": hms.Struct{"txnid": txn}})
	}
}

func (c *caller) writeIDs(list string, tables ...string) (string, error) {
	v, err := c.try("get_valid_write_ids", hms.Struct{"rqst": hms.Struct{"fullTableNames": hms.ListOf(tables), "validTxnList": list}})
	if err != nil {
		return "", err
	}
	var out []string
	for _, e := range v.(hms.Struct).Structs("tblValidWriteIds") {
		out = append(out, fmt.Sprintf("%s %d %v", e.Str("fullTableName"), e.Int("writeIdHighWaterMark"), e.List("invalidWriteIds")))
	}
	return strings.Join(out, ", "), nil
}

// Tables of two catalogs in one question: each metastore's own transactions
// count, names come back as they were asked for, and the answer stays the same
// for the caller's transaction.
func TestWriteIDsOfTwoCatalogs(t *testing.T) {
	f := newFront(t)
	direct := f.apache.direct(t)
	direct.write("sales", "orders", true)
	direct.write("sales", "orders", false)
	direct.write("crm", "people", true)
	c := f.dial("apache-3.1.3")
	c.write("sales", "orders", true)
	txn := c.openTxn()
	list := fmt.Sprintf("%d:%d:%d:", txn, txn, txn)
	const want = "Apache__Sales.orders 2 [2], sales.Orders 1 [], apache__crm.people 1 []"
	ask := func() (string, error) {
		return c.writeIDs(list, "Apache__Sales.orders", "sales.Orders", "apache__crm.people")
	}
	if got, err := ask(); err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	direct.write("crm", "people", true)
	if got, err := ask(); err != nil || got != want {
		t.Errorf("in the same transaction: got %q, %v, want %q again", got, err, want)
	}
	if asked := len(f.apache.calls("get_open_txns")); asked != 1 {
		t.Errorf("open transactions asked for %d times, want once", asked)
	}
	c.must("commit_txn", hms.Struct{"rqst": hms.Struct{"txnid": txn}})
	const later = "Apache__Sales.orders 2 [2], sales.Orders 1 [], apache__crm.people 2 []"
	if got, err := ask(); err != nil || got != later {
		t.Errorf("after the commit: got %q, %v, want %q", got, err, later)
	}
}

// Hive 4 compares compacted files with its own list of transactions, so it may
// not read transactional tables elsewhere. It asks about plain tables too, and
// about some that are not there.
func TestWriteIDsForHive4(t *testing.T) {
	for setting, refused := range map[string]bool{"": true, "locks.acid-read: unsafe": false} {
		f := frontOf(t, newStore(t, "hdp", "apache-4.1.0"), newStore(t, "apache", "apache-4.1.0"), setting)
		for table, flag := range map[string]string{"plain": "false", "acid": "true", "shout": "TRUE"} {
			if _, err := f.apache.Do("create_table_req", hms.Struct{"request": hms.Struct{
				"processorCapabilities": hms.ListOf([]string{"HIVEFULLACIDWRITE", "HIVEFULLACIDREAD"}), "table": hms.Struct{"tableName": table, "dbName": "sales",
					"tableType": "MANAGED_TABLE", "sd": hms.Struct{"cols": []any{}},
					"parameters": hms.MapOf(map[string]string{"transactional": flag})}}}); err != nil {
				t.Fatal(err)
			}
		}
		c := f.dial("apache-4.1.0")
		_, _ = c.try("get_dataconnectors", nil) // what the client shows of itself
		for _, tables := range [][]string{{"apache__sales.acid"}, {"apache__sales.shout"}, {"sales.orders", "apache__sales.plain", "apache__sales.acid"}} {
			_, err := c.writeIDs("1:1::", tables...)
			if !refused && err != nil || refused && (err == nil || !strings.Contains(err.Error(), "only available in the default catalog 'hdp'")) {
				t.Errorf("%q, %v: got %v, want it refused: %v", setting, tables, err, refused)
			}
		}
		const want = "apache__sales.plain 0 [], sales.orders 0 [], apache__sales.none 0 [], apache__none.plain 0 []"
		if got, err := c.writeIDs("1:1::", "apache__sales.plain", "sales.orders", "apache__sales.none", "apache__none.plain"); err != nil || got != want {
			t.Errorf("%q, plain tables: got %q, %v, want %q", setting, got, err, want)
		}
	}
}

// Hive 4 writes transactions in a row as 3-5. A metastore before 4.x does not
// read that and gets each, one of 4.x what the client wrote.
func TestWriteIDsWithoutRuns(t *testing.T) {
	for version, want := range map[string]string{"3.1.3": "9:3:3,4,5,8:1,2", "4.1.0": "9:3:3-5,8:1-2"} {
		f := frontOf(t, newStore(t, "hdp", "apache-"+version), newStore(t, "apache", "apache-3.1.3"))
		c := f.dial("apache-4.1.0")
		_, _ = c.try("get_dataconnectors", nil)
		for _, tables := range [][]string{{"sales.orders"}, {"apache__sales.none", "sales.orders"}} {
			if _, err := c.writeIDs("9:3:3-5,8:1-2", tables...); err != nil {
				t.Errorf("%s, %v: %v", version, tables, err)
			}
		}
		asked := f.hdp.calls("get_valid_write_ids")
		if len(asked) != 2 {
			t.Errorf("%s: asked %d times, want twice", version, len(asked))
		}
		for _, a := range asked {
			if got := a.args.Struct("rqst").Str("validTxnList"); got != want {
				t.Errorf("%s: the metastore got %q, want %q", version, got, want)
			}
		}
		if _, err := c.writeIDs("9:3:1-2000000:", "sales.orders"); (version == "3.1.3") != (err != nil && strings.Contains(err.Error(), "too many to write out")) {
			t.Errorf("%s, a list too long to write out: %v", version, err)
		}
	}
}
