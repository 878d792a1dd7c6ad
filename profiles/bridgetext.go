package profiles

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"hmsgate/frame"
)

// programs are the names that bridges may give as program. Package
// internal/answer has one implementation for each.
var programs = []string{
	"add-partitions", "column-statistics", "compactions", "constraints", "databases", "drop-catalog", "drop-database",
	"echo", "functions", "locks-of-txn", "open-txns", "partition-specs", "table-infos", "table-names",
	"tables-by-pattern", "views", "write-ids-of-list",
}

// Programs are the names of all programs that bridges may name, sorted.
func Programs() []string { return slices.Clone(programs) }

// Program is several calls that serve one.
type Program struct {
	Name string
	// Calls are the methods it makes use of, by the parts they play; a part
	// that the backend has no method for is left out.
	Calls map[string]string
	// Front reads the call and writes the result, Back the calls in between.
	Front, Back *Inventory
	Lost        []string // what the backend is not told
	// Form says that it is for readers that know the result's fields by other
	// wire types than the backend, and serves every call of theirs.
	Form bool
	// At are beginnings of the labels of backends all whose calls it serves,
	// since their metastores understand less of one than the interface says.
	At []string
	// Serves are the guards (rewrite.Walker.Guards) of what it keeps from being
	// lost where the backend has the method; a call that met others is refused.
	Serves uint64
}

// bridgeText is a method's entry in bridges.yaml.
type bridgeText struct {
	Never      string
	Program    string
	Calls      map[string]string
	Lost       []string
	Form       bool
	At         []string
	Serves     []string
	Here       string
	Candidates []candidateText
}

type candidateText struct {
	Call   string            `yaml:"call"`
	Args   map[string]string `yaml:"args"`
	Reply  string            `yaml:"reply"`
	Unless map[string]string `yaml:"unless"`
	Refuse map[string]string `yaml:"refuse"`
	Lost   []string          `yaml:"lost"`
}

// UnmarshalYAML reads a list of candidates or one of the other forms.
func (b *bridgeText) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.SequenceNode {
		return n.Decode(&b.Candidates)
	}
	var o struct {
		Candidates []candidateText   `yaml:"candidates"`
		Never      string            `yaml:"never"`
		Program    string            `yaml:"program"`
		Calls      map[string]string `yaml:"calls"`
		Lost       []string          `yaml:"lost"`
		Form       bool              `yaml:"form"`
		At         []string          `yaml:"at"`
		Serves     []string          `yaml:"serves"`
		Here       string            `yaml:"here"`
	}
	if err := n.Decode(&o); err != nil {
		return err
	}
	given := 0
	for _, s := range []string{o.Never, o.Program, o.Here} {
		if s != "" {
			given++
		}
	}
	switch {
	case given != 1 && !(given == 2 && o.Here == ""), o.Candidates != nil && (o.Never == "" || given != 1):
		return fmt.Errorf("line %d: want candidates, program or here, or never, alone or with one of the first two", n.Line)
	case o.Program != "" && !slices.Contains(programs, o.Program):
		return fmt.Errorf("line %d: program %q is none of %s", n.Line, o.Program, strings.Join(programs, ", "))
	case o.Program == "" && len(o.Calls)+len(o.Lost) > 0:
		return fmt.Errorf("line %d: calls and lost are a program's", n.Line)
	}
	*b = bridgeText{Candidates: o.Candidates, Never: o.Never, Program: o.Program, Calls: o.Calls, Lost: o.Lost,
		Form: o.Form, At: o.At, Serves: o.Serves, Here: o.Here}
	return nil
}

// program binds a program to what the backend has. A part may have several
// methods ("a | b"): the first that is there plays it.
func (b *bridger) program(m *Method, t *bridgeText) *Program {
	p := &Program{Name: t.Program, Lost: t.Lost, Calls: map[string]string{}, Back: b.back, Front: b.calls.inv,
		Form: t.Form, At: t.At}
	for part, names := range t.Calls {
		for _, name := range strings.Split(names, "|") {
			if name = strings.TrimSpace(name); b.back.Methods[name] != nil {
				p.Calls[part] = name
				break
			}
		}
	}
	for i, reason := range b.calls.reasons {
		if field, _, _ := strings.Cut(reason, ": "); slices.Contains(t.Serves, field) {
			p.Serves |= 1 << (maxBridgeGuards + i)
		}
	}
	if p.Front.Label == AutoLabel && !p.Form {
		// A field id has one meaning only in one version's inventory: the newest
		// that has the method, since whoever calls it knows that form of it.
		for _, label := range labels() {
			if inv, err := Load(label); err == nil && inv.Methods[m.Name] != nil && newer(inv, p.Front) {
				p.Front = inv
			}
		}
	}
	return p
}

// newer says whether an inventory is a later release of Apache Hive.
func newer(inv, than *Inventory) bool {
	return than.Label == AutoLabel || strings.HasPrefix(inv.Label, releasePrefix) && inv.Label > than.Label
}

// releasePrefix is how labels of releases of 4.x, the only ones with programs,
// begin; later text of the project may still move.
const releasePrefix = "apache-4"

// serves says whether the program serves every call of a method that back has,
// for readers of to.
func (p *Program) serves(m *Method, back, to *Inventory) bool {
	return p.Form && otherForm(m, back, to) ||
		slices.ContainsFunc(p.At, func(at string) bool { return strings.HasPrefix(back.Label, at) })
}

// otherForm says whether a reader of to may have a field of the method's
// result under another wire type than back has it.
func otherForm(m *Method, back, to *Inventory) bool {
	if m.Returns == nil || m.Returns.Wire != frame.Struct || to.Structs[m.Returns.Name] == nil {
		return false
	}
	there := to.Structs[m.Returns.Name].Fields
	return slices.ContainsFunc(back.Structs[m.Returns.Name].Fields, func(f Field) bool {
		return slices.ContainsFunc(there, func(o Field) bool { return o.Name == f.Name && o.Type.Wire != f.Type.Wire })
	})
}
