package hms

import "sort"

// Struct is a struct, union or set of arguments: field name to value.
type Struct map[string]any

// Map is a map in wire order.
type Map []Pair

// Pair is an entry of a Map.
type Pair struct{ Key, Value any }

// Get finds the value of a string key, nil when there is none.
func (m Map) Get(key string) any {
	for _, p := range m {
		if k, ok := p.Key.(string); ok && k == key {
			return p.Value
		}
	}
	return nil
}

// MapOf is a Map of strings, sorted by key.
func MapOf(m map[string]string) Map {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	out := make(Map, len(keys))
	for i, k := range keys {
		out[i] = Pair{k, m[k]}
	}
	return out
}

// StringMap is a map of strings as Go has it; other entries are left out. It is
// never nil and always a copy.
func StringMap(v any) map[string]string {
	out := map[string]string{}
	switch m := v.(type) {
	case Map:
		for _, p := range m {
			k, ok1 := p.Key.(string)
			s, ok2 := p.Value.(string)
			if ok1 && ok2 {
				out[k] = s
			}
		}
	case map[string]string:
		for k, s := range m {
			out[k] = s
		}
	}
	return out
}

// Strings is a list of strings as Go has it; other elements are left out.
func Strings(v any) []string {
	switch l := v.(type) {
	case []string:
		return append([]string(nil), l...)
	case []any:
		out := make([]string, 0, len(l))
		for _, e := range l {
			if s, ok := e.(string); ok {
				out = append(out, s)
			}
		}
		return out
	}
	return nil
}

// ListOf is a list of strings as values have it.
func ListOf(l []string) []any {
	out := make([]any, len(l))
	for i, s := range l {
		out[i] = s
	}
	return out
}

// Str is a field's string, "" when it is absent or none.
func (s Struct) Str(name string) string {
	v, _ := s[name].(string)
	return v
}

// Int is a field's integer of any width, 0 when it is absent or none.
func (s Struct) Int(name string) int64 {
	v, _ := integer(s[name])
	return v
}

// Bool is a field's bool, false when it is absent or none.
func (s Struct) Bool(name string) bool {
	v, _ := s[name].(bool)
	return v
}

// Struct is a field's struct, nil when it is absent or none.
func (s Struct) Struct(name string) Struct {
	v, _ := s[name].(Struct)
	return v
}

// List is a field's list or set, nil when it is absent or none.
func (s Struct) List(name string) []any {
	v, _ := s[name].([]any)
	return v
}

// Structs is a field's list of structs; other elements are left out.
func (s Struct) Structs(name string) []Struct {
	var out []Struct
	for _, e := range s.List(name) {
		if v, ok := e.(Struct); ok {
			out = append(out, v)
		}
	}
	return out
}

// Clone is a copy that shares nothing with the original.
func Clone(v any) any {
	switch x := v.(type) {
	case Struct:
		return x.Clone()
	case []any:
		out := make([]any, len(x))
		for i, e := range x {
			out[i] = Clone(e)
		}
		return out
	case Map:
		out := make(Map, len(x))
		for i, p := range x {
			out[i] = Pair{Clone(p.Key), Clone(p.Value)}
		}
		return out
	case []byte:
		return append([]byte{}, x...)
	}
	return v
}

// Clone is a copy that shares nothing with the original.
func (s Struct) Clone() Struct {
	if s == nil {
		return nil
	}
	out := make(Struct, len(s))
	for k, v := range s {
		out[k] = Clone(v)
	}
	return out
}

func integer(v any) (int64, bool) {
	switch n := v.(type) {
	case int64:
		return n, true
	case int32:
		return int64(n), true
	case int16:
		return int64(n), true
	case int8:
		return int64(n), true
	case int:
		return int64(n), true
	}
	return 0, false
}
