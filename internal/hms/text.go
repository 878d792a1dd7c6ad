package hms

import (
	"fmt"
	"strconv"
	"strings"

	"hmsgate/frame"
	"hmsgate/profiles"

	"github.com/apache/thrift/lib/go/thrift"
)

// Text is a value as Java's generated toString() prints it, which real
// metastores put into messages: Partition(values:[a, b], dbName:x, ...). Optional
// fields are left out when absent, others say null.
func (c *Codec) Text(t *profiles.TypeRef, v any) string {
	if v == nil {
		return "null"
	}
	switch x := v.(type) {
	case Struct:
		if s := c.Inventory.Structs[t.Name]; s != nil {
			return c.structText(s, x)
		}
	case []any:
		parts := make([]string, len(x))
		for i, e := range x {
			parts[i] = c.Text(t.Elem, e)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case Map:
		parts := make([]string, len(x))
		for i, p := range x {
			parts[i] = c.Text(t.Key, p.Key) + "=" + c.Text(t.Elem, p.Value)
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case []byte:
		return strings.ToUpper(strings.Join(strings.Fields(fmt.Sprintf("% x", x)), " "))
	case string:
		return x
	case bool:
		return strconv.FormatBool(x)
	}
	if n, ok := integer(v); ok {
		if name := c.EnumName(t.Name, int32(n)); name != "" {
			return name
		}
		return strconv.FormatInt(n, 10)
	}
	return fmt.Sprint(v)
}

// StructText is Text for a struct by its name.
func (c *Codec) StructText(name string, v Struct) string {
	return c.Text(&profiles.TypeRef{Wire: frame.Struct, Name: name}, v)
}

func (c *Codec) structText(s *profiles.Struct, v Struct) string {
	var parts []string
	for i := range s.Fields {
		f := &s.Fields[i]
		fv, ok := v[f.Name]
		if !ok || fv == nil {
			if f.Req == profiles.Optional {
				continue
			}
			fv = c.zero(f.Type)
		}
		parts = append(parts, f.Name+":"+c.Text(f.Type, fv))
	}
	return s.Name + "(" + strings.Join(parts, ", ") + ")"
}

// zero is the value that Java's primitives have when nobody set them.
func (c *Codec) zero(t *profiles.TypeRef) any {
	switch {
	case c.isEnum(t):
		return nil
	case t.Wire == frame.Bool:
		return false
	case t.Wire == frame.Double:
		return "0.0"
	case frame.FixedSize(t.Wire) > 0:
		return 0
	}
	return nil
}

// JSON is a value in Thrift's own JSON (TJSONProtocol), as notification
// messages carry objects.
func (c *Codec) JSON(t *profiles.TypeRef, v any) (string, error) {
	buf := thrift.NewTMemoryBuffer()
	p := thrift.NewTJSONProtocol(buf)
	if err := c.Write(p, t, v); err != nil {
		return "", err
	}
	err := p.Flush(bg)
	return buf.String(), err
}
