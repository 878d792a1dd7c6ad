package identity

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"sort"
	"strings"
	"sync"
	"time"

	"hmsgate/sasl"
)

// Denied is a refusal whose text Hive's users know (Hadoop,
// DefaultImpersonationProvider); unlike other refusals it is for the caller,
// who has authenticated.
type Denied struct{ Text string }

func (e *Denied) Error() string { return e.Text }

// Resolver finds addresses of hosts; *net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Proxies are the rules hadoop.proxyuser.<name>.users, .groups and .hosts:
// who may act for whom, and from where.
type Proxies struct {
	rules    map[string]*proxyRule
	groups   Groups
	resolver Resolver
	now      func() time.Time
}

type proxyRule struct {
	users, groups    map[string]bool
	anyUser, anyHost bool
	addrs            []netip.Prefix
	hosts            []string
	mu               sync.Mutex
	resolved         map[netip.Addr]bool
	until            time.Time
}

const (
	proxyPrefix   = "hadoop.proxyuser."
	hostsRemember = time.Minute
	lookupTimeout = 5 * time.Second
)

// NewProxies reads the settings whose keys begin with hadoop.proxyuser. ;
// others are not looked at. groups finds the groups of the impersonated user.
func NewProxies(settings map[string]string, groups Groups, resolver Resolver) (*Proxies, error) {
	if resolver == nil {
		resolver = net.DefaultResolver
	}
	p := &Proxies{rules: map[string]*proxyRule{}, groups: groups, resolver: resolver, now: time.Now}
	keys := make([]string, 0, len(settings))
	for k := range settings {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		rest, ok := strings.CutPrefix(k, proxyPrefix)
		if !ok {
			continue
		}
		name, what, ok := strings.Cut(rest, ".")
		if !ok || name == "" {
			return nil, sasl.Errorf(sasl.Name, "setting %q: want %sNAME.users, .groups or .hosts", k, proxyPrefix)
		}
		r := p.rules[name]
		if r == nil {
			r = &proxyRule{users: map[string]bool{}, groups: map[string]bool{}}
			p.rules[name] = r
		}
		if err := r.add(what, settings[k]); err != nil {
			return nil, sasl.Errorf(sasl.Name, "setting %q: %w", k, err)
		}
	}
	return p, nil
}

func (r *proxyRule) add(what, value string) error {
	list := strings.FieldsFunc(value, func(c rune) bool { return c == ',' || c == ' ' || c == '\t' || c == '\n' })
	switch what {
	case "users", "groups":
		into := r.users
		if what == "groups" {
			into = r.groups
		}
		for _, s := range list {
			if s == "*" {
				r.anyUser = true
			}
			into[s] = true
		}
	case "hosts":
		for _, s := range list {
			if s == "*" {
				if len(list) > 1 {
					return fmt.Errorf("* stands alone or not at all")
				}
				r.anyHost = true
			} else if err := r.addHost(s); err != nil {
				return err
			}
		}
	default:
		return fmt.Errorf("unknown part %q: allowed are users, groups, hosts (a name has no dot)", what)
	}
	return nil
}

func (r *proxyRule) addHost(s string) error {
	if strings.Contains(s, "/") {
		n, err := netip.ParsePrefix(s)
		if err != nil {
			return err
		}
		r.addrs = append(r.addrs, n.Masked())
	} else if a, err := netip.ParseAddr(s); err == nil {
		a = a.Unmap()
		r.addrs = append(r.addrs, netip.PrefixFrom(a, a.BitLen()))
	} else {
		r.hosts = append(r.hosts, strings.ToLower(strings.TrimSuffix(s, ".")))
	}
	return nil
}

// Authorize says whether caller, whose full name is principal and short name
// user, may act for owner from peer. Nobody needs a rule to be themselves:
// that is the caller's question. A *Denied has the text to send.
func (p *Proxies) Authorize(ctx context.Context, principal, user, owner string, peer netip.Addr) error {
	r := p.rules[user]
	if r == nil || !p.covers(r, owner) {
		return &Denied{fmt.Sprintf("User: %s is not allowed to impersonate %s", principal, owner)}
	}
	peer = peer.Unmap()
	if !peer.IsValid() || !p.fromHost(ctx, r, peer) {
		return &Denied{fmt.Sprintf("Unauthorized connection for super-user: %s from IP %s", principal, peer)}
	}
	return nil
}

func (p *Proxies) covers(r *proxyRule, owner string) bool {
	if r.anyUser || r.users[owner] {
		return true
	}
	if len(r.groups) == 0 || p.groups == nil {
		return false
	}
	list, err := p.groups.Of(owner)
	if err != nil {
		return false
	}
	for _, g := range list {
		if r.groups[g] {
			return true
		}
	}
	return false
}

func (p *Proxies) fromHost(ctx context.Context, r *proxyRule, peer netip.Addr) bool {
	if r.anyHost {
		return true
	}
	for _, n := range r.addrs {
		if n.Contains(peer) {
			return true
		}
	}
	return len(r.hosts) > 0 && p.byName(ctx, r, peer)
}

// byName: the peer is one of the listed hosts' addresses. Hadoop's MachineList
// also takes the peer's own name from the reverse entry; whoever owns an
// address writes that entry, so a name counts here only when it leads to the
// address, which the forward look-up alone says.
func (p *Proxies) byName(ctx context.Context, r *proxyRule, peer netip.Addr) bool {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.resolved == nil || p.now().After(r.until) {
		r.resolved, r.until = map[netip.Addr]bool{}, p.now().Add(hostsRemember)
		for _, h := range r.hosts {
			list, err := p.resolver.LookupNetIP(ctx, "ip", h)
			if err != nil {
				continue // a name that does not resolve matches nobody
			}
			for _, a := range list {
				r.resolved[a.Unmap()] = true
			}
		}
	}
	return r.resolved[peer]
}
