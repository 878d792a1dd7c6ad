package rewrite

import "bytes"

// Qualifier is what stands before a table or function in SQL: "db" or
// "cat.db", without quotes.
type Qualifier struct{ Cat, DB []byte }

// Qualifiers gives the other side's form of a qualifier; false leaves it as
// it stands. A nil Cat in the answer drops that part. What is returned is
// valid until the next call.
type Qualifiers interface {
	Qualify(q Qualifier) (Qualifier, bool)
}

// maxParens is how deep a text may nest parentheses to be read at all; no
// engine parses deeper ones.
const maxParens = 4096

// AppendSQL appends a view's text to dst, with the databases of its tables
// and qualified functions in the other side's form.
//
// It knows no grammar, only tokens: comments, literals, numbers, quoted and
// bare identifiers, and where a table stands (after FROM, JOIN, INTO, TABLE,
// UPDATE, and a comma in a FROM clause). Edited are chains of two or three
// identifiers there, and such chains before "(" anywhere: a function with its
// database. All else keeps its bytes. In a table's place the first of two
// parts is always read as a database: Hive, Spark and Trino do so, and an
// alias or CTE of that name takes no part (a CTE's own name has one part).
//
// A text that cannot be read (an open literal, comment, quote or parenthesis,
// a variable "${x}" that nobody has put in) is appended unchanged; so are the
// views of Presto and Trino, which are one comment.
func AppendSQL(dst, text []byte, q Qualifiers) []byte {
	s := sqlScan{in: text, out: dst, q: q}
	if !s.run() {
		return append(dst, text...)
	}
	return append(s.out, text[s.done:]...)
}

// sqlLevel is what is known inside one pair of parentheses.
type sqlLevel uint8

const (
	tableNext sqlLevel = 1 << iota // a table is expected
	inFrom                         // tables were met: a comma brings another one
	inCall                         // of EXTRACT and the like: FROM means something else
)

// sqlScan is one run over a text.
type sqlScan struct {
	in    []byte
	i     int
	out   []byte
	done  int // in[:done] has been written
	q     Qualifiers
	now   sqlLevel
	outer []sqlLevel
	prev  sqlWord // the word before, when it was the last token
	name  []byte  // scratch for identifiers with doubled quotes
}

// sqlWord says what a word means for the places of tables.
type sqlWord uint8

const (
	otherWord    sqlWord = iota
	armWord              // a table follows
	endWord              // ends a FROM clause
	lateralWord          // before a subquery in a FROM clause, or before VIEW
	fromWord             // arms unless in a call, or in IS DISTINCT FROM
	callWord             // a function in whose call FROM separates arguments
	distinctWord         // IS [NOT] DISTINCT FROM compares
)

var sqlWords = map[string]sqlWord{
	"join": armWord, "into": armWord, "table": armWord, "update": armWord, "from": fromWord, "distinct": distinctWord,
	"extract": callWord, "trim": callWord, "substring": callWord, "substr": callWord, "position": callWord,
	"overlay": callWord, "lateral": lateralWord,

	"select": endWord, "where": endWord, "group": endWord, "order": endWord, "having": endWord, "union": endWord,
	"intersect": endWord, "except": endWord, "minus": endWord, "limit": endWord, "offset": endWord, "fetch": endWord,
	"window": endWord, "cluster": endWord, "distribute": endWord, "sort": endWord, "qualify": endWord, "set": endWord,
	"values": endWord, "insert": endWord, "overwrite": endWord, "delete": endWord, "merge": endWord, "with": endWord,
}

// longestWord is the longest word of sqlWords.
const longestWord = len("distribute")

// run scans to the end and says whether the text could be read.
func (s *sqlScan) run() bool {
	for s.i < len(s.in) {
		if !s.token() {
			return false
		}
	}
	return len(s.outer) == 0
}

// token moves over one token.
func (s *sqlScan) token() bool {
	c := s.in[s.i]
	if c <= ' ' || s.comment(s.i) {
		j, ok := s.blank(s.i)
		s.i = j
		return ok
	}
	switch {
	case c == '`' || startsWord(c):
		return s.chain()
	case c == '\'' || c == '"':
		s.now &^= tableNext
		s.prev = otherWord
		return s.literal(c)
	case c >= '0' && c <= '9':
		for s.i < len(s.in) && (inWord(s.in[s.i]) || s.in[s.i] == '.') {
			s.i++
		}
		s.now &^= tableNext
	case c == '(':
		if len(s.outer) == maxParens {
			return false
		}
		s.outer = append(s.outer, s.now)
		s.now &= tableNext // FROM (a.b JOIN c.d)
		if s.prev == callWord {
			s.now |= inCall
		}
		s.i++
	case c == ')':
		if len(s.outer) == 0 {
			return false
		}
		s.now = s.outer[len(s.outer)-1]
		s.outer = s.outer[:len(s.outer)-1]
		if s.now&tableNext != 0 { // a closed subquery is a table
			s.now = s.now&^tableNext | inFrom
		}
		s.i++
	case c == ',':
		if s.now &^= tableNext; s.now&inFrom != 0 {
			s.now |= tableNext
		}
		s.i++
	default:
		s.now &^= tableNext
		s.i++
	}
	s.prev = otherWord
	return true
}

// comment says whether a comment begins at i.
func (s *sqlScan) comment(i int) bool {
	return i+1 < len(s.in) && (s.in[i] == '-' && s.in[i+1] == '-' || s.in[i] == '/' && s.in[i+1] == '*')
}

// blank is the end of white space and comments from i on; false when a
// comment does not end.
func (s *sqlScan) blank(i int) (int, bool) {
	for i < len(s.in) {
		switch {
		case s.in[i] <= ' ':
			i++
		case !s.comment(i):
			return i, true
		case s.in[i] == '-':
			n := bytes.IndexByte(s.in[i:], '\n')
			if n < 0 {
				return len(s.in), true
			}
			i += n
		default:
			n := bytes.Index(s.in[i+2:], []byte("*/"))
			if n < 0 {
				return i, false
			}
			i += 2 + n + 2
		}
	}
	return i, true
}

// literal moves over '...' or "...": a backslash hides the next byte, but not
// in Spark's r'...'; a doubled quote reads as two literals, which is the same.
func (s *sqlScan) literal(quote byte) bool {
	raw := s.i > 0 && s.in[s.i-1]|0x20 == 'r' && (s.i == 1 || !inWord(s.in[s.i-2]))
	for i := s.i + 1; i < len(s.in); i++ {
		switch {
		case s.in[i] == quote:
			s.i = i + 1
			return true
		case s.in[i] == '\\' && !raw:
			i++
		}
	}
	return false
}

func startsWord(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == '@' || c == '#' || c == '$' || c >= 0x80
}

func inWord(c byte) bool { return startsWord(c) || c >= '0' && c <= '9' }

// sqlPart is one identifier of a chain.
type sqlPart struct {
	lo, hi int
	quoted bool
}

// part reads one identifier at i.
func (s *sqlScan) part(i int) (sqlPart, bool) {
	p := sqlPart{lo: i, hi: i}
	if s.in[i] != '`' {
		for p.hi < len(s.in) && inWord(s.in[p.hi]) {
			p.hi++
		}
		return p, p.hi == len(s.in) || s.in[p.hi] != '{' || s.in[p.hi-1] != '$' // ${x}: not SQL yet
	}
	p.quoted = true
	for p.hi++; p.hi < len(s.in); p.hi++ {
		if s.in[p.hi] != '`' {
			continue
		}
		p.hi++
		if p.hi == len(s.in) || s.in[p.hi] != '`' {
			return p, true
		}
	}
	return p, false
}

// chain moves over identifiers joined by dots, and edits them where they name
// a table or function.
func (s *sqlScan) chain() bool {
	var parts [4]sqlPart // the fourth stands for all further ones
	n, at := 0, s.i
	var next int
	for ok := true; ; n++ {
		p := &parts[min(n, len(parts)-1)]
		if *p, ok = s.part(at); !ok {
			return false
		}
		s.i = p.hi
		if next, ok = s.blank(p.hi); !ok {
			return false
		}
		if next == len(s.in) || s.in[next] != '.' {
			break
		}
		if at, ok = s.blank(next + 1); !ok {
			return false
		}
		if at == len(s.in) || s.in[at] != '`' && !inWord(s.in[at]) {
			break // t.*
		}
	}
	n++
	if n == 1 && !parts[0].quoted {
		if w := s.meaning(s.in[parts[0].lo:parts[0].hi]); w != otherWord {
			s.keyword(w)
			return true
		}
	}
	table := s.now&tableNext != 0
	if table {
		s.now = s.now&^tableNext | inFrom
	}
	s.prev = otherWord
	call := next < len(s.in) && s.in[next] == '('
	if n > 1 && n < len(parts) && (call || table && !s.isPath(parts[n-1])) {
		s.edit(parts[:n])
	}
	return true
}

// meaning looks a word up, letter case aside.
func (s *sqlScan) meaning(word []byte) sqlWord {
	var low [longestWord]byte
	if len(word) > len(low) {
		return otherWord
	}
	for i, c := range word {
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		low[i] = c
	}
	return sqlWords[string(low[:len(word)])]
}

func (s *sqlScan) keyword(w sqlWord) {
	switch w {
	case fromWord:
		if s.now&inCall == 0 && s.prev != distinctWord {
			s.now |= tableNext
		}
	case armWord:
		s.now |= tableNext
	case endWord:
		s.now &= inCall
	case lateralWord:
		if s.now&tableNext == 0 {
			s.now &= inCall
		}
	case callWord:
		if s.now&tableNext != 0 { // a table of that name
			s.now = s.now&^tableNext | inFrom
		}
	}
	s.prev = w
}

// isPath says whether a quoted name is a file's: Spark reads parquet.`/a/b`,
// and no metastore accepts a table with a slash in its name.
func (s *sqlScan) isPath(p sqlPart) bool {
	return p.quoted && bytes.IndexByte(s.in[p.lo:p.hi], '/') >= 0
}

// edit writes a chain's qualifier as the other side spells it.
func (s *sqlScan) edit(parts []sqlPart) {
	db := parts[len(parts)-2]
	s.name = s.name[:0]
	old := Qualifier{DB: s.bare(db)}
	if len(parts) == 3 {
		old.Cat = s.bare(parts[0])
	}
	q, ok := s.q.Qualify(old)
	switch {
	case !ok:
	case old.Cat == nil || q.Cat == nil:
		s.write(sqlPart{parts[0].lo, db.hi, db.quoted}, q.DB)
	default:
		if !bytes.Equal(old.Cat, q.Cat) {
			s.write(parts[0], q.Cat)
		}
		if !bytes.Equal(old.DB, q.DB) {
			s.write(db, q.DB)
		}
	}
}

// bare is an identifier without its quotes.
func (s *sqlScan) bare(p sqlPart) []byte {
	b := s.in[p.lo:p.hi]
	if !p.quoted {
		return b
	}
	b = b[1 : len(b)-1]
	if bytes.IndexByte(b, '`') < 0 {
		return b
	}
	at := len(s.name)
	for i := 0; i < len(b); i++ {
		s.name = append(s.name, b[i])
		if b[i] == '`' {
			i++
		}
	}
	return s.name[at:len(s.name):len(s.name)]
}

// write puts a name in a part's place, quoted as the part was, or where the
// name cannot stand bare.
func (s *sqlScan) write(p sqlPart, name []byte) {
	s.out = append(s.out, s.in[s.done:p.lo]...)
	s.done = p.hi
	if !p.quoted && plainIdentifier(name) {
		s.out = append(s.out, name...)
		return
	}
	s.out = append(s.out, '`')
	for _, c := range name {
		if c == '`' {
			s.out = append(s.out, '`')
		}
		s.out = append(s.out, c)
	}
	s.out = append(s.out, '`')
}

func plainIdentifier(name []byte) bool {
	for i, c := range name {
		if !inWord(c) || i == 0 && c >= '0' && c <= '9' {
			return false
		}
	}
	return len(name) > 0
}
