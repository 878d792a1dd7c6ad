package config

import (
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync"
)

// place is an address the gateway listens on.
type place struct {
	key  string // for messages
	line int
	host string
	port string
}

func (l *loader) place(prefix, title, bind string) place {
	host, port, _ := net.SplitHostPort(bind)
	s, ok := l.set[prefix+".port"]
	if !ok {
		s = setting{key: title, line: l.set[prefix+".bind-host"].line}
	}
	return place{key: s.key, line: s.line, host: host, port: port}
}

func (l *loader) places(c *Config) []place {
	out := []place{l.place("server", "server.port", c.Listeners[0].Bind)}
	for _, ln := range c.Listeners[1:] {
		out = append(out, l.place("listener."+ln.Name, "listener."+ln.Name, ln.Bind))
	}
	if c.Admin != "" {
		out = append(out, l.place("management", "management.port", c.Admin))
	}
	return out
}

// checkListeners: required keys of further listeners, and addresses that
// cannot both be listened on.
func (l *loader) checkListeners(c *Config) {
	_, peerStyle := l.set["additional-frontends"]
	named := items(l.set["additional-frontends"].value)
	for _, ln := range c.Listeners[1:] {
		at, line := "listener."+ln.Name, l.lineOf("listener."+ln.Name, "additional-frontends")
		inPeerStyle := contains(strings.Join(named, ","), ln.Name)
		if s, ok := l.set[at+".port"]; !ok {
			if inPeerStyle {
				l.fail(line, "additional-frontends."+ln.Name+".port", "", "is not set", "a whole number from 0 to 65535")
			} else {
				l.fail(line, at+".bind", "", "is not set", "host:port")
			}
		} else if strings.HasPrefix(s.key, "additional-frontends.") && !inPeerStyle {
			text := "there is no additional-frontends"
			if peerStyle {
				text = "is not in additional-frontends"
			}
			l.fail(line, "additional-frontends."+ln.Name, "", text, "its name there, or listener."+ln.Name+".bind")
		}
		if _, ok := l.set[at+".frontend-profile"]; inPeerStyle && !ok {
			l.fail(line, "additional-frontends."+ln.Name+".frontend-profile", "",
				"is not set", "an interface version such as APACHE_3_1_3")
		}
	}
	all := l.places(c)
	for i, p := range all {
		for _, q := range all[:i] {
			if p.port != "0" && p.port != "" && p.port == q.port && overlap(p.host, q.host) {
				if p.line == 0 { // blame the one that is in the file
					p, q = q, p
				}
				other := q.key
				if q.line > 0 {
					other += " on line " + strconv.Itoa(q.line)
				}
				l.fail(p.line, p.key, net.JoinHostPort(p.host, p.port),
					"is an address already taken by "+other+" ("+net.JoinHostPort(q.host, q.port)+")", "another port or host")
			}
		}
	}
}

// overlap reports whether two hosts can mean one local address. A name is
// compared as text, but for localhost.
func overlap(a, b string) bool {
	a, b = plainHost(a), plainHost(b)
	if a == b {
		return true
	}
	x, errX := netip.ParseAddr(a)
	y, errY := netip.ParseAddr(b)
	wild := func(p netip.Addr, err error, other netip.Addr, otherErr error) bool {
		// [::] takes both families (net.Listen), 0.0.0.0 only IPv4.
		return err == nil && p.IsUnspecified() && (p.Is6() || otherErr != nil || other.Is4())
	}
	return wild(x, errX, y, errY) || wild(y, errY, x, errX)
}

func plainHost(h string) string {
	switch h = strings.ToLower(h); h {
	case "":
		return "::"
	case "localhost":
		return "127.0.0.1"
	}
	if a, err := netip.ParseAddr(h); err == nil {
		return a.Unmap().String()
	}
	return h
}

// localNames tells how this machine is called; tests replace it.
var localNames = func() []string {
	var out []string
	if h, err := os.Hostname(); err == nil {
		out = append(out, h)
	}
	addrs, _ := net.InterfaceAddrs()
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok {
			out = append(out, n.IP.String())
		}
	}
	return out
}

// checkLoops: a backend that is the gateway itself forwards every call to
// itself until connections run out. Loopback and equal addresses are sure; a
// name or address of this machine is a warning only, since the file may be
// checked on another machine than it is used on.
func (l *loader) checkLoops(c *Config) {
	mine := sync.OnceValue(func() string { return strings.ToLower(strings.Join(localNames(), ",")) })
	for _, cat := range c.Catalogs {
		uris := l.get("catalog."+cat.Name+".uris", "")
		for _, addr := range cat.Addresses {
			host, port, _ := net.SplitHostPort(addr)
			ip, err := netip.ParseAddr(plainHost(host))
			loopback := err == nil && (ip.IsLoopback() || ip.IsUnspecified())
			for _, p := range l.places(c) {
				if p.port != port || port == "0" {
					continue
				}
				anyHost := plainHost(p.host) == "::" || p.host == "0.0.0.0"
				switch {
				case plainHost(p.host) == plainHost(host), overlap(p.host, host) && loopback:
					l.failAt(uris, "is the gateway's own address "+net.JoinHostPort(p.host, p.port), "the address of a metastore")
				case anyHost && contains(mine(), strings.ToLower(host)):
					l.note(uris.line, "warning", uris.key, addr+" is this machine, and the gateway listens there itself")
				}
			}
		}
	}
}
