package answer

import (
	"errors"
	"regexp"
	"strconv"
	"strings"

	"hmsgate/internal/hms"
)

// Programs of methods that older metastores have too, of whose requests they
// understand less and would drop the rest in silence.

// dropDatabase takes a database that is not there for dropped where the
// request says so. 3.1.3 does not say that it is not there but fails.
func dropDatabase(w *work) (any, error) {
	req := w.request()
	if req.Bool("softDelete") {
		return nil, w.call.Loss("softDelete: the backend has no soft delete")
	}
	name := w.db(req.Str("catalogName"), req.Str("name"))
	_, err := w.ask("one", hms.Struct{"name": name})
	if err == nil {
		_, err = w.ask("drop", hms.Struct{"name": name, "deleteData": req.Bool("deleteData"), "cascade": req.Bool("cascade")})
	}
	if gone(err) && req.Bool("ignoreUnknownDb") {
		err = nil
	}
	return nil, err
}

// dropCatalog is asked for what may not be there: the others go as they are.
func dropCatalog(w *work) (any, error) {
	_, err := w.ask("drop", w.args)
	if gone(err) {
		err = nil
	}
	return nil, err
}

// addPartitions gives partitions that come without columns those of the
// request, else the table's, as a newer metastore does, and tells them once in
// the result, where the client puts them back (HiveMetaStoreClient).
func addPartitions(w *work) (any, error) {
	req := w.request().Clone()
	cols := req.List("partitionColSchema")
	if len(cols) == 0 {
		t, err := w.table(hms.Struct{"cat_name": req["catName"], "tbl_name": req["tblName"], "db_name": req["dbName"]},
			w.db(req.Str("catName"), req.Str("dbName")))
		if err != nil {
			return nil, err
		}
		cols = t.Struct("sd").List("cols")
	}
	columns := func(parts []hms.Struct, cols []any) {
		for _, p := range parts {
			if sd := p.Struct("sd"); sd != nil {
				sd["cols"] = cols
			}
		}
	}
	columns(req.Structs("parts"), cols)
	v, err := w.ask("add", w.with(req))
	if out, ok := v.(hms.Struct); ok && out["partitions"] != nil {
		columns(out.Structs("partitions"), []any{})
		out["partitionColSchema"] = cols
	}
	return v, err
}

// locksOfTxn are those of one transaction among all.
func locksOfTxn(w *work) (any, error) {
	v, err := w.ask("locks", w.args)
	txn := w.request().Int("txnid")
	return kept(v, err, "locks", func(l hms.Struct) bool { return l.Int("txnid") == txn })
}

// compactions are those of the queue that the request selects.
func compactions(w *work) (any, error) {
	req := w.request()
	switch {
	case req.Str("state") != "":
		return nil, w.call.Loss("state: the backend would ignore the filter")
	case req.Str("poolName") != "":
		return nil, w.call.Loss("poolName: the backend has no pools")
	}
	v, err := w.ask("all", w.args)
	most := req.Int("limit")
	if most <= 0 || req.Str("order") != "" {
		most = -1
	}
	return kept(v, err, "compacts", func(e hms.Struct) bool {
		for want, have := range map[string]string{"dbName": "dbname", "tbName": "tablename", "partName": "partitionname"} {
			if s := req.Str(want); s != "" && !strings.EqualFold(s, e.Str(have)) {
				return false
			}
		}
		if id := req.Int("id"); id > 0 && id != e.Int("id") || req["type"] != nil && req.Int("type") != e.Int("type") {
			return false
		}
		most--
		return most != -1
	})
}

// kept leaves those elements of a result's list that keep takes.
func kept(v any, err error, list string, keep func(hms.Struct) bool) (any, error) {
	out, ok := v.(hms.Struct)
	if err != nil || !ok {
		return v, err
	}
	left := []any{}
	for _, e := range out.Structs(list) {
		if keep(e) {
			left = append(left, e)
		}
	}
	out[list] = left
	return out, nil
}

// writeIDsOfList gives a metastore that must have the caller's list of
// transactions the one of now, which newer ones make themselves
// (TxnHandler.getValidWriteIds), and one that does not read runs (3-31) each
// number. A write id instead of a list is refused by its guard.
func writeIDsOfList(w *work) (any, error) {
	req := w.request()
	list, told := req["validTxnList"].(string)
	if req.Int("writeId") > 0 || told && !strings.Contains(list, "-") {
		return nil, errAsItself
	}
	var err error
	if told {
		if list, err = withoutRuns(list); err != nil {
			return nil, w.call.Loss("validTxnList: " + err.Error())
		}
	} else if list, err = w.transactions(); err != nil {
		return nil, err
	}
	req = req.Clone()
	req["validTxnList"] = list
	return w.ask("ids", w.with(req))
}

// transactions are those of now, as a reader's list.
func (w *work) transactions() (string, error) {
	v, err := w.ask("txns", nil)
	if err != nil {
		return "", err
	}
	txns, _ := v.(hms.Struct)
	var ids []int64
	for _, field := range txns {
		list, _ := field.([]any) // of the open ones and the aborted: the only list
		for _, id := range list {
			n, _ := id.(int64)
			ids = append(ids, n)
		}
	}
	bits, _ := txns["abortedBits"].([]byte)
	return txnText(txns.Int("txn_high_water_mark"), txns.Int("min_open_txn"), ids, bits), nil
}

// mostOfRuns bounds the transactions that the runs of a list may stand for.
const mostOfRuns = 1 << 20

var runs = regexp.MustCompile(`[0-9]+-[0-9]+`)

// withoutRuns writes each number of the runs in a list of transactions (Hive 4
// writes 3-31; 3.1.3 closes the connection on it).
func withoutRuns(list string) (string, error) {
	var err error
	left := mostOfRuns
	out := runs.ReplaceAllStringFunc(list, func(r string) string {
		from, to, _ := strings.Cut(r, "-")
		a, err1 := strconv.ParseInt(from, 10, 64)
		b, err2 := strconv.ParseInt(to, 10, 64)
		if err = errors.Join(err, err1, err2); err != nil || b < a {
			return r
		}
		if n := b - a; n < 0 || n >= int64(left) {
			err = errors.New("the backend reads no runs of transactions, and these are too many to write out")
			return r
		}
		left -= int(b-a) + 1
		s := strconv.AppendInt(nil, a, 10)
		for id := a + 1; id <= b; id++ {
			s = strconv.AppendInt(append(s, ','), id, 10)
		}
		return string(s)
	})
	return out, err
}
