package config

import (
	"strconv"
	"strings"
	"time"

	"hmsgate/sasl"
	"hmsgate/sasl/identity"
)

// Security is how one listener knows its clients.
type Security struct {
	Mode       string // ModeNone, ModeKerberos, ModePlain
	SetUGI     string // UGITrust, UGIFixed, UGIRequire, UGIIgnore; with ModeNone
	SetUGIUser string // with UGIFixed
	TLS        TLS
}

// TLS names the files of a listener's certificate; none: no TLS.
type TLS struct{ Certificate, Key string }

// Enabled says whether clients must use TLS.
func (t TLS) Enabled() bool { return t.Certificate != "" }

// FrontDoor is what all listeners with authentication share.
type FrontDoor struct {
	Principals           []string // _HOST not replaced
	Keytab               string
	Protection           sasl.QOP // a mask
	Realm                string   // of the rule DEFAULT
	TrustedRealms        []string
	AuthToLocal          string
	AuthToLocalMechanism string
	ProxyUsers           map[string]string // hadoop.proxyuser.NAME.users, .groups, .hosts
	Groups               string            // "": the system's
	UsersFile            string
	PlainWithoutTLS      bool
	Tokens               Tokens
	HandshakeTimeout     time.Duration
}

// Tokens is how delegation tokens are made.
type Tokens struct {
	Store                                                string
	RenewInterval, MaxLifetime, KeyUpdateInterval, Sweep time.Duration
	AutoRenew                                            bool
}

// Uses says whether a listener has a mode.
func (c *Config) Uses(mode string) bool {
	for i := range c.Listeners {
		if c.Listeners[i].Security.Mode == mode {
			return true
		}
	}
	return false
}

func (l *loader) mainSecurity() Security {
	return Security{Mode: l.text("security.mode"), SetUGI: l.text("security.set-ugi"),
		SetUGIUser: l.text("security.set-ugi-user"),
		TLS:        TLS{l.text("server.tls.certificate"), l.text("server.tls.key")}}
}

// security is a further listener's; what it does not say is as on the main one.
func (l *loader) security(at string, as Security) Security {
	return Security{Mode: l.textOr(at+"security.mode", as.Mode), SetUGI: l.textOr(at+"security.set-ugi", as.SetUGI),
		SetUGIUser: l.textOr(at+"security.set-ugi-user", as.SetUGIUser),
		TLS:        TLS{l.textOr(at+"tls.certificate", as.TLS.Certificate), l.textOr(at+"tls.key", as.TLS.Key)}}
}

func (l *loader) frontDoor() FrontDoor {
	d := FrontDoor{
		Principals:           items(l.text("security.server-principal")),
		Keytab:               l.text("security.server-keytab"),
		TrustedRealms:        items(l.text("security.trusted-realms")),
		AuthToLocal:          l.text("security.auth-to-local"),
		AuthToLocalMechanism: l.text("security.auth-to-local-mechanism"),
		ProxyUsers:           map[string]string{},
		Groups:               l.text("security.groups"),
		UsersFile:            l.text("security.users-file"),
		PlainWithoutTLS:      l.bool("security.plain-without-tls"),
		Tokens: Tokens{
			Store:             l.text("security.token.store"),
			RenewInterval:     l.duration("security.token.renew-interval-ms", ""),
			MaxLifetime:       l.duration("security.token.max-lifetime-ms", ""),
			KeyUpdateInterval: l.duration("security.token.key-update-interval-ms", ""),
			Sweep:             l.duration("security.token.gc-interval-ms", ""),
			AutoRenew:         l.bool("security.token.auto-renew"),
		},
		HandshakeTimeout: l.duration("security.handshake-timeout-ms", ""),
	}
	_, d.Protection, _ = sasl.ParseQOP(l.text("security.protection")) // checked when it was stored
	realm := ""
	if len(d.Principals) > 0 {
		_, realm, _ = strings.Cut(d.Principals[0], "@")
	}
	d.Realm = l.textOr("security.default-realm", realm)
	for key := range l.set {
		if name, ok := strings.CutPrefix(key, "security.proxyuser."); ok {
			l.text(key)
			d.ProxyUsers["hadoop.proxyuser."+name] = l.set[key].value
		}
	}
	return d
}

// checkSecurity: what a mode needs, and what nobody reads.
func (l *loader) checkSecurity(c *Config) {
	kerberos, plain := c.Uses(ModeKerberos), c.Uses(ModePlain)
	if kerberos {
		l.checkKerberos(&c.FrontDoor)
		l.checkTokenStore(c)
	}
	if plain && c.FrontDoor.UsersFile == "" {
		l.fail(l.modeLine(ModePlain), "security.users-file", "", "is not set, and a listener's security.mode is PLAIN",
			"a file of name:hash lines")
	}
	for i := range c.Listeners {
		l.checkListenerSecurity(c, &c.Listeners[i])
	}
	l.noteUnusedSecurity(kerberos, plain, c.Outbound.Principal != "")
}

// modeLine is the line that asks for a mode.
func (l *loader) modeLine(mode string) int {
	line := 0
	for key, s := range l.set {
		if strings.HasSuffix(key, "security.mode") && s.value == mode && (line == 0 || s.line < line) {
			line = s.line
		}
	}
	return line
}

func (l *loader) checkKerberos(d *FrontDoor) {
	const form = "service/host@REALM; _HOST may stand for this machine's name"
	line := l.modeLine(ModeKerberos)
	principals := l.get("security.server-principal", "")
	if len(d.Principals) == 0 {
		l.fail(line, "security.server-principal", "", "is not set, and a listener's security.mode is KERBEROS", form)
	}
	for _, p := range d.Principals {
		name, realm, ok := strings.Cut(p, "@")
		service, host, two := strings.Cut(name, "/")
		if !ok || !two || service == "" || host == "" || realm == "" || strings.ContainsAny(host+realm, "/@ ") {
			l.failAt(principals, "has an item "+strconv.QuoteToASCII(p)+" that is not a service principal", form)
		}
	}
	if d.Keytab == "" {
		l.fail(line, "security.server-keytab", "", "is not set, and a listener's security.mode is KERBEROS", "a keytab file")
	}
	if _, err := identity.NewMapping(d.AuthToLocal, d.Realm, d.AuthToLocalMechanism); err != nil && len(d.Principals) > 0 {
		l.failAt(l.get("security.auth-to-local", ""), "is not what Hadoop calls rules: "+sasl.Cause(err),
			"DEFAULT, or RULE:[n:format](match)s/from/to/")
	}
	for key, value := range d.ProxyUsers {
		s := l.set["security."+strings.TrimPrefix(key, "hadoop.")]
		if _, err := identity.NewProxies(map[string]string{key: value}, nil, nil); err != nil {
			l.failAt(s, sasl.Cause(err), "names, comma separated, or *")
		}
		name := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(key, ".users"), ".groups"), ".hosts")
		if _, ok := d.ProxyUsers[name+".hosts"]; !ok {
			l.failAt(s, "lets nobody act for others: the same name has no hosts", strings.TrimPrefix(name, "hadoop.")+".hosts too")
		}
	}
	if _, err := identity.ParseStaticGroups(d.Groups); err != nil {
		l.failAt(l.get("security.groups", ""), sasl.Cause(err), "user=group,group;user=group")
	}
	if t := d.Tokens; t.RenewInterval > t.MaxLifetime {
		l.failAt(l.get("security.token.renew-interval-ms", ""), "is longer than security.token.max-lifetime-ms", "at most as long")
	}
}

// checkTokenStore warns where a token of one instance comes to another: behind
// a load balancer a job's next connection may land anywhere.
func (l *loader) checkTokenStore(c *Config) {
	several, says := l.int("gateway.instances", ""), l.get("gateway.instances", "")
	switch {
	case several > 1:
	case several == 0 && c.Locks.ZooKeeper != nil: // which is there for several
		says = l.get(zkPrefix+"connect-string", "")
	default:
		return
	}
	l.note(says.line, "warning", says.key, "there are several instances, and each keeps its delegation tokens in memory "+
		"(security.token.store): a token of one is refused by the others, so a client must stay at one")
}

func (l *loader) checkListenerSecurity(c *Config, ln *Listener) {
	at, mode := "listener."+ln.Name+".", "listener."+ln.Name+".security.mode"
	tlsAt := at
	if ln.Name == "server" {
		at, mode, tlsAt = "", "security.mode", "server."
	}
	s := &ln.Security
	first := func(keys ...string) setting {
		for _, k := range keys {
			if v, ok := l.set[k]; ok {
				return v
			}
		}
		return setting{key: keys[0]}
	}
	if (s.TLS.Certificate == "") != (s.TLS.Key == "") {
		l.failAt(first(tlsAt+"tls.certificate", tlsAt+"tls.key", "server.tls.certificate", "server.tls.key"),
			"has one of tls.certificate and tls.key", "both or none")
	}
	said := first(mode, "security.mode")
	switch s.Mode {
	case ModePlain:
		if !s.TLS.Enabled() && !c.FrontDoor.PlainWithoutTLS {
			l.failAt(said, "sends passwords, and listener "+ln.Name+" has no TLS",
				tlsAt+"tls.certificate and tls.key, or security.plain-without-tls: true")
		}
	case ModeKerberos:
		if !s.TLS.Enabled() && c.FrontDoor.Protection&sasl.Auth != 0 {
			l.note(said.line, "warning", said.key, "without TLS and with security.protection authentication "+
				"whoever can change packets can take over an authenticated connection")
		}
	case ModeNone:
		user := first(at+"security.set-ugi-user", "security.set-ugi-user", at+"security.set-ugi")
		if (s.SetUGI == UGIFixed) != (s.SetUGIUser != "") {
			l.failAt(user, "security.set-ugi fixed and security.set-ugi-user need each other", "both or none")
		}
	}
}

// noteUnusedSecurity names the keys that no listener's mode reads.
func (l *loader) noteUnusedSecurity(kerberos, plain, outward bool) {
	for key, s := range l.set {
		m, ok := lookup(key)
		if !ok || m.row.kind == kindFree || !strings.HasPrefix(key, "security.") || !isSecurityRow(m.row) {
			continue
		}
		switch key {
		case "security.mode", "security.set-ugi", "security.set-ugi-user", "security.handshake-timeout-ms":
		case "security.server-principal", "security.server-keytab":
			if !kerberos && !outward {
				l.note(s.line, "note", s.key, "has no effect: no listener's security.mode is KERBEROS")
			}
		case "security.users-file", "security.plain-without-tls":
			if !plain {
				l.note(s.line, "note", s.key, "has no effect: no listener's security.mode is PLAIN")
			}
		default:
			if !kerberos {
				l.note(s.line, "note", s.key, "has no effect: no listener's security.mode is KERBEROS")
			}
		}
	}
}

func isSecurityRow(r *row) bool {
	for i := range securityRows {
		if r == &securityRows[i] {
			return true
		}
	}
	return false
}
