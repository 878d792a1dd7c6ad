package admin

import "time"

// Readiness is what /readyz says: a snapshot of facts that others keep up to date.
type Readiness struct {
	Draining  bool // told to stop: the load balancer should look elsewhere
	Backends  []Backend
	LockStore *LockStore // nil: there is none that could be away
	Kerberos  Kerberos
}

// LockStore is what instances share of the gateway's own locks. Without it only
// calls that need a lock at several metastores fail, so that readiness does not
// depend on it: all instances would be out at once.
type LockStore struct {
	Connected bool   `json:"connected"`
	LastError string `json:"lastError,omitempty"`
}

// Kerberos is the state of the gateway's own logins.
type Kerberos struct {
	Backend Login // towards metastores
}

// Login is one of them.
type Login struct {
	Enabled   bool
	LoggedIn  bool // its ticket is good now
	Principal string
	Expires   time.Time
	LastError string // "" after a success
}

// State is the Java proxy's word for it.
func (l Login) State() string {
	switch {
	case !l.Enabled:
		return "DISABLED"
	case l.LoggedIn && l.LastError == "":
		return "ACTIVE"
	case l.LoggedIn: // the KDC does not answer; what there is serves on
		return "STALE"
	case l.LastError != "":
		return "FAILED"
	}
	return "PENDING"
}

// Backend is the health of one configured catalog's backend as last seen, by calls or by polling.
type Backend struct {
	Name        string
	Connected   bool // the last attempt succeeded; false before the first
	Degraded    bool // must be healthy for readiness and is not
	LastSuccess time.Time
	LastFailure time.Time
	LastLatency time.Duration
	LastError   string
	Version     string // as the backend gave it, empty until asked
}

// The JSON forms: names of the Java proxy, and null for what has not happened yet.
type readyJSON struct {
	Status              string        `json:"status"`
	Alive               bool          `json:"alive"`
	BackendConnectivity string        `json:"backendConnectivity"`
	Backends            []backendJSON `json:"backends"`
	LockStore           *LockStore    `json:"lockStore,omitempty"`
	Kerberos            *kerberosJSON `json:"kerberos,omitempty"` // when there is any
}

type kerberosJSON struct {
	Backend *loginJSON `json:"backend,omitempty"`
}

type loginJSON struct {
	Component             string `json:"component"`
	Enabled               bool   `json:"enabled"`
	LoggedIn              bool   `json:"loggedIn"`
	Healthy               bool   `json:"healthy"`
	State                 string `json:"state"`
	Principal             string `json:"principal"`
	CheckedAtEpochSecond  int64  `json:"checkedAtEpochSecond"`
	TgtExpiresEpochSecond *int64 `json:"tgtExpiresAtEpochSecond"`
	SecondsUntilExpiry    *int64 `json:"secondsUntilExpiry"`
	Detail                string `json:"detail,omitempty"`
}

func (l Login) json(component string) *loginJSON {
	if !l.Enabled {
		return nil
	}
	now := time.Now()
	v := &loginJSON{Component: component, Enabled: true, LoggedIn: l.LoggedIn, Healthy: l.LoggedIn, State: l.State(),
		Principal: l.Principal, CheckedAtEpochSecond: now.Unix(), TgtExpiresEpochSecond: epoch(l.Expires), Detail: l.LastError}
	if !l.Expires.IsZero() {
		left := max(0, int64(l.Expires.Sub(now)/time.Second))
		v.SecondsUntilExpiry = &left
	}
	return v
}

type backendJSON struct {
	Backend                string  `json:"backend"`
	Connected              bool    `json:"connected"`
	Degraded               bool    `json:"degraded"`
	LastSuccessEpochSecond *int64  `json:"lastSuccessEpochSecond"`
	LastFailureEpochSecond *int64  `json:"lastFailureEpochSecond"`
	LastLatencyMs          float64 `json:"lastLatencyMs"`
	LastError              string  `json:"lastError,omitempty"`
	Version                string  `json:"version,omitempty"`
}

type healthJSON struct {
	Status        string `json:"status"`
	Alive         bool   `json:"alive"`
	UptimeSeconds int64  `json:"uptimeSeconds"`
}

func (r Readiness) json() (v readyJSON, ready bool) {
	v = readyJSON{Status: "ready", Alive: true, BackendConnectivity: "ok", Backends: []backendJSON{}, LockStore: r.LockStore}
	for _, b := range r.Backends {
		if b.Degraded {
			v.Status, v.BackendConnectivity = "degraded", "degraded"
		}
		v.Backends = append(v.Backends, backendJSON{
			Backend: b.Name, Connected: b.Connected, Degraded: b.Degraded,
			LastSuccessEpochSecond: epoch(b.LastSuccess), LastFailureEpochSecond: epoch(b.LastFailure),
			LastLatencyMs: float64(b.LastLatency.Microseconds()) / 1000,
			LastError:     b.LastError, Version: b.Version,
		})
	}
	if b := r.Kerberos.Backend.json("backend"); b != nil {
		v.Kerberos = &kerberosJSON{Backend: b}
	}
	if r.Draining {
		v.Status = "draining"
	}
	return v, v.Status == "ready"
}

func epoch(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	s := t.Unix()
	return &s
}
