package gateway

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"hmsgate/internal/hms"
	"hmsgate/internal/wiretest"
)

// programRig is a 4.1.0 client before a metastore of 3.1.3 whose answers to
// the calls of a program are made here.
type programRig struct {
	*hms.Client
	mu    sync.Mutex
	heard []string
}

// newProgramRig: answer gives the reply to the n-th call of a method, counting
// from 1; nil closes the connection.
func newProgramRig(t *testing.T, framed bool, answer func(m wiretest.Message, n int) []byte) *programRig {
	t.Helper()
	r, seen, transport := &programRig{}, map[string]int{}, "raw"
	serve := wiretest.NewBackend
	if framed {
		serve, transport = wiretest.NewFramedBackend, "framed"
	}
	b := serve(t).Others(wiretest.Serve(func(m wiretest.Message) []byte {
		r.mu.Lock()
		defer r.mu.Unlock()
		if strings.HasPrefix(m.Method, "getVersion") || m.Method == "getStatus" {
			return wiretest.Reply(m.Method, m.Seq, wiretest.Struct(nil).String(0, "3.0").Stop())
		}
		seen[m.Method]++
		r.heard = append(r.heard, m.Method)
		return answer(m, seen[m.Method])
	}))
	g := sweepGateway(t, fmt.Sprintf("listen: 127.0.0.1:0\nrouting.default-catalog: hdp\ncatalog:\n"+
		"  hdp: {uris: thrift://%s, runtime-profile: apache-3.1.3, transport: %s}\n", b.Addr(), transport), nil)
	r.Client = sweepDial(t, g.Addr().String(), sweepLoad(t, "apache-4.1.0"), framed)
	return r
}

var constraintsOf = hms.Struct{"request": hms.Struct{"dbName": "w", "tblName": "t", "catName": "hive"}}

// noConstraints is the answer to each of the six reads.
func noConstraints(m wiretest.Message) []byte {
	return wiretest.Reply(m.Method, m.Seq, wiretest.Struct(nil).Struct(0, wiretest.Struct(nil).List(1, wiretest.WireStruct).Stop()).Stop())
}

// A read whose backend hangs up in the middle is begun once more, from its
// beginning; a second time the client is told.
func TestProgramIsBegunOnceMore(t *testing.T) {
	for _, framed := range []bool{false, true} {
		for closes, want := range map[int]string{1: "", 2: "application exception 6: catalog 'hdp' closed the connection without an answer"} {
			r := newProgramRig(t, framed, func(m wiretest.Message, n int) []byte {
				if m.Method == "get_not_null_constraints" && n <= closes {
					return nil
				}
				return noConstraints(m)
			})
			_, err := r.Call(t.Context(), "get_all_table_constraints", constraintsOf)
			if got := fmt.Sprint(err); want == "" && err != nil || !strings.Contains(got, want) {
				t.Errorf("closed %d times: got %v, want %q", closes, err, want)
			}
		}
	}
}

// The metastore that answers then may be of another version: the call goes the
// way that leads there.
func TestProgramIsBegunAtAnotherVersion(t *testing.T) {
	said := func(m wiretest.Message, version string) []byte {
		switch m.Method {
		case "getVersion", "getStatus", "get_catalogs":
			return wiretest.Reply(m.Method, m.Seq, wiretest.Struct(nil).String(0, version).Stop())
		case "get_all_materialized_view_objects_for_rewriting":
			return wiretest.Exception(m.Method, m.Seq, 1, "Invalid method name")
		}
		return nil
	}
	var old *wiretest.Backend
	old = wiretest.NewBackend(t).Others(wiretest.Serve(func(m wiretest.Message) []byte {
		if b := said(m, "3.0"); b != nil {
			return b
		}
		if m.Method == "get_not_null_constraints" {
			old.Refuse()
			return nil
		}
		return noConstraints(m)
	}))
	young := wiretest.NewBackend(t).Others(wiretest.Serve(func(m wiretest.Message) []byte {
		if b := said(m, "4.1.0"); b != nil {
			return b
		}
		return wiretest.Reply(m.Method, m.Seq, wiretest.Struct(nil).Struct(0, wiretest.Struct(nil).Struct(1, []byte{wiretest.WireStop}).Stop()).Stop())
	}))
	g := sweepGateway(t, fmt.Sprintf("listen: 127.0.0.1:0\nrouting.default-catalog: hdp\ncatalog:\n"+
		"  hdp: {uris: [thrift://%s, thrift://%s]}\n", old.Addr(), young.Addr()), nil)
	c := sweepDial(t, g.Addr().String(), sweepLoad(t, "apache-4.1.0"), false)
	if _, err := c.Call(t.Context(), "get_all_table_constraints", constraintsOf); err != nil {
		t.Error(err)
	}
	var heard []string
	for _, m := range young.Calls() {
		if said(m, "") == nil {
			heard = append(heard, m.Method)
		}
	}
	if want := []string{"get_all_table_constraints"}; !slices.Equal(heard, want) {
		t.Errorf("the other metastore heard %q, want %q", heard, want)
	}
}

// A write whose backend hangs up is not begun again: its outcome is unknown.
func TestProgramThatWritesIsNotBegunAgain(t *testing.T) {
	r := newProgramRig(t, false, func(m wiretest.Message, _ int) []byte {
		if m.Method == "get_table_req" {
			table := wiretest.Struct(nil).String(1, "t").String(2, "w").Stop()
			return wiretest.Reply(m.Method, m.Seq, wiretest.Struct(nil).Struct(0, wiretest.Struct(nil).Struct(1, table).Stop()).Stop())
		}
		return nil
	})
	_, err := r.Call(t.Context(), "delete_column_statistics_req", hms.Struct{"req": hms.Struct{
		"db_name": "w", "tbl_name": "t", "col_names": []string{"a", "b"}}})
	var x *hms.Exception
	if !errors.As(err, &x) || x.Type != "MetaException" || !strings.Contains(x.Message, "outcome unknown") {
		t.Errorf("got %v, want a MetaException: outcome unknown", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if got := strings.Join(r.heard, " "); strings.Count(got, "delete_table_column_statistics") != 1 {
		t.Errorf("the metastore heard %s, want one deletion", got)
	}
}

// What a backend throws reaches the client under a type that its method
// declares; faults as faults.
func TestProgramThrows(t *testing.T) {
	thrown := func(id int16) func(m wiretest.Message, n int) []byte {
		return func(m wiretest.Message, _ int) []byte {
			return wiretest.Reply(m.Method, m.Seq, wiretest.Struct(nil).Struct(id, wiretest.Struct(nil).String(1, "of hive.w").Stop()).Stop())
		}
	}
	for _, c := range []struct {
		method string
		args   hms.Struct
		answer func(m wiretest.Message, n int) []byte
		want   string
	}{
		{"get_all_table_constraints", constraintsOf, thrown(2), "NoSuchObjectException: of hive.w"},
		{"get_partitions_with_specs", hms.Struct{"request": hms.Struct{"dbName": "w", "tblName": "t", "projectionSpec": hms.Struct{},
			"filterSpec": hms.Struct{}}}, thrown(1), "MetaException: of hive.w"}, // NoSuchObjectException is not declared
		{"get_all_table_constraints", constraintsOf, func(m wiretest.Message, _ int) []byte {
			return wiretest.Exception(m.Method, m.Seq, 6, "broken")
		}, "application exception 6: broken"},
		{"get_all_table_constraints", constraintsOf, func(m wiretest.Message, _ int) []byte {
			return wiretest.Reply(m.Method, m.Seq, wiretest.Struct(nil).String(0, "no struct").Stop())
		}, "application exception 5: get_check_constraints failed: unknown result"},
	} {
		r := newProgramRig(t, false, c.answer)
		_, err := r.Call(t.Context(), c.method, c.args)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.method, err, c.want)
		}
		if _, err := r.Call(t.Context(), "getStatus", nil); err != nil {
			t.Errorf("%s: the client's connection is of no more use: %v", c.method, err)
		}
	}
}
