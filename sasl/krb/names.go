package krb

import (
	"strings"

	"github.com/jcmturner/gokrb5/v8/types"

	"hmsgate/sasl"
)

const (
	nameMax       = 256
	componentsMax = 3
)

// fullName spells a principal, and refuses one whose spelling could be taken
// for another's: a component with a slash or an at sign.
func fullName(n types.PrincipalName, realm string) (string, error) {
	if len(n.NameString) == 0 || len(n.NameString) > componentsMax {
		return "", sasl.Errorf(sasl.Name, "principal of %d components", len(n.NameString))
	}
	for _, part := range append([]string{realm}, n.NameString...) {
		if part == "" || len(part) > nameMax {
			return "", sasl.Errorf(sasl.Name, "part of a principal has %d bytes", len(part))
		}
		for i := 0; i < len(part); i++ {
			if c := part[i]; c <= ' ' || c == 0x7f || c == '@' || c == '/' {
				return "", sasl.Errorf(sasl.Name, "part of a principal is %q", part)
			}
		}
	}
	return strings.Join(n.NameString, "/") + "@" + realm, nil
}

// splitPrincipal takes "a/b@REALM" apart.
func splitPrincipal(s string) (types.PrincipalName, string, error) {
	name, realm, ok := strings.Cut(s, "@")
	p := types.PrincipalName{NameType: 1, NameString: strings.Split(name, "/")}
	if !ok {
		return p, "", sasl.Errorf(sasl.Name, "principal %q has no realm: want name@REALM or service/host@REALM", s)
	}
	if full, err := fullName(p, realm); err != nil {
		return p, "", err
	} else if full != s {
		return p, "", sasl.Errorf(sasl.Name, "principal %q is not plain", s)
	}
	return p, realm, nil
}
