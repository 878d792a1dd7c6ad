package config

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

// A migrated site brings its file as it is.
func TestPeerFile(t *testing.T) {
	c, err := Load("testdata/peer.properties")
	if err != nil {
		t.Fatal(err)
	}
	keep := KeepAlive{Enabled: true, Idle: 120 * time.Second, Interval: 30 * time.Second, Count: 4}
	open := Security{Mode: ModeNone, SetUGI: UGITrust}
	door := defaultDoor()
	door.Principals, door.Realm = []string{"hive/_HOST@EXAMPLE.COM"}, "EXAMPLE.COM"
	want := Config{
		FrontDoor: door,
		File:      "testdata/peer.properties", Name: "hms-proxy-prod", Admin: "0.0.0.0:10083", DefaultCatalog: "hdp", Separator: ".",
		RewriteViews: true,
		Listeners: []Listener{
			{Name: "server", Bind: "0.0.0.0:9083", Raw: true, Framed: true, FrontendProfile: "hdp-3.1.0.0-78",
				DefaultCatalog: "hdp", ReadTimeout: 300 * time.Second, KeepAlive: keep, Security: open},
			{Name: "spark", Bind: "0.0.0.0:9084", Raw: true, Framed: true, FrontendProfile: "apache-3.1.3",
				DefaultCatalog: "hdp", ReadTimeout: 300 * time.Second, KeepAlive: keep, Security: open},
		},
		Catalogs: []Catalog{
			{Name: "hdp", Addresses: []string{"hdp-1.example.com:9083", "hdp-2.example.com:9083"}, BackendCatalog: "hive",
				Profile: "hdp-3.1.5.0-152", Description: "HDP metastore \u2013 production", LocationURI: "file:///warehouse/hdp",
				CallTimeout: 120 * time.Second, Conf: map[string]string{"fs.defaultFS": "hdfs://hdp"}},
			{Name: "apache", Addresses: []string{"apache.example.com:9083"}, Random: true, BackendCatalog: "hive",
				Profile: "apache-3.1.3", LocationURI: "hdfs://apache/warehouse",
				CallTimeout: 5 * time.Minute, Conf: map[string]string{"fs.defaultFS": "hdfs://shared"}},
		},
		Routing: Routing{RefuseUnknownMethods: true, LenientFanout: true, FanoutTimeout: 30 * time.Second, ConnectPatience: 5 * time.Second},
		Limits: Limits{Connections: 10000, CallBytes: 100 << 20, FrameBytes: 16384000, HeldCall: 64 << 20, HeldTotal: 1 << 30,
			Handshakes: 1024, HandshakesPerAddress: 64, HandshakeBytes: 64 << 10},
		Locks: Locks{Timeout: 300 * time.Second},
		Log:   Log{Level: "info", Format: "json"}, MetricsPrefix: "hmsgate_", ShutdownTimeout: 30 * time.Second,
	}
	got := *c
	got.settings, got.profiles, got.Notes = nil, nil, nil
	if !reflect.DeepEqual(got, want) {
		t.Errorf("result differs\n got %+v\nwant %+v", got, want)
	}
	wantNotes := `testdata/peer.properties: note: gateway.instances: mirrors of locks are off: locks that transactions take on other catalogs do not hold against clients of those catalogs alone; 1 turns them on, where one instance is all there is, and locks.store: ZOOKEEPER where there are several
testdata/peer.properties: note: routing.iceberg-pointer-guard.enabled: no check keeps an alter_table from undoing an Iceberg commit, where hms-proxy has one on by default
testdata/peer.properties:10: note: server.min-worker-threads: has no effect: the gateway has no pool of worker threads
testdata/peer.properties:11: note: server.max-worker-threads: has no effect: the gateway has no pool of worker threads; limits.connections bounds clients
testdata/peer.properties:16: note: management.threads: has no effect: the gateway has no pool of worker threads
testdata/peer.properties:20: note: compatibility.frontend-standalone-metastore-jar: has no effect: no Hive jar is involved
testdata/peer.properties:24: note: additional-frontends.spark.max-worker-threads: has no effect: the gateway has no pool of worker threads
testdata/peer.properties:27: note: security.server-principal: has no effect: no listener's security.mode is KERBEROS
testdata/peer.properties:30: note: backend.conf: these Hive settings are kept but have no effect: fs.defaultFS
testdata/peer.properties:36: note: catalog.hdp.access-mode: has no effect: the feature is not in this version
testdata/peer.properties:37: note: catalog.hdp.conf: these Hive settings are kept but have no effect: fs.defaultFS
testdata/peer.properties:44: note: routing.hedged-read.enabled: has no effect: listings over all catalogs always ask them in parallel
testdata/peer.properties:45: note: routing.hedged-read.max-parallelism: has no effect: listings over all catalogs always ask them in parallel
testdata/peer.properties:46: note: routing.circuit-breaker.enabled: has no effect: the feature is not in this version
testdata/peer.properties:47: note: routing.circuit-breaker.failure-threshold: has no effect: the feature it belongs to is off
testdata/peer.properties:49: note: synthetic-read-lock.store.mode: synthetic locks are granted only where catalog.<n>.locks says so
testdata/peer.properties:50: note: guard.transactional-ddl.mode: has no effect: the feature is not in this version`
	if notes := strings.Join(c.Notes, "\n"); notes != wantNotes {
		t.Errorf("notes differ\n got:\n%s\nwant:\n%s", notes, wantNotes)
	}
	for key, origin := range map[string]string{
		"catalog.hdp.uris":              "testdata/peer.properties:34",
		"catalog.hdp.call-timeout-ms":   "testdata/peer.properties:29",
		"listener.spark.port":           "testdata/peer.properties:22",
		"catalog.apache.uri-selection":  "peer default",
		"routing.catalog-db-separator":  "peer default",
		"server.tcp-keepalive-count":    "default",
		"management.port":               "testdata/peer.properties:15",
		"catalog.apache.description":    "default",
		"catalog.apache.transport":      "default",
		"security.server-principal":     "testdata/peer.properties:27",
		"backend.conf.fs.defaultFS":     "testdata/peer.properties:30",
		"catalog.hdp.conf.fs.defaultFS": "testdata/peer.properties:37",
	} {
		if s := c.value(t, key); s.Origin != origin {
			t.Errorf("%s comes from %q, want %q", key, s.Origin, origin)
		}
	}
}

// Features off are accepted, features asked for are not: every row, both ways.
func TestLaterKeys(t *testing.T) {
	for i := range laterRows {
		r := &laterRows[i]
		key := strings.NewReplacer("<n>", "hdp", "*", "any").Replace(r.key)
		for _, off := range r.off {
			for _, v := range []string{off, strings.ToLower(off)} {
				c, err := Parse("f", Properties, []byte(peerBase+key+"="+v+"\n"))
				if err != nil {
					t.Errorf("%s=%s: %v", key, v, err)
				} else if !strings.Contains(strings.Join(c.Notes, "\n"), "f:6: note: "+key+": has no effect") {
					t.Errorf("%s=%s: no note in %q", key, v, c.Notes)
				}
			}
		}
		_, err := Parse("f", Properties, []byte(peerBase+key+"=ANYTHING_ELSE\n"))
		if err == nil || !strings.HasPrefix(err.Error(), "f:6: "+key+`: "ANYTHING_ELSE" is not supported by this version; allowed: `) {
			t.Errorf("%s=ANYTHING_ELSE: got %v", key, err)
		}
	}
}

func TestNotes(t *testing.T) {
	old := localNames
	localNames = func() []string { return []string{"gw1", "10.0.0.7"} }
	defer func() { localNames = old }()
	for _, c := range []struct{ name, file, want string }{
		{"none", "catalog.a.uris: thrift://h:1\n", ""},
		{"catalog called hive: package route warns where it is true", "catalog:\n  hive: {uris: 'thrift://h:1'}\n", ""},
		{"single underscore", "routing.catalog-db-separator: _\ncatalog.a.uris: thrift://h:1\n",
			"f:1: warning: routing.catalog-db-separator: many database names have a single _ in them; those of the default catalog that begin with the name of another catalog cannot be reached"},
		{"own host name", "catalog.a.uris: thrift://GW1:9083\n", "f:1: warning: catalog.a.uris: GW1:9083 is this machine, and the gateway listens there itself"},
		{"own address, other port", "catalog.a.uris: thrift://10.0.0.7:9084\n", ""},
		{"own address, listener elsewhere", "listen: 10.0.0.8:9083\ncatalog.a.uris: thrift://10.0.0.7:9083\n", ""},
		{"settings without effect", "catalog.a:\n  uris: thrift://h:1\n  conf: {b: 1, a: 2}\n", "f:3: note: catalog.a.conf: these Hive settings are kept but have no effect: a, b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := strings.Join(mustParse(t, YAML, c.file).Notes, "\n"); got != c.want {
				t.Errorf("notes differ\n got: %s\nwant: %s", got, c.want)
			}
		})
	}
}

// Addresses that look alike but do not meet.
func TestListenersThatDoNotCollide(t *testing.T) {
	for _, more := range []string{
		"listen: 127.0.0.1:9083\nadmin: 127.0.0.2:9083\n",
		"listen: 0.0.0.0:9083\nadmin: '[::1]:9083'\n",
		"listen: '127.0.0.1:0'\nadmin: '127.0.0.1:0'\n",
		"listen: h1:9083\nadmin: h2:9083\n",
		"management.port: 9083\nmanagement.enabled: false\n",
	} {
		mustParse(t, YAML, more+"catalog.a.uris: thrift://backend:1\n")
	}
	for _, more := range []string{
		"listen: :9083\nadmin: '[::1]:9083'\n",
		"listen: '[::]:9083'\nadmin: 10.1.1.1:9083\n",
		"listen: localhost:9083\nadmin: 127.0.0.1:9083\n",
		"listen: 0.0.0.0:9083\nadmin: h1:9083\n",
		"listen: '[::ffff:10.0.0.1]:9083'\nadmin: 10.0.0.1:9083\n",
	} {
		if _, err := Parse("f", YAML, []byte(more+"catalog.a.uris: thrift://backend:1\n")); err == nil ||
			!strings.Contains(err.Error(), "already taken") {
			t.Errorf("%q: got %v, want a collision", more, err)
		}
	}
}

func TestManagement(t *testing.T) {
	for _, c := range []struct{ more, want string }{
		{"", ""},
		{"management.port: 7000\n", "0.0.0.0:7000"},
		{"management.enabled: true\n", "0.0.0.0:10083"},
		{"listen: h:5\nmanagement.enabled: true\n", "h:1005"},
		{"listen: h:5\nmanagement.bind-host: i\nmanagement.port: 6\n", "i:6"},
		{"listen: '[::1]:5'\nadmin: '[fe80::1]:6'\n", "[fe80::1]:6"},
		{"admin: :6\nmanagement.enabled: false\n", ""},
	} {
		got := mustParse(t, YAML, c.more+"catalog.a.uris: thrift://backend:1\n").Admin
		if got != c.want {
			t.Errorf("%q: admin is %q, want %q", c.more, got, c.want)
		}
	}
}

// backend.conf speaks for catalogs that do not speak for themselves.
func TestBackendConf(t *testing.T) {
	c := mustParse(t, YAML, `routing.default-catalog: a
catalogs: [a, b, c]
backend.conf:
  hive.metastore.uris: thrift://shared:1
  hive.metastore.client.socket.timeout: 7
  hive.metastore.uri.selection: RANDOM
  x: all
catalog:
  a: {uris: 'thrift://own:2', call-timeout-ms: 1500us}
  b: {conf: {hive.metastore.uri.selection: SEQUENTIAL, x: own}}
`)
	// A catalog that says no is not asked again by the common yes.
	mustParse(t, YAML, "backend.conf.hive.metastore.kerberos.principal: hive/h\nbackend.conf.hive.metastore.sasl.enabled: true\n"+
		"catalog.a: {uris: 'thrift://h:1', conf.hive.metastore.sasl.enabled: false}\n")
	type row struct {
		addr    string
		timeout time.Duration
		random  bool
		x       string
	}
	want := []row{{"own:2", 1500 * time.Microsecond, true, "all"}, {"shared:1", 7 * time.Second, false, "own"}, {"shared:1", 7 * time.Second, true, "all"}}
	for i, cat := range c.Catalogs {
		got := row{cat.Addresses[0], cat.CallTimeout, cat.Random, cat.Conf["x"]}
		if got != want[i] {
			t.Errorf("%s: got %+v, want %+v", cat.Name, got, want[i])
		}
	}
}
