package gateway

import (
	"net/netip"
	"sync"
	"time"
)

// Failed logins of one address: so many at once, and so many a second after
// that. A cluster behind one address has room for a broken job.
const (
	failureBurst  = 100
	failureRefill = 10.0
	visitorsMost  = 1 << 16
)

// doorman bounds what clients may ask for before anybody knows who they are:
// how many are at the doors, from one address too, and how often one fails.
type doorman struct {
	most, each int
	now        func() time.Time

	mu       sync.Mutex // guards the rest
	inside   int
	visitors map[netip.Prefix]*visitor
	told     time.Time // when a refusal was last worth a line
}

// visitor is an address that is at a door or has failed there lately.
type visitor struct {
	inside   int
	failures float64 // at the time since
	since    time.Time
}

func newDoorman(most, each int) *doorman {
	return &doorman{most: most, each: each, now: time.Now, visitors: map[netip.Prefix]*visitor{}}
}

// place is what counts as one address: of IPv6 a network, which a single host
// has all of.
func place(a netip.Addr) netip.Prefix {
	bits := a.BitLen()
	if a.Is6() {
		bits = 64
	}
	p, _ := a.Prefix(bits) // the zero prefix for no address
	return p
}

// enter takes a place for a client, and says by what name it was refused one.
func (d *doorman) enter(a netip.Addr) (leave func(failed bool), refused string) {
	p, now := place(a), d.now()
	d.mu.Lock()
	defer d.mu.Unlock()
	v := d.visitors[p]
	if v == nil {
		v = &visitor{since: now}
	}
	v.forgive(now)
	switch {
	case v.failures >= failureBurst:
		return nil, "failures"
	case v.inside >= d.each, d.inside >= d.most:
		return nil, "handshakes"
	}
	if d.visitors[p] == nil {
		if len(d.visitors) >= visitorsMost {
			d.sweep(now)
		}
		d.visitors[p] = v
	}
	v.inside++
	d.inside++
	return func(failed bool) { d.leave(p, v, failed) }, ""
}

// tell says whether a refusal is worth a line: one a second is.
func (d *doorman) tell() bool {
	now := d.now()
	d.mu.Lock()
	defer d.mu.Unlock()
	if now.Sub(d.told) < time.Second {
		return false
	}
	d.told = now
	return true
}

func (d *doorman) leave(p netip.Prefix, v *visitor, failed bool) {
	now := d.now()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.inside--
	v.inside--
	v.forgive(now)
	if failed {
		v.failures++
	}
	if v.inside == 0 && v.failures == 0 {
		delete(d.visitors, p)
	}
}

// sweep makes room: whoever is not here now is forgiven when nobody else is
// to be forgotten.
func (d *doorman) sweep(now time.Time) {
	for all := range 2 {
		for p, v := range d.visitors {
			if v.forgive(now); v.inside == 0 && (v.failures == 0 || all == 1) {
				delete(d.visitors, p)
			}
		}
		if len(d.visitors) < visitorsMost {
			return
		}
	}
}

func (v *visitor) forgive(now time.Time) {
	v.failures = max(0, v.failures-failureRefill*now.Sub(v.since).Seconds())
	v.since = now
}
