package token

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"hmsgate/sasl"
)

// Refused is a refusal whose text is for the caller, who has authenticated.
type Refused struct{ Text string }

func (e *Refused) Error() string { return e.Text }

func refuse(format string, args ...any) error { return &Refused{fmt.Sprintf(format, args...)} }

// errNotValid: unknown, cancelled, run out and forged tokens are one thing to
// the caller.
var errNotValid = &Refused{"token is not valid"}

// Config is what an Authority works with. Zero values are Hive's defaults.
type Config struct {
	Store         Store
	Algorithm     Algorithm     // HmacSHA1
	RenewInterval time.Duration // 1 day
	MaxLifetime   time.Duration // 7 days
	KeyInterval   time.Duration // 1 day
	Collect       time.Duration // 1 hour
	// NoAutoRenew refuses a token past its renew date, as Hive 3 does. Else it
	// is renewed when used, as Hive 4 does: no Hive client renews.
	NoAutoRenew bool
	PerOwner    int // 1,000 tokens
	Total       int // 100,000 tokens
	// ShortName maps full names (auth_to_local).
	ShortName func(string) (string, error)
	// MayActFor is asked when a caller wants a token for somebody else.
	MayActFor func(ctx context.Context, principal, user, owner string, peer netip.Addr) error
	// Admins, by short name, may cancel any token.
	Admins []string
	Now    func() time.Time
}

// Authority issues, renews, cancels and verifies delegation tokens. It is the
// Secrets of a DIGEST-MD5 server.
type Authority struct {
	c      Config
	ring   keyring
	counts counts
	seq    atomic.Int32
}

// New makes an authority; Start must follow.
func New(c Config) (*Authority, error) {
	if c.Store == nil || c.ShortName == nil {
		return nil, sasl.Errorf(sasl.Unavailable, "tokens need a store and a name mapping")
	}
	if _, err := c.Algorithm.hash(); err != nil {
		return nil, err
	}
	const day = 24 * time.Hour
	setDefault(&c.RenewInterval, day)
	setDefault(&c.MaxLifetime, 7*day)
	setDefault(&c.KeyInterval, day)
	setDefault(&c.Collect, time.Hour)
	if c.PerOwner <= 0 {
		c.PerOwner = 1000
	}
	if c.Total <= 0 {
		c.Total = 100000
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Authority{c: c, ring: keyring{store: c.Store, now: c.Now}}, nil
}

func setDefault(d *time.Duration, v time.Duration) {
	if *d <= 0 {
		*d = v
	}
}

// Start makes this instance's master key and counts what is there.
func (a *Authority) Start(ctx context.Context) error {
	if err := a.ring.roll(ctx, a.c.KeyInterval, a.c.MaxLifetime); err != nil {
		return err
	}
	return a.Collect(ctx)
}

// Roll makes a new master key.
func (a *Authority) Roll(ctx context.Context) error {
	return a.ring.roll(ctx, a.c.KeyInterval, a.c.MaxLifetime)
}

// Run rolls and collects until ctx ends; told hears of each failure. Where
// several instances share a store, leader (nil: always) says which one cleans.
func (a *Authority) Run(ctx context.Context, leader func() bool, told func(error)) {
	roll, sweep := time.NewTicker(a.c.KeyInterval), time.NewTicker(a.c.Collect)
	defer roll.Stop()
	defer sweep.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-roll.C:
			err = a.Roll(ctx)
		case <-sweep.C:
			if leader == nil || leader() {
				err = a.Collect(ctx)
			}
		}
		if err != nil && ctx.Err() == nil && told != nil {
			told(err)
		}
	}
}

// Collect removes what has run out and counts the rest.
func (a *Authority) Collect(ctx context.Context) error {
	list, err := a.c.Store.Tokens(ctx)
	if err != nil {
		return sasl.Errorf(sasl.Unavailable, "tokens: %w", err)
	}
	fresh := map[string]int{}
	for _, raw := range list {
		d, err := ParseIdentifier(raw)
		if err != nil {
			continue // another program's: not ours to remove
		}
		if a.c.Now().After(d.end()) {
			if err := a.c.Store.RemoveToken(ctx, raw); err != nil && !errors.Is(err, ErrNotFound) {
				return sasl.Errorf(sasl.Unavailable, "token %v: %w", d, err)
			}
			continue
		}
		fresh[a.account(d.Owner)]++
	}
	a.counts.set(fresh)
	return a.ring.collect(ctx)
}

// Issue makes a token for owner ("" : the caller). The caller has
// authenticated by other means than a token: otherwise a stolen token would
// make new ones for ever.
func (a *Authority) Issue(ctx context.Context, caller sasl.Identity, peer netip.Addr, owner, renewer string) (string, error) {
	if caller.Token != "" || caller.User == "" {
		return "", refuse("Delegation Token can be issued only with kerberos authentication")
	}
	if owner == "" {
		owner = caller.Principal
	}
	short, err := a.short(owner)
	if err != nil {
		return "", refuse("owner %q cannot be mapped to a short name", owner)
	}
	if short != caller.User {
		if a.c.MayActFor == nil {
			return "", refuse("User: %s is not allowed to impersonate %s", caller.Principal, short)
		}
		if err := a.c.MayActFor(ctx, caller.Principal, caller.User, short, peer); err != nil {
			return "", err
		}
	}
	if renewer, err = a.short(renewer); err != nil {
		return "", refuse("No rules applied to the renewer of a token")
	}
	if len(owner) > textMax || len(renewer) > textMax || len(caller.Principal) > textMax {
		return "", refuse("a name of the token is longer than %d bytes", textMax)
	}
	if !a.counts.take(short, a.c.PerOwner, a.c.Total) {
		return "", refuse("too many delegation tokens: at most %d for an owner, %d in all", a.c.PerOwner, a.c.Total)
	}
	s, err := a.sign(ctx, Identifier{Owner: owner, Renewer: renewer, RealUser: caller.Principal})
	if err != nil {
		a.counts.give(short)
	}
	return s, err
}

// short maps a name that may be short already, or empty.
func (a *Authority) short(name string) (string, error) {
	if name == "" || !strings.ContainsAny(name, "@/") {
		return name, nil
	}
	return a.c.ShortName(name)
}

// account is the name an owner's tokens are counted under: however the owner
// is spelled, the short one.
func (a *Authority) account(owner string) string {
	if s, err := a.short(owner); err == nil {
		return s
	}
	return owner
}

// sign completes, signs and stores an identifier.
func (a *Authority) sign(ctx context.Context, d Identifier) (string, error) {
	k, err := a.ring.own(ctx)
	if err != nil {
		return "", err
	}
	now := a.c.Now()
	d.Issue, d.Max, d.Key = now.UnixMilli(), now.Add(a.c.MaxLifetime).UnixMilli(), k.ID
	d.Seq = a.seq.Add(1) & 0x7fffffff
	raw := d.Append(nil)
	if len(raw) > identifierMax {
		return "", refuse("token identifier of %d bytes, at most %d", len(raw), identifierMax)
	}
	r := Record{Password: a.c.Algorithm.Password(k.Key, raw), Renew: a.renewDate(d)}
	if err := a.c.Store.AddToken(ctx, raw, r); err != nil {
		return "", sasl.Errorf(sasl.Unavailable, "storing token %v: %w", d, err)
	}
	return Token{Identifier: raw, Password: r.Password, Kind: Kind}.Encode(), nil
}

func (a *Authority) renewDate(d Identifier) time.Time {
	t := a.c.Now().Add(a.c.RenewInterval)
	if end := d.end(); t.After(end) {
		return end
	}
	return t
}

// known checks a token presented by an authenticated caller.
func (a *Authority) known(ctx context.Context, text string) (Identifier, []byte, error) {
	t, err := Decode(text)
	if err != nil {
		return Identifier{}, nil, errNotValid
	}
	d, err := ParseIdentifier(t.Identifier)
	if err != nil || t.Kind != Kind {
		return Identifier{}, nil, errNotValid
	}
	r, err := a.c.Store.Token(ctx, t.Identifier)
	if errors.Is(err, ErrNotFound) {
		return d, nil, errNotValid
	}
	if err != nil {
		return d, nil, sasl.Errorf(sasl.Unavailable, "token %v: %w", d, err)
	}
	if subtle.ConstantTimeCompare(t.Password, r.Password) != 1 || a.c.Now().After(d.end()) {
		return d, nil, errNotValid
	}
	return d, t.Identifier, nil
}

// Renew gives a token its interval again and returns its new end in ms. Only
// its renewer may.
func (a *Authority) Renew(ctx context.Context, caller sasl.Identity, text string) (int64, error) {
	d, raw, err := a.known(ctx, text)
	if err != nil {
		return 0, err
	}
	if d.Renewer == "" || d.Renewer != caller.User {
		return 0, refuse("%s tries to renew a token (%v) with non-matching renewer %s", caller.User, d, d.Renewer)
	}
	t := a.renewDate(d)
	if err := a.setRenew(ctx, d, raw, t); err != nil {
		return 0, err
	}
	return t.UnixMilli(), nil
}

func (a *Authority) setRenew(ctx context.Context, d Identifier, raw []byte, t time.Time) error {
	err := a.c.Store.SetRenew(ctx, raw, t)
	if errors.Is(err, ErrNotFound) { // cancelled this very moment
		return errNotValid
	}
	if err != nil {
		return sasl.Errorf(sasl.Unavailable, "token %v: %w", d, err)
	}
	return nil
}

// Cancel ends a token. Its owner, its renewer and admins may, with the whole
// token in hand; Hive lets anybody.
func (a *Authority) Cancel(ctx context.Context, caller sasl.Identity, text string) error {
	d, raw, err := a.known(ctx, text)
	if err != nil {
		return err
	}
	owner, err := a.short(d.Owner)
	allowed := err == nil && owner == caller.User || d.Renewer != "" && d.Renewer == caller.User
	for _, admin := range a.c.Admins {
		allowed = allowed || admin == caller.User
	}
	if !allowed || caller.User == "" {
		return refuse("%s is not authorized to cancel the token (%v)", caller.User, d)
	}
	switch err := a.c.Store.RemoveToken(ctx, raw); {
	case errors.Is(err, ErrNotFound):
		return errNotValid
	case err != nil:
		return sasl.Errorf(sasl.Unavailable, "token %v: %w", d, err)
	}
	a.counts.give(a.account(d.Owner))
	return nil
}
