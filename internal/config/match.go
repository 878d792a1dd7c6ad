package config

import (
	"sort"
	"strings"
)

// pattern is a row's key, or one of its aliases, cut into parts.
type pattern struct {
	row      *row
	alias    *alias // nil for the row's own key
	parts    []string
	literals int // parts that are neither <n> nor *
}

// patterns has the most literal first, so that the first match is the closest:
// catalog.<n>.conf.hive.metastore.uris before catalog.<n>.conf.*.
var patterns = compile()

func compile() []pattern {
	var out []pattern
	add := func(r *row, a *alias, key string) {
		p := pattern{row: r, alias: a, parts: strings.Split(key, ".")}
		for _, s := range p.parts {
			if !placeholder(s) {
				p.literals++
			}
		}
		out = append(out, p)
	}
	for _, r := range rows() {
		add(r, nil, r.key)
		for i := range r.aliases {
			add(r, &r.aliases[i], r.aliases[i].key)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].literals > out[j].literals })
	return out
}

func placeholder(part string) bool { return part == "<n>" || part == "*" }

// match is a key found in the table.
type match struct {
	row   *row
	alias *alias
	name  string // what stood for <n>
	rest  string // what stood for *
}

// lookup finds the row a key belongs to.
func lookup(key string) (match, bool) {
	parts := strings.Split(key, ".")
	for i := range patterns {
		if m, ok := patterns[i].match(parts); ok {
			return m, true
		}
	}
	return match{}, false
}

func (p *pattern) match(parts []string) (match, bool) {
	m := match{row: p.row, alias: p.alias}
	for i, want := range p.parts {
		if i >= len(parts) {
			return m, false
		}
		switch want {
		case "*":
			m.rest = strings.Join(parts[i:], ".")
			return m, m.rest != ""
		case "<n>":
			if parts[i] == "" {
				return m, false
			}
			m.name = parts[i]
		default:
			if want != parts[i] {
				return m, false
			}
		}
	}
	return m, len(parts) == len(p.parts)
}

// fill puts the matched names into a pattern key.
func (m match) fill(key string) string {
	key = strings.Replace(key, "<n>", m.name, 1)
	if rest, ok := strings.CutSuffix(key, "*"); ok {
		key = rest + m.rest
	}
	return key
}

// isPrefix reports whether a key is a proper prefix of a key in the table, as
// "catalog" and "catalog.hdp" are.
func isPrefix(key string) bool {
	parts := strings.Split(key, ".")
	for i := range patterns {
		p := &patterns[i]
		if len(parts) >= len(p.parts) {
			continue
		}
		ok := true
		for j, s := range parts {
			if p.parts[j] != s && !(placeholder(p.parts[j]) && s != "") {
				ok = false
				break
			}
		}
		if ok {
			return true
		}
	}
	return false
}

// nearest gives the known key closest to an unknown one, in the unknown one's
// own names, or "" when none is close. Keys longer than any real one are not
// compared: the file may be anything.
func nearest(key string) string {
	const longest = 200
	if len(key) > longest {
		return ""
	}
	parts := strings.Split(key, ".")
	lower := strings.ToLower(key)
	best, bestDistance := "", len(key)/4+1
	if bestDistance < 3 {
		bestDistance = 3
	}
	for i := range patterns {
		known := patterns[i].inNamesOf(parts)
		d := distance(lower, strings.ToLower(known))
		if strings.HasSuffix(known, "."+key) && !strings.Contains(known, "<n>") { // the section was left out
			d = 1
		}
		if d < bestDistance {
			best, bestDistance = known, d
		}
	}
	return best
}

// inNamesOf spells a pattern with the names found at its places in a key.
func (p *pattern) inNamesOf(parts []string) string {
	out := make([]string, 0, len(parts))
	for i, want := range p.parts {
		switch {
		case want == "*" && i < len(parts):
			return strings.Join(append(out, parts[i:]...), ".")
		case want == "<n>" && i < len(parts) && len(parts) > 1:
			out = append(out, parts[i])
		default:
			out = append(out, want)
		}
	}
	return strings.Join(out, ".")
}

// distance counts the insertions, deletions, replacements and swaps of
// neighbours between two words (optimal string alignment).
func distance(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	now := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		now[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			now[j] = min(last[j]+1, now[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				now[j] = min(now[j], before[j-2]+1)
			}
		}
		before, last, now = last, now, before
	}
	return last[len(b)]
}
