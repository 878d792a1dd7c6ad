package outbound_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"hmsgate/internal/config"
	"hmsgate/internal/outbound"
	"hmsgate/internal/wiretest"
	"hmsgate/sasl"
	"hmsgate/sasl/krb/krbtest"
)

// newDialer is a dialer to one catalog.
func newDialer(t testing.TB, m *metastore, catalog, more string) *outbound.Dialer {
	t.Helper()
	text := fmt.Sprintf("catalog:\n  hdp: {uris: %s%s}\n%s", m.uri(), catalog, more)
	cfg, err := config.Parse("one.yaml", config.YAML, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	d, err := outbound.New(cfg, outbound.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// cutter stands before a metastore and ends connections after so many bytes of
// one direction.
type cutter struct {
	ln      net.Listener
	to      string
	mu      sync.Mutex
	up      int // bytes of the client that are let through; below 0: all
	down    int
	passed  [2]int // of the last connection
	running sync.WaitGroup
}

func newCutter(t testing.TB, m *metastore) *cutter {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{ln: ln, to: m.ln.Addr().String(), up: -1, down: -1}
	c.running.Go(func() {
		for {
			in, err := ln.Accept()
			if err != nil {
				return
			}
			c.running.Go(func() { c.pass(in) })
		}
	})
	t.Cleanup(func() { ln.Close(); c.running.Wait() })
	return c
}

func (c *cutter) addr() string {
	_, port, _ := net.SplitHostPort(c.ln.Addr().String())
	return "localhost:" + port
}

func (c *cutter) set(up, down int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.up, c.down, c.passed = up, down, [2]int{}
}

func (c *cutter) pass(in net.Conn) {
	out, err := net.Dial("tcp", c.to)
	if err != nil {
		in.Close()
		return
	}
	var both sync.WaitGroup
	one := func(i int, to, from net.Conn, most *int) {
		defer to.Close()
		defer from.Close()
		b := make([]byte, 4096)
		for {
			n, err := from.Read(b)
			c.mu.Lock()
			if *most >= 0 {
				n = min(n, *most-c.passed[i])
			}
			c.passed[i] += n
			over := *most >= 0 && c.passed[i] == *most
			c.mu.Unlock()
			if _, werr := to.Write(b[:n]); err != nil || werr != nil || over {
				return
			}
		}
	}
	both.Go(func() { one(0, out, in, &c.up) })
	both.Go(func() { one(1, in, out, &c.down) })
	both.Wait()
}

// A negotiation that breaks anywhere is an error and leaves nothing behind:
// GSSAPI as the gateway, DIGEST-MD5 with a token at hand as a user.
func TestNegotiationBrokenAtEveryByte(t *testing.T) {
	kdc, own, theirs := newRealm(t)
	m := newMetastore(t, secured(theirs, sasl.AuthConf))
	for user, least := range map[string][2]int{"": {500, 100}, "alice": {300, 150}} {
		d := newDialer(t, m, sasled+"privacy", kerberos(kdc, own))
		cut := newCutter(t, m)
		dial := func() error {
			conn, err := d.Dial(context.Background(), 0, cut.addr(), user)
			if err == nil {
				conn.Close()
			}
			return err
		}
		if err := dial(); err != nil {
			t.Fatal(err)
		}
		cut.set(-1, -1)
		if err := dial(); err != nil { // by now there is a token
			t.Fatal(err)
		}
		cut.mu.Lock()
		whole := cut.passed
		cut.mu.Unlock()
		if whole[0] < least[0] || whole[1] < least[1] {
			t.Fatalf("%q: a negotiation of %v bytes", user, whole)
		}
		for side, name := range []string{"up", "down"} {
			for n := 0; n < whole[side]; n++ {
				if side == 0 && n > 30 && n < whole[0]-60 && n%37 != 0 {
					continue // inside the AP-REQ, or the response
				}
				most := [2]int{-1, -1}
				most[side] = n
				cut.set(most[0], most[1])
				if err := dial(); err == nil {
					t.Errorf("%q, %s, cut after %d bytes: connected", user, name, n)
				}
			}
		}
		cut.set(-1, -1)
		if err := dial(); err != nil {
			t.Fatalf("%q, not cut: %v", user, err)
		}
		d.Close()
	}
	if n := m.issuedTokens(); n != 1 {
		t.Errorf("got %d tokens: a broken connection is no reason for another", n)
	}
}

// The caller's end of patience ends a handshake, whatever the metastore does.
func TestDialEndsWithItsContext(t *testing.T) {
	kdc := krbtest.New(t, realm)
	own := kdc.Rekey(gatename)
	kdc.Rekey(storname)
	ln, stop := silent(t)
	defer stop()
	m := &metastore{ln: ln}
	_, ca := certificate(t, "localhost")
	for name, catalog := range map[string]string{"SASL": sasled + "integrity", "TLS": ", tls: true, tls-ca: " + ca} {
		more := ""
		if name == "SASL" {
			more = kerberos(kdc, own)
		}
		d := newDialer(t, m, catalog, more)
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		_, err := d.Dial(ctx, 0, strings.TrimPrefix(m.uri(), "thrift://"), "")
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// KDCs may be down one by one, and all of them for a while.
func TestKDCOutage(t *testing.T) {
	kdc, own, theirs := newRealm(t)
	dead, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dead.Close()
	m := newMetastore(t, secured(theirs, sasl.Auth))
	kdc.Stop() // down at start
	conf := kdc.Conf(dead.Addr().String())
	s := newSite(t, m, sasled+"authentication", fmt.Sprintf(
		"security: {client-principal: %s@%s, client-keytab: %s, krb5-conf: %s}\nrouting.connect-patience-ms: 200\n", gatename, realm, own, conf))
	c := s.as("alice")
	wantText(t, c.table(), "cannot be reached")
	if k := s.gw.Readiness().Kerberos.Backend; k.State() != "FAILED" || !strings.Contains(k.LastError, "no KDC of realm") {
		t.Errorf("without a KDC: %+v", k)
	}
	kdc.Start()
	wiretest.Until(t, "a call to succeed", func() bool { return strings.Contains(string(c.table().Bytes), "sales") })
	if k := s.gw.Readiness().Kerberos.Backend; k.State() != "ACTIVE" || k.Expires.IsZero() {
		t.Errorf("with a KDC: %+v", k)
	}
	kdc.Stop()
	m.cut() // connections have to be made anew, with the ticket at hand
	wantText(t, s.as("bob").table(), "sales")
	kdc.Start()
	if log := s.log.String(); !strings.Contains(log, "kerberos: login of the gateway towards metastores") {
		t.Errorf("the log says nothing of it:\n%s", log)
	}
}

// An outage longer than a ticket's life: no connection without a ticket, and
// all is well again by itself.
func TestOutageLongerThanATicket(t *testing.T) {
	kdc, own, theirs := newRealm(t)
	m := newMetastore(t, secured(theirs, sasl.Auth))
	kdc.Life(2 * time.Second)
	d := newDialer(t, m, sasled+"authentication", kerberos(kdc, own))
	dial := func() error {
		c, err := d.Dial(context.Background(), 0, strings.TrimPrefix(m.uri(), "thrift://"), "")
		if err == nil {
			c.Close()
		}
		return err
	}
	if err := dial(); err != nil {
		t.Fatal(err)
	}
	kdc.Stop()
	if err := dial(); err != nil {
		t.Errorf("with a ticket at hand: %v", err)
	}
	wiretest.Until(t, "the ticket's end", func() bool { return sasl.ReasonOf(dial()) == sasl.Unavailable })
	if s, ok := d.Status(); !ok || s.LastError == "" {
		t.Errorf("status %+v", s)
	}
	kdc.Start()
	wiretest.Until(t, "another ticket", func() bool { return dial() == nil })
}

// A keytab replaced by one with a new key is used when the next ticket is due.
func TestKeytabReplaced(t *testing.T) {
	kdc, own, theirs := newRealm(t)
	m := newMetastore(t, secured(theirs, sasl.Auth))
	kdc.Life(2 * time.Second)
	d := newDialer(t, m, sasled+"authentication", kerberos(kdc, own))
	addr := strings.TrimPrefix(m.uri(), "thrift://")
	dial := func() error {
		c, err := d.Dial(context.Background(), 0, addr, "")
		if err == nil {
			c.Close()
		}
		return err
	}
	if err := dial(); err != nil {
		t.Fatal(err)
	}
	kdc.Rekey(gatename)
	logins := kdc.Asked("krbtgt/" + realm)
	wiretest.Until(t, "another login", func() bool {
		if err := dial(); err != nil {
			t.Fatal(err)
		}
		return kdc.Asked("krbtgt/"+realm) > logins
	})
}

// What is wrong with the files is said at start.
func TestFilesAtStart(t *testing.T) {
	kdc := krbtest.New(t, realm)
	own, other := kdc.Rekey(gatename), kdc.Rekey("other")
	_, ca := certificate(t, "localhost")
	junk := own + ".junk"
	if err := os.WriteFile(junk, []byte("junk"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ keytab, conf, catalog, want string }{
		{own, kdc.Conf(), ", sasl: true, kerberos-principal: hive/h@R", ""},
		{own + ".gone", kdc.Conf(), ", sasl: true, kerberos-principal: hive/h@R", "security.client-keytab: "},
		{junk, kdc.Conf(), ", sasl: true, kerberos-principal: hive/h@R", "not a keytab"},
		{other, kdc.Conf(), ", sasl: true, kerberos-principal: hive/h@R", `one.yaml:2: security.client-keytab: "` + other + `" has no key of gw/localhost@TEST.LOCAL; allowed: one with a key of it; this has keys of other@TEST.LOCAL`},
		{own, own + ".gone", ", sasl: true, kerberos-principal: hive/h@R", "security.krb5-conf: "},
		{own, kdc.Conf(), ", tls: true, tls-ca: " + ca, ""},
		{own, kdc.Conf(), ", tls: true, tls-ca: " + junk, ": no certificate in it"},
		{own, kdc.Conf(), ", tls: true, tls-ca: /none", "no such file"},
	} {
		text := fmt.Sprintf("catalog.a: {uris: 'thrift://h:1'%s}\nsecurity: {client-principal: %s@%s, client-keytab: %s, krb5-conf: %s}\n",
			c.catalog, gatename, realm, c.keytab, c.conf)
		cfg, err := config.Parse("one.yaml", config.YAML, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		_, err = outbound.New(cfg, outbound.Options{})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", text, err, c.want)
		}
	}
}
