package gateway

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"hmsgate/internal/wiretest"
)

// drained runs a drain beside the test.
func drained(g *Gateway) <-chan error {
	done := make(chan error, 1)
	go func() { done <- g.Drain(context.Background()) }()
	return done
}

// A drain: readiness off, still accepting; then no more; idle clients go,
// calls in flight end.
func TestDrain(t *testing.T) {
	gate := make(chan struct{})
	b := answering(t, gate)
	g, _ := startGateway(t, b.Addr(), "server.drain-delay-seconds: 1", "server.shutdown-timeout-seconds: 15")
	idle, busy, begun := dialGateway(t, g), dialGateway(t, g), dialGateway(t, g)
	if _, err := exchange(idle, tableCall("get_table", 1)); err != nil {
		t.Fatal(err)
	}
	half := tableCall("get_table", 8)
	begun.Write(half[:len(half)-3])
	busy.Write(tableCall("get_fields", 7))
	wiretest.Until(t, "the call to be in flight", func() bool { return g.inFlight.Load() == 1 })

	done := drained(g)
	wiretest.Until(t, "readiness to be off", func() bool { return g.Readiness().Draining })
	late := dialGateway(t, g) // the load balancer has not noticed yet
	if m, err := exchange(late, tableCall("get_table", 2)); err != nil || m.Seq != 2 {
		t.Errorf("during the delay: got %q, %v, want a reply", m.Bytes, err)
	}
	if n, err := idle.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("idle client: got %d bytes, %v, want the end", n, err)
	}
	if c, err := net.Dial("tcp", g.Addr().String()); err == nil {
		c.Close()
		t.Error("the listener still accepts")
	}
	begun.Write(half[len(half)-3:]) // a call that has begun is served
	if m, err := readMessage(begun); err != nil || m.Seq != 8 {
		t.Errorf("begun call: got %q, %v, want its reply", m.Bytes, err)
	}
	close(gate)
	if m, err := readMessage(busy); err != nil || m.Seq != 7 {
		t.Errorf("call in flight: got %q, %v, want its reply", m.Bytes, err)
	}
	if _, err := readMessage(busy); err != io.EOF {
		t.Errorf("after it: got %v, want the end", err)
	}
	if err := <-done; err != nil {
		t.Errorf("drain: got %v, want a clean one", err)
	}
}

func TestDrainCutsWhatDoesNotEnd(t *testing.T) {
	gate := make(chan struct{})
	defer close(gate)
	g, _ := startGateway(t, answering(t, gate).Addr(), "server.shutdown-timeout-seconds: 1", "limits.connections: 1")
	busy := dialGateway(t, g)
	busy.Write(tableCall("get_fields", 7))
	wiretest.Until(t, "the call to be in flight", func() bool { return g.inFlight.Load() == 1 })
	dialGateway(t, g) // being turned away
	began := time.Now()
	if err := <-drained(g); !errors.Is(err, ErrCut) {
		t.Errorf("got %v, want %v", err, ErrCut)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %v, want about 1s", took)
	}
	if _, err := readMessage(busy); err != io.EOF {
		t.Errorf("got %v, want a closed connection", err)
	}
}

// Clients become idle, or begin, while the drain begins: none may stay, and
// none that got its call through may go without its reply. Both orders of
// that race come up among many.
func TestDrainRacesWithClients(t *testing.T) {
	for range 10 {
		g, _ := startGateway(t, answering(t, nil).Addr(), "server.shutdown-timeout-seconds: 15", "server.client-socket-timeout-ms: 0")
		const clients = 20
		ends := make(chan error, clients)
		for range clients {
			c := dialGateway(t, g)
			go func() {
				for seq := int32(1); ; seq++ {
					m, err := exchange(c, tableCall("get_table", seq))
					if err == io.EOF {
						ends <- nil
						return
					}
					if err != nil || m.Seq != seq || m.Type != wiretest.TypeReply {
						ends <- errors.Join(err, errors.New("wrong reply"))
						return
					}
				}
			}()
		}
		wiretest.Until(t, "calls", func() bool { return g.inFlight.Load() > 0 })
		if err := <-drained(g); err != nil {
			t.Errorf("drain: got %v, want a clean one", err)
		}
		for range clients {
			if err := <-ends; err != nil {
				t.Errorf("client: %v", err)
			}
		}
	}
}
