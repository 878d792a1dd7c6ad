package config

// Locks is how locks of several catalogs are kept.
type Locks struct {
	Mirrors  bool // locks at the default catalog are repeated at their owners
	AcidRead bool // Hive 4 clients too read transactional tables of other catalogs
}

// lockModes are the values of catalog.<n>.locks.
var lockModes = []string{"owner", "primary", "synthetic", "off"}

var lockRows = []row{
	{key: "gateway.instances", kind: kindInt, def: "0", max: 1 << 16,
		doc: "How many instances of the gateway serve these catalogs; 0 = not known. Locks of transactions and of " +
			"several catalogs are held at the default catalog's metastore. With 1 they are also repeated, as mirrors, " +
			"at the metastores of the catalogs they name, so that they hold against clients of those alone."},
	{key: "locks.acid-read", kind: kindChoice, def: "refuse", allowed: []string{"refuse", "unsafe"},
		doc: "Transactional tables of other catalogs read by Hive 4 clients, which compare compacted files with the " +
			"default catalog's transactions: refused, or allowed all the same. Older clients and Trino always may."},
}

// lockRow is the key of one catalog.
var lockRow = row{key: "catalog.<n>.locks", kind: kindChoice, def: lockModes[0], allowed: lockModes,
	doc: "Locks of a catalog that is not the default one: at its own metastore, and at the default catalog's for " +
		"transactions (owner); at the default catalog's alone (primary); granted without asking anybody (synthetic); " +
		"refused (off)."}

func (l *loader) locks() Locks {
	return Locks{Mirrors: l.int("gateway.instances", "") == 1, AcidRead: l.is("locks.acid-read", "unsafe")}
}

// lockMode is a catalog's place in lockModes.
func (l *loader) lockMode(catalog string) int {
	for i, m := range lockModes {
		if l.is("catalog."+catalog+".locks", m) {
			return i
		}
	}
	return 0
}

// checkLocks says when locks hold less than they could.
func (l *loader) checkLocks(c *Config) {
	if c.Locks.Mirrors {
		return
	}
	for _, cat := range c.Catalogs {
		if cat.Name != c.DefaultCatalog && cat.Locks == 0 && c.DefaultCatalog != "" {
			s := l.get("gateway.instances", "")
			l.note(s.line, "note", "gateway.instances", "mirrors of locks are off: locks that transactions take on other "+
				"catalogs do not hold against clients of those catalogs alone; 1 turns them on, where one instance is all there is")
			return
		}
	}
}
