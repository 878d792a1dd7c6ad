package digest

import (
	"net/netip"
	"strings"

	"hmsgate/sasl"
)

// Secrets knows the users. The two calls keep garbage cheap: the first needs
// no store (a token's password follows from its identifier and a master key),
// the second comes only after a correct response.
type Secrets interface {
	// Password returns the secret of a user name as sent. An error is the
	// reason for our log; the exchange then goes on with a random secret, so
	// that neither text nor time tells it from a wrong password.
	Password(user string) (string, error)
	// Admit says who that is, or why they may not come in after all.
	Admit(user string, peer netip.Addr) (sasl.Identity, error)
}

// Server is the server side of DIGEST-MD5.
type Server struct {
	Secrets Secrets
	QOP     sasl.QOP // mask of what is offered; 0: Auth
	Ciphers string   // offered with AuthConf; "": DefaultCiphers
	Realm   string   // "": DefaultRealm
	URI     string   // "": DefaultURI

	nonce func() string // tests put a recorded one in
}

// Name returns "DIGEST-MD5".
func (*Server) Name() string { return Name }

// MessageMax bounds a response.
func (*Server) MessageMax() int { return MessageMax }

// Begin starts an exchange.
func (s *Server) Begin(peer netip.Addr) sasl.ServerExchange {
	x := &serverExchange{Server: *s, peer: peer}
	if x.QOP == 0 {
		x.QOP = sasl.Auth
	}
	x.Ciphers = orText(x.Ciphers, DefaultCiphers)
	x.Realm = orText(x.Realm, DefaultRealm)
	x.URI = orText(x.URI, DefaultURI)
	if x.nonce == nil {
		x.nonce = randomText
	}
	return x
}

func orText(s, d string) string {
	if s == "" {
		return d
	}
	return s
}

type serverExchange struct {
	Server
	peer       netip.Addr
	challenged string // the nonce, once sent
	ended      bool
	out        sasl.Outcome
}

func (x *serverExchange) Outcome() sasl.Outcome { return x.out }

// Step answers the empty initial response with a challenge, and the response
// with rspauth. There is one nonce a connection and one try.
func (x *serverExchange) Step(token []byte) ([]byte, bool, error) {
	switch {
	case x.ended:
		return nil, false, sasl.Errorf(sasl.Protocol, "message after the end")
	case x.challenged == "":
		if len(token) != 0 { // subsequent authentication (RFC 2831, 2.2) is not offered
			return nil, false, sasl.Errorf(sasl.Protocol, "initial response of %d bytes, want none", len(token))
		}
		x.challenged = x.nonce()
		return x.challenge(), false, nil
	}
	x.ended = true
	reply, err := x.verify(token)
	return reply, err == nil, err
}

func (x *serverExchange) challenge() []byte {
	b := quote(nil, "realm", x.Realm)
	b = quote(append(b, ','), "nonce", x.challenged)
	b = quote(append(b, ','), "qop", x.QOP.String())
	b = append(b, ",charset=utf-8"...)
	if x.QOP&sasl.AuthConf != 0 {
		b = quote(append(b, ','), "cipher", x.Ciphers)
	}
	return append(b, ",algorithm=md5-sess"...)
}

// answer is a response taken apart.
type answer struct {
	user, authzid, nc, cnonce, uri, response string
	word                                     string // of the quality
	qop                                      sasl.QOP
	cipher                                   string
	maxBuf                                   int
}

func (x *serverExchange) verify(token []byte) ([]byte, error) {
	a, err := x.read(string(token))
	if err != nil {
		return nil, err
	}
	password, reason := x.Secrets.Password(a.user)
	if reason != nil {
		password = randomText()
	}
	a1 := hashA1(a.user, x.Realm, password, x.challenged, a.cnonce, a.authzid)
	ok := equal(a.response, response(a1, verbClient, a.uri, x.challenged, a.nc, a.cnonce, a.word))
	if reason != nil {
		return nil, reason
	}
	if !ok {
		return nil, sasl.Errorf(sasl.Credentials, "wrong response")
	}
	id, err := x.Secrets.Admit(a.user, x.peer)
	if err != nil {
		return nil, err
	}
	x.out = sasl.Outcome{Identity: id, QOP: a.qop}
	if a.qop != sasl.Auth {
		x.out.SendMax = a.maxBuf
		if x.out.Layer, err = newLayer(a1, a.qop, a.cipher, true); err != nil {
			return nil, err
		}
	}
	return []byte("rspauth=" + response(a1, verbServer, a.uri, x.challenged, a.nc, a.cnonce, a.word)), nil
}

// read checks everything about a response that needs no secret.
func (x *serverExchange) read(s string) (answer, error) {
	list, err := parse(s, false)
	if err != nil {
		return answer{}, err
	}
	get := func(name string) string { v, _ := find(list, name); return v }
	a := answer{user: get("username"), authzid: get("authzid"), nc: get("nc"), cnonce: get("cnonce"),
		uri: get("digest-uri"), response: get("response"), cipher: strings.ToLower(get("cipher")), word: strings.ToLower(get("qop"))}
	if a.word == "" {
		a.word = sasl.Auth.String() // RFC 2831, 2.1.2: the default
	}
	charset, hasCharset := find(list, "charset")
	var known bool
	a.qop, known = parseQOP(a.word)
	switch {
	case a.user == "":
		return a, sasl.Errorf(sasl.Protocol, "no username")
	case get("realm") != x.Realm:
		return a, sasl.Errorf(sasl.Protocol, "realm %q, want %q", get("realm"), x.Realm)
	case !equal(get("nonce"), x.challenged):
		return a, sasl.Errorf(sasl.Replay, "the nonce is not this connection's")
	case a.nc != firstCount:
		return a, sasl.Errorf(sasl.Replay, "nonce count %q, want %s", a.nc, firstCount)
	case a.cnonce == "":
		return a, sasl.Errorf(sasl.Protocol, "no cnonce")
	case !strings.EqualFold(a.uri, x.URI):
		return a, sasl.Errorf(sasl.Protocol, "digest-uri %q, want %q", a.uri, x.URI)
	case !known || x.QOP&a.qop == 0:
		return a, sasl.Errorf(sasl.LayerChoice, "protection %q, offered was %v", a.word, x.QOP)
	case a.qop == sasl.AuthConf && !contains(words(x.Ciphers), a.cipher):
		return a, sasl.Errorf(sasl.LayerChoice, "cipher %q, offered was %q", a.cipher, x.Ciphers)
	case hasCharset && !strings.EqualFold(charset, "utf-8"):
		return a, sasl.Errorf(sasl.Protocol, "charset %q, want utf-8", charset)
	case a.authzid != "" && a.authzid != a.user:
		return a, sasl.Errorf(sasl.Name, "foreign authorization id")
	}
	if a.maxBuf, err = parseMaxBuf(list); err == nil && a.qop != sasl.Auth && a.maxBuf < maxBufLeast {
		err = sasl.Errorf(sasl.LayerChoice, "maxbuf %d, want at least %d", a.maxBuf, maxBufLeast)
	}
	return a, err
}
