package profiles

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"hmsgate/frame"
)

// distinct is a message with every field set, strings by their place.
func distinct(inv *Inventory, t frame.MessageType, method string, fields []Field) []byte {
	g := &distinctly{inv: inv}
	g.out = frame.AppendHeader(nil, t, method, 7)
	g.fields(method, fields)
	return g.out
}

type distinctly struct {
	inv   *Inventory
	out   []byte
	stack []string
	n     byte
}

func (g *distinctly) fields(owner string, fields []Field) {
	for i := range fields {
		f := &fields[i]
		g.out = append(g.out, f.Type.Wire, byte(f.ID>>8), byte(f.ID))
		g.value(f.Type, owner+"."+f.Name)
	}
	g.out = append(g.out, frame.Stop)
}

func (g *distinctly) value(t *TypeRef, place string) {
	switch t.Wire {
	case frame.String:
		if strings.HasSuffix(strings.ToLower(place), "dbname") || strings.HasSuffix(place, "db_name") {
			place = "@c#" + place
		}
		g.out = append(binary.BigEndian.AppendUint32(g.out, uint32(len(place))), place...)
	case frame.Struct:
		fields := g.inv.Structs[t.Name].Fields
		if slices.Contains(g.stack, t.Name) {
			fields = nil
		}
		if g.inv.Structs[t.Name].Kind == Union && len(fields) > 0 {
			fields = fields[:1]
		}
		g.stack = append(g.stack, t.Name)
		g.fields(t.Name, fields)
		g.stack = g.stack[:len(g.stack)-1]
	case frame.List, frame.Set:
		g.out = append(g.out, t.Elem.Wire, 0, 0, 0, 1)
		g.value(t.Elem, place)
	case frame.Map:
		g.out = append(g.out, t.Key.Wire, t.Elem.Wire, 0, 0, 0, 1)
		g.value(t.Key, place)
		g.value(t.Elem, place)
	default:
		g.n = g.n%100 + 1
		b := make([]byte, frame.FixedSize(t.Wire))
		b[len(b)-1] = g.n
		if t.Wire == frame.Bool {
			b[0] = 1
		}
		g.out = append(g.out, b...)
	}
}

// decoded reads a message by its wire types alone.
func decoded(msg []byte) (method string, fields map[int16]any, err error) {
	n := int(binary.BigEndian.Uint32(msg[4:]))
	d := &wireReader{b: msg[12+n:]}
	fields = d.fields()
	if len(d.b) != 0 || d.bad {
		return "", nil, fmt.Errorf("message does not end where it should: %d bytes are left", len(d.b))
	}
	return string(msg[8 : 8+n]), fields, nil
}

type wireReader struct {
	b   []byte
	bad bool
}

func (d *wireReader) take(n int) []byte {
	if n < 0 || n > len(d.b) {
		d.bad, d.b = true, nil
		return make([]byte, max(n, 8)%(1<<16))
	}
	v := d.b[:n]
	d.b = d.b[n:]
	return v
}

func (d *wireReader) fields() map[int16]any {
	out := map[int16]any{}
	for {
		t := d.take(1)[0]
		if t == frame.Stop || d.bad {
			return out
		}
		id := int16(binary.BigEndian.Uint16(d.take(2)))
		if _, twice := out[id]; twice {
			d.bad = true
		}
		out[id] = d.value(t)
	}
}

func (d *wireReader) value(t frame.Type) any {
	switch t {
	case frame.Struct:
		return d.fields()
	case frame.String:
		return string(d.take(int(binary.BigEndian.Uint32(d.take(4)))))
	case frame.List, frame.Set:
		elem := d.take(1)[0]
		out := []any{}
		for range binary.BigEndian.Uint32(d.take(4)) {
			out = append(out, d.value(elem))
		}
		return out
	case frame.Map:
		kv := d.take(2)
		out := []any{}
		for range binary.BigEndian.Uint32(d.take(4)) {
			out = append(out, d.value(kv[0]), d.value(kv[1]))
		}
		return out
	}
	return fmt.Sprintf("%x", d.take(frame.FixedSize(t)))
}

// fits says whether fields are such as an inventory has: at the top all are
// known (closed) and the required ones are there, all the way down.
func fits(inv *Inventory, owner string, fields []Field, got map[int16]any, closed bool) error {
	for id := range got {
		if closed && !slices.ContainsFunc(fields, func(f Field) bool { return f.ID == id }) {
			return fmt.Errorf("%s has no field %d", owner, id)
		}
	}
	for i := range fields {
		f := &fields[i]
		v, ok := got[f.ID]
		if !ok && f.Req == Required {
			return fmt.Errorf("%s.%s is required and absent", owner, f.Name)
		}
		if !ok {
			continue
		}
		if err := fitsType(inv, owner+"."+f.Name, f.Type, v); err != nil {
			return err
		}
	}
	return nil
}

func fitsType(inv *Inventory, place string, t *TypeRef, v any) error {
	switch x := v.(type) {
	case map[int16]any:
		if t.Wire != frame.Struct {
			return fmt.Errorf("%s is a struct, want %s", place, t)
		}
		if len(x) == 0 {
			return nil // a struct inside of itself
		}
		return fits(inv, t.Name, inv.Structs[t.Name].Fields, x, false)
	case []any:
		if t.Wire == frame.Map {
			return nil
		}
		if t.Wire != frame.List && t.Wire != frame.Set {
			return fmt.Errorf("%s is a list, want %s", place, t)
		}
		for _, e := range x {
			if err := fitsType(inv, place, t.Elem, e); err != nil {
				return err
			}
		}
	case string:
		if n := frame.FixedSize(t.Wire); n > 0 && len(x) != 2*n || t.Wire == frame.Struct || t.Wire == frame.List {
			return fmt.Errorf("%s is %q, want %s", place, x, t)
		}
	}
	return nil
}

// lookup finds ARG or ARG.FIELD.
func lookup(inv *Inventory, args []Field, in map[int16]any, place string) (any, bool) {
	arg, field, nested := strings.Cut(place, ".")
	a := fieldNamed(args, arg)
	if a == nil {
		return nil, false
	}
	v, ok := in[a.ID]
	if !nested {
		return v, ok
	}
	st := inv.Structs[a.Type.Name]
	if st == nil || st.Field(field) == nil {
		return nil, false
	}
	m, _ := v.(map[int16]any)
	v, ok = m[st.Field(field).ID]
	return v, ok
}
