package memhms

import (
	"errors"
	"io"
	"testing"

	"hmsgate/internal/hms"
)

type comp struct {
	kind      int
	db, table string
}

// lock asks and gives id and state.
func (r *rig) lock(txn int64, comps ...comp) (int64, int64) {
	r.Helper()
	var l []any
	for _, c := range comps {
		x := hms.Struct{"type": c.kind, "level": levelTable, "dbname": c.db, "tablename": c.table}
		if txn != 0 {
			x["operationType"] = 3 // UPDATE
		}
		if c.table == "" {
			x["level"] = levelDB
			delete(x, "tablename")
		}
		l = append(l, x)
	}
	req := hms.Struct{"component": l, "user": "u", "hostname": "h"}
	if txn != 0 {
		req["txnid"] = txn
	}
	v := r.ok("lock", hms.Struct{"rqst": req}).(hms.Struct)
	return v.Int("lockid"), v.Int("state")
}

func (r *rig) check(id int64) int64 {
	r.Helper()
	return r.ok("check_lock", hms.Struct{"rqst": hms.Struct{"lockid": id}}).(hms.Struct).Int("state")
}

func (r *rig) unlock(id int64) {
	r.Helper()
	r.ok("unlock", hms.Struct{"rqst": hms.Struct{"lockid": id}})
}

// txn opens one.
func (r *rig) txn() int64 {
	r.Helper()
	return r.ok("open_txns", hms.Struct{"rqst": hms.Struct{"num_txns": 1, "user": "u",
		"hostname": "h"}}).(hms.Struct).List("txn_ids")[0].(int64)
}

func TestLockConflicts(t *testing.T) {
	T := func(kind int) comp { return comp{kind, "d", "t"} }
	for _, c := range []struct {
		name          string
		first, second comp
		want          [3]int64 // state of the second, by version
	}{
		{"readers", T(sharedRead), T(sharedRead), [3]int64{acquired, acquired, acquired}},
		{"reader, writer", T(sharedRead), T(sharedWrite), [3]int64{acquired, acquired, acquired}},
		{"writers", T(sharedWrite), T(sharedWrite), [3]int64{waiting, waiting, acquired}},
		{"reader, exclusive", T(sharedRead), T(exclusive), [3]int64{waiting, waiting, waiting}},
		{"exclusive, reader", T(exclusive), T(sharedRead), [3]int64{waiting, waiting, waiting}},
		{"exclusive, other table", T(exclusive), comp{exclusive, "d", "u"}, [3]int64{acquired, acquired, acquired}},
		{"exclusive, other database", T(exclusive), comp{exclusive, "e", "t"}, [3]int64{acquired, acquired, acquired}},
		{"letter case", T(exclusive), comp{exclusive, "D", "T"}, [3]int64{waiting, waiting, waiting}},
		{"database exclusive, table", comp{exclusive, "d", ""}, T(sharedRead), [3]int64{waiting, waiting, waiting}},
		{"database read, table exclusive", comp{sharedRead, "d", ""}, T(exclusive),
			[3]int64{acquired, acquired, acquired}},
		{"excl_write, reader", T(exclWrite), T(sharedRead), [3]int64{0, 0, acquired}},
		{"excl_write, writer", T(exclWrite), T(sharedWrite), [3]int64{0, 0, waiting}},
		{"excl_write twice", T(exclWrite), T(exclWrite), [3]int64{0, 0, waiting}},
	} {
		for i, label := range labels {
			if c.want[i] == 0 {
				continue // the type came with 4.0
			}
			t.Run(label+" "+c.name, func(t *testing.T) {
				r := start(t, label)
				a, state := r.lock(0, c.first)
				r.is(int64(acquired), state)
				b, state := r.lock(0, c.second)
				r.is(c.want[i], state)
				r.is(c.want[i], r.check(b))
				r.unlock(a)
				r.is(int64(acquired), r.check(b))
			})
		}
	}
}

func TestLockLife(t *testing.T) {
	each(t, func(t *testing.T, r *rig, label string) {
		a, _ := r.lock(0, comp{sharedRead, "d", "t"}, comp{sharedRead, "e", "u"})
		b, _ := r.lock(0, comp{exclusive, "d", "t"})
		c, state := r.lock(0, comp{sharedRead, "d", "t"})
		r.is(int64(waiting), state) // behind the waiting one
		r.ok("heartbeat", hms.Struct{"ids": hms.Struct{"lockid": a}})
		show := func(q hms.Struct) int {
			return len(r.ok("show_locks", hms.Struct{"rqst": q}).(hms.Struct).List("locks"))
		}
		for i, q := range []hms.Struct{{}, {"dbname": "d"}, {"dbname": "d", "tablename": "t"}, {"tablename": "d.t"},
			{"dbname": "x"}} {
			want := []int{by(label, 4, 4, 6), 3, 3, 3, 0}[i] // 4.1 holds two of its own
			if n := show(q); n != want {
				t.Errorf("show_locks %v: got %d, want %d", q, n, want)
			}
		}
		lines := r.ok("show_locks", hms.Struct{"rqst": hms.Struct{"dbname": "d"}}).(hms.Struct).Structs("locks")
		r.is([]any{nil, a, b}, []any{lines[0]["blockedByExtId"], lines[1]["blockedByExtId"],
			lines[2]["blockedByExtId"]})
		r.is(int64(1), lines[1]["blockedByIntId"])
		r.is(int64(0), lines[0]["txnid"])
		r.unlock(b)
		r.is(int64(acquired), r.check(c))
		r.unlock(a)
		r.unlock(a) // not there: success
		r.fails("NoSuchLockException: No such lock lockid:"+itoa(a), "check_lock",
			hms.Struct{"rqst": hms.Struct{"lockid": a}})
		r.fails("NoSuchLockException: No such lock: lockid:"+itoa(a), "heartbeat",
			hms.Struct{"ids": hms.Struct{"lockid": a}})

		x := r.txn()
		d, _ := r.lock(x, comp{exclusive, "f", "t"})
		_, state = r.lock(x, comp{exclusive, "f", "t"})
		r.is(int64(acquired), state) // the same transaction
		r.fails("TxnOpenException: Unlocking locks associated with transaction not permitted.  lockid:"+itoa(d)+" intLockId:1 txnid:"+itoa(x)+
			" db:f table:t partition:null state:ACQUIRED type:EXCLUSIVE", "unlock", hms.Struct{"rqst": hms.Struct{"lockid": d}})
		r.ok("commit_txn", hms.Struct{"rqst": hms.Struct{"txnid": x}})
		_, state = r.lock(0, comp{exclusive, "f", "t"})
		r.is(int64(acquired), state)
		vague := hms.Struct{"rqst": hms.Struct{"component": []any{hms.Struct{"type": 1, "level": 1, "dbname": "d"}},
			"txnid": r.txn(), "user": "u", "hostname": "h"}}
		switch label {
		case v3:
			if _, err := r.c.Call(t.Context(), "lock", vague); !errors.Is(err, io.EOF) {
				t.Errorf("a component that says nothing: got %v, want the connection closed", err)
			}
			r.c = r.dial(hms.Options{})
		case v4:
			r.fails("application exception 6: Internal error processing lock", "lock", vague)
		}
		r.fails("NoSuchTxnException: No such transaction txnid:77", "lock",
			hms.Struct{"rqst": hms.Struct{"component": []any{hms.Struct{"type": 1, "level": 1, "dbname": "d"}},
				"txnid": 77, "user": "u", "hostname": "h"}})
	})
}

func TestTransactions(t *testing.T) {
	each(t, func(t *testing.T, r *rig, label string) {
		a, b, c := r.txn(), r.txn(), r.txn()
		id := func(x int64) hms.Struct { return hms.Struct{"rqst": hms.Struct{"txnid": x}} }
		r.ok("commit_txn", id(a))
		r.ok("commit_txn", id(a)) // again: success
		r.ok("abort_txn", id(b))
		r.fails("TxnAbortedException: Transaction txnid:2 already aborted", "commit_txn", id(b))
		r.fails("NoSuchTxnException: No such transaction txnid:99", "commit_txn", id(99))
		o := r.ok("get_open_txns", nil).(hms.Struct)
		r.is(int64(3), o["txn_high_water_mark"])
		r.is([]any{b, c}, o["open_txns"])
		r.is(by[any](label, nil, []byte{1}, []byte{1}), o["abortedBits"])
		r.is(by[any](label, c, c, c), o["min_open_txn"])
		if l := r.ok("get_open_txns_info", nil).(hms.Struct).Structs("open_txns"); len(l) != 2 ||
			l[0]["state"] != int32(txnAbort) {
			t.Errorf("info: %v", l)
		}
		h := r.ok("heartbeat_txn_range", hms.Struct{"txns": hms.Struct{"min": a, "max": c}}).(hms.Struct)
		r.is([]any{b}, h["aborted"])
		r.is([]any{a}, h["nosuch"])
		r.ok("compact", hms.Struct{"rqst": hms.Struct{"dbname": "d", "tablename": "t", "type": 1}})
		if l := r.ok("show_compact", hms.Struct{"rqst": hms.Struct{}}).(hms.Struct).List("compacts"); len(l) != 1 {
			t.Errorf("compactions: %v", l)
		}
	})
}

func TestWriteIDs(t *testing.T) {
	for _, label := range []string{v3, v4} {
		t.Run(label, func(t *testing.T) {
			r := start(t, label)
			a, b, c := r.txn(), r.txn(), r.txn()
			give := func(ids ...any) []hms.Struct {
				return r.ok("allocate_table_write_ids", hms.Struct{"rqst": hms.Struct{"dbName": "d", "tableName": "t",
					"txnIds": ids}}).(hms.Struct).Structs("txnToWriteIds")
			}
			r.is(int64(2), give(a, b)[1]["writeId"])
			r.is(int64(1), give(a)[0]["writeId"]) // the same again
			r.is(int64(3), give(c)[0]["writeId"])
			r.ok("commit_txn", hms.Struct{"rqst": hms.Struct{"txnid": a}})
			r.ok("abort_txn", hms.Struct{"rqst": hms.Struct{"txnid": b}})
			r.txn()
			valid := func(list string) hms.Struct {
				v := r.ok("get_valid_write_ids", hms.Struct{"rqst": hms.Struct{"fullTableNames": []string{"D.t",
					"d.none"}, "validTxnList": list}}).(hms.Struct)
				r.is("d.none", v.Structs("tblValidWriteIds")[1]["fullTableName"])
				return v.Structs("tblValidWriteIds")[0]
			}
			r.is(hms.Struct{"fullTableName": "D.t", "writeIdHighWaterMark": int64(3),
				"invalidWriteIds": []any{int64(2), int64(3)}, "minOpenWriteId": int64(3), "abortedBits": []byte{1}},
				valid("4:3:3,4:2"))
			// A run, as Hive 4 writes it; and a list from before c.
			r.is([]any{int64(1), int64(2), int64(3)}, valid("4:9223372036854775807::1-4")["invalidWriteIds"])
			r.is(by[int64](label, 0, 2, 1), valid("2:9223372036854775807::")["writeIdHighWaterMark"])
			r.fails("NoSuchTxnException: No such transaction txnid:1", "allocate_table_write_ids",
				hms.Struct{"rqst": hms.Struct{"dbName": "d", "tableName": "t", "txnIds": []any{a}}})
		})
	}
}
