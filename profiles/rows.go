package profiles

import (
	"fmt"
	"slices"
	"strings"
)

// answers are the names that rows may give as answer. Package internal/answer
// has one implementation for each.
var answers = []string{
	"alive-since", "all-databases", "all-functions", "catalog", "catalogs", "check-lock", "end-txn", "heartbeat",
	"lock", "merge-names", "merge-table-meta", "name", "nothing", "refuse-catalog-ddl", "set-meta-conf", "set-ugi",
	"show-compact", "show-locks", "status", "token-cancel", "token-get", "token-renew", "token-store", "unlock", "version",
	"write-ids",
}

// Answers are the names of all answers that rows may name, sorted.
func Answers() []string { return slices.Clone(answers) }

var classNames = [...]string{
	Write: "write", Read: "read", List: "list", Txn: "txn", Lock: "lock",
	Global: "global", GlobalWrite: "global-write", Identity: "identity", Local: "local",
}

// String is the class as rows and policies name it.
func (c Class) String() string { return nameOf(classNames[:], int(c)) }

var whereNames = [...]string{ByNames: "names", AtDefault: "default", NeedsNames: "needs-names", Nowhere: "nowhere"}

// String is the place as rows name it.
func (w Where) String() string { return nameOf(whereNames[:], int(w)) }

func nameOf(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return fmt.Sprintf("number %d", i)
}

// rowText is a row as methods.yaml has it.
type rowText struct {
	Class  string            `yaml:"class"`
	Where  string            `yaml:"where"`
	Answer string            `yaml:"answer"`
	Hold   bool              `yaml:"hold"`
	Replay bool              `yaml:"replay"`
	Cache  string            `yaml:"cache"`
	Args   map[string]string `yaml:"args"`
	Reply  string            `yaml:"reply"`
	Note   string            `yaml:"note"`
	Lost   string            `yaml:"lost"`
	Expr   bool              `yaml:"expr"`
}

func (r *rules) row(name string, t *rowText) (*methodRule, error) {
	class := slices.Index(classNames[:], t.Class)
	if class < 0 {
		return nil, fmt.Errorf("class %q is none of %s", t.Class, strings.Join(classNames[:], ", "))
	}
	where := slices.Index(whereNames[:], t.Where)
	if t.Where == "" {
		where = int(ByNames)
	}
	if where < 0 {
		return nil, fmt.Errorf("where %q is none of %s", t.Where, strings.Join(whereNames[:], ", "))
	}
	if t.Answer != "" && !slices.Contains(answers, t.Answer) {
		return nil, fmt.Errorf("answer %q is none of %s", t.Answer, strings.Join(answers, ", "))
	}
	if Where(where) == Nowhere && t.Answer == "" {
		return nil, fmt.Errorf("goes nowhere and has no answer")
	}
	m := &methodRule{row: Row{
		Method: name, Class: Class(class), Where: Where(where), Answer: t.Answer, Hold: t.Hold,
		Replay: t.Replay, Cache: t.Cache, Note: t.Note, Lost: t.Lost, Expr: t.Expr,
	}}
	if t.Lost != "" && t.Lost != "InvalidOperationException" {
		return nil, fmt.Errorf("lost %q is not InvalidOperationException", t.Lost)
	}
	if m.row.Replay && m.row.Class.writes() {
		return nil, fmt.Errorf("a call of class %s is never replayed", m.row.Class)
	}
	var err error
	if m.args, err = r.parseAll(t.Args); err != nil {
		return nil, fmt.Errorf("args: %w", err)
	}
	if t.Reply != "" {
		u, err := r.parse(t.Reply)
		if err != nil {
			return nil, fmt.Errorf("reply: %w", err)
		}
		m.reply = &u
	}
	return m, nil
}

// writes says whether calls of the class change what a metastore holds. Txn
// and Lock have both: their rows say which of them are reads (replay).
func (c Class) writes() bool { return c == Write || c == GlobalWrite || c == Identity }

// rowOf is the method's row, derived when the rules have none, with what the
// inventories say of it.
func (r *rules) rowOf(m *Method, invs []*Inventory) Row {
	row := Row{Method: m.Name, Class: Write, Where: ByNames, Derived: true}
	if own := r.rows[m.Name]; own != nil {
		row = own.row
	}
	row.Oneway = m.Oneway
	row.Meta = thrownID(m.Name, "MetaException", invs)
	row.NoSuchObject = thrownID(m.Name, "NoSuchObjectException", invs)
	row.InvalidOperation = thrownID(m.Name, "InvalidOperationException", invs)
	return row
}

// thrownID is the id under which a method declares an exception in every
// inventory that has the method, 0 when they do not agree. A client reads an
// exception under an id that its own interface does not give it as a missing
// result, so anything less than agreement is no use.
func thrownID(method, exception string, invs []*Inventory) int16 {
	id := int16(0)
	seen := false
	for _, inv := range invs {
		m := inv.Methods[method]
		if m == nil {
			continue
		}
		here := int16(0)
		for _, f := range m.Throws {
			if f.Type.Name == exception {
				here = f.ID
			}
		}
		if seen && here != id {
			return 0
		}
		id, seen = here, true
	}
	return id
}
