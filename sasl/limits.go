package sasl

import "time"

// Limits bounds a negotiation. The zero value means the defaults.
type Limits struct {
	Start    time.Duration // until START has come; default 5 s
	Whole    time.Duration // the negotiation; default 15 s
	Messages int           // of the peer; default 10
}

const (
	defaultStart    = 5 * time.Second
	defaultWhole    = 15 * time.Second
	defaultMessages = 10
	nameMax         = 32      // bytes of a mechanism name
	textMax         = 1 << 10 // bytes kept of a peer's BAD or ERROR text
	peerTextMax     = 4 << 10 // bytes such a text may have
)

func (l Limits) start() time.Duration { return orDefault(l.Start, defaultStart) }
func (l Limits) whole() time.Duration { return orDefault(l.Whole, defaultWhole) }
func (l Limits) messages() int        { return orDefault(l.Messages, defaultMessages) }

func orDefault[T int | int64 | time.Duration](v, d T) T {
	if v <= 0 {
		return d
	}
	return v
}

// deadliner is what a connection may have besides Read and Write.
type deadliner interface{ SetDeadline(time.Time) error }

// setDeadline sets an absolute deadline, so that a peer that writes one byte
// a second does not outlive it; the zero time removes it.
func setDeadline(conn any, t time.Time) {
	if d, ok := conn.(deadliner); ok {
		_ = d.SetDeadline(t) // a connection without deadlines fails at its next read
	}
}
