package profiles

import "hmsgate/frame"

// Inventory is what one interface version has: facts, no opinions.
type Inventory struct {
	Label   string // "apache-3.1.3"
	Methods map[string]*Method
	Structs map[string]*Struct
	Enums   map[string]*Enum
	Order   []string // method names as the IDL orders them

	parts []*Inventory // of a union: those that are not built in
}

// Method is one call of the interface. Its arguments travel as a struct whose
// field ids are the argument ids; its result as a struct with field 0 for the
// success value and the exceptions under their ids.
type Method struct {
	Name    string
	Oneway  bool
	Base    bool // of the base service fb303
	Args    []Field
	Returns *TypeRef // nil for void
	Throws  []Field
}

// Kind of a Struct.
type StructKind uint8

// A union has exactly one field set; an exception is a struct that is thrown.
const (
	Plain StructKind = iota
	Union
	Exception
)

// Struct is a struct, union or exception.
type Struct struct {
	Name   string
	Kind   StructKind
	Fields []Field
}

// Field finds a field by its name, nil when there is none.
func (s *Struct) Field(name string) *Field {
	for i := range s.Fields {
		if s.Fields[i].Name == name {
			return &s.Fields[i]
		}
	}
	return nil
}

// Requiredness of a field. Default fields are always written by most peers
// and never missed by any.
type Requiredness uint8

const (
	Default Requiredness = iota
	Required
	Optional
)

// Field is a field of a struct, an argument, or a declared exception.
type Field struct {
	ID    int16
	Name  string
	Type  *TypeRef
	Req   Requiredness
	Value string // the IDL's default value as text, "" when there is none
}

// TypeRef is a type as the IDL names it and as the wire has it.
type TypeRef struct {
	Wire frame.Type
	Name string   // struct, union, exception or enum name; base type name otherwise
	Key  *TypeRef // maps
	Elem *TypeRef // lists, sets, maps
}

// Enum maps value names to numbers.
type Enum struct {
	Name   string
	Values map[string]int32
}
