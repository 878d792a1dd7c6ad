package profiles

import (
	"fmt"
	"slices"
	"sync"
)

var union = sync.OnceValues(func() (*Inventory, error) {
	invs, err := all()
	if err != nil {
		return nil, err
	}
	return merge(AutoLabel, invs)
})

// AutoInventory is all built-in inventories in one, the union, as front "auto". A field id can
// stand there several times: with different wire types, or with the same one
// under several names (then both meanings exist, and the rules say how they
// are told apart). Fields are sorted by id. A field is required only if every
// inventory that has it requires it.
func AutoInventory() (*Inventory, error) { return union() }

// merge unites inventories. Of a type that has several spellings with one
// wire form (string and binary) the last stands.
func merge(label string, invs []*Inventory) (*Inventory, error) {
	u := &Inventory{
		Label: label, Methods: map[string]*Method{}, Structs: map[string]*Struct{}, Enums: map[string]*Enum{},
	}
	for _, inv := range invs {
		for _, name := range inv.Order {
			if err := u.addMethod(inv.Methods[name]); err != nil {
				return nil, fmt.Errorf("%s: %w", inv.Label, err)
			}
		}
		for name, s := range inv.Structs {
			have := u.Structs[name]
			if have == nil {
				have = &Struct{Name: name, Kind: s.Kind}
				u.Structs[name] = have
			}
			if have.Kind != s.Kind {
				return nil, fmt.Errorf("%s: %s %s is a %s elsewhere",
					inv.Label, structWords[s.Kind], name, structWords[have.Kind])
			}
			have.Fields = addFields(have.Fields, s.Fields)
		}
		for name, e := range inv.Enums {
			if err := u.addEnum(name, e); err != nil {
				return nil, fmt.Errorf("%s: %w", inv.Label, err)
			}
		}
	}
	for _, s := range u.Structs {
		sortFields(s.Fields)
	}
	return u, nil
}

func (inv *Inventory) addMethod(m *Method) error {
	have := inv.Methods[m.Name]
	if have == nil {
		have = &Method{Name: m.Name, Oneway: m.Oneway, Base: m.Base}
		inv.Methods[m.Name] = have
		inv.Order = append(inv.Order, m.Name)
	}
	if have.Oneway != m.Oneway {
		return fmt.Errorf("method %s is oneway here or elsewhere, not in both", m.Name)
	}
	// A void that became a struct is one result: whoever sends void sends no field 0.
	if have.Returns != nil && m.Returns != nil && have.Returns.wireString() != m.Returns.wireString() {
		return fmt.Errorf("method %s returns %s here and %s elsewhere", m.Name, m.Returns, have.Returns)
	}
	if m.Returns != nil {
		have.Returns = m.Returns
	}
	have.Args = addFields(have.Args, m.Args)
	have.Throws = addFields(have.Throws, m.Throws)
	return nil
}

func (inv *Inventory) addEnum(name string, e *Enum) error {
	have := inv.Enums[name]
	if have == nil {
		have = &Enum{Name: name, Values: map[string]int32{}}
		inv.Enums[name] = have
	}
	for v, n := range e.Values {
		if old, ok := have.Values[v]; ok && old != n {
			return fmt.Errorf("enum %s: %s is %d here and %d elsewhere", name, v, n, old)
		}
		have.Values[v] = n
	}
	return nil
}

func addFields(have, more []Field) []Field {
	for _, f := range more {
		at := slices.IndexFunc(have, func(h Field) bool {
			return h.ID == f.ID && h.Name == f.Name && h.Type.wireString() == f.Type.wireString()
		})
		if at < 0 {
			have = append(have, f)
			continue
		}
		h := &have[at]
		h.Type = f.Type
		if h.Req != f.Req {
			h.Req = Optional
		}
		if h.Value == "" {
			h.Value = f.Value
		}
	}
	return have
}

// sortFields sorts by id and keeps the order of age within one.
func sortFields(fields []Field) {
	slices.SortStableFunc(fields, func(a, b Field) int { return int(a.ID) - int(b.ID) })
}
