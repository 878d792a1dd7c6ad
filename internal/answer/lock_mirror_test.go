package answer_test

import (
	"strings"
	"testing"

	"hmsgate/internal/hms"
)

const oneInstance = "gateway.instances: 1"

// A transaction's lock on another catalog and a writer there who knows nothing
// of the gateway exclude each other, whoever comes first.
func TestMirrorExcludesDirectWriter(t *testing.T) {
	f := newFront(t, oneInstance)
	c, direct := f.dial("apache-3.1.3"), f.apache.direct(t)
	txn := c.openTxn()
	id := c.lock(acquired, txn, part(sharedRead, "apache__sales", "orders", opSelect), part(sharedRead, "sales", "", opNoTxn))
	mine := direct.lock(waiting, 0, part(exclusive, "sales", "orders", opUnset))
	c.check(id, acquired)
	f.dial("apache-3.1.3").must("commit_txn", hms.Struct{"rqst": hms.Struct{"txnid": txn}})
	direct.check(mine, acquired)

	txn = c.openTxn()
	id = c.lock(waiting, txn, part(sharedRead, "apache__sales", "orders", opSelect))
	c.check(id, waiting)
	direct.unlock(mine)
	c.check(id, acquired)
	c.must("abort_txn", hms.Struct{"rqst": hms.Struct{"txnid": txn}})
	wantHeld(t, f.apache)
	wantHeld(t, f.hdp)
}

// Two requests that name two catalogs in opposite orders: both take the primary
// first, so that one waits there and holds nothing at the owner.
func TestLocksInOppositeOrders(t *testing.T) {
	f := newFront(t, oneInstance)
	c := f.dial("apache-3.1.3")
	a, b := part(exclusive, "sales", "orders", opNoTxn), part(exclusive, "apache__sales", "orders", opNoTxn)
	first := c.lock(acquired, 0, a, b)
	second := c.lock(waiting, 0, b, a)
	wantHeld(t, f.apache, "sales.orders 1")
	c.check(second, waiting)
	c.unlock(first)
	c.check(second, acquired)
	wantHeld(t, f.apache, "sales.orders 1")
	c.unlock(second)
	wantHeld(t, f.apache)
	wantHeld(t, f.hdp)
}

// Mirrors are marked, and nobody who looks through the gateway sees them.
func TestMirrorIsHidden(t *testing.T) {
	f := newFront(t, oneInstance)
	c := f.dial("apache-3.1.3")
	txn := c.openTxn()
	id := c.lock(acquired, txn, part(sharedRead, "apache__sales", "orders", opSelect))
	if got := f.apache.locks(t)[0].Str("agentInfo"); !strings.HasPrefix(got, "hmsgate/") || len(got) > 128 {
		t.Errorf("the mirror's agentInfo is %q, want it marked", got)
	}
	for _, req := range []hms.Struct{{"dbname": "apache__sales"}, {"tablename": "apache__sales.orders"},
		{"dbname": "apache__sales", "tablename": "orders"}} {
		v := c.must("show_locks", hms.Struct{"rqst": req}).(hms.Struct).Structs("locks")
		if len(v) != 1 || v[0].Int("lockid") != id || v[0].Str("dbname") != "apache__sales" {
			t.Errorf("show_locks %v: got %v, want the primary alone", req, v)
		}
	}
	f.apache.direct(t).lock(waiting, 0, part(exclusive, "sales", "orders", opUnset))
	v := c.must("show_locks", hms.Struct{"rqst": hms.Struct{"dbname": "apache__sales"}}).(hms.Struct).Structs("locks")
	if len(v) != 2 || v[0]["state"] != waiting || v[0].Int("blockedByExtId") != id {
		t.Errorf("show_locks: got %v, want a lock that waits for the primary %d", v, id)
	}
}

// A mirror that cannot be taken fails the request, and nothing stays.
func TestMirrorFails(t *testing.T) {
	f := newFront(t, oneInstance)
	c := f.dial("apache-3.1.3")
	f.apache.stop()
	if _, err := c.try("lock", request("a", 0, part(exclusive, "sales", "", opNoTxn),
		part(exclusive, "apache__sales", "", opNoTxn))); err == nil || !strings.Contains(err.Error(), "given up") {
		t.Errorf("got %v, want the lock given up", err)
	}
	wantHeld(t, f.hdp)
}

// A lock of a transaction stays at the default metastore when its mirror has
// failed: asked about, it is not acquired for that.
func TestMirrorFailsInTransaction(t *testing.T) {
	f := newFront(t, oneInstance)
	c := f.dial("apache-3.1.3")
	txn := c.openTxn()
	f.apache.stop()
	if v, err := c.try("lock", request("a", txn, part(exclusive, "apache__sales", "orders", opNoTxn))); err == nil {
		t.Fatalf("lock: got %v, want it given up", v)
	}
	held := f.hdp.locks(t)
	if len(held) != 1 {
		t.Fatalf("hdp holds %v, want the primary", held)
	}
	for range 2 {
		if v, err := c.try("check_lock", hms.Struct{"rqst": hms.Struct{"lockid": held[0].Int("lockid")}}); err == nil {
			t.Errorf("check_lock: got %v, want no lock without its mirror", v)
		}
	}
	c.must("abort_txn", hms.Struct{"rqst": hms.Struct{"txnid": txn}})
	wantHeld(t, f.hdp)
}

// A lock that waits when the gateway stops still takes its mirror in the next
// run.
func TestMirrorAfterRestart(t *testing.T) {
	hdp, apache := newStore(t, "hdp", "apache-3.1.3"), newStore(t, "apache", "apache-3.1.3")
	f := frontOf(t, hdp, apache, oneInstance)
	c := f.dial("apache-3.1.3")
	first := c.lock(acquired, 0, part(exclusive, "sales", "orders", opNoTxn))
	second := c.lock(waiting, 0, part(exclusive, "sales", "orders", opNoTxn), part(exclusive, "apache__sales", "orders", opNoTxn))
	c.Close()
	f.g.Close()
	next := frontOf(t, hdp, apache, oneInstance)
	c = next.dial("apache-3.1.3")
	c.unlock(first)
	c.check(second, acquired)
	wantHeld(t, apache, "sales.orders 1")
	c.unlock(second)
	wantHeld(t, hdp)
	wantHeld(t, apache)
}

// The sequence of the measured peers: ids of two metastores never meet.
func TestMeasuredSequence(t *testing.T) {
	f := newFront(t)
	a, b, c := f.dial("apache-3.1.3"), f.dial("apache-3.1.3"), f.dial("apache-3.1.3")
	first := a.lock(acquired, 0, part(exclusive, "sales", "orders", opUnset))
	if first != 1 {
		t.Errorf("lock id of the default catalog: got %d, want the metastore's own", first)
	}
	second := b.lock(acquired, 0, part(exclusive, "apache__sales", "orders", opUnset))
	third := c.lock(waiting, 0, part(exclusive, "apache__sales", "orders", opUnset))
	b.check(second, acquired)
	b.unlock(second)
	c.check(third, acquired)
	a.check(first, acquired)
	wantHeld(t, f.hdp, "sales.orders 1")
	a.unlock(first)
	c.unlock(third)
	wantHeld(t, f.hdp)
	wantHeld(t, f.apache)
}

// L85, L86, L88, L89, L94, and two Iceberg writers on the other catalog, one of
// which goes around the gateway.
func TestIcebergLocks(t *testing.T) {
	f := newFront(t)
	c, direct := f.dial("apache-3.1.3"), f.apache.direct(t)
	acid := part(exclusive, "apache__sales", "t", opUnset)
	acid["isTransactional"] = true // PyIceberg
	v := c.must("lock", request("Iceberg-1", 0, acid)).(hms.Struct)
	id := v.Int("lockid")
	other := direct.lock(waiting, 0, part(exclusive, "sales", "t", opUnset))
	second := c.lock(waiting, 0, part(exclusive, "apache__sales", "t", opUnset))
	t.Run("L88", func(t *testing.T) {
		list := c.must("show_locks", hms.Struct{"rqst": hms.Struct{"dbname": "apache__sales", "tablename": "t"}}).(hms.Struct).Structs("locks")
		if len(list) != 3 || list[0].Int("lockid") != id || list[0].Str("agentInfo") != "Iceberg-1" {
			t.Errorf("got %v, want the lock, whose reply was lost, first of three", list)
		}
	})
	c.unlock(id)
	direct.check(other, acquired)
	c.check(second, waiting)
	direct.unlock(other)
	c.check(second, acquired)
	c.must("heartbeat", hms.Struct{"ids": hms.Struct{"lockid": second}})
	c.unlock(second)
	t.Run("L86", func(t *testing.T) {
		c.unlock(c.lock(acquired, 0, part(sharedRead, "apache__sales", "t", opSelect)))
	})
	t.Run("L89", func(t *testing.T) {
		for method, req := range map[string]hms.Struct{"check_lock": {"rqst": hms.Struct{"lockid": second}},
			"heartbeat": {"ids": hms.Struct{"lockid": second}}} {
			if _, err := c.try(method, req); !isThrown(err, "NoSuchLockException") {
				t.Errorf("%s of an unknown id: got %v, want NoSuchLockException", method, err)
			}
		}
		c.unlock(second) // as a metastore, nothing is said
	})
	t.Run("L94", func(t *testing.T) {
		id := c.lock(acquired, 0, part(sharedRead, "_dummy_database", "_dummy_table", opSelect), part(exclusive, "apache__sales", "t", opNoTxn))
		wantHeld(t, f.apache, "_dummy_database._dummy_table 1", "sales.t 1")
		c.unlock(id)
	})
}

func TestLockModes(t *testing.T) {
	t.Run("primary", func(t *testing.T) {
		f := newFront(t, oneInstance, "catalog.apache.locks: primary")
		c := f.dial("apache-3.1.3")
		id := c.lock(acquired, 0, part(exclusive, "apache__sales", "t", opUnset))
		c.lock(waiting, 0, part(exclusive, "apache__sales", "t", opUnset))
		c.unlock(id)
		wantHeld(t, f.apache)
	})
	t.Run("off", func(t *testing.T) {
		f := newFront(t, "catalog.apache.locks: off")
		_, err := f.dial("apache-3.1.3").try("lock", request("a", 0, part(exclusive, "apache__sales", "t", opUnset)))
		if err == nil || !strings.Contains(err.Error(), "switched off for catalog 'apache'") {
			t.Errorf("got %v, want a refusal", err)
		}
	})
	t.Run("synthetic", func(t *testing.T) {
		f := newFront(t, "catalog.apache.locks: synthetic")
		c := f.dial("apache-3.1.3")
		txn := c.openTxn()
		id := c.lock(acquired, txn, part(exclusive, "apache__sales", "t", opNoTxn))
		if id != 1<<62 {
			t.Errorf("got id %d, want the first synthetic one", id)
		}
		c.check(id, acquired)
		c.must("heartbeat", hms.Struct{"ids": hms.Struct{"lockid": id, "txnid": txn}})
		list := c.must("show_locks", hms.Struct{"rqst": hms.Struct{"dbname": "apache__sales"}}).(hms.Struct).Structs("locks")
		if len(list) != 1 || list[0].Int("lockid") != id || list[0].Str("agentInfo") != "test" {
			t.Errorf("show_locks: got %v, want the synthetic lock", list)
		}
		c.must("commit_txn", hms.Struct{"rqst": hms.Struct{"txnid": txn}})
		if _, err := c.try("check_lock", hms.Struct{"rqst": hms.Struct{"lockid": id}}); !isThrown(err, "NoSuchLockException") {
			t.Errorf("check_lock after the commit: got %v, want NoSuchLockException", err)
		}
		wantHeld(t, f.apache)
		wantHeld(t, f.hdp)
	})
}
