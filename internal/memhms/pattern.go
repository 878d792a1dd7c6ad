package memhms

import (
	"regexp"
	"strings"
)

// matcher compiles Hive's pattern of names: alternatives split at |, * any run of
// characters, everything else a regular expression, letter case aside (ObjectStore
// of 3.1: appendPatternCondition, replaceAll("\\*", ".*")). An empty pattern
// matches nothing; one that does not compile neither.
func matcher(pattern string) func(string) bool {
	var alts []*regexp.Regexp
	for _, p := range strings.Split(pattern, "|") {
		p = strings.ToLower(strings.TrimSpace(p))
		if p == "" {
			continue
		}
		re, err := regexp.Compile("^(?:" + strings.ReplaceAll(p, "*", ".*") + ")$")
		if err == nil {
			alts = append(alts, re)
		}
	}
	return func(name string) bool {
		for _, re := range alts {
			if re.MatchString(name) {
				return true
			}
		}
		return false
	}
}

func anything(string) bool { return true }

// patternOf is a matcher of a parameter; one that is absent restricts nothing.
func (c *call) patternOf(names ...string) func(string) bool {
	if !c.has(names...) {
		return anything
	}
	return matcher(c.str(names...))
}

var plainName = regexp.MustCompile(`^\w+$`)

// validName: letters, digits and underscores up to 3.1; 4.x takes more (seen).
func (s *Server) validName(name string) bool {
	return name != "" && (s.era.four || plainName.MatchString(name))
}
