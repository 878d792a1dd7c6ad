package answer_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"hmsgate/internal/hms"
	"hmsgate/internal/zk/zktest"
)

// twoFronts are two gateways before the same metastores that share a lock store.
func twoFronts(t *testing.T, settings ...string) (a, b *front, store *zktest.Server) {
	t.Helper()
	store = zktest.New(t)
	store.Lag(true)
	hdp, apache := newStore(t, "hdp", "apache-3.1.3"), newStore(t, "apache", "apache-3.1.3")
	settings = append(settings, "locks.zookeeper.connect-string: "+store.Addr())
	return frontOf(t, hdp, apache, settings...), frontOf(t, hdp, apache, settings...), store
}

// Every step of a transaction's lock at another instance than the one before.
func TestInstancesInTransaction(t *testing.T) {
	f, g, _ := twoFronts(t)
	a, b, direct := f.dial("apache-3.1.3"), g.dial("apache-3.1.3"), f.apache.direct(t)
	txn := a.openTxn()
	first := direct.lock(acquired, 0, part(exclusive, "sales", "orders", opUnset))
	id := a.lock(waiting, txn, part(sharedRead, "apache__sales", "orders", opSelect), part(sharedRead, "sales", "", opNoTxn))
	b.check(id, waiting)
	direct.unlock(first)
	b.check(id, acquired)
	a.check(id, acquired)
	next := direct.lock(waiting, 0, part(exclusive, "sales", "orders", opUnset))
	b.must("commit_txn", hms.Struct{"rqst": hms.Struct{"txnid": txn}})
	direct.check(next, acquired)
	if _, err := a.try("check_lock", hms.Struct{"rqst": hms.Struct{"lockid": id}}); !isThrown(err, "NoSuchLockException") {
		t.Errorf("check_lock after the commit: got %v, want NoSuchLockException", err)
	}
	direct.unlock(next)
	wantHeld(t, f.hdp)
	wantHeld(t, f.apache)

	txn = b.openTxn()
	b.lock(acquired, txn, part(exclusive, "apache__sales", "orders", opNoTxn))
	wantHeld(t, f.apache, "sales.orders 1")
	a.must("abort_txns", hms.Struct{"rqst": hms.Struct{"txn_ids": []any{txn}}})
	wantHeld(t, f.apache)

	id = a.lock(acquired, 0, part(exclusive, "apache__sales", "orders", opNoTxn), part(exclusive, "sales", "orders", opNoTxn))
	b.unlock(id)
	wantHeld(t, f.hdp)
	wantHeld(t, f.apache)
}

// Two requests that name two catalogs in opposite orders, at two instances.
func TestInstancesInOppositeOrders(t *testing.T) {
	f, g, _ := twoFronts(t)
	one, two := f.dial("apache-3.1.3"), g.dial("apache-3.1.3")
	a, b := part(exclusive, "sales", "orders", opNoTxn), part(exclusive, "apache__sales", "orders", opNoTxn)
	first := one.lock(acquired, 0, a, b)
	second := two.lock(waiting, 0, b, a)
	wantHeld(t, f.apache, "sales.orders 1")
	one.check(second, waiting)
	two.unlock(first)
	one.check(second, acquired)
	wantHeld(t, f.apache, "sales.orders 1")
	one.unlock(second)
	wantHeld(t, f.apache)
	wantHeld(t, f.hdp)
}

// One instance ends; what it held is released through the other.
func TestInstanceEnds(t *testing.T) {
	f, g, _ := twoFronts(t)
	a, direct := f.dial("apache-3.1.3"), f.apache.direct(t)
	txn := a.openTxn()
	a.lock(acquired, txn, part(exclusive, "apache__sales", "orders", opNoTxn))
	next := direct.lock(waiting, 0, part(exclusive, "sales", "orders", opUnset))
	a.Close()
	f.g.Close()
	g.dial("apache-3.1.3").must("abort_txn", hms.Struct{"rqst": hms.Struct{"txnid": txn}})
	direct.check(next, acquired)
}

// Synthetic locks are every instance's.
func TestInstancesSynthetic(t *testing.T) {
	f, g, _ := twoFronts(t, "catalog.apache.locks: synthetic")
	a, b := f.dial("apache-3.1.3"), g.dial("apache-3.1.3")
	txn := a.openTxn()
	id := a.lock(acquired, txn, part(exclusive, "apache__sales", "t", opNoTxn))
	other := b.lock(acquired, 0, part(exclusive, "apache__sales", "t", opNoTxn))
	if id == other || id < 1<<62 || other < 1<<62 {
		t.Errorf("ids %d and %d, want two synthetic ones", id, other)
	}
	b.check(id, acquired)
	b.must("heartbeat", hms.Struct{"ids": hms.Struct{"lockid": id}})
	v := b.must("show_locks", hms.Struct{"rqst": hms.Struct{"dbname": "apache__sales"}}).(hms.Struct).Structs("locks")
	if len(v) != 2 || v[0].Int("lockid") != min(id, other) || v[0].Str("agentInfo") != "test" {
		t.Errorf("show_locks: got %v, want both", v)
	}
	b.must("commit_txn", hms.Struct{"rqst": hms.Struct{"txnid": txn}})
	a.unlock(other)
	for _, id := range []int64{id, other} {
		if _, err := a.try("check_lock", hms.Struct{"rqst": hms.Struct{"lockid": id}}); !isThrown(err, "NoSuchLockException") {
			t.Errorf("check_lock of %d after its end: got %v, want NoSuchLockException", id, err)
		}
	}
}

// The lock store is away: what needs a mirror is refused before anything is
// locked, and a lock that has one is never said to be acquired; all else goes
// on, and what was held is released when the store is back.
func TestLockStoreAway(t *testing.T) {
	f, g, store := twoFronts(t, "locks.zookeeper.connection-timeout-ms: 2000")
	c := f.dial("apache-3.1.3")
	txn := c.openTxn()
	held := c.lock(acquired, txn, part(sharedRead, "apache__sales", "orders", opSelect))
	own := c.lock(acquired, 0, part(exclusive, "sales", "x", opNoTxn))
	theirs := c.lock(acquired, 0, part(exclusive, "apache__sales", "x", opNoTxn))
	f.wantMetric("hmsgate_lock_store_up", "", 1)
	if s := f.ready(t).LockStore; s == nil || !s.Connected {
		t.Errorf("readyz: %+v, want the lock store connected", s)
	}
	store.Down()
	f.wantMetric("hmsgate_lock_store_up", "", 0)
	r := f.ready(t)
	if s := r.LockStore; s == nil || s.Connected || !strings.Contains(s.LastError, store.Addr()) || r.Status != "ready" {
		t.Errorf("readyz: %+v, want the lock store away, and still ready", r)
	}
	before := len(f.hdp.calls("lock"))
	for what, args := range map[string]struct {
		method string
		args   hms.Struct
	}{
		"over two catalogs": {"lock", request("a", 0, part(exclusive, "sales", "y", opNoTxn), part(exclusive, "apache__sales", "y", opNoTxn))},
		"in a transaction":  {"lock", request("a", c.openTxn(), part(exclusive, "apache__sales", "y", opNoTxn))},
		"check":             {"check_lock", hms.Struct{"rqst": hms.Struct{"lockid": held}}},
	} {
		if v, err := c.try(args.method, args.args); err == nil || !strings.Contains(err.Error(), "lock store") {
			t.Errorf("%s: got %v, %v, want it refused for the lock store", what, v, err)
		}
	}
	if n := len(f.hdp.calls("lock")); n != before {
		t.Errorf("%d locks were asked for all the same", n-before)
	}
	c.check(own, acquired)
	c.check(theirs, acquired)
	c.unlock(own)
	c.unlock(theirs)
	c.unlock(c.lock(acquired, 0, part(exclusive, "apache__sales", "x", opUnset)))
	other := c.openTxn()
	c.lock(acquired, other, part(sharedRead, "sales", "x", opSelect))
	c.must("commit_txn", hms.Struct{"rqst": hms.Struct{"txnid": other}})
	c.must("heartbeat", hms.Struct{"ids": hms.Struct{"txnid": txn}})

	store.Up()
	f.wantMetric("hmsgate_lock_store_up", "", 1)
	g.wantMetric("hmsgate_lock_store_up", "", 1)
	c.check(held, acquired)
	g.dial("apache-3.1.3").must("commit_txn", hms.Struct{"rqst": hms.Struct{"txnid": txn}})
	wantHeld(t, f.apache)
}

// A gateway with another default catalog has no business in the store: its lock
// ids mean something else.
func TestLockStoreOfAnotherGateway(t *testing.T) {
	f, _, store := twoFronts(t)
	f.dial("apache-3.1.3").lock(acquired, 0, part(exclusive, "sales", "y", opNoTxn), part(exclusive, "apache__sales", "y", opNoTxn))
	other := frontOf(t, newStore(t, "hdp", "apache-3.1.3"), f.apache, "locks.zookeeper.connect-string: "+store.Addr())
	if v, err := other.dial("apache-3.1.3").try("lock", request("a", 0, part(exclusive, "sales", "y", opNoTxn),
		part(exclusive, "apache__sales", "z", opNoTxn))); err == nil || !strings.Contains(err.Error(), "lock store") {
		t.Errorf("got %v, %v, want it refused for the lock store", v, err)
	}
	other.wantMetric("hmsgate_lock_store_up", "", 0)
	if s := other.ready(t).LockStore; s == nil || s.Connected || !strings.Contains(s.LastError, "another gateway's") {
		t.Errorf("readyz: %+v, want the reason", s)
	}
	f.wantMetric("hmsgate_lock_store_up", "", 1)
}

// A lock over more tables than the store takes is refused, and nothing is left.
func TestLockTooLargeForStore(t *testing.T) {
	f, _, _ := twoFronts(t)
	c := f.dial("apache-3.1.3")
	var parts []hms.Struct
	for range 6000 {
		parts = append(parts, part(sharedRead, "apache__sales", strings.Repeat("t", 100), opSelect))
	}
	if v, err := c.try("lock", request("a", c.openTxn(), parts...)); err == nil || !strings.Contains(err.Error(), "too many tables") {
		t.Errorf("got %v, %v, want it refused for its size", v, err)
	}
	wantHeld(t, f.hdp)
	c.lock(acquired, c.openTxn(), parts[:1000]...)
}

type readiness struct {
	Status    string
	LockStore *struct {
		Connected bool
		LastError string
	}
}

func (f *front) ready(t *testing.T) readiness {
	t.Helper()
	client := http.Client{Timeout: 20 * time.Second}
	defer client.CloseIdleConnections()
	var r readiness
	for end := time.Now().Add(patience); ; <-time.After(5 * time.Millisecond) { // until the metastores have been asked
		resp, err := client.Get("http://" + f.g.AdminAddr().String() + "/readyz")
		if err != nil {
			t.Fatal(err)
		}
		err = json.NewDecoder(resp.Body).Decode(&r)
		resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if r.Status == "ready" || time.Now().After(end) {
			return r
		}
	}
}
