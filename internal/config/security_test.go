package config

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"hmsgate/sasl"
)

// defaultDoor is what a file that says nothing of it gets.
func defaultDoor() FrontDoor {
	const day = 24 * time.Hour
	return FrontDoor{Protection: sasl.Auth, AuthToLocal: "DEFAULT", AuthToLocalMechanism: "hadoop",
		ProxyUsers: map[string]string{}, HandshakeTimeout: 15 * time.Second,
		Tokens: Tokens{Store: "memory", RenewInterval: day, MaxLifetime: 7 * day, KeyUpdateInterval: day,
			Sweep: time.Hour, AutoRenew: true}}
}

// The peer's spelling and ours say the same.
func TestSecuritySpellings(t *testing.T) {
	ours := mustParse(t, YAML, base+`
listener.plain: {bind: ':9084', security: {mode: NONE, set-ugi: fixed, set-ugi-user: etl}}
listener.users: {bind: ':9085', security.mode: PLAIN, tls: {certificate: c.pem, key: k.pem}}
security:
  mode: kerberos
  server-principal: [hive/gw1@EXAMPLE.COM, hive/_HOST@EXAMPLE.COM]
  server-keytab: /etc/hive.keytab
  protection: [integrity, PRIVACY]
  trusted-realms: [FAR.EXAMPLE]
  auth-to-local: |
    RULE:[1:$1@$0](.*@FAR.EXAMPLE)s/@.*//
    DEFAULT
  auth-to-local-mechanism: mit
  proxyuser.hue: {groups: analysts, hosts: 10.0.0.0/8}
  groups: bob=analysts
  users-file: users
  token: {renew-interval-ms: 12h, max-lifetime-ms: 2d, gc-interval-ms: 60000, auto-renew: false}
`)
	theirs := mustParse(t, Properties, strings.ReplaceAll(`catalogs=a
catalog.a.uris=thrift://h:1
security.mode=KERBEROS
security.server-principal=hive/gw1@EXAMPLE.COM,hive/_HOST@EXAMPLE.COM
security.server-keytab=/etc/hive.keytab
FDC.hadoop.rpc.protection=integrity,privacy
security.trusted-realms=FAR.EXAMPLE
FDC.hadoop.security.auth_to_local=RULE:[1:$1@$0](.*@FAR.EXAMPLE)s/@.*//\n\
  DEFAULT\n
FDC.hadoop.security.auth_to_local.mechanism=mit
FDC.hadoop.proxyuser.hue.groups=analysts
FDC.hadoop.proxyuser.hue.hosts=10.0.0.0/8
FDC.hadoop.user.group.static.mapping.overrides=bob=analysts
FDC.hive.cluster.delegation.token.store.class=org.apache.hadoop.hive.thrift.MemoryTokenStore
FDC.hive.cluster.delegation.token.renew-interval=43200000
FDC.hive.cluster.delegation.token.max-lifetime=2d
FDC.hive.cluster.delegation.token.gc-interval=60s
security.token.auto-renew=false
security.users-file=users
FDC.fs.defaultFS=hdfs://x
`, "FDC.", frontDoor))
	want := defaultDoor()
	want.Principals = []string{"hive/gw1@EXAMPLE.COM", "hive/_HOST@EXAMPLE.COM"}
	want.Keytab, want.Realm, want.UsersFile, want.Groups = "/etc/hive.keytab", "EXAMPLE.COM", "users", "bob=analysts"
	want.Protection, want.TrustedRealms = sasl.AuthInt|sasl.AuthConf, []string{"FAR.EXAMPLE"}
	want.AuthToLocal, want.AuthToLocalMechanism = "RULE:[1:$1@$0](.*@FAR.EXAMPLE)s/@.*//\nDEFAULT", "mit"
	want.ProxyUsers = map[string]string{"hadoop.proxyuser.hue.groups": "analysts", "hadoop.proxyuser.hue.hosts": "10.0.0.0/8"}
	want.Tokens.RenewInterval, want.Tokens.MaxLifetime, want.Tokens.Sweep = 12*time.Hour, 48*time.Hour, time.Minute
	want.Tokens.AutoRenew = false
	for name, c := range map[string]*Config{"ours": ours, "theirs": theirs} {
		if !reflect.DeepEqual(c.FrontDoor, want) {
			t.Errorf("%s\n got %+v\nwant %+v", name, c.FrontDoor, want)
		}
		if c.Listeners[0].Security.Mode != ModeKerberos || !c.Uses(ModeKerberos) {
			t.Errorf("%s: got mode %q", name, c.Listeners[0].Security.Mode)
		}
	}
	for i, want := range []Security{{Mode: ModeKerberos, SetUGI: UGITrust}, {Mode: ModeNone, SetUGI: UGIFixed, SetUGIUser: "etl"},
		{Mode: ModePlain, SetUGI: UGITrust, TLS: TLS{"c.pem", "k.pem"}}} {
		if got := ours.Listeners[i].Security; got != want {
			t.Errorf("listener %d: got %+v, want %+v", i, got, want)
		}
	}
	if notes := strings.Join(theirs.Notes, "\n"); !strings.Contains(notes, "security.front-door-conf: these Hive settings are kept but have no effect: fs.defaultFS") {
		t.Errorf("got notes %s", notes)
	}
}

const krb = "security: {mode: KERBEROS, server-principal: hive/h@R, server-keytab: k}\n"

func TestSecurityErrors(t *testing.T) {
	const rules = `is not what Hadoop calls rules: `
	for _, c := range []struct{ name, more, want string }{
		{"mode", "security.mode: GSSAPI", `f:6: security.mode: "GSSAPI" is not a value of this key; allowed: NONE, KERBEROS, PLAIN`},
		{"principal without host", "security: {mode: KERBEROS, server-principal: hive@R, server-keytab: k}",
			`f:6: security.server-principal: "hive@R" has an item "hive@R" that is not a service principal; allowed: service/host@REALM; _HOST may stand for this machine's name`},
		{"protection", krb + "security.protection: none", `f:7: security.protection: "none" has an item "none" that is not a value of this key; allowed: authentication, integrity, privacy`},
		{"rules", krb + "security.auth-to-local: RULE:[1:$1](", `f:7: security.auth-to-local: "RULE:[1:$1](" ` + rules},
		{"hosts missing", krb + "security.proxyuser.hue.users: '*'",
			`f:7: security.proxyuser.hue.users: "*" lets nobody act for others: the same name has no hosts; allowed: proxyuser.hue.hosts too`},
		{"hosts", krb + "security.proxyuser.hue.hosts: 10.0.0.0/99", `f:7: security.proxyuser.hue.hosts: "10.0.0.0/99" `},
		{"groups", krb + "security.groups: bob", `f:7: security.groups: "bob" `},
		{"token times", krb + "security.token.renew-interval-ms: 8d",
			`f:7: security.token.renew-interval-ms: "8d" is longer than security.token.max-lifetime-ms; allowed: at most as long`},
		{"token store", krb + "security.front-door-conf.hive.cluster.delegation.token.store.class: org.apache.hadoop.hive.thrift.DBTokenStore",
			`f:7: security.front-door-conf.hive.cluster.delegation.token.store.class: "org.apache.hadoop.hive.thrift.DBTokenStore" is not a value of this key; allowed: org.apache.hadoop.hive.metastore.security.MemoryTokenStore, org.apache.hadoop.hive.thrift.MemoryTokenStore`},
		{"users file", "security: {mode: PLAIN, plain-without-tls: true}",
			`f:6: security.users-file: is not set, and a listener's security.mode is PLAIN; allowed: a file of name:hash lines`},
		{"clear passwords", "security: {mode: PLAIN, users-file: u}",
			`f:6: security.mode: "PLAIN" sends passwords, and listener server has no TLS; allowed: server.tls.certificate and tls.key, or security.plain-without-tls: true`},
		{"half of TLS", "server.tls.key: k.pem", `f:6: server.tls.key: "k.pem" has one of tls.certificate and tls.key; allowed: both or none`},
		{"fixed nobody", "security.set-ugi: fixed", `f:6: security.set-ugi: "fixed" security.set-ugi fixed and security.set-ugi-user need each other; allowed: both or none`},
		{"handshake bytes", "limits.handshake-bytes: 1MB", `f:6: limits.handshake-bytes: "1MB" is too large; allowed: at most 262144`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse("f", YAML, []byte(base+c.more+"\n"))
			if err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("\n got %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestSecurityNotes(t *testing.T) {
	const apart = "there are several instances, and each keeps its delegation tokens in memory (security.token.store): " +
		"a token of one is refused by the others, so a client must stay at one"
	for _, c := range []struct{ name, more, want string }{
		{"unused", "security.server-keytab: k\nsecurity.users-file: u\n",
			"f:6: note: security.server-keytab: has no effect: no listener's security.mode is KERBEROS\n" +
				"f:7: note: security.users-file: has no effect: no listener's security.mode is PLAIN"},
		{"bare authentication", krb, "f:6: warning: security.mode: without TLS and with security.protection authentication " +
			"whoever can change packets can take over an authenticated connection"},
		{"integrity", krb + "security.protection: integrity\n", ""},
		{"TLS", krb + "server.tls: {certificate: c, key: k}\n", ""},
		{"tokens of several", krb + "security.protection: integrity\ngateway.instances: 2\n", "f:8: warning: gateway.instances: " + apart},
		{"tokens of several that share locks", krb + "security.protection: integrity\nlocks.zookeeper.connect-string: z:2181\n",
			"f:8: warning: locks.zookeeper.connect-string: " + apart},
		{"tokens of one", krb + "security.protection: integrity\ngateway.instances: 1\nlocks.zookeeper.connect-string: z:2181\n", ""},
		{"several without tokens", "gateway.instances: 2\n", ""},
	} {
		var notes []string
		for _, n := range mustParse(t, YAML, base+c.more).Notes {
			if strings.Contains(n, "security.") {
				notes = append(notes, n)
			}
		}
		if got := strings.Join(notes, "\n"); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestBlame(t *testing.T) {
	c := mustParse(t, YAML, base+krb)
	if got, want := c.Blame("security.server-keytab", "cannot be read", "").Error(), `f:6: security.server-keytab: "k" cannot be read`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := c.Blame("security.groups", "x", "").Error(), `f: security.groups: x`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
