package memhms

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// filter is a parsed filter of partitions or tables: comparisons of a key with a
// constant, joined by and, or, parentheses (Filter.g of Hive 3.1).
type filter struct {
	and, or []*filter // of a joint
	key, op string    // of a comparison
	value   string
	list    []string // of in
	sqlLike bool     // like knows % and _ as well
}

// field is what a key means for one object.
type field struct {
	text   string
	number bool // compared as a number
	absent bool // matches nothing
}

// parser is a recursive descent over tokens.
type parser struct {
	s    *Server
	toks []token
}

type token struct {
	kind byte // 'k' key, 's' string, 'n' number, 'o' operator, '(' ')' ',' or 0 at the end
	text string
}

var lexeme = regexp.MustCompile(`^(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|(-?\d+(?:\.\d+)?)|(<=|>=|!=|<>|=|<|>)|([(),])|([A-Za-z_][\w.\-]*|` + "`[^`]+`" + `))`)

func lex(in string) ([]token, bool) {
	var out []token
	for {
		in = strings.TrimLeftFunc(in, unicode.IsSpace)
		if in == "" {
			return append(out, token{}), true
		}
		m := lexeme.FindStringSubmatch(in)
		if m == nil {
			return nil, false
		}
		in = in[len(m[0]):]
		switch {
		case m[3] != "":
			out = append(out, token{'n', m[3]})
		case m[4] != "":
			out = append(out, token{'o', strings.Replace(m[4], "<>", "!=", 1)})
		case m[5] != "":
			out = append(out, token{m[5][0], m[5]})
		case m[6] != "":
			out = append(out, word(strings.Trim(m[6], "`")))
		default:
			out = append(out, token{'s', m[1] + m[2]})
		}
	}
}

func word(w string) token {
	switch l := strings.ToLower(w); l {
	case "and", "or", "like", "in", "not", "between":
		return token{'o', l}
	}
	return token{'k', w}
}

// parseFilter's errors carry the texts of the two grammars: ANTLR 3 up to 3.1,
// ANTLR 4 from 4.0 (seen).
func (s *Server) parseFilter(text string) (*filter, error) {
	if strings.TrimSpace(text) == "" {
		return &filter{and: []*filter{}}, nil
	}
	toks, ok := lex(text)
	p := &parser{s, toks}
	if !ok {
		return nil, p.refuse(token{})
	}
	f, err := p.joint()
	if err == nil && p.toks[0].kind != 0 {
		err = p.refuse(p.toks[0])
	}
	return f, err
}

var expected = "{'-', 'DATE', 'TIMESTAMP', STRING, INTEGER_VALUE, DATE_VALUE, TIMESTAMP_VALUE}"

func (p *parser) refuse(t token) error {
	if p.s.era.four {
		if t.kind == 0 {
			return throw(meta, "Error parsing partition filter: lexer error: mismatched input '<EOF>' expecting %s",
				expected)
		}
		return throw(meta, "Error parsing partition filter: lexer error: extraneous input '%s' expecting %s", t.text,
			expected)
	}
	// The numbers are those of FilterParser's tokens: -1 end, 9 EQUAL.
	n := map[string]int{"": -1, "=": 9}
	code, known := n[t.text]
	if !known {
		code = 0
	}
	return throw(meta, "Error parsing partition filter; lexer error: null; exception NoViableAltException(%d@[])", code)
}

func (p *parser) take() token {
	t := p.toks[0]
	if t.kind != 0 {
		p.toks = p.toks[1:]
	}
	return t
}

func (p *parser) sees(op string) bool {
	if p.toks[0].kind == 'o' && p.toks[0].text == op {
		p.toks = p.toks[1:]
		return true
	}
	return false
}

func (p *parser) joint() (*filter, error) {
	out := &filter{}
	for {
		all := &filter{and: []*filter{}}
		for {
			f, err := p.term()
			if err != nil {
				return nil, err
			}
			all.and = append(all.and, f)
			if !p.sees("and") {
				break
			}
		}
		out.or = append(out.or, all)
		if !p.sees("or") {
			return out, nil
		}
	}
}

func (p *parser) term() (*filter, error) {
	t := p.take()
	switch t.kind {
	case '(':
		f, err := p.joint()
		if err == nil && p.toks[0].kind != ')' {
			err = p.refuse(p.toks[0])
		}
		p.take()
		return f, err
	case 'k':
		op := p.take()
		if op.kind != 'o' {
			return nil, p.refuse(op)
		}
		if op.text == "in" {
			return p.in(t.text)
		}
		v := p.take()
		if v.kind != 's' && v.kind != 'n' {
			return nil, p.refuse(v)
		}
		return &filter{key: t.text, op: op.text, value: v.text, sqlLike: p.s.era.four}, nil
	case 's', 'n': // the constant first
		op, k := p.take(), p.take()
		if op.kind != 'o' || k.kind != 'k' {
			return nil, p.refuse(op)
		}
		return &filter{key: k.text, op: mirrored(op.text), value: t.text}, nil
	}
	return nil, p.refuse(t)
}

func (p *parser) in(key string) (*filter, error) {
	f := &filter{key: key, op: "in"}
	if t := p.take(); t.kind != '(' {
		return nil, p.refuse(t)
	}
	for {
		v := p.take()
		if v.kind != 's' && v.kind != 'n' {
			return nil, p.refuse(v)
		}
		f.list = append(f.list, v.text)
		switch t := p.take(); t.kind {
		case ')':
			return f, nil
		case ',':
		default:
			return nil, p.refuse(t)
		}
	}
}

func mirrored(op string) string {
	if m, ok := map[string]string{"<": ">", ">": "<", "<=": ">=", ">=": "<="}[op]; ok {
		return m
	}
	return op
}

// match asks look for the meaning of each key.
func (f *filter) match(look func(key string) (field, error)) (bool, error) {
	switch {
	case f.key != "":
		v, err := look(f.key)
		if err != nil || v.absent {
			return false, err
		}
		return f.compare(v), nil
	case f.and != nil:
		for _, g := range f.and {
			if ok, err := g.match(look); err != nil || !ok {
				return false, err
			}
		}
		return true, nil
	}
	for _, g := range f.or {
		if ok, err := g.match(look); err != nil || ok {
			return ok, err
		}
	}
	return false, nil
}

func (f *filter) compare(v field) bool {
	switch f.op {
	case "like":
		return f.like(v.text)
	case "in":
		for _, x := range f.list {
			if x == v.text {
				return true
			}
		}
		return false
	}
	n := order(v, f.value)
	switch f.op {
	case "=":
		return n == 0
	case "!=":
		return n != 0
	case "<":
		return n < 0
	case "<=":
		return n <= 0
	case ">":
		return n > 0
	case ">=":
		return n >= 0
	}
	return false
}

// like is a regular expression over the whole value (JDO's matches; seen), from 4.0
// on SQL's pattern as well (seen: "2024-01-0%" finds nothing at 3.1.3, all at 4.1.0).
func (f *filter) like(text string) bool {
	re, err := regexp.Compile("^(?:" + f.value + ")$")
	if err == nil && re.MatchString(text) {
		return true
	}
	sql := strings.NewReplacer("%", ".*", "_", ".").Replace(regexp.QuoteMeta(f.value))
	return f.sqlLike && regexp.MustCompile("^"+sql+"$").MatchString(text)
}

func order(v field, than string) int {
	if v.number {
		a, err1 := strconv.ParseFloat(v.text, 64)
		b, err2 := strconv.ParseFloat(than, 64)
		if err1 == nil && err2 == nil {
			switch {
			case a < b:
				return -1
			case a > b:
				return 1
			}
			return 0
		}
	}
	return strings.Compare(v.text, than)
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
