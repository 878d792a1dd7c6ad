package hms

import (
	"errors"
	"fmt"

	"hmsgate/frame"
	"hmsgate/profiles"

	"github.com/apache/thrift/lib/go/thrift"
)

// Message is a call or a reply, read whole.
type Message struct {
	Type   frame.MessageType
	Method string
	Seq    int32

	Args    Struct     // of a call
	Result  any        // of a reply: nil for void, or when Thrown is set
	Thrown  *Exception // of a reply: a declared exception
	Failure *AppError  // of an application exception
}

// encode runs f over a protocol in memory.
func (c *Codec) encode(name string, t frame.MessageType, seq int32, f func(p thrift.TProtocol) error) ([]byte, error) {
	buf := thrift.NewTMemoryBuffer()
	p := thrift.NewTBinaryProtocolConf(buf, c.thriftConf())
	if err := p.WriteMessageBegin(bg, name, thrift.TMessageType(t), seq); err != nil {
		return nil, err
	}
	if err := f(p); err != nil {
		return nil, err
	}
	if err := p.WriteMessageEnd(bg); err != nil {
		return nil, err
	}
	return buf.Bytes(), p.Flush(bg)
}

func (c *Codec) method(name string) (*profiles.Method, error) {
	m := c.Inventory.Methods[name]
	if m == nil {
		return nil, fmt.Errorf("%q in %s: %w", name, c.Inventory.Label, ErrUnknownMethod)
	}
	return m, nil
}

// EncodeCall is a call, without the length of framed transport.
func (c *Codec) EncodeCall(method string, seq int32, args Struct) ([]byte, error) {
	m, err := c.method(method)
	if err != nil {
		return nil, err
	}
	t := frame.Call
	if m.Oneway {
		t = frame.Oneway
	}
	return c.encode(method, t, seq, func(p thrift.TProtocol) error { return c.writeTop(p, argsOf(m), args) })
}

func (c *Codec) writeTop(p thrift.TProtocol, s *profiles.Struct, v Struct) error {
	w := &writer{c, p}
	if err := w.fields(s, v, c.Limits.Depth); err != nil {
		return at(s.Name, err)
	}
	return nil
}

// EncodeReply is the reply with a method's result: a value of its return type, nil
// for void, or an *Exception of a type that it declares.
func (c *Codec) EncodeReply(method string, seq int32, result any) ([]byte, error) {
	m, err := c.method(method)
	if err != nil {
		return nil, err
	}
	v := Struct{}
	switch x := result.(type) {
	case nil:
	case *Exception:
		f := Throws(m, x.Type)
		if f == nil {
			return nil, fmt.Errorf("%s does not declare %s", method, x.Type)
		}
		v[f.Name] = x.fields()
	default:
		v[success] = result
	}
	return c.encode(method, frame.Reply, seq, func(p thrift.TProtocol) error { return c.writeTop(p, resultOf(m), v) })
}

// fields are the exception's own, with its message under the one name that every
// exception of the interface has for it.
func (e *Exception) fields() Struct {
	out := e.Fields.Clone()
	if out == nil {
		out = Struct{}
	}
	out["message"] = e.Message
	return out
}

// Throws finds the declared exception of a type, nil when there is none.
func Throws(m *profiles.Method, exception string) *profiles.Field {
	for i := range m.Throws {
		if m.Throws[i].Type.Name == exception {
			return &m.Throws[i]
		}
	}
	return nil
}

// appFields is TApplicationException (Apache Thrift, lib/java).
var appFields = &profiles.Struct{Name: "TApplicationException", Fields: []profiles.Field{
	{ID: 1, Name: "message", Type: &profiles.TypeRef{Wire: frame.String, Name: "string"}},
	{ID: 2, Name: "type", Type: &profiles.TypeRef{Wire: frame.I32, Name: "i32"}},
}}

// EncodeException is a reply with an application exception. The method need not
// be in the inventory.
func (c *Codec) EncodeException(method string, seq int32, appType int32, text string) ([]byte, error) {
	return c.encode(method, frame.Exception, seq, func(p thrift.TProtocol) error {
		return c.writeTop(p, appFields, Struct{"message": text, "type": appType})
	})
}

// DecodeMessage reads one message that fills the bytes exactly. A call of a method
// that the inventory lacks comes with ErrUnknownMethod and its header; a missing
// required field with *MissingError and the whole message.
func (c *Codec) DecodeMessage(b []byte) (*Message, error) {
	p, buf := c.over(b)
	m, err := c.readMessage(p)
	if err != nil && !inStep(err) {
		return nil, err
	}
	if n := buf.Len(); n > 0 {
		return m, fmt.Errorf("%s: %d bytes after the message", m.Method, n)
	}
	return m, err
}

func (c *Codec) over(b []byte) (*thrift.TBinaryProtocol, *thrift.TMemoryBuffer) {
	buf := thrift.NewTMemoryBufferLen(0)
	buf.Write(b)
	return thrift.NewTBinaryProtocolConf(buf, c.thriftConf()), buf
}

// inStep tells errors after which the next message begins where it should.
func inStep(err error) bool {
	var lack *MissingError
	return errors.As(err, &lack) || errors.Is(err, ErrUnknownMethod)
}

// readMessage reads one message. Errors for which inStep is true come with it.
func (c *Codec) readMessage(p thrift.TProtocol) (*Message, error) {
	name, t, seq, err := p.ReadMessageBegin(bg)
	if err != nil {
		return nil, err
	}
	m := &Message{Type: frame.MessageType(t), Method: name, Seq: seq}
	r := &reader{Codec: c, p: p}
	switch m.Type {
	case frame.Call, frame.Oneway:
		err = c.readArgs(r, m)
	case frame.Reply:
		err = c.readResult(r, m)
	case frame.Exception:
		var v Struct
		if v, err = r.fields(appFields, c.Limits.Depth); err == nil {
			m.Failure = &AppError{Type: int32(v.Int("type")), Message: v.Str("message")}
		}
	default:
		return nil, fmt.Errorf("%q: %v", name, m.Type)
	}
	if err != nil && !inStep(err) {
		return nil, at(name, err)
	}
	if err2 := p.ReadMessageEnd(bg); err2 != nil {
		return nil, err2
	}
	return m, err
}

func (c *Codec) readArgs(r *reader, m *Message) (err error) {
	method, unknown := c.method(m.Method)
	if unknown != nil {
		if err := thrift.Skip(bg, r.p, thrift.STRUCT, c.Limits.Depth); err != nil {
			return err
		}
		return unknown
	}
	if m.Args, err = r.fields(argsOf(method), c.Limits.Depth); err != nil {
		return err
	}
	return r.lack()
}

func (c *Codec) readResult(r *reader, m *Message) error {
	method, unknown := c.method(m.Method)
	if unknown != nil {
		if err := thrift.Skip(bg, r.p, thrift.STRUCT, c.Limits.Depth); err != nil {
			return err
		}
		return unknown
	}
	v, err := r.fields(resultOf(method), c.Limits.Depth)
	if err != nil {
		return err
	}
	m.Result = v[success]
	for _, f := range method.Throws {
		if x, ok := v[f.Name].(Struct); ok {
			m.Thrown = &Exception{Type: f.Type.Name, Message: x.Str("message"), Fields: x}
		}
	}
	return r.lack()
}

// EncodeCall is Codec.EncodeCall of a strict codec.
func EncodeCall(inv *profiles.Inventory, method string, seq int32, args Struct) ([]byte, error) {
	return NewCodec(inv).EncodeCall(method, seq, args)
}

// EncodeReply is Codec.EncodeReply of a strict codec.
func EncodeReply(inv *profiles.Inventory, method string, seq int32, result any) ([]byte, error) {
	return NewCodec(inv).EncodeReply(method, seq, result)
}

// EncodeException is a reply with an application exception.
func EncodeException(method string, seq, appType int32, text string) ([]byte, error) {
	return NewCodec(&profiles.Inventory{}).EncodeException(method, seq, appType, text)
}

// DecodeMessage is Codec.DecodeMessage of a strict codec.
func DecodeMessage(inv *profiles.Inventory, b []byte) (*Message, error) {
	return NewCodec(inv).DecodeMessage(b)
}
