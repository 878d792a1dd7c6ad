package config

import (
	"fmt"
	"strconv"
	"strings"

	"hmsgate/route"
)

// dummyDatabase is the database HiveServer2 invents for rows without a table
// (SemanticAnalyzer.DUMMY_DATABASE). It belongs to no catalog.
const dummyDatabase = "_dummy_database"

// check looks for contradictions, which no single key shows.
func (l *loader) check(c *Config) {
	l.checkSeparator(c)
	l.checkCatalogNames(c)
	l.checkCatalogs(c)
	l.checkDefaults(c)
	l.checkSlots(c)
	l.checkListeners(c)
	l.checkLoops(c)
	l.checkLocks(c)
	l.checkSecurity(c)
	l.checkSecure(c)
	if c.Limits.HeldTotal < c.Limits.HeldCall {
		total, call := l.get("limits.held-total", ""), l.get("limits.held-call", "")
		if total.derived {
			l.failAt(call, "is larger than limits.held-total, which is "+total.value, "limits.held-call of at most limits.held-total")
		} else {
			l.failAt(total, "is smaller than limits.held-call, which is "+call.value, "limits.held-total of at least limits.held-call")
		}
	}
	if !validPrefix(c.MetricsPrefix) {
		l.failAt(l.get("metrics.prefix", ""), "is no beginning of a metric name", "letters, digits and _, no digit first")
	}
}

func validPrefix(s string) bool {
	for i := 0; i < len(s); i++ {
		digit := s[i] >= '0' && s[i] <= '9'
		if s[i] != '_' && !letterOrDigit(s[i]) || digit && i == 0 {
			return false
		}
	}
	return true
}

func (l *loader) checkSeparator(c *Config) {
	s := l.get("routing.catalog-db-separator", "")
	switch err := route.CheckSeparator(c.Separator); {
	case err != nil:
		l.failAt(s, err.Error(), "such as __ or .")
	case c.Separator == "_":
		l.note(s.line, "warning", s.key, "many database names have a single _ in them; "+
			"those of the default catalog that begin with the name of another catalog cannot be reached")
	}
}

// checkCatalogNames: a namespace must have one meaning, whatever the letter
// case a client writes it in.
func (l *loader) checkCatalogNames(c *Config) {
	lower := make(map[string]string)
	prefixes := make(map[string]string)
	sep := strings.ToLower(c.Separator)
	for _, cat := range c.Catalogs {
		line, low := l.lineOf("catalog."+cat.Name, "catalogs"), strings.ToLower(cat.Name)
		key := "catalog." + cat.Name
		if low == dummyDatabase {
			l.fail(line, key, "", "has the name of the database Hive invents for queries without a table", "another name")
		}
		if sep != "" && strings.Contains(low, sep) {
			l.fail(line, key, "", "contains the separator "+strconv.Quote(c.Separator),
				"another name, or another routing.catalog-db-separator")
			continue
		}
		if other, ok := lower[low]; ok {
			l.fail(line, key, "", "differs from catalog."+other+" in letter case only",
				"names that differ when lower-cased, as Hive does")
			continue
		}
		lower[low] = cat.Name
		for p, other := range prefixes {
			if strings.HasPrefix(low+sep, p) || strings.HasPrefix(p, low+sep) {
				l.fail(line, key, "", "with its separator begins like catalog."+other+
					" with its own, so that a namespace could mean either",
					"another name, or another routing.catalog-db-separator")
			}
		}
		prefixes[low+sep] = cat.Name
	}
}

// lineOf gives the line of the first key below a prefix, or of another key.
func (l *loader) lineOf(prefix, otherwise string) int {
	line := l.nameLine[prefix]
	for key, s := range l.set {
		if strings.HasPrefix(key, prefix+".") && (line == 0 || s.line < line) {
			line = s.line
		}
	}
	if line == 0 {
		line = l.set[otherwise].line
	}
	return line
}

// checkCatalogs: what each catalog must have, and keys of catalogs that are
// not listed.
func (l *loader) checkCatalogs(c *Config) {
	if len(c.Catalogs) == 0 && !l.badNames {
		l.fail(0, "catalogs", "", "there is no catalog", "catalog.NAME.uris: thrift://host:port")
	} else if _, ok := l.set["catalogs"]; !ok && l.format == Properties {
		l.fail(0, "catalogs", "", "is not set", "the names of the catalogs, comma separated")
	}
	listed := make(map[string]bool)
	for _, cat := range c.Catalogs {
		listed[cat.Name] = true
	}
	for _, n := range l.catalogs {
		if validName(n) && !listed[n] {
			near := ""
			if s := closest(n, c.names()); s != "" {
				near = " (nearest: " + s + ")"
			}
			l.fail(l.lineOf("catalog."+n, ""), "catalog."+n, "", "is not in catalogs", strings.Join(c.names(), ", ")+near)
		}
	}
	for _, cat := range c.Catalogs {
		key := "catalog." + cat.Name
		uris := l.get(key+".uris", "")
		if len(cat.Addresses) == 0 && !l.blamed(key) {
			l.fail(l.lineOf(key, "catalogs"), key+".uris", "", "is not set", uriForm)
		}
		for i, a := range cat.Addresses {
			if contains(strings.Join(cat.Addresses[:i], ","), a) {
				l.failAt(uris, a+" is listed twice", "each metastore once")
			}
		}
		if cat.BackendCatalog == "" {
			l.failAt(l.get(key+".backend-catalog", ""), "is empty", "the name of the metastore's own catalog, such as hive")
		}
	}
}

// blamed reports whether the uris of a catalog were given but wrong, which is
// reported already.
func (l *loader) blamed(catalog string) bool {
	for _, e := range l.errs {
		key := e.Key
		if conf, ok := strings.CutPrefix(key, "backend."); ok {
			key = catalog + "." + conf
		}
		if m, ok := lookup(key); ok && m.row.kind == kindURIs && m.fill(m.row.key) == catalog+".uris" {
			return true
		}
	}
	return false
}

func (c *Config) names() []string {
	out := make([]string, len(c.Catalogs))
	for i := range c.Catalogs {
		out[i] = c.Catalogs[i].Name
	}
	return out
}

func (c *Config) has(catalog string) bool {
	for i := range c.Catalogs {
		if c.Catalogs[i].Name == catalog {
			return true
		}
	}
	return false
}

// closest gives the name a word was probably meant to be.
func closest(word string, names []string) string {
	best, most := "", max(2, len(word)/3)+1
	for _, n := range names {
		if d := distance(strings.ToLower(word), strings.ToLower(n)); d < most {
			best, most = n, d
		}
	}
	return best
}

// checkSlots: ids of two catalogs must be told apart. The default one's have
// no slot.
func (l *loader) checkSlots(c *Config) {
	taken := map[uint16]string{}
	for _, cat := range c.Catalogs {
		if strings.EqualFold(cat.Name, c.DefaultCatalog) {
			continue
		}
		slot, made := cat.IDSlot, ""
		if slot == 0 {
			slot, made = route.Slot(cat.Name), "made of its name, "
		}
		key := "catalog." + cat.Name + ".id-slot"
		if other, ok := taken[slot]; ok {
			line := l.lineOf("catalog."+cat.Name, "catalogs")
			if s, set := l.set[key]; set {
				line = s.line
			}
			l.fail(line, key, strconv.Itoa(int(slot)), made+"is the slot of catalog."+other+" too", "another number from 1 to 16383")
			continue
		}
		taken[slot] = cat.Name
	}
}

func (l *loader) checkDefaults(c *Config) {
	if len(c.Catalogs) == 0 {
		return
	}
	s := l.get("routing.default-catalog", c.DefaultCatalog)
	switch {
	case c.DefaultCatalog == "":
		l.fail(l.lineOf("catalog."+c.Catalogs[len(c.Catalogs)-1].Name, "catalogs"), s.key, "",
			fmt.Sprintf("is not set, and there are %d catalogs", len(c.Catalogs)), strings.Join(c.names(), ", "))
	case !c.has(c.DefaultCatalog):
		l.failAt(s, "is not a configured catalog", strings.Join(c.names(), ", "))
	}
	for _, ln := range c.Listeners[1:] {
		s, ok := l.set["listener."+ln.Name+".default-catalog"]
		if ok && !c.has(ln.DefaultCatalog) {
			l.failAt(s, "is not a configured catalog", strings.Join(c.names(), ", "))
		}
	}
}
