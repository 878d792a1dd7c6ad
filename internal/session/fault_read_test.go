package session

import (
	"errors"
	"io"
	"os"
	"testing"
	"time"

	"hmsgate/frame"
	"hmsgate/internal/wiretest"
	"hmsgate/profiles"
)

// Each test here is a row of the fault table for calls that only read.

// breaks are the ways in which a connection ends.
var breaks = []struct {
	name string
	step func() wiretest.Step
}{{"closed", wiretest.Close}, {"reset", wiretest.Reset}}

func TestReadLostBeforeItsFirstReplyByteIsReplayedOnce(t *testing.T) {
	call, result := getTable(7, "sales", "t"), tableResult("sales", "t")
	reply := wiretest.Reply("get_table", 7, result)
	transports(t, func(t *testing.T, front, back bool) {
		for _, br := range breaks {
			t.Run(br.name, func(t *testing.T) {
				size := len(reply)
				if back {
					size += 4
				}
				var scripts [][]wiretest.Step
				for n := 0; n < size; n++ {
					scripts = append(scripts,
						wiretest.Script(wiretest.ExpectBytes(call), wiretest.AnswerPart(result, n), br.step()),
						wiretest.Script(wiretest.ExpectBytes(call), wiretest.Answer(result), wiretest.ExpectClose()))
				}
				b := backendOf(t, back, scripts...)
				r := newRig(t, table(t, b.Addr()), back)
				for n := 0; n < size; n++ {
					c := r.dial(front)
					c.send(call)
					c.wantReply(reply)
					c.Close()
					if t.Failed() {
						t.Fatalf("reply cut after %d of %d bytes", n, size)
					}
					wiretest.Until(t, "the client's session to end", func() bool { return r.clients() == 0 })
				}
				if got, want := b.Accepted(), 2*size; got != want {
					t.Errorf("got %d backend connections, want %d", got, want)
				}
			})
		}
	})
}

func TestReadLostTwiceIsAnErrorThatClientsReplay(t *testing.T) {
	transports(t, func(t *testing.T, front, back bool) {
		call := getTable(7, "sales", "t")
		b := backendOf(t, back,
			wiretest.Script(wiretest.ExpectBytes(call), wiretest.Close()),
			wiretest.Script(wiretest.ExpectBytes(call), wiretest.Close()),
			wiretest.Script(wiretest.ExpectBytes(call), wiretest.Answer(tableResult("sales", "t")), wiretest.ExpectClose()))
		r := newRig(t, table(t, b.Addr()), back)
		c := r.dial(front)
		c.send(call)
		c.wantFault("get_table", 7, frame.InternalError, "'hdp'")
		c.send(call) // the connection stays
		c.wantReply(wiretest.Reply("get_table", 7, tableResult("sales", "t")))
	})
}

// A backend that closes without a word, and is well, closed over this call:
// that is how 3.1.3 reports a RuntimeException. The client sees the same.
func TestBackendClosedOverACallIsMirrored(t *testing.T) {
	transports(t, func(t *testing.T, front, back bool) {
		call := getTable(7, "sales", "t")
		b := backendOf(t, back).Others(wiretest.Expect("get_table"), wiretest.Close())
		r := newRig(t, table(t, b.Addr()), back, func(r *rig) { r.alive.Store(1) })
		c := r.dial(front)
		c.send(call)
		c.wantClosed()
		if n := len(b.Calls()); n != 2 {
			t.Errorf("backend got %d calls, want 2", n)
		}
		if n := r.asked.Load(); n != 1 {
			t.Errorf("backend was asked %d times whether it is well, want once", n)
		}
		for _, u := range r.env.Table.Default().Backend().URIs() {
			if !u.FailedAt().IsZero() {
				t.Error("the metastore counts as failed")
			}
		}
	})
}

// A partition expression can end a server: it is sent once.
func TestReadWithPartitionExpressionIsNeverReplayed(t *testing.T) {
	transports(t, func(t *testing.T, front, back bool) {
		for _, alive := range [...]int64{0, 1} {
			b := backendOf(t, back, wiretest.Script(wiretest.Expect("get_partitions_by_expr"), wiretest.Close()))
			r := newRig(t, table(t, b.Addr()), back, func(r *rig) { r.alive.Store(alive) })
			c := r.dial(front)
			c.send(byExpr(3, "sales"))
			if alive > 0 {
				c.wantClosed()
			} else {
				c.wantFault("get_partitions_by_expr", 3, frame.InternalError, "without an answer")
			}
			if n := len(b.Calls()); n != 1 {
				t.Errorf("backend got %d calls, want 1", n)
			}
		}
	})
}

// A read whose reply is not its own is lost like any other.
func TestReplyThatIsNotTheCallsIsNotForwarded(t *testing.T) {
	ok := tableResult("sales", "t")
	call := getTable(7, "sales", "t")
	wrong := map[string][]byte{
		"sequence id":  wiretest.Reply("get_table", 8, ok),
		"method":       wiretest.Reply("get_tables", 7, ok),
		"type call":    wiretest.Envelope("get_table", wiretest.TypeCall, 7, ok),
		"type oneway":  wiretest.Envelope("get_table", wiretest.TypeOneway, 7, ok),
		"no Thrift":    []byte("HTTP/1.1 400 Bad Request\r\n\r\n"),
		"unknown type": wiretest.Reply("get_table", 7, []byte{99, 0, 0, 1, 0}),
	}
	for name, bytes := range wrong {
		t.Run(name, func(t *testing.T) {
			transports(t, func(t *testing.T, front, back bool) {
				if back {
					bytes = wiretest.Framed(bytes)
				}
				b := backendOf(t, back,
					wiretest.Script(wiretest.ExpectBytes(call), wiretest.Send(bytes), wiretest.ExpectClose()),
					wiretest.Script(wiretest.ExpectBytes(call), wiretest.Answer(ok), wiretest.ExpectClose()))
				r := newRig(t, table(t, b.Addr()), back)
				c := r.dial(front)
				c.send(call)
				c.wantReply(wiretest.Reply("get_table", 7, ok))
			})
		})
	}
}

func TestBackendThatSendsMoreThanAReplyIsClosed(t *testing.T) {
	transports(t, func(t *testing.T, front, back bool) {
		ok := tableResult("sales", "t")
		reply := wiretest.Reply("get_table", 7, ok)
		twice := append(append([]byte{}, reply...), reply...)
		if back {
			twice = append(wiretest.Framed(reply), wiretest.Framed(reply)...)
		}
		b := backendOf(t, back,
			wiretest.Script(wiretest.Expect("get_table"), wiretest.Send(twice), wiretest.ExpectClose()),
			wiretest.Script(wiretest.Expect("get_table"), wiretest.Answer(tableResult("sales", "u")), wiretest.ExpectClose()))
		r := newRig(t, table(t, b.Addr()), back)
		c := r.dial(front)
		c.send(getTable(7, "sales", "t"))
		c.wantReply(reply)
		c.send(getTable(7, "sales", "u"))
		c.wantReply(wiretest.Reply("get_table", 7, tableResult("sales", "u")))
	})
}

// A frame that is longer than its message is no better than two messages.
func TestBackendWhoseFrameIsLongerThanItsReplyIsClosed(t *testing.T) {
	reply := wiretest.Reply("get_table", 7, tableResult("sales", "t"))
	long := wiretest.Framed(append(append([]byte{}, reply...), make([]byte, 100)...))
	b := backendOf(t, true,
		wiretest.Script(wiretest.Expect("get_table"), wiretest.Send(long[:len(long)-100]), wiretest.ExpectClose()),
		wiretest.Script(wiretest.Expect("get_table"), wiretest.Answer(tableResult("sales", "t")), wiretest.ExpectClose()))
	r := newRig(t, table(t, b.Addr()), true)
	c := r.dial(false)
	for range 2 {
		c.send(getTable(7, "sales", "t"))
		c.wantReply(reply)
	}
}

func TestUnknownMethodIsAnAnswerLikeAnyOther(t *testing.T) {
	transports(t, func(t *testing.T, front, back bool) {
		method := beyond(t, "apache-3.1.3")
		text := "Invalid method name: '" + method + "'"
		b := backendOf(t, back, wiretest.Script(
			wiretest.Expect(method), wiretest.Throw(1, text),
			wiretest.Expect(method), wiretest.Throw(1, text), wiretest.ExpectClose()))
		r := newRig(t, table(t, b.Addr()), back)
		c := r.dial(front)
		for seq := int32(1); seq <= 2; seq++ {
			c.send(wiretest.Call(method, seq, void))
			c.wantReply(wiretest.Exception(method, seq, 1, text))
		}
	})
}

// beyond is a read in whose place nothing is done when the backend does not
// know it.
func beyond(t *testing.T, label string) string {
	t.Helper()
	v, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	p, err := v.plans(label, profiles.Unsure)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range p.List() {
		if !m.Missing && m.Bridge == nil && m.Fallback == nil && m.Answer == "" && m.Class == profiles.Read && !m.Expr {
			return m.Method
		}
	}
	t.Fatalf("%s: something is done for every method", label)
	return ""
}

// A call that the gateway answers in the end does not cost its backend
// connection.
func TestConnectionDialledForACallAnsweredHereIsKept(t *testing.T) {
	b := backendOf(t, false, wiretest.Script(wiretest.Expect("get_table"), wiretest.Answer(tableResult("sales", "t")), wiretest.ExpectClose()))
	r := newRig(t, table(t, b.Addr()), false)
	c := r.dial(false)
	c.call(wiretest.Call("get_dataconnector_req", 1, void))
	c.send(getTable(2, "sales", "t"))
	c.wantReply(wiretest.Reply("get_table", 2, tableResult("sales", "t")))
}

// A method that no inventory has goes to the default catalog.
func TestMethodOfNoInventoryGetsTheBackendsOwnAnswer(t *testing.T) {
	transports(t, func(t *testing.T, front, back bool) {
		text := "Invalid method name: 'get_table_foo'"
		call := wiretest.Call("get_table_foo", 4, wiretest.Struct(nil).String(1, "sales").String(2, "t").Stop())
		b := backendOf(t, back, wiretest.Script(wiretest.ExpectBytes(call), wiretest.Throw(1, text), wiretest.ExpectClose()))
		r := newRig(t, table(t, b.Addr(), refused(t)), back)
		c := r.dial(front)
		c.send(call)
		c.wantReply(wiretest.Exception("get_table_foo", 4, 1, text))
		c.send(wiretest.Call("get_table_foo", 5, wiretest.Struct(nil).String(1, "apache__sales").Stop()))
		c.wantReply(wiretest.Exception("get_table_foo", 5, 1, text))
	})
}

func TestDeclaredExceptionPassesByteForByte(t *testing.T) {
	transports(t, func(t *testing.T, front, back bool) {
		result := wiretest.Struct(nil).Struct(1, wiretest.Struct(nil).String(1, "Database sales of hdp, apache__sales").Stop()).Stop()
		b := backendOf(t, back, wiretest.Script(
			wiretest.Expect("create_table_with_environment_context"), wiretest.Answer(result), wiretest.ExpectClose()))
		r := newRig(t, table(t, refused(t), b.Addr()), back)
		c := r.dial(front)
		tbl := wiretest.Struct(nil).String(1, "t").String(2, "apache__sales").Stop()
		c.send(wiretest.Call("create_table_with_environment_context", 9, wiretest.Struct(nil).Struct(1, tbl).Stop()))
		c.wantReply(wiretest.Reply("create_table_with_environment_context", 9, result))
	})
}

// A call that outlives its limit: the client's next call must not read a late
// reply as its own.
func TestCallThatOutlivesItsLimitClosesTheClient(t *testing.T) {
	transports(t, func(t *testing.T, front, back bool) {
		for name, cut := range map[string]int{"silence": 0, "half a reply": 20} {
			t.Run(name, func(t *testing.T) {
				gate := wiretest.NewGate()
				b := backendOf(t, back,
					wiretest.Script(wiretest.Expect("get_table"), wiretest.AnswerPart(tableResult("sales", "t"), cut), wiretest.ExpectClose()),
					wiretest.Script(wiretest.Expect("drop_table"), wiretest.AnswerPart(void, cut), wiretest.ExpectClose()))
				gate.Open()
				r := newRig(t, table(t, b.Addr()), back, func(r *rig) { r.env.Targets[0].Timeout = 80 * time.Millisecond })
				c := r.dial(front)
				c.send(getTable(7, "sales", "t"))
				c.wantFault("get_table", 7, frame.InternalError, "within 80ms")
				c.wantClosed()
				w := r.dial(front)
				w.send(dropTable(8, "sales", "t"))
				w.wantThrown("drop_table", 8, 2, "outcome unknown")
				w.wantClosed()
				if n := len(b.Calls()); n != 2 {
					t.Errorf("backend got %d calls, want 2", n)
				}
			})
		}
	})
}

// A caller that leaves frees its backend connection although the backend is
// silent.
func TestDepartedCallerFreesItsBackendConnection(t *testing.T) {
	leave := map[string]func(c *client){
		"closed": func(c *client) { c.Close() },
		"reset":  (*client).reset,
		"closed with bytes on the way": func(c *client) {
			c.send(getTable(8, "sales", "t"))
			c.Close()
		},
	}
	for name, f := range leave {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gate := wiretest.NewGate()
			gate.Open()
			b := backendOf(t, false, wiretest.Script(wiretest.Expect("get_table"), wiretest.Stall(gate), wiretest.ExpectClose()))
			r := newRig(t, table(t, b.Addr()), false)
			c := r.dial(false)
			c.send(getTable(7, "sales", "t"))
			<-gate.Reached()
			began := time.Now()
			f(c)
			wiretest.Until(t, "the session to end", func() bool { return r.clients() == 0 })
			if took := time.Since(began); took > 6*time.Second {
				t.Errorf("it took %v, want about 2s", took)
			}
		})
	}
}

// The first part of a reply larger than the window has left: nothing but the
// end of both connections can be given.
func TestBackendBrokeInTheMiddleOfALargeReply(t *testing.T) {
	value := string(make([]byte, 1<<20))
	result := wiretest.Struct(nil).Struct(0, wiretest.Struct(nil).String(1, "t").String(2, "sales").String(4, value).Stop()).Stop()
	for _, br := range breaks {
		t.Run(br.name, func(t *testing.T) {
			gate := wiretest.NewGate()
			b := backendOf(t, false, wiretest.Script(wiretest.Expect("get_table"),
				wiretest.AnswerPart(result, 800<<10), wiretest.Stall(gate), br.step()))
			r := newRig(t, table(t, b.Addr()), false)
			c := r.dial(false)
			c.send(getTable(7, "sales", "t"))
			c.buf = make([]byte, 1000) // what has left cannot be taken back
			if _, err := io.ReadFull(c, c.buf); err != nil {
				t.Fatal(err)
			}
			gate.Open()
			if m, err := c.next(); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("got a whole message %q, want the connection's end inside one", m.Method)
			}
			if n := len(b.Calls()); n != 1 {
				t.Errorf("backend got %d calls, want 1", n)
			}
		})
	}
}
