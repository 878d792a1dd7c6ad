package digest

import (
	"strings"

	"hmsgate/sasl"
)

// A directive is one name=value of a challenge or response.
type directive struct{ name, value string }

// parse takes a list of directives apart (RFC 2831, 7.1): values quoted or
// not, in any order, names in any case, empty elements allowed. A name may
// occur once, but for realm in a challenge.
//
//	name "=" ( token / '"' *( char / "\" char ) '"' ) *( "," ... )
func parse(s string, realms bool) ([]directive, error) {
	var list []directive
	for i := 0; ; {
		for i < len(s) && (s[i] == ',' || isSpace(s[i])) {
			i++
		}
		if i == len(s) {
			return list, nil
		}
		j := i
		for j < len(s) && isToken(s[j]) {
			j++
		}
		name := strings.ToLower(s[i:j])
		for j < len(s) && isSpace(s[j]) {
			j++
		}
		if name == "" || j == len(s) || s[j] != '=' {
			return nil, sasl.Errorf(sasl.Protocol, "no directive at byte %d", i)
		}
		j++
		for j < len(s) && isSpace(s[j]) {
			j++
		}
		value, next, err := parseValue(s, j)
		if err != nil {
			return nil, err
		}
		for next < len(s) && isSpace(s[next]) {
			next++
		}
		if next < len(s) && s[next] != ',' {
			return nil, sasl.Errorf(sasl.Protocol, "no comma at byte %d", next)
		}
		for _, d := range list {
			if d.name == name && !(realms && name == "realm") {
				return nil, sasl.Errorf(sasl.Protocol, "directive %q occurs twice", name)
			}
		}
		if list = append(list, directive{name, value}); len(list) > maxDirectives {
			return nil, sasl.Errorf(sasl.Limit, "more than %d directives", maxDirectives)
		}
		i = next
	}
}

func parseValue(s string, i int) (value string, next int, err error) {
	if i == len(s) || s[i] != '"' {
		j := i
		for j < len(s) && isToken(s[j]) {
			j++
		}
		return s[i:j], j, nil
	}
	var b []byte
	for i++; i < len(s); i++ {
		switch c := s[i]; c {
		case '"':
			return string(b), i + 1, nil
		case '\\':
			if i++; i == len(s) {
				continue
			}
			b = append(b, s[i])
		default:
			b = append(b, c)
		}
	}
	return "", 0, sasl.Errorf(sasl.Protocol, "quoted value without an end")
}

const maxDirectives = 32

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// isToken: more than RFC 2616's tokens, since peers send base64 unquoted.
func isToken(c byte) bool {
	return c > ' ' && c < 0x7f && c != ',' && c != '"' && c != '=' || c >= 0x80
}

// find returns the value of a directive and whether it is there.
func find(list []directive, name string) (string, bool) {
	for _, d := range list {
		if d.name == name {
			return d.value, true
		}
	}
	return "", false
}

// quote appends name="value".
func quote(dst []byte, name, value string) []byte {
	dst = append(append(dst, name...), '=', '"')
	for i := 0; i < len(value); i++ {
		if value[i] == '"' || value[i] == '\\' {
			dst = append(dst, '\\')
		}
		dst = append(dst, value[i])
	}
	return append(dst, '"')
}

// words splits the value of qop or cipher.
func words(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return r == ',' || r == ' ' || r == '\t' })
}

func contains(list []string, w string) bool {
	for _, x := range list {
		if x == w {
			return true
		}
	}
	return false
}
