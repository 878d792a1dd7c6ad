package gateway

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"hmsgate/internal/config"
	"hmsgate/internal/wiretest"
	"hmsgate/sasl"
)

// pair writes a certificate with a serial number to know it by.
func pair(t testing.TB, dir string, serial int64) (f config.TLS) {
	f.Certificate, f.Key = wiretest.Certificate(t, dir, serial)
	return f
}

func withTLS(t testing.TB, more ...string) []string {
	f := pair(t, t.TempDir(), 1)
	return append(more, "server.tls: {certificate: "+f.Certificate+", key: "+f.Key+"}")
}

func overTLS(c net.Conn) net.Conn { return tls.Client(c, &tls.Config{InsecureSkipVerify: true}) }

// Under each mode a client gets over TLS what it gets without.
func TestTLS(t *testing.T) {
	k := newRealm(t, "alice", "hive/localhost")
	b, reply := tableNamed(t, 300000)
	none, _ := startGateway(t, b.Addr(), withTLS(t)...)
	for _, framed := range []bool{false, true} {
		c := overTLS(dialGateway(t, none))
		call, want := tableCall("get_table", 7), reply
		if framed {
			call, want = wiretest.Framed(call), wiretest.Framed(want)
		}
		for range 3 {
			if _, err := c.Write(call); err != nil {
				t.Fatal(err)
			}
			got := make([]byte, len(want))
			if _, err := io.ReadFull(c, got); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("framed %v: %v, got %.100q", framed, err, got)
			}
		}
		c.Close()
	}
	kerb, _ := startGateway(t, b.Addr(), withTLS(t, kerberos(k)...)...)
	plain, _ := startGateway(t, b.Addr(), withTLS(t, "security.mode: PLAIN", "security.users-file: "+usersFile(t, "alice:"+aliceHash))...)
	for _, x := range []struct {
		g *Gateway
		m sasl.ClientMechanism
	}{{kerb, initiator(k.login("alice"), sasl.Auth)}, {kerb, initiator(k.login("alice"), sasl.AuthConf)},
		{plain, sasl.PlainLogin{User: "alice", Password: "wonderland"}}} {
		c, err := login(t, x.g, x.m, overTLS)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			c.wants(tableCall("get_table", 7), reply)
		}
		c.Close()
	}
	for _, g := range []*Gateway{none, kerb, plain} {
		wiretest.Until(t, "all sessions to end", func() bool { return g.clients.Load() == 0 })
	}
}

// A listener with TLS takes nothing else, whatever its mode; what is wrong
// inside of TLS is told as it is outside.
func TestTLSRefusals(t *testing.T) {
	k := newRealm(t, "alice", "hive/localhost")
	b := answering(t, nil)
	none, noneLog := startGateway(t, b.Addr(), withTLS(t, "limits.connections: 1")...)
	kerb, kerbLog := startGateway(t, b.Addr(), withTLS(t, kerberos(k, "limits.connections: 1")...)...)
	const without = "client without TLS on a listener that requires it"
	for _, x := range []struct {
		g   *Gateway
		log *wiretest.Log
	}{{none, noneLog}, {kerb, kerbLog}} {
		for peer, says := range map[string][]byte{"raw": tableCall("get_table", 1), "framed": wiretest.Framed(tableCall("get_table", 1)),
			"sasl": sasl.AppendMessage(nil, sasl.Start, []byte("GSSAPI")), "http": []byte("GET / HTTP/1.1\r\n\r\n")} {
			if got := lastWords(t, x.g, says); len(got) != 0 {
				t.Errorf("%s: got %q", peer, got)
			}
			logged(t, x.log, `"peer":"`+peer+`"`, without)
		}
		lastWords(t, x.g, append([]byte{0x16, 0x03, 0x01, 0x00, 0x20}, make([]byte, 32)...))
		logged(t, x.log, "TLS handshake failed")
		if !strings.Contains(scrape(t, x.g), `client_connections_refused_total{reason="tls"} 1`) {
			t.Error("the failed handshake was not counted")
		}
	}
	inside := func(g *Gateway, says []byte) []byte {
		c := overTLS(dialGateway(t, g))
		if _, err := c.Write(says); err != nil {
			t.Fatal(err)
		}
		got, _ := io.ReadAll(c)
		return got
	}
	if got := inside(kerb, tableCall("get_table", 1)); len(got) != 0 {
		t.Errorf("got %q", got)
	}
	logged(t, kerbLog, `"peer":"raw"`, "client without SASL on a listener that requires it")
	if got := inside(none, sasl.AppendMessage(nil, sasl.Start, []byte("GSSAPI"))); len(got) != 0 {
		t.Errorf("got %q", got)
	}
	logged(t, noneLog, `"peer":"sasl"`, "SASL client on a listener without SASL")

	// Over the limit of connections, in the words that the client can read.
	first := overTLS(dialGateway(t, none))
	if _, err := first.Write(tableCall("get_table", 1)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(first, make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	if got := inside(none, tableCall("get_table", 1)); !bytes.Contains(got, []byte("limits.connections")) {
		t.Errorf("got %q, want an error that names the limit", got)
	}
	l := k.login("alice")
	if _, err := login(t, kerb, initiator(l, sasl.Auth), overTLS); err != nil {
		t.Fatal(err)
	}
	_, err := login(t, kerb, initiator(l, sasl.Auth), overTLS)
	var p *sasl.PeerError
	if !errors.As(err, &p) || !strings.Contains(p.Text, "limits.connections") {
		t.Errorf("got %v", err)
	}
}

// Changed files count at the next connection after a look; broken ones never.
func TestTLSReload(t *testing.T) {
	dir := t.TempDir()
	files := pair(t, dir, 1)
	log := &wiretest.Log{}
	c, err := openCertificate(files, zerolog.New(log))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	c.now = func() time.Time { return now }
	serial := func() int64 {
		is, err := c.get(nil)
		if err != nil {
			t.Fatal(err)
		}
		x, err := x509.ParseCertificate(is.Certificate[0])
		if err != nil {
			t.Fatal(err)
		}
		return x.SerialNumber.Int64()
	}
	pair(t, dir, 1<<40) // longer, should the clock of the file system stand still
	if got := serial(); got != 1 {
		t.Errorf("looked too soon: got %d", got)
	}
	if now = now.Add(tlsLook); serial() != 1<<40 {
		t.Errorf("got %d, want the new one", serial())
	}
	if err := os.WriteFile(files.Key, []byte("no key"), 0o600); err != nil {
		t.Fatal(err)
	}
	if now = now.Add(tlsLook); serial() != 1<<40 {
		t.Error("a broken key took the certificate away")
	}
	logged(t, log, "cannot be used: the old one stays")
	cfg, err := config.Parse("one.yaml", config.YAML, []byte("catalog:\n  hdp: {uris: thrift://h:1}\nserver.tls: {certificate: "+files.Certificate+", key: "+files.Key+"}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := CheckSecurity(cfg); err == nil || !strings.HasPrefix(err.Error(), `one.yaml:3: server.tls.certificate: `) || strings.Contains(err.Error(), "no key") {
		t.Errorf("got %v", err)
	}
}
