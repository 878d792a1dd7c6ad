package config

import (
	"reflect"
	"strings"
	"testing"
)

// A migrated file's Kerberos means the same in our spelling.
func TestSecure(t *testing.T) {
	t.Setenv("KRB5_CONFIG", "/etc/site/krb5.conf")
	peer := mustParse(t, Properties, `catalogs=a,b,c
routing.default-catalog=a
security.server-principal=hive/_HOST@R
security.server-keytab=/etc/hive.keytab
security.impersonation-enabled=true
backend.conf.hive.metastore.sasl.enabled=true
backend.conf.hive.metastore.kerberos.principal=hive/_HOST@R
backend.conf.hadoop.rpc.protection=privacy, integrity
catalog.a.conf.hive.metastore.uris=thrift://h:1
catalog.b.conf.hive.metastore.uris=thrift://h:2
catalog.b.conf.hive.metastore.sasl.enabled=false
catalog.b.impersonation-enabled=false
catalog.c.conf.hive.metastore.uris=thrift://h:3
catalog.c.conf.hive.metastore.use.SSL=true
catalog.c.conf.hive.metastore.truststore.path=/etc/ca.pem
`)
	ours := mustParse(t, YAML, `routing.default-catalog: a
security:
  outbound-principal: hive/_HOST@R
  client-keytab: /etc/hive.keytab
catalog:
  a: {uris: 'thrift://h:1', sasl: true, kerberos-principal: hive/_HOST@R, protection: [privacy, integrity], impersonation-enabled: true}
  b: {uris: 'thrift://h:2'}
  c: {uris: 'thrift://h:3', sasl: true, kerberos-principal: hive/_HOST@R, tls: true, tls-ca: /etc/ca.pem, impersonation-enabled: true}
`)
	want := []Secure{
		{SASL: true, Principal: "hive/_HOST@R", Protection: []string{"privacy", "integrity"}, Impersonate: true},
		{Principal: "hive/_HOST@R"},
		{SASL: true, Principal: "hive/_HOST@R", Protection: []string{"authentication"}, TLS: true, CA: "/etc/ca.pem", Impersonate: true},
	}
	for name, c := range map[string]*Config{"peer": peer, "ours": ours} {
		for i, w := range want {
			got := c.Catalogs[i].Secure
			if name == "ours" && i == 1 {
				w.Principal = ""
			}
			if !reflect.DeepEqual(got, w) {
				t.Errorf("%s, catalog %d: got %+v, want %+v", name, i, got, w)
			}
		}
		if o := (Outbound{"hive/_HOST@R", "/etc/hive.keytab", "/etc/site/krb5.conf"}); c.Outbound != o {
			t.Errorf("%s: got %+v, want %+v", name, c.Outbound, o)
		}
	}
	notes := strings.Join(peer.Notes, "\n")
	for _, part := range []string{
		"f:6: warning: backend.conf.hive.metastore.sasl.enabled: a listener asks clients for no proof of who they are (security.mode): " +
			"whoever reaches it acts on catalog a as any user it names (set_ugi)",
		"f:8: note: backend.conf.hadoop.rpc.protection: under TLS it is authentication, as metastores have it",
	} {
		if !strings.Contains(notes, part) {
			t.Errorf("no note %q in\n%s", part, notes)
		}
	}
	if strings.Contains(notes, "fs.defaultFS") || strings.Contains(notes, "truststore.path") {
		t.Errorf("a setting that counts is said to have no effect:\n%s", notes)
	}
}

func TestSecureNotes(t *testing.T) {
	c := mustParse(t, YAML, "security.client-principal: a@R\ncatalog.a: {uris: 'thrift://h:1', tls-ca: /x}\n")
	want := `f:1: note: security.client-principal: has no effect: no catalog has Kerberos
f:2: note: catalog.a.tls-ca: has no effect without TLS (hive.metastore.use.SSL)`
	if got := strings.Join(c.Notes, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	c = mustParse(t, YAML, "security: {client-principal: a@R, client-keytab: /k}\ncatalog.a: {uris: 'thrift://h:1', sasl: true, kerberos-principal: hive/h@R}\n")
	got := strings.Join(c.Notes, "\n")
	for _, part := range []string{"acts on catalog a as a@R", "note: catalog.a.protection: authentication alone: who can change bytes"} {
		if !strings.Contains(got, part) {
			t.Errorf("no %q in %s", part, got)
		}
	}
}
