package digest

import (
	"strconv"
	"strings"

	"hmsgate/sasl"
)

// Login is the client side of DIGEST-MD5.
type Login struct {
	User     string
	Password string
	QOP      []sasl.QOP // what we take, in our order; empty: Auth
	Ciphers  []string   // what we take with AuthConf, in our order; empty: 3des, rc4
	URI      string     // "": DefaultURI

	cnonce func() string
}

// Name returns "DIGEST-MD5".
func (*Login) Name() string { return Name }

// MessageMax bounds a challenge.
func (*Login) MessageMax() int { return challengeMax }

// Begin starts an exchange: the server speaks first.
func (l *Login) Begin() (sasl.ClientExchange, []byte, bool, error) {
	if l.User == "" || l.Password == "" {
		return nil, nil, false, sasl.Errorf(sasl.Credentials, "user and password must not be empty")
	}
	x := &clientExchange{Login: *l}
	if len(x.QOP) == 0 {
		x.QOP = []sasl.QOP{sasl.Auth}
	}
	if len(x.Ciphers) == 0 {
		x.Ciphers = words(DefaultCiphers)
	}
	x.URI = orText(x.URI, DefaultURI)
	if x.cnonce == nil {
		x.cnonce = randomText
	}
	return x, nil, false, nil
}

type clientExchange struct {
	Login
	want string // rspauth, once the response is sent
	done bool
	out  sasl.Outcome
}

func (x *clientExchange) Outcome() sasl.Outcome { return x.out }

// Step answers the challenge, then checks that the server knows the secret.
func (x *clientExchange) Step(challenge []byte) ([]byte, bool, error) {
	if x.done {
		return nil, false, sasl.Errorf(sasl.Protocol, "challenge after the end")
	}
	list, err := parse(string(challenge), true)
	if err != nil {
		return nil, false, err
	}
	if x.want != "" {
		if got, _ := find(list, "rspauth"); !equal(got, x.want) {
			return nil, false, sasl.Errorf(sasl.Credentials, "the server does not prove that it knows the secret")
		}
		x.done = true
		return nil, true, nil
	}
	b, err := x.respond(list)
	return b, false, err
}

func (x *clientExchange) respond(list []directive) ([]byte, error) {
	realm, _ := find(list, "realm")
	nonce, _ := find(list, "nonce")
	algorithm, _ := find(list, "algorithm")
	charset, hasCharset := find(list, "charset")
	_, stale := find(list, "stale")
	switch {
	case nonce == "":
		return nil, sasl.Errorf(sasl.Protocol, "challenge without a nonce")
	case !strings.EqualFold(algorithm, "md5-sess"):
		return nil, sasl.Errorf(sasl.Protocol, "algorithm %q, want md5-sess", algorithm)
	case hasCharset && !strings.EqualFold(charset, "utf-8"):
		return nil, sasl.Errorf(sasl.Protocol, "charset %q, want utf-8", charset)
	case stale:
		return nil, sasl.Errorf(sasl.Protocol, "the server calls a first nonce stale")
	}
	q, cipher, err := x.choose(list)
	if err != nil {
		return nil, err
	}
	maxBuf, err := parseMaxBuf(list)
	if err != nil {
		return nil, err
	}
	cnonce := x.cnonce()
	a1 := hashA1(x.User, realm, x.Password, nonce, cnonce, "")
	x.want = response(a1, verbServer, x.URI, nonce, firstCount, cnonce, q.String())
	x.out = sasl.Outcome{QOP: q}
	if q != sasl.Auth {
		if maxBuf < maxBufLeast {
			return nil, sasl.Errorf(sasl.LayerChoice, "maxbuf %d, want at least %d", maxBuf, maxBufLeast)
		}
		x.out.SendMax = maxBuf
		if x.out.Layer, err = newLayer(a1, q, cipher, false); err != nil {
			return nil, err
		}
	}
	return x.compose(realm, nonce, cnonce, cipher, q, a1), nil
}

// compose has the order of Java's client.
func (x *clientExchange) compose(realm, nonce, cnonce, cipher string, q sasl.QOP, a1 [16]byte) []byte {
	b := quote([]byte("charset=utf-8,"), "username", x.User)
	b = quote(append(b, ','), "realm", realm)
	b = quote(append(b, ','), "nonce", nonce)
	b = append(b, ",nc="+firstCount+","...)
	b = quote(b, "cnonce", cnonce)
	b = quote(append(b, ','), "digest-uri", x.URI)
	b = append(b, ",maxbuf="+strconv.Itoa(maxBufUsual)+",response="...)
	b = append(b, response(a1, verbClient, x.URI, nonce, firstCount, cnonce, q.String())...)
	b = append(b, ",qop="+q.String()...)
	if cipher != "" {
		b = quote(append(b, ','), "cipher", cipher)
	}
	return b
}

// choose takes the first of our qualities that the server offers.
func (x *clientExchange) choose(list []directive) (sasl.QOP, string, error) {
	v, ok := find(list, "qop")
	if !ok {
		v = sasl.Auth.String()
	}
	offered, _ := find(list, "cipher")
	for _, q := range x.QOP {
		if !contains(words(v), q.String()) {
			continue
		}
		if q != sasl.AuthConf {
			return q, "", nil
		}
		for _, c := range x.Ciphers {
			if contains(words(offered), c) {
				return q, c, nil
			}
		}
	}
	return 0, "", sasl.Errorf(sasl.LayerChoice, "no common protection: offered %q %q, we take %v %q", v, offered, x.QOP, x.Ciphers)
}
