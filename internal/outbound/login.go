package outbound

import (
	"context"
	"net"
	"os"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"hmsgate/internal/config"
	"hmsgate/sasl/krb"
)

// anyHost stands for a host's name in a principal (SecurityUtil.HOSTNAME_PATTERN).
const anyHost = "_HOST"

// Keys to blame.
const (
	principalKey = "security.client-principal"
	keytabKey    = "security.client-keytab"
	confKey      = "security.krb5-conf"
)

const lookupTime = 5 * time.Second // for this machine's own name

func newLogin(cfg *config.Config, log zerolog.Logger) (*krb.Login, error) {
	o := cfg.Outbound
	principal, err := localPrincipal(o.Principal)
	if err != nil {
		return nil, cfg.Blame(principalKey, err.Error(), "")
	}
	kt, err := krb.OpenKeytab(o.Keytab)
	if err != nil {
		return nil, cfg.Blame(keytabKey, err.Error(), "")
	}
	if kt.Loose() {
		log.Warn().Str("file", o.Keytab).Msg(keytabKey + ": others than its owner may read the keytab")
	}
	for _, p := range kt.Principals() {
		if p == principal {
			login, err := krb.NewLogin(o.Krb5Conf, principal, kt)
			if err != nil {
				return nil, cfg.Blame(confKey, err.Error(), "")
			}
			return login, nil
		}
	}
	return nil, cfg.Blame(keytabKey, "has no key of "+principal,
		"one with a key of it; this has keys of "+strings.Join(kt.Principals(), ", "))
}

// localPrincipal puts this machine's name in place of _HOST, in lower case and
// as DNS has it, like Java's getCanonicalHostName.
func localPrincipal(p string) (string, error) {
	before, realm, ok := strings.Cut(p, "/"+anyHost+"@")
	if !ok {
		return p, nil
	}
	host, err := os.Hostname()
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookupTime)
	defer cancel()
	if name, err := net.DefaultResolver.LookupCNAME(ctx, host); err == nil && name != "" {
		host = strings.TrimSuffix(name, ".")
	}
	return before + "/" + strings.ToLower(host) + "@" + realm, nil
}

// Status is the state of the gateway's own login; ok is false when no catalog
// has Kerberos.
func (d *Dialer) Status() (s krb.Status, ok bool) {
	if d.login == nil {
		return s, false
	}
	return d.login.Status(), true
}

// Run keeps the login fresh until ctx ends.
func (d *Dialer) Run(ctx context.Context) {
	if d.login == nil {
		return
	}
	d.login.Run(ctx, func(err error) {
		d.log.Warn().Err(err).Msg("kerberos: login of the gateway towards metastores; what it has is used while it lasts")
	})
}
