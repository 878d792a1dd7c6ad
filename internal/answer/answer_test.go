package answer_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"hmsgate/internal/hms"
	"hmsgate/internal/wiretest"
)

// L13: the configured catalogs, never the metastores' raw lists; "hive" stays
// known while replies say it.
func TestL13Catalogs(t *testing.T) {
	for _, tc := range []struct {
		name, settings string
		want           []string
	}{
		{"backend names preserved", "", names("apache", "hdp", "hive")},
		{"proxy names", "federation.preserve-backend-catalog-name: false", names("apache", "hdp")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newFront(t, tc.settings).dial("apache-3.1.3")
			v := c.must("get_catalogs", nil).(hms.Struct)
			if got := hms.Strings(v["names"]); !slices.Equal(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// A default catalog that knows no catalogs.
func TestCatalogsOverHive2(t *testing.T) {
	f := frontOf(t, newStore(t, "hdp", "apache-2.3.10"), newStore(t, "apache", "apache-3.1.3"))
	v := f.dial("apache-3.1.3").must("get_catalogs", nil).(hms.Struct)
	if got, want := hms.Strings(v["names"]), names("apache", "hdp"); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCatalogIsDescribed(t *testing.T) {
	f := newFront(t, "catalog.apache.description: the other one", "catalog.apache.location-uri: file:/else")
	c := f.dial("apache-3.1.3")
	ask := func(name string) (hms.Struct, error) {
		v, err := c.try("get_catalog", hms.Struct{"catName": hms.Struct{"name": name}})
		if err != nil {
			return nil, err
		}
		return v.(hms.Struct).Struct("catalog"), nil
	}
	got, err := ask("APACHE")
	if err != nil || got.Str("name") != "apache" || got.Str("description") != "the other one" || got.Str("locationUri") != "file:/else" {
		t.Errorf("got %v, %v, want apache as configured", got, err)
	}
	if got, err := ask("hive"); err != nil || got.Str("description") != "Default catalog for Hive" {
		t.Errorf("got %v, %v, want the default metastore's own", got, err)
	}
	if got, err := ask("nobody"); err == nil {
		t.Errorf("got %v, want the default metastore's refusal", got)
	}
	if n := len(f.apache.calls("get_catalog")); n != 0 {
		t.Errorf("apache got %d calls, want none", n)
	}
}

func TestCatalogDDLIsRefused(t *testing.T) {
	ddl := map[string]hms.Struct{
		"create_catalog": {"catalog": hms.Struct{"catalog": hms.Struct{"name": "mine", "locationUri": "file:/mine"}}},
		"drop_catalog":   {"catName": hms.Struct{"name": "mine"}},
		"alter_catalog":  {"rqst": hms.Struct{"name": "mine", "newCat": hms.Struct{"name": "mine", "locationUri": "file:/x"}}},
	}
	f := newFront(t)
	c := f.dial("apache-3.1.3")
	for method, args := range ddl {
		_, err := c.try(method, args)
		var x *hms.Exception
		if !errors.As(err, &x) || x.Type != "MetaException" || !strings.Contains(x.Message, "Catalog definitions are policy-owned") {
			t.Errorf("%s: got %v, want the refusal", method, err)
		}
	}
	if n := len(f.hdp.calls("create_catalog", "drop_catalog", "alter_catalog")); n != 0 {
		t.Errorf("hdp got %d calls, want none", n)
	}
}

// The base service: what the gateway says of itself, and what it never passes.
func TestBaseService(t *testing.T) {
	f := newFront(t, "server.name: gate")
	c := f.dial("apache-3.1.3")
	if got := c.must("getStatus", nil); fmt.Sprint(got) != "2" {
		t.Errorf("getStatus: got %v, want 2 (alive)", got)
	}
	if got := c.must("getName", nil); got != "gate" {
		t.Errorf("getName: got %v, want gate", got)
	}
	if got := c.must("getVersion", nil); got != "3.0" {
		t.Errorf("getVersion: got %v, want the default metastore's 3.0", got)
	}
	if got, ok := c.must("aliveSince", nil).(int64); !ok || got < 1_600_000_000 || got > 5_000_000_000 {
		t.Errorf("aliveSince: got %v, want seconds", got)
	}
	// One-way calls go nowhere, and the connection goes on.
	c.must("reinitialize", nil)
	c.must("shutdown", nil)
	c.wantNames("get_all_databases", nil, six...)
	for _, s := range []*store{f.hdp, f.apache} {
		if got := s.calls("shutdown", "reinitialize", "getStatus", "aliveSince", "getName"); len(got) != 0 {
			t.Errorf("a metastore got %v, want none of these", got)
		}
	}
}

// L12: two hints that disagree.
func TestL12ConflictingHints(t *testing.T) {
	f := newFront(t)
	_, err := f.dial("apache-3.1.3").try("get_table_req", hms.Struct{"req": hms.Struct{"dbName": "apache__sales",
		"tblName": "orders", "catName": "hdp"}})
	var x *hms.Exception
	if !errors.As(err, &x) || x.Type != "MetaException" || !strings.Contains(x.Message, "hdp") || !strings.Contains(x.Message, "apache__sales") {
		t.Errorf("got %v, want a MetaException naming both", err)
	}
	f.wantMetric("hmsgate_routing_ambiguous_total", "", 1)
}

// L14: letter case.
func TestL14LetterCase(t *testing.T) {
	f := newFront(t)
	c := f.dial("apache-3.1.3")
	c.must("create_database", hms.Struct{"database": hms.Struct{"name": "apache__Crm2", "description": "two"}})
	got := c.must("get_database", hms.Struct{"name": "APACHE__CRM2"}).(hms.Struct)
	if got.Str("description") != "two" || !strings.EqualFold(got.Str("name"), "apache__crm2") {
		t.Errorf("got %v, want apache__crm2", got)
	}
	c.wantNames("get_databases", pattern("*crm2"), "apache__crm2")
	if n := len(f.hdp.calls("create_database", "get_database")); n != 0 {
		t.Errorf("hdp got %d calls, want none", n)
	}
}

// L16: a table's name is nobody's business.
func TestL16TableNameWithDollar(t *testing.T) {
	f := newFront(t)
	_, err := f.dial("apache-3.1.3").try("get_table", hms.Struct{"dbname": "apache__default", "tbl_name": "$schemas"})
	var x *hms.Exception
	if !errors.As(err, &x) || x.Type != "NoSuchObjectException" {
		t.Errorf("got %v, want NoSuchObjectException", err)
	}
	if got := f.apache.calls("get_table"); len(got) != 1 || got[0].args.Str("tbl_name") != "$schemas" || got[0].args.Str("dbname") != "default" {
		t.Errorf("apache got %v, want get_table(default, $schemas)", got)
	}
}

func ugi(user string, groups ...string) hms.Struct {
	return hms.Struct{"user_name": user, "group_names": groups}
}

// L62: once for each backend connection, and only where the client goes.
func TestL62SetUGI(t *testing.T) {
	f := newFront(t)
	c := f.dial("apache-3.1.3")
	c.wantNames("set_ugi", ugi("alice", "g1", "g2"), "g1", "g2")
	for range 100 {
		c.must("get_table", hms.Struct{"dbname": "apache__sales", "tbl_name": "orders"})
	}
	if got := f.apache.calls("set_ugi"); len(got) != 1 || got[0].args.Str("user_name") != "alice" {
		t.Errorf("apache got %v, want one set_ugi of alice", got)
	}
	if got := f.hdp.calls("set_ugi"); len(got) != 0 {
		t.Errorf("hdp got %v, want no set_ugi", got)
	}
	// A second one ends the connection, as a metastore's does.
	if v, err := c.try("set_ugi", ugi("bob")); err == nil {
		t.Errorf("second set_ugi: got %v, want a closed connection", v)
	}
}

// A set_ugi behind other calls reaches connections that are open already.
func TestLateSetUGI(t *testing.T) {
	f := newFront(t)
	c := f.dial("apache-3.1.3")
	get := func() { c.must("get_table", hms.Struct{"dbname": "sales", "tbl_name": "orders"}) }
	get()
	c.wantNames("set_ugi", ugi("alice"))
	get()
	get()
	got := f.hdp.calls("set_ugi", "get_table")
	var order []string
	for _, s := range got {
		order = append(order, s.method)
		if s.conn != got[0].conn {
			t.Errorf("got connections %d and %d, want one", s.conn, got[0].conn)
		}
	}
	if want := names("get_table", "set_ugi", "get_table", "get_table"); !slices.Equal(order, want) {
		t.Errorf("got %q, want %q", order, want)
	}
}

// The group list comes back as it was sent, whatever else the call holds.
func TestSetUGIReply(t *testing.T) {
	f := newFront(t)
	for name, args := range map[string]wiretest.Struct{
		"groups":       wiretest.Struct(nil).String(1, "alice").Strings(2, "a", "b"),
		"other order":  wiretest.Struct(nil).Strings(2, "a", "b").String(1, "alice"),
		"more fields":  wiretest.Struct(nil).String(1, "alice").I32(9, 7).Struct(8, []byte{0}).Strings(2, "a", "b"),
		"wrong groups": wiretest.Struct(nil).String(1, "alice").List(2, wiretest.WireI64, make([]byte, 8)),
		"no groups":    wiretest.Struct(nil).String(1, "alice"),
	} {
		t.Run(name, func(t *testing.T) {
			want := wiretest.Reply("set_ugi", 3, wiretest.Struct(nil).Strings(0).Stop())
			if !strings.Contains(name, "no") && !strings.Contains(name, "wrong") {
				want = wiretest.Reply("set_ugi", 3, wiretest.Struct(nil).Strings(0, "a", "b").Stop())
			}
			if got := rawCall(t, f, wiretest.Call("set_ugi", 3, args.Stop()), len(want)); string(got) != string(want) {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		})
	}
}

// L64: two clients, each with connections of its own.
func TestL64UsersDoNotMix(t *testing.T) {
	f := newFront(t)
	users := map[string]*caller{"alice": f.dial("apache-3.1.3"), "bob": f.dial("apache-3.1.3")}
	for name, c := range users {
		c.must("set_ugi", ugi(name))
	}
	for n := range 20 {
		for name, c := range users {
			_, _ = c.try("get_table", hms.Struct{"dbname": "sales", "tbl_name": fmt.Sprintf("%s_%d", name, n)})
		}
	}
	user := map[int]string{}
	got := f.hdp.calls("set_ugi", "get_table")
	for _, s := range got {
		if s.method == "set_ugi" {
			if user[s.conn] != "" {
				t.Errorf("connection %d was told twice who it serves", s.conn)
			}
			user[s.conn] = s.args.Str("user_name")
		} else if !strings.HasPrefix(s.args.Str("tbl_name"), user[s.conn]+"_") || user[s.conn] == "" {
			t.Errorf("connection %d of %q got the call for %q", s.conn, user[s.conn], s.args.Str("tbl_name"))
		}
	}
	if len(got) != 42 || len(user) != 2 {
		t.Errorf("got %d calls of %d users, want 42 of 2", len(got), len(user))
	}
}

// L65: a privilege question about nothing in particular.
func TestL65GlobalPrivileges(t *testing.T) {
	f := newFront(t)
	_, err := f.dial("apache-3.1.3").try("get_privilege_set", hms.Struct{
		"hiveObject": hms.Struct{"objectType": int32(1)}, "user_name": "alice", "group_names": []string{"g"}})
	var x *hms.Exception
	var app *hms.AppError
	if err != nil && !errors.As(err, &x) && !errors.As(err, &app) {
		t.Errorf("got %v, want an answer", err)
	}
	if got := f.hdp.calls("get_privilege_set"); len(got) != 1 {
		t.Errorf("hdp got %v, want one call", got)
	}
	if got := f.apache.calls("get_privilege_set"); len(got) != 0 {
		t.Errorf("apache got %v, want none", got)
	}
}

// A setting of the connection: the default metastore answers, the others hear
// it when they are next used, refused ones are not repeated.
func TestSetMetaConf(t *testing.T) {
	f := newFront(t)
	c := f.dial("apache-3.1.3")
	const key = "metastore.partition.name.whitelist.pattern"
	c.must("get_table", hms.Struct{"dbname": "apache__sales", "tbl_name": "orders"})
	c.must("setMetaConf", hms.Struct{"key": key, "value": "a.*"})
	if v, err := c.try("setMetaConf", hms.Struct{"key": "no.such.key", "value": "x"}); err == nil {
		t.Errorf("got %v, want the metastore's refusal", v)
	}
	if got := f.apache.calls("setMetaConf"); len(got) != 0 {
		t.Errorf("apache got %v before it was used again", got)
	}
	for range 3 {
		c.must("get_table", hms.Struct{"dbname": "apache__sales", "tbl_name": "orders"})
		c.must("get_table", hms.Struct{"dbname": "sales", "tbl_name": "orders"})
	}
	if got := f.apache.calls("setMetaConf"); len(got) != 1 || got[0].args.Str("value") != "a.*" {
		t.Errorf("apache got %v, want one setMetaConf", got)
	}
	if got := f.hdp.calls("setMetaConf"); len(got) != 2 {
		t.Errorf("hdp got %v, want the two setMetaConf of the client", got)
	}
	if got := c.must("getMetaConf", hms.Struct{"key": key}); got != "a.*" {
		t.Errorf("getMetaConf: got %v, want a.*", got)
	}
}

// What is remembered for a client is bounded.
func TestTooManySettings(t *testing.T) {
	f := newFront(t)
	c := f.dial("apache-3.1.3")
	value := strings.Repeat("x", 10_000)
	for n := 0; ; n++ {
		if n == 20 {
			t.Fatal("20 settings of 10 KB each were accepted")
		}
		if _, err := c.try("setMetaConf", hms.Struct{"key": "metastore.partition.name.whitelist.pattern", "value": fmt.Sprint(n, value)}); err != nil {
			break
		}
	}
}
