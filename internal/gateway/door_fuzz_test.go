package gateway

import (
	"bytes"
	"net"
	"testing"
	"time"

	"hmsgate/sasl"
)

// script is a connection whose peer has said everything in advance.
type script struct {
	net.Conn
	in  *bytes.Reader
	out bytes.Buffer
}

func (s *script) Read(p []byte) (int, error)  { return s.in.Read(p) }
func (s *script) Write(p []byte) (int, error) { return s.out.Write(p) }
func (s *script) SetDeadline(time.Time) error { return nil }
func (s *script) RemoteAddr() net.Addr        { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 1} }

// FuzzDoor: whatever a stranger says, he is in with a password or out with one
// text at most, and leaves no place taken.
func FuzzDoor(f *testing.F) {
	plain := func(says string) []byte {
		return sasl.AppendMessage(sasl.AppendMessage(nil, sasl.Start, []byte("PLAIN")), sasl.Complete, []byte(says))
	}
	f.Add(plain("\x00alice\x00wonderland"))
	f.Add(plain("alice\x00alice\x00looking-glass"))
	f.Add(sasl.AppendMessage(nil, sasl.Start, []byte("GSSAPI")))
	f.Add(sasl.AppendMessage(nil, sasl.Bad, []byte("GSS initiate failed")))
	f.Add(tableCall("get_table", 1))
	f.Add([]byte("\x16\x03\x01\x00\x10"))
	g, _ := newGateway(f, "127.0.0.1:1", "security: {mode: PLAIN, plain-without-tls: true, users-file: "+
		usersFile(f, "alice:"+aliceHash)+"}", "limits.handshakes-per-address: 1000")
	f.Cleanup(g.Close)
	d := g.door(&g.cfg.Listeners[0])
	f.Fuzz(func(t *testing.T, b []byte) {
		g.security.doorman = newDoorman(1, 1)
		c := &script{in: bytes.NewReader(b)}
		e, err := d.Enter(c)
		said := c.out.Bytes()
		switch {
		case err == nil && (e.SASL.Identity.User != "alice" || !bytes.Contains(b, []byte("alice\x00wonderland"))):
			t.Errorf("%q is let in as %+v", b, e.SASL.Identity)
		case err != nil && len(said) > 0 && !bytes.Equal(said, refusal(sasl.Bad)) && !bytes.Equal(said, refusal(sasl.Fault)):
			t.Errorf("%q hears %q", b, said)
		case g.security.doorman.inside != 0:
			t.Errorf("%q leaves a place taken", b)
		}
	})
}
