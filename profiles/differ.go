package profiles

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"hmsgate/frame"
	"hmsgate/rewrite"
)

// different notes on an edge what becomes of a field for the other side, and
// what must not be lost on the way there.
func (s *shaper) different(owner string, f *Field, there []Field, e *shapeEdge) error {
	var err error
	switch {
	case there != nil:
		if e.change, err = s.match.field(owner, f, there); err != nil {
			return err
		}
	case s.unsure:
		if e.change.enum, err = s.rules.strange(f.Type); err != nil {
			return err
		}
	}
	if s.replies || s.back == "" {
		return nil
	}
	path := owner + "." + f.Name
	switch {
	case s.crossing && s.rules.exprs[path] != "":
		return s.guard(e, "present, "+s.rules.exprs[path])
	case s.rules.keys[path].Key != "" && !s.rules.keys[path].known(s.back):
		k := s.rules.keys[path]
		e.word = k.Key
		return s.guard(e, "present, "+k.Key+": "+k.Lost)
	case there != nil && s.rules.lacks[owner][f.Name] != "" && s.match.namesake(owner, f, there) == nil:
		word, reason, _ := strings.Cut(s.rules.lacks[owner][f.Name], ", ")
		return s.guard(e, word+", "+f.Name+": "+reason)
	}
	return nil
}

// known says whether a backend acts upon the key.
func (k keyRule) known(label string) bool {
	return slices.ContainsFunc(k.At, func(at string) bool { return strings.HasPrefix(label, at) })
}

// guard gives an edge a guard, "TEST, reason", of the plans' own.
func (s *shaper) guard(e *shapeEdge, text string) error {
	word, reason, _ := strings.Cut(text, ", ")
	test, ok := tests[word]
	if !ok {
		return fmt.Errorf("test %q is none of present, true, positive, filled", word)
	}
	at := slices.Index(s.reasons, reason)
	if at < 0 {
		at = len(s.reasons)
		s.reasons = append(s.reasons, reason)
	}
	if maxBridgeGuards+at+1 > 64 {
		return errors.New("more guards than a plan may have")
	}
	e.guard = &shapeGuard{uint8(maxBridgeGuards + at + 1), test}
	return nil
}

// strange maps all values of an enum that some version lacks: the reader may
// be of that version.
func (r *rules) strange(t *TypeRef) ([]rewrite.EnumPair, error) {
	if t.Wire != frame.I32 || r.enums[t.Name] == nil {
		return nil, nil
	}
	var out []rewrite.EnumPair
	for _, name := range sortedKeys(r.enums[t.Name]) {
		from, err := r.enumValue(t.Name, name)
		if err != nil {
			return nil, err
		}
		to, err := r.enumValue(t.Name, r.enums[t.Name][name])
		if err != nil {
			return nil, err
		}
		out = append(out, rewrite.EnumPair{From: from, To: to})
	}
	return out, nil
}

// additions are the fields added to a struct that has none: of a reply what
// some reader must have, of a call what the backend must have.
func (s *shaper) additions(name string) ([]shapeInsert, error) {
	var from *Inventory
	values, has := s.rules.always[name], s.inv.Structs[name]
	if !s.replies {
		if s.match == nil || s.match.to.Structs[name] == nil || !s.old {
			return nil, nil
		}
		from, values, has = s.match.to, s.rules.needs[name], nil
	} else if s.inv.Label == AutoLabel {
		return nil, nil
	} else {
		var err error
		if from, err = AutoInventory(); err != nil {
			return nil, err
		}
		if more := s.rules.always4[name]; more != nil && s.reader != nil && GenerationOf(s.reader.Label) == Gen4 {
			values = maps.Clone(more)
			maps.Copy(values, s.rules.always[name])
		}
	}
	var out []shapeInsert
	for _, field := range sortedKeys(values) {
		f := from.Structs[name].Field(field)
		switch {
		case has != nil && has.Field(field) != nil:
			continue
		case f == nil && !s.replies: // a version of the backend that does without
			continue
		case f == nil:
			return nil, fmt.Errorf("always: %s has no field %s in any version", name, field)
		}
		lit := []byte{f.Type.Wire, byte(f.ID >> 8), byte(f.ID)}
		switch value := values[field]; {
		case f.Type.Wire == frame.String:
			lit = append(binary.BigEndian.AppendUint32(lit, uint32(len(value))), value...)
		case f.Type.Wire == frame.Bool && value == "false":
			lit = append(lit, 0)
		case f.Type.Wire == frame.I32 && from.Enums[f.Type.Name] != nil:
			n, err := s.rules.enumValue(f.Type.Name, value)
			if err != nil {
				return nil, err
			}
			lit = binary.BigEndian.AppendUint32(lit, uint32(n))
		default:
			return nil, fmt.Errorf("%s.%s: value %q does not fit a %s", name, field, value, f.Type)
		}
		out = append(out, shapeInsert{f.ID, lit})
	}
	return out, nil
}

// declares says whether a version's method throws x under the same id.
func declares(inv *Inventory, method string, x *Field) bool {
	m := inv.Methods[method]
	return m != nil && slices.ContainsFunc(m.Throws, func(o Field) bool { return o.ID == x.ID && o.Type.Name == x.Type.Name })
}

// thrown are the edges of a reply's exceptions that the reader has under
// another id, or not at all.
//
// A reader that is guessed takes an exception under an id that its own version
// does not give it for success: those about whose id versions disagree become
// one that all know.
func (s *shaper) thrown(m *Method) []shapeEdge {
	var out []shapeEdge
	guessed, err := Load(readerLabels[Since3])
	if err != nil {
		return nil // it is built in
	}
	for i := range m.Throws {
		x := &m.Throws[i]
		var c change
		instead := s.rules.unread[m.Name][x.Type.Name]
		switch {
		case s.guess && instead != "":
			if !declares(guessed, m.Name, x) {
				c = throwAs(&Field{ID: x.ID, Type: &TypeRef{Name: instead}}, m)
			}
		case s.match != nil && s.match.to.Methods[m.Name] != nil:
			c = throwAs(x, s.match.to.Methods[m.Name])
		case s.old && instead != "":
			c = throwAs(&Field{ID: x.ID, Type: &TypeRef{Name: instead}}, m)
		}
		if !c.none() {
			out = append(out, shapeEdge{id: x.ID, name: x.Name, wire: frame.Struct, change: c})
		}
	}
	return out
}
