package outbound

import (
	"fmt"
	"strings"

	"hmsgate/route"
)

const reasonImpersonation route.Reason = "impersonation"

// Texts that clients read. None may hold the words upon which they replay a
// call (package session, texts.go).

// textDenied says what the site has to do, as the Java proxy's does.
func textDenied(catalog, principal, user string) string {
	short, _, _ := strings.Cut(principal, "@")
	short, _, _ = strings.Cut(short, "/")
	return fmt.Sprintf("catalog '%s' does not let %s act for user '%s': its metastores need hadoop.proxyuser.%s.hosts and "+
		"hadoop.proxyuser.%s.groups or .users that allow it, or here catalog.%s.impersonation-enabled=false",
		catalog, principal, user, short, short, catalog)
}

// textNoName: the name cannot be passed on.
func textNoName(catalog string) string {
	return fmt.Sprintf("catalog '%s' is used as its callers, and the caller's user name is empty, too long or not printable", catalog)
}
