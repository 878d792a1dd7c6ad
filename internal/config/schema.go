package config

import (
	"slices"
	"strings"
	"time"
)

// kind is the type of a value.
type kind int

const (
	kindText     kind = iota // any text
	kindFree                 // any text, one of a family of keys we do not list
	kindBool                 // true or false
	kindInt                  // whole number, min to max
	kindDuration             // Hive's spelling, or a number in the row's unit
	kindSize                 // bytes, or with a unit
	kindChoice               // one of row.allowed
	kindChoices              // several of row.allowed
	kindName                 // name of a catalog
	kindNames                // several names
	kindURIs                 // thrift://host:port, several
	kindHost                 // name or address to listen on
	kindAddress              // host:port, stands for the two keys in row.into
	kindProfile              // auto, an inventory label, or the peer's name of one
	kindFile                 // a file, from the folder of the configuration
	kindFiles                // several
)

// standing says what setting a key does in this version.
type standing int

const (
	live  standing = iota // read and obeyed
	noted                 // accepted, has no effect, said so in a note
	later                 // refused unless the value is one that switches it off
)

// alias is another name of a key.
type alias struct {
	key    string
	unit   time.Duration     // unit of a bare number, where it differs
	values map[string]string // other words for the values, in any letter case
}

// row describes one key, or a family of keys: <n> stands for one name,
// * at the end for one or more further parts.
type row struct {
	key      string
	kind     kind
	def      string // default in a YAML file
	peer     string // default in a .properties file, where it differs
	derived  string // what the default is taken from, for the reference page
	doc      string
	aliases  []alias
	allowed  []string
	min, max int64 // kindInt and kindDuration (in units); max 0 = no limit
	unit     time.Duration
	into     []string // kindAddress: the host key and the port key
	standing standing
	off      []string // later: values that ask for nothing
	note     string   // noted: why it has no effect; later: what happens instead
	peerOn   string   // later: what a .properties file that is silent is told
}

// section is a part of the table and a heading of the reference page.
type section struct {
	title string
	rows  []row
}

const anyPort = 65535

var sections = []section{
	{"Server", serverRows},
	{"Further listeners", listenerRows},
	{"Security of clients", securityRows},
	{"Administration, log, metrics", adminRows},
	{"Routing and names", routingRows},
	{"Catalogs", catalogRows},
	{"Interface versions", profileRows},
	{"Kerberos and TLS towards metastores", slices.Concat(outboundRows, secureRows)},
	{"Locks", lockRows},
	{"Limits", slices.Concat(limitRows, handshakeRows)},
	{"Keys of hms-proxy that have no effect here", notedRows},
	{"Keys of hms-proxy that this version does not support", laterRows},
}

var transports = []string{"raw", "framed"}

var serverRows = []row{
	{key: "listen", kind: kindAddress, into: []string{"server.bind-host", "server.port"},
		doc: "Address clients connect to, host:port. Short for server.bind-host and server.port."},
	{key: "server.bind-host", kind: kindHost, def: "0.0.0.0",
		doc: "Host or address to listen on; empty or :: means every address of both families."},
	{key: "server.port", kind: kindInt, def: "9083", max: anyPort,
		doc: "Port to listen on; 0 takes any free one."},
	{key: "server.name", kind: kindText, def: "", peer: "hms-proxy",
		doc: "Answer to the fb303 call for the server's name; empty: the default catalog's metastore answers."},
	{key: "server.transports", kind: kindChoices, def: "raw,framed", allowed: transports,
		doc: "Transports a client may speak. Under SASL messages are raw, in SASL's own frames, whatever is set here."},
	{key: "server.accept-old-binary", kind: kindBool, def: "false",
		doc: "Accept binary messages without a version word. Real metastores close such a connection."},
	{key: "compatibility.frontend-profile", kind: kindProfile, def: "auto", peer: "apache-3.1.3",
		doc: "Interface version clients speak. auto serves every version on one port."},
	{key: "server.client-socket-timeout-ms", kind: kindDuration, unit: time.Millisecond, def: "600000",
		doc: "A client that is silent for so long between calls is disconnected; 0 = never."},
	{key: "server.tcp-keepalive", kind: kindBool, def: "true", doc: "TCP keepalive on client connections."},
	{key: "server.tcp-keepalive-idle-seconds", kind: kindDuration, unit: time.Second, def: "120", min: 1, max: 32767,
		doc: "Silence before the first probe."},
	{key: "server.tcp-keepalive-interval-seconds", kind: kindDuration, unit: time.Second,
		def: "30", min: 1, max: 32767,
		doc: "Time between probes."},
	{key: "server.tcp-keepalive-count", kind: kindInt, def: "4", min: 1, max: 127,
		doc: "Unanswered probes before the connection is given up."},
	{key: "server.shutdown-timeout-seconds", kind: kindDuration, unit: time.Second, def: "30",
		doc: "How long calls in flight may go on after SIGTERM before they are cut."},
	{key: "server.drain-delay-seconds", kind: kindDuration, unit: time.Second, def: "0",
		doc: "Time between readiness going off and the listeners closing, for a load balancer to notice."},
}

// The peer's names of the same settings are additional-frontends.<n>.*.
var listenerRows = []row{
	{key: "additional-frontends", kind: kindNames,
		doc: "Names of further listeners, in hms-proxy's spelling; listener.<n>.bind needs no such list."},
	{key: "listener.<n>.bind", kind: kindAddress, into: []string{"listener.<n>.bind-host", "listener.<n>.port"},
		doc: "Address of a further listener, host:port. Required, or its port."},
	{key: "listener.<n>.bind-host", kind: kindHost, derived: "server.bind-host",
		doc: "Host or address to listen on.", aliases: frontend("bind-host")},
	{key: "listener.<n>.port", kind: kindInt, max: anyPort, derived: "required",
		doc: "Port to listen on; 0 takes any free one.", aliases: frontend("port")},
	{key: "listener.<n>.transports", kind: kindChoices, allowed: transports, derived: "server.transports",
		doc: "Transports a client may speak."},
	{key: "listener.<n>.accept-old-binary", kind: kindBool, derived: "server.accept-old-binary",
		doc: "As server.accept-old-binary."},
	{key: "listener.<n>.frontend-profile", kind: kindProfile, derived: "compatibility.frontend-profile",
		doc: "Interface version clients of this listener speak. Required where the listener is one of " +
			"additional-frontends.", aliases: frontend("frontend-profile")},
	{key: "listener.<n>.default-catalog", kind: kindName, derived: "routing.default-catalog",
		doc: "Catalog whose names are bare on this listener."},
	{key: "listener.<n>.client-socket-timeout-ms", kind: kindDuration, unit: time.Millisecond,
		derived: "server.client-socket-timeout-ms",
		doc:     "As server.client-socket-timeout-ms.", aliases: frontend("client-socket-timeout-ms")},
	{key: "listener.<n>.tcp-keepalive", kind: kindBool, derived: "server.tcp-keepalive",
		doc: "As server.tcp-keepalive.", aliases: frontend("tcp-keepalive")},
	{key: "listener.<n>.tcp-keepalive-idle-seconds", kind: kindDuration, unit: time.Second, min: 1, max: 32767,
		derived: "server.tcp-keepalive-idle-seconds", doc: "As server.tcp-keepalive-idle-seconds.",
		aliases: frontend("tcp-keepalive-idle-seconds")},
	{key: "listener.<n>.tcp-keepalive-interval-seconds", kind: kindDuration, unit: time.Second, min: 1, max: 32767,
		derived: "server.tcp-keepalive-interval-seconds", doc: "As server.tcp-keepalive-interval-seconds.",
		aliases: frontend("tcp-keepalive-interval-seconds")},
	{key: "listener.<n>.tcp-keepalive-count", kind: kindInt, min: 1, max: 127,
		derived: "server.tcp-keepalive-count", doc: "As server.tcp-keepalive-count.",
		aliases: frontend("tcp-keepalive-count")},
}

func frontend(name string) []alias { return []alias{{key: "additional-frontends.<n>." + name}} }

var adminRows = []row{
	{key: "admin", kind: kindAddress, into: []string{"management.bind-host", "management.port"},
		doc: "Address of health, readiness and metrics, host:port. Short for management.bind-host and " +
			"management.port."},
	{key: "management.enabled", kind: kindBool, derived: "true when admin or management.port is set",
		doc: "Serve /healthz, /readyz and /metrics."},
	{key: "management.port", kind: kindInt, max: anyPort, derived: "server.port + 1000",
		doc: "Port of the admin listener; 0 takes any free one."},
	{key: "management.bind-host", kind: kindHost, derived: "server.bind-host",
		doc: "Host or address of the admin listener."},
	{key: "log.level", kind: kindChoice, def: "info", allowed: []string{"trace", "debug", "info", "warn", "error"},
		doc: "Least severe line that is written."},
	{key: "log.format", kind: kindChoice, def: "json", allowed: []string{"json", "console"},
		doc: "Form of a log line."},
	{key: "log.calls", kind: kindBool, def: "false",
		doc: "Write one line for each healthy call too. Refused and failed calls always have one."},
	{key: "metrics.prefix", kind: kindText, def: "hmsgate_",
		doc: "What metric names begin with; hms_proxy_ keeps the dashboards of hms-proxy working."},
}

var routingRows = []row{
	{key: "catalogs", kind: kindNames, derived: "the catalogs that have keys, as written",
		doc: "Names of the catalogs, in the order they are listed to clients. Required in a .properties file."},
	{key: "routing.default-catalog", kind: kindName, derived: "the only catalog",
		doc: "Catalog whose database names clients see bare. Required when there are several catalogs."},
	{key: "routing.catalog-db-separator", kind: kindText, def: "__", peer: ".",
		doc: "Text between catalog and database in a namespace."},
	{key: "routing.unknown-methods", kind: kindChoice, def: "forward", peer: "refuse",
		allowed: []string{"forward", "refuse"},
		doc: "Methods in no inventory: forwarded untouched to the default catalog when nothing in them points " +
			"elsewhere, or answered UNKNOWN_METHOD."},
	{key: "routing.global-writes", kind: kindChoice, def: "refuse", allowed: []string{"refuse", "default"},
		doc: "Writes that name no database (roles, resource plans), when there are several catalogs: refused, or " +
			"sent to the default catalog."},
	{key: "routing.catalog-hint-writes", kind: kindChoice, def: "allow", allowed: []string{"allow", "refuse"},
		doc: "Writes routed by a catalog field alone. Locks and write ids have no such field and still mean the " +
			"default catalog, so a site may refuse them."},
	{key: "routing.federated-lists", kind: kindChoice, def: "default", allowed: []string{"default", "all"},
		doc: "Lists of functions (get_all_functions) and of whole databases (get_databases_req) that name no catalog: " +
			"the default catalog's, or those of all. Lists of names are always those of all."},
	{key: "routing.federated-status", kind: kindChoice, def: "default", allowed: []string{"default", "all"},
		doc: "Locks and compactions (show_locks, show_compact) when nothing in particular is asked for: the default " +
			"catalog's, or those of all."},
	{key: "routing.degraded-routing-policy", kind: kindChoice, def: "STRICT",
		allowed: []string{"STRICT", "SAFE_FANOUT_READS"},
		doc: "Listings over all catalogs when one of them fails: the listing fails, or it goes on without that " +
			"catalog and a metric says so."},
	{key: "routing.hedged-read.fanout-timeout-ms", kind: kindDuration, unit: time.Millisecond, def: "30000", min: 1,
		doc: "Deadline of a listing over all catalogs, which are always asked in parallel."},
	{key: "routing.connect-patience-ms", kind: kindDuration, unit: time.Millisecond, def: "5000", min: 1,
		doc: "How long the URIs of a catalog are tried before a call that could not be sent fails."},
	{key: "routing.unreachable", kind: kindChoice, def: "error", allowed: []string{"error", "close"},
		doc: "What a client of an unreachable catalog gets: an error that names the catalog, or its connection " +
			"closed, which makes Hive 4 clients reconnect and try again."},
	{key: "federation.preserve-backend-catalog-name", kind: kindBool, def: "true", peer: "false",
		doc: "Catalog names in replies: the backend's own (hive), or the name of the catalog here."},
	{key: "federation.view-text-rewrite.mode", kind: kindChoice, def: "REWRITE", allowed: []string{"REWRITE", "DISABLED"},
		doc: "Database names inside the texts of views (and Spark's parameters of them) are translated like any " +
			"other, or these texts pass as they are. Views of the default catalog always pass as they are."},
	{key: "federation.view-text-rewrite.preserve-original-text", kind: kindBool, def: "false",
		doc: "Leave a view's original text alone and translate only the expanded one, which engines run."},
}

var limitRows = []row{
	{key: "limits.connections", kind: kindInt, def: "10000", min: 1, max: 1 << 24,
		doc: "Client connections at once; one more gets an error and is closed."},
	{key: "limits.calls-in-flight", kind: kindInt, def: "0", max: 1 << 24,
		doc: "Calls being worked on at once; 0 = no limit of its own."},
	{key: "limits.call-bytes", kind: kindSize, def: "104857600",
		doc: "Largest call; the default is a metastore's own limit. 0 = no limit."},
	{key: "limits.reply-bytes", kind: kindSize, def: "0", doc: "Largest reply; 0 = no limit."},
	{key: "limits.frame-bytes", kind: kindSize, def: "16384000", min: 1, max: 1<<31 - 1,
		doc: "Largest frame of the framed transport; the default is Thrift's."},
	{key: "limits.held-call", kind: kindSize, def: "67108864", min: 1,
		doc: "Largest call that is held whole in memory, where its kind needs that."},
	{key: "limits.held-total", kind: kindSize, def: "1073741824", min: 1,
		doc: "Memory for held messages of all connections together."},
}

// rows lists every row of every section.
func rows() []*row {
	var out []*row
	for _, s := range sections {
		for i := range s.rows {
			out = append(out, &s.rows[i])
		}
	}
	return out
}

// defaultIn gives the default of a row for one spelling, and where it is from.
func (r *row) defaultIn(f Format) (value, origin string) {
	if f == Properties && r.peer != "" {
		return r.peer, "peer default"
	}
	return r.def, "default"
}

// isOff reports whether a value of a later row asks for nothing.
func (r *row) isOff(value string) bool {
	for _, o := range r.off {
		if strings.EqualFold(o, value) {
			return true
		}
	}
	return value == ""
}
