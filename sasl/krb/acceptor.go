package krb

import (
	"net/netip"
	"runtime"
	"time"

	"hmsgate/sasl"
)

// Bounds of the negotiation and of the security layer.
const (
	Name           = "GSSAPI"
	TokenMax       = 64 << 10  // an AP-REQ with Active Directory's extras has tens of KB
	TokenMost      = 256 << 10 // for sites with more
	receiveMax     = 0x010000  // what Java announces; Cyrus keeps to it
	sendLeast      = 1 << 10   // smaller receive buffers are nobody's
	DefaultSkew    = 5 * time.Minute
	negotiationMax = 4 << 10 // tokens after the AP-REQ
)

// AcceptorConfig says whom and what an Acceptor takes.
type AcceptorConfig struct {
	Keytab     *Keytab
	Principals []string // those we answer for, service/host@REALM
	// AnyPrincipal takes every principal of the keytab: clients then choose
	// which service they talk to.
	AnyPrincipal bool
	QOP          sasl.QOP // mask of what is offered; 0: Auth
	// ShortName maps a client's full name; an error refuses the login.
	ShortName func(principal string) (string, error)
	// ClientRealms lists the foreign realms whose clients may come. Empty:
	// those whose path a KDC has checked.
	ClientRealms []string
	Skew         time.Duration // 0: DefaultSkew
	Replay       *ReplayCache  // nil: one of its own
	TokenMax     int           // 0: TokenMax
}

// Acceptor is the server side of GSSAPI with Kerberos 5.
type Acceptor struct {
	verifier verifier
	qop      sasl.QOP
	short    func(string) (string, error)
	tokenMax int
	slots    chan struct{} // unauthenticated peers may not take all cores
}

// NewAcceptor checks the configuration: every principal must have a key.
func NewAcceptor(c AcceptorConfig) (*Acceptor, error) {
	if c.Keytab == nil || c.ShortName == nil {
		return nil, sasl.Errorf(sasl.NoKey, "an acceptor needs a keytab and a name mapping")
	}
	if c.Skew <= 0 {
		c.Skew = DefaultSkew
	}
	if c.QOP == 0 {
		c.QOP = sasl.Auth
	}
	if c.Replay == nil {
		c.Replay = NewReplayCache(c.Skew, 0)
	}
	if c.TokenMax <= 0 {
		c.TokenMax = TokenMax
	}
	if c.TokenMax > TokenMost {
		return nil, sasl.Errorf(sasl.Limit, "longest token %d: at most %d", c.TokenMax, TokenMost)
	}
	a := &Acceptor{
		verifier: verifier{keys: c.Keytab, skew: c.Skew, replay: c.Replay, now: time.Now},
		qop:      c.QOP,
		short:    c.ShortName,
		tokenMax: c.TokenMax,
		slots:    make(chan struct{}, 2*runtime.GOMAXPROCS(0)),
	}
	if len(c.ClientRealms) > 0 {
		a.verifier.realms = set(c.ClientRealms)
	}
	if c.AnyPrincipal {
		return a, nil
	}
	if len(c.Principals) == 0 {
		return nil, sasl.Errorf(sasl.NoKey, "no principal to answer for")
	}
	have := set(c.Keytab.Principals())
	for _, p := range c.Principals {
		if _, _, err := splitPrincipal(p); err != nil {
			return nil, err
		}
		if !have[p] {
			return nil, sasl.Errorf(sasl.NoKey, "keytab %s has no key for %q; it has %q", c.Keytab.path, p, c.Keytab.Principals())
		}
	}
	a.verifier.allowed = set(c.Principals)
	return a, nil
}

func set(list []string) map[string]bool {
	m := make(map[string]bool, len(list))
	for _, s := range list {
		m[s] = true
	}
	return m
}

// Name returns "GSSAPI".
func (*Acceptor) Name() string { return Name }

// MessageMax bounds an AP-REQ.
func (a *Acceptor) MessageMax() int { return a.tokenMax }

// Begin starts an exchange.
func (a *Acceptor) Begin(peer netip.Addr) sasl.ServerExchange {
	return &acceptance{a: a, peer: peer}
}

// acceptance is one exchange (RFC 4752, 3.2):
//
//	C AP-REQ   S AP-REP   C empty   S wrap(mask | size)   C wrap(choice | size | authzid)   S empty
type acceptance struct {
	a    *Acceptor
	peer netip.Addr
	step int
	ctx  *wrapContext
	out  sasl.Outcome
}

func (x *acceptance) Outcome() sasl.Outcome { return x.out }

func (x *acceptance) Step(token []byte) ([]byte, bool, error) {
	x.step++
	if x.step > 1 && len(token) > negotiationMax {
		return nil, false, x.named(sasl.Errorf(sasl.Limit, "token of %d bytes, at most %d", len(token), negotiationMax))
	}
	switch x.step {
	case 1:
		reply, err := x.accept(token)
		return reply, false, err
	case 2:
		if len(token) != 0 {
			return nil, false, x.named(sasl.Errorf(sasl.Protocol, "%d bytes where nothing was left to say", len(token)))
		}
		return x.offer(), false, nil
	case 3:
		err := x.choose(token)
		return nil, err == nil, x.named(err)
	}
	return nil, false, x.named(sasl.Errorf(sasl.Protocol, "message after the end"))
}

func (x *acceptance) named(err error) error {
	if e, ok := err.(*sasl.Error); ok && e.Principal == "" {
		e.Principal = x.out.Identity.Principal
	}
	return err
}

func (x *acceptance) accept(token []byte) ([]byte, error) {
	x.a.slots <- struct{}{}
	defer func() { <-x.a.slots }()
	r, err := x.a.verifier.verify(token, x.peer)
	if err != nil {
		return nil, err
	}
	user, err := x.a.short(r.principal)
	if err == nil && user == "" {
		err = sasl.Errorf(sasl.Name, "maps to an empty name")
	}
	if err != nil {
		return nil, &sasl.Error{Reason: sasl.Name, Principal: r.principal, Err: err}
	}
	reply, keys, err := buildAPRep(r)
	if err != nil {
		return nil, err
	}
	if x.ctx, err = newWrapContext(keys); err != nil {
		return nil, err
	}
	x.out.Identity = sasl.Identity{
		Principal: r.principal,
		User:      user,
		Expires:   r.ticket.EndTime,
		Offset:    r.offset,
		Delegated: r.flags&flagDeleg != 0,
	}
	return reply, nil
}

// offer is never sealed, whatever it offers.
func (x *acceptance) offer() []byte {
	size := 0
	if x.a.qop != sasl.Auth {
		size = receiveMax
	}
	return x.ctx.signed([]byte{byte(x.a.qop), byte(size >> 16), byte(size >> 8), byte(size)})
}

// signed makes an unsealed token of a short message.
func (c *wrapContext) signed(p []byte) []byte {
	b := make([]byte, wrapHead+len(p)+c.et.mac)
	copy(b[wrapHead:], p)
	return c.sign(b, len(p))
}

func (x *acceptance) choose(token []byte) error {
	p, err := x.ctx.check(append([]byte(nil), token...))
	if err != nil {
		return &sasl.Error{Reason: sasl.Credentials, Err: err}
	}
	if len(p) < 4 {
		return sasl.Errorf(sasl.Protocol, "layer choice of %d bytes, want 4 or more", len(p))
	}
	q := sasl.QOP(p[0])
	size := int(p[1])<<16 | int(p[2])<<8 | int(p[3])
	switch {
	case !q.One() || x.a.qop&q == 0:
		return sasl.Errorf(sasl.LayerChoice, "client chose layer %#x, offered was %v", p[0], x.a.qop)
	case len(p) > 4 && string(p[4:]) != x.out.Identity.Principal:
		return sasl.Errorf(sasl.Name, "authorization id %q is not the client's own name", p[4:min(len(p), 4+nameMax)])
	case q != sasl.Auth && size < sendLeast:
		return sasl.Errorf(sasl.LayerChoice, "client takes tokens of %d bytes, want at least %d", size, sendLeast)
	}
	x.out.QOP = q
	if x.out.Layer = newLayer(x.ctx, q); x.out.Layer != nil {
		x.out.SendMax = size
	}
	return nil
}
