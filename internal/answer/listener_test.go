package answer_test

import (
	"net"
	"slices"
	"strings"
	"testing"

	"hmsgate/internal/hms"
)

// withListener is a gateway with a second listener whose clients find catalog
// apache under bare names. Transactions and bare lock ids are those of hdp, the
// default catalog, all the same.
func withListener(t *testing.T) (f *front, addr string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr = ln.Addr().String()
	ln.Close()
	return newFront(t, oneInstance, "listener.trino.bind: "+addr, "listener.trino.default-catalog: apache"), addr
}

func TestListenersTransactionsAreTheDefaultCatalogs(t *testing.T) {
	f, addr := withListener(t)
	victim := f.dial("apache-3.1.3").openTxn()
	c := f.dialTo(addr, "apache-3.1.3")
	txn := c.openTxn()
	if n := len(f.apache.calls("open_txns")); txn == victim || n != 0 {
		t.Fatalf("transactions %d and %d, %d opened at apache; want two of hdp's", victim, txn, n)
	}
	c.lock(acquired, txn, part(sharedRead, "sales", "orders", opSelect))
	wantHeld(t, f.hdp, "apache__sales.orders 1")
	wantHeld(t, f.apache, "sales.orders 1")
	c.must("commit_txn", hms.Struct{"rqst": hms.Struct{"txnid": txn}})
	wantHeld(t, f.hdp)
	wantHeld(t, f.apache)
	ends := f.hdp.calls("commit_txn")
	if len(ends) != 1 || ends[0].args.Struct("rqst").Int("txnid") != txn {
		t.Errorf("commits at hdp: %v, want one of %d", ends, txn)
	}
}

func TestListenersLockIDsCarryTheirCatalog(t *testing.T) {
	f, addr := withListener(t)
	victim := f.dial("apache-3.1.3").lock(acquired, 0, part(exclusive, "sales", "orders", opNoTxn), part(exclusive, "apache__crm", "", opNoTxn))
	c := f.dialTo(addr, "apache-3.1.3")
	var id int64
	for range 8 {
		if id = c.lock(acquired, 0, part(sharedRead, "sales", "t", opSelect)); id < 1<<48 {
			t.Fatalf("lock id %#x of apache has no slot (%#x is hdp's)", id, victim)
		}
		c.check(id, acquired)
		c.unlock(id)
	}
	wantHeld(t, f.hdp, "sales.orders 1", "apache__crm. 1")
	c.unlock(victim) // any client may release any lock of a metastore, through any listener
	wantHeld(t, f.hdp)
	wantHeld(t, f.apache)
}

func TestListenersTransactionalTables(t *testing.T) {
	f, addr := withListener(t)
	for at, db := range map[string]string{addr: "sales", f.g.Addr().String(): "apache__sales"} {
		_, err := f.dialTo(at, "apache-3.1.3").try("create_table", hms.Struct{"tbl": hms.Struct{"tableName": "acid", "dbName": db,
			"tableType": "MANAGED_TABLE", "parameters": hms.Map{{Key: "transactional", Value: "true"}}}})
		if err == nil || !strings.Contains(err.Error(), "only available in the default catalog 'hdp'") {
			t.Errorf("%s: got %v, want it refused", db, err)
		}
	}
	_, err := f.dialTo(addr, "apache-3.1.3").try("allocate_table_write_ids", hms.Struct{"rqst": hms.Struct{"dbName": "sales", "tableName": "t", "txnIds": []any{int64(1)}}})
	if err == nil || !strings.Contains(err.Error(), "non-default catalog 'apache'") {
		t.Errorf("write ids: got %v, want them refused", err)
	}
}

// Mirrors are shown nowhere.
func TestListenersMirrorsAreHidden(t *testing.T) {
	f, addr := withListener(t)
	c := f.dial("apache-3.1.3")
	id := c.lock(acquired, c.openTxn(), part(sharedRead, "apache__sales", "orders", opSelect))
	for _, req := range []hms.Struct{{}, {"dbname": "sales"}, {"dbname": "@apache#"}} {
		list := f.dialTo(addr, "apache-3.1.3").must("show_locks", hms.Struct{"rqst": req}).(hms.Struct).Structs("locks")
		if slices.ContainsFunc(list, func(e hms.Struct) bool { return e.Int("lockid") != id }) {
			t.Errorf("%v: got %v, want nothing but the primary %d", req, list, id)
		}
	}
}

// A policy names a database that events come from; the transactions are where
// all are.
func TestReplicatedTransactions(t *testing.T) {
	f := newFront(t)
	f.dial("apache-3.1.3").try("open_txns", hms.Struct{"rqst": hms.Struct{"num_txns": int32(1), "user": "u", "hostname": "h",
		"replPolicy": "apache__sales.*", "replSrcTxnIds": []any{int64(7)}}})
	if n := len(f.apache.calls("open_txns")); n != 0 {
		t.Errorf("%d transactions opened at apache, want none", n)
	}
}
