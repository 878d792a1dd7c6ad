package metrics

import (
	"net/http"
	"runtime"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// DefaultPrefix begins the name of every metric of the gateway.
const DefaultPrefix = "hmsgate_"

// other is the label value of everything outside a closed list.
const other = "other"

// Buckets of the Java proxy, so that quantiles of before and after a migration compare.
var buckets = []float64{.001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}

// Closed lists of label values.
var (
	// Why a connection was closed at the door.
	refusals = strings.Fields("limit handshakes failures tls")
	// What a peer on the port seemed to be: the names of frame.Peer.
	peers = strings.Fields("raw framed old-binary compact framed-compact sasl tls http unknown")
	// How clients log in, and what becomes of it: ok, or a sasl.Reason.
	mechanisms = strings.Fields("GSSAPI DIGEST-MD5 PLAIN")
	logins     = strings.Fields("ok protocol mechanism limit peer io credentials no-key skew replay expired name realm " +
		"layer enctype unavailable internal")
	// What went wrong with a backend.
	failures = strings.Fields("connect timeout closed broken_reply protocol preamble")
	// What became of a delegation token.
	tokenEnds = strings.Fields("issued denied failed unknown")
	// How a drain ended.
	drainEnds = strings.Fields("clean cut")
)

// Options of a Registry. The zero value is good.
type Options struct {
	Prefix  string // DefaultPrefix when empty
	Version string // label of build_info
	// Held is the number of bytes held in memory now, asked at each scrape; nil for none.
	Held func() int64
	// LockStore says whether the lock store that instances share can be used,
	// asked at each scrape; nil for none.
	LockStore func() bool
}

// A Registry owns the metrics of one process. It is safe for concurrent use.
type Registry struct {
	prom   *prometheus.Registry
	prefix string

	requests, defaultRouted *prometheus.CounterVec
	duration                *prometheus.HistogramVec
	bytesIn, bytesOut       prometheus.Counter

	ambiguous, shadowed, hintWrites  prometheus.Counter
	outgrown                         prometheus.Counter
	backendFailures, backendSwitches *prometheus.CounterVec
	fanoutDegraded, authentications  *prometheus.CounterVec
	clients, backendConns            prometheus.Gauge
	accepted                         prometheus.Counter
	refused, unexpected, drains      closed
	tokens                           closed
}

// New makes a Registry with every metric of the gateway, the process and the Go runtime.
func New(o Options) *Registry {
	if o.Prefix == "" {
		o.Prefix = DefaultPrefix
	}
	f := factory{prom: prometheus.NewRegistry(), prefix: o.Prefix}
	f.prom.MustRegister(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if o.Held == nil {
		o.Held = func() int64 { return 0 }
	}
	f.prom.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: o.Prefix + "held_bytes",
		Help: "Bytes of messages held in memory until they are whole."}, func() float64 { return float64(o.Held()) }))
	if o.LockStore != nil {
		f.prom.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: o.Prefix + "lock_store_up",
			Help: "1 while the lock store that instances share can be used."}, func() float64 {
			if o.LockStore() {
				return 1
			}
			return 0
		}))
	}
	bytes := f.counters("bytes_total", "Bytes of calls read from clients and of replies written to them.", "direction")
	build := f.gauges("build_info", "Constant 1, labelled with the version.", "version", "go_version")
	build.WithLabelValues(o.Version, runtime.Version()).Set(1)
	return &Registry{
		prom: f.prom, prefix: f.prefix,
		requests: f.counters("requests_total", "Calls that ended, by outcome.",
			"method", "catalog", "backend", "status"),
		duration: f.histograms("request_duration_seconds", "From a call's first byte to its reply's last.",
			"method", "catalog", "backend"),
		bytesIn: bytes.WithLabelValues("call"), bytesOut: bytes.WithLabelValues("reply"),
		defaultRouted: f.counters("default_catalog_routed_total",
			"Calls without a namespace that went to the default catalog.", "method"),
		ambiguous:  f.counter("routing_ambiguous_total", "Calls refused because they name two catalogs."),
		shadowed:   f.counter("shadowed_database_total", "Databases of the default catalog hidden by a catalog's prefix."),
		hintWrites: f.counter("catalog_hint_writes_total", "Writes routed by a catalog field, not by the database's name."),
		outgrown: f.counter("replies_outgrown_total",
			"Replies that longer names took over the 100 MiB at which Thrift clients stop unless told otherwise."),
		backendFailures: f.counters("backend_failures_total", "Faults of backends.", "backend", "exception"),
		backendSwitches: f.counters("backend_switches_total",
			"Times that a catalog's calls went over to another of its metastores.", "catalog"),
		fanoutDegraded: f.counters("fanout_degraded_total", "Merged answers that had to do without a catalog.", "catalog"),
		authentications: f.counters("authentications_total", "Logins of clients, by mechanism and outcome.",
			"mechanism", "result"),
		clients:      f.gauge("client_connections", "Open client connections."),
		backendConns: f.gauge("backend_connections", "Open backend connections."),
		accepted:     f.counter("client_connections_total", "Accepted client connections."),
		refused: f.closed("client_connections_refused_total", "Client connections closed at the door.",
			"reason", refusals),
		unexpected: f.closed("unexpected_bytes_total", "Connections closed for their first bytes, by what the peer seems to be.",
			"kind", peers),
		drains: f.closed("drains_total", "Drains, by how they ended.", "result", drainEnds),
		tokens: f.closed("impersonation_tokens_total", "Delegation tokens asked of metastores, and those they have forgotten.",
			"result", tokenEnds),
	}
}

// A Login is the state of one of the gateway's Kerberos logins.
type Login struct {
	LoggedIn         bool
	End              time.Time // of the ticket
	Logins, Failures int
}

// Kerberos shows a login, asked at each scrape, under the name of what it is for.
func (r *Registry) Kerberos(component string, now func() Login) {
	f := factory{prom: r.prom, prefix: r.prefix}
	f.asked("kerberos_logged_in", "1 while the gateway's ticket is good.", component, prometheus.GaugeValue, func() float64 {
		if now().LoggedIn {
			return 1
		}
		return 0
	})
	f.asked("kerberos_ticket_end_timestamp_seconds", "When the ticket ends; 0 before the first login.", component,
		prometheus.GaugeValue, func() float64 {
			if end := now().End; !end.IsZero() {
				return float64(end.Unix())
			}
			return 0
		})
	f.asked("kerberos_logins_total", "Logins with the keytab.", component, prometheus.CounterValue,
		func() float64 { return float64(now().Logins) })
	f.asked("kerberos_failures_total", "Requests that no KDC granted.", component, prometheus.CounterValue,
		func() float64 { return float64(now().Failures) })
}

// Handler serves the metrics in the format the scraper asks for.
func (r *Registry) Handler() http.Handler {
	return promhttp.HandlerFor(r.prom, promhttp.HandlerOpts{Registry: r.prom})
}

// ClientOpened counts an accepted client connection; ClientClosed its end.
func (r *Registry) ClientOpened() { r.accepted.Inc(); r.clients.Inc() }
func (r *Registry) ClientClosed() { r.clients.Dec() }

// BackendOpened counts a dialled backend connection; BackendClosed its end.
func (r *Registry) BackendOpened() { r.backendConns.Inc() }
func (r *Registry) BackendClosed() { r.backendConns.Dec() }

// Authenticated counts a client's login: ok, or the sasl.Reason why not. The mechanism is empty before one was
// chosen.
func (r *Registry) Authenticated(mechanism, result string) {
	if mechanism == "" {
		mechanism = "none"
	} else if !contains(mechanisms, mechanism) {
		mechanism = other
	}
	if !contains(logins, result) {
		result = other
	}
	r.authentications.WithLabelValues(mechanism, result).Inc()
}

// Refused counts a client connection closed at the door: limit, handshakes, failures, tls or other.
func (r *Registry) Refused(reason string) { r.refused.inc(reason) }

// Unexpected counts a connection closed for its first bytes, by the name of the frame.Peer it seems to be.
func (r *Registry) Unexpected(kind string) { r.unexpected.inc(kind) }

// Ambiguous counts a call refused because it names two catalogs.
func (r *Registry) Ambiguous() { r.ambiguous.Inc() }

// Shadowed counts a database of the default catalog hidden by a catalog's prefix.
func (r *Registry) Shadowed() { r.shadowed.Inc() }

// HintWrite counts a write routed by a catalog field.
func (r *Registry) HintWrite() { r.hintWrites.Inc() }

// Outgrown counts a reply that longer names took over what clients read.
func (r *Registry) Outgrown() { r.outgrown.Inc() }

// BackendSwitched counts that another metastore of a catalog, which must be a configured one, serves it now.
func (r *Registry) BackendSwitched(catalog string) { r.backendSwitches.WithLabelValues(catalog).Inc() }

// FanoutDegraded counts a merged answer that had to do without a catalog, which must be a configured one.
func (r *Registry) FanoutDegraded(catalog string) { r.fanoutDegraded.WithLabelValues(catalog).Inc() }

// BackendFailed counts a fault of a backend, which must be a configured one: connect, timeout, closed,
// broken_reply, protocol, preamble or other.
func (r *Registry) BackendFailed(backend, kind string) {
	if !contains(failures, kind) {
		kind = other
	}
	r.backendFailures.WithLabelValues(backend, kind).Inc()
}

// Token counts what became of a delegation token of a metastore's: issued, denied, failed, unknown or other.
func (r *Registry) Token(result string) { r.tokens.inc(result) }

// Drained counts a drain: clean, or cut when connections had to be closed in the middle of a call.
func (r *Registry) Drained(result string) { r.drains.inc(result) }

// A closed family has one label and all its series from the start, so that an alert on its rate works
// before the first event.
type closed map[string]prometheus.Counter

func (c closed) inc(value string) {
	n, ok := c[value]
	if !ok {
		n = c[other]
	}
	n.Inc()
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// A factory makes and registers metrics under one prefix. MustRegister can only fail on two equal names,
// which the first test of this package would show.
type factory struct {
	prom   *prometheus.Registry
	prefix string
}

func (f factory) counters(name, help string, labels ...string) *prometheus.CounterVec {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: f.prefix + name, Help: help}, labels)
	f.prom.MustRegister(v)
	return v
}

func (f factory) counter(name, help string) prometheus.Counter {
	return f.counters(name, help).WithLabelValues()
}

func (f factory) gauges(name, help string, labels ...string) *prometheus.GaugeVec {
	v := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: f.prefix + name, Help: help}, labels)
	f.prom.MustRegister(v)
	return v
}

func (f factory) gauge(name, help string) prometheus.Gauge {
	return f.gauges(name, help).WithLabelValues()
}

func (f factory) histograms(name, help string, labels ...string) *prometheus.HistogramVec {
	v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: f.prefix + name, Help: help, Buckets: buckets}, labels)
	f.prom.MustRegister(v)
	return v
}

// asked registers a metric of one component that is asked for its value.
func (f factory) asked(name, help, component string, t prometheus.ValueType, value func() float64) {
	labels := prometheus.Labels{"component": component}
	if t == prometheus.CounterValue {
		f.prom.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: f.prefix + name, Help: help, ConstLabels: labels}, value))
		return
	}
	f.prom.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: f.prefix + name, Help: help, ConstLabels: labels}, value))
}

func (f factory) closed(name, help, label string, values []string) closed {
	v, c := f.counters(name, help, label), closed{}
	for _, x := range append(values[:len(values):len(values)], other) {
		c[x] = v.WithLabelValues(x)
	}
	return c
}
