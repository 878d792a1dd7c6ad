package config

import (
	"net"
	"strconv"
	"strings"
	"time"
)

// get gives the setting of a key, or its default, and notes it for
// Effective. derived stands in where the table has no default.
func (l *loader) get(key, derived string) setting {
	if s, ok := l.set[key]; ok {
		l.record(key, s)
		return s
	}
	m, _ := lookup(key)
	s := setting{key: key, derived: true}
	s.value, s.origin = m.row.defaultIn(l.format)
	if derived != "" {
		s.value = derived
	}
	l.record(key, s)
	return s
}

func (l *loader) record(key string, s setting) {
	origin := s.origin
	if !s.derived {
		origin = l.name + ":" + strconv.Itoa(s.line)
	}
	l.effective[key] = Setting{Key: key, Value: printable(key, s.value), Origin: origin}
}

func (l *loader) text(key string) string            { return l.get(key, "").value }
func (l *loader) textOr(key, derived string) string { return l.get(key, derived).value }
func (l *loader) is(key, value string) bool         { return l.text(key) == value }
func (l *loader) bool(key string) bool              { return l.text(key) == "true" }

// The values below were checked when they were stored, and the defaults by a
// test, so that none of these can fail.
func (l *loader) int(key, derived string) int {
	n, _ := strconv.Atoi(l.textOr(key, derived))
	return n
}

func (l *loader) size(key string) int64 {
	n, _ := strconv.ParseInt(l.text(key), 10, 64)
	return n
}

func (l *loader) duration(key, derived string) time.Duration {
	m, _ := lookup(key)
	value, unit := l.textOr(key, derived), m.row.unit
	if v, ok := strings.CutSuffix(value, "ns"); ok {
		value, unit = v, time.Nanosecond
	}
	n, _ := strconv.ParseInt(value, 10, 64)
	return time.Duration(n) * unit
}

func (l *loader) profile(key, derived string) string {
	s := l.get(key, derived)
	if s.value != "auto" && !s.derived {
		l.profiles = append(l.profiles, profileUse{at: s, key: key, label: s.value})
	}
	return s.value
}

// build makes the typed result; check looks at it as a whole afterwards.
func (l *loader) build() *Config {
	c := &Config{
		File:                       l.name,
		Name:                       l.text("server.name"),
		Separator:                  l.text("routing.catalog-db-separator"),
		PreserveBackendCatalogName: l.bool("federation.preserve-backend-catalog-name"),
		RewriteViews:               l.is("federation.view-text-rewrite.mode", "REWRITE"),
		KeepOriginalViewText:       l.bool("federation.view-text-rewrite.preserve-original-text"),
		MetricsPrefix:              l.text("metrics.prefix"),
		ShutdownTimeout:            l.duration("server.shutdown-timeout-seconds", ""),
		DrainDelay:                 l.duration("server.drain-delay-seconds", ""),
		Routing: Routing{
			RefuseUnknownMethods: l.is("routing.unknown-methods", "refuse"),
			GlobalWrites:         l.is("routing.global-writes", "default"),
			RefuseHintWrites:     l.is("routing.catalog-hint-writes", "refuse"),
			AllLists:             l.is("routing.federated-lists", "all"),
			AllStatus:            l.is("routing.federated-status", "all"),
			LenientFanout:        l.is("routing.degraded-routing-policy", "SAFE_FANOUT_READS"),
			FanoutTimeout:        l.duration("routing.hedged-read.fanout-timeout-ms", ""),
			ConnectPatience:      l.duration("routing.connect-patience-ms", ""),
			CloseUnreachable:     l.is("routing.unreachable", "close"),
		},
		Limits: Limits{
			Connections:   l.int("limits.connections", ""),
			CallsInFlight: l.int("limits.calls-in-flight", ""),
			CallBytes:     l.size("limits.call-bytes"),
			ReplyBytes:    l.size("limits.reply-bytes"),
			FrameBytes:    l.size("limits.frame-bytes"),
			HeldCall:      l.size("limits.held-call"),
			HeldTotal:     l.size("limits.held-total"),

			Handshakes:           l.int("limits.handshakes", ""),
			HandshakesPerAddress: l.int("limits.handshakes-per-address", ""),
			HandshakeBytes:       l.size("limits.handshake-bytes"),
		},
		Locks:     l.locks(),
		FrontDoor: l.frontDoor(),
		Log:       Log{Level: l.text("log.level"), Format: l.text("log.format"), Calls: l.bool("log.calls")},
	}
	names := l.catalogNames()
	for _, n := range names {
		c.Catalogs = append(c.Catalogs, l.catalog(n))
	}
	c.Outbound = l.outbound(c.Catalogs)
	only := ""
	if len(names) == 1 {
		only = names[0]
	}
	c.DefaultCatalog = l.textOr("routing.default-catalog", only)
	if c.has(c.DefaultCatalog) {
		c.Locks.Timeout = l.duration("catalog."+c.DefaultCatalog+".txn-timeout-seconds", "")
	}
	l.text("additional-frontends")
	l.vendors()
	c.Listeners = append(c.Listeners, l.mainListener(c.DefaultCatalog))
	for _, n := range l.usable("listener", l.listeners, nil) {
		c.Listeners = append(c.Listeners, l.listener(n, c.DefaultCatalog))
	}
	c.Admin = l.admin()
	return c
}

// catalogNames gives the names of catalogs, or in their absence those that
// have keys.
func (l *loader) catalogNames() []string {
	return l.usable("catalog", items(l.textOr("catalogs", strings.Join(l.catalogs, ","))), l.catalogs)
}

// usable drops and reports names that cannot be part of a key: the rest of the
// loader may then look up any key made of a name. seen are names that have
// keys of their own, listed or not.
func (l *loader) usable(kind string, names, seen []string) []string {
	var out []string
	reported := make(map[string]bool)
	for i, n := range append(append([]string(nil), names...), seen...) {
		if validName(n) && !(kind == "listener" && n == "server") {
			if i < len(names) {
				out = append(out, n)
			}
			continue
		}
		if reported[n] {
			continue
		}
		reported[n], l.badNames = true, true
		line := l.lineOf(kind+"."+n, map[string]string{"catalog": "catalogs", "listener": "additional-frontends"}[kind])
		allowed := "letters, digits, _ and -"
		if kind == "listener" {
			allowed += ", and not server"
		}
		l.fail(line, kind+"."+n, "", "is not the name of a "+kind, allowed)
	}
	return out
}

func validName(name string) bool {
	for i := 0; i < len(name); i++ {
		if c := name[i]; !letterOrDigit(c) && c != '_' && c != '-' {
			return false
		}
	}
	return name != ""
}

func (l *loader) catalog(name string) Catalog {
	at := "catalog." + name + "."
	c := Catalog{
		Name:           name,
		BackendCatalog: l.text(at + "backend-catalog"),
		IDSlot:         uint16(l.int(at+"id-slot", "")),
		Locks:          l.lockMode(name),
		Profile:        l.profile(at+"runtime-profile", ""),
		Framed:         l.is(at+"transport", "framed"),
		Description:    l.text(at + "description"),
		LocationURI:    l.textOr(at+"location-uri", "file:///warehouse/"+name),
		CallTimeout:    l.duration(at+"call-timeout-ms", ""),
		Conf:           map[string]string{},
		Secure:         l.secure(at),
	}
	l.text(at + "txn-timeout-seconds") // the default catalog's is among the locks
	for _, u := range items(l.text(at + "uris")) {
		c.Addresses = append(c.Addresses, strings.TrimPrefix(u, "thrift://"))
	}
	order := ""
	if l.format == Properties && strings.HasPrefix(c.Profile, "hdp-") {
		order = "sequential" // the peer's HDP clients know no other
	}
	c.Random = l.textOr(at+"uri-selection", order) == "random"
	for _, prefix := range []string{"backend.conf.", at + "conf."} {
		for key, s := range l.set {
			if k, ok := strings.CutPrefix(key, prefix); ok {
				if m, known := lookup(at + "conf." + k); known && m.row.kind == kindFree {
					c.Conf[k] = s.value
				}
			}
		}
	}
	return c
}

func (l *loader) mainListener(catalog string) Listener {
	return Listener{
		Name:            "server",
		Bind:            net.JoinHostPort(l.text("server.bind-host"), l.text("server.port")),
		Raw:             contains(l.text("server.transports"), "raw"),
		Framed:          contains(l.text("server.transports"), "framed"),
		AcceptOldBinary: l.bool("server.accept-old-binary"),
		FrontendProfile: l.profile("compatibility.frontend-profile", ""),
		DefaultCatalog:  catalog,
		ReadTimeout:     l.duration("server.client-socket-timeout-ms", ""),
		KeepAlive: KeepAlive{
			Enabled:  l.bool("server.tcp-keepalive"),
			Idle:     l.duration("server.tcp-keepalive-idle-seconds", ""),
			Interval: l.duration("server.tcp-keepalive-interval-seconds", ""),
			Count:    l.int("server.tcp-keepalive-count", ""),
		},
		Security: l.mainSecurity(),
	}
}

// listener makes a further listener; what it does not say is as on the main
// one.
func (l *loader) listener(name, catalog string) Listener {
	at := "listener." + name + "."
	as := func(key string) string { return l.text("server." + key) }
	transports := l.textOr(at+"transports", as("transports"))
	return Listener{
		Name:            name,
		Bind:            net.JoinHostPort(l.textOr(at+"bind-host", as("bind-host")), l.text(at+"port")),
		Raw:             contains(transports, "raw"),
		Framed:          contains(transports, "framed"),
		AcceptOldBinary: l.textOr(at+"accept-old-binary", as("accept-old-binary")) == "true",
		FrontendProfile: l.profile(at+"frontend-profile", l.text("compatibility.frontend-profile")),
		DefaultCatalog:  l.textOr(at+"default-catalog", catalog),
		ReadTimeout:     l.duration(at+"client-socket-timeout-ms", as("client-socket-timeout-ms")),
		KeepAlive: KeepAlive{
			Enabled:  l.textOr(at+"tcp-keepalive", as("tcp-keepalive")) == "true",
			Idle:     l.duration(at+"tcp-keepalive-idle-seconds", as("tcp-keepalive-idle-seconds")),
			Interval: l.duration(at+"tcp-keepalive-interval-seconds", as("tcp-keepalive-interval-seconds")),
			Count:    l.int(at+"tcp-keepalive-count", as("tcp-keepalive-count")),
		},
		Security: l.security(at, l.mainSecurity()),
	}
}

func contains(csv, item string) bool {
	for _, s := range items(csv) {
		if s == item {
			return true
		}
	}
	return false
}

// admin gives the address of the admin listener. As in the peer it is served
// when its port is set, and enabling it alone puts it 1000 above the main one.
func (l *loader) admin() string {
	_, portSet := l.set["management.port"]
	host := l.textOr("management.bind-host", l.text("server.bind-host"))
	port, main := 0, l.int("server.port", "")
	if main > 0 {
		port = main + 1000
	}
	port = l.int("management.port", strconv.Itoa(port))
	on := l.textOr("management.enabled", strconv.FormatBool(portSet)) == "true"
	if !on {
		return ""
	}
	if port > anyPort {
		l.fail(l.set["server.port"].line, "management.port", strconv.Itoa(port),
			"is server.port + 1000, which is no port", "management.port, or a server.port up to 64535")
	}
	return net.JoinHostPort(host, strconv.Itoa(port))
}
