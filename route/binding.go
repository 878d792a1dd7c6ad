package route

import (
	"bytes"

	"hmsgate/profiles"
	"hmsgate/rewrite"
)

// How says by which sign a call found its catalog.
type How uint8

const (
	ByDefault How = iota // nothing in the call says otherwise
	ByBare               // a bare name
	ByPrefix             // a namespace with a catalog prefix
	ByAt                 // "@cat#"
	ByCatName            // a catName
	ByID                 // the slot in a lock or compaction id
)

func (h How) String() string {
	return [...]string{"default catalog", "bare name", "prefix", "@cat#", "catName", "id"}[h]
}

// Bounds of what a Binding keeps between calls, for the sake of idle sessions,
// and of how many spellings of one call it remembers for the reply; a name
// beyond them comes back with the prefix as configured.
const (
	keepScratch  = 4096
	maxSpellings = 64
)

// spelling is how the client wrote a namespace whose db the backend will name.
type spelling struct {
	cat    *Catalog
	ns, db []byte
}

// Binding binds the names of one call: what it names, where it goes, how each
// side spells it. It belongs to one goroutine and is reused call after call.
type Binding struct {
	view
	scratch []byte // copies of the client's bytes that outlive Add
	spelled []spelling

	hint      *Catalog // the first explicit hint
	how       How      // of the first explicit hint
	hintText  []byte
	relHow    How      // of the first hint that bare names are relative to
	cross     *Refusal // explicit hints that disagree
	bareCat   *Catalog // whom the first bare name belongs to while there is no hint
	bareText  []byte
	bareOther []byte // a bare name that belongs to another one
	prefixed  bool   // some name had a prefix
	ats       bool   // some name had the "@cat#" form
	dotted    bool   // some name had the "hive." form
	method    string // of the routed call
	class     profiles.Class
	catText   []byte // the first catName as it came
	otherCat  bool   // some catName is nobody's we know
	pattern   []byte // the pattern of a merged list, as it came
	hasPat    bool
	unknown   bool // a string of an unknown method belongs to another catalog

	cat *Catalog // where Route sent the call
	in  inward
	out outward
	fan []pair
}

type pair struct {
	in  inward
	out outward
}

// Reset makes the binding ready for a call. def is the listener's own default
// catalog; nil means the table's.
func (b *Binding) Reset(t *Table, def *Catalog) {
	if def == nil {
		def = t.def
	}
	scratch, spelled, fan := b.scratch[:0], b.spelled[:0], b.fan
	if cap(scratch) > keepScratch {
		scratch = nil
	}
	if b.tbl != t {
		fan = make([]pair, len(t.catalogs))
	}
	*b = Binding{view: view{tbl: t, def: def}, scratch: scratch, spelled: spelled, fan: fan}
}

// Add takes in one name of the call, a value of kind k. v is copied as far as
// it is needed later.
func (b *Binding) Add(k rewrite.Kind, v []byte) {
	switch k {
	case rewrite.DB, rewrite.DBAt:
		b.addDB(v)
	case rewrite.Cat:
		b.addCat(v)
	case rewrite.Pattern, rewrite.PatternAt:
		b.addPattern(v)
	case rewrite.TableFull, rewrite.TableMaybe, rewrite.WriteIDs, rewrite.Policy:
		b.addDB(v[:b.tbl.dbEnd(k, v)])
	case rewrite.LockID, rewrite.CompactionID:
		b.addID(v)
	case rewrite.WriteIDsMulti:
		for lo, hi, ok := nextEntry(v, 0); ok; lo, hi, ok = nextEntry(v, hi) {
			b.addDB(v[lo:][:b.tbl.dbEnd(rewrite.TableFull, v[lo:hi])])
		}
	}
}

func (b *Binding) addDB(v []byte) {
	if b.tbl.isPlain(v) {
		b.addBare(b.unhinted(v), v)
		return
	}
	s := b.tbl.take(v)
	b.ats = b.ats || s.form == atOwn || s.form == atProxy
	b.dotted = b.dotted || s.dot != nil
	if s.by != nil {
		b.addHint(s.by, ByAt, v)
	}
	switch {
	case s.pre != nil:
		b.prefixed = true
		b.addHint(s.pre, ByPrefix, s.ns)
		b.spell(s.pre, s.ns, len(s.ns)-len(s.db))
	case s.void == named && s.by == nil && s.form == foreign:
		b.addBare(b.def, v)
	case s.void == named && s.by == nil:
		b.addBare(b.unhinted(s.ns), v)
	}
}

func (b *Binding) addCat(v []byte) {
	if len(b.catText) == 0 {
		b.catText = b.keep(v)
	}
	if c := b.tbl.hint(v); c != nil {
		b.addHint(c, ByCatName, v)
	} else if len(v) > 0 && !b.tbl.isOwn(v) {
		b.otherCat = true
	}
}

func (b *Binding) addPattern(v []byte) {
	s := b.tbl.takeAt(v)
	b.ats = b.ats || s.form == atOwn || s.form == atProxy
	if s.by != nil {
		b.addHint(s.by, ByAt, v)
	}
	b.pattern, b.hasPat = b.keep(v), true
}

// addHint takes in an explicit hint. All of them must agree.
func (b *Binding) addHint(c *Catalog, how How, text []byte) {
	if how != ByPrefix && how != ByID && b.rel == nil {
		b.rel, b.relHow = c, how
	}
	if b.hint == nil {
		b.hint, b.how, b.hintText = c, how, b.keep(text)
		return
	}
	if b.hint != c && b.cross == nil {
		b.cross = ambiguous(b.how, b.hintText, how, text)
	}
}

// addBare takes in a bare name that is c's unless the call has a hint.
func (b *Binding) addBare(c *Catalog, text []byte) {
	if b.bareCat == nil {
		b.bareCat, b.bareText = c, b.keep(text)
	} else if b.bareCat != c && b.bareOther == nil {
		b.bareOther = b.keep(text)
	}
}

// spell remembers how the client wrote a namespace; n bytes of it are prefix.
func (b *Binding) spell(c *Catalog, ns []byte, n int) {
	for i := range b.spelled {
		if bytes.Equal(b.spelled[i].ns, ns) {
			return
		}
	}
	if len(b.spelled) < maxSpellings {
		ns = b.keep(ns)
		b.spelled = append(b.spelled, spelling{cat: c, ns: ns, db: ns[n:]})
	}
}

func (b *Binding) keep(v []byte) []byte {
	n := len(b.scratch)
	b.scratch = append(b.scratch, v...)
	return b.scratch[n:len(b.scratch):len(b.scratch)]
}

// ambiguous is the refusal of two names that belong to different catalogs.
func ambiguous(howA How, a []byte, howB How, c []byte) *Refusal {
	r := &Refusal{Exception: Meta, Reason: Ambiguous}
	switch {
	case howA == ByCatName && howB != ByCatName:
		r.Text = textCatalogAgainstDB(a, c)
	case howB == ByCatName && howA != ByCatName:
		r.Text = textCatalogAgainstDB(c, a)
	default:
		r.Text = textConflict(a, c)
	}
	return r
}

// named is the catalog the call names, nil when it names none.
func (b *Binding) named() (*Catalog, *Refusal) {
	switch {
	case b.cross != nil:
		return nil, b.cross
	case b.rel != nil:
		return b.rel, nil
	case b.hint != nil && b.bareCat != nil && b.bareCat != b.hint:
		return nil, ambiguous(b.how, b.hintText, ByBare, b.bareText)
	case b.hint != nil && b.bareOther != nil:
		return nil, ambiguous(b.how, b.hintText, ByBare, b.bareOther)
	case b.bareOther != nil:
		return nil, ambiguous(ByBare, b.bareText, ByBare, b.bareOther)
	case b.hint != nil:
		return b.hint, nil
	}
	return b.bareCat, nil
}

// Route decides where a call of this row goes. Exactly one result is not nil.
func (b *Binding) Route(row *profiles.Row) (*Catalog, *Refusal) {
	b.method, b.class = row.Method, row.Class
	c, r := b.named()
	if r != nil {
		return nil, r
	}
	switch {
	case c == nil && row.Where == profiles.NeedsNames && len(b.tbl.catalogs) > 1 && !b.tbl.cfg.GlobalWritesAtDefault:
		return nil, &Refusal{Exception: Meta, Reason: Unowned, Text: textUnowned(row.Method)}
	case c == nil && bound(row.Class):
		c = b.tbl.def
	case c == nil:
		c = b.patterned()
	case row.Where == profiles.AtDefault && row.Class == profiles.Txn && c != b.tbl.def:
		return nil, b.tbl.AcidElsewhere(row.Method, c)
	case row.Where == profiles.AtDefault && c != b.def:
		return nil, &Refusal{Exception: Meta, Reason: Elsewhere, Text: textElsewhere(row.Method, c, b.def)}
	case b.tbl.cfg.RefuseHintWrites && c != b.def && b.Hinted() && !b.prefixed && writes(row.Class):
		return nil, &Refusal{Exception: Meta, Reason: HintWrite, Text: textHintWrite(row.Method, c)}
	}
	b.cat = c
	return c, nil
}

// patterned is the catalog of a call that names nothing but a pattern: the
// only one whose names it can mean, else the default catalog.
func (b *Binding) patterned() *Catalog {
	if !b.hasPat {
		return b.def
	}
	var only *Catalog
	for _, c := range b.tbl.catalogs {
		switch _, ok := b.ForCatalog(c, true); {
		case !ok:
		case c == b.def || only != nil:
			return b.def
		default:
			only = c
		}
	}
	if only == nil {
		return b.def
	}
	return only
}

// bound says whether calls of a class are about ids, which are the default
// catalog's metastore's where they carry no slot, whatever catalog a listener
// finds under bare names.
func bound(c profiles.Class) bool { return c == profiles.Txn || c == profiles.Lock }

func writes(c profiles.Class) bool {
	return c == profiles.Write || c == profiles.GlobalWrite || c == profiles.Txn || c == profiles.Lock
}

// AddUnknown takes in a string of a method that no inventory has.
func (b *Binding) AddUnknown(v []byte) {
	if b.unknown {
		return
	}
	b.unknown = b.elsewhere(v)
	for lo, hi, ok := nextEntry(v, 0); ok && !b.unknown; lo, hi, ok = nextEntry(v, hi) {
		b.unknown = b.elsewhere(v[lo:hi])
	}
}

// elsewhere says whether a string may belong to another catalog than the
// default one, read in every way a name is written.
func (b *Binding) elsewhere(v []byte) bool {
	if c := b.tbl.hint(v); c != nil && c != b.def {
		return true
	}
	s := b.tbl.take(v)
	if s.by != nil && s.by != b.def || s.pre != nil && s.pre != b.def {
		return true
	}
	// A claimed name alone, or in front of a table: db.table.
	for _, end := range [...]int{len(s.ns), max(bytes.LastIndexByte(s.ns, '.'), 0), policyEnd(s.ns, 0)} {
		if o := b.tbl.claimer(s.ns[:end]); o != nil && o != b.def {
			return true
		}
	}
	return false
}

// RouteUnknown decides where a call of a method in no inventory goes: to the
// default catalog, and only if none of its strings belongs elsewhere.
func (b *Binding) RouteUnknown(method []byte) (*Catalog, *Refusal) {
	if b.unknown || b.tbl.cfg.RefuseUnknownMethods {
		return nil, &Refusal{Exception: UnknownMethod, Reason: UnknownCall, Text: textUnknownMethod(method)}
	}
	b.cat = b.def
	return b.cat, nil
}

// How says what decided the route.
func (b *Binding) How() How {
	switch {
	case b.relHow != ByDefault:
		return b.relHow
	case b.hint != nil:
		return b.how
	case b.bareCat != nil:
		return ByBare
	}
	return ByDefault
}

// Hinted says whether a catName or "@cat#" decided: bare names are relative to
// that catalog, and the reply carries its name.
func (b *Binding) Hinted() bool { return b.rel != nil }

// Ats says whether a name came as "@cat#db", which no client before Hive 3 writes.
func (b *Binding) Ats() bool { return b.ats }

// HintOnly says whether nothing but a catName or "@cat#" led elsewhere than a
// bare name would: a client that copies catalog fields may not mean it.
func (b *Binding) HintOnly() bool { return b.rel != nil && !b.prefixed && b.cat != b.def }

// Catalog is where Route sent the call.
func (b *Binding) Catalog() *Catalog { return b.cat }

// Call is the names for writing the routed call to its backend. keepAt says
// whether the backend reads "@cat#" (from Hive 3 on); for one that does not,
// "@hive#X" becomes X and "@hive#" becomes "*" where it is a pattern.
func (b *Binding) Call(keepAt bool) rewrite.Names {
	b.in = inward{b: b, cat: b.cat, keepAt: keepAt, late: true}
	return &b.in
}

// Reply is the names for reading the routed call's reply.
func (b *Binding) Reply() rewrite.Names {
	b.out = outward{b: b, cat: b.cat}
	return &b.out
}

// Identity says which direction of the routed call changes no name and no id,
// so that it can be walked without the names: the call (as far as its names
// were added, and with the keepAt that Call was given), and the reply. A
// listener's own default catalog has bare names, but ids with a slot.
func (b *Binding) Identity() (call, reply bool) {
	if b.cat != b.def || b.cat != b.tbl.def || b.rel != nil || b.hint != nil || b.hasPat {
		return false, false
	}
	call = !b.dotted && (b.in.keepAt || !b.ats)
	return call, b.tbl.cfg.PreserveBackendCatalog
}
