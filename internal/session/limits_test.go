package session

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"hmsgate/frame"
	"hmsgate/internal/wiretest"
)

// served is a metastore that gives the same result to all calls.
func served(t *testing.T, framed bool, result []byte) *wiretest.Backend {
	return backendOf(t, framed).Others(wiretest.Serve(func(m wiretest.Message) []byte {
		return wiretest.Reply(m.Method, m.Seq, result)
	}))
}

func received(b *wiretest.Backend, method string) (n int) {
	for _, m := range b.Calls() {
		if m.Method == method {
			n++
		}
	}
	return n
}

// A reply that breaks a limit of ours is refused by that limit's name: it is no
// lost reply, so no read is repeated and no backend blamed.
func TestReplyTooLarge(t *testing.T) {
	const limit = 100 << 10
	big := wiretest.Struct(nil).String(9, strings.Repeat("x", 3*limit)).Stop()
	transports(t, func(t *testing.T, front, back bool) {
		b := served(t, back, big)
		r := newRig(t, table(t, b.Addr()), back, func(r *rig) { r.env.Limits.Reply = limit })
		c := r.dial(front)
		for i, call := range [][]byte{getTable(2, "sales", "t"), dropTable(3, "sales", "t")} {
			m := c.call(call)
			for _, want := range []string{"limits.reply-bytes", "102400"} {
				if !strings.Contains(string(m.Bytes), want) {
					t.Errorf("%s: answer %q has no %q", m.Method, m.Bytes, want)
				}
			}
			if outcome := strings.Contains(string(m.Bytes), "outcome unknown"); outcome != (i == 1) {
				t.Errorf("%s: %q says that the outcome is unknown: %v", m.Method, m.Bytes, outcome)
			}
			if n := received(b, m.Method); n != 1 {
				t.Errorf("%s was asked %d times", m.Method, n)
			}
		}
		if strings.Contains(r.log.String(), "no answer") {
			t.Errorf("the backend is blamed:\n%s", r.log)
		}
	})
}

// A call longer than a frame may be is refused before a byte of it is sent.
func TestCallLargerThanItsFrame(t *testing.T) {
	b := served(t, true, void)
	r := newRig(t, table(t, b.Addr()), true, func(r *rig) { r.env.Limits.Frame = 50 << 10 })
	c := r.dial(false)
	if m := c.call(bigAlter(2, "sales", "sales", 200<<10)); !strings.Contains(string(m.Bytes), "limits.frame-bytes") {
		t.Errorf("answer %q, want a refusal", m.Bytes)
	}
	if m := c.call(dropTable(3, "sales", "t")); m.Type != byte(frame.Reply) {
		t.Errorf("the next call: %q", m.Bytes)
	}
	if n := received(b, "alter_table"); n != 0 {
		t.Errorf("the backend got %d of it", n)
	}
}

// A few bytes that claim to be many hold no memory for what has not come.
func TestClaimedLengthHoldsNothing(t *testing.T) {
	r := newRig(t, table(t, served(t, false, void).Addr()), false)
	c := r.dial(false)
	msg := append(wiretest.Call("create_table", 1, nil), 12, 0, 1, 12, 0, 16, 11, 0, 5, 0, 0xff, 0xff, 0xff) // Table.creationMetadata.validTxnList
	c.send(append(msg, make([]byte, 100<<10)...))
	wiretest.Until(t, "part of the value held", func() bool { return r.budget.Used() > 0 })
	if got := r.budget.Used(); got > 1<<20 {
		t.Errorf("%d bytes of limits.held-total for the 100 KB that came", got)
	}
}

// A metastore that refuses the client's identity does not get its calls.
func TestIdentityRefused(t *testing.T) {
	refusal := wiretest.Struct(nil).Struct(1, wiretest.Struct(nil).String(1, "no such user").Stop()).Stop()
	b := backendOf(t, false).Others(wiretest.Serve(func(m wiretest.Message) []byte {
		if m.Method == "set_ugi" {
			return wiretest.Reply(m.Method, m.Seq, refusal)
		}
		return wiretest.Reply(m.Method, m.Seq, void)
	}))
	r := newRig(t, table(t, b.Addr()), false)
	r.env.methods["set_ugi"].answer = func(c *Call) error {
		c.Preamble(true, nil)
		c.Reply(func(dst []byte) []byte { return append(dst, frame.Stop) })
		return nil
	}
	c := r.dial(false)
	c.call(wiretest.Call("set_ugi", 1, wiretest.Struct(nil).String(1, "alice").Stop()))
	if m := c.call(dropTable(2, "sales", "t")); m.Type != byte(frame.Exception) {
		t.Errorf("answer %q, want a fault", m.Bytes)
	}
	if n := received(b, "drop_table"); n != 0 {
		t.Error("a write was executed as somebody else")
	}
	if !strings.Contains(r.log.String(), errIdentity.Error()) {
		t.Errorf("the reason is not in the log:\n%s", r.log)
	}
}

// A client that leaves in the middle of a reply is no fault of the backend's.
func TestClientLeavesMidReply(t *testing.T) {
	big := wiretest.Struct(nil).String(9, strings.Repeat("x", 32<<20)).Stop()
	b := backendOf(t, true).Others(wiretest.Expect("get_table"), wiretest.AnswerUnread(big))
	r := newRig(t, table(t, b.Addr()), true, func(r *rig) { r.env.Limits.Frame, r.env.LogCalls = 64<<20, true })
	c := r.dial(false)
	c.send(getTable(2, "sales", "t"))
	if _, err := io.ReadFull(c.Conn, make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	c.reset()
	wiretest.Until(t, "the session's end", func() bool { return r.clients() == 0 })
	if log := r.log.String(); strings.Contains(log, "more than a reply") || strings.Contains(log, `"status":"ok"`) {
		t.Errorf("log:\n%s", log)
	}
}

// What a client sets again and again is remembered once, in the order in which
// it was last said.
func TestPreambleIsBounded(t *testing.T) {
	b := served(t, false, void)
	r := newRig(t, table(t, b.Addr()), false)
	set := func(seq int32, v string) []byte {
		return wiretest.Call("setMetaConf", seq, wiretest.Struct(nil).String(1, "key").String(2, v).Stop())
	}
	r.env.methods["setMetaConf"].answer = func(c *Call) error {
		if !c.Preamble(false, nil) {
			return errors.New("told too much")
		}
		c.Reply(func(dst []byte) []byte { return append(dst, frame.Stop) })
		return nil
	}
	c := r.dial(false)
	for i := range int32(2000) {
		c.call(set(i, []string{"a", strings.Repeat("b", 100)}[i%2]))
	}
	c.call(set(2000, "a"))
	c.call(getTable(2001, "sales", "t"))
	var told []string
	for _, m := range b.Calls() {
		told = append(told, fmt.Sprintf("%s %d", m.Method, m.Seq))
	}
	if want := []string{"setMetaConf 1999", "setMetaConf 2000", "get_table 2001"}; !slices.Equal(told, want) {
		t.Errorf("the backend heard %q, want %q", told, want)
	}
	c.call(set(2002, strings.Repeat("b", 100)))
	c.call(getTable(2003, "sales", "t"))
	if calls := b.Calls(); len(calls) != 5 || calls[3].Seq != 2002 {
		t.Errorf("after one more setting the backend has had %d calls, want 5", len(calls))
	}
}
