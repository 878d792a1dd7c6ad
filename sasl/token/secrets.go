package token

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"net/netip"
	"time"

	"hmsgate/sasl"
)

const storeTimeout = 5 * time.Second // a login waits no longer for the store

// Password is the DIGEST-MD5 password of a token: no store is asked, the
// identifier and a cached master key are enough.
func (a *Authority) Password(user string) (string, error) {
	_, password, err := a.signature(user)
	if err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(password), nil
}

// signature takes a user name as sent apart: standard base64 of the
// identifier, with padding (SaslRpcServer.encodeIdentifier).
func (a *Authority) signature(user string) (raw, password []byte, err error) {
	if len(user) > base64.StdEncoding.EncodedLen(identifierMax) {
		return nil, nil, sasl.Errorf(sasl.Limit, "user name of %d characters", len(user))
	}
	if raw, err = base64.StdEncoding.Strict().DecodeString(user); err != nil {
		return nil, nil, sasl.Errorf(sasl.Credentials, "user name is not a token identifier")
	}
	d, err := ParseIdentifier(raw)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	key, err := a.ring.find(ctx, d.Key)
	if err != nil {
		a.c.Algorithm.Password(nil, raw) // an unknown key takes as long as a known one
		return nil, nil, named(err, d)
	}
	return raw, a.c.Algorithm.Password(key, raw), nil
}

func named(err error, d Identifier) error {
	var e *sasl.Error
	if errors.As(err, &e) && e.Principal == "" {
		return &sasl.Error{Reason: e.Reason, Principal: d.Owner, Err: e.Err}
	}
	return err
}

// Admit looks, after a correct response, whether the token still stands.
func (a *Authority) Admit(user string, _ netip.Addr) (sasl.Identity, error) {
	raw, password, err := a.signature(user)
	if err != nil {
		return sasl.Identity{}, err
	}
	d, err := ParseIdentifier(raw)
	if err != nil {
		return sasl.Identity{}, err
	}
	if err := a.stands(raw, password, d); err != nil {
		return sasl.Identity{}, named(err, d)
	}
	short, err := a.short(d.Owner)
	if err != nil || short == "" {
		return sasl.Identity{}, named(sasl.Errorf(sasl.Name, "owner of token %v has no short name", d), d)
	}
	return sasl.Identity{Principal: d.Owner, User: short, RealUser: d.RealUser, Expires: d.end(), Token: d.String()}, nil
}

func (a *Authority) stands(raw, password []byte, d Identifier) error {
	now := a.c.Now()
	if now.After(d.end()) {
		return sasl.Errorf(sasl.Expired, "token %v ended at %s", d, d.end().UTC().Format(time.RFC3339))
	}
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	r, err := a.c.Store.Token(ctx, raw)
	switch {
	case errors.Is(err, ErrNotFound):
		return sasl.Errorf(sasl.Expired, "token %v is not in the store: cancelled, or another cluster's", d)
	case err != nil:
		return sasl.Errorf(sasl.Unavailable, "token %v: %w", d, err)
	case subtle.ConstantTimeCompare(r.Password, password) != 1:
		return sasl.Errorf(sasl.Credentials, "token %v is stored with another password", d)
	case !now.After(r.Renew):
		return nil
	case a.c.NoAutoRenew:
		return sasl.Errorf(sasl.Expired, "token %v was to be renewed by %s", d, r.Renew.UTC().Format(time.RFC3339))
	}
	if err := a.setRenew(ctx, d, raw, a.renewDate(d)); err != nil {
		return sasl.Errorf(sasl.Expired, "token %v: %w", d, err)
	}
	return nil
}
