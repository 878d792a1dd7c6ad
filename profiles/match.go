package profiles

import (
	"fmt"
	"slices"

	"hmsgate/frame"
	"hmsgate/rewrite"
)

// change is what must happen to a field on its way from one interface version
// to another. Most fall out of the two inventories by matching names: another
// id is a renumber, an id that means something else there is a drop, a number
// that its enum lacks there is a map. The zero change keeps the field.
type change struct {
	renumber bool
	to       int16
	drop     bool
	enum     []rewrite.EnumPair
}

func (c *change) same(o *change) bool {
	return c.renumber == o.renumber && c.to == o.to && c.drop == o.drop && slices.Equal(c.enum, o.enum)
}

func (c *change) none() bool { return !c.renumber && !c.drop && len(c.enum) == 0 }

// matcher finds changes towards an inventory. A nil matcher finds none: the
// other side is not known, or may be any.
type matcher struct {
	to    *Inventory
	rules *rules
}

// field is the change of one field of a struct, argument list or result whose
// fields there are others.
func (m *matcher) field(owner string, f *Field, others []Field) (change, error) {
	var c change
	o := m.namesake(owner, f, others)
	if o == nil {
		c.drop = taken(f, others)
		return c, nil
	}
	if o.ID != f.ID {
		c.renumber, c.to = true, o.ID
	}
	var err error
	c.enum, err = m.enum(f.Type, o.Type)
	if err != nil {
		return c, fmt.Errorf("%s.%s: %w", owner, f.Name, err)
	}
	return c, nil
}

// namesake is the field there that means the same: of the same name, or of
// one that the rules call the same.
func (m *matcher) namesake(owner string, f *Field, others []Field) *Field {
	for _, name := range [...]string{f.Name, m.rules.same[owner+"."+f.Name]} {
		for i := range others {
			if o := &others[i]; name != "" && o.Name == name && o.Type.Wire == f.Type.Wire {
				return o
			}
		}
	}
	return nil
}

// taken says whether a field's id means something else there.
func taken(f *Field, others []Field) bool {
	for i := range others {
		if o := &others[i]; o.ID == f.ID && o.Name != f.Name {
			return true
		}
	}
	return false
}

// enum maps the values that an enum lacks there, as the rules say.
func (m *matcher) enum(from, to *TypeRef) ([]rewrite.EnumPair, error) {
	e := m.rules.enums[from.Name]
	there := m.to.Enums[to.Name]
	if from.Wire != frame.I32 || e == nil || to.Name != from.Name || there == nil {
		return nil, nil
	}
	var out []rewrite.EnumPair
	for _, name := range sortedKeys(e) {
		if _, ok := there.Values[name]; ok {
			continue
		}
		to, ok := there.Values[e[name]]
		if !ok {
			return nil, fmt.Errorf("enum %s: %s stands for %s, which %s lacks too", from.Name, e[name], name, m.to.Label)
		}
		from, err := m.rules.enumValue(from.Name, name)
		if err != nil {
			return nil, err
		}
		out = append(out, rewrite.EnumPair{From: from, To: to})
	}
	return out, nil
}

// enumValue is an enum value's number in the union.
func (r *rules) enumValue(enum, name string) (int32, error) {
	u, err := AutoInventory()
	if err != nil {
		return 0, err
	}
	if e := u.Enums[enum]; e != nil {
		if v, ok := e.Values[name]; ok {
			return v, nil
		}
	}
	return 0, fmt.Errorf("enum %s has no value %s in any version", enum, name)
}

// apply puts what happens to the field into a plan's action.
func (e *shapeEdge) apply(a *rewrite.Action) {
	c := &e.change
	a.Drop = c.drop
	a.Renumber, a.To = c.renumber, c.to
	if len(c.enum) > 0 {
		a.Do, a.Enum = rewrite.Map, c.enum
	}
	a.Unwrap = e.unwrap
	a.Wrap, a.Inner = e.wrap != 0, e.wrap
	a.Split, a.Second = e.split != 0, e.split
	switch {
	case e.word != "":
		*a = rewrite.Action{Do: rewrite.Find, Guard: e.guard.n, Word: e.word}
	case e.guard != nil:
		a.Do, a.Kind, a.Guard, a.Test = rewrite.Keep, rewrite.None, e.guard.n, e.guard.test
	}
}

// String is the change for people, "" when there is none.
func (c *change) String() string {
	switch {
	case c.drop:
		return ", dropped"
	case c.renumber:
		return fmt.Sprintf(", as field %d", c.to)
	case len(c.enum) > 0:
		s := ", values"
		for _, p := range c.enum {
			s += fmt.Sprintf(" %d as %d", p.From, p.To)
		}
		return s
	}
	return ""
}
