package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Format is the spelling of a file.
type Format int

// The two spellings. Each has its own column of defaults.
const (
	YAML Format = iota
	Properties
)

// largest is more than any configuration; what is larger is another file.
const largest = 4 << 20

// Load reads a file; the end of its name (.yaml, .yml, .properties) tells the
// spelling. Findings come back as Errors.
func Load(path string) (*Config, error) {
	var format Format
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".yaml", ".yml":
		format = YAML
	case ".properties":
		format = Properties
	default:
		return nil, Errors{{File: path,
			Problem: "the name's end does not tell the spelling", Allowed: ".yaml, .yml, .properties"}}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, largest+1))
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	return Parse(path, format, data)
}

// Parse reads a configuration from memory; name stands in messages.
func Parse(name string, format Format, data []byte) (*Config, error) {
	if len(data) > largest {
		return nil, Errors{{File: name, Problem: "the file is too large", Allowed: strconv.Itoa(largest) + " bytes"}}
	}
	l := loader{name: name, format: format, set: map[string]setting{},
		nameLine: map[string]int{}, effective: map[string]Setting{}}
	var entries []entry
	if format == Properties {
		entries, l.errs = parseProperties(name, data)
	} else {
		entries, l.errs = parseYAML(name, data)
	}
	if len(entries) == 0 && len(l.errs) > 0 { // nothing was read, so nothing is missing
		return nil, l.errs
	}
	entries = l.unique(entries)
	l.collectNames(entries)
	for i := range entries {
		l.apply(&entries[i])
	}
	l.inherit(entries)
	c := l.build()
	l.check(c)
	if len(l.errs) > 0 {
		return nil, l.errs.sorted()
	}
	l.finish(c)
	return c, nil
}

// AsErrors gives the single findings of an error of Load or Parse.
func AsErrors(err error) Errors {
	var es Errors
	if errors.As(err, &es) {
		return es
	}
	return nil
}

// setting is a value of the file in its canonical form.
type setting struct {
	value   string
	line    int
	key     string // as written
	raw     string // as written
	derived bool   // not from the file
	origin  string // where derived
}

type loader struct {
	name      string
	format    Format
	errs      Errors
	notes     []lineNote
	set       map[string]setting // by canonical key
	catalogs  []string           // in order of appearance
	listeners []string
	nameLine  map[string]int // where catalog.NAME or listener.NAME is first seen
	effective map[string]Setting
	badNames  bool // a catalog or listener was left out for its name
	unknowns  int
	profiles  []profileUse
	imports   []importUse
}

type lineNote struct {
	line int
	text string
}

func (l *loader) fail(line int, key, value, problem, allowed string) {
	l.errs = append(l.errs, &Error{File: l.name, Line: line, Key: key,
		Value: printable(key, value), Problem: problem, Allowed: allowed})
}

// failAt blames a setting; one that is not from the file has no line.
func (l *loader) failAt(s setting, problem, allowed string) {
	l.fail(s.line, s.key, s.raw, problem, allowed)
}

func (l *loader) note(line int, kind, key, text string) {
	at := l.name
	if line > 0 {
		at += ":" + strconv.Itoa(line)
	}
	l.notes = append(l.notes, lineNote{line, at + ": " + kind + ": " + plain(key) + ": " + text})
}

// unique drops and reports keys that are written twice. Java takes the last
// one, which is how a forgotten line at the end of a file wins.
func (l *loader) unique(entries []entry) []entry {
	first := make(map[string]int, len(entries))
	out := entries[:0]
	for _, e := range entries {
		if line, ok := first[e.key]; ok {
			l.fail(e.line, e.key, e.value, "is set twice, first on line "+strconv.Itoa(line), "one of them")
			continue
		}
		first[e.key] = e.line
		out = append(out, e)
	}
	return out
}

// collectNames lists the catalogs and listeners that have keys.
func (l *loader) collectNames(entries []entry) {
	line := 0
	add := func(list *[]string, kind, name string) {
		if _, ok := l.nameLine[kind+name]; !ok && name != "" {
			l.nameLine[kind+name] = line
			*list = append(*list, name)
		}
	}
	for _, e := range entries {
		line = e.line
		parts := strings.Split(e.key, ".")
		if e.key == "additional-frontends" {
			for _, n := range items(e.value) {
				add(&l.listeners, "listener.", n)
			}
		}
		if len(parts) < 2 || (len(parts) == 2 && e.shape != bare) {
			continue
		}
		switch parts[0] {
		case "catalog":
			add(&l.catalogs, "catalog.", parts[1])
		case "listener", "additional-frontends":
			add(&l.listeners, "listener.", parts[1])
		}
	}
}

// inherit applies backend.conf keys that mean something here to each catalog
// that has not set them itself.
func (l *loader) inherit(entries []entry) {
	names := append([]string(nil), l.catalogs...)
	for _, n := range items(l.set["catalogs"].value) {
		if _, ok := l.nameLine["catalog."+n]; !ok {
			names = append(names, n)
		}
	}
	own := make(map[string]bool, len(entries))
	for i := range entries {
		own[entries[i].key] = true
	}
	for i := range entries {
		name, ok := strings.CutPrefix(entries[i].key, "backend.")
		if !ok || !strings.HasPrefix(name, "conf.") {
			continue
		}
		for _, c := range names {
			e := entries[i]
			e.key, e.inherited = "catalog."+c+"."+name, e.key
			if m, ok := lookup(e.key); ok && m.row.kind != kindFree && !own[e.key] {
				l.apply(&e)
			}
		}
	}
}
