package hms

import (
	"errors"
	"fmt"
	"strings"
)

// Errors that callers branch on.
var (
	ErrUnknownMethod = errors.New("method is not in the inventory")
	ErrTooDeep       = errors.New("nested too deeply")
	ErrTooLong       = errors.New("longer than the limit")
	ErrBroken        = errors.New("connection is not usable any more")
)

// ValueError says where in a value something is wrong.
type ValueError struct {
	Path string // "Table.sd.cols[3].name"
	Err  error
}

func (e *ValueError) Error() string { return e.Path + ": " + e.Err.Error() }
func (e *ValueError) Unwrap() error { return e.Err }

// at puts a step in front of the path of an error on its way out, so that a
// value without errors pays nothing for paths.
func at(step string, err error) error {
	var v *ValueError
	if !errors.As(err, &v) {
		return &ValueError{step, err}
	}
	sep := "."
	if strings.HasPrefix(v.Path, "[") {
		sep = ""
	}
	return &ValueError{step + sep + v.Path, v.Err}
}

func mismatch(want string, got any) error { return fmt.Errorf("want %s, got %T", want, got) }

// MissingError reports a required field that was not there. The value around it
// has been read to its end: the connection is still in step. Text is what Java's
// generated validate() says, which clients of real metastores see.
type MissingError struct {
	Struct, Field string
	Text          string
}

func (e *MissingError) Error() string { return e.Text }

// Exception is an exception that a method declares.
type Exception struct {
	Type    string
	Message string
	Fields  Struct
}

func (e *Exception) Error() string { return e.Type + ": " + e.Message }

// Application exception types (Apache Thrift, TApplicationException).
const (
	AppUnknown            int32 = 0
	AppUnknownMethod      int32 = 1
	AppInvalidMessageType int32 = 2
	AppWrongMethodName    int32 = 3
	AppBadSequenceID      int32 = 4
	AppMissingResult      int32 = 5
	AppInternalError      int32 = 6
	AppProtocolError      int32 = 7
)

// AppError is an application exception: the peer's thrift layer speaks, not the
// method.
type AppError struct {
	Type    int32
	Message string
}

func (e *AppError) Error() string {
	return fmt.Sprintf("application exception %d: %s", e.Type, e.Message)
}
