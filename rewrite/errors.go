package rewrite

import (
	"errors"
	"fmt"

	"hmsgate/frame"
)

// ErrName says that a name is longer than any name a metastore stores.
var ErrName = errors.New("name too long")

// Error is a failed walk with the path of the field where it failed.
type Error struct {
	Path string // "alter_table args.3: Table.2"
	Err  error
}

func (e *Error) Error() string { return e.Path + ": " + e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// at adds one step to an error's path while the walk unwinds. A connection
// that broke says nothing about the field it broke in.
func (k *Walker) at(err error, node, id int) error {
	var src *frame.SourceError
	var snk *frame.SinkError
	if errors.As(err, &src) || errors.As(err, &snk) || errors.Is(err, frame.ErrFull) {
		return err
	}
	step := fmt.Sprintf("%s.%d", k.p.names[k.p.nodes[node].name], id)
	var e *Error
	if errors.As(err, &e) {
		e.Path = step + ": " + e.Path
		return err
	}
	return &Error{step, err}
}
