package gateway

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hmsgate/internal/wiretest"
	"hmsgate/sasl"
	"hmsgate/sasl/krb"
	"hmsgate/sasl/krb/krbtest"
)

const (
	realmName   = "GO.TEST"
	serviceName = "hive/localhost@" + realmName
)

// realm is a KDC with its principals' keytabs.
type realm struct {
	*krbtest.KDC
	t       testing.TB
	keytabs map[string]string
}

func newRealm(t testing.TB, principals ...string) *realm {
	r := &realm{krbtest.New(t, realmName), t, map[string]string{}}
	for _, p := range principals {
		r.keytabs[p] = r.Rekey(p)
	}
	return r
}

// keytab is a file with the keys of all the principals.
func (r *realm) keytab(principals ...string) string {
	r.t.Helper()
	all := []byte{5, 2}
	for _, p := range principals {
		b, err := os.ReadFile(r.keytabs[p])
		if err != nil {
			r.t.Fatal(err)
		}
		all = append(all, b[2:]...)
	}
	path := filepath.Join(r.t.TempDir(), "keytab")
	if err := os.WriteFile(path, all, 0o600); err != nil {
		r.t.Fatal(err)
	}
	return path
}

func (r *realm) login(principal string) *krb.Login {
	r.t.Helper()
	kt, err := krb.OpenKeytab(r.keytabs[principal])
	if err != nil {
		r.t.Fatal(err)
	}
	l, err := krb.NewLogin(r.Conf(), principal+"@"+realmName, kt)
	if err != nil {
		r.t.Fatal(err)
	}
	return l
}

var allProtections = []sasl.QOP{sasl.Auth, sasl.AuthInt, sasl.AuthConf}

// kerberos are the settings of a listener that offers every protection.
func kerberos(k *realm, more ...string) []string {
	return append([]string{"security.mode: KERBEROS", "security.server-principal: " + serviceName,
		"security.server-keytab: " + k.keytab("hive/localhost"), "security.protection: authentication, integrity, privacy"}, more...)
}

func initiator(l *krb.Login, q sasl.QOP) *krb.Initiator {
	return &krb.Initiator{Login: l, Service: "hive", Host: "localhost", QOP: []sasl.QOP{q}}
}

// secureClient is a client that has authenticated.
type secureClient struct {
	t testing.TB
	net.Conn
	session *sasl.Session
	source  *sasl.Source
	sink    *sasl.Sink
}

// login connects and authenticates; wrap may put something around the connection.
func login(t testing.TB, g *Gateway, m sasl.ClientMechanism, wrap func(net.Conn) net.Conn) (*secureClient, error) {
	t.Helper()
	var c net.Conn = dialGateway(t, g)
	if wrap != nil {
		c = wrap(c)
	}
	s, err := sasl.Negotiate(c, m, sasl.Limits{})
	if err != nil {
		return nil, err
	}
	c.SetDeadline(time.Now().Add(wiretest.Patience))
	return &secureClient{t, c, s, s.Source(c, sasl.DataLimits{Stream: true}), s.Sink(c)}, nil
}

func mustLogin(t testing.TB, g *Gateway, m sasl.ClientMechanism) *secureClient {
	t.Helper()
	c, err := login(t, g, m, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// call sends a call and reads one message.
func (c *secureClient) call(msg []byte) (wiretest.Message, error) {
	if _, err := c.sink.Write(msg); err != nil {
		return wiretest.Message{}, err
	}
	if err := c.sink.End(); err != nil {
		return wiretest.Message{}, err
	}
	return c.next()
}

func (c *secureClient) next() (wiretest.Message, error) {
	var b []byte
	tmp := make([]byte, 32<<10)
	for {
		if len(b) >= 4 {
			m, err := wiretest.Parse(b)
			if err == nil {
				return m, nil
			}
			if !wiretest.IsShort(err) {
				return m, err
			}
		}
		n, err := c.source.Read(tmp)
		if b = append(b, tmp[:n]...); n == 0 && err != nil {
			return wiretest.Message{}, err
		}
	}
}

// wants calls and compares every byte of the reply.
func (c *secureClient) wants(call, reply []byte) {
	c.t.Helper()
	m, err := c.call(call)
	if err != nil || !bytes.Equal(m.Bytes, reply) {
		c.t.Errorf("got  %.300q, %v\nwant %.300q", m.Bytes, err, reply)
	}
}

// trickling passes one byte at a time, each way.
type trickling struct{ net.Conn }

func (c trickling) Read(p []byte) (int, error) { return c.Conn.Read(p[:min(1, len(p))]) }

func (c trickling) Write(p []byte) (int, error) {
	for i := range p {
		if _, err := c.Conn.Write(p[i : i+1]); err != nil {
			return i, err
		}
	}
	return len(p), nil
}

// lastWords is all that a client that says b is told, until the end.
func lastWords(t testing.TB, g *Gateway, b []byte) []byte {
	t.Helper()
	c := dialGateway(t, g)
	if _, err := c.Write(b); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(c)
	if err != nil && !strings.Contains(err.Error(), "reset") {
		t.Fatalf("after %q: %v, want the end", b, err)
	}
	return got
}

// refusal is what every refused peer hears.
func refusal(s sasl.Status) []byte { return sasl.AppendMessage(nil, s, []byte(sasl.RefusalText)) }

// logged waits for a line that has all parts.
func logged(t testing.TB, log *wiretest.Log, parts ...string) {
	t.Helper()
	wiretest.Until(t, fmt.Sprintf("a log line with %q in\n%s", parts, log), func() bool {
		for line := range strings.Lines(log.String()) {
			all := true
			for _, p := range parts {
				all = all && strings.Contains(line, p)
			}
			if all {
				return true
			}
		}
		return false
	})
}
