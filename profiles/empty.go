package profiles

import (
	"fmt"

	"hmsgate/frame"
)

// emptyResult is the result struct of a method that did nothing and found
// nothing: an empty list, a struct with only what it must have, nothing for
// void.
func (inv *Inventory) emptyResult(m *Method) ([]byte, error) {
	if m.Returns == nil {
		return []byte{frame.Stop}, nil
	}
	b, err := inv.appendEmpty([]byte{m.Returns.Wire, 0, 0}, m.Returns, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name, err)
	}
	return append(b, frame.Stop), nil
}

// appendEmpty appends the emptiest value of a type.
func (inv *Inventory) appendEmpty(b []byte, t *TypeRef, depth int) ([]byte, error) {
	if depth > 8 {
		return nil, fmt.Errorf("%s holds itself", t)
	}
	switch t.Wire {
	case frame.List, frame.Set:
		return append(b, t.Elem.Wire, 0, 0, 0, 0), nil
	case frame.Map:
		return append(b, t.Key.Wire, t.Elem.Wire, 0, 0, 0, 0), nil
	case frame.String:
		return append(b, 0, 0, 0, 0), nil
	case frame.Struct:
		st := inv.Structs[t.Name]
		if st == nil {
			return nil, fmt.Errorf("no struct %s", t.Name)
		}
		var err error
		for i := range st.Fields {
			f := &st.Fields[i]
			if f.Req != Required {
				continue
			}
			b = append(b, f.Type.Wire, byte(f.ID>>8), byte(f.ID))
			if b, err = inv.appendEmpty(b, f.Type, depth+1); err != nil {
				return nil, err
			}
		}
		return append(b, frame.Stop), nil
	}
	return append(b, make([]byte, frame.FixedSize(t.Wire))...), nil
}
