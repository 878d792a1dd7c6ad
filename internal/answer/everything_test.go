package answer_test

import (
	"slices"
	"strings"
	"testing"

	"hmsgate/internal/hms"
)

// listed are a field of each struct of a result's list.
func listed(v any, list, field string) []string {
	out := []string{}
	s, _ := v.(hms.Struct)
	for _, e := range s.Structs(list) {
		out = append(out, e.Str(field))
	}
	slices.Sort(out)
	return out
}

// Functions of the default catalog, or of all by setting, each under its
// database's outside name.
func TestAllFunctions(t *testing.T) {
	for setting, want := range map[string][]string{
		"": names("sales"), "routing.federated-lists: all": names("apache__sales", "sales"),
	} {
		f := frontOf(t, newStore(t, "hdp", "apache-4.1.0"), newStore(t, "apache", "apache-3.1.3"), setting)
		c := f.dial("apache-3.1.3")
		for _, db := range []string{"sales", "apache__sales"} {
			c.must("create_function", hms.Struct{"func": hms.Struct{"functionName": "f", "dbName": db, "className": "x.Y", "ownerName": "o",
				"ownerType": int32(1), "functionType": int32(1), "createTime": int32(1), "resourceUris": []any{}}})
		}
		if got := listed(c.must("get_all_functions", nil), "functions", "dbName"); !slices.Equal(got, want) {
			t.Errorf("%q: got functions of %q, want %q", setting, got, want)
		}
	}
}

// The same for whole databases, also from a metastore that lacks the method.
func TestAllDatabases(t *testing.T) {
	for _, s := range []struct {
		setting, catalog, pattern string
		want                      []string
	}{
		{"", "", "*", names("default", "my_database", "sales")},
		{"", "apache", "*", names("crm", "default", "sales")},
		{"routing.federated-lists: all", "", "*", names("apache__crm", "apache__default", "apache__sales", "default", "my_database", "sales")},
		{"routing.federated-lists: all", "hive", "", names("apache__crm", "apache__default", "apache__sales", "default", "my_database", "sales")},
		{"routing.federated-lists: all", "", "*sal*", names("apache__sales", "sales")},
		{"routing.federated-lists: all", "", "apache__c*", names("apache__crm")},
		{"routing.federated-lists: all", "apache", "*", names("crm", "default", "sales")},
	} {
		f := frontOf(t, newStore(t, "hdp", "apache-4.1.0"), newStore(t, "apache", "apache-3.1.3"), s.setting)
		req := hms.Struct{}
		if s.catalog != "" {
			req["catalogName"] = s.catalog
		}
		if s.pattern != "" {
			req["pattern"] = s.pattern
		}
		v := f.dial("apache-4.1.0").must("get_databases_req", hms.Struct{"request": req})
		if got := listed(v, "databases", "name"); !slices.Equal(got, s.want) {
			t.Errorf("%+v: got %q", s, got)
		}
	}
}

// One dead catalog fails the lists, unless lists may do without.
func TestAllListsWithoutACatalog(t *testing.T) {
	for _, lenient := range []bool{false, true} {
		settings := []string{"routing.federated-lists: all"}
		if lenient {
			settings = append(settings, "routing.degraded-routing-policy: SAFE_FANOUT_READS")
		}
		f := newFront(t, settings...)
		f.apache.stop()
		c := f.dial("apache-4.1.0")
		for method, args := range map[string]hms.Struct{"get_all_functions": nil, "get_databases_req": {"request": hms.Struct{}}} {
			if v, err := c.try(method, args); (err == nil) != lenient {
				t.Errorf("%s, lenient %v: got %v, %v", method, lenient, v, err)
			}
		}
	}
}

// Locks and compactions when nothing in particular is asked for: the default
// catalog's, or those of all, with ids that lead back to their catalog and
// without what the gateway holds itself.
func TestAllStatus(t *testing.T) {
	for setting, want := range map[string][]string{
		"": names("sales"), "routing.federated-status: all": names("apache__sales", "sales"),
		"routing.federated-status: all\ncatalog.apache.locks: synthetic": names("apache__sales", "sales"),
	} {
		f := frontOf(t, newStore(t, "hdp", "apache-3.1.3"), newStore(t, "apache", "apache-3.1.3"), setting)
		c := f.dial("apache-3.1.3")
		ids := map[string]int64{}
		for _, db := range []string{"sales", "apache__sales"} {
			if strings.Contains(setting, "synthetic") {
				ids[db] = c.lock(acquired, c.openTxn(), part(sharedRead, db, "orders", opNoTxn))
			} else {
				ids[db] = c.lock(acquired, 0, part(sharedRead, db, "orders", opUnset))
			}
			c.must("compact", hms.Struct{"rqst": hms.Struct{"dbname": db, "tablename": "orders", "type": int32(1)}})
		}
		locked := c.must("show_locks", hms.Struct{"rqst": hms.Struct{"isExtended": true}})
		if got := listed(locked, "locks", "dbname"); !slices.Equal(got, want) {
			t.Errorf("%q: got locks of %q, want %q", setting, got, want)
		}
		for _, e := range locked.(hms.Struct).Structs("locks") {
			if e.Int("lockid") != ids[e.Str("dbname")] {
				t.Errorf("%q: lock %d of %s, want %d", setting, e.Int("lockid"), e.Str("dbname"), ids[e.Str("dbname")])
			}
		}
		if strings.Contains(setting, "synthetic") {
			continue
		}
		if got := listed(c.must("show_compact", hms.Struct{"rqst": hms.Struct{}}), "compacts", "dbname"); !slices.Equal(got, want) {
			t.Errorf("%q: got compactions of %q, want %q", setting, got, want)
		}
	}
	f := newFront(t, oneInstance+"\nrouting.federated-status: all")
	c := f.dial("apache-3.1.3")
	id := c.lock(acquired, c.openTxn(), part(sharedRead, "apache__sales", "orders", opSelect))
	v := c.must("show_locks", hms.Struct{"rqst": hms.Struct{}}).(hms.Struct).Structs("locks")
	if len(v) != 1 || v[0].Int("lockid") != id || v[0].Str("dbname") != "apache__sales" {
		t.Errorf("got %v, want the primary alone", v)
	}
	f.apache.stop()
	if v, err := c.try("show_locks", hms.Struct{"rqst": hms.Struct{}}); err == nil {
		t.Errorf("with a catalog away: got %v, want an error", v)
	}
}
