package wiretest_test

import (
	"bytes"
	"io"
	"net"
	"testing"

	"hmsgate/internal/wiretest"
)

func TestMain(m *testing.M) { wiretest.CheckLeaks(m) }

// A backend that answers one call, stalls in the next one until the test has
// seen it there, and then breaks off in the middle of its reply.
func TestScriptedBackend(t *testing.T) {
	wiretest.NoLeaks(t)
	result := wiretest.Struct(nil).Strings(0, "a", "b").Stop()
	gate := wiretest.NewGate()
	b := wiretest.NewBackend(t, wiretest.Script(
		wiretest.Expect("get_all_databases"), wiretest.Answer(result),
		wiretest.Expect("get_all_databases"), wiretest.Stall(gate), wiretest.AnswerPart(result, 10), wiretest.Close(),
	))

	c, err := net.Dial("tcp", b.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	call := wiretest.Call("get_all_databases", 7, wiretest.Struct(nil).Stop())
	want := wiretest.Reply("get_all_databases", 7, result)
	if _, err := c.Write(call); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(want))
	if _, err := io.ReadFull(c, got); err != nil || !bytes.Equal(got, want) {
		t.Fatalf("first reply: got % x, %v\nwant % x", got, err, want)
	}
	if _, err := c.Write(call); err != nil {
		t.Fatal(err)
	}
	<-gate.Reached()
	gate.Open()
	rest, err := io.ReadAll(c)
	if err != nil || !bytes.Equal(rest, want[:10]) {
		t.Errorf("second reply: got % x, %v\nwant % x", rest, err, want[:10])
	}
	if n := len(b.Calls()); n != 2 {
		t.Errorf("got %d whole calls, want 2", n)
	}
}
