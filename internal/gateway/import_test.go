package gateway

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"hmsgate/internal/config"
	"hmsgate/internal/wiretest"
)

// vendorIDL is a metastore of a vendor's: one method that no other version
// has, and get_table where clients of today call get_table_req.
const vendorIDL = `
struct Catalog { 1: string name }
struct Table { 1: string tableName, 2: string dbName, 17: optional string catName, 60: optional string vendorTag }
struct TagRequest { 1: string tag, 2: required string dbName }
exception MetaException { 1: string message }
exception NoSuchObjectException { 1: string message }
service Vendor {
  Table get_table(1: string dbname, 2: string tbl_name) throws (1: MetaException o1, 2: NoSuchObjectException o2)
  void tag_table(1: TagRequest req) throws (1: MetaException o1)
}
`

// importConfig is a gateway's configuration in a folder with the vendor's IDL.
func importConfig(t *testing.T, text, idl string) (*config.Config, error) {
	t.Helper()
	dir := t.TempDir()
	for name, s := range map[string]string{"site.yaml": text, "acme-3.1.9.thrift": idl} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(s), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return config.Load(filepath.Join(dir, "site.yaml"))
}

// TestImportedVersion: a port of any version and one of the vendor's own know
// the vendor's method and its names, and calls of newer clients are bridged to
// what the vendor's metastore has.
func TestImportedVersion(t *testing.T) {
	hdp, acme := answering(t, nil), answering(t, nil)
	cfg, err := importConfig(t, fmt.Sprintf(`
listen: 127.0.0.1:0
listener.own: {bind: "127.0.0.1:0", frontend-profile: acme-3.1.9}
profiles.import: acme-3.1.9.thrift
routing.default-catalog: hdp
catalog:
  hdp: {uris: thrift://%s}
  acme: {uris: thrift://%s, runtime-profile: acme-3.1.9}
`, hdp.Addr(), acme.Addr()), vendorIDL)
	if err != nil {
		t.Fatal(err)
	}
	g, err := New(cfg, zerolog.Nop(), "test")
	if err != nil {
		t.Fatal(err)
	}
	begin(t, g)
	tag := func(db string) []byte {
		return wiretest.Call("tag_table", 7, wiretest.Struct(nil).Struct(1, wiretest.Struct(nil).String(1, "x").String(2, db).Stop()).Stop())
	}
	for i, ln := range g.listeners {
		c := dialAddr(t, ln.Addr())
		if m, err := exchange(c, tag("acme__sales")); err != nil || m.Method != "tag_table" {
			t.Fatalf("listener %d: tag_table: %v, %v", i, m, err)
		}
		if got := last(acme); got.Method != "tag_table" || !bytes.Equal(got.Bytes, tag("sales")) {
			t.Errorf("listener %d: the backend got %s %q, want %q", i, got.Method, got.Bytes, tag("sales"))
		}
		if m, err := exchange(c, tag("sales")); err != nil || m.Method != "tag_table" || last(hdp).Method != "tag_table" {
			t.Errorf("listener %d: the default catalog got %s (%v)", i, last(hdp).Method, err)
		}
	}
	call := wiretest.Call("get_table_req", 8, wiretest.Struct(nil).Struct(1,
		wiretest.Struct(nil).String(1, "acme__sales").String(2, "t").Stop()).Stop())
	if _, err := exchange(dialAddr(t, g.listeners[0].Addr()), call); err != nil {
		t.Fatal(err)
	}
	if got := last(acme).Method; got != "get_table" {
		t.Errorf("get_table_req reached the vendor's metastore as %s", got)
	}
}

func last(b *wiretest.Backend) wiretest.Message {
	calls := b.Calls()
	for i := len(calls) - 1; i >= 0; i-- {
		if m := calls[i]; m.Method != "getVersion" && m.Method != "get_catalogs" && !strings.HasPrefix(m.Method, "get_all_mat") {
			return m
		}
	}
	return wiretest.Message{}
}

// TestImportErrors: what is wrong with an import is told with the file and line
// of the configuration and of the IDL.
func TestImportErrors(t *testing.T) {
	for _, c := range []struct{ name, key, idl, want string }{
		{"idl", "profiles.import: acme-3.1.9.thrift", "struct A {\n 1: B b }\nservice S {}",
			`site.yaml:3: profiles.import: "acme-3.1.9.thrift" cannot be imported: DIR/acme-3.1.9.thrift:2: type B is defined nowhere`},
		{"no file", "profiles.import.acme-4.1: none.thrift", "",
			`site.yaml:3: profiles.import.acme-4.1: "none.thrift" cannot be imported: open DIR/none.thrift: `},
		{"name", "profiles.import.acme: acme-3.1.9.thrift", vendorIDL,
			`site.yaml:3: profiles.import.acme: "acme-3.1.9.thrift" cannot be imported: "acme" is not VENDOR-VERSION`},
		{"built in", "profiles.import.apache-3.1.3: acme-3.1.9.thrift", vendorIDL, `"apache-3.1.3" is built in`},
		{"twice", "profiles.import: acme-3.1.9.thrift, acme-3.1.9.thrift", vendorIDL, `"acme-3.1.9" is imported twice`},
		{"rules", "profiles.import: acme-3.1.9.thrift",
			"struct GetTableRequest { 1: string dbName, 2: string tblName, 3: string tbl }\nservice S { i32 get_table_req(1: i32 r) }",
			`acme-3.1.9 as `},
		{"not imported", "catalog.a.runtime-profile: acme-3.1.9", vendorIDL,
			`site.yaml:3: catalog.a.runtime-profile: "acme-3.1.9" is not a known interface version; allowed: auto, apache-2.3.10`},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg, err := importConfig(t, "catalog.a.uris: thrift://h:1\nlisten: :0\n"+c.key+"\n", c.idl)
			if err != nil {
				t.Fatal(err)
			}
			_, err = Profiles(cfg)
			got := fmt.Sprint(err)
			dir := filepath.Dir(cfg.File)
			got = strings.ReplaceAll(strings.ReplaceAll(got, dir+"/site", "site"), dir, "DIR")
			if !strings.Contains(got, c.want) {
				t.Errorf("got %s\nwant %s in it", got, c.want)
			}
		})
	}
}
