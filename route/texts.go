package route

import (
	"fmt"
	"strings"
)

// Every text that a client may read is made here. Clients replay writes upon
// certain words (Apache Hive, RetryingMetaStoreClient: a MetaException that
// mentions a transport, protocol or JDO exception; Apache Spark,
// HiveClientImpl: those and application exceptions), so none may hold them,
// not even inside a name the client sent: see quote.

// textCatalogAgainstDB: a catName and a db that name two catalogs.
func textCatalogAgainstDB(cat, db []byte) string {
	return fmt.Sprintf("Request has conflicting catalog and database namespace: catName='%s', dbName='%s'",
		quote(cat), quote(db))
}

// textConflict: two names of two catalogs.
func textConflict(a, b []byte) string {
	return fmt.Sprintf("Request contains conflicting namespace hints: '%s' and '%s'", quote(a), quote(b))
}

// textUnowned: a write that names no database while there are several catalogs.
func textUnowned(method string) string {
	return fmt.Sprintf("Operation %s requires explicit namespace ownership for deterministic routing; "+
		"use explicit catalog.db naming or a catalog-aware request so the proxy can fail safely "+
		"instead of guessing a target catalog", method)
}

// textAcidElsewhere: transactions live on the default catalog.
func textAcidElsewhere(method string, cat, def *Catalog) string {
	return fmt.Sprintf("ACID transactional operation '%s' is not supported for non-default catalog '%s'. "+
		"Transaction management is only available in the default catalog '%s'", method, cat.Name, def.Name)
}

// textElsewhere: an operation of the default catalog alone.
func textElsewhere(method string, cat, def *Catalog) string {
	return fmt.Sprintf("Operation '%s' is only available in the default catalog '%s', the request names catalog '%s'",
		method, def.Name, cat.Name)
}

// textHintWrite: a write whose only sign of its catalog is a catName or @cat#.
func textHintWrite(method string, cat *Catalog) string {
	return fmt.Sprintf("Operation '%s' names catalog '%s' by its catalog field alone; writes need the database "+
		"written as %sdb (routing.catalog-hint-writes)", method, cat.Name, cat.prefix)
}

// textUnknownMethod is what a real metastore says (Apache Thrift, TBaseProcessor.process).
func textUnknownMethod(method []byte) string {
	return fmt.Sprintf("Invalid method name: '%s'", quote(method))
}

// textUnreachable begins the error of a backend that no URI led to.
func textUnreachable(catalog string) string {
	return fmt.Sprintf("catalog '%s': no metastore reachable", catalog)
}

// maxQuoted bounds how much of a client's name comes back in a text.
const maxQuoted = 256

// quote makes a name that a client sent fit for a text: bounded, valid UTF-8,
// no control characters, and no word that makes a client replay its call.
func quote(name []byte) string {
	cut := ""
	if len(name) > maxQuoted {
		name, cut = name[:maxQuoted], "..."
	}
	s := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(string(name), "?"))
	return strings.ReplaceAll(s, "Exception", "Exc.") + cut
}
