package config

import (
	"strconv"
	"strings"
)

// apply checks one entry of the file and stores it under its canonical key.
func (l *loader) apply(e *entry) {
	m, ok := lookup(e.key)
	if !ok {
		l.unknown(e)
		return
	}
	if e.shape == list && !m.row.takesList() {
		l.fail(e.line, e.written(), e.value, "is a list", "one value")
		return
	}
	if e.shape == bare && m.row.kind != kindText && m.row.kind != kindFree {
		l.fail(e.line, e.written(), "", "has no value", m.row.allows())
		return
	}
	switch m.row.standing {
	case noted:
		l.note(e.line, "note", e.written(), "has no effect: "+m.row.note)
		l.store(e, m.fill(m.row.key), e.value)
		return
	case later:
		l.applyLater(e, m)
		return
	}
	if m.row.kind == kindAddress {
		l.applyAddress(e, m)
		return
	}
	value := e.value
	if m.row.kind != kindFree {
		var bad finding
		if value, bad = m.row.normalise(e.value, m.alias); bad.problem != "" {
			l.fail(e.line, e.written(), e.value, bad.problem, bad.allowed)
			return
		}
	}
	l.store(e, m.fill(m.row.key), value)
}

// takesList tells where a comma separated value may be a YAML list.
func (r *row) takesList() bool {
	switch r.kind {
	case kindNames, kindFiles, kindChoices, kindURIs, kindFree:
		return true
	}
	return r.standing != live
}

// mostSuggestions bounds the work on a file that is something else altogether.
const mostSuggestions = 100

// unknown reports a key that is in no row.
func (l *loader) unknown(e *entry) {
	if isPrefix(e.key) {
		if e.shape != bare {
			l.fail(e.line, e.key, e.value, "is not a key, others are below it", "a map, or "+e.key+".KEY")
		}
		return // a name without keys: what it lacks is reported in its place
	}
	allowed := "the keys of CONFIGURATION.md"
	if l.unknowns++; l.unknowns > mostSuggestions {
		l.fail(e.line, e.key, e.value, "is not a known key", allowed)
		return
	}
	value := e.value
	if near := nearest(e.key); near != "" {
		allowed = near + " (the nearest known key)"
		value = printable(near, value) // the key may be that of a secret but for the typo
	}
	l.fail(e.line, e.key, value, "is not a known key", allowed)
}

// applyLater refuses a key of a missing feature unless it asks for nothing.
func (l *loader) applyLater(e *entry, m match) {
	if !m.row.isOff(e.value) {
		allowed := "leaving it out"
		if len(m.row.off) > 0 {
			allowed = strings.Join(m.row.off, ", ")
		}
		l.fail(e.line, e.written(), e.value, "is not supported by this version", allowed)
		return
	}
	text := "has no effect: the feature is not in this version"
	if m.row.note != "" {
		text = "has no effect: " + m.row.note
	}
	l.note(e.line, "note", e.written(), text)
	l.store(e, m.fill(m.row.key), e.value)
}

// applyAddress splits host:port into the two keys it stands for.
func (l *loader) applyAddress(e *entry, m match) {
	host, port, problem := hostPort(e.value)
	if problem != "" {
		l.fail(e.line, e.key, e.value, problem, "host:port; an IPv6 address in brackets")
		return
	}
	l.store(e, m.fill(m.row.into[0]), host)
	l.store(e, m.fill(m.row.into[1]), strconv.Itoa(port))
}

// store keeps a value under its canonical key. The same setting under two
// names is an error, whichever the values are.
func (l *loader) store(e *entry, key, value string) {
	if first, ok := l.set[key]; ok {
		if e.inherited == "" {
			l.fail(e.line, e.written(), e.value,
				"is the same setting as "+plain(first.key)+" on line "+strconv.Itoa(first.line), "one of them")
		}
		return
	}
	l.set[key] = setting{value: value, line: e.line, key: e.written(), raw: e.value}
}

// allows says in words what a row takes; the findings of values.go say it for
// a given value.
func (r *row) allows() string {
	switch r.kind {
	case kindBool:
		return "true, false"
	case kindInt:
		_, f := r.integer("x")
		return f.allowed
	case kindDuration:
		_, f := r.duration("x", r.unit)
		return f.allowed
	case kindSize:
		_, f := r.size("x")
		return f.allowed
	case kindChoice:
		return strings.Join(r.allowed, ", ")
	case kindChoices:
		return "one or more of " + strings.Join(r.allowed, ", ")
	case kindURIs:
		return uriForm
	case kindAddress:
		return "host:port"
	case kindHost:
		return "a host name or an IP address without port"
	case kindProfile:
		_, f := profile("")
		return f.allowed
	case kindFile, kindFiles:
		return r.short()
	case kindName:
		return "the name of a catalog"
	case kindNames:
		return "names, comma separated"
	}
	return "any text"
}
