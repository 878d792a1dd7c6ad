package profiles

import (
	"errors"
	"fmt"
	"sort"
	"strings"

	"hmsgate/frame"
)

// typeRef reads a type. Types of the inventory itself are looked up at the
// end of the file (resolve), since it may name them before it defines them.
func (p *parser) typeRef(s string) (*TypeRef, error) {
	if t := p.types[s]; t != nil {
		return t, nil
	}
	t := &TypeRef{Name: s}
	var err error
	switch {
	case baseTypes[s] != 0:
		t.Wire = baseTypes[s]
	case strings.HasPrefix(s, "list<") && strings.HasSuffix(s, ">"):
		t.Name, t.Wire = "list", frame.List
		t.Elem, err = p.typeRef(s[5 : len(s)-1])
	case strings.HasPrefix(s, "set<") && strings.HasSuffix(s, ">"):
		t.Name, t.Wire = "set", frame.Set
		t.Elem, err = p.typeRef(s[4 : len(s)-1])
	case strings.HasPrefix(s, "map<") && strings.HasSuffix(s, ">"):
		t.Name, t.Wire = "map", frame.Map
		inner := s[4 : len(s)-1]
		cut := comma(inner)
		if cut < 0 {
			return nil, fmt.Errorf("type %q: a map is map<K,V>", s)
		}
		if t.Key, err = p.typeRef(inner[:cut]); err == nil {
			t.Elem, err = p.typeRef(inner[cut+1:])
		}
	case !isName(s):
		err = fmt.Errorf("%q is no type", s)
	}
	if err != nil {
		return nil, err
	}
	p.types[s], p.first[s] = t, p.line
	return t, nil
}

// comma finds the comma between a map's key and value type.
func comma(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '<':
			depth++
		case '>':
			depth--
		case ',':
			if depth == 0 {
				return i
			}
		}
	}
	return -1
}

// resolve gives every named type its wire type.
func (p *parser) resolve() error {
	var missing []string
	for name, t := range p.types {
		if t.Wire != 0 {
			continue
		}
		switch {
		case p.inv.Structs[name] != nil:
			t.Wire = frame.Struct
		case p.inv.Enums[name] != nil:
			t.Wire = frame.I32
		default:
			missing = append(missing, name)
		}
	}
	for _, name := range sortedKeys(p.inv.Methods) {
		for _, f := range p.inv.Methods[name].Throws {
			if s := p.inv.Structs[f.Type.Name]; s != nil && s.Kind != Exception {
				return fmt.Errorf("%s:%d: method %s throws %s, which is no exception",
					p.inv.Label, p.first[s.Name], name, s.Name)
			}
		}
	}
	sort.Slice(missing, func(i, j int) bool { return p.first[missing[i]] < p.first[missing[j]] })
	var errs []error
	for _, name := range missing {
		errs = append(errs,
			fmt.Errorf("%s:%d: type %s is defined nowhere in the inventory", p.inv.Label, p.first[name], name))
	}
	return errors.Join(errs...)
}

// String is the type as inventory text has it.
func (t *TypeRef) String() string {
	if t == nil {
		return "void"
	}
	switch {
	case t.Key != nil:
		return "map<" + t.Key.String() + "," + t.Elem.String() + ">"
	case t.Elem != nil:
		return t.Name + "<" + t.Elem.String() + ">"
	}
	return t.Name
}

// wireString is the type as the wire tells it apart inside a container: two
// types with the same wireString need the same rule.
func (t *TypeRef) wireString() string {
	switch {
	case t == nil:
		return "void"
	case t.Key != nil:
		return "map<" + t.Key.wireString() + "," + t.Elem.wireString() + ">"
	case t.Elem != nil:
		return t.Name + "<" + t.Elem.wireString() + ">"
	case t.Wire == frame.Struct:
		return t.Name
	}
	return frame.TypeName(t.Wire)
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
