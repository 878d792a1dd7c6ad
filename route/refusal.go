package route

// Exception says what kind of exception a refusal is to the client.
type Exception uint8

const (
	Meta          Exception = iota // MetaException
	NoSuchObject                   // NoSuchObjectException
	UnknownMethod                  // application exception UNKNOWN_METHOD
	App                            // application exception
)

// Reason says why, in words fit for a metric's label.
type Reason string

// Reasons of refusals.
const (
	Ambiguous   Reason = "ambiguous"    // names of two catalogs in one call
	Unowned     Reason = "unowned"      // a write that names no database
	Elsewhere   Reason = "elsewhere"    // only the default catalog does this
	HintWrite   Reason = "hint_write"   // a write routed by catName alone
	UnknownCall Reason = "unknown_call" // a method in no inventory
)

// Refusal is a call that goes nowhere. It is an error so that a name met late
// in a streamed call can end the walk.
type Refusal struct {
	Exception Exception
	Reason    Reason
	Text      string // for the client
	Cause     string // for the log, where it says more than the text; mostly empty
}

func (r *Refusal) Error() string { return r.Text }
