package answer

import (
	"errors"
	"fmt"

	"hmsgate/internal/hms"
	"hmsgate/internal/session"
	"hmsgate/profiles"
	"hmsgate/route"
)

// program serves a call that its backend does not know by calls that it knows.
// It sees the backend's names, in the call and in all results.
type program func(w *work) (any, error)

// programs are all programs under the names that bridges use. The parts that
// a bridge's calls play are the program's own words.
var programs = map[string]program{
	"add-partitions":    addPartitions,
	"column-statistics": columnStatistics,
	"compactions":       compactions,
	"constraints":       constraints,
	"databases":         databases,
	"drop-catalog":      dropCatalog,
	"drop-database":     dropDatabase,
	"echo":              echo,
	"functions":         functions,
	"locks-of-txn":      locksOfTxn,
	"open-txns":         openTxns,
	"partition-specs":   partitionSpecs,
	"table-infos":       tableInfos,
	"table-names":       tableNames,
	"tables-by-pattern": tablesByPattern,
	"views":             views,
	"write-ids-of-list": writeIDsOfList,
}

// work is one run of a program.
type work struct {
	call *session.Call
	p    *profiles.Program
	back *hms.Codec
	args hms.Struct
}

// run makes an answer of a program.
func run(p program) session.Answer {
	return func(c *session.Call) error {
		w := &work{call: c, p: c.Program(), back: hms.NewCodec(c.Program().Back)}
		w.back.Lax = true // a struct of the request's may have fields that an older one lacks
		front := hms.NewCodec(w.p.Front)
		front.Lax = true
		msg, err := c.Inward()
		if err != nil {
			return refused(c, err)
		}
		m, err := front.DecodeMessage(msg)
		var lack *hms.MissingError
		if errors.As(err, &lack) {
			return outward(c, front, nil, &hms.AppError{Type: hms.AppProtocolError, Message: lack.Text})
		}
		if err != nil {
			return err
		}
		w.args = m.Args
		v, err := p(w)
		if errors.Is(err, errAsItself) {
			c.AsItself()
			return nil
		}
		return outward(c, front, v, err)
	}
}

// outward answers with what a program came to.
func outward(c *session.Call, front *hms.Codec, v any, err error) error {
	var app *hms.AppError
	var thrown *hms.Exception
	var msg []byte
	switch {
	case err == nil:
		msg, err = front.EncodeReply(c.Method(), c.Seq(), v)
	case errors.As(err, &thrown):
		msg, err = declared(c, front, thrown)
	case errors.As(err, &app):
		msg, err = front.EncodeException(c.Method(), c.Seq(), app.Type, app.Message)
	default:
		return refused(c, err)
	}
	if err != nil {
		return err
	}
	return c.Outward(msg)
}

// declared is an exception of a backend's as the client's method declares it:
// under its own type, else as MetaException.
func declared(c *session.Call, front *hms.Codec, x *hms.Exception) ([]byte, error) {
	m := front.Inventory.Methods[c.Method()]
	for _, as := range []string{x.Type, metaException} {
		if hms.Throws(m, as) != nil {
			return front.EncodeReply(c.Method(), c.Seq(), &hms.Exception{Type: as, Message: x.Message})
		}
	}
	return front.EncodeException(c.Method(), c.Seq(), hms.AppInternalError, x.Message)
}

const metaException = "MetaException"

// errAsItself says that the backend understands the call as it is.
var errAsItself = errors.New("the call needs no program")

// refused gives the client a refusal; any other error is the session's.
func refused(c *session.Call, err error) error {
	var r *route.Refusal
	if errors.As(err, &r) {
		c.Refuse(r)
		return nil
	}
	return err
}

// ask calls the method that plays a part. What the backend throws is an error.
func (w *work) ask(part string, args hms.Struct) (any, error) {
	method := w.p.Calls[part]
	if method == "" {
		return nil, &hms.AppError{Type: hms.AppUnknownMethod, Message: fmt.Sprintf("Invalid method name: '%s'", w.call.Method())}
	}
	msg, err := w.back.EncodeCall(method, w.call.Seq(), args)
	if err != nil {
		return nil, err
	}
	reply, err := w.call.Ask(msg, method)
	if err != nil {
		return nil, err
	}
	m, err := w.back.DecodeMessage(reply)
	switch {
	case err != nil:
		return nil, err
	case m.Thrown != nil:
		return nil, m.Thrown
	case m.Failure != nil:
		return nil, m.Failure
	case m.Result == nil && w.back.Inventory.Methods[method].Returns != nil: // nothing, or an exception nobody knows
		return nil, &hms.AppError{Type: hms.AppMissingResult, Message: method + " failed: unknown result"}
	}
	return m.Result, nil
}

// has says whether the backend has a method for a part.
func (w *work) has(part string) bool { return w.p.Calls[part] != "" }

// request is the call's only argument.
func (w *work) request() hms.Struct {
	for _, v := range w.args {
		if s, ok := v.(hms.Struct); ok {
			return s
		}
	}
	return hms.Struct{}
}

// with is the call's arguments with another request.
func (w *work) with(req hms.Struct) hms.Struct {
	out := hms.Struct{}
	for name, v := range w.args {
		if _, is := v.(hms.Struct); is {
			v = req
		}
		out[name] = v
	}
	return out
}

// db writes a database for an argument that is no field of a struct: with the
// catalog in front where the backend reads that.
func (w *work) db(cat, db string) string {
	if cat == "" || !w.call.Ats() {
		return db
	}
	return "@" + cat + "#" + db
}

// gone says whether something was not there any more.
func gone(err error) bool {
	var x *hms.Exception
	return errors.As(err, &x) && x.Type == "NoSuchObjectException"
}
