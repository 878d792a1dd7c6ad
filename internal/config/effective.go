package config

import (
	"fmt"
	"io"
	"sort"
	"strings"
)

// finish notes what a reader should know and freezes the effective settings.
func (l *loader) finish(c *Config) {
	for key, s := range l.set {
		if _, ok := l.effective[key]; !ok {
			l.record(key, s)
		}
	}
	l.noteFree()
	if l.format == Properties {
		for _, r := range rows() {
			if _, ok := l.set[r.key]; r.peerOn != "" && !ok {
				l.note(0, "note", r.key, r.peerOn)
			}
		}
	}
	sort.SliceStable(l.notes, func(i, j int) bool { return l.notes[i].line < l.notes[j].line })
	seen := make(map[string]bool)
	for _, n := range l.notes {
		if !seen[n.text] {
			seen[n.text] = true
			c.Notes = append(c.Notes, n.text)
		}
	}
	for _, s := range l.effective {
		c.settings = append(c.settings, s)
	}
	sort.Slice(c.settings, func(i, j int) bool { return c.settings[i].Key < c.settings[j].Key })
	c.profiles = l.profiles
}

// noteFree says once per family which Hive settings are kept without effect.
func (l *loader) noteFree() {
	type family struct {
		line int
		keys []string
	}
	families := make(map[string]*family)
	for key, s := range l.set {
		m, ok := lookup(key)
		if !ok || m.row.kind != kindFree {
			continue
		}
		if strings.HasPrefix(key, "backend.") {
			if r, ok := lookup("catalog.x.conf." + m.rest); ok && r.row.kind != kindFree {
				continue // applied to each catalog
			}
		}
		name := strings.TrimSuffix(m.fill(strings.TrimSuffix(m.row.key, "*")), ".")
		f := families[name]
		if f == nil {
			f = &family{line: s.line}
			families[name] = f
		}
		f.line = min(f.line, s.line)
		f.keys = append(f.keys, m.rest)
	}
	for name, f := range families {
		sort.Strings(f.keys)
		for i, k := range f.keys {
			f.keys[i] = plain(k)
		}
		l.note(f.line, "note", name, "these Hive settings are kept but have no effect: "+strings.Join(f.keys, ", "))
	}
}

// Effective lists every key that was set or has a default, sorted by key.
func (c *Config) Effective() []Setting {
	return append([]Setting(nil), c.settings...)
}

// Blame says of an error where the key that leads to it stands.
func (c *Config) Blame(key string, err error) error {
	at := c.File
	for _, s := range c.settings {
		if s.Key == key && strings.HasPrefix(s.Origin, c.File+":") {
			at = s.Origin
		}
	}
	return fmt.Errorf("%s: %s: %w", at, plain(key), err)
}

// WriteEffective prints the effective settings, a line each.
func (c *Config) WriteEffective(w io.Writer) error {
	wideKey, wideValue := 0, 0
	for _, s := range c.settings {
		wideKey, wideValue = max(wideKey, len(s.Key)), max(wideValue, min(len(s.Value), 40))
	}
	for _, s := range c.settings {
		_, err := fmt.Fprintf(w, "%-*s = %-*s  # %s\n", wideKey, plain(s.Key), wideValue, plainValue(s.Value), s.Origin)
		if err != nil {
			return err
		}
	}
	return nil
}

// plainValue keeps a value on one line.
func plainValue(v string) string {
	if strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r > '~' }) {
		return fmt.Sprintf("%+q", v)
	}
	return v
}

// CheckProfiles reports interface versions the file names that are not among
// the known inventories.
func (c *Config) CheckProfiles(known []string) error {
	var es Errors
	for _, p := range c.profiles {
		if !contains(strings.Join(known, ","), p.label) {
			es = append(es, &Error{File: c.File, Line: p.at.line, Key: p.at.key, Value: p.at.raw,
				Problem: "is not a known interface version", Allowed: "auto, " + strings.Join(known, ", ")})
		}
	}
	if len(es) == 0 {
		return nil
	}
	return es.sorted()
}
