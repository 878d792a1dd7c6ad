package hms

import (
	"strconv"
	"strings"

	"hmsgate/frame"
	"hmsgate/profiles"

	"github.com/apache/thrift/lib/go/thrift"
)

// Limits bound what is read and written.
type Limits struct {
	Depth    int // nested structs and containers
	Elements int // of one container
	String   int // bytes of one string
	Message  int // bytes of a frame
}

// DefaultLimits suit a control plane.
var DefaultLimits = Limits{Depth: 64, Elements: 10_000_000, String: 64 << 20, Message: 100 << 20}

// Codec reads and writes the values of one interface version. It has no state
// and may be shared.
type Codec struct {
	Inventory *profiles.Inventory
	Limits    Limits

	// AsJava reads and writes as a peer made of Java's generated code does: an
	// enum number it does not know counts as absent, and a primitive of default
	// requiredness that is absent is written as zero (thrift compiler,
	// t_java_generator: findByValue returns null, isset is not asked).
	AsJava bool
	// Lax leaves out struct fields that the inventory lacks instead of refusing
	// to write them.
	Lax bool
}

// NewCodec is a strict codec with the default limits.
func NewCodec(inv *profiles.Inventory) *Codec { return &Codec{Inventory: inv, Limits: DefaultLimits} }

// thriftConf holds strict headers both ways; sizes are checked here as well, but
// thrift must not believe a length that is out of reason either.
func (c *Codec) thriftConf() *thrift.TConfiguration {
	strict := true
	return &thrift.TConfiguration{
		MaxMessageSize:    int32(c.Limits.Message),
		MaxFrameSize:      int32(c.Limits.Message),
		TBinaryStrictRead: &strict, TBinaryStrictWrite: &strict,
	}
}

// argsOf is the struct that carries a method's arguments.
func argsOf(m *profiles.Method) *profiles.Struct {
	return &profiles.Struct{Name: m.Name + "_args", Fields: m.Args}
}

// resultOf is the struct that carries a method's result.
func resultOf(m *profiles.Method) *profiles.Struct {
	s := &profiles.Struct{Name: m.Name + "_result"}
	if m.Returns != nil {
		s.Fields = append(s.Fields, profiles.Field{ID: 0, Name: success, Type: m.Returns, Req: profiles.Optional})
	}
	for _, f := range m.Throws {
		f.Req = profiles.Optional
		s.Fields = append(s.Fields, f)
	}
	return s
}

const success = "success"

// EnumName is the name of an enum's number, "" when it has none.
func (c *Codec) EnumName(enum string, n int32) string {
	if e := c.Inventory.Enums[enum]; e != nil {
		for name, v := range e.Values {
			if v == n {
				return name
			}
		}
	}
	return ""
}

// EnumValue is the number of an enum's name.
func (c *Codec) EnumValue(enum, name string) (int32, bool) {
	if e := c.Inventory.Enums[enum]; e != nil {
		v, ok := e.Values[name]
		return v, ok
	}
	return 0, false
}

func (c *Codec) isEnum(t *profiles.TypeRef) bool { return c.Inventory.Enums[t.Name] != nil }

// Default is the IDL's default value of a field, nil when it has none.
func (c *Codec) Default(f *profiles.Field) any {
	if f.Value == "" {
		return nil
	}
	if c.isEnum(f.Type) {
		_, name, _ := strings.Cut(f.Value, ".")
		if v, ok := c.EnumValue(f.Type.Name, name); ok {
			return v
		}
		return nil
	}
	n, err := strconv.ParseInt(f.Value, 10, 64)
	switch f.Type.Wire {
	case frame.Bool:
		return f.Value == "true"
	case frame.String:
		return f.Value
	case frame.Byte:
		return orNil(int8(n), err)
	case frame.I16:
		return orNil(int16(n), err)
	case frame.I32:
		return orNil(int32(n), err)
	case frame.I64:
		return orNil(n, err)
	}
	return nil
}

func orNil(v any, err error) any {
	if err != nil {
		return nil
	}
	return v
}
