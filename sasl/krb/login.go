package krb

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/types"

	"hmsgate/sasl"
)

const (
	ticketMargin = time.Minute     // a ticket this near its end is not handed out
	retryAfter   = 2 * time.Second // how long a KDC failure stands before the next try
	ticketsMost  = 4096
	renewTick    = 30 * time.Second
)

// Login is our own principal, logged in with a keytab. It logs in again when
// four fifths of a ticket's life are over, with the keytab rather than by
// renewal, and goes on with what it has while no KDC answers.
type Login struct {
	x      *exchanger
	now    func() time.Time
	margin time.Duration

	kdc chan struct{} // holds a token during KDC calls: one at a time (first)
	mu  sync.Mutex    // guards the rest (second)

	tgt     *Ticket
	tickets map[string]*Ticket
	failure error // of the last call, until failed + retryAfter
	failed  time.Time
	status  Status
}

// Status is what readiness and metrics show of a Login.
type Status struct {
	Principal string
	LoggedIn  bool      // the ticket-granting ticket is good now
	End       time.Time // of it
	LastLogin time.Time
	Logins    int
	Failures  int
	LastError string // "" after a success
}

// NewLogin prepares a login of principal (name@REALM) by a krb5.conf. No KDC
// is asked yet: one that is down at start is no reason not to start.
func NewLogin(krb5conf, principal string, keytab *Keytab) (*Login, error) {
	cfg, err := config.Load(krb5conf)
	if err != nil {
		return nil, sasl.Errorf(sasl.Unavailable, "krb5.conf %s: %w", krb5conf, err)
	}
	name, realm, err := splitPrincipal(principal)
	if err != nil {
		return nil, err
	}
	cfg = clientConfig(cfg)
	return &Login{
		x: &exchanger{cfg: cfg, realms: &realms{cfg: cfg, first: map[string]int{}}, keytab: keytab,
			full: principal, client: name, realm: realm},
		now:     time.Now,
		kdc:     make(chan struct{}, 1),
		margin:  ticketMargin,
		tickets: map[string]*Ticket{},
		status:  Status{Principal: principal},
	}, nil
}

// Status returns the state now.
func (l *Login) Status() Status {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.status
	s.LoggedIn = l.tgt != nil && l.now().Before(l.tgt.End)
	return s
}

// Ticket returns a ticket for service/host: the one at hand while it is good.
func (l *Login) Ticket(ctx context.Context, service, host string) (*Ticket, error) {
	name := types.PrincipalName{NameType: 3, NameString: []string{service, host}}
	if _, err := fullName(name, l.x.realm); err != nil {
		return nil, err
	}
	key := service + "/" + host
	if t := l.cached(key); t != nil {
		return t, nil
	}
	if err := l.turn(ctx); err != nil {
		return nil, err
	}
	defer func() { <-l.kdc }()
	if t := l.cached(key); t != nil { // somebody else has fetched it
		return t, nil
	}
	return l.fetch(ctx, key, name)
}

// turn waits for the right to speak with KDCs, no longer than ctx: somebody
// else's wait for one that does not answer is not ours.
func (l *Login) turn(ctx context.Context) error {
	select {
	case l.kdc <- struct{}{}:
		return nil
	case <-ctx.Done():
		return sasl.Errorf(sasl.Unavailable, "waiting for others who ask the KDC: %w", ctx.Err())
	}
}

// cached returns a ticket that is good for the margin, or nil.
func (l *Login) cached(key string) *Ticket {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := l.tickets[key]; t != nil && l.good(t) {
		return t
	}
	return nil
}

// good: short-lived tickets are used for most of their life, too.
func (l *Login) good(t *Ticket) bool {
	return l.now().Before(t.End.Add(-min(l.margin, t.End.Sub(t.start)/5)))
}

// fetch asks the KDC, unless it failed a moment ago. With kdc held.
func (l *Login) fetch(ctx context.Context, key string, name types.PrincipalName) (*Ticket, error) {
	if err := l.recent(); err != nil {
		return nil, err
	}
	tgt, err := l.granting(ctx, false)
	if err != nil {
		return nil, err
	}
	t, err := l.x.service(ctx, tgt, name)
	if err != nil {
		return nil, l.note(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.tickets) >= ticketsMost {
		clear(l.tickets)
	}
	l.tickets[key] = t
	l.status.LastError = ""
	return t, nil
}

func (l *Login) recent() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failure != nil && l.now().Sub(l.failed) < retryAfter {
		return l.failure
	}
	return nil
}

// note keeps an error. Only a KDC that cannot be reached stops other calls
// for a moment: an unknown service says nothing about the next one.
func (l *Login) note(err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if sasl.ReasonOf(err) == sasl.Unavailable && !errors.Is(err, context.Canceled) {
		l.failure, l.failed = err, l.now()
	}
	l.status.Failures++
	l.status.LastError = err.Error()
	return err
}

// granting returns a good ticket-granting ticket. With kdc held.
func (l *Login) granting(ctx context.Context, again bool) (*Ticket, error) {
	l.mu.Lock()
	tgt := l.tgt
	l.mu.Unlock()
	if tgt != nil && l.good(tgt) && !again {
		return tgt, nil
	}
	l.x.keytab.refresh()
	t, err := l.x.login(ctx)
	if isWrongKey(err) && l.x.keytab.Reload() == nil { // replaced this very moment?
		t, err = l.x.login(ctx)
	}
	if err != nil {
		return nil, l.note(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tgt, l.failure = t, nil
	l.status.End, l.status.LastLogin, l.status.LastError = t.End, l.now(), ""
	l.status.Logins++
	return t, nil
}

func isWrongKey(err error) bool {
	var c kdcCode
	return errors.As(err, &c) && c == kdcPreauthFails || sasl.ReasonOf(err) == sasl.Credentials && err != nil
}

// Renew logs in again when it is time, and refreshes the tickets that are
// getting old. What cannot be refreshed stays until its end.
func (l *Login) Renew(ctx context.Context) error {
	if err := l.turn(ctx); err != nil {
		return err
	}
	defer func() { <-l.kdc }()
	l.mu.Lock()
	tgt := l.tgt
	l.mu.Unlock()
	if tgt == nil || l.old(tgt) {
		var err error
		if tgt, err = l.granting(ctx, true); err != nil {
			return err
		}
	}
	for key, name := range l.aging() {
		t, err := l.x.service(ctx, tgt, name)
		if err != nil {
			return l.note(err)
		}
		l.mu.Lock()
		l.tickets[key] = t
		l.mu.Unlock()
	}
	return nil
}

// old: four fifths of its life are over.
func (l *Login) old(t *Ticket) bool {
	life := t.End.Sub(t.start)
	return l.now().After(t.End.Add(-life / 5))
}

// aging drops tickets that have ended and names those to refresh.
func (l *Login) aging() map[string]types.PrincipalName {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := map[string]types.PrincipalName{}
	for key, t := range l.tickets {
		if !l.now().Before(t.End) {
			delete(l.tickets, key)
		} else if l.old(t) {
			list[key] = t.ticket.SName
		}
	}
	return list
}

// Run renews until ctx ends; told hears of each failure.
func (l *Login) Run(ctx context.Context, told func(error)) {
	tick := time.NewTicker(renewTick)
	defer tick.Stop()
	for {
		if err := l.Renew(ctx); err != nil && ctx.Err() == nil && told != nil {
			told(err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
