package krb

import (
	"context"
	"time"

	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"

	"hmsgate/sasl"
)

// Initiator logs in to one service, as a client.
type Initiator struct {
	Login   *Login
	Service string        // of the principal: hive
	Host    string        // of the principal: the backend's name
	QOP     []sasl.QOP    // what we take, in our order; empty: Auth
	Timeout time.Duration // for the KDC; 0: 10 s
}

// Name returns "GSSAPI".
func (*Initiator) Name() string { return Name }

// MessageMax bounds an AP-REP and an offer.
func (*Initiator) MessageMax() int { return negotiationMax }

// Begin gets a ticket and makes the AP-REQ.
func (i *Initiator) Begin() (sasl.ClientExchange, []byte, bool, error) {
	wait := i.Timeout
	if wait <= 0 {
		wait = 10 * time.Second
	}
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	t, err := i.Login.Ticket(ctx, i.Service, i.Host)
	if err != nil {
		return nil, nil, false, err
	}
	x := &initiation{qop: i.QOP, ticket: t}
	if len(x.qop) == 0 {
		x.qop = []sasl.QOP{sasl.Auth}
	}
	x.out.Identity.Principal = t.Service
	token, err := x.request()
	return x, token, false, err
}

// initiation is one exchange, the other side of acceptance.
type initiation struct {
	qop    []sasl.QOP
	ticket *Ticket
	auth   types.Authenticator
	step   int
	ctx    *wrapContext
	out    sasl.Outcome
}

func (x *initiation) Outcome() sasl.Outcome { return x.out }

// request makes the AP-REQ: mutual authentication, a fresh subkey, no
// forwarded credentials, no authorization id later.
func (x *initiation) request() ([]byte, error) {
	t := x.ticket
	e, err := checkKey(t.key, "session key")
	if err != nil {
		return nil, err
	}
	now := time.Now().UTC()
	x.auth = types.Authenticator{
		AVNO:      5,
		CRealm:    t.realm,
		CName:     t.client,
		Cksum:     newChecksum(),
		CTime:     now.Truncate(time.Second),
		Cusec:     now.Nanosecond() / 1000,
		SubKey:    newKey(e),
		SeqNumber: newSequence(),
	}
	ap, err := messages.NewAPReq(t.ticket, t.key, x.auth)
	if err != nil {
		return nil, sasl.Errorf(sasl.Internal, "AP-REQ: %w", err)
	}
	types.SetFlag(&ap.APOptions, optionMutualRequired)
	b, err := ap.Marshal()
	if err != nil {
		return nil, sasl.Errorf(sasl.Internal, "AP-REQ: %w", err)
	}
	return appendContextToken(nil, idAPReq, b), nil
}

func (x *initiation) Step(token []byte) ([]byte, bool, error) {
	x.step++
	switch x.step {
	case 1:
		keys, err := readAPRep(token, x.ticket.key, x.auth)
		if err == nil {
			x.ctx, err = newWrapContext(keys)
		}
		return nil, false, err
	case 2:
		reply, err := x.choose(token)
		return reply, err == nil, err
	}
	return nil, false, sasl.Errorf(sasl.Protocol, "challenge after the end")
}

// choose takes the first of our qualities that the server offers.
func (x *initiation) choose(token []byte) ([]byte, error) {
	p, err := x.ctx.check(append([]byte(nil), token...))
	if err != nil {
		return nil, &sasl.Error{Reason: sasl.Credentials, Err: err}
	}
	if len(p) != 4 {
		return nil, sasl.Errorf(sasl.Protocol, "layer offer of %d bytes, want 4", len(p))
	}
	offered, size := sasl.QOP(p[0]), int(p[1])<<16|int(p[2])<<8|int(p[3])
	for _, q := range x.qop {
		if offered&q == 0 || !q.One() {
			continue
		}
		own := 0
		if q != sasl.Auth {
			if own = receiveMax; size < sendLeast {
				return nil, sasl.Errorf(sasl.LayerChoice, "server takes tokens of %d bytes, want at least %d", size, sendLeast)
			}
			x.out.SendMax = size
		}
		x.out.QOP, x.out.Layer = q, newLayer(x.ctx, q)
		return x.ctx.signed([]byte{byte(q), byte(own >> 16), byte(own >> 8), byte(own)}), nil
	}
	return nil, sasl.Errorf(sasl.LayerChoice, "no common protection: server offers %v, we take %v", offered, x.qop)
}
