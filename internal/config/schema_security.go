package config

import "time"

// What hms-proxy's front door takes as Hive and Hadoop settings.
const frontDoor = "security.front-door-conf."

func hadoop(a alias, name string) []alias {
	a.key = frontDoor + name
	return []alias{a}
}

// Modes of a listener.
const (
	ModeNone     = "NONE"
	ModeKerberos = "KERBEROS"
	ModePlain    = "PLAIN"
)

// What set_ugi does where nobody authenticates.
const (
	UGITrust   = "trust"
	UGIFixed   = "fixed"
	UGIRequire = "require"
	UGIIgnore  = "ignore"
)

var (
	modes  = []string{ModeNone, ModeKerberos, ModePlain}
	ugis   = []string{UGITrust, UGIFixed, UGIRequire, UGIIgnore}
	stores = []string{"memory"}
)

// Names of Hive's own memory store, of Hive 2 and of Hive 3 and later.
var storeClasses = map[string]string{
	"org.apache.hadoop.hive.thrift.MemoryTokenStore":             "memory",
	"org.apache.hadoop.hive.metastore.security.MemoryTokenStore": "memory",
}

var securityRows = []row{
	{key: "security.mode", kind: kindChoice, def: ModeNone, allowed: modes,
		doc: "How clients prove who they are. KERBEROS: SASL with GSSAPI, and with delegation tokens of this gateway. " +
			"PLAIN: SASL with a name and a password. A client that does otherwise is closed."},
	{key: "listener.<n>.security.mode", kind: kindChoice, allowed: modes, derived: "security.mode",
		doc: "As security.mode."},
	{key: "security.server-principal", kind: kindNames,
		doc: "Principals clients may ask for, service/host@REALM: one for each name they reach the gateway by, a load " +
			"balancer's too. _HOST is this machine's name. Required with KERBEROS.",
		aliases: []alias{{key: "security.principal"}}},
	{key: "security.server-keytab", kind: kindText,
		doc:     "File with their keys; a changed one is read again. Required with KERBEROS.",
		aliases: []alias{{key: "security.keytab"}}},
	{key: "security.protection", kind: kindChoices, def: "authentication", allowed: protections,
		doc: "What clients may choose from for their messages: nothing beyond authentication, integrity (auth-int), " +
			"privacy (auth-conf). For Kerberos and tokens alike.",
		aliases: hadoop(alias{}, "hadoop.rpc.protection")},
	{key: "security.default-realm", kind: kindText, derived: "the first server principal's",
		doc: "Realm whose names the rule DEFAULT shortens."},
	{key: "security.trusted-realms", kind: kindNames,
		doc: "Other realms whose clients may come; empty: those whose path a KDC has checked. Their names need a rule."},
	{key: "security.auth-to-local", kind: kindText, def: "DEFAULT",
		doc:     "Rules that make short names of principals, as Hadoop has them. A name no rule fits is refused.",
		aliases: hadoop(alias{}, "hadoop.security.auth_to_local")},
	{key: "security.auth-to-local-mechanism", kind: kindChoice, def: "hadoop", allowed: []string{"hadoop", "mit"},
		doc:     "mit takes a name that no rule fits as it is.",
		aliases: hadoop(alias{}, "hadoop.security.auth_to_local.mechanism")},
	{key: "security.proxyuser.<n>.users", kind: kindText,
		doc:     "Users that the short name <n> may get a delegation token for; * is all.",
		aliases: hadoop(alias{}, "hadoop.proxyuser.<n>.users")},
	{key: "security.proxyuser.<n>.groups", kind: kindText,
		doc: "The same by the groups of those users.", aliases: hadoop(alias{}, "hadoop.proxyuser.<n>.groups")},
	{key: "security.proxyuser.<n>.hosts", kind: kindText,
		doc:     "Where <n> may do so from: names, addresses, networks, or *. Required.",
		aliases: hadoop(alias{}, "hadoop.proxyuser.<n>.hosts")},
	{key: "security.groups", kind: kindText, derived: "the system's",
		doc:     "Groups of users, user=group,group;user=group.",
		aliases: hadoop(alias{}, "hadoop.user.group.static.mapping.overrides")},
	{key: "security.users-file", kind: kindText,
		doc: "Users of PLAIN and the bcrypt hashes of their passwords, name:hash a line, as htpasswd -B writes it; a " +
			"changed one is read again. Required with PLAIN."},
	{key: "security.plain-without-tls", kind: kindBool, def: "false",
		doc: "Let PLAIN send passwords over connections without TLS."},
	{key: "security.set-ugi", kind: kindChoice, def: UGITrust, allowed: ugis,
		doc: "What a client without authentication says it is (set_ugi): passed on to the metastores (trust), replaced " +
			"by security.set-ugi-user (fixed), passed on and needed before anything else (require), kept from them (ignore)."},
	{key: "listener.<n>.security.set-ugi", kind: kindChoice, allowed: ugis, derived: "security.set-ugi",
		doc: "As security.set-ugi."},
	{key: "security.set-ugi-user", kind: kindText, doc: "The user that metastores see with fixed."},
	{key: "listener.<n>.security.set-ugi-user", kind: kindText, derived: "security.set-ugi-user",
		doc: "As security.set-ugi-user."},
	{key: "server.tls.certificate", kind: kindText,
		doc: "PEM file with the certificate and those that signed it; set, clients must use TLS. A changed one is read again."},
	{key: "server.tls.key", kind: kindText, doc: "PEM file with its key."},
	{key: "listener.<n>.tls.certificate", kind: kindText, derived: "server.tls.certificate",
		doc: "As server.tls.certificate; empty: no TLS here."},
	{key: "listener.<n>.tls.key", kind: kindText, derived: "server.tls.key", doc: "As server.tls.key."},
	{key: "security.token.store", kind: kindChoice, def: "memory", allowed: stores,
		doc:     "Where delegation tokens are kept: in memory they end with the process, and no other instance knows them.",
		aliases: hadoop(alias{values: storeClasses}, "hive.cluster.delegation.token.store.class")},
	tokenTime("security.token.renew-interval-ms", "86400000", "How long a token lives unless it is renewed.",
		"hive.cluster.delegation.token.renew-interval"),
	tokenTime("security.token.max-lifetime-ms", "604800000", "How long a token lives at most.",
		"hive.cluster.delegation.token.max-lifetime"),
	tokenTime("security.token.key-update-interval-ms", "86400000", "How long one master key signs tokens.",
		"hive.cluster.delegation.key.update-interval"),
	tokenTime("security.token.gc-interval-ms", "3600000", "How often tokens that have run out are removed.",
		"hive.cluster.delegation.token.gc-interval"),
	{key: "security.token.auto-renew", kind: kindBool, def: "true",
		doc: "A token past its renew date is renewed by its use, as Hive 4 does (Hive 3 refuses it; no Hive client renews)."},
	{key: "security.handshake-timeout-ms", kind: kindDuration, unit: time.Millisecond, def: "15000", min: 100, max: 600000,
		doc: "How long TLS and authentication of a client may take together."},
	{key: "security.front-door-conf.*", kind: kindFree,
		doc: "Other Hive and Hadoop settings of hms-proxy's front door. Kept, none has an effect but those named on this page."},
}

func tokenTime(key, def, doc, name string) row {
	return row{key: key, kind: kindDuration, unit: time.Millisecond, def: def, min: 1000, doc: doc,
		aliases: hadoop(alias{}, name)}
}

var handshakeRows = []row{
	{key: "limits.handshakes", kind: kindInt, def: "1024", min: 1, max: 1 << 20,
		doc: "Clients at once that are still at TLS or authentication."},
	{key: "limits.handshakes-per-address", kind: kindInt, def: "64", min: 1, max: 1 << 20,
		doc: "The same from one address."},
	{key: "limits.handshake-bytes", kind: kindSize, def: "65536", min: 4096, max: 262144,
		doc: "Largest Kerberos token; Active Directory's may be large."},
}
