package outbound

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"hmsgate/internal/config"
	"hmsgate/sasl"
	"hmsgate/sasl/digest"
	"hmsgate/sasl/krb"
)

// Dialer connects to the metastores of all catalogs.
type Dialer struct {
	tcp       net.Dialer
	targets   []target
	login     *krb.Login // nil when no catalog has Kerberos
	principal string     // of the login
	tokens    *tokens
	log       zerolog.Logger
	count     func(result string)
}

// Options of a dialer.
type Options struct {
	Log   zerolog.Logger
	Token func(result string) // hears what became of tokens; nil: nobody does
}

// target is how one catalog's metastores are reached.
type target struct {
	name     string
	sasl     bool
	service  string // first part of their principal
	host     string // second part; "" is the host of the URI
	qop      []sasl.QOP
	tls      *tls.Config // nil: none
	patience time.Duration
}

// New reads what files the configuration names. No KDC and no metastore is
// asked yet.
func New(cfg *config.Config, o Options) (*Dialer, error) {
	d := &Dialer{tcp: net.Dialer{Timeout: 10 * time.Second}, tokens: newTokens(), log: o.Log, count: o.Token}
	if d.count == nil {
		d.count = func(string) {}
	}
	d.tokens.fetch, d.tokens.drop = d.fetchToken, d.cancelToken
	for i := range cfg.Catalogs {
		t, key, err := newTarget(&cfg.Catalogs[i])
		if err != nil {
			return nil, cfg.Blame("catalog."+cfg.Catalogs[i].Name+"."+key, err.Error(), "")
		}
		t.patience = cfg.Routing.ConnectPatience
		d.targets = append(d.targets, t)
	}
	if cfg.Outbound.Principal == "" {
		return d, nil
	}
	var err error
	if d.login, err = newLogin(cfg, d.log); err != nil {
		return nil, err
	}
	d.principal = d.login.Status().Principal
	return d, nil
}

// Close ends what works for several callers at once. Nobody dials any more.
func (d *Dialer) Close() { d.tokens.close() }

// newTarget returns the key to blame with an error.
func newTarget(c *config.Catalog) (t target, key string, err error) {
	t = target{name: c.Name, sasl: c.SASL}
	if c.TLS {
		t.tls = &tls.Config{MinVersion: tls.VersionTLS12}
		if c.CA != "" {
			if t.tls.RootCAs, err = readCA(c.CA); err != nil {
				return t, "tls-ca", err
			}
		}
	}
	if !c.SASL {
		return t, "", nil
	}
	if c.Impersonate {
		if err := digest.Available(); err != nil {
			return t, "impersonation-enabled", err
		}
	}
	if t.qop, _, err = sasl.ParseQOP(strings.Join(c.Protection, ",")); err != nil {
		return t, "protection", err
	}
	name, _, _ := strings.Cut(c.Principal, "@") // the realm is krb5.conf's business, as for Java's clients
	t.service, t.host, _ = strings.Cut(name, "/")
	if t.host == anyHost {
		t.host = ""
	}
	return t, "", nil
}

func readCA(path string) (*x509.CertPool, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(b) {
		return nil, fmt.Errorf("%s: no certificate in it: PEM is read, Java's keystores are not (keytool -exportcert -rfc writes PEM)", path)
	}
	return pool, nil
}

// spn gives the service and host whose ticket a metastore takes.
func (t *target) spn(addr string) (service, host string) {
	if t.host != "" {
		return t.service, t.host
	}
	host, _, _ = net.SplitHostPort(addr)
	return t.service, strings.ToLower(host) // as SecurityUtil.getServerPrincipal does
}

// Dial connects to a metastore of a catalog and is done when the first call
// can be sent. Where the catalog has Kerberos the connection is user's, or the
// gateway's own for "". A *route.Refusal says that the metastore does not let
// the gateway act for the user.
func (d *Dialer) Dial(ctx context.Context, catalog int, addr, user string) (net.Conn, error) {
	if user != "" && d.targets[catalog].sasl {
		return d.delegated(ctx, tokenKey{catalog, addr, user})
	}
	return d.service(ctx, catalog, addr)
}

// service connects as the gateway.
func (d *Dialer) service(ctx context.Context, catalog int, addr string) (net.Conn, error) {
	t := &d.targets[catalog]
	if !t.sasl {
		return d.connect(ctx, t, addr, nil)
	}
	i := &krb.Initiator{Login: d.login, QOP: t.qop, Timeout: t.patience}
	i.Service, i.Host = t.spn(addr)
	// Asked for here, where ctx ends it; the exchange finds it at hand.
	if _, err := d.login.Ticket(ctx, i.Service, i.Host); err != nil {
		return nil, fmt.Errorf("no ticket for %s/%s: %w", i.Service, i.Host, err)
	}
	return d.connect(ctx, t, addr, i)
}

// connect never falls back: a metastore that does not do what the catalog's
// settings say is not connected to.
func (d *Dialer) connect(ctx context.Context, t *target, addr string, mech sasl.ClientMechanism) (net.Conn, error) {
	tcp, err := d.tcp.DialContext(ctx, "tcp", addr)
	if err != nil || t.tls == nil && mech == nil {
		return tcp, err
	}
	stop := context.AfterFunc(ctx, func() { _ = tcp.Close() })
	c := newConn(tcp)
	err = t.protect(ctx, c, addr, mech)
	if !stop() { // closed, or about to be
		if err == nil {
			err = errors.New("just done")
		}
		err = fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

func (t *target) protect(ctx context.Context, c *Conn, addr string, mech sasl.ClientMechanism) error {
	negotiator := net.Conn(c.low)
	if t.tls != nil {
		conf := t.tls.Clone()
		conf.ServerName, _, _ = net.SplitHostPort(addr)
		s := tls.Client(c.low, conf)
		if err := s.HandshakeContext(ctx); err != nil {
			return fmt.Errorf("tls: %w", err)
		}
		c.top, negotiator = s, s
	}
	if mech == nil {
		return nil
	}
	s, err := sasl.Negotiate(negotiator, mech, sasl.Limits{})
	if err != nil {
		return err
	}
	c.begin(s, sasl.DataLimits{})
	return nil
}
