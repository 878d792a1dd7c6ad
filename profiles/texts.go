package profiles

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"hmsgate/rewrite"
)

// textRules is data/texts.yaml, parsed.
type textRules struct {
	fields   map[string]textRule // Struct.field
	messages map[string]textRule // key of a notification's body
	params   map[string]textRule // key of a table's parameters
}

// textRule is a kind, and the struct that is meant where the kind is Object.
type textRule struct {
	kind   rewrite.Kind
	object string
}

var texts = sync.OnceValues(func() (*textRules, error) {
	b, err := data.ReadFile("data/texts.yaml")
	if err != nil {
		return nil, err
	}
	return parseTexts(b)
})

func parseTexts(text []byte) (*textRules, error) {
	var f struct {
		Fields   map[string]string `yaml:"fields"`
		Messages map[string]string `yaml:"messages"`
		Params   map[string]string `yaml:"parameters"`
	}
	if err := strictYAML(text, &f); err != nil {
		return nil, fmt.Errorf("texts.yaml: %w", err)
	}
	r := &textRules{}
	for _, part := range []struct {
		name string
		in   map[string]string
		out  *map[string]textRule
	}{{"fields", f.Fields, &r.fields}, {"messages", f.Messages, &r.messages}, {"parameters", f.Params, &r.params}} {
		*part.out = make(map[string]textRule, len(part.in))
		for _, key := range sortedKeys(part.in) {
			u, err := parseText(part.in[key])
			if err != nil {
				return nil, fmt.Errorf("texts.yaml: %s: %s: %w", part.name, key, err)
			}
			(*part.out)[key] = u
		}
	}
	return r, nil
}

// parseText reads "KIND" or "object STRUCT".
func parseText(s string) (textRule, error) {
	word, object, _ := strings.Cut(s, " ")
	k, ok := rewrite.ParseKind(word)
	switch {
	case !ok || k == rewrite.None:
		return textRule{}, fmt.Errorf("%q is no kind of name", word)
	case k == rewrite.Object && object == "":
		return textRule{}, errors.New("an object is one of a struct: object STRUCT")
	case k != rewrite.Object && object != "":
		return textRule{}, fmt.Errorf("a %s is none of a struct, yet %q follows", word, object)
	}
	return textRule{k, object}, nil
}

// text is what a string or map is when texts.yaml says more of its field than
// fields.yaml does; u otherwise.
func (s *shaper) text(owner string, f *Field, v *value) (*value, error) {
	r, err := texts()
	if err != nil || v == nil {
		return v, err
	}
	u, ok := r.fields[owner+"."+f.Name]
	if !ok {
		return v, nil
	}
	own := *v
	for at := &own; ; at = at.elem { // a list of texts
		if at.elem != nil {
			e := *at.elem
			at.elem = &e
			continue
		}
		if at.kind = u.kind; u.object != "" && s.inv.Structs[u.object] != nil {
			at.object, err = s.structure(u.object)
		} else if u.object != "" {
			at.kind = rewrite.Text // the inventory cannot say what it is
		}
		return &own, err
	}
}

// planTexts tells the builder what is planned inside of messages and
// parameters. Structs that no call or reply has are in no message either.
func planTexts(b *rewrite.Builder, shapes []*shape) error {
	r, err := texts()
	if err != nil {
		return err
	}
	at := map[string]*shape{}
	for _, sh := range shapes {
		if at[sh.name] == nil {
			at[sh.name] = sh
		}
	}
	for _, key := range sortedKeys(r.messages) {
		u := r.messages[key]
		if u.object == "" {
			b.Key(key, u.kind, 0)
		} else if sh := at[u.object]; sh != nil {
			b.Key(key, u.kind, sh.id)
		}
	}
	for _, key := range sortedKeys(r.params) {
		b.Param(key, r.params[key].kind)
	}
	return nil
}
