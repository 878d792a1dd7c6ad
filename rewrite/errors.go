package rewrite

import (
	"errors"
	"fmt"

	"hmsgate/frame"
)

// ErrName says that a name is longer than any name a metastore stores.
var ErrName = errors.New("name too long")

// ErrElement says that a container states another element type than the plan knows.
var ErrElement = errors.New("elements of another type")

// Error is a failed walk with the path of the field where it failed.
type Error struct {
	Path string // "alter_table args.3: Table.2", "lock args.1: LockRequest.1: [0]: LockComponent.3"
	Err  error
}

func (e *Error) Error() string { return e.Path + ": " + e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// at adds one step to an error's path while the walk unwinds.
func (k *Walker) at(err error, node, id int) error {
	return step(err, fmt.Sprintf("%s.%d", k.p.names[k.p.nodes[node].name], id))
}

// element adds a list position.
func element(err error, i int) error { return step(err, fmt.Sprintf("[%d]", i)) }

// step puts one step before an error's path. A connection that broke, or a
// message that outgrew what may be held, says nothing about the field.
func step(err error, s string) error {
	var src *frame.SourceError
	var snk *frame.SinkError
	if errors.As(err, &src) || errors.As(err, &snk) || errors.Is(err, frame.ErrFull) || errors.Is(err, frame.ErrBudget) {
		return err
	}
	if e, ok := err.(*Error); ok {
		e.Path = s + ": " + e.Path
		return err
	}
	return &Error{s, err}
}
