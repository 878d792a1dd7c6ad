package profiles

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"go.uber.org/thriftrw/ast"
	"go.uber.org/thriftrw/idl"

	"hmsgate/frame"
)

// Bounds of what Import reads: the largest published interface has 110 KB, one
// include and types of five parts.
const (
	idlBytes  = 4 << 20 // of one file
	idlFiles  = 64
	idlParts  = 64 // of a type, typedefs counted: a few nested ones stand for billions
	idlDepth  = 32 // of a default value
	idlErrors = 10 // reported of one file
)

// Import reads an inventory from a vendor's IDL: the one service of the file
// with what it extends, and the types of the file and of those it includes.
// Paths of includes are relative to the file that has them. Facts are taken as
// Apache Thrift's compiler takes them: a field without an id gets -1, the next
// one -2 (compiler/cpp/src/thrift/thrifty.yy, y_field_val), an enum's item
// without a number the one after its neighbour's. Errors name file and line.
func Import(label, path string) (*Inventory, error) {
	return importIDL(label, path, readIDL)
}

func readIDL(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, idlBytes+1))
}

func importIDL(label, path string, read func(string) ([]byte, error)) (*Inventory, error) {
	im := &importer{read: read, docs: map[string]*idlDoc{}, types: map[string]*idlDoc{}, inv: &Inventory{
		Label: label, Methods: map[string]*Method{}, Structs: map[string]*Struct{}, Enums: map[string]*Enum{},
	}}
	root, err := im.doc(filepath.Clean(path))
	if err != nil {
		return nil, err
	}
	for _, d := range im.order {
		for _, def := range d.prog.Definitions {
			if err := im.define(d, def); err != nil {
				return nil, err
			}
		}
	}
	service, err := root.service()
	if err != nil {
		return nil, err
	}
	return im.inv, im.methods(root, service)
}

// importer builds one inventory.
type importer struct {
	inv   *Inventory
	read  func(string) ([]byte, error)
	docs  map[string]*idlDoc // by path
	order []*idlDoc          // in which they were read to their end
	types map[string]*idlDoc // where each type is defined
}

// idlDoc is one file.
type idlDoc struct {
	path     string
	prog     *ast.Program
	includes map[string]*idlDoc // by the word that stands before the dot
	defs     map[string]ast.Definition
	done     bool // its includes are read
}

func (d *idlDoc) fail(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", d.path, line, fmt.Errorf(format, args...))
}

// doc reads a file and what it includes.
func (im *importer) doc(path string) (*idlDoc, error) {
	if len(im.docs) == idlFiles {
		return nil, fmt.Errorf("%s: more than %d files", path, idlFiles)
	}
	text, err := im.read(path)
	switch {
	case err != nil:
		return nil, err
	case len(text) > idlBytes:
		return nil, fmt.Errorf("%s: the file is longer than %d bytes", path, idlBytes)
	}
	d := &idlDoc{path: path, includes: map[string]*idlDoc{}, defs: map[string]ast.Definition{}}
	im.docs[path] = d
	if d.prog, err = idl.Parse(text); err != nil {
		return nil, d.syntax(err)
	}
	for _, h := range d.prog.Headers {
		if inc, ok := h.(*ast.Include); ok {
			if err := im.include(d, inc); err != nil {
				return nil, err
			}
		}
	}
	for _, def := range d.prog.Definitions {
		at := def.Info()
		if _, twice := d.defs[at.Name]; twice {
			return nil, d.fail(at.Line, "%s is defined twice", at.Name)
		}
		d.defs[at.Name] = def
	}
	d.done = true
	im.order = append(im.order, d)
	return d, nil
}

// syntax puts the file's name before each of the parser's findings.
func (d *idlDoc) syntax(err error) error {
	var pe *idl.ParseError
	if !errors.As(err, &pe) {
		return fmt.Errorf("%s: %w", d.path, err)
	}
	var errs []error
	for _, e := range pe.Errors[:min(len(pe.Errors), idlErrors)] {
		errs = append(errs, d.fail(e.Pos.Line, "%w", e.Err))
	}
	return errors.Join(errs...)
}

func (im *importer) include(d *idlDoc, inc *ast.Include) error {
	word := inc.Name
	if word == "" {
		word = strings.TrimSuffix(filepath.Base(inc.Path), ".thrift")
	}
	path := inc.Path
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(d.path), path)
	}
	to := im.docs[filepath.Clean(path)]
	switch {
	case to != nil && !to.done:
		return d.fail(inc.Line, "include %q: the files include each other in a circle", inc.Path)
	case to == nil:
		var err error
		if to, err = im.doc(filepath.Clean(path)); errors.Is(err, fs.ErrNotExist) {
			return d.fail(inc.Line, "include %q: there is no file %s (paths are relative to the file that includes)",
				inc.Path, path)
		} else if err != nil {
			return d.fail(inc.Line, "include %q: %w", inc.Path, err)
		}
	}
	if d.includes[word] != nil {
		return d.fail(inc.Line, "include %q: another include is called %s already", inc.Path, word)
	}
	d.includes[word] = to
	return nil
}

// service is the file's one service that none of its others extends.
func (d *idlDoc) service() (*ast.Service, error) {
	extended := map[string]bool{}
	for _, def := range d.prog.Definitions {
		if s, ok := def.(*ast.Service); ok && s.Parent != nil {
			extended[s.Parent.Name] = true
		}
	}
	var found *ast.Service
	for _, def := range d.prog.Definitions {
		s, ok := def.(*ast.Service)
		switch {
		case !ok, extended[s.Name]:
		case found != nil:
			return nil, d.fail(s.Line, "service %s: there is %s already, on line %d, and an interface has one",
				s.Name, found.Name, found.Line)
		default:
			found = s
		}
	}
	if found == nil {
		return nil, fmt.Errorf("%s: the file has no service", d.path)
	}
	return found, nil
}

// methods takes in a service and, as base, those that it extends.
func (im *importer) methods(d *idlDoc, s *ast.Service) error {
	for seen := map[*ast.Service]bool{}; ; {
		base := len(seen) > 0
		seen[s] = true
		for _, f := range s.Functions {
			if err := im.method(d, f, base); err != nil {
				return err
			}
		}
		if s.Parent == nil {
			return nil
		}
		def, in := d.find(s.Parent.Name)
		parent, ok := def.(*ast.Service)
		switch {
		case !ok:
			return d.fail(s.Parent.Line, "service %s extends %s, which is no service", s.Name, s.Parent.Name)
		case seen[parent]:
			return d.fail(s.Parent.Line, "service %s extends itself", s.Name)
		}
		d, s = in, parent
	}
}

func (im *importer) method(d *idlDoc, f *ast.Function, base bool) error {
	m := &Method{Name: f.Name, Oneway: f.OneWay, Base: base}
	if !isName(m.Name) || im.inv.Methods[m.Name] != nil {
		return d.fail(f.Line, "method %q is defined twice, or is no name", f.Name)
	}
	var err error
	if m.Args, err = im.fields(d, f.Parameters); err != nil {
		return err
	}
	if f.ReturnType != nil {
		if m.Returns, err = im.typeRef(d, f.Line, f.ReturnType); err != nil {
			return err
		}
	}
	if m.Throws, err = im.fields(d, f.Exceptions); err != nil {
		return err
	}
	for i := range m.Throws {
		if st := im.inv.Structs[m.Throws[i].Type.Name]; st == nil || st.Kind != Exception {
			return d.fail(f.Exceptions[i].Line, "method %s throws %s, which is no exception", m.Name, m.Throws[i].Type)
		}
	}
	if m.Oneway && (m.Returns != nil || m.Throws != nil) {
		return d.fail(f.Line, "method %s is oneway and has a result", m.Name)
	}
	im.inv.Methods[m.Name] = m
	im.inv.Order = append(im.inv.Order, m.Name)
	return nil
}

// find looks a name up as the file writes it, "include.Name" or "Name".
func (d *idlDoc) find(name string) (ast.Definition, *idlDoc) {
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
		d, name = d.includes[name[:dot]], name[dot+1:]
	}
	if d == nil {
		return nil, nil
	}
	return d.defs[name], d
}

// idlBase are the parser's base types as inventories name them.
var idlBase = map[ast.BaseTypeID]string{
	ast.BoolTypeID: "bool", ast.I8TypeID: "byte", ast.I16TypeID: "i16", ast.I32TypeID: "i32", ast.I64TypeID: "i64",
	ast.DoubleTypeID: "double", ast.StringTypeID: "string", ast.BinaryTypeID: "binary",
}

// typeRef resolves a type as a file writes it; typedefs go.
func (im *importer) typeRef(d *idlDoc, line int, t ast.Type) (*TypeRef, error) {
	parts := 0
	return im.typePart(d, line, t, &parts)
}

func (im *importer) typePart(d *idlDoc, line int, t ast.Type, parts *int) (*TypeRef, error) {
	if *parts++; *parts > idlParts {
		return nil, d.fail(line, "a type has more than %d parts, or a typedef means itself", idlParts)
	}
	of := func(name string, wire frame.Type, elem, key ast.Type) (*TypeRef, error) {
		out := &TypeRef{Name: name, Wire: wire}
		var err error
		if out.Elem, err = im.typePart(d, line, elem, parts); err == nil && key != nil {
			out.Key, err = im.typePart(d, line, key, parts)
		}
		return out, err
	}
	switch t := t.(type) {
	case ast.BaseType:
		name := idlBase[t.ID]
		return &TypeRef{Name: name, Wire: baseTypes[name]}, nil
	case ast.ListType:
		return of("list", frame.List, t.ValueType, nil)
	case ast.SetType:
		return of("set", frame.Set, t.ValueType, nil)
	case ast.MapType:
		return of("map", frame.Map, t.ValueType, t.KeyType)
	case ast.TypeReference:
		def, in := d.find(t.Name)
		switch def := def.(type) {
		case *ast.Struct:
			return &TypeRef{Name: def.Name, Wire: frame.Struct}, nil
		case *ast.Enum:
			return &TypeRef{Name: def.Name, Wire: frame.I32}, nil
		case *ast.Typedef:
			return im.typePart(in, def.Line, def.Type, parts)
		}
		return nil, d.fail(t.Line, "type %s is defined nowhere in the file or its includes", t.Name)
	}
	return nil, d.fail(line, "a type of a kind that inventories do not have")
}
