package session

import (
	"context"
	"net"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"hmsgate/frame"
	"hmsgate/internal/metrics"
	"hmsgate/profiles"
	"hmsgate/rewrite"
	"hmsgate/route"
)

// Limits bound what one client, and all of them, may ask for. Zero means no
// limit, but for Frame and HeldCall, which have defaults.
type Limits struct {
	Call      int64         // bytes of a call
	Reply     int64         // bytes of a reply
	Frame     int           // bytes of a frame
	HeldCall  int           // bytes of a call or a merged reply that is held whole
	InFlight  int64         // calls at once
	Patience  time.Duration // to find a backend that answers a connect
	Fanout    time.Duration // of a call that goes to several backends
	CloseDead bool          // an unreachable backend closes the client's connection
	Lenient   bool          // merged answers do without catalogs that fail
}

// Target is what the session needs to know of a catalog beside its route.
type Target struct {
	Framed bool
	SASL   bool // who we are was settled when it was dialled
	// Impersonate: the backend is to see the client's user, or is not called.
	Impersonate bool
	Timeout     time.Duration // of a call; 0: none
}

// DialFunc opens a connection to a metastore of a catalog and makes it ready,
// as user where there is SASL, as the gateway for "". What it returns may be
// Protected. A *route.Refusal is for the client.
type DialFunc func(ctx context.Context, catalog int, addr, user string) (net.Conn, error)

// Answer makes the reply to a call that is not simply forwarded. An error
// ends the client's connection.
type Answer func(*Call) error

// Check looks at a routed call before a byte is sent. It sees names as facts
// of the binding, the method as its row.
type Check func(*Call) *route.Refusal

// Env is what all sessions of one configuration share. It does not change;
// sessions take a new one at their next call.
type Env struct {
	Table    *route.Table
	Profiles *profiles.Set // nil: the built-in ones
	Plans    *profiles.Plans
	Targets  []Target // by the catalogs' order in Table
	Checks   []Check
	Dial     DialFunc
	// Alive asks a metastore on a fresh connection whether it is well.
	Alive   func(u *route.URI, catalog int) bool
	Limits  Limits
	Budget  *frame.Budget
	Metrics *metrics.Registry
	Log     zerolog.Logger
	// LogCalls writes a line for healthy calls too.
	LogCalls bool

	Draining *atomic.Bool
	InFlight *atomic.Int64

	// How long a backend connection may be idle before it is looked at, and
	// before it is closed. Prepare sets them; tests change them.
	stale, keep time.Duration

	methods  map[string]*method
	ugi      string // the method that tells who a client is
	programs map[string]Answer
	versions *versions
	lacking  *lacking
	counts   *metrics.Table
	copying  *rewrite.Plan // copies any body unseen
}

// method is everything about a method that a call needs, found by one look-up.
type method struct {
	*profiles.MethodPlan
	index  int
	answer Answer
}

// Prepare completes e with the answers that its plans' rows name.
func (e *Env) Prepare(answers map[string]Answer) error {
	if e.Limits.Frame <= 0 {
		e.Limits.Frame = frame.DefaultFrameMax
	}
	if e.Limits.HeldCall <= 0 {
		e.Limits.HeldCall = 64 << 20
	}
	if e.stale == 0 {
		e.stale, e.keep = staleAfter, backendIdle
	}
	var err error
	if e.Profiles == nil {
		if e.Profiles, err = profiles.Builtin(); err != nil {
			return err
		}
	}
	if e.versions, err = newVersions(e.Profiles, e.Plans.Front); err != nil {
		return err
	}
	e.programs, e.lacking = answers, newLacking()
	names := e.Plans.Methods()
	e.methods = make(map[string]*method, len(names))
	for i, name := range names {
		p := e.Plans.Method([]byte(name))
		m := &method{MethodPlan: p, index: i}
		if p.Answer != "" {
			if m.answer = answers[p.Answer]; m.answer == nil {
				return &missingAnswer{p.Method, p.Answer}
			}
			if p.Answer == answerUGI {
				e.ugi = name
			}
		}
		e.methods[name] = m
	}
	cats := make([]metrics.Catalog, len(e.Table.Catalogs()))
	for i, c := range e.Table.Catalogs() {
		cats[i] = metrics.Catalog{Name: c.Name, Backend: c.Name}
	}
	e.counts = e.Metrics.Table(names, cats)
	b := rewrite.NewBuilder()
	b.Root(b.Node("any"))
	e.copying, err = b.Build()
	return err
}

type missingAnswer struct{ method, answer string }

func (e *missingAnswer) Error() string {
	return "method " + e.method + ": its row names answer " + e.answer + ", which does not exist"
}
