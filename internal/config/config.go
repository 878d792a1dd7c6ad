package config

import "time"

// Config is one configuration, complete and checked.
type Config struct {
	File           string
	Name           string     // the server's name for fb303
	Listeners      []Listener // the main one first
	Admin          string     // host:port of the admin listener, "" when there is none
	Catalogs       []Catalog  // in the order they are listed to clients
	DefaultCatalog string
	Separator      string // between catalog and database

	// PreserveBackendCatalogName leaves catalog names in replies as the
	// backend gave them.
	PreserveBackendCatalogName bool

	RewriteViews         bool // names in views' texts are translated
	KeepOriginalViewText bool // only in the expanded text

	FrontDoor FrontDoor

	Routing Routing
	Locks   Locks
	Limits  Limits
	Log     Log

	Outbound Outbound

	MetricsPrefix   string
	ShutdownTimeout time.Duration // for calls in flight after the listeners closed
	DrainDelay      time.Duration // between readiness off and listeners closed

	// Notes are warnings and notes, a line each, "FILE:LINE: warning: ...".
	Notes []string

	settings []Setting
	profiles []profileUse
	imports  []importUse
}

// Listener is one address clients connect to.
type Listener struct {
	Name            string // "server" for the main one
	Bind            string // host:port for net.Listen
	Raw, Framed     bool   // transports it accepts
	AcceptOldBinary bool
	FrontendProfile string // "auto" or an inventory's label
	DefaultCatalog  string
	ReadTimeout     time.Duration // between calls, 0 = none
	KeepAlive       KeepAlive
	Security        Security
}

// KeepAlive is TCP keepalive of client connections.
type KeepAlive struct {
	Enabled        bool
	Idle, Interval time.Duration
	Count          int
}

// Catalog is one group of metastores that hold the same data.
type Catalog struct {
	Name           string
	Addresses      []string // host:port each, in the order written
	Random         bool     // try them in random order
	BackendCatalog string   // its name inside the metastore
	IDSlot         uint16   // of its lock and compaction ids; 0: made of its name
	Locks          int      // owner, primary, synthetic, off: 0 to 3
	Profile        string   // "auto" or an inventory's label
	Framed         bool
	Description    string
	LocationURI    string
	CallTimeout    time.Duration     // 0 = none
	Conf           map[string]string // other Hive settings, backend.conf included
	Secure
}

// Routing is what is done with calls that are not simply forwarded.
type Routing struct {
	RefuseUnknownMethods bool
	GlobalWrites         bool // to the default catalog, instead of refused
	RefuseHintWrites     bool
	AllLists             bool // of functions, and of databases whole
	AllStatus            bool // of locks and compactions
	LenientFanout        bool // a listing goes on without a failed catalog
	FanoutTimeout        time.Duration
	ConnectPatience      time.Duration
	CloseUnreachable     bool // close the client's connection instead of an error
}

// Limits bound what clients and backends may ask for; 0 = none, where said.
type Limits struct {
	Connections   int
	CallsInFlight int   // 0 = none
	CallBytes     int64 // 0 = none
	ReplyBytes    int64 // 0 = none
	FrameBytes    int64
	HeldCall      int64
	HeldTotal     int64

	// Clients that have not authenticated yet, all and from one address, and
	// their largest Kerberos token.
	Handshakes, HandshakesPerAddress int
	HandshakeBytes                   int64
}

// Log is what is logged and how.
type Log struct {
	Level  string // trace, debug, info, warn, error
	Format string // json, console
	Calls  bool   // a line for each healthy call
}

// Setting is the effective value of one key.
type Setting struct {
	Key    string
	Value  string // hidden when the key is a secret
	Origin string // "file:line", "default" or "peer default"
}

// importUse is an interface description that somebody wants imported.
type importUse struct {
	at    setting
	label string
	path  string
}

// profileUse is an inventory label somebody wrote.
type profileUse struct {
	at    setting
	key   string
	label string
}
