package frame

import (
	"errors"
	"fmt"
)

// What can be wrong with bytes. Callers branch on these with errors.Is.
var (
	ErrNotThrift = errors.New("not a strict binary Thrift message")
	ErrOldHeader = errors.New("old-style (unversioned) message header")
	ErrBadType   = errors.New("unknown wire type")
	ErrNegative  = errors.New("negative length or count")
	ErrTooDeep   = errors.New("nested deeper than 64 levels")
	ErrTooLong   = errors.New("longer than the limit allows")
	ErrFrameSize = errors.New("frame length out of bounds")
	ErrDuplicate = errors.New("field occurs twice in one struct")

	// ErrFull ends a walk that keeps its bytes when they outgrow what may be held.
	ErrFull = errors.New("message outgrows what may be held")
	// ErrBudget says that all sessions together hold as much as they may.
	ErrBudget = errors.New("memory for held messages is used up")
)

// SourceError is a failure to read, SinkError one to write: the two tell
// whose connection broke.
type SourceError struct{ Err error }

func (e *SourceError) Error() string { return "read: " + e.Err.Error() }
func (e *SourceError) Unwrap() error { return e.Err }

// SinkError is a failure to write.
type SinkError struct{ Err error }

func (e *SinkError) Error() string { return "write: " + e.Err.Error() }
func (e *SinkError) Unwrap() error { return e.Err }

// lengthError names a length, where it stands and what was allowed.
func lengthError(kind error, what string, got, at, limit int64) error {
	if limit > 0 {
		return fmt.Errorf("%w: %s of %d at byte %d, at most %d in a message", kind, what, got, at, limit)
	}
	return fmt.Errorf("%w: %s of %d at byte %d", kind, what, got, at)
}
