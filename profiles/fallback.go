package profiles

import (
	"fmt"
	"slices"
	"strings"

	"hmsgate/frame"
)

// Fallback is the answer to a call whose backend does not know the method.
type Fallback struct {
	Result []byte // the result struct
	Any    bool   // also when the backend answers with an exception of any kind
}

type fallbackText struct {
	With []string `yaml:"with"`
	Any  bool     `yaml:"any"`
}

// fallback makes a method's, nil when the rules give none.
func (r *rules) fallback(inv *Inventory, m *Method) (*Fallback, error) {
	t, ok := r.fallbacks[m.Name]
	if !ok {
		return nil, nil
	}
	b, err := inv.emptyResult(m)
	if err != nil || len(t.With) == 0 {
		return &Fallback{b, t.Any}, err
	}
	if m.Returns == nil || m.Returns.Wire != frame.Struct {
		return nil, fmt.Errorf("fallback of %s: its result has no fields", m.Name)
	}
	st := inv.Structs[m.Returns.Name]
	b = b[:len(b)-2] // the stop bytes of the value and of the result
	for _, with := range t.With {
		if b, err = inv.appendWith(b, st, with); err != nil {
			return nil, fmt.Errorf("fallback of %s: %w", m.Name, err)
		}
	}
	return &Fallback{append(b, frame.Stop, frame.Stop), t.Any}, nil
}

// appendWith appends one field that is not required: FIELD or FIELD=true.
func (inv *Inventory) appendWith(b []byte, st *Struct, with string) ([]byte, error) {
	name, value, _ := strings.Cut(with, "=")
	at := slices.IndexFunc(st.Fields, func(f Field) bool { return f.Name == name })
	if at < 0 {
		return nil, fmt.Errorf("%s has no field %q", st.Name, name)
	}
	f := &st.Fields[at]
	if f.Req == Required {
		return nil, fmt.Errorf("%s.%s is required: it is given in any case", st.Name, name)
	}
	b = append(b, f.Type.Wire, byte(f.ID>>8), byte(f.ID))
	switch {
	case value == "":
		return inv.appendEmpty(b, f.Type, 0)
	case value == "true" && f.Type.Wire == frame.Bool:
		return append(b, 1), nil
	}
	return nil, fmt.Errorf("%s.%s: value %q does not fit a %s", st.Name, name, value, f.Type)
}
