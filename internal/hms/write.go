package hms

import (
	"fmt"
	"math"

	"hmsgate/frame"
	"hmsgate/profiles"

	"github.com/apache/thrift/lib/go/thrift"
)

type writer struct {
	*Codec
	p thrift.TProtocol
}

// Write writes a value of a type, fields in the order of the inventory.
func (c *Codec) Write(p thrift.TProtocol, t *profiles.TypeRef, v any) error {
	w := &writer{c, p}
	if err := w.value(t, v, c.Limits.Depth); err != nil {
		return at(typeName(t), err)
	}
	return nil
}

var widths = map[frame.Type][2]int64{
	frame.Byte: {math.MinInt8, math.MaxInt8}, frame.I16: {math.MinInt16, math.MaxInt16},
	frame.I32: {math.MinInt32, math.MaxInt32}, frame.I64: {math.MinInt64, math.MaxInt64},
}

func (w *writer) value(t *profiles.TypeRef, v any, depth int) error {
	switch t.Wire {
	case frame.Bool:
		b, ok := v.(bool)
		if !ok {
			return mismatch("bool", v)
		}
		return w.p.WriteBool(bg, b)
	case frame.Byte, frame.I16, frame.I32, frame.I64:
		return w.integer(t, v)
	case frame.Double:
		d, ok := v.(float64)
		if !ok {
			return mismatch("float64", v)
		}
		return w.p.WriteDouble(bg, d)
	case frame.String:
		return w.text(t, v)
	}
	if depth <= 0 {
		return ErrTooDeep
	}
	switch t.Wire {
	case frame.Struct:
		s := w.Inventory.Structs[t.Name]
		if s == nil {
			return fmt.Errorf("struct %q is not in inventory %s", t.Name, w.Inventory.Label)
		}
		sv, ok := v.(Struct)
		if !ok {
			return mismatch("hms.Struct", v)
		}
		return w.fields(s, sv, depth-1)
	case frame.List, frame.Set:
		return w.list(t, v, depth-1)
	case frame.Map:
		return w.pairs(t, v, depth-1)
	}
	return fmt.Errorf("cannot write %s", frame.TypeName(t.Wire))
}

// integer takes exactly its own width, or an int that fits.
func (w *writer) integer(t *profiles.TypeRef, v any) error {
	n, ok := integer(v)
	_, loose := v.(int)
	switch {
	case !ok, !loose && t.Wire == frame.Byte && !isType[int8](v), !loose && t.Wire == frame.I16 && !isType[int16](v),
		!loose && t.Wire == frame.I32 && !isType[int32](v), !loose && t.Wire == frame.I64 && !isType[int64](v):
		return mismatch(frame.TypeName(t.Wire), v)
	}
	if r := widths[t.Wire]; n < r[0] || n > r[1] {
		return fmt.Errorf("%d does not fit into %s", n, frame.TypeName(t.Wire))
	}
	switch t.Wire {
	case frame.Byte:
		return w.p.WriteByte(bg, int8(n))
	case frame.I16:
		return w.p.WriteI16(bg, int16(n))
	case frame.I32:
		return w.p.WriteI32(bg, int32(n))
	}
	return w.p.WriteI64(bg, n)
}

func isType[T any](v any) bool { _, ok := v.(T); return ok }

func (w *writer) text(t *profiles.TypeRef, v any) error {
	switch x := v.(type) {
	case string:
		if len(x) > w.Limits.String {
			return ErrTooLong
		}
		return w.p.WriteString(bg, x)
	case []byte:
		if t.Name != "binary" {
			return mismatch("string", v)
		}
		if len(x) > w.Limits.String {
			return ErrTooLong
		}
		return w.p.WriteBinary(bg, x)
	}
	return mismatch(typeName(t), v)
}

func (w *writer) fields(s *profiles.Struct, v Struct, depth int) error {
	if !w.Lax {
		for name := range v {
			if s.Field(name) == nil {
				return at(name, fmt.Errorf("%s has no such field in %s", s.Name, w.Inventory.Label))
			}
		}
	}
	if err := w.p.WriteStructBegin(bg, s.Name); err != nil {
		return err
	}
	for i := range s.Fields {
		f := &s.Fields[i]
		fv, ok := v[f.Name]
		if !ok || fv == nil {
			if fv = w.absent(f); fv == nil {
				if f.Req == profiles.Required {
					return at(f.Name, fmt.Errorf("required by %s and absent", s.Name))
				}
				continue
			}
		}
		if err := w.p.WriteFieldBegin(bg, f.Name, thrift.TType(f.Type.Wire), f.ID); err != nil {
			return err
		}
		if err := w.value(f.Type, fv, depth); err != nil {
			return at(f.Name, err)
		}
		if err := w.p.WriteFieldEnd(bg); err != nil {
			return err
		}
	}
	if err := w.p.WriteFieldStop(bg); err != nil {
		return err
	}
	return w.p.WriteStructEnd(bg)
}

// absent is what stands for a field without a value, nil for nothing.
func (w *writer) absent(f *profiles.Field) any {
	if !w.AsJava || f.Req == profiles.Optional || w.isEnum(f.Type) {
		return nil
	}
	switch f.Type.Wire {
	case frame.Bool:
		return false
	case frame.Double:
		return float64(0)
	case frame.Byte, frame.I16, frame.I32, frame.I64:
		return 0
	}
	return nil
}

func (w *writer) list(t *profiles.TypeRef, v any, depth int) error {
	l, ok := v.([]any)
	if s, is := v.([]string); is {
		l, ok = ListOf(s), true
	}
	if !ok {
		return mismatch("[]any", v)
	}
	if len(l) > w.Limits.Elements {
		return ErrTooLong
	}
	begin, end := w.p.WriteListBegin, w.p.WriteListEnd
	if t.Wire == frame.Set {
		begin, end = w.p.WriteSetBegin, w.p.WriteSetEnd
	}
	if err := begin(bg, thrift.TType(t.Elem.Wire), len(l)); err != nil {
		return err
	}
	for i, e := range l {
		if err := w.value(t.Elem, e, depth); err != nil {
			return at(fmt.Sprintf("[%d]", i), err)
		}
	}
	return end(bg)
}

func (w *writer) pairs(t *profiles.TypeRef, v any, depth int) error {
	m, ok := v.(Map)
	if s, is := v.(map[string]string); is {
		m, ok = MapOf(s), true
	}
	if !ok {
		return mismatch("hms.Map", v)
	}
	if len(m) > w.Limits.Elements {
		return ErrTooLong
	}
	if err := w.p.WriteMapBegin(bg, thrift.TType(t.Key.Wire), thrift.TType(t.Elem.Wire), len(m)); err != nil {
		return err
	}
	for i, p := range m {
		if err := w.value(t.Key, p.Key, depth); err != nil {
			return at(fmt.Sprintf("[key %d]", i), err)
		}
		if err := w.value(t.Elem, p.Value, depth); err != nil {
			return at(fmt.Sprintf("[value %d]", i), err)
		}
	}
	return w.p.WriteMapEnd(bg)
}
