package session

import (
	"strings"
	"testing"

	"hmsgate/internal/wiretest"
)

// transports runs a test for raw and framed clients and backends.
func transports(t *testing.T, f func(t *testing.T, front, back bool)) {
	name := func(b bool) string {
		if b {
			return "framed"
		}
		return "raw"
	}
	for _, front := range [...]bool{false, true} {
		for _, back := range [...]bool{false, true} {
			t.Run(name(front)+" to "+name(back), func(t *testing.T) { f(t, front, back) })
		}
	}
}

func backendOf(t testing.TB, framed bool, scripts ...[]wiretest.Step) *wiretest.Backend {
	if framed {
		return wiretest.NewFramedBackend(t, scripts...)
	}
	return wiretest.NewBackend(t, scripts...)
}

// Calls and results that many tests use.
func getTable(seq int32, db, name string) []byte {
	return wiretest.Call("get_table", seq, wiretest.Struct(nil).String(1, db).String(2, name).Stop())
}

func dropTable(seq int32, db, name string) []byte {
	return wiretest.Call("drop_table", seq, wiretest.Struct(nil).String(1, db).String(2, name).Bool(3, true).Stop())
}

func dropDatabase(seq int32, db string) []byte {
	return wiretest.Call("drop_database", seq, wiretest.Struct(nil).String(1, db).Bool(2, true).Bool(3, false).Stop())
}

func byExpr(seq int32, db string) []byte {
	req := wiretest.Struct(nil).String(1, db).String(2, "t").String(3, "expr").Stop()
	return wiretest.Call("get_partitions_by_expr", seq, wiretest.Struct(nil).Struct(1, req).Stop())
}

func tableResult(db, name string) []byte {
	return wiretest.Struct(nil).Struct(0, wiretest.Struct(nil).String(1, name).String(2, db).Stop()).Stop()
}

var void = wiretest.Struct(nil).Stop()

// bigAlter is a write of more than two windows whose routing names come first:
// alter_partitions(db_name, tbl_name, new_parts).
func bigAlter(seq int32, db, lateDB string, size int) []byte {
	value := strings.Repeat("x", 1000)
	var parts [][]byte
	for n := 0; n < size; n += 1050 {
		parts = append(parts, wiretest.Struct(nil).Strings(1, value).String(2, db).String(3, "t").Stop())
	}
	parts = append(parts, wiretest.Struct(nil).Strings(1, "last").String(2, lateDB).String(3, "t").Stop())
	return wiretest.Call("alter_partitions", seq,
		wiretest.Struct(nil).String(1, db).String(2, "t").List(3, wiretest.WireStruct, parts...).Stop())
}
