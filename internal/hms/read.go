package hms

import (
	"context"
	"fmt"

	"hmsgate/frame"
	"hmsgate/profiles"

	"github.com/apache/thrift/lib/go/thrift"
)

var bg = context.Background()

type reader struct {
	*Codec
	p       thrift.TProtocol
	missing *MissingError // the first one found
}

// Read reads a value of a type. Fields that the type does not have, or has with
// another wire type, are skipped, as generated code does. A *MissingError comes
// with the whole value.
func (c *Codec) Read(p thrift.TProtocol, t *profiles.TypeRef) (any, error) {
	r := &reader{Codec: c, p: p}
	v, err := r.value(t, c.Limits.Depth)
	if err != nil {
		return nil, at(typeName(t), err)
	}
	return v, r.lack()
}

// lack keeps a nil *MissingError from becoming an error that is not nil.
func (r *reader) lack() error {
	if r.missing != nil {
		return r.missing
	}
	return nil
}

func typeName(t *profiles.TypeRef) string {
	if t.Name != "" {
		return t.Name
	}
	return frame.TypeName(t.Wire)
}

func (r *reader) value(t *profiles.TypeRef, depth int) (any, error) {
	switch t.Wire {
	case frame.Bool:
		return r.p.ReadBool(bg)
	case frame.Byte:
		return r.p.ReadByte(bg)
	case frame.I16:
		return r.p.ReadI16(bg)
	case frame.I32:
		return r.p.ReadI32(bg)
	case frame.I64:
		return r.p.ReadI64(bg)
	case frame.Double:
		return r.p.ReadDouble(bg)
	case frame.String:
		return r.text(t)
	}
	if depth <= 0 {
		return nil, ErrTooDeep
	}
	switch t.Wire {
	case frame.Struct:
		s := r.Inventory.Structs[t.Name]
		if s == nil {
			return nil, fmt.Errorf("struct %q is not in inventory %s", t.Name, r.Inventory.Label)
		}
		return r.fields(s, depth-1)
	case frame.List, frame.Set:
		return r.list(t, depth-1)
	case frame.Map:
		return r.pairs(t, depth-1)
	}
	return nil, fmt.Errorf("cannot read %s", frame.TypeName(t.Wire))
}

func (r *reader) text(t *profiles.TypeRef) (any, error) {
	if t.Name == "binary" {
		b, err := r.p.ReadBinary(bg)
		if err == nil && len(b) > r.Limits.String {
			err = ErrTooLong
		}
		if b == nil {
			b = []byte{}
		}
		return b, err
	}
	s, err := r.p.ReadString(bg)
	if err == nil && len(s) > r.Limits.String {
		err = ErrTooLong
	}
	return s, err
}

func (r *reader) fields(s *profiles.Struct, depth int) (Struct, error) {
	if _, err := r.p.ReadStructBegin(bg); err != nil {
		return nil, err
	}
	out := Struct{}
	for {
		_, wire, id, err := r.p.ReadFieldBegin(bg)
		if err != nil {
			return nil, err
		}
		if wire == thrift.STOP {
			break
		}
		f := byID(s, id)
		if f == nil || f.Type.Wire != frame.Type(wire) {
			err := thrift.Skip(bg, r.p, wire, depth)
			if err == nil {
				err = r.p.ReadFieldEnd(bg)
			}
			if err != nil {
				return nil, at(fmt.Sprintf("field %d", id), err)
			}
			continue
		}
		v, err := r.value(f.Type, depth)
		if err == nil {
			err = r.p.ReadFieldEnd(bg)
		}
		if err != nil {
			return nil, at(f.Name, err)
		}
		if n, ok := v.(int32); ok && r.AsJava && r.isEnum(f.Type) && r.EnumName(f.Type.Name, n) == "" {
			continue
		}
		out[f.Name] = v
	}
	if r.missing == nil {
		r.missing = r.lacks(s, out)
	}
	return out, r.p.ReadStructEnd(bg)
}

// lacks finds the first required field that is absent.
func (c *Codec) lacks(s *profiles.Struct, v Struct) *MissingError {
	for i := range s.Fields {
		f := &s.Fields[i]
		if f.Req != profiles.Required {
			continue
		}
		if _, ok := v[f.Name]; !ok {
			return &MissingError{s.Name, f.Name, fmt.Sprintf("Required field '%s' is unset! Struct:%s", f.Name,
				c.structText(s, v))}
		}
	}
	return nil
}

func byID(s *profiles.Struct, id int16) *profiles.Field {
	for i := range s.Fields {
		if s.Fields[i].ID == id {
			return &s.Fields[i]
		}
	}
	return nil
}

func (r *reader) list(t *profiles.TypeRef, depth int) (any, error) {
	begin, end := r.p.ReadListBegin, r.p.ReadListEnd
	if t.Wire == frame.Set {
		begin, end = r.p.ReadSetBegin, r.p.ReadSetEnd
	}
	wire, n, err := begin(bg)
	if err != nil {
		return nil, err
	}
	if err := r.count(n); err != nil {
		return nil, err
	}
	if n > 0 && frame.Type(wire) != t.Elem.Wire {
		return nil, fmt.Errorf("want elements of %s, got %s", frame.TypeName(t.Elem.Wire),
			frame.TypeName(frame.Type(wire)))
	}
	out := make([]any, 0, min(n, 1024))
	for i := range n {
		v, err := r.value(t.Elem, depth)
		if err != nil {
			return nil, at(fmt.Sprintf("[%d]", i), err)
		}
		out = append(out, v)
	}
	return out, end(bg)
}

func (r *reader) count(n int) error {
	if n < 0 || n > r.Limits.Elements {
		return fmt.Errorf("%d elements, at most %d: %w", n, r.Limits.Elements, ErrTooLong)
	}
	return nil
}

func (r *reader) pairs(t *profiles.TypeRef, depth int) (any, error) {
	kw, vw, n, err := r.p.ReadMapBegin(bg)
	if err != nil {
		return nil, err
	}
	if err := r.count(n); err != nil {
		return nil, err
	}
	if n > 0 && (frame.Type(kw) != t.Key.Wire || frame.Type(vw) != t.Elem.Wire) {
		return nil, fmt.Errorf("want entries of %s to %s, got %s to %s", frame.TypeName(t.Key.Wire),
			frame.TypeName(t.Elem.Wire), frame.TypeName(frame.Type(kw)), frame.TypeName(frame.Type(vw)))
	}
	out := make(Map, 0, min(n, 1024))
	for i := range n {
		k, err := r.value(t.Key, depth)
		if err != nil {
			return nil, at(fmt.Sprintf("[key %d]", i), err)
		}
		v, err := r.value(t.Elem, depth)
		if err != nil {
			return nil, at(fmt.Sprintf("[value %d]", i), err)
		}
		out = append(out, Pair{k, v})
	}
	return out, r.p.ReadMapEnd(bg)
}
