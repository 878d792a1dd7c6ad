package metrics

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// Status is how a call ended, in the Java proxy's words.
type Status uint8

const (
	OK        Status = iota
	Error            // the client got an exception or lost its connection
	Fallback         // answered by another call or another catalog than the first choice
	Throttled        // refused by a limit
	Degraded         // answered from fewer backends than asked
	statuses
)

var statusNames = [statuses]string{"ok", "error", "fallback", "throttled", "degraded"}

func (s Status) String() string { return statusNames[s] }

// Indexes of Table.Call beside those of the configured catalogs.
const (
	NoCatalog  = -1 // answered by the gateway itself
	AllCatalog = -2 // a fan-out
)

// A Catalog is the pair of labels of one configured catalog.
type Catalog struct{ Name, Backend string }

// A Table finds the counters of one configuration's calls. It is safe for concurrent use.
type Table struct {
	reg      *Registry
	methods  []string
	catalogs []Catalog // the configured ones, then none, then all

	// One slot per method (the last for methods of no inventory) and catalog, filled at first use: a series
	// that never counted anything costs nothing in a scrape.
	slots []atomic.Pointer[Call]
}

// Table makes the view of one configuration. The index of a method or catalog is its place in the argument.
func (r *Registry) Table(methods []string, catalogs []Catalog) *Table {
	all := append(catalogs[:len(catalogs):len(catalogs)], Catalog{"none", "none"}, Catalog{"all", "fanout"})
	return &Table{
		reg: r, methods: methods, catalogs: all,
		slots: make([]atomic.Pointer[Call], (len(methods)+1)*len(all)),
	}
}

// Call returns the counters of a method, by its index or any other number for a method of no inventory, in a
// catalog, by its index, NoCatalog or AllCatalog. The result stays valid for the Registry's life.
func (t *Table) Call(method, catalog int) *Call {
	n := len(t.catalogs)
	switch {
	case catalog == AllCatalog:
		catalog = n - 1
	case catalog < 0 || catalog >= n-2:
		catalog = n - 2
	}
	if method < 0 || method >= len(t.methods) {
		method = len(t.methods)
	}
	slot := &t.slots[method*n+catalog]
	if c := slot.Load(); c != nil {
		return c
	}
	name := other
	if method < len(t.methods) {
		name = t.methods[method]
	}
	// Two first calls at once resolve the same children twice and share them: the vectors give each label
	// set one child.
	c := newCall(t.reg, name, t.catalogs[catalog])
	slot.Store(c)
	return c
}

// A Call holds the resolved counters of one method in one catalog.
type Call struct {
	reg               *Registry
	method            string
	catalog           Catalog
	duration          prometheus.Observer
	bytesIn, bytesOut prometheus.Counter
	requests          [statuses]atomic.Pointer[prometheus.Counter]
	routed            atomic.Pointer[prometheus.Counter]
}

func newCall(r *Registry, method string, c Catalog) *Call {
	return &Call{
		reg: r, method: method, catalog: c,
		duration: r.duration.WithLabelValues(method, c.Name, c.Backend),
		bytesIn:  r.bytesIn, bytesOut: r.bytesOut,
	}
}

// Observe counts one ended call: bytes read from the client for it and bytes written to the client.
func (c *Call) Observe(s Status, seconds float64, bytesIn, bytesOut int64) {
	p := c.requests[s].Load()
	if p == nil {
		n := c.reg.requests.WithLabelValues(c.method, c.catalog.Name, c.catalog.Backend, s.String())
		p = &n
		c.requests[s].Store(p)
	}
	(*p).Inc()
	c.duration.Observe(seconds)
	c.bytesIn.Add(float64(bytesIn))
	c.bytesOut.Add(float64(bytesOut))
}

// DefaultRouted counts a call that named no namespace and went to the default catalog.
func (c *Call) DefaultRouted() {
	p := c.routed.Load()
	if p == nil {
		n := c.reg.defaultRouted.WithLabelValues(c.method)
		p = &n
		c.routed.Store(p)
	}
	(*p).Inc()
}
