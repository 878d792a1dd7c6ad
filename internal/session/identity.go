package session

import (
	"bytes"
	"errors"

	"hmsgate/frame"
	"hmsgate/profiles"
	"hmsgate/route"
)

// Identity is who a client has proved to be. The zero value: it proved nothing.
type Identity struct {
	User string // the short name that rights go by
	// Service: it is one of the gateway's own principals. Backends see the
	// gateway, also where they see the user of others.
	Service bool
}

// user is who the client is: proved, or else told by set_ugi; "" for nobody.
func (s *Session) user() string {
	if s.proved.User != "" {
		return s.proved.User
	}
	return s.preamble.name
}

// userFor is the user a backend of the catalog is to see; "" for the gateway
// itself, which a client without a user does not become.
func (s *Session) userFor(cat *route.Catalog, index int) (string, error) {
	if !s.env.Targets[index].Impersonate || s.proved.Service {
		return "", nil
	}
	if u := s.user(); u != "" {
		return u, nil
	}
	return "", &route.Refusal{Exception: route.Meta, Reason: "impersonation", Text: textNobody(cat.Name)}
}

func isRefusal(err error) bool {
	var r *route.Refusal
	return errors.As(err, &r)
}

// introduce tells a backend without SASL whom it is to see, when that was proved to
// us. What a client claims about itself goes with its preamble.
func (s *Session) introduce(b *backend) error {
	if b.named || b.sasl || b.user == "" || b.user != s.proved.User {
		return nil
	}
	msg := frame.AppendHeader(nil, frame.Call, profiles.SetUser, 0)
	msg = be.AppendUint32(append(msg, frame.String, 0, 1), uint32(len(b.user)))
	msg = append(msg, b.user...)
	msg = append(msg, frame.List, 0, 2, frame.String, 0, 0, 0, 0, frame.Stop)
	b.named = true
	return s.tellOne(b, message{bytes: msg, user: true})
}

// argument is the value of one of a body's arguments as it stands, nil when it
// is not there or of another type:
//
//	0b 00 01 len user | 0f 00 02 0b count { len name }* | 00
func argument(b []byte, id uint16, t byte) []byte {
	w := frame.NewWindow(bytes.NewReader(b), nil)
	defer w.Park()
	w.Start(0, len(b))
	for w.Need(3) == nil {
		head := w.Bytes()
		typ, field := head[0], be.Uint16(head[1:])
		if typ == frame.Stop {
			break
		}
		w.Advance(3)
		from := w.Pos()
		if w.Skip(typ, 1) != nil {
			break
		}
		if field == id && typ == t {
			return b[from:w.Pos()]
		}
	}
	return nil
}

// firstText is a body's first argument, "" when it is no string.
func firstText(b []byte) string {
	if v := argument(b, 1, frame.String); len(v) > 4 {
		return string(v[4:])
	}
	return ""
}
