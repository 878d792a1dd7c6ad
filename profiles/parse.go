package profiles

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"hmsgate/frame"
)

// baseTypes are the types that an inventory need not define.
var baseTypes = map[string]frame.Type{
	"bool": frame.Bool, "byte": frame.Byte, "i16": frame.I16, "i32": frame.I32, "i64": frame.I64,
	"double": frame.Double, "string": frame.String, "binary": frame.String,
}

// Parse reads inventory text (see the package comment). The label names the
// inventory and stands in front of every error, with the line.
func Parse(label string, r io.Reader) (*Inventory, error) {
	p := &parser{
		inv: &Inventory{
			Label: label, Methods: map[string]*Method{}, Structs: map[string]*Struct{}, Enums: map[string]*Enum{},
		},
		types: map[string]*TypeRef{}, first: map[string]int{},
	}
	in := bufio.NewScanner(r)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		p.line++
		line := strings.TrimSpace(in.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		if err := p.item(line); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", label, p.line, err)
		}
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", label, p.line+1, err)
	}
	if err := p.resolve(); err != nil {
		return nil, err
	}
	return p.inv, nil
}

type parser struct {
	inv   *Inventory
	line  int
	types map[string]*TypeRef // by their text: most types occur many times
	first map[string]int      // line in which a type was named first
}

func (p *parser) item(line string) error {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "method", "base":
		return p.method(rest, word == "base")
	case "struct":
		return p.structure(rest, Plain)
	case "union":
		return p.structure(rest, Union)
	case "exception":
		return p.structure(rest, Exception)
	case "enum":
		return p.enum(rest)
	}
	return fmt.Errorf("a line begins with method, base, struct, union, exception or enum, not with %q", word)
}

func (p *parser) method(s string, base bool) error {
	m := &Method{Base: base}
	s, m.Oneway = strings.CutPrefix(s, "oneway ")
	name, rest, ok := strings.Cut(s, "(")
	args, result, ok2 := strings.Cut(rest, ")")
	if !ok || !ok2 {
		return fmt.Errorf("method %q lacks its arguments in brackets", s)
	}
	m.Name = name
	if err := p.unused(name, "method", p.inv.Methods[name] != nil); err != nil {
		return err
	}
	var err error
	if m.Args, err = p.fields(args, false); err != nil {
		return fmt.Errorf("method %s: %w", name, err)
	}
	returns, throws, _ := strings.Cut(strings.TrimSpace(result), " throws ")
	if returns != "void" {
		if m.Returns, err = p.typeRef(returns); err != nil {
			return fmt.Errorf("method %s: result: %w", name, err)
		}
	}
	if m.Throws, err = p.fields(throws, true); err != nil {
		return fmt.Errorf("method %s: %w", name, err)
	}
	if m.Oneway && (m.Returns != nil || m.Throws != nil) {
		return fmt.Errorf("method %s is oneway and has a result", name)
	}
	p.inv.Methods[name] = m
	p.inv.Order = append(p.inv.Order, name)
	return nil
}

func (p *parser) structure(s string, kind StructKind) error {
	name, rest, _ := strings.Cut(s, " ")
	_, enum := p.inv.Enums[name]
	if err := p.unused(name, "type", p.inv.Structs[name] != nil || enum); err != nil {
		return err
	}
	fields, err := p.fields(rest, false)
	if err != nil {
		return fmt.Errorf("struct %s: %w", name, err)
	}
	p.inv.Structs[name] = &Struct{Name: name, Kind: kind, Fields: fields}
	return nil
}

func (p *parser) enum(s string) error {
	words := strings.Fields(s)
	if len(words) == 0 {
		return fmt.Errorf("enum without a name")
	}
	e := &Enum{Name: words[0], Values: make(map[string]int32, len(words)-1)}
	_, enum := p.inv.Enums[e.Name]
	if err := p.unused(e.Name, "type", enum || p.inv.Structs[e.Name] != nil); err != nil {
		return err
	}
	for _, w := range words[1:] {
		name, number, _ := strings.Cut(w, "=")
		n, err := strconv.ParseInt(number, 10, 32)
		if err != nil || !isName(name) {
			return fmt.Errorf("enum %s: a value is NAME=NUMBER, not %q", e.Name, w)
		}
		if _, twice := e.Values[name]; twice {
			return fmt.Errorf("enum %s has value %s twice", e.Name, name)
		}
		e.Values[name] = int32(n)
	}
	p.inv.Enums[e.Name] = e
	return nil
}

// fields reads "1:name type; 2?name type=value". Among exceptions the mark
// and the name may be left out.
func (p *parser) fields(s string, thrown bool) ([]Field, error) {
	s = strings.TrimSpace(s)
	if s == "" {
		return nil, nil
	}
	parts := strings.Split(s, ";")
	out := make([]Field, 0, len(parts))
	for _, part := range parts {
		f, err := p.field(strings.TrimSpace(part), thrown)
		if err != nil {
			return nil, err
		}
		for _, g := range out {
			if g.ID == f.ID {
				return nil, fmt.Errorf("field id %d is used twice", f.ID)
			}
			if g.Name == f.Name {
				return nil, fmt.Errorf("field %s stands twice", f.Name)
			}
		}
		out = append(out, f)
	}
	return out, nil
}

func (p *parser) field(s string, thrown bool) (Field, error) {
	bad := func() (Field, error) {
		return Field{}, fmt.Errorf("a field is ID, one of : ! ?, NAME TYPE[=VALUE], not %q", s)
	}
	n := 0
	for n < len(s) && (s[n] == '-' || s[n] >= '0' && s[n] <= '9') {
		n++
	}
	id, err := strconv.ParseInt(s[:n], 10, 16)
	if err != nil || n == len(s) {
		return bad()
	}
	f := Field{ID: int16(id)}
	typ := ""
	switch s[n] {
	case ' ':
		if !thrown {
			return bad()
		}
		f.Name, typ = "o"+strconv.Itoa(int(id)), s[n+1:]
	case ':':
	case '!':
		f.Req = Required
	case '?':
		f.Req = Optional
	default:
		return bad()
	}
	if typ == "" {
		f.Name, typ, _ = strings.Cut(s[n+1:], " ")
	}
	typ, f.Value, _ = strings.Cut(typ, "=")
	if !isName(f.Name) {
		return bad()
	}
	if f.Type, err = p.typeRef(typ); err != nil {
		return Field{}, fmt.Errorf("field %s: %w", f.Name, err)
	}
	return f, nil
}

// unused refuses what is no name and what is taken already.
func (p *parser) unused(name, what string, taken bool) error {
	if !isName(name) {
		return fmt.Errorf("%q is no name of a %s", name, what)
	}
	if _, base := baseTypes[name]; taken || base {
		return fmt.Errorf("%s %s is defined twice", what, name)
	}
	return nil
}

func isName(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !(c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || i > 0 && c >= '0' && c <= '9') {
			return false
		}
	}
	return s != ""
}
