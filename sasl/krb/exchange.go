package krb

import (
	"context"
	"time"

	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"

	"hmsgate/sasl"
)

// Ticket is a service ticket with its session key.
type Ticket struct {
	Service string // the principal it is for, with realm
	End     time.Time

	ticket messages.Ticket
	key    types.EncryptionKey
	client types.PrincipalName
	realm  string // of the client
	start  time.Time
}

const (
	padTimestamp  = 2  // PA-ENC-TIMESTAMP
	padEtypeInfo2 = 19 // PA-ETYPE-INFO2
	kindTGT       = "krbtgt"
	referralsMost = 5
)

// exchanger speaks with KDCs for one client principal. Not for concurrent use.
type exchanger struct {
	cfg    *config.Config
	realms *realms
	keytab *Keytab
	full   string
	client types.PrincipalName
	realm  string
}

// clientConfig copies what a krb5.conf says and sets what we rely on: no
// renewable tickets (we log in again instead: a renewable one that outlives
// its KDC's outage cannot be renewed any more), no addresses, our enctypes.
func clientConfig(c *config.Config) *config.Config {
	own := *c
	d := &own.LibDefaults
	d.RenewLifetime = 0
	d.NoAddresses = true
	d.Canonicalize = false
	d.Forwardable, d.Proxiable = false, false
	def := config.New().LibDefaults
	d.DefaultTktEnctypeIDs = acceptedOf(d.DefaultTktEnctypes, d.DefaultTktEnctypeIDs, def.DefaultTktEnctypes)
	d.DefaultTGSEnctypeIDs = acceptedOf(d.DefaultTGSEnctypes, d.DefaultTGSEnctypeIDs, def.DefaultTGSEnctypes)
	return &own
}

// acceptedOf keeps a site's choice as far as we accept it. gokrb5's default
// list lacks 19 and 20, so an untouched one becomes all of ours.
func acceptedOf(names []string, ids []int32, def []string) []int32 {
	untouched := len(names) == len(def)
	for i := range names {
		untouched = untouched && names[i] == def[i]
	}
	var list []int32
	if !untouched {
		for _, id := range ids {
			if _, ok := enctypeOf(id); ok {
				list = append(list, id)
			}
		}
	}
	if len(list) == 0 {
		for _, e := range enctypes {
			list = append(list, e.id)
		}
	}
	return list
}

// guarded keeps gokrb5's parsers, fed by whoever answers for a KDC, from
// ending the process.
func guarded(what string, err *error) {
	if x := recover(); x != nil {
		*err = sasl.Errorf(sasl.Internal, "panic in the %s: %T", what, x)
	}
}

// login gets a ticket-granting ticket with the keytab (RFC 4120, 3.1).
func (x *exchanger) login(ctx context.Context) (t *Ticket, err error) {
	defer guarded("AS exchange", &err)
	req, err := messages.NewASReqForTGT(x.realm, x.cfg, x.client)
	if err != nil {
		return nil, sasl.Errorf(sasl.Internal, "AS-REQ: %w", err)
	}
	if req.ReqBody.EType = x.withKeys(req.ReqBody.EType); len(req.ReqBody.EType) == 0 {
		return nil, sasl.Errorf(sasl.NoKey, "keytab %s has no key for %q", x.keytab.path, x.full)
	}
	reply, err := x.askAS(ctx, req)
	if err != nil {
		return nil, err
	}
	var krbErr messages.KRBError
	if parseKDCError(reply, &krbErr) && krbErr.ErrorCode == kdcPreauthNeed {
		if err := x.preauthenticate(&req, krbErr); err != nil {
			return nil, err
		}
		if reply, err = x.askAS(ctx, req); err != nil {
			return nil, err
		}
	}
	if parseKDCError(reply, &krbErr) {
		return nil, krbError(krbErr, "KDC of "+x.realm)
	}
	return x.readAS(reply, req)
}

func (x *exchanger) askAS(ctx context.Context, req messages.ASReq) ([]byte, error) {
	b, err := req.Marshal()
	if err != nil {
		return nil, sasl.Errorf(sasl.Internal, "AS-REQ: %w", err)
	}
	return x.realms.ask(ctx, x.realm, b)
}

// withKeys keeps the enctypes the keytab has a key of.
func (x *exchanger) withKeys(ids []int32) []int32 {
	var list []int32
	for _, id := range ids {
		if _, _, ok := x.keytab.newest(x.full, id); ok {
			list = append(list, id)
		}
	}
	return list
}

// preauthenticate adds an encrypted timestamp, with the first enctype the KDC
// names that we have.
func (x *exchanger) preauthenticate(req *messages.ASReq, e messages.KRBError) error {
	etype := req.ReqBody.EType[0]
	var pads types.PADataSequence
	if pads.Unmarshal(e.EData) == nil {
	found:
		for _, p := range pads {
			if p.PADataType != padEtypeInfo2 {
				continue
			}
			info, err := p.GetETypeInfo2()
			if err != nil {
				break
			}
			for _, i := range info {
				if _, _, ok := x.keytab.newest(x.full, i.EType); ok {
					etype = i.EType
					break found
				}
			}
		}
	}
	key, kvno, _ := x.keytab.newest(x.full, etype)
	b, err := types.GetPAEncTSEncAsnMarshalled()
	if err != nil {
		return sasl.Errorf(sasl.Internal, "timestamp: %w", err)
	}
	enc, err := encrypt(b, key, usagePATimestamp, int(kvno))
	if err != nil {
		return err
	}
	if b, err = enc.Marshal(); err != nil {
		return sasl.Errorf(sasl.Internal, "timestamp: %w", err)
	}
	req.PAData = append(req.PAData, types.PAData{PADataType: padTimestamp, PADataValue: b})
	return nil
}

func (x *exchanger) readAS(reply []byte, req messages.ASReq) (*Ticket, error) {
	var rep messages.ASRep
	if err := rep.Unmarshal(reply); err != nil {
		return nil, sasl.Errorf(sasl.Protocol, "AS-REP of %d bytes is not well formed", len(reply))
	}
	key, _, ok := x.keytab.newest(x.full, rep.EncPart.EType)
	if !ok {
		return nil, sasl.Errorf(sasl.NoKey, "AS-REP is of enctype %d, of which keytab %s has no key", rep.EncPart.EType, x.keytab.path)
	}
	plain, err := decrypt(rep.EncPart, key, usageASReply, "AS-REP")
	if err != nil {
		return nil, err
	}
	return x.ticketOf(rep.KDCRepFields, plain, req.ReqBody)
}

// ticketOf checks the encrypted part of a KDC's reply against the request.
func (x *exchanger) ticketOf(rep messages.KDCRepFields, plain []byte, body messages.KDCReqBody) (*Ticket, error) {
	var part messages.EncKDCRepPart
	if err := part.Unmarshal(plain); err != nil {
		return nil, sasl.Errorf(sasl.Protocol, "inside of the KDC's reply is not well formed")
	}
	switch {
	case part.Nonce != body.Nonce:
		return nil, sasl.Errorf(sasl.Replay, "KDC's reply has another nonce than the request")
	case !rep.CName.Equal(x.client) || rep.CRealm != x.realm:
		return nil, sasl.Errorf(sasl.Credentials, "KDC's reply names another client")
	case !part.SName.Equal(body.SName) && !isReferral(part.SName, body.SName):
		return nil, sasl.Errorf(sasl.Credentials, "KDC's reply is for another service")
	case !rep.Ticket.SName.Equal(part.SName) || rep.Ticket.Realm != part.SRealm:
		return nil, sasl.Errorf(sasl.Credentials, "KDC's reply has another service outside than inside")
	}
	if _, err := checkKey(part.Key, "session key"); err != nil {
		return nil, err
	}
	service, err := fullName(part.SName, part.SRealm)
	if err != nil {
		return nil, err
	}
	start := part.StartTime
	if start.IsZero() {
		start = part.AuthTime
	}
	return &Ticket{Service: service, End: part.EndTime, ticket: rep.Ticket, key: part.Key,
		client: x.client, realm: x.realm, start: start}, nil
}

// isReferral: asked for a service, the KDC may name a realm nearer to it
// (RFC 6806, 8).
func isReferral(got, asked types.PrincipalName) bool {
	return len(got.NameString) == 2 && got.NameString[0] == kindTGT &&
		(len(asked.NameString) != 2 || asked.NameString[0] != kindTGT)
}

// service gets a ticket for service/host (RFC 4120, 3.3), through the TGTs of
// the realms on the way.
func (x *exchanger) service(ctx context.Context, tgt *Ticket, name types.PrincipalName) (t *Ticket, err error) {
	defer guarded("TGS exchange", &err)
	at := x.realm
	if r := x.cfg.ResolveRealm(name.NameString[len(name.NameString)-1]); r != "" && r != x.realm {
		cross := types.PrincipalName{NameType: 2, NameString: []string{kindTGT, r}}
		if tgt, err = x.askTGS(ctx, at, tgt, cross); err != nil {
			return nil, err
		}
		at = r
	}
	for range referralsMost {
		if t, err = x.askTGS(ctx, at, tgt, name); err != nil || !isReferral(t.ticket.SName, name) {
			return t, err
		}
		tgt, at = t, t.ticket.SName.NameString[1]
	}
	return nil, sasl.Errorf(sasl.Unavailable, "more than %d referrals on the way to %q", referralsMost, name.PrincipalNameString())
}

func (x *exchanger) askTGS(ctx context.Context, at string, tgt *Ticket, name types.PrincipalName) (*Ticket, error) {
	req, err := messages.NewTGSReq(x.client, at, x.cfg, tgt.ticket, tgt.key, name, false)
	if err != nil {
		return nil, sasl.Errorf(sasl.Internal, "TGS-REQ: %w", err)
	}
	b, err := req.Marshal()
	if err != nil {
		return nil, sasl.Errorf(sasl.Internal, "TGS-REQ: %w", err)
	}
	reply, err := x.realms.ask(ctx, at, b)
	if err != nil {
		return nil, err
	}
	var krbErr messages.KRBError
	if parseKDCError(reply, &krbErr) {
		return nil, krbError(krbErr, "KDC of "+at+" for "+name.PrincipalNameString())
	}
	var rep messages.TGSRep
	if err := rep.Unmarshal(reply); err != nil {
		return nil, sasl.Errorf(sasl.Protocol, "TGS-REP of %d bytes is not well formed", len(reply))
	}
	plain, err := decrypt(rep.EncPart, tgt.key, usageTGSReply, "TGS-REP")
	if err != nil {
		return nil, err
	}
	return x.ticketOf(rep.KDCRepFields, plain, req.ReqBody)
}
