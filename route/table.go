package route

import (
	"errors"
	"fmt"
	"sort"
	"strings"
)

// Config is what a Table is made of.
type Config struct {
	Catalogs  []CatalogConfig
	Default   string // may be left out when there is one catalog
	Separator string // between catalog and db in a namespace

	PreserveBackendCatalog bool // replies keep the backend's catName
	GlobalWritesAtDefault  bool // namespace-less writes go to the default catalog instead of being refused
	RefuseHintWrites       bool // writes that only a catName or @cat# sends to another catalog are refused
	RefuseUnknownMethods   bool // methods in no inventory are refused instead of forwarded
	RewriteViews           bool // names inside of views' texts and parameters are translated
	KeepOriginalText       bool // but not in the text as its author wrote it
}

// CatalogConfig is one catalog.
type CatalogConfig struct {
	Name           string
	URIs           []string // thrift://host:port or host:port
	RandomURIs     bool     // start at a random URI instead of the first
	BackendCatalog string   // the backend's own catalog, "hive" when empty
	Claims         []string // databases that clients name without the prefix
	IDSlot         uint16   // marks the catalog's lock and compaction ids; 0: made of its name
}

// Catalog is one backend group under its name.
type Catalog struct {
	Name           string
	BackendCatalog string

	backend *Backend
	index   int
	slot    uint16 // of its ids; 0 for the default catalog
	prefix  []byte // name and separator as configured; compared without case
	claims  []string
	hints   bool // a catName of this name routes
}

// Backend is where the catalog's metastores are.
func (c *Catalog) Backend() *Backend { return c.backend }

// Table is the immutable answer to "whose name is this". It is safe for
// concurrent use; another configuration is another Table.
type Table struct {
	cfg      Config
	catalogs []*Catalog // configured order
	longest  []*Catalog // longest prefix first
	def      *Catalog
	own      []string // names of backends' own catalogs, which give no hint
	claimed  map[string]*Catalog
	first    [256]bool // first bytes that a prefix can have
	special  [256]bool // first bytes that a name other than a plain bare one can have
}

// commonOwn are the names under which clients know a metastore's only catalog:
// Hive's default (Apache Hive, Warehouse.DEFAULT_CATALOG_NAME) and Spark's
// session catalog (Apache Spark, CatalogManager.SESSION_CATALOG_NAME).
var commonOwn = []string{"hive", "spark_catalog"}

// New checks a configuration and makes its table.
func New(cfg Config) (*Table, error) {
	if len(cfg.Catalogs) == 0 {
		return nil, fmt.Errorf("no catalog configured: at least one is needed")
	}
	if err := CheckSeparator(cfg.Separator); err != nil {
		return nil, fmt.Errorf("separator %q %w", cfg.Separator, err)
	}
	t := &Table{cfg: cfg, own: append([]string(nil), commonOwn...), claimed: map[string]*Catalog{}}
	for _, cc := range cfg.Catalogs {
		if err := t.add(cc); err != nil {
			return nil, err
		}
	}
	if err := t.setDefault(cfg.Default); err != nil {
		return nil, err
	}
	if err := t.setSlots(); err != nil {
		return nil, err
	}
	t.setOwn()
	if err := t.setClaims(); err != nil {
		return nil, err
	}
	t.longest = append([]*Catalog(nil), t.catalogs...)
	t.special = t.first
	t.special['@'], t.special[dummyDatabase[0]] = true, true
	sort.SliceStable(t.longest, func(i, j int) bool { return len(t.longest[i].prefix) > len(t.longest[j].prefix) })
	return t, nil
}

// CheckSeparator says why a text cannot stand between catalog and database,
// nil when it can. Letters and digits are parts of names; * | % ? are pattern
// characters of HMS and JDBC clients; @ # ! are Hive's own catalog notation
// (MetaStoreUtils.prependCatalogToDbName); a comma ends an item of a list of
// names, $ and : a write id list's parts; quotes are SQL's.
func CheckSeparator(sep string) error {
	if strings.TrimSpace(sep) == "" {
		return errors.New("is blank")
	}
	for _, c := range sep {
		if c <= ' ' || c > '~' || isAlnum(byte(c)) || strings.ContainsRune(meaningful, c) {
			return fmt.Errorf("has %+q in it: letters, digits, blanks, quotes and %s mean something in names and patterns",
				string(c), meaningful)
		}
	}
	return nil
}

// meaningful are the characters beside letters and digits that a separator
// cannot have.
const meaningful = "@#!*|%?$:,\\'\"`"

func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func (t *Table) add(cc CatalogConfig) error {
	if cc.Name == "" {
		return fmt.Errorf("catalog without a name")
	}
	for i := 0; i < len(cc.Name); i++ {
		if c := cc.Name[i]; !isAlnum(c) && c != '_' && c != '-' {
			return fmt.Errorf("catalog %q: %q is not allowed in a catalog name: letters, digits, _ and - are",
				cc.Name, string(c))
		}
	}
	if strings.Contains(cc.Name, t.cfg.Separator) {
		return fmt.Errorf("catalog %q: the name contains the separator %q", cc.Name, t.cfg.Separator)
	}
	for _, c := range t.catalogs {
		if strings.EqualFold(c.Name, cc.Name) {
			return fmt.Errorf("catalog %q: its name equals catalog %q up to letter case", cc.Name, c.Name)
		}
	}
	be, err := newBackend(cc)
	if err != nil {
		return err
	}
	c := &Catalog{Name: cc.Name, BackendCatalog: cc.BackendCatalog, backend: be, index: len(t.catalogs), slot: cc.IDSlot,
		prefix: []byte(cc.Name + t.cfg.Separator), claims: append([]string(nil), cc.Claims...)}
	if c.BackendCatalog == "" {
		c.BackendCatalog = commonOwn[0]
	}
	t.first[lower(c.prefix[0])], t.first[upper(c.prefix[0])] = true, true
	t.catalogs = append(t.catalogs, c)
	return nil
}

func (t *Table) setDefault(name string) error {
	if name == "" && len(t.catalogs) == 1 {
		t.def = t.catalogs[0]
		return nil
	}
	t.def = t.Catalog(name)
	if t.def == nil {
		return fmt.Errorf("default catalog %q is not configured: configured are %s", name, t.names())
	}
	return nil
}

// setOwn collects the names of backends' own catalogs. A catalog that is
// called like its own backend's catalog, and like no other's, still gives a
// hint: whichever of the two a client means, the backend is the same.
func (t *Table) setOwn() {
	for _, c := range t.catalogs {
		if !strings.EqualFold(c.Name, c.BackendCatalog) && !t.isOwn([]byte(c.BackendCatalog)) {
			t.own = append(t.own, c.BackendCatalog)
		}
	}
	for _, c := range t.catalogs {
		c.hints = !t.isOwn([]byte(c.Name))
	}
}

func (t *Table) setClaims() error {
	for _, c := range t.catalogs {
		for _, db := range c.claims {
			key := strings.ToLower(db)
			if o := t.claimed[key]; o != nil && o != c {
				return fmt.Errorf("catalog %q: database %q is claimed by catalog %q too", c.Name, db, o.Name)
			}
			if p, _ := t.prefixOf([]byte(db), t.catalogs); db == "" || p != nil {
				return fmt.Errorf("catalog %q: %q cannot be claimed: a name without a catalog prefix is needed", c.Name, db)
			}
			t.claimed[key] = c
		}
	}
	return nil
}

func (t *Table) names() string {
	var s []string
	for _, c := range t.catalogs {
		s = append(s, c.Name)
	}
	return strings.Join(s, ", ")
}

// Catalogs are all catalogs in configured order. The slice is the table's.
func (t *Table) Catalogs() []*Catalog { return t.catalogs }

// Default is the catalog whose names are bare.
func (t *Table) Default() *Catalog { return t.def }

// Catalog finds a catalog by its name in any letter case; nil when there is none.
func (t *Table) Catalog(name string) *Catalog {
	for _, c := range t.catalogs {
		if strings.EqualFold(c.Name, name) {
			return c
		}
	}
	return nil
}

// Preserve says whether replies keep the backend's own catalog name.
func (t *Table) Preserve() bool { return t.cfg.PreserveBackendCatalog }

// Warnings are things that are allowed but will surprise somebody.
func (t *Table) Warnings() []string {
	var out []string
	for _, c := range t.catalogs {
		if !c.hints {
			out = append(out, fmt.Sprintf("catalog %q is called like a backend's own catalog: "+
				"a catName or @%s# gives no hint, only the prefix %s routes to it", c.Name, c.Name, c.prefix))
		}
		for _, o := range t.catalogs {
			if o != c && foldPrefix(o.prefix, c.prefix) {
				out = append(out, fmt.Sprintf("names of catalog %q that begin with %q read as catalog %q",
					c.Name, o.prefix, o.Name))
			}
		}
	}
	return out
}

// Shadowed says whether a database of the default catalog cannot be named
// there, since its name reads as another catalog's. It is not to be listed.
func (t *Table) Shadowed(db []byte) bool {
	return (&view{tbl: t, def: t.def}).shadowed(t.def, db)
}

// isOwn says whether a name is a backend's own catalog.
func (t *Table) isOwn(name []byte) bool {
	for _, o := range t.own {
		if foldEqual(name, o) {
			return true
		}
	}
	return false
}

// hint is the catalog that a catName routes to; nil for none.
func (t *Table) hint(name []byte) *Catalog {
	for _, c := range t.catalogs {
		if c.hints && foldEqual(name, c.Name) {
			return c
		}
	}
	return nil
}

// prefixOf finds the catalog whose prefix begins name, among cats in order.
func (t *Table) prefixOf(name []byte, cats []*Catalog) (*Catalog, int) {
	if len(name) == 0 || !t.first[name[0]] {
		return nil, 0
	}
	for _, c := range cats {
		if foldPrefix(name, c.prefix) {
			return c, len(c.prefix)
		}
	}
	return nil, 0
}

// claimer is the catalog that claims a bare name; nil for none.
func (t *Table) claimer(name []byte) *Catalog {
	if len(t.claimed) == 0 || len(name) > 128 {
		return nil
	}
	var buf [128]byte
	low := buf[:len(name)]
	for i, c := range name {
		low[i] = lower(c)
	}
	return t.claimed[string(low)]
}
