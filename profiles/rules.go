package profiles

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"

	"hmsgate/frame"
	"hmsgate/rewrite"
)

// rule says what one field, argument or bare result is.
type rule struct {
	kind       rewrite.Kind // of a string or i64, or of the elements of a list or set
	key, value rewrite.Kind // of a map
	repeat     bool         // often equals the same field of the element before
	ignored    string       // reason for being no name
}

// clash is how two names of one id with one wire type are told apart.
type clash struct {
	Latch   [2]string `yaml:"latch,flow"` // fields that share an id but not a wire type
	Latched string    `yaml:"latched"`    // the name that counts after the first of them
	Else    string    `yaml:"else"`
}

// rules are the two files of data, parsed.
type rules struct {
	reasons map[string]string
	args    map[string]rule
	structs map[string]map[string]rule
	clashes map[string]clash
	rows    map[string]*methodRule
	bridges map[string]bridgeText
	// fallbacks are answers for backends that do not know a method.
	fallbacks map[string]fallbackText
	lacks     map[string]map[string]string // Struct, field: what an older backend would drop
	keys      map[string]keyRule           // Struct.field
	exprs     map[string]string            // Struct.field that holds partition expressions
	always    map[string]map[string]string // Struct, field: value added to replies that lack it
	always4   map[string]map[string]string // the same for clients of 4.x
	needs     map[string]map[string]string // Struct, field: value added to calls that lack it
	unread    map[string]map[string]string // method, exception: what it becomes for readers before 4.x
	same      map[string]string            // Struct.field: the name that other versions give it
	enums     map[string]map[string]string // enum, value: what stands for it in versions that lack it

	once     sync.Once
	meanings map[string]rule // what a name means everywhere, by meaningKey
}

// methodRule is a row and the rules that hold in its method alone.
type methodRule struct {
	row   Row
	args  map[string]rule
	reply *rule
}

// keyRule is a key of a string map that only some backends act upon.
type keyRule struct {
	Key  string   `yaml:"key"`
	At   []string `yaml:"at"` // beginnings of their labels
	Lost string   `yaml:"lost"`
}

var builtin = sync.OnceValues(func() (*rules, error) {
	fields, err := data.ReadFile("data/fields.yaml")
	if err != nil {
		return nil, err
	}
	methods, err := data.ReadFile("data/methods.yaml")
	if err != nil {
		return nil, err
	}
	r, err := parseRules(fields, methods)
	if err != nil {
		return nil, err
	}
	bridges, err := data.ReadFile("data/bridges.yaml")
	if err != nil {
		return nil, err
	}
	if err := strictYAML(bridges, &r.bridges); err != nil {
		return nil, fmt.Errorf("bridges.yaml: %w", err)
	}
	fallbacks, err := data.ReadFile("data/fallback.yaml")
	if err != nil {
		return nil, err
	}
	if err := strictYAML(fallbacks, &r.fallbacks); err != nil {
		return nil, fmt.Errorf("fallback.yaml: %w", err)
	}
	return r, nil
})

// parseRules reads the text of fields.yaml and methods.yaml.
func parseRules(fields, methods []byte) (*rules, error) {
	var f struct {
		Reasons map[string]string            `yaml:"reasons"`
		Args    map[string]string            `yaml:"args"`
		Clashes map[string]clash             `yaml:"clashes"`
		Same    map[string]map[string]string `yaml:"same"`
		Enums   map[string]map[string]string `yaml:"enums"`
		Lacks   map[string]map[string]string `yaml:"lacks"`
		Keys    map[string]keyRule           `yaml:"keys"`
		Exprs   map[string]string            `yaml:"expressions"`
		Always  map[string]map[string]string `yaml:"always"`
		Always4 map[string]map[string]string `yaml:"always4"`
		Needs   map[string]map[string]string `yaml:"needs"`
		Unread  map[string]map[string]string `yaml:"unread"`
		Structs map[string]map[string]string `yaml:"structs"`
	}
	if err := strictYAML(fields, &f); err != nil {
		return nil, fmt.Errorf("fields.yaml: %w", err)
	}
	r := &rules{reasons: f.Reasons, clashes: f.Clashes, enums: f.Enums, lacks: f.Lacks, keys: f.Keys,
		exprs: f.Exprs, always: f.Always, always4: f.Always4, needs: f.Needs, unread: f.Unread,
		structs: map[string]map[string]rule{}, same: map[string]string{}}
	for owner, pairs := range f.Same {
		for a, b := range pairs {
			r.same[owner+"."+a], r.same[owner+"."+b] = b, a
		}
	}
	var err error
	if r.args, err = r.parseAll(f.Args); err != nil {
		return nil, fmt.Errorf("fields.yaml: args: %w", err)
	}
	for _, name := range sortedKeys(f.Structs) {
		if r.structs[name], err = r.parseAll(f.Structs[name]); err != nil {
			return nil, fmt.Errorf("fields.yaml: struct %s: %w", name, err)
		}
	}
	var m map[string]rowText
	if err := strictYAML(methods, &m); err != nil {
		return nil, fmt.Errorf("methods.yaml: %w", err)
	}
	r.rows = make(map[string]*methodRule, len(m))
	for _, name := range sortedKeys(m) {
		t := m[name]
		if r.rows[name], err = r.row(name, &t); err != nil {
			return nil, fmt.Errorf("methods.yaml: %s: %w", name, err)
		}
	}
	return r, nil
}

func strictYAML(text []byte, into any) error {
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(into); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

func (r *rules) parseAll(texts map[string]string) (map[string]rule, error) {
	out := make(map[string]rule, len(texts))
	for _, name := range sortedKeys(texts) {
		u, err := r.parse(texts[name])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out[name] = u
	}
	return out, nil
}

// parse reads a rule: "KIND", "key KIND", "value KIND", both, "repeat", or
// "ignored REASON".
func (r *rules) parse(s string) (rule, error) {
	var u rule
	words := strings.Fields(s)
	for i := 0; i < len(words); i++ {
		word := words[i]
		switch word {
		case "repeat":
			u.repeat = true
			continue
		case "ignored", "key", "value":
			i++
			if i == len(words) {
				return u, fmt.Errorf("%q lacks what follows %q", s, word)
			}
		}
		if word == "ignored" {
			u.ignored = words[i]
			if r.reasons[u.ignored] == "" {
				return u, fmt.Errorf("%q is not among the reasons", u.ignored)
			}
			continue
		}
		k, ok := rewrite.ParseKind(words[i])
		if !ok || k == rewrite.None {
			return u, fmt.Errorf("%q is no kind of name", words[i])
		}
		switch word {
		case "key":
			u.key = k
		case "value":
			u.value = k
		default:
			u.kind = k
		}
	}
	if u == (rule{}) {
		return u, errors.New("an empty rule says nothing")
	}
	return u, nil
}

// fits says whether a rule can apply to a type at all.
func (u rule) fits(t *TypeRef) bool {
	switch {
	case t == nil:
		return false
	case u.ignored != "":
		return t.holds(frame.String) || t.holds(frame.I64)
	case u.repeat:
		return t.Wire != frame.String && t.Wire != frame.I64
	case u.key != rewrite.None || u.value != rewrite.None:
		return t.Wire == frame.Map &&
			(u.key == rewrite.None || fitsKind(u.key, t.Key)) && (u.value == rewrite.None || fitsKind(u.value, t.Elem))
	case t.Wire == frame.Map:
		return u.kind.Opaque() && t.holds(frame.String)
	}
	return u.kind != rewrite.None && fitsKind(u.kind, t)
}

// fitsKind looks at a string or i64, or at the elements of lists and sets.
func fitsKind(k rewrite.Kind, t *TypeRef) bool {
	for t.Wire == frame.List || t.Wire == frame.Set {
		t = t.Elem
	}
	if k.Number() {
		return t.Wire == frame.I64
	}
	return t.Wire == frame.String
}

// holds says whether values of the type are, or contain outside of structs,
// values of the wire type.
func (t *TypeRef) holds(w frame.Type) bool {
	return t != nil && (t.Wire == w || t.Elem.holds(w) || t.Key.holds(w))
}
