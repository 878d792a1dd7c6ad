package identity

import (
	"strings"

	"hmsgate/sasl"
)

// Mapping turns full Kerberos names into short ones by
// hadoop.security.auth_to_local.
type Mapping struct {
	rules []rule
	realm string // DEFAULT's
	mit   bool   // a name no rule fits is returned whole
}

// NewMapping compiles rules ("": DEFAULT). mechanism is hadoop (or "") or mit.
// A realm is needed when DEFAULT is used: with an empty one every login would
// fail or, worse, match.
func NewMapping(rules, defaultRealm, mechanism string) (*Mapping, error) {
	if strings.TrimSpace(rules) == "" {
		rules = "DEFAULT"
	}
	list, err := parseRules(rules)
	if err != nil {
		return nil, err
	}
	m := &Mapping{rules: list, realm: defaultRealm}
	switch strings.ToLower(mechanism) {
	case "", "hadoop":
	case "mit":
		m.mit = true
	default:
		return nil, sasl.Errorf(sasl.Name, "auth_to_local mechanism %q: allowed are hadoop, mit", mechanism)
	}
	for _, r := range list {
		if r.isDefault && defaultRealm == "" {
			return nil, sasl.Errorf(sasl.Name, "auth_to_local uses DEFAULT, but no default realm is set")
		}
	}
	return m, nil
}

// split takes "first[/second][@realm]" apart (Hadoop, KerberosName.nameParser).
// ok is false for a name of another shape.
func split(name string) (first, second, realm string, ok bool) {
	rest, realm, hasRealm := strings.Cut(name, "@")
	first, second, hasSecond := strings.Cut(rest, "/")
	ok = first != "" && !strings.ContainsAny(second, "/") && !strings.ContainsAny(realm, "/@") &&
		!(hasSecond && second == "") && !(hasRealm && realm == "")
	return first, second, realm, ok
}

// Short maps a name. A name without realm and second part is short already.
func (m *Mapping) Short(name string) (string, error) {
	first, second, realm, ok := split(name)
	if !ok {
		return "", sasl.Errorf(sasl.Name, "%q is not a Kerberos name", name)
	}
	params := []string{realm, first}
	if second != "" {
		params = append(params, second)
	} else if realm == "" {
		return first, nil
	}
	for i := range m.rules {
		r := &m.rules[i]
		s, fits := r.apply(params, m.realm)
		if !fits {
			continue
		}
		if !m.mit && strings.ContainsAny(s, "/@") {
			return "", sasl.Errorf(sasl.Name, "%q becomes %q by rule %s, which is not a short name", name, s, r.text)
		}
		if s == "" {
			return "", sasl.Errorf(sasl.Name, "%q becomes nothing by rule %s", name, r.text)
		}
		if r.lower {
			s = strings.ToLower(s)
		}
		return s, nil
	}
	if m.mit {
		return name, nil
	}
	return "", sasl.Errorf(sasl.Name, "no auth_to_local rule fits %q", name)
}
