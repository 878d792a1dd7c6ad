package outbound_test

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"

	"hmsgate/internal/wiretest"
	"hmsgate/sasl"
	"hmsgate/sasl/krb"
)

// sealed is a connection whose messages are tokens.
type sealed struct {
	net.Conn
	source *sasl.Source
	sink   *sasl.Sink
}

func (s *sealed) Read(p []byte) (int, error) { return s.source.Read(p) }

func (s *sealed) Write(p []byte) (int, error) {
	if n, err := s.sink.Write(p); err != nil {
		return n, err
	}
	return len(p), s.sink.End()
}

// login is a client that proves who it is to the gateway.
func (s *site) login(conf, keytab, principal string) *client {
	s.t.Helper()
	kt, err := krb.OpenKeytab(keytab)
	if err != nil {
		s.t.Fatal(err)
	}
	l, err := krb.NewLogin(conf, principal+"@"+realm, kt)
	if err != nil {
		s.t.Fatal(err)
	}
	c := s.client()
	n, err := sasl.Negotiate(c.Conn, &krb.Initiator{Login: l, Service: "hive", Host: "localhost", QOP: []sasl.QOP{sasl.AuthConf}}, sasl.Limits{})
	if err != nil {
		s.t.Fatal(err)
	}
	c.Conn = &sealed{c.Conn, n.Source(c.Conn, sasl.DataLimits{Stream: true}), n.Sink(c.Conn)}
	return c
}

// Kerberos on both sides: metastores see who the client has proved to be,
// whatever it claims. Whoever has the name by which they know the gateway is the
// gateway, and gets no token.
func TestProvedUserIsSeen(t *testing.T) {
	kdc, own, theirs := newRealm(t)
	alice, front := kdc.Rekey("alice"), fmt.Sprintf("security: {mode: KERBEROS, protection: privacy, server-principal: %s@%s, "+
		"server-keytab: %s, client-principal: %s@%s, client-keytab: %s, krb5-conf: %s}\n",
		storname, realm, theirs, gatename, realm, own, kdc.Conf())
	for _, c := range []struct {
		name    string
		options []option
		catalog string
		alice   []string // what the metastore hears of alice's calls
		gateway string   // and of the gateway's own
	}{
		{"tokens", []option{secured(theirs, sasl.AuthInt)}, sasled + "integrity" + asCaller,
			[]string{"alice DIGEST-MD5 get_table", "alice DIGEST-MD5 get_table"}, "gw GSSAPI get_table"},
		{"the gateway's login", []option{secured(theirs, sasl.AuthInt)}, sasled + "integrity",
			[]string{"gw GSSAPI get_table", "gw GSSAPI get_table"}, "gw GSSAPI get_table"},
		{"no Kerberos there", nil, asCaller,
			[]string{"  set_ugi", "alice  get_table", "alice  get_table"}, "gw  get_table"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMetastore(t, c.options...)
			s := newSite(t, m, c.catalog, front)
			calls := func() []string {
				return slices.DeleteFunc(m.calls(), func(h string) bool { return isOwn(h) || strings.HasSuffix(h, "getVersion") })
			}
			a := s.login(kdc.Conf(), alice, "alice")
			wantText(t, a.call("set_ugi", wiretest.Struct(nil).String(1, "root").Strings(2).Stop()), "root")
			a.table()
			a.table()
			if got := calls(); !slices.Equal(got, c.alice) {
				t.Errorf("the metastore heard %q, want %q", got, c.alice)
			}
			s.login(kdc.Conf(), own, gatename).table()
			if got := calls(); got[len(got)-1] != c.gateway {
				t.Errorf("of the gateway's own name the metastore heard %q, want %q", got[len(got)-1], c.gateway)
			}
		})
	}
}
