package route

import (
	"testing"

	"hmsgate/profiles"
	"hmsgate/rewrite"
)

// fixture is the one of the public cases: hdp (default) and apache, "__".
func fixture(t testing.TB, change func(*Config)) *Table {
	t.Helper()
	cfg := Config{
		Catalogs: []CatalogConfig{
			{Name: "hdp", URIs: []string{"thrift://127.0.0.1:29083"}},
			{Name: "apache", URIs: []string{"thrift://127.0.0.1:29084"}},
		},
		Default: "hdp", Separator: "__", PreserveBackendCatalog: true,
	}
	if change != nil {
		change(&cfg)
	}
	tbl, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return tbl
}

// three catalogs, one of them with claims and a backend catalog of its own.
func three(c *Config) {
	c.Catalogs = append(c.Catalogs, CatalogConfig{Name: "Crm_EU", URIs: []string{"h:1"},
		BackendCatalog: "main", Claims: []string{"Orders"}})
}

var (
	readRow  = &profiles.Row{Method: "m", Class: profiles.Read, Where: profiles.ByNames}
	writeRow = &profiles.Row{Method: "m", Class: profiles.Write, Where: profiles.ByNames}
)

// val is a name of a kind.
type val struct {
	k rewrite.Kind
	v string
}

func db(s string) val  { return val{rewrite.DBAt, s} }
func cat(s string) val { return val{rewrite.Cat, s} }

// gather binds a call's names.
func gather(tbl *Table, def *Catalog, vals ...val) *Binding {
	b := new(Binding)
	b.Reset(tbl, def)
	addAll(b, vals)
	return b
}

func addAll(b *Binding, vals []val) {
	for _, v := range vals {
		buf := []byte(v.v)
		b.Add(v.k, buf)
		for i := range buf {
			buf[i] = 'X' // the bytes are the caller's again
		}
	}
}

func catName(c *Catalog) string {
	if c == nil {
		return ""
	}
	return c.Name
}

// text is a refusal's text, "" for none.
func text(r *Refusal) string {
	if r == nil {
		return ""
	}
	return r.Text
}

func apply(t *testing.T, n rewrite.Names, k rewrite.Kind, v string) string {
	t.Helper()
	out, err := n.Append([]byte("<"), k, []byte(v))
	if err != nil {
		t.Fatalf("%v %q: %v", k, v, err)
	}
	if len(out) == 0 || out[0] != '<' {
		t.Fatalf("%v %q: what was in dst is gone: %q", k, v, out)
	}
	return string(out[1:])
}
