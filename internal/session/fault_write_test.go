package session

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"hmsgate/frame"
	"hmsgate/internal/wiretest"
)

// Each test here is a row of the fault table for calls that may change
// something, or one about what was not sent.

func TestWriteLostAfterItWasSentIsNeverReplayed(t *testing.T) {
	call := dropTable(7, "sales", "t")
	reply := wiretest.Reply("drop_table", 7, void)
	transports(t, func(t *testing.T, front, back bool) {
		for _, br := range breaks {
			t.Run(br.name, func(t *testing.T) {
				size := len(reply)
				if back {
					size += 4
				}
				var scripts [][]wiretest.Step
				for n := 0; n < size; n++ {
					scripts = append(scripts, wiretest.Script(wiretest.ExpectBytes(call), wiretest.AnswerPart(void, n), br.step()))
				}
				scripts = append(scripts, wiretest.Script(wiretest.Expect("get_table"),
					wiretest.Answer(tableResult("sales", "t")), wiretest.ExpectClose()))
				b := backendOf(t, back, scripts...)
				r := newRig(t, table(t, b.Addr()), back, func(r *rig) { r.alive.Store(1 << 30) })
				c := r.dial(front)
				for n := 0; n < size && !t.Failed(); n++ {
					c.send(call)
					c.wantThrown("drop_table", 7, 2, "outcome unknown") // MetaException
				}
				c.send(getTable(8, "sales", "t")) // the connection stays
				c.wantReply(wiretest.Reply("get_table", 8, tableResult("sales", "t")))
				if n := len(b.Calls()); n != size+1 {
					t.Errorf("backend got %d calls, want %d", n, size+1)
				}
			})
		}
	})
}

// PyIceberg reads MetaException on drop_database as "no such namespace".
func TestDropDatabaseLostIsInvalidOperation(t *testing.T) {
	transports(t, func(t *testing.T, front, back bool) {
		b := backendOf(t, back, wiretest.Script(wiretest.Expect("drop_database"), wiretest.Close()))
		r := newRig(t, table(t, b.Addr()), back)
		c := r.dial(front)
		c.send(dropDatabase(5, "sales"))
		c.wantThrown("drop_database", 5, 2, "outcome unknown") // InvalidOperationException
	})
}

// A method that declares no exception that fits.
func TestWriteLostOnAMethodWithoutMetaException(t *testing.T) {
	transports(t, func(t *testing.T, front, back bool) {
		b := backendOf(t, back).Others(wiretest.Serve(func(wiretest.Message) []byte { return nil }))
		r := newRig(t, table(t, b.Addr()), back)
		c := r.dial(front)
		for _, method := range []string{"abort_txn", "vendor_writes_something"} {
			c.send(wiretest.Call(method, 5, void))
			c.wantFault(method, 5, frame.InvalidProtocol, "outcome unknown")
		}
		if n := len(b.Calls()); n != 2 {
			t.Errorf("backend got %d calls, want 2", n)
		}
	})
}

// A call that its client broke off never reaches a backend, not in part.
func TestCallCutAtEachByteByTheClient(t *testing.T) {
	transports(t, func(t *testing.T, front, back bool) {
		for name, leave := range map[string]func(c *client){
			"closed": func(c *client) { c.Close() },
			"reset":  (*client).reset,
			"half-closed": func(c *client) {
				c.Conn.(*net.TCPConn).CloseWrite()
				c.wantClosed()
			},
		} {
			t.Run(name, func(t *testing.T) {
				b := backendOf(t, back)
				r := newRig(t, table(t, b.Addr()), back)
				wire := (&client{framed: front}).wire(dropTable(7, "sales", "t"))
				for n := 0; n < len(wire); n++ {
					c := r.dial(front)
					if _, err := c.Write(wire[:n]); err != nil {
						t.Fatal(err)
					}
					leave(c)
				}
				wiretest.Until(t, "all sessions to end", func() bool { return r.clients() == 0 })
				if n := b.Accepted(); n != 0 {
					t.Errorf("backend saw %d connections, want none", n)
				}
			})
		}
	})
}

// A streamed call that its client breaks off arrives without its end.
func TestStreamedCallCutByTheClientNeverReachesItsEnd(t *testing.T) {
	for _, front := range [...]bool{false, true} {
		call := (&client{framed: front}).wire(bigAlter(7, "sales", "sales", 600<<10))
		for name, n := range map[string]int{"last byte missing": len(call) - 1, "100 bytes missing": len(call) - 100, "half": len(call) / 2} {
			t.Run(name, func(t *testing.T) {
				b := backendOf(t, false, wiretest.Script(wiretest.ExpectBroken()))
				r := newRig(t, table(t, b.Addr()), false)
				c := r.dial(front)
				if _, err := c.Write(call[:n]); err != nil {
					t.Fatal(err)
				}
				wiretest.Until(t, "the backend to see the beginning", func() bool { return b.Accepted() > 0 })
				c.Close()
				wiretest.Until(t, "the session to end", func() bool { return r.clients() == 0 })
				if n := len(b.Calls()); n != 0 {
					t.Errorf("backend got %d calls, want none", n)
				}
			})
		}
	}
}

// A streamed call whose last name belongs elsewhere: the backend must not see
// its end, the client gets the refusal and may go on.
func TestStreamedCallWithALateNameOfAnotherCatalog(t *testing.T) {
	transports(t, func(t *testing.T, front, back bool) {
		scripts := [][]wiretest.Step{
			wiretest.Script(wiretest.ExpectBroken()),
			wiretest.Script(wiretest.Expect("get_table"), wiretest.Answer(tableResult("sales", "t")), wiretest.ExpectClose()),
		}
		if back { // a frame needs its length first: the call is held and judged whole
			scripts = scripts[1:]
		}
		b := backendOf(t, back, scripts...)
		r := newRig(t, table(t, b.Addr(), refused(t)), back)
		c := r.dial(front)
		c.send(bigAlter(7, "sales", "apache__sales", 600<<10))
		c.wantThrown("alter_partitions", 7, 2, "apache__sales")
		c.send(getTable(8, "sales", "t"))
		c.wantReply(wiretest.Reply("get_table", 8, tableResult("sales", "t")))
		for _, m := range b.Calls() {
			if m.Method == "alter_partitions" {
				t.Error("the backend got the whole call")
			}
		}
	})
}

// A streamed call that is fine arrives whole, once, renamed.
func TestStreamedCallArrives(t *testing.T) {
	transports(t, func(t *testing.T, front, back bool) {
		b := backendOf(t, back, wiretest.Script(wiretest.ExpectBytes(bigAlter(7, "sales", "sales", 600<<10)),
			wiretest.Answer(void), wiretest.ExpectClose()))
		r := newRig(t, table(t, refused(t), b.Addr()), back)
		c := r.dial(front)
		c.send(bigAlter(7, "apache__sales", "apache__sales", 600<<10))
		c.wantReply(wiretest.Reply("alter_partitions", 7, void))
	})
}

// A routing refusal of a call of which only the beginning was read: the rest
// must not be taken for the next call.
func TestRefusedCallIsReadToItsEnd(t *testing.T) {
	transports(t, func(t *testing.T, front, back bool) {
		b := backendOf(t, back, wiretest.Script(wiretest.Expect("get_table"),
			wiretest.Answer(tableResult("sales", "t")), wiretest.ExpectClose()))
		r := newRig(t, table(t, b.Addr(), refused(t)), back)
		c := r.dial(front)
		req := wiretest.Struct(nil).String(1, "apache__sales").String(2, "t")
		for n := 0; n < 300; n++ { // adds up to more than a window of fields nobody knows
			req = req.String(100+int16(n), strings.Repeat("x", 1000))
		}
		c.send(wiretest.Call("drop_table_req", 7, wiretest.Struct(nil).Struct(1,
			wiretest.Struct(nil).String(1, "hdp").String(2, "apache__sales").String(3, "t").Stop()).Struct(9, req.Stop()).Stop()))
		m := c.recv()
		if m.Seq != 7 || !bytes.Contains(m.Bytes, []byte("conflicting")) {
			t.Errorf("got %q, want a refusal of sequence id 7", m.Bytes)
		}
		big := bigAlter(8, "sales", "sales", 600<<10)
		copy(big, []byte{0x80, 1, 0, wiretest.TypeReply})
		c.send(big)
		c.wantFault("alter_partitions", 8, frame.InvalidMessageType, "type 2")
		c.send(getTable(9, "sales", "t"))
		c.wantReply(wiretest.Reply("get_table", 9, tableResult("sales", "t")))
	})
}

func TestMessageTypesOtherThanCall(t *testing.T) {
	transports(t, func(t *testing.T, front, back bool) {
		b := backendOf(t, back)
		r := newRig(t, table(t, b.Addr()), back)
		c := r.dial(front)
		for _, typ := range []byte{wiretest.TypeReply, wiretest.TypeException, wiretest.TypeOneway, 0, 77} {
			for _, call := range [][]byte{dropTable(7, "sales", "t"), wiretest.Call("vendor_thing", 7, void)} {
				call[3] = typ
				m, _ := wiretest.Parse(call)
				c.send(call)
				c.wantFault(m.Method, 7, frame.InvalidMessageType, "message type")
			}
		}
		// The one-way calls of the base service get no reply, whatever they are marked as.
		for _, typ := range []byte{wiretest.TypeOneway, wiretest.TypeCall} {
			c.send(wiretest.Envelope("shutdown", typ, 1, void))
			c.send(wiretest.Envelope("reinitialize", typ, 2, void))
		}
		c.send(wiretest.Envelope("vendor_thing", wiretest.TypeReply, 9, void))
		c.wantFault("vendor_thing", 9, frame.InvalidMessageType, "message type")
		if n := b.Accepted(); n != 0 {
			t.Errorf("backend saw %d connections, want none", n)
		}
	})
}

// Readers take the last of two, checks would see the first.
func TestPlannedFieldTwiceIsAProtocolError(t *testing.T) {
	transports(t, func(t *testing.T, front, back bool) {
		b := backendOf(t, back)
		r := newRig(t, table(t, b.Addr(), refused(t)), back)
		c := r.dial(front)
		c.send(wiretest.Call("drop_table", 7,
			wiretest.Struct(nil).String(1, "sales").String(1, "apache__sales").String(2, "t").Stop()))
		c.wantFault("drop_table", 7, frame.ProtocolError, "twice")
		c.wantClosed()
		if n := b.Accepted(); n != 0 {
			t.Errorf("backend saw %d connections, want none", n)
		}
	})
}

func TestUnreachableBackend(t *testing.T) {
	transports(t, func(t *testing.T, front, back bool) {
		b := backendOf(t, back).Others(wiretest.Serve(func(m wiretest.Message) []byte {
			return wiretest.Reply(m.Method, m.Seq, void)
		}))
		for name, call := range map[string][]byte{
			"read": getTable(7, "apache__sales", "t"), "write": dropTable(7, "apache__sales", "t"),
			"streamed": bigAlter(7, "apache__sales", "apache__sales", 600<<10)} {
			m, _ := wiretest.Parse(call)
			r := newRig(t, table(t, b.Addr(), refused(t)+","+refused(t)), back)
			c := r.dial(front)
			c.send(call)
			c.wantFault(m.Method, 7, frame.InternalError, "'apache' cannot be reached")
			c.send(dropTable(8, "sales", "t")) // other catalogs are untouched
			c.wantReply(wiretest.Reply("drop_table", 8, void))

			r = newRig(t, table(t, b.Addr(), refused(t)), back, func(r *rig) { r.env.Limits.CloseDead = true })
			c = r.dial(front)
			if name == "streamed" {
				continue // the reset of what was not read may overtake the end
			}
			c.send(call)
			c.wantClosed()
		}
	})
}

// The patience of connects covers a metastore that comes back.
func TestBackendThatComesBackWithinPatience(t *testing.T) {
	b := backendOf(t, false, wiretest.Script(wiretest.Expect("drop_table"), wiretest.Answer(void), wiretest.ExpectClose()))
	tries := 0
	r := newRig(t, table(t, b.Addr()), false, func(r *rig) {
		r.env.Limits.Patience = wiretest.Patience
		dial := r.env.Dial
		r.env.Dial = func(ctx context.Context, catalog int, addr, user string) (net.Conn, error) {
			if tries++; tries < 4 {
				return nil, errors.New("connection refused")
			}
			return dial(ctx, catalog, addr, user)
		}
	})
	c := r.dial(false)
	c.send(dropTable(7, "sales", "t"))
	c.wantReply(wiretest.Reply("drop_table", 7, void))
}

// A URI that connects but never says what it is must not keep calls from the
// other one.
func TestURIWithoutAProfileIsPassedOver(t *testing.T) {
	mute := backendOf(t, false).Others(wiretest.ExpectClose())
	b := backendOf(t, false, wiretest.Script(wiretest.Expect("drop_table"), wiretest.Answer(void), wiretest.ExpectClose()))
	tab := table(t, mute.Addr()+","+b.Addr())
	tab.Default().Backend().URIs()[0].SetProfile("")
	r := newRig(t, tab, false, func(r *rig) { r.env.Limits.Patience = time.Second })
	c := r.dial(false)
	c.send(dropTable(7, "sales", "t"))
	c.wantReply(wiretest.Reply("drop_table", 7, void))
}

// A backend connection that was closed while nobody used it is redialled:
// that is no fault, and a write is still sent once.
func TestStaleBackendConnectionIsRedialled(t *testing.T) {
	transports(t, func(t *testing.T, front, back bool) {
		for _, br := range breaks {
			b := backendOf(t, back,
				wiretest.Script(wiretest.Expect("drop_table"), wiretest.Answer(void), br.step()),
				wiretest.Script(wiretest.Expect("drop_table"), wiretest.Answer(void), wiretest.ExpectClose()))
			r := newRig(t, table(t, b.Addr()), back, func(r *rig) { r.env.stale = time.Nanosecond })
			var one *Session
			c := r.dial(front)
			c.send(dropTable(7, "sales", "t"))
			c.wantReply(wiretest.Reply("drop_table", 7, void))
			r.mu.Lock()
			for s := range r.serving {
				one = s
			}
			r.mu.Unlock()
			wiretest.Until(t, "the end to arrive", func() bool { return one.backs[0].link.gone() })
			c.send(dropTable(8, "sales", "t"))
			c.wantReply(wiretest.Reply("drop_table", 8, void))
		}
	})
}

// A backend that answers while the call is still being sent, and closes.
func TestBackendThatAnswersEarly(t *testing.T) {
	for _, front := range [...]bool{false, true} {
		refusal := wiretest.Struct(nil).Struct(2, wiretest.Struct(nil).String(1, "too many partitions").Stop()).Stop()
		reply := wiretest.Reply("alter_partitions", 7, refusal)
		b := backendOf(t, false,
			wiretest.Script(wiretest.ReadBytes(1000), wiretest.Send(reply), wiretest.Close()),
			wiretest.Script(wiretest.Expect("get_table"), wiretest.Answer(tableResult("sales", "t")), wiretest.ExpectClose()))
		r := newRig(t, table(t, b.Addr()), false)
		c := r.dial(front)
		c.send(bigAlter(7, "sales", "sales", 8<<20))
		c.wantReply(reply)
		c.send(getTable(8, "sales", "t"))
		c.wantReply(wiretest.Reply("get_table", 8, tableResult("sales", "t")))
	}
}

// A write whose end was never handed over was not executed.
func TestWriteWhoseEndWasNotHandedOver(t *testing.T) {
	b := backendOf(t, false).Others(wiretest.ReadBytes(1000), wiretest.Reset())
	r := newRig(t, table(t, b.Addr()), false)
	c := r.dial(false)
	c.send(bigAlter(7, "sales", "sales", 8<<20))
	c.wantFault("alter_partitions", 7, frame.InternalError, "was not executed")
	if n := len(b.Calls()); n != 0 {
		t.Errorf("backend got %d calls, want none", n)
	}
}

// A backend that breaks off in the middle of an early reply to a call that it
// never read: what has left for the client cannot be taken back.
func TestEarlyReplyThatBreaksOff(t *testing.T) {
	big := wiretest.Reply("alter_partitions", 7, wiretest.Struct(nil).Struct(2,
		wiretest.Struct(nil).String(1, strings.Repeat("x", 1<<20)).Stop()).Stop())
	b := backendOf(t, false).Others(wiretest.ReadBytes(1000), wiretest.Send(big[:700<<10]), wiretest.Close())
	r := newRig(t, table(t, b.Addr()), false)
	c := r.dial(false)
	c.send(bigAlter(7, "sales", "sales", 8<<20))
	m, err := c.next()
	switch { // how much of the reply survives the reset is the kernel's choice
	case errors.Is(err, os.ErrDeadlineExceeded):
		t.Error("the connection stays open behind half a reply")
	case err == nil && (bytes.Contains(m.Bytes, []byte("xxx")) || !bytes.Contains(m.Bytes, []byte("was not executed"))):
		t.Errorf("got a message of %d bytes made of two replies", len(m.Bytes))
	}
	if n := len(b.Calls()); n != 0 {
		t.Errorf("backend got %d calls, want none", n)
	}
}

// A backend that stops reading in the middle of a call: the call's limit and
// the caller's leaving end it.
func TestBackendThatStopsReading(t *testing.T) {
	for _, name := range []string{"limit", "caller leaves"} {
		t.Run(name, func(t *testing.T) {
			gate := wiretest.NewGate()
			b := backendOf(t, false, wiretest.Script(wiretest.ReadBytes(1000), wiretest.Stall(gate), wiretest.Close()))
			r := newRig(t, table(t, b.Addr()), false, func(r *rig) {
				if name == "limit" {
					r.env.Targets[0].Timeout = 300 * time.Millisecond
				}
			})
			c := r.dial(false)
			sent := make(chan error, 1)
			go func() {
				_, err := c.Write(bigAlter(7, "sales", "sales", 30<<20))
				sent <- err
			}()
			<-gate.Reached()
			if name == "limit" {
				c.wantFault("alter_partitions", 7, frame.InternalError, "within 300ms")
				c.wantClosed()
			} else {
				c.reset() // a mere close would wait behind what the full window keeps back
			}
			<-sent
			wiretest.Until(t, "the session to end", func() bool { return r.clients() == 0 })
			gate.Open()
		})
	}
}
