package config

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// shape is the form in which a value was written.
type shape int

const (
	scalar shape = iota
	list         // a YAML sequence
	bare         // a YAML key with nothing, or an empty map, behind it
)

// entry is one key of a file as it was written.
type entry struct {
	key   string
	value string
	items []string // of a list
	shape shape
	line  int

	inherited string // the key as written, where backend.conf spoke for a catalog
}

// written is the key as it stands in the file.
func (e *entry) written() string {
	if e.inherited != "" {
		return e.inherited
	}
	return e.key
}

// parseProperties reads the syntax of java.util.Properties.load: comments
// with # and !, a key up to the first unescaped =, : or blank, lines joined by
// a backslash at their end, and the escapes \t \n \r \f \uXXXX.
//
// Java reads the bytes as ISO 8859-1 or, through a Reader, as UTF-8. Valid
// UTF-8 is taken as such here, anything else byte by byte.
func parseProperties(name string, data []byte) ([]entry, Errors) {
	p := propertiesReader{name: name, text: decodeText(data), line: 1}
	var out []entry
	for {
		text, line, ok := p.logicalLine()
		if !ok {
			return out, p.errs
		}
		key, value := splitProperty(text)
		k, errK := unescape(key)
		v, errV := unescape(value)
		if errK != "" || errV != "" {
			p.errs = append(p.errs, &Error{File: name, Line: line, Key: k, Problem: "has a malformed escape " +
				strconv.QuoteToASCII(errK+errV), Allowed: `\u and four hexadecimal digits`})
			continue
		}
		if k == "" {
			p.errs = append(p.errs, &Error{File: name, Line: line, Problem: "the line has no key", Allowed: "key=value"})
			continue
		}
		out = append(out, entry{key: k, value: strings.TrimSpace(v), line: line})
	}
}

func decodeText(data []byte) string {
	text := strings.TrimPrefix(string(data), "\xef\xbb\xbf")
	if utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		b.WriteRune(rune(text[i]))
	}
	return b.String()
}

type propertiesReader struct {
	name string
	text string
	line int // of the next line
	errs Errors
}

// natural cuts off one line as it stands in the file.
func (p *propertiesReader) natural() string {
	i := strings.IndexAny(p.text, "\r\n")
	if i < 0 {
		s := p.text
		p.text = ""
		return s
	}
	s := p.text[:i]
	if strings.HasPrefix(p.text[i:], "\r\n") {
		i++
	}
	p.text = p.text[i+1:]
	p.line++
	return s
}

const propertyBlanks = " \t\f"

// logicalLine gives the next line that is neither blank nor a comment, with
// its continuations, and the number of its first line.
func (p *propertiesReader) logicalLine() (text string, line int, ok bool) {
	for p.text != "" {
		line = p.line
		s := strings.TrimLeft(p.natural(), propertyBlanks)
		if s == "" || s[0] == '#' || s[0] == '!' {
			continue
		}
		var b strings.Builder
		for continued(s) && p.text != "" {
			b.WriteString(s[:len(s)-1])
			s = strings.TrimLeft(p.natural(), propertyBlanks)
		}
		if continued(s) { // nothing follows
			s = s[:len(s)-1]
		}
		b.WriteString(s)
		if b.Len() == 0 {
			continue
		}
		return b.String(), line, true
	}
	return "", 0, false
}

// continued reports an odd number of backslashes at the end.
func continued(s string) bool {
	n := len(s) - len(strings.TrimRight(s, `\`))
	return n%2 == 1
}

// splitProperty cuts a logical line at its separator, escapes still in place.
func splitProperty(s string) (key, value string) {
	end := len(s)
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' {
			i++
			continue
		}
		if strings.IndexByte("=:"+propertyBlanks, s[i]) >= 0 {
			end = i
			break
		}
	}
	key, value = s[:end], strings.TrimLeft(s[end:], propertyBlanks)
	if value != "" && (value[0] == '=' || value[0] == ':') {
		value = strings.TrimLeft(value[1:], propertyBlanks)
	}
	return key, value
}

// unescape resolves the escapes; bad is the first one that is malformed.
func unescape(s string) (text, bad string) {
	if !strings.Contains(s, `\`) {
		return s, ""
	}
	var units []uint16 // Java's characters, so that surrogate pairs join
	for i := 0; i < len(s); {
		if s[i] != '\\' || i+1 == len(s) {
			r, n := utf8.DecodeRuneInString(s[i:])
			units = utf16.AppendRune(units, r)
			i += n
			continue
		}
		i++
		switch c := s[i]; c {
		case 't', 'n', 'r', 'f':
			units = append(units, uint16("\t\n\r\f"[strings.IndexByte("tnrf", c)]))
			i++
		case 'u':
			end := min(i+5, len(s))
			v, err := strconv.ParseUint(s[i+1:end], 16, 16)
			if err != nil || end != i+5 {
				return s, s[i-1 : end]
			}
			units = append(units, uint16(v))
			i = end
		default: // the backslash goes, the character stays
			r, n := utf8.DecodeRuneInString(s[i:])
			units = utf16.AppendRune(units, r)
			i += n
		}
	}
	return string(utf16.Decode(units)), ""
}
