package config

import (
	"os"
	"strings"
)

// Outbound is who the gateway is towards metastores with Kerberos. It is
// empty when no catalog has any.
type Outbound struct {
	Principal string // name@REALM or service/host@REALM; the host may be _HOST
	Keytab    string // file
	Krb5Conf  string // file
}

// Secure is how connections to a catalog's metastores are protected.
type Secure struct {
	SASL        bool     // Kerberos, or a delegation token where Impersonate
	Principal   string   // the metastores' own, service/host@REALM; the host may be _HOST
	Protection  []string // of protections, those taken, in this order
	TLS         bool
	CA          string // file of certificates, "" for the system's
	Impersonate bool   // as the client, instead of as the gateway
}

// protections are the values of hadoop.rpc.protection, which holds for
// GSSAPI and DIGEST-MD5 alike (SaslRpcServer.QualityOfProtection).
var protections = []string{"authentication", "integrity", "privacy"}

var outboundRows = []row{
	{key: "security.client-principal", kind: kindText, derived: "the first of security.server-principal",
		doc: "Kerberos principal the gateway logs in with towards metastores, name@REALM or service/host@REALM. Host _HOST " +
			"stands for this machine's name. Needed when a catalog has Kerberos.",
		aliases: []alias{{key: "security.outbound-principal"}}},
	{key: "security.client-keytab", kind: kindText, derived: "security.server-keytab",
		doc:     "Keytab file with that principal's keys. It may be replaced while the gateway runs.",
		aliases: []alias{{key: "security.outbound-keytab"}}},
	{key: "security.krb5-conf", kind: kindText, derived: "KRB5_CONFIG, else /etc/krb5.conf",
		doc: "File that names realms and their KDCs."},
	{key: "security.impersonation-enabled", kind: kindBool, def: "false",
		doc: "Metastores see the client's user instead of the gateway's, in all catalogs that do not say otherwise."},
}

// secureRows are keys of one catalog.
var secureRows = []row{
	{key: "catalog.<n>.sasl", kind: kindBool, def: "false",
		doc:     "The metastores want Kerberos.",
		aliases: hiveConf(alias{}, "hive.metastore.sasl.enabled", "metastore.sasl.enabled")},
	{key: "catalog.<n>.kerberos-principal", kind: kindText,
		doc: "The metastores' own principal, service/host@REALM. Host _HOST stands for the host of each URI. The realm is " +
			"that of krb5.conf's domain_realm, as for Hive's clients. Needed with sasl.",
		aliases: hiveConf(alias{}, "hive.metastore.kerberos.principal", "metastore.kerberos.principal")},
	{key: "catalog.<n>.protection", kind: kindChoices, def: protections[0], allowed: protections,
		doc: "What SASL does for a connection: authentication alone, integrity (auth-int) or privacy (auth-conf). The first " +
			"of the list that the metastore offers is taken. Under TLS it is authentication, as with Hive's clients.",
		aliases: hiveConf(alias{}, "hadoop.rpc.protection")},
	{key: "catalog.<n>.tls", kind: kindBool, def: "false",
		doc:     "The metastores want TLS. Their certificates must have the host of the URI.",
		aliases: hiveConf(alias{}, "hive.metastore.use.SSL", "metastore.use.SSL")},
	{key: "catalog.<n>.tls-ca", kind: kindText, derived: "the system's",
		doc: "File of certificates (PEM) that vouch for the metastores, read at start. Java's keystores are not read: keytool -exportcert " +
			"-rfc writes PEM.",
		aliases: hiveConf(alias{}, "hive.metastore.truststore.path", "metastore.truststore.path")},
	{key: "catalog.<n>.impersonation-enabled", kind: kindBool, derived: "security.impersonation-enabled",
		doc: "Metastores see the client's user: by a delegation token of theirs with sasl, where they must let the gateway's " +
			"user act for others (hadoop.proxyuser.USER.*), by set_ugi without. A client whose user is not known is refused."},
}

func (l *loader) secure(at string) Secure {
	s := Secure{
		SASL: l.bool(at + "sasl"), Principal: l.text(at + "kerberos-principal"),
		TLS: l.bool(at + "tls"), CA: l.text(at + "tls-ca"),
		Impersonate: l.textOr(at+"impersonation-enabled", l.text("security.impersonation-enabled")) == "true",
	}
	protection := l.text(at + "protection")
	switch {
	case s.SASL && s.TLS: // MetastoreConf / HiveMetaStore: SSL forces "authentication" (seen on 4.1.0)
		s.Protection = protections[:1]
	case s.SASL:
		s.Protection = items(protection)
	}
	return s
}

func (l *loader) outbound(cats []Catalog) Outbound {
	o := Outbound{
		Principal: l.textOr("security.client-principal", firstOf(l.text("security.server-principal"))),
		Keytab:    l.textOr("security.client-keytab", l.text("security.server-keytab")),
	}
	krb5 := os.Getenv("KRB5_CONFIG")
	if krb5 == "" {
		krb5 = "/etc/krb5.conf"
	}
	o.Krb5Conf = l.textOr("security.krb5-conf", krb5)
	for i := range cats {
		if cats[i].SASL {
			return o
		}
	}
	return Outbound{}
}

const (
	servicePrincipal = "service/host@REALM, such as hive/_HOST@EXAMPLE.COM"
	clientPrincipal  = "name@REALM or service/host@REALM"
)

// checkSecure: what Kerberos and TLS towards metastores need, and what does
// not go with them.
func (l *loader) checkSecure(c *Config) {
	var first *Catalog // with Kerberos
	for i := range c.Catalogs {
		cat := &c.Catalogs[i]
		at := "catalog." + cat.Name + "."
		if cat.SASL {
			if first == nil {
				first = cat
			}
			l.checkSASL(cat, at)
		}
		l.idle(at+"tls-ca", cat.TLS, "TLS (hive.metastore.use.SSL)")
		l.idle(at+"kerberos-principal", cat.SASL, "Kerberos (hive.metastore.sasl.enabled)")
		l.idle(at+"protection", cat.SASL, "Kerberos (hive.metastore.sasl.enabled)")
		switch s := l.get(at+"protection", ""); {
		case cat.SASL && cat.TLS && s.value != protections[0]:
			l.note(s.line, "note", s.key, "under TLS it is "+protections[0]+", as metastores have it")
		case cat.SASL && !cat.TLS && contains(s.value, protections[0]):
			l.note(s.line, "note", s.key, protections[0]+" alone: who can change bytes on the way to the metastore can take "+
				"a connection over, and who can read them reads what passes, tokens included; integrity, privacy or TLS prevent it")
		}
	}
	if first == nil {
		for _, r := range outboundRows[:3] {
			if s, ok := l.set[r.key]; ok {
				l.note(s.line, "note", s.key, "has no effect: no catalog has Kerberos")
			}
		}
		return
	}
	l.checkOutbound(c, first)
	if c.Uses(ModeNone) {
		l.noteOpen(c)
	}
}

// idle notes a key of a catalog whose feature is off there.
func (l *loader) idle(key string, on bool, what string) {
	if s := l.get(key, ""); !on && !s.derived {
		l.note(s.line, "note", s.key, "has no effect without "+what)
	}
}

func (l *loader) checkSASL(cat *Catalog, at string) {
	sasl := l.get(at+"sasl", "")
	p := l.get(at+"kerberos-principal", "")
	switch {
	case p.value == "":
		l.fail(sasl.line, at+"kerberos-principal", "", "is not set, and "+sasl.key+" is true", servicePrincipal)
	case principalParts(p.value) != 3:
		l.failAt(p, "is not the principal of a service on a host", servicePrincipal)
	}
	if cat.Framed {
		l.failAt(sasl, "does not go with the framed transport, which metastores refuse under SASL", "transport raw")
	}
}

// checkOutbound: somebody to log in as.
func (l *loader) checkOutbound(c *Config, need *Catalog) {
	sasl := l.get("catalog."+need.Name+".sasl", "")
	p := l.get("security.client-principal", c.Outbound.Principal)
	if p.value == "" {
		l.fail(sasl.line, p.key, "", "is not set, and "+sasl.key+" is true", clientPrincipal)
	} else if principalParts(p.value) < 2 {
		if p.derived {
			p = l.get("security.server-principal", "")
		}
		l.failAt(p, "is not a principal", clientPrincipal)
	}
	if c.Outbound.Keytab == "" {
		l.fail(sasl.line, "security.client-keytab", "", "is not set, and "+sasl.key+" is true", "a keytab file with the principal's keys")
	}
}

// noteOpen says what an open door in front of a closed house means.
func (l *loader) noteOpen(c *Config) {
	for i := range c.Catalogs {
		cat := &c.Catalogs[i]
		sasl := l.get("catalog."+cat.Name+".sasl", "")
		switch {
		case cat.SASL && cat.Impersonate:
			l.note(sasl.line, "warning", sasl.key, "a listener asks clients for no proof of who they are (security.mode): whoever "+
				"reaches it acts on catalog "+cat.Name+" as any user it names (set_ugi)")
		case cat.SASL:
			l.note(sasl.line, "warning", sasl.key, "a listener asks clients for no proof of who they are (security.mode): whoever "+
				"reaches it acts on catalog "+cat.Name+" as "+c.Outbound.Principal)
		}
	}
}

// firstOf is the first of a list, "" of none.
func firstOf(list string) string {
	if all := items(list); len(all) > 0 {
		return all[0]
	}
	return ""
}

// principalParts counts the parts of a principal, 0 when it is none: 2 for
// name@REALM, 3 for service/host@REALM.
func principalParts(s string) int {
	name, realm, ok := strings.Cut(s, "@")
	parts := append(strings.Split(name, "/"), realm)
	for _, p := range parts {
		if p == "" || strings.ContainsAny(p, "@ \t") {
			return 0
		}
	}
	if !ok || len(parts) > 3 {
		return 0
	}
	return len(parts)
}
