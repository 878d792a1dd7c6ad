package sasl

import (
	"errors"
	"fmt"
)

// RefusalText is all that a refused peer is told, whatever the reason. The
// text reaches end users and attackers alike: real servers' texts tell an
// unknown token from a wrong password.
const RefusalText = "authentication failed"

// Reason is why a negotiation ended, a short word for logs and counters.
type Reason string

// Reasons.
const (
	Protocol    Reason = "protocol"    // not the negotiation we know
	Mechanism   Reason = "mechanism"   // not offered here
	Limit       Reason = "limit"       // longer, more or later than allowed
	PeerFailed  Reason = "peer"        // the peer says that it failed
	IO          Reason = "io"          // the connection broke
	Credentials Reason = "credentials" // wrong password, wrong key, damaged token
	NoKey       Reason = "no-key"      // a service principal we do not answer for, or whose key we lack
	Skew        Reason = "skew"        // clocks differ too much
	Replay      Reason = "replay"      // seen before
	Expired     Reason = "expired"     // ticket or token outside its time
	Name        Reason = "name"        // no rule maps it, or a foreign authorization id
	Realm       Reason = "realm"       // a client realm that is not trusted
	LayerChoice Reason = "layer"       // no common protection
	Enctype     Reason = "enctype"     // an encryption type that is not accepted
	Unavailable Reason = "unavailable" // KDC or token store cannot be asked
	Internal    Reason = "internal"    // ours: a recovered panic
)

// Error is the reason for our log; none of it is sent to the peer. It holds
// no secret: names, numbers and times only.
type Error struct {
	Reason    Reason
	Mechanism string // of the exchange, when one was chosen
	Principal string // as far as it was established
	Err       error
}

func (e *Error) Error() string {
	s := "sasl: "
	if e.Mechanism != "" {
		s += e.Mechanism + ": "
	}
	s += string(e.Reason)
	if e.Principal != "" {
		s += fmt.Sprintf(" (%q)", e.Principal)
	}
	return s + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an Error.
func Errorf(r Reason, format string, args ...any) *Error {
	return &Error{Reason: r, Err: fmt.Errorf(format, args...)}
}

// ReasonOf finds the reason in err; Internal for an error without one.
func ReasonOf(err error) Reason {
	var e *Error
	if errors.As(err, &e) {
		return e.Reason
	}
	return Internal
}

// Cause is what went wrong in words alone, for who knows already what was tried.
func Cause(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Err.Error()
	}
	return err.Error()
}

// PeerError is a BAD or ERROR message of the peer. Its text is the peer's:
// quote it.
type PeerError struct {
	Status Status
	Text   string
}

func (e *PeerError) Error() string { return fmt.Sprintf("peer says %v %q", e.Status, e.Text) }

// What can be wrong with a data frame or token after the negotiation. The
// connection is of no use afterwards.
var (
	ErrToken      = errors.New("sasl: damaged, replayed or reordered token")
	ErrFrame      = errors.New("sasl: frame length out of bounds")
	ErrBudget     = errors.New("sasl: memory for tokens is used up")
	ErrUnverified = errors.New("sasl: a message ends inside a token that is not verified yet")
)

var (
	errEmptyPassword = errors.New("empty password")
	errAuthzid       = errors.New("authorization id differs from the authentication id")
)
