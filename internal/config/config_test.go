package config

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite CONFIGURATION.md")

func mustParse(t *testing.T, format Format, file string) *Config {
	t.Helper()
	c, err := Parse("f", format, []byte(file))
	if err != nil {
		t.Fatalf("unexpected errors:\n%v", err)
	}
	return c
}

func (c *Config) value(t *testing.T, key string) Setting {
	t.Helper()
	for _, s := range c.Effective() {
		if s.Key == key {
			return s
		}
	}
	t.Errorf("%s is not among the effective settings", key)
	return Setting{}
}

func TestReferencePage(t *testing.T) {
	const page = "../../CONFIGURATION.md"
	var b bytes.Buffer
	if err := WriteReference(&b); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(page, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, b.Bytes()) {
		t.Error("CONFIGURATION.md is not what the schema says; run: go test ./internal/config -run TestReferencePage -update")
	}
	for i, c := range b.Bytes() {
		if c > '~' {
			t.Fatalf("byte %#x at %d is not ASCII", c, i)
		}
	}
}

// Defaults are not checked when they are used, so they are here, in both
// columns and in canonical form.
func TestDefaultsAreValid(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range rows() {
		for _, key := range append([]string{r.key}, aliasKeys(r)...) {
			if seen[key] {
				t.Errorf("%s is in the table twice", key)
			}
			seen[key] = true
		}
		if r.standing == noted && r.note == "" {
			t.Errorf("%s has no reason", r.key)
		}
		if r.standing == live && r.doc == "" {
			t.Errorf("%s has no sentence", r.key)
		}
		for _, f := range []Format{YAML, Properties} {
			def, _ := r.defaultIn(f)
			if def == "" || r.standing != live {
				continue
			}
			got, bad := r.normalise(def, nil)
			if bad.problem != "" || got != def {
				t.Errorf("%s: default %q: got %q %s", r.key, def, got, bad.problem)
			}
		}
		m, ok := lookup(strings.NewReplacer("<n>", "x", "*", "y").Replace(r.key))
		if !ok || m.row != r {
			t.Errorf("%s is found as another row", r.key)
		}
	}
}

func aliasKeys(r *row) []string {
	var out []string
	for _, a := range r.aliases {
		out = append(out, a.key)
	}
	return out
}

// A key that is in the table but read by nobody would be accepted in silence.
func TestEveryLiveKeyIsRead(t *testing.T) {
	c := mustParse(t, YAML, "catalog.x.uris: thrift://h:1\nlistener.x.bind: :1\nsecurity.proxyuser.x: {users: u, groups: g, hosts: h}\n")
	read := map[string]bool{}
	for _, s := range c.Effective() {
		read[s.Key] = true
	}
	for _, r := range rows() {
		if r.standing != live || r.kind == kindFree || r.kind == kindFile || r.kind == kindAddress {
			continue
		}
		if key := strings.Replace(r.key, "<n>", "x", 1); !read[key] {
			t.Errorf("%s is never read", key)
		}
	}
}

func TestDefaultsOfBothSpellings(t *testing.T) {
	ours := mustParse(t, YAML, "catalog.a.uris: thrift://h:1\n")
	theirs := mustParse(t, Properties, "catalogs=a\ncatalog.a.uris=thrift://h:1\n")
	for _, c := range []struct{ key, yaml, peer string }{
		{"routing.catalog-db-separator", "__", "."},
		{"federation.preserve-backend-catalog-name", "true", "false"},
		{"routing.unknown-methods", "forward", "refuse"},
		{"federation.view-text-rewrite.mode", "REWRITE", "REWRITE"},
		{"compatibility.frontend-profile", "auto", "apache-3.1.3"},
		{"catalog.a.runtime-profile", "auto", "apache-3.1.3"},
		{"catalog.a.uri-selection", "sequential", "random"},
		{"server.name", "", "hms-proxy"},
		{"server.port", "9083", "9083"},
		{"catalog.a.location-uri", "file:///warehouse/a", "file:///warehouse/a"},
	} {
		y, p := ours.value(t, c.key), theirs.value(t, c.key)
		if y.Value != c.yaml || p.Value != c.peer {
			t.Errorf("%s: got %q and %q, want %q and %q", c.key, y.Value, p.Value, c.yaml, c.peer)
		}
		wantOrigin := "peer default"
		if c.yaml == c.peer {
			wantOrigin = "default"
		}
		if y.Origin != "default" || p.Origin != wantOrigin {
			t.Errorf("%s: origins %q and %q, want default and %s", c.key, y.Origin, p.Origin, wantOrigin)
		}
	}
	want := Config{
		File: "f", DefaultCatalog: "a", Separator: "__", PreserveBackendCatalogName: true, RewriteViews: true,
		Listeners: []Listener{{Name: "server", Bind: "0.0.0.0:9083", Raw: true, Framed: true, FrontendProfile: "auto",
			DefaultCatalog: "a", ReadTimeout: 600 * time.Second,
			KeepAlive: KeepAlive{Enabled: true, Idle: 120 * time.Second, Interval: 30 * time.Second, Count: 4},
			Security:  Security{Mode: ModeNone, SetUGI: UGITrust}}},
		FrontDoor: defaultDoor(),
		Catalogs: []Catalog{{Name: "a", Addresses: []string{"h:1"}, BackendCatalog: "hive", Profile: "auto",
			LocationURI: "file:///warehouse/a", CallTimeout: 600 * time.Second, Conf: map[string]string{}}},
		Routing: Routing{FanoutTimeout: 30 * time.Second, ConnectPatience: 5 * time.Second},
		Limits: Limits{Connections: 10000, CallBytes: 100 << 20, FrameBytes: 16384000,
			HeldCall: 64 << 20, HeldTotal: 1 << 30, Handshakes: 1024, HandshakesPerAddress: 64, HandshakeBytes: 64 << 10},
		Locks: Locks{Timeout: 300 * time.Second},
		Log:   Log{Level: "info", Format: "json"}, MetricsPrefix: "hmsgate_", ShutdownTimeout: 30 * time.Second,
	}
	got := *ours
	got.settings, got.profiles = nil, nil
	if !reflect.DeepEqual(got, want) {
		t.Errorf("defaults differ\n got %+v\nwant %+v", got, want)
	}
}

// The smallest file for two catalogs, as the README has it.
func TestSmallestFile(t *testing.T) {
	c := mustParse(t, YAML, `listen: 127.0.0.1:9083
admin: 127.0.0.1:19083
routing.default-catalog: hdp
catalog:
  hdp:    {uris: thrift://127.0.0.1:29083}
  apache: {uris: thrift://127.0.0.1:29084}
`)
	if c.Listeners[0].Bind != "127.0.0.1:9083" || c.Admin != "127.0.0.1:19083" || c.DefaultCatalog != "hdp" {
		t.Errorf("got %s, %s, %s", c.Listeners[0].Bind, c.Admin, c.DefaultCatalog)
	}
	if got := c.names(); !reflect.DeepEqual(got, []string{"hdp", "apache"}) {
		t.Errorf("catalogs are %v, want the order of the file", got)
	}
	if len(c.Notes) != 1 || !strings.Contains(c.Notes[0], "mirrors of locks are off") {
		t.Errorf("got notes %q, want the one that locks have no mirrors", c.Notes)
	}
	if got := c.value(t, "catalog.apache.uris"); got.Origin != "f:6" {
		t.Errorf("origin is %q, want f:6", got.Origin)
	}
}

// Nested maps, dotted keys, lists and aliases are one language.
func TestSpellingsMeanTheSame(t *testing.T) {
	files := []string{
		"server: {bind-host: h, port: 1, transports: [framed]}\ncatalog: {a: {uris: ['thrift://x:1', 'thrift://y:2']}}\nlimits.held-call: 1MB\n",
		"listen: h:1\nserver.transports: framed\ncatalog.a.uris: thrift://x:1, thrift://y:2\nlimits: {held-call: 1048576}\n",
		"listen: 'h:1'\nserver.transports: FRAMED\ncatalog.a.conf: {hive.metastore.uris: 'thrift://x:1,thrift://y:2'}\nlimits.held-call: 1024 KiB\n",
		"listen: h:1\nserver: {transports: [framed]}\ncatalog: {a: {conf: {hive: {metastore: {uris: [\"THRIFT://x:1/\", 'thrift://y:2']}}}}}\nlimits.held-call: 1m\n",
		"listen: h:1\nserver.transports: framed\nu: &u thrift://y:2\ncatalog.a.uris: [thrift://x:1, *u]\nlimits.held-call: 1mb\n",
	}
	var first *Config
	for i, f := range files {
		f = strings.Replace(f, "u: &u thrift://y:2\n", "catalog.a.description: &u thrift://y:2\n", 1)
		c := mustParse(t, YAML, f)
		c.settings, c.Catalogs[0].Description = nil, ""
		if first == nil {
			first = c
		} else if !reflect.DeepEqual(c, first) {
			t.Errorf("file %d differs\n got %+v\nwant %+v", i, c, first)
		}
	}
	if got := first.Catalogs[0].Addresses; !reflect.DeepEqual(got, []string{"x:1", "y:2"}) {
		t.Errorf("addresses are %v", got)
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, c := range []struct{ name, text, separator string }{
		{"a.yaml", "catalog.a.uris: thrift://h:1\n", "__"},
		{"a.YML", "catalog.a.uris: thrift://h:1\n", "__"},
		{"a.properties", "catalogs=a\ncatalog.a.uris: thrift://h:1\n", "."},
	} {
		got, err := Load(write(c.name, c.text))
		if err != nil || got.Separator != c.separator {
			t.Errorf("%s: got %+v, %v", c.name, got, err)
		}
	}
	if _, err := Load(filepath.Join(dir, "missing.yaml")); !os.IsNotExist(unwrapped(err)) {
		t.Errorf("missing file: %v", err)
	}
	_, err := Load(write("a.conf", ""))
	if err == nil || !strings.HasSuffix(err.Error(), "; allowed: .yaml, .yml, .properties") {
		t.Errorf("other ending: %v", err)
	}
	_, err = Load(write("big.yaml", strings.Repeat("#", largest+1)))
	if err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("large file: %v", err)
	}
}

func unwrapped(err error) error {
	for {
		u, ok := err.(interface{ Unwrap() error })
		if !ok {
			return err
		}
		err = u.Unwrap()
	}
}

func TestCheckProfiles(t *testing.T) {
	c := mustParse(t, YAML, "catalog.a: {uris: 'thrift://h:1', runtime-profile: APACHE_4_1_0}\ncompatibility.frontend-profile: cdp-7.1\n")
	if err := c.CheckProfiles([]string{"apache-4.1.0", "cdp-7.1"}); err != nil {
		t.Errorf("known profiles: %v", err)
	}
	err := c.CheckProfiles([]string{"apache-4.1.0"})
	const want = `f:2: compatibility.frontend-profile: "cdp-7.1" is not a known interface version; allowed: auto, apache-4.1.0`
	if err == nil || err.Error() != want {
		t.Errorf("unknown profile\n got %v\nwant %s", err, want)
	}
}

func TestCheckImports(t *testing.T) {
	c, err := Parse("/etc/hmsgate/f.yaml", YAML, []byte(`
catalog.a.uris: thrift://h:1
profiles:
  import.cdp-3.1.3000.7: /opt/cdp/hive_metastore.thrift
  import: [acme-4.1.thrift, idl/x-2.3.thrift]
`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	err = c.CheckImports(func(label, path string) error {
		got = append(got, label+" "+path)
		if label == "x-2.3" {
			return errors.New("is bad")
		}
		return nil
	})
	want := []string{"cdp-3.1.3000.7 /opt/cdp/hive_metastore.thrift", "acme-4.1 /etc/hmsgate/acme-4.1.thrift",
		"x-2.3 /etc/hmsgate/idl/x-2.3.thrift"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	const text = `/etc/hmsgate/f.yaml:5: profiles.import: "acme-4.1.thrift,idl/x-2.3.thrift" cannot be imported: is bad`
	if err == nil || err.Error() != text {
		t.Errorf("got %v, want %s", err, text)
	}
}
