package answer_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"hmsgate/internal/hms"
)

// Lock types and states (hive_metastore.thrift).
const (
	sharedRead = int32(1)
	exclusive  = int32(3)

	opSelect = int32(1)
	opUnset  = int32(5)
	opNoTxn  = int32(6)

	acquired = int32(1)
	waiting  = int32(2)
)

// part is a lock component on a table, or on a database when table is empty.
func part(kind int32, db, table string, op int32) hms.Struct {
	p := hms.Struct{"type": kind, "level": int32(1), "dbname": db, "operationType": op}
	if table != "" {
		p["level"], p["tablename"] = int32(2), table
	}
	return p
}

// request is a lock request; txn 0 is none.
func request(agent string, txn int64, parts ...hms.Struct) hms.Struct {
	list := []any{}
	for _, p := range parts {
		list = append(list, p)
	}
	r := hms.Struct{"component": list, "user": "u", "hostname": "h", "agentInfo": agent}
	if txn != 0 {
		r["txnid"] = txn
	}
	return hms.Struct{"rqst": r}
}

// lock asks for a lock and wants it in a state.
func (c *caller) lock(state int32, txn int64, parts ...hms.Struct) int64 {
	c.t.Helper()
	v := c.must("lock", request("test", txn, parts...)).(hms.Struct)
	if got := v["state"]; got != state {
		c.t.Errorf("lock %v: state %v, want %d", parts, got, state)
	}
	return v.Int("lockid")
}

func (c *caller) openTxn() int64 {
	c.t.Helper()
	v := c.must("open_txns", hms.Struct{"rqst": hms.Struct{"num_txns": 1, "user": "u", "hostname": "h"}}).(hms.Struct)
	return v.List("txn_ids")[0].(int64)
}

func (c *caller) check(id int64, want int32) {
	c.t.Helper()
	v := c.must("check_lock", hms.Struct{"rqst": hms.Struct{"lockid": id}}).(hms.Struct)
	if got := v["state"]; got != want || v.Int("lockid") != id {
		c.t.Errorf("check_lock %d: got %v, want state %d", id, v, want)
	}
}

func (c *caller) unlock(id int64) {
	c.t.Helper()
	c.must("unlock", hms.Struct{"rqst": hms.Struct{"lockid": id}})
}

// held are a metastore's locks, asked directly: db.table state, by component.
func (s *store) held(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, e := range s.locks(t) {
		out = append(out, fmt.Sprintf("%s.%s %d", e.Str("dbname"), e.Str("tablename"), e.Int("state")))
	}
	return out
}

func (s *store) locks(t *testing.T) []hms.Struct {
	t.Helper()
	v, err := s.direct(t).try("show_locks", hms.Struct{"rqst": hms.Struct{}})
	if err != nil {
		t.Fatal(err)
	}
	return v.(hms.Struct).Structs("locks")
}

// direct is a client that goes around the gateway.
func (s *store) direct(t *testing.T) *caller {
	t.Helper()
	return (&front{t: t}).dialTo(s.addr, "apache-3.1.3")
}

func wantHeld(t *testing.T, s *store, want ...string) {
	t.Helper()
	if got := s.held(t); strings.Join(got, ", ") != strings.Join(want, ", ") {
		t.Errorf("locks of %s: got %q, want %q", s.addr, got, want)
	}
}

// HiveServer2's way: a transaction, one request with components of two
// catalogs, and the commit on another connection. All of it is one lock of the
// default metastore's.
func TestLockInTransaction(t *testing.T) {
	f := newFront(t)
	c := f.dial("apache-3.1.3")
	txn := c.openTxn()
	transactional := part(sharedRead, "Apache__Sales", "orders", opSelect)
	transactional["isTransactional"] = true
	id := c.lock(acquired, txn, part(sharedRead, "sales", "", opNoTxn), transactional,
		part(sharedRead, "_dummy_database", "_dummy_table", opSelect), part(sharedRead, "apache__sales", "", opNoTxn))
	if id >= 1<<48 {
		t.Errorf("lock id %d has a slot, want the default metastore's own", id)
	}
	wantHeld(t, f.hdp, "sales. 1", "apache__sales.orders 1", "_dummy_database._dummy_table 1", "apache__sales. 1")
	sent := f.hdp.calls("lock")[0].args.Struct("rqst").Structs("component")
	for i, want := range []any{nil, false, nil, false} {
		if got := sent[i]["isTransactional"]; got != want {
			t.Errorf("component %d: isTransactional %v, want %v", i, got, want)
		}
	}
	if got := sent[1]["operationType"]; got != opSelect {
		t.Errorf("operationType %v, want it kept", got)
	}
	c.check(id, acquired)
	f.dial("apache-3.1.3").must("commit_txn", hms.Struct{"rqst": hms.Struct{"txnid": txn}})
	wantHeld(t, f.hdp)
	if _, err := c.try("check_lock", hms.Struct{"rqst": hms.Struct{"lockid": id}}); !isThrown(err, "NoSuchLockException") {
		t.Errorf("check_lock after the commit: got %v, want NoSuchLockException", err)
	}
}

func isThrown(err error, name string) bool {
	var x *hms.Exception
	return errors.As(err, &x) && x.Type == name
}

// Several catalogs without a transaction.
func TestLockOverCatalogs(t *testing.T) {
	f := newFront(t)
	c := f.dial("apache-3.1.3")
	id := c.lock(acquired, 0, part(exclusive, "apache__sales", "orders", opUnset), part(exclusive, "sales", "orders", opUnset))
	other := c.lock(waiting, 0, part(exclusive, "APACHE__sales", "orders", opUnset), part(exclusive, "crm", "x", opUnset))
	c.unlock(id)
	c.check(other, acquired)
	c.unlock(other)
	wantHeld(t, f.hdp)
}

func TestLockNameTooLong(t *testing.T) {
	f := newFront(t)
	c := f.dial("apache-3.1.3")
	_, err := c.try("lock", request("a", 0, part(exclusive, "sales", "", opNoTxn),
		part(exclusive, "apache__"+strings.Repeat("x", 121), "", opNoTxn)))
	var app *hms.AppError
	if !errors.As(err, &app) || !strings.Contains(app.Message, "at most 128") {
		t.Errorf("got %v, want a refusal that names the limit", err)
	}
	c.lock(acquired, c.openTxn(), part(sharedRead, "apache__"+strings.Repeat("x", 120), "", opNoTxn))
}

// Transactional tables are the default catalog's, also when texts of views are
// left alone.
func TestTransactionalTableElsewhere(t *testing.T) {
	for _, setting := range []string{"", "federation.view-text-rewrite.mode: DISABLED"} {
		f := newFront(t, setting)
		c := f.dial("apache-3.1.3")
		create := func(db, flag string) error {
			_, err := c.try("create_table", hms.Struct{"tbl": hms.Struct{"dbName": db, "tableName": "acid" + flag,
				"tableType": "MANAGED_TABLE", "parameters": hms.MapOf(map[string]string{"transactional": flag}),
				"sd": hms.Struct{"cols": []any{hms.Struct{"name": "a", "type": "int"}}, "serdeInfo": hms.Struct{}}}})
			return err
		}
		if err := create("apache__sales", "TRUE"); !isThrown(err, "MetaException") ||
			!strings.Contains(err.Error(), "'create_table' is not supported for non-default catalog 'apache'") {
			t.Errorf("%q: got %v, want it refused", setting, err)
		}
		for _, db := range []string{"apache__sales", "sales"} {
			if err := create(db, "false"); err != nil {
				t.Errorf("%q, %s: not transactional: %v", setting, db, err)
			}
		}
		if err := create("sales", "true"); err != nil {
			t.Errorf("%q: the default catalog's: %v", setting, err)
		}
		if n := len(f.apache.calls("create_table")); n != 1 {
			t.Errorf("%q: the metastore saw %d tables made, want 1", setting, n)
		}
	}
}
