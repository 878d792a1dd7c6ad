package route

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// DialFunc opens a connection to a metastore's host:port and makes it ready
// (TLS, SASL), as the gateway does it.
type DialFunc func(ctx context.Context, addr string) (net.Conn, error)

const (
	// lately is how long a URI that failed is tried after the others.
	lately = 10 * time.Second
	// firstPause and lastPause bound the pause between two rounds over all
	// URIs; it doubles from one to the other.
	firstPause = 50 * time.Millisecond
	lastPause  = 500 * time.Millisecond
	// leastTry is what one URI gets at least before the next is tried.
	leastTry = 500 * time.Millisecond
)

// Backend is the metastores behind one catalog.
type Backend struct {
	catalog string
	uris    []*URI
	random  bool
	serving atomic.Pointer[URI] // the last one that Switched was told of
}

func newBackend(cc CatalogConfig) (*Backend, error) {
	if len(cc.URIs) == 0 {
		return nil, fmt.Errorf("catalog %q: no uris: at least one thrift://host:port is needed", cc.Name)
	}
	be := &Backend{catalog: cc.Name, random: cc.RandomURIs}
	for _, raw := range cc.URIs {
		addr, err := parseURI(raw)
		if err != nil {
			return nil, fmt.Errorf("catalog %q: uri %q: %w", cc.Name, raw, err)
		}
		for _, u := range be.uris {
			if u.addr == addr {
				return nil, fmt.Errorf("catalog %q: uri %q: listed twice", cc.Name, raw)
			}
		}
		be.uris = append(be.uris, &URI{addr: addr})
	}
	return be, nil
}

func parseURI(raw string) (addr string, err error) {
	if strings.Contains(raw, "://") {
		u, err := url.Parse(raw)
		if err != nil || u.Scheme != "thrift" || u.Host == "" || u.Path != "" && u.Path != "/" {
			return "", errors.New("want thrift://host:port")
		}
		raw = u.Host
	}
	host, port, err := net.SplitHostPort(raw)
	if err != nil || host == "" || port == "" {
		return "", errors.New("want thrift://host:port")
	}
	return net.JoinHostPort(host, port), nil
}

// URIs are all URIs in configured order. The slice is the backend's.
func (be *Backend) URIs() []*URI { return be.uris }

// Dial connects to the first URI that can be reached: in order (or from a
// random one on), those that failed lately last, round after round until
// patience is over. Each round tries every URI, and a URI that does not answer
// leaves the others their share of the time; one that refuses the caller ends
// the search (a *Refusal of dial). The error is a *DialError, or
// wraps ctx's when ctx ended first.
func (be *Backend) Dial(ctx context.Context, dial DialFunc, patience time.Duration) (net.Conn, *URI, error) {
	end := time.Now().Add(patience)
	fail := &DialError{Catalog: be.catalog}
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		order := be.order(time.Now())
		for i, u := range order {
			share := max(time.Until(end)/time.Duration(len(order)-i), leastTry)
			c, err := u.dial(ctx, dial, share)
			if err == nil {
				return c, u, nil
			}
			fail.add(u.addr, err)
			if refused(err) {
				return nil, nil, fail
			}
			if ctx.Err() != nil {
				return nil, nil, fmt.Errorf("%w: %w", fail, ctx.Err())
			}
		}
		if time.Until(end) <= pause {
			return nil, nil, fail
		}
		if err := wait(ctx, pause); err != nil {
			return nil, nil, fmt.Errorf("%w: %w", fail, err)
		}
	}
}

// refused says that a metastore was reached and does not want this caller:
// another one, or another try, would give the same answer.
func refused(err error) bool {
	var r *Refusal
	return errors.As(err, &r)
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Switched notes which URI serves the catalog and gives the one before it when
// that is another and has not merely taken its turn.
func (be *Backend) Switched(to *URI) (from *URI) {
	from = be.serving.Swap(to)
	if from == to || from != nil && be.random && from.FailedAt().IsZero() {
		return nil
	}
	return from
}

// order is the URIs in the order in which they are tried.
func (be *Backend) order(now time.Time) []*URI {
	out := make([]*URI, 0, len(be.uris))
	first := 0
	if be.random {
		first = rand.IntN(len(be.uris))
	}
	var late []*URI
	for i := range be.uris {
		u := be.uris[(first+i)%len(be.uris)]
		if at := u.FailedAt(); !at.IsZero() && now.Sub(at) < lately {
			late = append(late, u)
			continue
		}
		out = append(out, u)
	}
	return append(out, late...)
}

// DialError says why no metastore of a catalog could be reached.
type DialError struct {
	Catalog string
	Causes  []DialCause // the last one of each URI tried
}

// DialCause is one URI's reason.
type DialCause struct {
	Addr string
	Err  error
}

func (e *DialError) add(addr string, err error) {
	for i := range e.Causes {
		if e.Causes[i].Addr == addr {
			e.Causes[i].Err = err
			return
		}
	}
	e.Causes = append(e.Causes, DialCause{addr, err})
}

func (e *DialError) Error() string {
	var sb strings.Builder
	sb.WriteString(textUnreachable(e.Catalog))
	for i, c := range e.Causes {
		sep := "; "
		if i == 0 {
			sep = ": "
		}
		fmt.Fprintf(&sb, "%s%s: %v", sep, c.Addr, c.Err)
	}
	return sb.String()
}

// Unwrap gives each URI's reason to errors.Is and errors.As.
func (e *DialError) Unwrap() []error {
	errs := make([]error, len(e.Causes))
	for i, c := range e.Causes {
		errs[i] = c.Err
	}
	return errs
}

// URI is one metastore and what is known about it. All methods are safe for
// concurrent use.
type URI struct {
	addr string

	mu     sync.Mutex
	failed time.Time     // when it was last found unreachable; zero since it was reached
	label  string        // its profile, "" while unknown
	epoch  uint64        // counts what was learned or forgotten
	known  chan struct{} // closed when the profile becomes known; nil while nobody waits
}

// Addr is host:port.
func (u *URI) Addr() string { return u.addr }

func (u *URI) dial(ctx context.Context, dial DialFunc, share time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, share)
	defer cancel()
	c, err := dial(ctx, u.addr)
	if err != nil {
		if !refused(err) {
			u.Fail()
		}
		return nil, err
	}
	u.mu.Lock()
	u.failed = time.Time{}
	u.mu.Unlock()
	return c, nil
}

// Fail notes that the URI was found unreachable now.
func (u *URI) Fail() {
	u.mu.Lock()
	u.failed = time.Now()
	u.mu.Unlock()
}

// FailedAt is when the URI was last found unreachable; zero since it was reached.
func (u *URI) FailedAt() time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.failed
}

// Profile is the label of the interface version the metastore speaks, "" while
// it is unknown, and the epoch, which changes when the label does: what was
// learned under another epoch no longer holds.
func (u *URI) Profile() (label string, epoch uint64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.label, u.epoch
}

// SetProfile notes what the metastore speaks; "" forgets it.
func (u *URI) SetProfile(label string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.label != label {
		u.label = label
		u.epoch++
	}
	if label != "" && u.known != nil {
		close(u.known)
		u.known = nil
	}
}

// AwaitProfile waits until the profile is known or ctx ends.
func (u *URI) AwaitProfile(ctx context.Context) (label string, epoch uint64, err error) {
	for {
		u.mu.Lock()
		label, epoch = u.label, u.epoch
		if label == "" && u.known == nil {
			u.known = make(chan struct{})
		}
		known := u.known
		u.mu.Unlock()
		if label != "" {
			return label, epoch, nil
		}
		select {
		case <-known:
		case <-ctx.Done():
			return "", epoch, fmt.Errorf("metastore %s: its version is not known yet: %w", u.addr, ctx.Err())
		}
	}
}
