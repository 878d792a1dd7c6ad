package sasl

import (
	"net/netip"
	"strings"
	"time"
)

// QOP is a quality of protection, as a bit of RFC 4752's mask.
type QOP byte

// Qualities; a mask is a sum of them.
const (
	Auth     QOP = 1
	AuthInt  QOP = 2
	AuthConf QOP = 4
)

func (q QOP) String() string {
	var names []string
	for _, x := range []struct {
		q QOP
		s string
	}{{Auth, "auth"}, {AuthInt, "auth-int"}, {AuthConf, "auth-conf"}} {
		if q&x.q != 0 {
			names = append(names, x.s)
		}
	}
	return strings.Join(names, ",")
}

// One says whether exactly one quality is set.
func (q QOP) One() bool { return q == Auth || q == AuthInt || q == AuthConf }

// ParseQOP reads a list of SASL names or of the words of Hadoop's
// hadoop.rpc.protection (SaslRpcServer.QualityOfProtection). It returns the
// list in its order and as a mask.
func ParseQOP(s string) ([]QOP, QOP, error) {
	var list []QOP
	var mask QOP
	for _, w := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return r == ',' || r == ' ' }) {
		var q QOP
		switch w {
		case "auth", "authentication":
			q = Auth
		case "auth-int", "integrity":
			q = AuthInt
		case "auth-conf", "privacy":
			q = AuthConf
		default:
			return nil, 0, Errorf(LayerChoice, "unknown protection %q: allowed are authentication, integrity, privacy", w)
		}
		if mask&q == 0 {
			list, mask = append(list, q), mask|q
		}
	}
	if mask == 0 {
		return nil, 0, Errorf(LayerChoice, "no protection named in %q", s)
	}
	return list, mask, nil
}

// Identity is who a connection belongs to.
type Identity struct {
	Mechanism string
	Principal string    // the full name: alice@REALM; a token's owner as issued
	User      string    // the short name that rights go by
	RealUser  string    // who obtained the token, for audit only
	Expires   time.Time // end of the ticket or token; zero: none
	Token     string    // names the delegation token without its secret; "" without one
	Offset    time.Duration
	Delegated bool // credentials were forwarded (and thrown away)
}

// Outcome is what a finished exchange leaves.
type Outcome struct {
	Identity Identity // client side: the peer's name as far as the mechanism proves one
	QOP      QOP
	Layer    Layer // nil with Auth
	SendMax  int   // longest token the peer takes; 0: it did not say
}

// ServerMechanism is one mechanism a listener offers. It is shared by all
// connections.
type ServerMechanism interface {
	Name() string
	// MessageMax bounds a token of the negotiation.
	MessageMax() int
	// Begin starts one connection's exchange.
	Begin(peer netip.Addr) ServerExchange
}

// ServerExchange is one connection's run of a mechanism. After done there is
// an Outcome. An error ends it.
type ServerExchange interface {
	Step(token []byte) (reply []byte, done bool, err error)
	Outcome() Outcome
}

// ClientMechanism is one way we log in to a backend.
type ClientMechanism interface {
	Name() string
	MessageMax() int
	// Begin returns the exchange and its initial response (nil: empty).
	// done says that the mechanism needs nothing more (PLAIN).
	Begin() (x ClientExchange, initial []byte, done bool, err error)
}

// ClientExchange is one connection's run of a mechanism.
type ClientExchange interface {
	Step(challenge []byte) (response []byte, done bool, err error)
	Outcome() Outcome
}

// Layer seals and opens the tokens of one connection. Tokens go by sequence
// number in each direction, so one goroutine seals and one opens.
type Layer interface {
	// Head and Tail bound what a token has before and behind the plain text.
	Head() int
	Tail() int
	// PlainMax is the longest plain text whose token has at most token bytes.
	PlainMax(token int) int
	// Seal makes the token of the plain text b[Head():Head()+n] within b,
	// which has Tail() bytes of room behind it, and returns the token.
	Seal(b []byte, n int) ([]byte, error)
	// Open verifies a token and returns the plain text, which lies within it.
	// The token is overwritten.
	Open(token []byte) ([]byte, error)
	// OpenStream starts on a token of n bytes that is too long to be held;
	// head is its first Head() bytes.
	OpenStream(n int64, head []byte) (Opener, error)
}

// Opener opens one token piece by piece. Plain text it returns before Close
// is not verified.
type Opener interface {
	// Hold is how many bytes at the token's end belong to Close. At least one
	// byte of the plain text is among them.
	Hold() int
	// Next overwrites the first used bytes of p with plain text. It uses none
	// when it needs more at once.
	Next(p []byte) (plain []byte, used int, err error)
	// Close takes the token's end, verifies the whole and returns the rest.
	Close(tail []byte) ([]byte, error)
}
