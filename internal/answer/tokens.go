package answer

import (
	"context"
	"errors"
	"time"

	"hmsgate/frame"
	"hmsgate/internal/session"
	"hmsgate/route"
	"hmsgate/sasl"
	"hmsgate/sasl/identity"
	"hmsgate/sasl/token"
)

// tokenPatience is how long a call about a token waits for store and names.
const tokenPatience = 10 * time.Second

// owner is who a client is that may ask about tokens; nil where it is refused.
// Passwords come over listeners that take no tokens.
func (s *set) owner(c *session.Call) *sasl.Identity {
	id := c.Identity()
	if s.o.Tokens == nil || id == nil || id.Mechanism == (sasl.Plain{}).Name() {
		c.Refuse(&route.Refusal{Exception: route.Meta, Reason: "no_tokens", Text: textNoTokens})
		return nil
	}
	return id
}

// tokenGet is get_delegation_token(owner, renewer): the text of a new token.
func (s *set) tokenGet(c *session.Call) error {
	return s.presented(c, func(ctx context.Context, id sasl.Identity, args fields) error {
		text, err := s.o.Tokens.Issue(ctx, id, c.Peer(), string(args.text(1)), string(args.text(2)))
		if err == nil {
			told(c, "delegation token issued", text)
			c.Reply(func(dst []byte) []byte { return append(frame.AppendString(dst, 0, text), frame.Stop) })
		}
		return err
	})
}

// tokenRenew is renew_delegation_token(token): when it ends now, in ms.
func (s *set) tokenRenew(c *session.Call) error {
	return s.presented(c, func(ctx context.Context, id sasl.Identity, args fields) error {
		end, err := s.o.Tokens.Renew(ctx, id, string(args.text(1)))
		if err == nil {
			c.Reply(func(dst []byte) []byte {
				return append(be.AppendUint64(append(dst, frame.I64, 0, 0), uint64(end)), frame.Stop)
			})
		}
		return err
	})
}

// tokenCancel is cancel_delegation_token(token).
func (s *set) tokenCancel(c *session.Call) error {
	return s.presented(c, func(ctx context.Context, id sasl.Identity, args fields) error {
		text := string(args.text(1))
		err := s.o.Tokens.Cancel(ctx, id, text)
		if err == nil {
			told(c, "delegation token cancelled", text)
			c.Reply(func(dst []byte) []byte { return append(dst, frame.Stop) })
		}
		return err
	})
}

// presented serves a call about a token for who has authenticated.
func (s *set) presented(c *session.Call, f func(ctx context.Context, id sasl.Identity, args fields) error) error {
	id := s.owner(c)
	if id == nil {
		return nil
	}
	args, err := splitStruct(c.Body())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), tokenPatience)
	defer cancel()
	if err := f(ctx, *id, args); err != nil {
		s.tokenFailed(c, err)
	}
	return nil
}

// tokenFailed answers with what is for the caller, who has authenticated;
// what is not is for the log.
func (s *set) tokenFailed(c *session.Call, err error) {
	var refused *token.Refused
	var denied *identity.Denied
	text := textTokensFail
	switch {
	case errors.As(err, &refused):
		text = refused.Text
	case errors.As(err, &denied):
		text = denied.Text
	default:
		c.Env().Log.Error().Err(err).Str("method", c.Method()).Msg("delegation tokens")
	}
	c.Refuse(&route.Refusal{Exception: route.Meta, Reason: "token", Text: text})
}

// told writes who has what token: its names and numbers, never the token.
func told(c *session.Call, what, text string) {
	t, err := token.Decode(text)
	if err != nil {
		return
	}
	d, err := token.ParseIdentifier(t.Identifier)
	if err != nil {
		return
	}
	c.Env().Log.Info().Stringer("client", c.Peer()).Str("user", c.Identity().User).Stringer("token", d).Msg(what)
}

// tokenStore refuses the calls by which metastores that share a store keep
// their tokens and keys: a metastore serves them to anybody (seen at 3.1.3 and
// 4.1.0).
func tokenStore(c *session.Call) error {
	text := textTokenStore
	if c.Identity() == nil {
		text = textNoTokens
	}
	c.Refuse(&route.Refusal{Exception: route.Meta, Reason: "token_store", Text: text})
	return nil
}
