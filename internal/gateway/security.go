package gateway

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"hmsgate/internal/config"
	"hmsgate/sasl"
	"hmsgate/sasl/digest"
	"hmsgate/sasl/identity"
	"hmsgate/sasl/krb"
	"hmsgate/sasl/passwd"
	"hmsgate/sasl/token"
)

// security is what the doors of all listeners share.
type security struct {
	doorman  *doorman
	kerberos []sasl.ServerMechanism // nil: no listener asks for it
	plain    []sasl.ServerMechanism
	tokens   *token.Authority // nil without kerberos
	tls      map[config.TLS]*tls.Config
	notes    []string
}

// newSecurity opens the files that the configuration names.
func newSecurity(cfg *config.Config, log zerolog.Logger) (*security, error) {
	s := &security{tls: map[config.TLS]*tls.Config{},
		doorman: newDoorman(cfg.Limits.Handshakes, cfg.Limits.HandshakesPerAddress)}
	d := &cfg.FrontDoor
	for i := range cfg.Listeners {
		files, err := cfg.Listeners[i].Security.TLS, error(nil)
		if s.tls[files], err = tlsConfig(files, log); err != nil {
			return nil, cfg.Blame(tlsKey(&cfg.Listeners[i]), sasl.Cause(err), "a PEM file, and its key in tls.key")
		}
	}
	if cfg.Uses(config.ModePlain) {
		f, err := passwd.Open(d.UsersFile)
		if err != nil {
			return nil, cfg.Blame("security.users-file", sasl.Cause(err), "a readable file of name:hash lines")
		}
		s.plain = []sasl.ServerMechanism{sasl.Plain{Check: f.Check}}
	}
	if !cfg.Uses(config.ModeKerberos) {
		return s, nil
	}
	names, err := identity.NewMapping(d.AuthToLocal, d.Realm, d.AuthToLocalMechanism)
	if err != nil {
		return nil, cfg.Blame("security.auth-to-local", sasl.Cause(err), "")
	}
	keytab, err := krb.OpenKeytab(d.Keytab)
	if err != nil {
		return nil, cfg.Blame("security.server-keytab", sasl.Cause(err), "a readable keytab")
	}
	if keytab.Loose() {
		e := cfg.Blame("security.server-keytab", "may be read by others than its owner", "mode 0600")
		s.notes = append(s.notes, e.Error())
	}
	a, err := krb.NewAcceptor(krb.AcceptorConfig{Keytab: keytab, Principals: principals(d.Principals), QOP: d.Protection,
		ShortName: names.Short, ClientRealms: realms(d), TokenMax: int(cfg.Limits.HandshakeBytes)})
	if err != nil {
		return nil, cfg.Blame("security.server-principal", sasl.Cause(err), "principals that the keytab has keys of")
	}
	if s.tokens, err = newTokens(d, names); err != nil {
		return nil, err
	}
	s.kerberos = []sasl.ServerMechanism{a, &digest.Server{Secrets: s.tokens, QOP: d.Protection}}
	return s, nil
}

// newTokens makes the authority that clients get their delegation tokens from
// and log in at with them.
func newTokens(d *config.FrontDoor, names *identity.Mapping) (*token.Authority, error) {
	if err := digest.Available(); err != nil {
		return nil, err
	}
	groups := identity.Groups(identity.SystemGroups{})
	if d.Groups != "" {
		static, err := identity.ParseStaticGroups(d.Groups)
		if err != nil {
			return nil, err
		}
		groups = static
	}
	proxies, err := identity.NewProxies(d.ProxyUsers, identity.NewCachedGroups(groups, 0), nil)
	if err != nil {
		return nil, err
	}
	t := d.Tokens
	return token.New(token.Config{Store: token.NewMemory(), RenewInterval: t.RenewInterval, MaxLifetime: t.MaxLifetime,
		KeyInterval: t.KeyUpdateInterval, Collect: t.Sweep, NoAutoRenew: !t.AutoRenew,
		ShortName: names.Short, MayActFor: proxies.Authorize})
}

// keepTokens rolls keys and removes old tokens while the gateway lives.
func (g *Gateway) keepTokens() {
	if a := g.security.tokens; a != nil {
		g.probing.Go(func() {
			a.Run(g.life, nil, func(err error) { g.log.Error().Err(err).Msg("delegation tokens") })
		})
	}
}

func tlsKey(l *config.Listener) string {
	if l.Name == "server" {
		return "server.tls.certificate"
	}
	return "listener." + l.Name + ".tls.certificate"
}

// CheckSecurity says whether the files that listeners need for their security
// can be used.
func CheckSecurity(cfg *config.Config) error {
	_, err := newSecurity(cfg, zerolog.Nop())
	return err
}

// realms are those whose clients may come: when foreign ones are named, the
// service's own too.
func realms(d *config.FrontDoor) []string {
	if len(d.TrustedRealms) == 0 {
		return nil
	}
	out := d.TrustedRealms
	for _, p := range d.Principals {
		_, realm, _ := strings.Cut(p, "@")
		out = append(out[:len(out):len(out)], realm)
	}
	return out
}

// principals replaces _HOST the way Hadoop does (SecurityUtil.getServerPrincipal).
func principals(list []string) []string {
	var out []string
	for _, p := range list {
		if service, rest, ok := strings.Cut(p, "/_HOST@"); ok {
			p = service + "/" + canonicalHost() + "@" + rest
		}
		out = append(out, p)
	}
	return out
}

// canonicalHost is the machine's full name.
func canonicalHost() string {
	host, err := os.Hostname()
	if err != nil {
		return "localhost"
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if name, err := net.DefaultResolver.LookupCNAME(ctx, host); err == nil && name != "" {
		host = strings.TrimSuffix(name, ".")
	}
	return strings.ToLower(host)
}

// door is the one of a listener, nil where whoever comes is in.
func (g *Gateway) door(cfg *config.Listener) *door {
	d := &door{g: g, cfg: cfg, tls: g.security.tls[cfg.Security.TLS],
		limits: sasl.Limits{Whole: g.cfg.FrontDoor.HandshakeTimeout}}
	switch cfg.Security.Mode {
	case config.ModeKerberos:
		d.mechanisms = g.security.kerberos
	case config.ModePlain:
		d.mechanisms = g.security.plain
	default:
		if d.tls == nil {
			return nil
		}
	}
	return d
}

// panicked reports a defect that a stranger's bytes have found.
func panicked(log zerolog.Logger) func(any, []byte) {
	return func(v any, stack []byte) {
		log.Error().Str("panic", fmt.Sprint(v)).Str("stack", string(stack)).
			Msg("login ended by a defect of the gateway: please report it")
	}
}
