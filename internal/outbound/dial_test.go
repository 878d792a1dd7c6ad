package outbound_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"hmsgate/internal/wiretest"
	"hmsgate/sasl"
)

const sasled = ", sasl: true, kerberos-principal: hive/_HOST@ELSEWHERE, protection: "

// A client notices nothing of the protection behind the gateway: each reply's
// bytes are those of a plain metastore.
func TestProtections(t *testing.T) {
	kdc, own, theirs := newRealm(t)
	talk := func(s *site) (out []byte) {
		c := s.as("alice")
		for _, table := range []string{"t", "", strings.Repeat("x", 100<<10)} {
			args := wiretest.Struct(nil).String(1, "sales").String(2, table).Stop()
			out = append(out, c.call("get_table", args).Bytes...)
			out = append(out, c.call("drop_table", args).Bytes...)
		}
		return append(out, c.call("getVersion", wiretest.Struct(nil).Stop()).Bytes...)
	}
	plain := newMetastore(t, func(m *metastore) {})
	s := newSite(t, plain, "", "")
	want := bytes.ReplaceAll(talk(s), []byte("\x00\x00\x00\x05alice"), []byte("\x00\x00\x00\x02gw")) // the owner of tables
	for _, c := range []struct {
		protection string
		qop        sasl.QOP
		chunk      int
		whole      bool
	}{
		{"authentication", sasl.Auth, 0, false},
		{"authentication", sasl.Auth, 1, false},
		{"integrity", sasl.AuthInt, 0, false},
		{"integrity", sasl.AuthInt, 1, true},
		{"privacy", sasl.AuthConf, 0, true},
		{"privacy", sasl.AuthConf, 1, false},
		{"privacy, runtime-profile: auto", 7, 0, false}, // the probe finds out
	} {
		t.Run(fmt.Sprintf("%s, %v offered, chunk %d, one token %v", c.protection, c.qop, c.chunk, c.whole), func(t *testing.T) {
			m := newMetastore(t, secured(theirs, c.qop), func(m *metastore) { m.chunk, m.whole = c.chunk, c.whole })
			s := newSite(t, m, sasled+c.protection, kerberos(kdc, own))
			if got := talk(s); !bytes.Equal(got, want) {
				t.Errorf("got  %d bytes %.200q\nwant %d bytes %.200q\n%s", len(got), got, len(want), want, s.log)
			}
			for _, h := range m.calls() {
				if !strings.HasPrefix(h, "gw GSSAPI ") || strings.HasSuffix(h, "set_ugi") {
					t.Errorf("the metastore heard %q", h)
				}
			}
		})
	}
}

// A backend that does not do what the settings say is not spoken to, within
// the patience for connects; the client hears that nothing was executed, our
// log why.
func TestNoFallback(t *testing.T) {
	kdc, own, theirs := newRealm(t)
	kdc.Rekey("other/localhost")
	kerb := kerberos(kdc, own) + "routing.connect-patience-ms: 600\n"
	mute, stop := silent(t)
	defer stop()
	for _, c := range []struct {
		name    string
		m       *metastore
		catalog string
		log     string
	}{
		{"plain metastore", newMetastore(t, func(*metastore) {}), sasled + "authentication", "sasl: GSSAPI: "},
		{"no protection in common", newMetastore(t, secured(theirs, sasl.Auth)), sasled + "privacy", "no common protection: server offers auth, we take [auth-conf]"},
		{"principal of another service", newMetastore(t, secured(theirs, sasl.Auth)), ", sasl: true, kerberos-principal: other/localhost@R", "peer says BAD"},
		{"service the KDC does not know", newMetastore(t, secured(theirs, sasl.Auth)), ", sasl: true, kerberos-principal: third/_HOST@R", "no ticket for third/localhost"},
		{"says nothing", &metastore{ln: mute, t: t}, sasled + "authentication", "context deadline exceeded"},
		{"SASL without our knowing", newMetastore(t, secured(theirs, sasl.Auth)), "", "version is not known yet"},
		{"TLS wanted, plain metastore", newMetastore(t, func(*metastore) {}), ", tls: true", "tls: "},
		{"TLS without our knowing", newMetastore(t, func(m *metastore) { m.tls, _ = certificate(t, "localhost") }), "", "version is not known yet"},
		{"TLS of a stranger", newMetastore(t, func(m *metastore) { m.tls, _ = certificate(t, "localhost") }), ", tls: true", "certificate signed by unknown authority"},
	} {
		t.Run(c.name, func(t *testing.T) {
			catalog := c.catalog
			if strings.HasSuffix(c.log, "not known yet") {
				catalog += ", runtime-profile: auto"
			}
			more := kerb
			if !strings.Contains(catalog, "sasl") {
				more = "routing.connect-patience-ms: 600\n"
			}
			s := newSite(t, c.m, catalog, more)
			cl := s.as("alice")
			began := time.Now()
			wantText(t, cl.table(), "catalog 'hdp' cannot be reached; the call was not executed")
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("took %v", took)
			}
			if log := s.log.String(); !strings.Contains(log, c.log) {
				t.Errorf("no %q in the log:\n%s", c.log, log)
			}
			if c.m.codec != nil {
				for _, h := range c.m.calls() {
					t.Errorf("the metastore heard %q", h)
				}
			}
		})
	}
}

// silent takes connections and says nothing.
func silent(t *testing.T) (net.Listener, func()) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var open []net.Conn
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, c)
			mu.Unlock()
		}
	}()
	return ln, func() {
		ln.Close()
		<-done
		for _, c := range open {
			c.Close()
		}
	}
}

// certificate makes a server's key and the file of what vouches for it.
func certificate(t testing.TB, host string) (*tls.Config, string) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{host}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}, path
}

// TLS alone, and Kerberos inside it.
func TestTLS(t *testing.T) {
	kdc, own, theirs := newRealm(t)
	conf, ca := certificate(t, "localhost")
	long := wiretest.Struct(nil).String(1, "sales").String(2, strings.Repeat("x", 300<<10)).Stop()
	m := newMetastore(t, func(m *metastore) { m.tls, m.chunk = conf, 700 })
	s := newSite(t, m, ", tls: true, tls-ca: "+ca, "")
	c := s.as("alice")
	wantText(t, c.table(), "alice")
	wantText(t, c.call("get_table", long), "xxxxx")

	m = newMetastore(t, secured(theirs, sasl.Auth), func(m *metastore) { m.tls = conf })
	s = newSite(t, m, sasled+"privacy, tls: true, tls-ca: "+ca, kerberos(kdc, own))
	c = s.as("alice")
	wantText(t, c.table(), "gw")
	wantText(t, c.call("get_table", long), "xxxxx")

	other, _ := certificate(t, "elsewhere")
	m = newMetastore(t, func(m *metastore) { m.tls = other })
	s = newSite(t, m, ", tls: true, tls-ca: "+ca, "routing.connect-patience-ms: 200\n")
	wantText(t, s.as("alice").table(), "cannot be reached")
}
