package session

import (
	"strings"
	"testing"

	"hmsgate/frame"
	"hmsgate/internal/wiretest"
)

var emptyNames = wiretest.Struct(nil).List(0, wiretest.WireString).Stop()

func logged(r *rig) { r.env.LogCalls = true }

// A backend that does not know a method: clients get the empty answer, and it
// is counted as what it is.
func TestFallback(t *testing.T) {
	transports(t, func(t *testing.T, front, back bool) {
		b := backendOf(t, back, wiretest.Script(
			wiretest.Expect("get_role_names"), wiretest.Throw(1, "Invalid method name: 'get_role_names'"),
			wiretest.Expect("get_role_names"), wiretest.Throw(1, "Invalid method name: 'get_role_names'"),
			wiretest.ExpectClose()))
		r := newRig(t, table(t, b.Addr()), back, logged)
		c := r.dial(front)
		for seq := int32(1); seq <= 2; seq++ {
			c.send(wiretest.Call("get_role_names", seq, void))
			c.wantReply(wiretest.Reply("get_role_names", seq, emptyNames))
		}
		wiretest.Until(t, "two calls counted as fallback", func() bool {
			return strings.Count(r.log.String(),
				`"status":"fallback"`) == 2
		})
	})
}

// Anything else that goes wrong is not answered so.
func TestNoFallback(t *testing.T) {
	for _, c := range []struct {
		name string
		step wiretest.Step
		want []byte
	}{
		{"another fault", wiretest.Throw(6, "broken"), wiretest.Exception("get_role_names", 1, 6, "broken")},
		{"a declared exception", wiretest.Answer(thrownMeta), wiretest.Reply("get_role_names", 1, thrownMeta)},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := backendOf(t, false, wiretest.Script(wiretest.Expect("get_role_names"), c.step, wiretest.ExpectClose()))
			cl := newRig(t, table(t, b.Addr()), false).dial(false)
			cl.send(wiretest.Call("get_role_names", 1, void))
			cl.wantReply(c.want)
		})
	}
	t.Run("no answer", func(t *testing.T) {
		hangUp := wiretest.Script(wiretest.Expect("get_role_names"), wiretest.Close())
		b := backendOf(t, false, hangUp, hangUp)
		cl := newRig(t, table(t, b.Addr()), false).dial(false)
		cl.send(wiretest.Call("get_role_names", 1, void))
		cl.wantFault("get_role_names", 1, frame.InternalError, "closed the connection without an answer")
	})
}

var thrownMeta = wiretest.Struct(nil).Struct(1, wiretest.Struct(nil).String(1, "no").Stop()).Stop()

// What only asks whether there is something to do takes any exception for no.
func TestFallbackOfWorkloadReads(t *testing.T) {
	plans := wiretest.Struct(nil).Struct(0, wiretest.Struct(nil).List(1, wiretest.WireStruct).Stop()).Stop()
	for _, step := range []wiretest.Step{wiretest.Throw(6, "broken"), wiretest.Answer(thrownMeta), wiretest.Throw(1,
		"unknown")} {
		b := backendOf(t, false, wiretest.Script(wiretest.Expect("get_all_resource_plans"), step, wiretest.ExpectClose()))
		c := newRig(t, table(t, b.Addr()), false).dial(false)
		c.send(wiretest.Call("get_all_resource_plans", 1, void))
		c.wantReply(wiretest.Reply("get_all_resource_plans", 1, plans))
	}
}

// A backend that lacks what its version has: the call goes through its bridge
// at once, later ones without asking, and what was learned is forgotten when
// the backend becomes another.
func TestBridgeAfterUnknownMethod(t *testing.T) {
	transports(t, func(t *testing.T, front, back bool) {
		wrapped := wiretest.Struct(nil).Struct(0, wiretest.Struct(nil).Struct(1,
			wiretest.Struct(nil).String(1, "t").String(2, "sales").Stop()).Stop()).Stop()
		b := backendOf(t, back, wiretest.Script(
			wiretest.Expect("get_table"), wiretest.Throw(1, "Invalid method name: 'get_table'"),
			wiretest.Expect("get_table_req"), wiretest.Answer(wrapped),
			wiretest.Expect("get_table_req"), wiretest.Answer(wrapped),
			wiretest.Expect("get_table"), wiretest.Answer(tableResult("sales", "t")), wiretest.ExpectClose()))
		tab := table(t, b.Addr())
		c := newRig(t, tab, back).dial(front)
		for seq := int32(1); seq <= 3; seq++ {
			if seq == 3 {
				u := tab.Default().Backend().URIs()[0]
				u.SetProfile("apache-2.3.10")
				u.SetProfile("apache-3.1.3")
			}
			c.send(getTable(seq, "sales", "t"))
			c.wantReply(wiretest.Reply("get_table", seq, tableResult("sales", "t")))
		}
	})
}
