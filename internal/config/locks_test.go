package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"hmsgate/internal/zk"
)

const twoCatalogs = "routing.default-catalog: a\ncatalog: {a: {uris: 'thrift://a:1'}, b: {uris: 'thrift://b:1'}}\n"

// A store that instances share turns mirrors on, by either name of its keys.
func TestZooKeeperStore(t *testing.T) {
	file := filepath.Join(t.TempDir(), "digest")
	if err := os.WriteFile(file, []byte("gate:secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	anyone, err := zk.ParseACL("world:anyone:cdrwa")
	if err != nil {
		t.Fatal(err)
	}
	defaults := ZooKeeper{Servers: []string{"z1:2181", "z2:2182"}, Root: "/chroot/hmsgate/locks", ConnectTimeout: 15 * time.Second,
		SessionTimeout: time.Minute, BaseSleep: time.Second, MaxRetries: 3, ACL: anyone}
	set := defaults
	set.Root, set.ConnectTimeout, set.Digest = "/chroot/x/y", 2*time.Second, "gate:secret"
	for text, want := range map[string]ZooKeeper{
		"locks.zookeeper.connect-string: z1, z2:2182/chroot": defaults,
		"locks: {store: zookeeper, zookeeper: {connect-string: 'z1,z2:2182/chroot/', znode: /x/y, connection-timeout-ms: 2s, digest-file: " + file + "}}": set,
		"synthetic-read-lock.store: {mode: ZOOKEEPER, zookeeper.connect-string: 'z1,z2:2182/chroot'}":                                                     defaults,
	} {
		c := mustParse(t, YAML, twoCatalogs+text)
		if z := c.Locks.ZooKeeper; z == nil || !reflect.DeepEqual(*z, want) || !c.Locks.Mirrors || len(c.Notes) != 0 {
			t.Errorf("%s: got %+v, notes %q, want %+v", text, z, c.Notes, want)
		}
		for _, s := range c.Effective() {
			if strings.Contains(s.Value, "secret") {
				t.Errorf("%s shows the secret", s.Key)
			}
		}
	}
	peer := mustParse(t, Properties, "catalogs=a\ncatalog.a.uris=thrift://a:1\nsynthetic-read-lock.store.zookeeper.connect-string=z\n")
	if z := peer.Locks.ZooKeeper; z == nil || z.Root != "/hms-proxy-synthetic-read-locks" {
		t.Errorf("a .properties file: got %+v", z)
	}
	if c := mustParse(t, YAML, twoCatalogs+"locks.store: in_memory"); c.Locks.ZooKeeper != nil || c.Locks.Mirrors {
		t.Errorf("in memory: got %+v", c.Locks)
	}
}

// The transaction timeout is the default catalog's, by its Hive names too.
func TestTxnTimeout(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"": 300 * time.Second, "catalog.a.txn-timeout-seconds: 5m": 5 * time.Minute, "catalog.a.conf.hive.txn.timeout: 7": 7 * time.Second,
		"catalog.a.conf.metastore.txn.timeout: 90s\ncatalog.b.txn-timeout-seconds: 1": 90 * time.Second,
		"backend.conf.metastore.txn.timeout: 8":                                       8 * time.Second,
	} {
		if c := mustParse(t, YAML, twoCatalogs+text); c.Locks.Timeout != want {
			t.Errorf("%s: got %v, want %v", text, c.Locks.Timeout, want)
		}
	}
}
