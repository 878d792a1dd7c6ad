package admin

import "time"

// Readiness is what /readyz says: a snapshot of facts that others keep up to date.
type Readiness struct {
	Draining  bool // told to stop: the load balancer should look elsewhere
	Backends  []Backend
	LockStore *LockStore // nil: there is none that could be away
}

// LockStore is what instances share of the gateway's own locks. Without it only
// calls that need a lock at several metastores fail, so that readiness does not
// depend on it: all instances would be out at once.
type LockStore struct {
	Connected bool   `json:"connected"`
	LastError string `json:"lastError,omitempty"`
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
