package config

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// Bounds of a YAML tree. Aliases may repeat a subtree, and a few lines of
// nested aliases stand for billions of nodes.
const (
	mostNodes = 100_000
	mostDepth = 32
)

// parseYAML reads one document and flattens it: maps inside maps become
// dotted keys, whether or not a key has dots of its own.
func parseYAML(name string, data []byte) ([]entry, Errors) {
	f := flattener{name: name}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc yaml.Node
	if err := dec.Decode(&doc); err != nil {
		if !errors.Is(err, io.EOF) { // EOF: an empty file has no keys
			f.syntax(err)
		}
		return nil, f.errs
	}
	var second yaml.Node
	if err := dec.Decode(&second); err == nil {
		f.fail(second.Line, "", "", "a second document begins here", "one document")
		return nil, f.errs
	} else if !errors.Is(err, io.EOF) {
		f.syntax(err)
		return nil, f.errs
	}
	if len(doc.Content) == 1 {
		f.top(doc.Content[0])
	}
	return f.out, f.errs
}

type flattener struct {
	name  string
	out   []entry
	errs  Errors
	nodes int
	full  bool
}

func (f *flattener) fail(line int, key, value, problem, allowed string) {
	f.errs = append(f.errs, &Error{File: f.name, Line: line, Key: key,
		Value: printable(key, value), Problem: problem, Allowed: allowed})
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// syntax reports an error of the YAML reader.
func (f *flattener) syntax(err error) {
	text, line := err.Error(), 0
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1])
		text = text[len(m[0]):]
	}
	f.fail(line, "", "", "not YAML, at or after this line: "+text, "")
}

func (f *flattener) top(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return
	}
	if n.Kind != yaml.MappingNode {
		f.fail(n.Line, "", "", "the document is not a map", "key: value")
		return
	}
	f.mapping("", n, 1)
}

// mapping flattens a map whose keys begin with prefix.
func (f *flattener) mapping(prefix string, n *yaml.Node, depth int) {
	seen := make(map[string]int, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Kind == yaml.AliasNode {
			k = k.Alias
		}
		if k.Kind != yaml.ScalarNode {
			f.fail(n.Content[i].Line, prefix, "", "has a key that is not a word", "key: value")
			continue
		}
		if k.Tag == "!!merge" {
			f.fail(n.Content[i].Line, join(prefix, "<<"), "", "merge keys are not supported", "an alias as a value")
			continue
		}
		key, line := join(prefix, k.Value), n.Content[i].Line
		if first, ok := seen[k.Value]; ok {
			f.fail(line, key, "", "is set twice, first on line "+strconv.Itoa(first), "one of them")
			continue
		}
		seen[k.Value] = line
		f.value(key, line, v, depth)
		if f.full {
			return
		}
	}
}

func join(prefix, key string) string {
	if prefix == "" {
		return key
	}
	return prefix + "." + key
}

// value flattens what stands behind a key.
func (f *flattener) value(key string, line int, n *yaml.Node, depth int) {
	if f.nodes++; f.nodes > mostNodes || depth > mostDepth {
		f.full = true
		f.fail(line, key, "", "the tree is too large",
			strconv.Itoa(mostNodes)+" values, "+strconv.Itoa(mostDepth)+" levels")
		return
	}
	switch n.Kind {
	case yaml.AliasNode:
		f.value(key, line, n.Alias, depth+1)
	case yaml.MappingNode:
		if len(n.Content) == 0 {
			f.out = append(f.out, entry{key: key, shape: bare, line: line})
			return
		}
		f.mapping(key, n, depth+1)
	case yaml.SequenceNode:
		f.sequence(key, line, n)
	case yaml.ScalarNode:
		e := entry{key: key, value: strings.TrimSpace(n.Value), line: line}
		if n.Tag == "!!null" && n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) == 0 {
			e.value, e.shape = "", bare
		}
		f.out = append(f.out, e)
	}
}

// sequence takes a list of scalars.
func (f *flattener) sequence(key string, line int, n *yaml.Node) {
	e := entry{key: key, shape: list, line: line}
	for _, item := range n.Content {
		if f.nodes++; f.nodes > mostNodes {
			f.full = true
			f.fail(line, key, "", "the list is too long", strconv.Itoa(mostNodes)+" values")
			return
		}
		if item.Kind == yaml.AliasNode {
			item = item.Alias
		}
		if item.Kind != yaml.ScalarNode {
			f.fail(item.Line, key, "", "has a list or a map inside its list", "a list of words")
			return
		}
		e.items = append(e.items, strings.TrimSpace(item.Value))
	}
	e.value = strings.Join(e.items, ",")
	f.out = append(f.out, e)
}
