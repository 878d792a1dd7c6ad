package profiles

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"go.uber.org/thriftrw/ast"
)

// define takes in a struct, union, exception or enum. Inventories have one
// space of names, so two files may not define the same one.
func (im *importer) define(d *idlDoc, def ast.Definition) error {
	at := def.Info()
	switch def.(type) {
	case *ast.Struct, *ast.Enum:
		other := im.types[at.Name]
		switch {
		case !isName(at.Name):
			return d.fail(at.Line, "%q is no name of a type", at.Name)
		case other != nil:
			return d.fail(at.Line, "type %s is defined in %s too", at.Name, other.path)
		}
		im.types[at.Name] = d
	}
	switch def := def.(type) {
	case *ast.Struct:
		fields, err := im.fields(d, def.Fields)
		sortFields(fields)
		kind := map[ast.StructureType]StructKind{ast.UnionType: Union, ast.ExceptionType: Exception}[def.Type]
		im.inv.Structs[def.Name] = &Struct{Name: def.Name, Kind: kind, Fields: fields}
		return err
	case *ast.Enum:
		return im.enum(d, def)
	}
	return nil
}

func (im *importer) enum(d *idlDoc, def *ast.Enum) error {
	e := &Enum{Name: def.Name, Values: make(map[string]int32, len(def.Items))}
	next := 0
	for _, item := range def.Items {
		if item.Value != nil {
			next = *item.Value
		}
		_, twice := e.Values[item.Name]
		switch {
		case !isName(item.Name):
			return d.fail(item.Line, "enum %s: %q is no name of a value", def.Name, item.Name)
		case twice:
			return d.fail(item.Line, "enum %s has value %s twice", def.Name, item.Name)
		case next < math.MinInt32 || next > math.MaxInt32:
			return d.fail(item.Line, "enum %s: %s is %d, which is no i32", def.Name, item.Name, next)
		}
		e.Values[item.Name] = int32(next)
		next++
	}
	im.inv.Enums[def.Name] = e
	return nil
}

var idlReq = map[ast.Requiredness]Requiredness{
	ast.Unspecified: Default, ast.Required: Required, ast.Optional: Optional,
}

// fields takes in the fields of a struct, the arguments of a method, or its
// exceptions.
func (im *importer) fields(d *idlDoc, fields []*ast.Field) ([]Field, error) {
	if len(fields) == 0 {
		return nil, nil
	}
	out := make([]Field, 0, len(fields))
	ids, names := map[int]bool{}, map[string]bool{}
	unset := -1
	for _, f := range fields {
		id := f.ID
		if f.IDUnset {
			id = unset
			unset--
		}
		switch {
		case !isName(f.Name):
			return nil, d.fail(f.Line, "%q is no name of a field", f.Name)
		case names[f.Name]:
			return nil, d.fail(f.Line, "field %s stands twice", f.Name)
		case !f.IDUnset && id < 1 || id < math.MinInt16 || id > math.MaxInt16:
			return nil, d.fail(f.Line, "field %s: id %d is not between 1 and %d", f.Name, id, math.MaxInt16)
		case ids[id]:
			return nil, d.fail(f.Line, "field %s: id %d is used twice", f.Name, id)
		}
		ids[id], names[f.Name] = true, true
		t, err := im.typeRef(d, f.Line, f.Type)
		if err != nil {
			return nil, err
		}
		value, err := constant(f.Default, 0)
		if err != nil {
			return nil, d.fail(f.Line, "field %s: %w", f.Name, err)
		}
		out = append(out, Field{ID: int16(id), Name: f.Name, Type: t, Req: idlReq[f.Requiredness], Value: value})
	}
	return out, nil
}

// constant is a default value as inventory text has it: one word. Nothing is
// made of it but text for people, so one that is no word is left out.
func constant(v ast.ConstantValue, depth int) (string, error) {
	text, err := constantText(v, depth)
	if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(";()=", r) }) {
		text = ""
	}
	return text, err
}

func constantText(v ast.ConstantValue, depth int) (string, error) {
	if depth > idlDepth {
		return "", fmt.Errorf("its default value is more than %d deep", idlDepth)
	}
	var parts []string
	part := func(v ast.ConstantValue) error {
		s, err := constantText(v, depth+1)
		parts = append(parts, s)
		return err
	}
	switch v := v.(type) {
	case ast.ConstantBoolean:
		return strconv.FormatBool(bool(v)), nil
	case ast.ConstantInteger:
		return strconv.FormatInt(int64(v), 10), nil
	case ast.ConstantDouble:
		return strconv.FormatFloat(float64(v), 'g', -1, 64), nil
	case ast.ConstantString:
		return string(v), nil
	case ast.ConstantReference:
		return v.Name, nil
	case ast.ConstantList:
		for _, item := range v.Items {
			if err := part(item); err != nil {
				return "", err
			}
		}
		return "[" + strings.Join(parts, ",") + "]", nil
	case ast.ConstantMap:
		for _, item := range v.Items {
			if err := part(item.Key); err != nil {
				return "", err
			}
			if err := part(item.Value); err != nil {
				return "", err
			}
		}
		return "{" + strings.Join(parts, ",") + "}", nil
	}
	return "", nil
}
