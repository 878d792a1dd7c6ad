package session

import (
	"strings"
	"testing"
	"time"

	"hmsgate/internal/wiretest"
)

// impatient makes every limit on idle connections many times shorter than the
// calls of the test.
func impatient(r *rig) {
	r.opt.Idle = 200 * time.Millisecond
	r.env.stale, r.env.keep = 10*time.Millisecond, 100*time.Millisecond
}

// L49 (openmetadata 7359: get_partitions_by_names took 125 s): no limit on idle
// connections ends a call that is being worked on, or its reply.
func TestSlowCallIsNotIdle(t *testing.T) {
	t.Parallel()
	transports(t, func(t *testing.T, front, back bool) {
		t.Parallel()
		result := tableResult("sales", strings.Repeat("x", 100<<10))
		begun := wiretest.NewGate()
		done := wiretest.NewGate()
		whole := wiretest.Reply("get_table", 7, result)
		if back {
			whole = wiretest.Framed(whole)
		}
		b := backendOf(t, back, wiretest.Script(wiretest.Expect("get_table"), wiretest.Stall(begun),
			wiretest.Send(whole[:50<<10]), wiretest.Stall(done), wiretest.Send(whole[50<<10:]), wiretest.ExpectClose()))
		r := newRig(t, table(t, b.Addr()), back, impatient)
		c := r.dial(front)
		c.send(getTable(7, "sales", "t"))
		time.AfterFunc(2500*time.Millisecond, begun.Open) // beyond the look at the caller
		time.AfterFunc(4600*time.Millisecond, done.Open)
		c.wantReply(wiretest.Reply("get_table", 7, result))
	})
}

// L48 (circus-train 166: 40,000 partitions in one add_partitions): a metastore
// that takes a long call slowly has as long for it as the call may take.
func TestBackendThatReadsSlowly(t *testing.T) {
	t.Parallel()
	call := bigAlter(7, "sales", "sales", 12<<20)
	gate := wiretest.NewGate()
	b := backendOf(t, false, wiretest.Script(wiretest.Stall(gate), wiretest.ExpectBytes(call), wiretest.Answer(void), wiretest.ExpectClose()))
	r := newRig(t, table(t, b.Addr()), false, impatient)
	c := r.dial(false)
	time.AfterFunc(5*time.Second, gate.Open)
	c.send(call)
	c.wantReply(wiretest.Reply("alter_partitions", 7, void))
}
