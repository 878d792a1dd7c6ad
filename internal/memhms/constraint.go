package memhms

import (
	"strings"

	"hmsgate/internal/hms"
)

// constraint is a kind of constraint: where its list travels, and the fields that
// say what it is on.
type constraint struct {
	add, cols string // method and field of its request
	get, list string // method and field of its response; create_table has the list under the same name
	name      string // field with the constraint's name
	db, table string
}

var constraintKinds = []constraint{
	{"add_primary_key", "primaryKeyCols", "get_primary_keys", "primaryKeys", "pk_name", "table_db", "table_name"},
	{"add_foreign_key", "foreignKeyCols", "get_foreign_keys", "foreignKeys", "fk_name", "fktable_db", "fktable_name"},
	{"add_unique_constraint", "uniqueConstraintCols", "get_unique_constraints", "uniqueConstraints", "uk_name",
		"table_db", "table_name"},
	{"add_not_null_constraint", "notNullConstraintCols", "get_not_null_constraints", "notNullConstraints", "nn_name",
		"table_db", "table_name"},
	{"add_default_constraint", "defaultConstraintCols", "get_default_constraints", "defaultConstraints", "dc_name",
		"table_db", "table_name"},
	{"add_check_constraint", "checkConstraintCols", "get_check_constraints", "checkConstraints", "dc_name", "table_db",
		"table_name"},
}

func init() {
	for _, k := range constraintKinds {
		add(k.add, func(s *Server, c *call) (any, error) { return nil, s.constrain(k, c.structs(fold(k.cols))) }, "")
		add(k.get, func(s *Server, c *call) (any, error) { return s.constraintsOf(k, c), nil }, k.list)
	}
	add("drop_constraint", (*Server).dropConstraint, "")
	add("get_all_table_constraints", (*Server).allConstraints, "allTableConstraints")
}

func (s *Server) constrain(k constraint, list []hms.Struct) error {
	for _, x := range list {
		n := dbName{cat: x.Str("catName"), db: x.Str(k.db)}
		if n.cat == "" {
			n.cat = defaultCatalog
		}
		t, err := s.tableOr(noSuchObject, n, x.Str(k.table))
		if err != nil {
			return err
		}
		x = with(with(with(x, k.db, ident(x.Str(k.db))), k.table, ident(x.Str(k.table))), "catName", ident(n.cat))
		if x.Str(k.name) == "" {
			x = with(x, k.name, strings.TrimSuffix(k.name, "_name")+"_"+itoa(s.next("constraint")))
		}
		if t.cons == nil {
			t.cons = map[string][]any{}
		}
		t.cons[k.list] = append(t.cons[k.list], x)
	}
	return nil
}

// constrainNew takes the constraints that come with a table.
func (s *Server) constrainNew(c *call, n dbName, table string) error {
	for _, k := range constraintKinds {
		list := c.structs(fold(k.list))
		for i := range list {
			list[i] = with(with(with(list[i], k.db, n.db), k.table, table), "catName", n.cat)
		}
		if err := s.constrain(k, list); err != nil {
			return err
		}
	}
	return nil
}

// constraintsOf lists one kind. Foreign keys may be asked for by parent, by child,
// or by both.
func (s *Server) constraintsOf(k constraint, c *call) []any {
	cat := c.dbNamed("dbname").cat
	child := [2]string{c.str("dbname", "foreigndbname"), c.str("tblname", "foreigntblname")}
	parent := [2]string{c.str("parentdbname"), c.str("parenttblname")}
	out := []any{}
	for _, d := range s.databasesOf(cat) {
		for _, name := range sortedKeys(d.tables) {
			for _, v := range d.tables[name].cons[k.list] {
				x := v.(hms.Struct)
				if same(child[0], x.Str(k.db)) && same(child[1], x.Str(k.table)) &&
					same(parent[0], x.Str("pktable_db")) && same(parent[1], x.Str("pktable_name")) {
					out = append(out, x)
				}
			}
		}
	}
	return out
}

func same(asked, have string) bool { return asked == "" || ident(asked) == have }

func (s *Server) databasesOf(cat string) []*database {
	var out []*database
	if k := s.cats[ident(cat)]; k != nil {
		for _, db := range sortedKeys(k.dbs) {
			out = append(out, k.dbs[db])
		}
	}
	return out
}

// dropConstraint of a name that is not there ends in an exception that the method
// does not declare (seen).
func (s *Server) dropConstraint(c *call) (any, error) {
	t, err := s.tableOr(noSuchObject, c.db(), c.table())
	if err != nil {
		return nil, err
	}
	name, found := c.str("constraintname"), false
	for _, k := range constraintKinds {
		kept := []any{}
		for _, v := range t.cons[k.list] {
			if strings.EqualFold(v.(hms.Struct).Str(k.name), name) {
				found = true
			} else {
				kept = append(kept, v)
			}
		}
		if t.cons != nil {
			t.cons[k.list] = kept
		}
	}
	if !found {
		return nil, errInternal
	}
	return nil, nil
}

func (s *Server) allConstraints(c *call) (any, error) {
	out := hms.Struct{}
	for _, k := range constraintKinds {
		out[k.list] = s.constraintsOf(k, c)
	}
	return out, nil
}
