package krb

import (
	"bytes"
	"encoding/asn1"
	"net/netip"
	"time"

	kasn1 "github.com/jcmturner/gofork/encoding/asn1"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"

	"hmsgate/sasl"
)

// Bits of flags, from the left (RFC 4120, 5.3 and 5.5.1).
const (
	optionUseSessionKey   = 1
	optionMutualRequired  = 2
	ticketInvalid         = 7
	ticketTransitedPolicy = 12

	applicationAPReq = 14
	addressIPv4      = 2
	addressIPv6      = 24
)

func bit(s kasn1.BitString, i int) bool {
	return i < s.BitLength && i/8 < len(s.Bytes) && s.Bytes[i/8]&(0x80>>(i%8)) != 0
}

// request is an AP-REQ that has passed the checklist.
type request struct {
	principal string
	ticket    messages.EncTicketPart
	auth      types.Authenticator
	flags     uint32
	offset    time.Duration // the client's clock minus ours
}

// verifier checks AP-REQs. gokrb5's own check is not used: it compares no
// client realm, takes the identity from the authenticator, and slices short
// cipher texts out of range (its issue 577, its pull request 580).
type verifier struct {
	keys    *Keytab
	allowed map[string]bool // principals; nil: all of the keytab
	realms  map[string]bool // foreign client realms; nil: those whose path was checked
	skew    time.Duration
	replay  *ReplayCache
	now     func() time.Time
}

// verify goes through the checklist in order; nothing is answered before the
// last point.
func (v *verifier) verify(token []byte, peer netip.Addr) (r request, err error) {
	defer func() { // gokrb5's ASN.1 under hostile bytes
		if x := recover(); x != nil {
			err = sasl.Errorf(sasl.Internal, "panic while reading an AP-REQ: %T", x)
		}
	}()
	id, inner, err := parseContextToken(token)
	if err != nil {
		return r, err
	}
	if id != idAPReq {
		return r, sasl.Errorf(sasl.Protocol, "token id %04x, want an AP-REQ", id)
	}
	ap, err := parseAPReq(inner)
	if err != nil {
		return r, err
	}
	if err := v.openTicket(ap, &r); err != nil {
		return r, err
	}
	if r.principal, err = fullName(r.ticket.CName, r.ticket.CRealm); err != nil {
		return r, err
	}
	if err := v.checkAll(ap, &r, peer); err != nil {
		if e, ok := err.(*sasl.Error); ok {
			e.Principal = r.principal
		}
		return r, err
	}
	return r, nil
}

func (v *verifier) checkAll(ap *messages.APReq, r *request, peer netip.Addr) error {
	if err := v.openAuthenticator(ap, r); err != nil {
		return err
	}
	if err := checkAddresses(r.ticket.CAddr, peer); err != nil {
		return err
	}
	if err := v.checkRealm(ap.Ticket.Realm, r.ticket); err != nil {
		return err
	}
	var err error
	if r.flags, err = parseChecksum(r.auth.Cksum); err != nil {
		return err
	}
	if k := r.auth.SubKey; k.KeyType != 0 || len(k.KeyValue) != 0 {
		if _, err := checkKey(k, "client's subkey"); err != nil {
			return err
		}
	}
	if v.replay == nil {
		return nil
	}
	return v.replay.add(ap.EncryptedAuthenticator.Cipher, v.now())
}

// parseAPReq reads a message that ends where its bytes end.
func parseAPReq(b []byte) (*messages.APReq, error) {
	var raw asn1.RawValue
	rest, err := asn1.Unmarshal(b, &raw)
	if err != nil || len(rest) > 0 || raw.Class != asn1.ClassApplication || raw.Tag != applicationAPReq {
		return nil, sasl.Errorf(sasl.Protocol, "AP-REQ of %d bytes is not well formed", len(b))
	}
	ap := new(messages.APReq)
	if err := ap.Unmarshal(b); err != nil {
		return nil, sasl.Errorf(sasl.Protocol, "AP-REQ of %d bytes is not well formed", len(b))
	}
	switch {
	case ap.PVNO != 5 || ap.Ticket.TktVNO != 5:
		return nil, sasl.Errorf(sasl.Protocol, "AP-REQ of version %d with a ticket of version %d", ap.PVNO, ap.Ticket.TktVNO)
	case bit(ap.APOptions, optionUseSessionKey):
		return nil, sasl.Errorf(sasl.Protocol, "user-to-user AP-REQ")
	case !bit(ap.APOptions, optionMutualRequired):
		return nil, sasl.Errorf(sasl.Protocol, "AP-REQ asks for no mutual authentication")
	}
	return ap, nil
}

// openTicket decrypts the ticket with a key of the service it names. The name
// stands outside the encrypted part: it only selects, from the allowed ones.
func (v *verifier) openTicket(ap *messages.APReq, r *request) error {
	name, err := fullName(ap.Ticket.SName, ap.Ticket.Realm)
	if err != nil {
		return err
	}
	if v.allowed != nil && !v.allowed[name] {
		return sasl.Errorf(sasl.NoKey, "ticket is for %q, which this listener does not answer for", name)
	}
	enc := ap.Ticket.EncPart
	if _, ok := enctypeOf(enc.EType); !ok {
		return sasl.Errorf(sasl.Enctype, "ticket for %q is of enctype %d: accepted are 17, 18, 19, 20", name, enc.EType)
	}
	keys := v.keys.keys(func(p string) bool { return p == name }, enc.EType, enc.KVNO)
	if len(keys) == 0 {
		return sasl.Errorf(sasl.NoKey, "no key of enctype %d for %q in keytab %s", enc.EType, name, v.keys.path)
	}
	var plain []byte
	for _, k := range keys {
		if plain, err = decrypt(enc, k, usageTicket, "ticket"); err == nil {
			break
		}
	}
	if err != nil {
		return sasl.Errorf(sasl.NoKey, "ticket for %q (enctype %d, kvno %d) does not open with any of %d keys: keytab %s is out of step with the KDC, or the ticket is forged",
			name, enc.EType, enc.KVNO, len(keys), v.keys.path)
	}
	if err := r.ticket.Unmarshal(plain); err != nil {
		return sasl.Errorf(sasl.Protocol, "inside of the ticket for %q is not well formed", name)
	}
	return v.checkTicket(r.ticket)
}

func (v *verifier) checkTicket(t messages.EncTicketPart) error {
	now, start := v.now(), t.StartTime
	if start.IsZero() {
		start = t.AuthTime
	}
	switch {
	case bit(t.Flags, ticketInvalid):
		return sasl.Errorf(sasl.Expired, "ticket is marked invalid")
	case start.After(now.Add(v.skew)):
		return sasl.Errorf(sasl.Expired, "ticket starts at %s, in the future", start.UTC().Format(time.RFC3339))
	case !t.EndTime.After(now.Add(-v.skew)):
		return sasl.Errorf(sasl.Expired, "ticket ended at %s", t.EndTime.UTC().Format(time.RFC3339))
	}
	_, err := checkKey(t.Key, "ticket's session key")
	return err
}

// openAuthenticator: the client proves that it holds the session key now.
func (v *verifier) openAuthenticator(ap *messages.APReq, r *request) error {
	plain, err := decrypt(ap.EncryptedAuthenticator, r.ticket.Key, usageAuthenticator, "authenticator")
	if err != nil {
		return err
	}
	a := &r.auth
	if err := a.Unmarshal(plain); err != nil {
		return sasl.Errorf(sasl.Protocol, "inside of the authenticator is not well formed")
	}
	if a.AVNO != 5 || a.Cusec < 0 || a.Cusec > 999999 {
		return sasl.Errorf(sasl.Protocol, "authenticator of version %d, microseconds %d", a.AVNO, a.Cusec)
	}
	if !a.CName.Equal(r.ticket.CName) || a.CRealm != r.ticket.CRealm {
		return sasl.Errorf(sasl.Credentials, "authenticator names another client than the ticket")
	}
	r.offset = a.CTime.Add(time.Duration(a.Cusec) * time.Microsecond).Sub(v.now())
	if r.offset > v.skew || r.offset < -v.skew {
		return sasl.Errorf(sasl.Skew, "client's clock is off by %v, allowed are %v", r.offset.Round(time.Millisecond), v.skew)
	}
	return nil
}

// checkAddresses: rare, but a ticket that is bound to addresses says so.
func checkAddresses(list []types.HostAddress, peer netip.Addr) error {
	if len(list) == 0 {
		return nil
	}
	peer = peer.Unmap()
	for _, a := range list {
		if (a.AddrType == addressIPv4 || a.AddrType == addressIPv6) && bytes.Equal(a.Address, peer.AsSlice()) {
			return nil
		}
	}
	return sasl.Errorf(sasl.Credentials, "ticket is bound to addresses, none of which is %s", peer)
}

// checkRealm: a client of another realm must have come on a path that its KDC
// or ours has checked, unless the site lists whom it trusts.
func (v *verifier) checkRealm(own string, t messages.EncTicketPart) error {
	switch {
	case t.CRealm == own && len(t.Transited.Contents) == 0, v.realms[t.CRealm]:
		return nil
	case v.realms != nil && t.CRealm != own:
		return sasl.Errorf(sasl.Realm, "client realm is not among the trusted ones")
	case len(t.Transited.Contents) > 0 && !bit(t.Flags, ticketTransitedPolicy):
		return sasl.Errorf(sasl.Realm, "ticket came through other realms and no KDC has checked the path")
	}
	return nil
}
