package gateway

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hmsgate/frame"
	"hmsgate/internal/hms"
	"hmsgate/profiles"
	"hmsgate/rewrite"
)

// sweepKinds says what kind of name stands in which field: "Table.dbName", an
// argument "get_table.dbname", a bare result "get_databases.success". Two
// sources: what the rules print for each inventory, and the other reading of
// the interfaces in profiles/testdata, made without the rules. So a rule that
// is deleted leaves its name in the swept calls.
func sweepKinds(t *testing.T) map[string]rewrite.Kind {
	t.Helper()
	kinds := map[string]rewrite.Kind{}
	for _, label := range profiles.Labels() {
		inv := sweepLoad(t, label)
		p, err := profiles.Compile(inv, inv)
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if err := profiles.ExplainAll(&text, p); err != nil {
			t.Fatal(err)
		}
		sweepPrinted(text.String(), kinds)
	}
	read, err := os.ReadFile("../../profiles/testdata/kinds.txt")
	if err != nil {
		t.Fatal(err)
	}
	for in := bufio.NewScanner(bytes.NewReader(read)); in.Scan(); {
		if f := strings.Fields(in.Text()); len(f) > 4 && (f[0] == "arg" || f[0] == "struct") {
			if k, ok := rewrite.ParseKind(f[4]); ok && !k.Opaque() && !k.Long() && kinds[f[1]+"."+f[3]] == rewrite.None {
				kinds[f[1]+"."+f[3]] = k
				t.Logf("only the other reading has %s %s", f[1]+"."+f[3], k)
			}
		}
	}
	if len(kinds) < 300 {
		t.Errorf("%d fields have a kind, want at least 300", len(kinds))
	}
	return kinds
}

var sweepKind = regexp.MustCompile(`\b(?:string|i64) ([a-z_]+@?)`)

// sweepPrinted reads the kinds out of printed plans: lines "  1 dbName string
// db" below a struct's or method's own line.
func sweepPrinted(text string, kinds map[string]rewrite.Kind) {
	owner := ""
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		switch {
		case len(f) == 0 || f[0] == "#":
		case line[0] != ' ':
			owner = strings.TrimSuffix(f[0], ":")
		default:
			if f[0] == "call" || f[0] == "reply" {
				f = f[1:]
			}
			m := sweepKind.FindStringSubmatch(strings.Join(f[2:], " "))
			if m == nil {
				continue
			}
			// the strongest form: 2.x has no "@"
			if k, _ := rewrite.ParseKind(m[1]); k > kinds[owner+"."+f[1]] {
				kinds[owner+"."+f[1]] = k
			}
		}
	}
}

// sweepInventory is an inventory with fields that nobody plans in each struct
// and each call.
func sweepInventory(t *testing.T, label string) *profiles.Inventory {
	t.Helper()
	inv := *sweepLoad(t, label)
	str := &profiles.TypeRef{Wire: frame.String, Name: "string"}
	unseen := []profiles.Field{
		{ID: 30001, Name: "unseen1", Type: str, Req: profiles.Optional},
		{ID: 30002, Name: "unseen2", Req: profiles.Optional, Type: &profiles.TypeRef{Wire: frame.Map, Name: "map", Key: str,
			Elem: &profiles.TypeRef{Wire: frame.List, Name: "list", Elem: &profiles.TypeRef{Wire: frame.I64, Name: "i64"}}}},
	}
	inv.Structs, inv.Methods = maps.Clone(inv.Structs), maps.Clone(inv.Methods)
	for name, s := range inv.Structs {
		if s.Kind == profiles.Plain {
			more := *s
			more.Fields = slices.Concat(s.Fields, unseen)
			inv.Structs[name] = &more
		}
	}
	for name, m := range inv.Methods {
		more := *m
		more.Args = slices.Concat(m.Args, unseen)
		inv.Methods[name] = &more
	}
	return &inv
}

func sweepLoad(t *testing.T, label string) *profiles.Inventory {
	t.Helper()
	inv, err := profiles.Load(label)
	if err != nil {
		t.Fatal(err)
	}
	return inv
}

// sweepMessage fills calls and replies of one inventory: every field is set,
// and fields with a kind get what the speller gives.
type sweepMessage struct {
	inv   *profiles.Inventory
	codec *hms.Codec
	kinds map[string]rewrite.Kind
	used  map[string]bool // places met
	spell func(k rewrite.Kind, nth int) string
	stack []string
}

func (g *sweepMessage) call(method string, seq int32) ([]byte, error) {
	return g.codec.EncodeCall(method, seq, g.fields(method, g.inv.Methods[method].Args))
}

func (g *sweepMessage) reply(method string, seq int32) ([]byte, error) {
	m := g.inv.Methods[method]
	if m.Returns == nil {
		return g.codec.EncodeReply(method, seq, nil)
	}
	return g.codec.EncodeReply(method, seq, g.value(m.Returns, method+".success", 0))
}

func (g *sweepMessage) fields(owner string, fields []profiles.Field) hms.Struct {
	out := hms.Struct{}
	for _, f := range fields {
		if v := g.value(f.Type, owner+"."+f.Name, 0); v != nil {
			out[f.Name] = v
		}
	}
	return out
}

// value is a value of a type; nil where a struct would hold itself once more
// than a plan's circle needs to be seen.
func (g *sweepMessage) value(t *profiles.TypeRef, place string, nth int) any {
	switch t.Wire {
	case frame.Struct:
		return g.structure(t)
	case frame.List, frame.Set:
		if t.Elem.Wire == frame.Struct && slices.Contains(g.stack, t.Elem.Name) {
			return []any{}
		}
		list := []any{g.value(t.Elem, place, 0)}
		if len(g.stack) < 3 {
			list = append(list, g.value(t.Elem, place, 1))
		}
		return list
	case frame.Map:
		return hms.Map{{Key: g.value(t.Key, place, 0), Value: g.value(t.Elem, place, 0)}}
	case frame.String:
		return g.text(t, place, nth)
	case frame.Bool:
		return true
	case frame.Double:
		return 0.5
	case frame.I64: // a transaction or write id above 0 belongs to the default catalog
		if k := g.kinds[place]; k == rewrite.TxnID || k == rewrite.WriteID {
			return 0
		}
	}
	return 3 + nth
}

func (g *sweepMessage) text(t *profiles.TypeRef, place string, nth int) any {
	switch k := g.kinds[place]; {
	case t.Name == "binary":
		return []byte{0x80, 0, 11}
	case k == rewrite.None, k.Opaque(), k.Number(), k.Long():
		return "x"
	default:
		g.used[place] = true
		return g.spell(k, nth)
	}
}

func (g *sweepMessage) structure(t *profiles.TypeRef) any {
	n := 0
	for _, s := range g.stack {
		if s == t.Name {
			n++
		}
	}
	if n > 1 {
		return nil
	}
	s := g.inv.Structs[t.Name]
	g.stack = append(g.stack, t.Name)
	defer func() { g.stack = g.stack[:len(g.stack)-1] }()
	if s.Kind != profiles.Union {
		return g.fields(t.Name, s.Fields)
	}
	f := &s.Fields[0]
	return hms.Struct{f.Name: g.value(f.Type, t.Name+"."+f.Name, 0)}
}

// sweepForm is one way in which a client writes its names, and what becomes
// of them: [0] is the client's form around a db's own name, [1] the backend's.
type sweepForm struct {
	name     string
	db       [2]string // of a plain name
	at       [2]string // where "@cat#" is read
	cat      [2]string
	by       []rewrite.Kind // the kinds that say where the call goes
	home     bool           // to the default catalog
	external string         // how clients see a db of the reply that the call did not name
	catOut   string         // how they see the backend's catName
	old      bool           // the backends are of 2.x
}

var (
	sweepNames = []rewrite.Kind{rewrite.DB, rewrite.DBAt, rewrite.TableFull, rewrite.TableMaybe, rewrite.WriteIDs,
		rewrite.WriteIDsMulti, rewrite.Policy}
	sweepCats = []rewrite.Kind{rewrite.Cat}
	sweepAts  = []rewrite.Kind{rewrite.DBAt, rewrite.PatternAt}
)

// sweepForms is DESIGN's table of names, as far as a single call goes.
var sweepForms = []sweepForm{
	{name: "bare", db: same("%s"), at: same("%s"), cat: same("hive"), by: sweepNames, home: true, external: "%s", catOut: "hive"},
	{name: "bare @hive#", db: same("%s"), at: same("@hive#%s"), cat: same("hive"), by: sweepNames, home: true,
		external: "%s", catOut: "hive"},
	{name: "bare @hive# to 2.x", db: same("%s"), at: [2]string{"@hive#%s", "%s"}, cat: same("hive"), by: sweepNames, home: true,
		external: "%s", catOut: "hive", old: true},
	{name: "own prefix", db: inner("hdp__%s"), at: inner("hdp__%s"), cat: same("hive"), by: sweepNames, home: true,
		external: "%s", catOut: "hive"},
	{name: "own catName", db: same("%s"), at: same("%s"), cat: [2]string{"hdp", "hive"}, by: sweepCats, home: true,
		external: "%s", catOut: "hdp"},
	{name: "prefix", db: inner("apache__%s"), at: inner("apache__%s"), cat: same("hive"), by: sweepNames,
		external: "apache__%s", catOut: "hive"},
	{name: "upper prefix", db: inner("APACHE__%s"), at: inner("APACHE__%s"), cat: same("hive"), by: sweepNames,
		external: "apache__%s", catOut: "hive"},
	{name: "prefix @hive#", db: inner("apache__%s"), at: [2]string{"@hive#aPache__%s", "@hive#%s"}, cat: same("hive"),
		by: sweepNames, external: "apache__%s", catOut: "hive"},
	{name: "prefix @hive# to 2.x", db: inner("apache__%s"), at: inner("@hive#apache__%s"), cat: same("hive"),
		by: sweepNames, external: "apache__%s", catOut: "hive", old: true},
	{name: "catName", db: same("%s"), at: same("%s"), cat: [2]string{"apache", "hive"}, by: sweepCats,
		external: "%s", catOut: "apache"},
	{name: "upper catName and prefix", db: inner("Apache__%s"), at: inner("Apache__%s"), cat: [2]string{"APACHE", "hive"},
		by: sweepCats, external: "%s", catOut: "apache"},
	{name: "@apache#", db: same("%s"), at: [2]string{"@apache#%s", "@hive#%s"}, cat: same("hive"), by: sweepAts,
		external: "%s", catOut: "apache"},
	{name: "@apache# to 2.x", db: same("%s"), at: inner("@APACHE#%s"), cat: same("hive"), by: sweepAts,
		external: "%s", catOut: "apache", old: true},
}

func same(form string) [2]string  { return [2]string{form, form} }
func inner(form string) [2]string { return [2]string{form, "%s"} }

// decides says whether a call with names of these kinds is routed by them.
func (f *sweepForm) decides(met map[rewrite.Kind]bool) bool {
	return slices.ContainsFunc(f.by, func(k rewrite.Kind) bool { return met[k] })
}

// ats says whether the form is about "@cat#", which 2.x does not have.
func (f *sweepForm) ats() bool { return strings.Contains(f.at[0], "#") }

var sweepDBs = [...]string{"sales", "crm"}

// calls spells the names of a call for the client (side 0) or the backend
// (side 1), and notes the kinds it met and the client's spelling of each db.
func (f *sweepForm) calls(side int, met map[rewrite.Kind]bool, spelled map[string]string) func(rewrite.Kind, int) string {
	return func(k rewrite.Kind, nth int) string {
		met[k] = true
		db, form := sweepDBs[nth], f.db
		if k == rewrite.DBAt {
			_, form[0], _ = strings.Cut(f.at[0], "#")
			if form[0] == "" {
				form[0] = f.at[0]
			}
		}
		if k != rewrite.Cat && k != rewrite.Pattern && k != rewrite.PatternAt && form[0] != "%s" && spelled[db] == "" {
			spelled[db] = fmt.Sprintf(form[0], db)
		}
		return sweepSpell(k, db, f.db[side], f.at[side], f.cat[side])
	}
}

// replies spells the names of a reply: a backend knows no client's form, and
// a client gets back what it wrote.
func (f *sweepForm) replies(side int, spelled map[string]string) func(rewrite.Kind, int) string {
	return func(k rewrite.Kind, nth int) string {
		db := sweepDBs[nth]
		if side == 1 {
			return sweepSpell(k, db, "%s", "%s", "hive")
		}
		form := f.external
		if s := spelled[db]; s != "" {
			form = strings.TrimSuffix(s, db) + "%s"
		}
		return sweepSpell(k, db, form, form, f.catOut)
	}
}

func sweepSpell(k rewrite.Kind, db, plain, at, cat string) string {
	in := func(form, db string) string { return strings.Replace(form, "%s", db, 1) }
	switch k {
	case rewrite.DB:
		return in(plain, db)
	case rewrite.DBAt:
		return in(at, db)
	case rewrite.Cat:
		return cat
	case rewrite.Pattern:
		return in(plain, db) + "*|" + in(plain, "q*")
	case rewrite.PatternAt:
		return in(at, db) + "*|" + in(plain, "q*")
	case rewrite.WriteIDs:
		return in(plain, db) + ".t:9:3:4,5:6"
	case rewrite.WriteIDsMulti:
		return "7$" + in(plain, db) + ".t:9:3::$" + in(plain, db) + ".u:9:3::"
	case rewrite.Policy:
		return in(plain, db) + ".*"
	}
	return in(plain, db) + ".t" // full table names
}
