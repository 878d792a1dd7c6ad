package profiles

import (
	"fmt"
	"regexp"
	"strings"

	"hmsgate/frame"
	"hmsgate/rewrite"
)

// meaningsOf are what fields mean by their name alone: those of which every
// built-in struct and method that has them says the same, names and ids. Texts
// are nothing to be guessed at.
func (r *rules) meaningsOf(u *Inventory) map[string]rule {
	out := map[string]rule{}
	mixed := map[string]bool{}
	see := func(f *Field, says rule) {
		if !f.Type.holds(frame.String) && !f.Type.holds(frame.I64) {
			return
		}
		if !says.fits(f.Type) {
			says = rule{}
		}
		switch says.kind {
		case rewrite.DB: // who cannot have "@cat#db" sends none
			says.kind = rewrite.DBAt
		case rewrite.Pattern:
			says.kind = rewrite.PatternAt
		}
		key := meaningKey(f)
		old, seen := out[key]
		mixed[key] = mixed[key] || seen && old != says
		out[key] = says
	}
	for _, m := range u.Methods {
		for i := range m.Args {
			see(&m.Args[i], r.arg(m.Name, &m.Args[i]))
		}
	}
	for name, st := range u.Structs {
		for i := range st.Fields {
			see(&st.Fields[i], r.structs[name][st.Fields[i].Name])
		}
	}
	for key := range mixed {
		if mixed[key] || out[key] == (rule{}) || out[key].kind.Opaque() {
			delete(out, key)
		}
	}
	return out
}

func meaningKey(f *Field) string { return f.Name + " " + f.Type.wireString() }

// field is the rule for a field of a struct: its own, or, for one that only a
// site's inventory has, what its name means everywhere else.
func (r *rules) field(owner string, f *Field) (rule, error) {
	if u, ok := r.structs[owner][f.Name]; ok {
		return u, nil
	}
	u, err := AutoInventory()
	if err != nil {
		return rule{}, err
	}
	if st := u.Structs[owner]; st != nil && st.Field(f.Name) != nil || !suspect(owner, f) {
		return rule{}, nil
	}
	r.once.Do(func() { r.meanings = r.meaningsOf(u) })
	return r.meanings[meaningKey(f)], nil
}

// suspicious are names that suggest a database, a catalog, a full table name,
// a location, SQL, or text that may hold one of these.
var suspicious = regexp.MustCompile(`(?i)(^db|db$|_db|db_|dbname|database|^ns$|namespace|catalog|cat_?name|` +
	`fulltable|tablesused|location|path|ur[il]s?$|query|sql|view|policy|writeid(s|list)$|txnlist|^source$|^body$|` +
	`^header$|remote|propert|parameters$|params$|expr|predicate|pattern|^files|message$|metadata$|tableobj|` +
	`partitionobj|progress|schematext|filter)`)

// suspiciousID are names of ids that belong to one backend.
var suspiciousID = regexp.MustCompile(`(?i)(lock_?id|txn_?id|write_?id|compaction_?id|cq_?id|^ids?$)`)

// namesSomething are owners whose plain "name" is a database or catalog.
var namesSomething = regexp.MustCompile(`(?i)(database|catalog)`)

// plainIDs are i64 fields called id that belong to other things.
var plainIDs = map[string]string{
	"Table.id": "table ids are the backend's, and go back to it with the table's name",
}

// suspect says whether a field must have a rule.
func suspect(owner string, f *Field) bool {
	if f.Type.holds(frame.String) {
		switch f.Name {
		case "name", "names", "pattern":
			return namesSomething.MatchString(owner) || suspicious.MatchString(f.Name)
		}
		return suspicious.MatchString(f.Name)
	}
	if f.Type.holds(frame.I64) {
		// "id" in a request is the table's id, beside its name.
		tableID := f.Name == "id" && strings.HasSuffix(owner, "Request") && owner != "ShowCompactRequest"
		return suspiciousID.MatchString(f.Name) && !tableID && plainIDs[owner+"."+f.Name] == ""
	}
	return false
}

// unnamed are notes on what an imported inventory has that looks like a name
// and passes as it is.
func unnamed(inv *Inventory) (out []string) {
	r, err := builtin()
	if err != nil {
		return nil // loading the rules says it
	}
	note := func(owner string, f *Field, u rule) {
		if suspect(owner, f) && !u.fits(f.Type) {
			out = append(out, fmt.Sprintf("%s: %s.%s looks like a name, has no rule and passes as it is", inv.Label, owner, f.Name))
		}
	}
	for _, name := range inv.Order {
		m := inv.Methods[name]
		for i := range m.Args {
			note(name, &m.Args[i], r.arg(name, &m.Args[i]))
		}
	}
	for _, name := range sortedKeys(inv.Structs) {
		st := inv.Structs[name]
		for i := range st.Fields {
			f := &st.Fields[i]
			if u, err := r.field(name, f); err == nil && !(st.Kind == Exception && f.Name == "message") {
				note(name, f, u)
			}
		}
	}
	return out
}
