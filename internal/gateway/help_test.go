package gateway

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"hmsgate/internal/config"
	"hmsgate/internal/wiretest"
)

func TestMain(m *testing.M) { wiretest.CheckLeaks(m) }

// answering is a scripted metastore that gives an empty result to everything;
// calls of the method "get_fields" wait at gate.
func answering(t testing.TB, gate chan struct{}) *wiretest.Backend {

	return wiretest.NewBackend(t).Others(wiretest.Serve(func(m wiretest.Message) []byte {
		switch m.Method {
		case "getVersion":
			return wiretest.Reply(m.Method, m.Seq, wiretest.Struct(nil).String(0, "3.0").Stop())
		case "get_all_materialized_view_objects_for_rewriting":
			return wiretest.Exception(m.Method, m.Seq, 1, "Invalid method name")
		case "get_fields":
			if gate != nil {
				<-gate
			}
		}
		return wiretest.Reply(m.Method, m.Seq, wiretest.Struct(nil).Stop())
	}))
}

// startGateway runs a gateway before one metastore.
func startGateway(t testing.TB, addr string, settings ...string) (*Gateway, *wiretest.Log) {
	t.Helper()
	g, log := newGateway(t, addr, settings...)
	begin(t, g)
	return g, log
}

func begin(t testing.TB, g *Gateway) {
	t.Helper()
	if err := g.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
}

func newGateway(t testing.TB, addr string, settings ...string) (*Gateway, *wiretest.Log) {
	t.Helper()
	text := fmt.Sprintf("listen: 127.0.0.1:0\ncatalog:\n  hdp: {uris: thrift://%s}\n%s\n", addr, strings.Join(settings, "\n"))
	cfg, err := config.Parse("one.yaml", config.YAML, []byte(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	log := &wiretest.Log{}
	g, err := New(cfg, zerolog.New(log), "test")
	if err != nil {
		t.Fatal(err)
	}
	return g, log
}

func dialGateway(t testing.TB, g *Gateway) net.Conn {
	t.Helper()
	return dialAddr(t, g.Addr())
}

func dialAddr(t testing.TB, addr net.Addr) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr.String())
	if err != nil {
		t.Fatal(err)
	}
	c.SetDeadline(time.Now().Add(wiretest.Patience))
	t.Cleanup(func() { c.Close() })
	return c
}

func tableCall(method string, seq int32) []byte {
	return wiretest.Call(method, seq, wiretest.Struct(nil).String(1, "sales").String(2, "t").Stop())
}

// exchange sends a call and reads one message; io.EOF when the connection ends.
func exchange(c net.Conn, call []byte) (wiretest.Message, error) {
	if _, err := c.Write(call); err != nil {
		return wiretest.Message{}, io.EOF
	}
	return readMessage(c)
}

func readMessage(c net.Conn) (wiretest.Message, error) {
	var b []byte
	tmp := make([]byte, 4096)
	for {
		if len(b) >= 4 {
			if m, err := wiretest.Parse(b); err == nil {
				return m, nil
			}
		}
		n, err := c.Read(tmp)
		b = append(b, tmp[:n]...)
		if n == 0 && err != nil {
			var ne net.Error
			if errors.As(err, &ne) && ne.Timeout() {
				return wiretest.Message{}, err
			}
			return wiretest.Message{}, io.EOF
		}
	}
}
