package profiles

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Set is the inventories that one gateway knows: the built-in ones and those
// that its site imports.
type Set struct {
	imports []*Inventory
	union   *Inventory
	auto    *Plans // nil: those of Auto
	notes   []string
}

// Builtin is the set without imports.
func Builtin() (*Set, error) { return NewSet() }

// importLabel is what an imported inventory may be called. Rules and guards go
// by the number: partition expressions never cross from one generation to
// another, and nothing in an interface tells whose classes wrote one.
var importLabel = regexp.MustCompile(`^[a-z][a-z0-9_]*-[234]\.[0-9A-Za-z._-]+$`)

// CheckLabel says why an imported inventory cannot be called so, nil when it
// can.
func CheckLabel(label string) error {
	switch {
	case slices.Contains(labels(), label):
		return fmt.Errorf("%q is built in", label)
	case !importLabel.MatchString(label):
		return fmt.Errorf("%q is not VENDOR-VERSION with the version of the Hive it is built on, 2, 3 or 4 first: "+
			"cdp-3.1.3000", label)
	}
	return nil
}

// NewSet takes in imported inventories and makes sure that the rules hold for
// each with every other one. What clients of front "auto" call is looked up in
// all inventories together; one that cannot be told apart there is left out of
// them, with a note: its clients need a front of their own.
func NewSet(imports ...*Inventory) (*Set, error) {
	s := &Set{}
	var err error
	if s.union, err = AutoInventory(); err != nil {
		return nil, err
	}
	for _, inv := range imports {
		if err := CheckLabel(inv.Label); err != nil {
			return nil, err
		}
		if slices.Contains(s.Labels(), inv.Label) {
			return nil, fmt.Errorf("%q is imported twice", inv.Label)
		}
		s.imports = append(s.imports, inv)
		if err := s.unite(inv); err != nil {
			s.notes = append(s.notes, fmt.Sprintf("%s: clients of this version need a listener with this frontend-profile, "+
				"since %q cannot tell them apart: %v", inv.Label, AutoLabel, err))
		}
		s.notes = append(s.notes, unnamed(inv)...)
	}
	return s, s.pairs()
}

// unite adds an inventory to the union, if plans can be made of it.
func (s *Set) unite(inv *Inventory) error {
	parts := append(slices.Clone(s.union.parts), inv)
	builtins, err := all()
	if err != nil {
		return err
	}
	u, err := merge(AutoLabel, append(slices.Clone(builtins), parts...))
	if err != nil {
		return err
	}
	u.parts = parts
	p, err := Compile(u, u)
	if err == nil {
		s.union, s.auto = u, p
	}
	return err
}

// pairs compiles what may meet an imported inventory, so that a rule that does
// not fit is found at once and not by a client.
func (s *Set) pairs() error {
	for _, inv := range s.imports {
		for _, label := range append(s.Labels(), AutoLabel) {
			other, err := s.Load(label)
			if err != nil {
				return err
			}
			if _, err := Compile(inv, other); err != nil {
				return fmt.Errorf("%s as front of %s: %w", inv.Label, label, err)
			}
			for r := Unsure; r < readers; r++ {
				if _, err := CompileFor(other, inv, r); err != nil {
					return fmt.Errorf("%s as back of %s: %w", inv.Label, label, err)
				}
			}
		}
	}
	return nil
}

// Labels are the labels of the set's inventories: the built-in ones sorted,
// then the imported ones.
func (s *Set) Labels() []string {
	out := Labels()
	for _, inv := range s.imports {
		out = append(out, inv.Label)
	}
	return out
}

// Load returns an inventory of the set, for AutoLabel the union of all.
func (s *Set) Load(label string) (*Inventory, error) {
	if label == AutoLabel {
		return s.union, nil
	}
	for _, inv := range s.imports {
		if inv.Label == label {
			return inv, nil
		}
	}
	if inv, err := Load(label); err == nil || slices.Contains(labels(), label) {
		return inv, err
	}
	return nil, fmt.Errorf("no profile %q: there are %s", label, strings.Join(s.Labels(), ", "))
}

// Plans compiles the plans for clients of one label and a backend of another;
// "" is AutoLabel.
func (s *Set) Plans(front, back string) (*Plans, error) {
	label := func(l string) string {
		if l == "" {
			return AutoLabel
		}
		return l
	}
	front, back = label(front), label(back)
	if front == AutoLabel && back == AutoLabel {
		if s.auto == nil {
			return Auto(), nil
		}
		return s.auto, nil
	}
	f, err := s.Load(front)
	if err != nil {
		return nil, err
	}
	b, err := s.Load(back)
	if err != nil {
		return nil, err
	}
	return Compile(f, b)
}

// Notes are what an operator should know of the imported inventories, a line
// each.
func (s *Set) Notes() []string { return s.notes }
