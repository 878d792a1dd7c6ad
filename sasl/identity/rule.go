package identity

import (
	"regexp"
	"strconv"
	"strings"

	"hmsgate/sasl"
)

// ruleShape is the grammar of one rule (Hadoop, KerberosName.ruleParser):
//
//	DEFAULT
//	RULE:[n:format](match)s/from/to/g/L
//
// match cannot contain a closing parenthesis, from and to no slash; a site's
// rules mean the same here and there.
var ruleShape = regexp.MustCompile(`^\s*((DEFAULT)|(RULE:\[(\d*):([^\]]*)](\(([^)]*)\))?(s/([^/]*)/([^/]*)/(g)?)?))/?(L)?`)

// rule is one compiled rule of hadoop.security.auth_to_local.
type rule struct {
	isDefault  bool
	components int
	format     []piece
	match      *regexp.Regexp // of the whole formatted text; nil: any
	from       *regexp.Regexp // nil: no replacement
	to         []piece
	all, lower bool
	text       string
}

// piece is literal text, or the n-th parameter or group.
type piece struct {
	text string
	n    int // -1: text
}

// parseRules compiles a list of rules, which need nothing between them.
func parseRules(s string) ([]rule, error) {
	var list []rule
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		m := ruleShape.FindStringSubmatch(s)
		if m == nil {
			return nil, sasl.Errorf(sasl.Name, "auth_to_local: no rule at %q: want DEFAULT or RULE:[n:format](match)s/from/to/", head(s))
		}
		s = s[len(m[0]):]
		r, err := compile(m)
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, nil
}

func head(s string) string { return s[:min(len(s), 60)] }

func compile(m []string) (rule, error) {
	r := rule{text: strings.TrimSpace(m[0])}
	if m[2] != "" {
		r.isDefault = true
		return r, nil
	}
	var err error
	if r.components, err = strconv.Atoi(m[4]); err != nil || r.components < 1 || r.components > 2 {
		return r, sasl.Errorf(sasl.Name, "auth_to_local rule %q: %q components, allowed are 1 and 2", r.text, m[4])
	}
	if r.format, err = parseFormat(m[5], r.components); err != nil {
		return r, sasl.Errorf(sasl.Name, "auth_to_local rule %q: %w", r.text, err)
	}
	if m[6] != "" {
		if r.match, err = compileJava(`\A(?:` + m[7] + `)\z`); err != nil {
			return r, sasl.Errorf(sasl.Name, "auth_to_local rule %q: %w", r.text, err)
		}
	}
	if m[8] != "" {
		if r.from, err = compileJava(m[9]); err == nil {
			r.to, err = parseReplacement(m[10], r.from)
		}
		if err != nil {
			return r, sasl.Errorf(sasl.Name, "auth_to_local rule %q: %w", r.text, err)
		}
	}
	r.all, r.lower = m[11] == "g", m[12] == "L"
	return r, nil
}

// compileJava compiles a Java pattern. Look-around and back-references, which
// RE2 lacks, are an error here, when the configuration is read.
func compileJava(s string) (*regexp.Regexp, error) { return regexp.Compile(s) }

// parseFormat: "$0" is the realm, "$1" and "$2" the components.
func parseFormat(s string, components int) ([]piece, error) {
	var list []piece
	for s != "" {
		i := strings.IndexByte(s, '$')
		if i < 0 {
			return append(list, piece{s, -1}), nil
		}
		if i > 0 {
			list = append(list, piece{s[:i], -1})
		}
		s = s[i+1:]
		j := digits(s)
		n, err := strconv.Atoi(s[:j])
		if err != nil || n > components {
			return nil, sasl.Errorf(sasl.Name, "$%s in a format: allowed are $0 to $%d", s[:j], components)
		}
		list, s = append(list, piece{n: n}), s[j:]
	}
	return list, nil
}

func digits(s string) int {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return i
}

// parseReplacement reads Java's replacement text (Matcher.appendReplacement):
// "$" and a group number of as many digits as make a group that exists, or
// "${name}"; "\" takes the next character as it is.
func parseReplacement(s string, from *regexp.Regexp) ([]piece, error) {
	var list []piece
	var lit strings.Builder
	flush := func() {
		if lit.Len() > 0 {
			list = append(list, piece{lit.String(), -1})
			lit.Reset()
		}
	}
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '\\':
			if i+1 == len(s) {
				return nil, sasl.Errorf(sasl.Name, "replacement %q ends with a backslash", s)
			}
			lit.WriteByte(s[i+1])
			i += 2
		case c == '$':
			n, used, err := parseGroup(s[i+1:], from)
			if err != nil {
				return nil, err
			}
			flush()
			list = append(list, piece{n: n})
			i += 1 + used
		default:
			lit.WriteByte(c)
			i++
		}
	}
	flush()
	return list, nil
}

func parseGroup(s string, from *regexp.Regexp) (n, used int, err error) {
	if strings.HasPrefix(s, "{") {
		if end := strings.IndexByte(s, '}'); end > 0 {
			if n = from.SubexpIndex(s[1:end]); n >= 0 {
				return n, end + 1, nil
			}
		}
		return 0, 0, sasl.Errorf(sasl.Name, "no group %q", s)
	}
	if digits(s) == 0 {
		return 0, 0, sasl.Errorf(sasl.Name, "$ without a group number in a replacement")
	}
	n = int(s[0] - '0')
	for used = 1; used < len(s) && s[used] >= '0' && s[used] <= '9'; used++ {
		more := n*10 + int(s[used]-'0')
		if more > from.NumSubexp() {
			break
		}
		n = more
	}
	if n > from.NumSubexp() {
		return 0, 0, sasl.Errorf(sasl.Name, "no group %d", n)
	}
	return n, used, nil
}

// apply returns the name and whether the rule fits. params: realm, components.
func (r *rule) apply(params []string, defaultRealm string) (string, bool) {
	if r.isDefault {
		return params[1], params[0] == defaultRealm
	}
	if len(params)-1 != r.components {
		return "", false
	}
	var b strings.Builder
	for _, p := range r.format {
		if p.n < 0 {
			b.WriteString(p.text)
		} else {
			b.WriteString(params[p.n])
		}
	}
	s := b.String()
	if r.match != nil && !r.match.MatchString(s) {
		return "", false
	}
	if r.from != nil {
		s = r.replace(s)
	}
	return s, true
}

// replace replaces the first match, or all.
func (r *rule) replace(s string) string {
	n := 1
	if r.all {
		n = -1
	}
	var b strings.Builder
	last := 0
	for _, m := range r.from.FindAllStringSubmatchIndex(s, n) {
		b.WriteString(s[last:m[0]])
		for _, p := range r.to {
			if p.n < 0 {
				b.WriteString(p.text)
			} else if m[2*p.n] >= 0 {
				b.WriteString(s[m[2*p.n]:m[2*p.n+1]])
			}
		}
		last = m[1]
	}
	return b.String() + s[last:]
}
