package config

import (
	"bytes"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"hmsgate/internal/zk"
)

// Locks is how locks of several catalogs are kept.
type Locks struct {
	Mirrors   bool          // locks at the default catalog are repeated at their owners
	AcidRead  bool          // Hive 4 clients too read transactional tables of other catalogs
	Timeout   time.Duration // without a heartbeat, of locks and transactions of the default catalog
	ZooKeeper *ZooKeeper    // where instances share them; nil: in memory
}

// ZooKeeper is where and how one is reached.
type ZooKeeper struct {
	Servers                        []string
	Root                           string // the path below which everything is
	ConnectTimeout, SessionTimeout time.Duration
	BaseSleep                      time.Duration
	MaxRetries                     int
	ACL                            []zk.ACL // nil: anyone
	Digest                         string   // user:password, "" for none
}

// lockModes are the values of catalog.<n>.locks.
var lockModes = []string{"owner", "primary", "synthetic", "off"}

// Values of the choice of a store, and what the keys of one begin with: the Java
// proxy's names, and short ones.
const (
	inMemory  = "IN_MEMORY"
	zooKeeper = "ZOOKEEPER"
	zkPrefix  = "synthetic-read-lock.store.zookeeper."
)

func lockZK(name string) []alias { return []alias{{key: "locks.zookeeper." + name}} }

var lockRows = []row{
	{key: "gateway.instances", kind: kindInt, def: "0", max: 1 << 16,
		doc: "How many instances of the gateway serve these catalogs; 0 = not known. Locks of transactions and of " +
			"several catalogs are held at the default catalog's metastore. With 1, or with a lock store in ZooKeeper, they " +
			"are also repeated, as mirrors, at the metastores of the catalogs they name, so that they hold against clients " +
			"of those alone."},
	{key: "synthetic-read-lock.store.mode", kind: kindChoice, allowed: []string{inMemory, zooKeeper},
		derived: "ZOOKEEPER when there is a connect-string, else IN_MEMORY", aliases: []alias{{key: "locks.store"}},
		doc: "Where the gateway keeps its own locks, mirrors and synthetic ones: in each instance's memory, or where all " +
			"instances share them.",
		peerOn: "locks are taken at a metastore, where hms-proxy grants those outside the default catalog itself (catalog.<n>.locks: synthetic)"},
	{key: zkPrefix + "connect-string", kind: kindText, aliases: lockZK("connect-string"),
		doc: "ZooKeeper of the lock store: host:port, comma separated, and a path behind the last one if all is to be " +
			"below it."},
	{key: zkPrefix + "znode", kind: kindText, def: "/hmsgate/locks", peer: "/hms-proxy-synthetic-read-locks",
		aliases: lockZK("znode"), doc: "Path of the lock store. Instances share it that name the same URIs for the default catalog, and no others."},
	{key: zkPrefix + "connection-timeout-ms", kind: kindDuration, unit: time.Millisecond, def: "15000", min: 1,
		aliases: lockZK("connection-timeout-ms"),
		doc:     "How long a call may wait for ZooKeeper; while it has been away for longer, what needs it fails at once."},
	{key: zkPrefix + "session-timeout-ms", kind: kindDuration, unit: time.Millisecond, def: "60000", min: 1, max: 1<<31 - 1,
		aliases: lockZK("session-timeout-ms"),
		doc:     "Session asked for; the server has limits of its own. Two thirds of it without a word end a connection."},
	{key: zkPrefix + "base-sleep-ms", kind: kindDuration, unit: time.Millisecond, def: "1000", min: 1,
		aliases: lockZK("base-sleep-ms"), doc: "Pause before a read that lost its connection is repeated, doubled each time."},
	{key: zkPrefix + "max-retries", kind: kindInt, def: "3", min: 1, max: 100, aliases: lockZK("max-retries"),
		doc: "How often such a read is repeated. Writes never are."},
	{key: zkPrefix + "acl", kind: kindText, def: "world:anyone:cdrwa", aliases: lockZK("acl"),
		doc: "Who may do what with the lock store's nodes: scheme:id:perms, comma separated. Whoever may change them can " +
			"take locks away."},
	{key: zkPrefix + "digest-file", kind: kindText, aliases: lockZK("digest-file"),
		doc: "File with user:password, as which the gateway logs in to ZooKeeper (scheme digest); empty: it does not."},
	{key: "locks.acid-read", kind: kindChoice, def: "refuse", allowed: []string{"refuse", "unsafe"},
		doc: "Transactional tables of other catalogs read by Hive 4 clients, which compare compacted files with the " +
			"default catalog's transactions: refused, or allowed all the same. Older clients and Trino always may."},
}

// lockRow is the key of one catalog.
var lockRow = row{key: "catalog.<n>.locks", kind: kindChoice, def: lockModes[0], allowed: lockModes,
	doc: "Locks of a catalog that is not the default one: at its own metastore, and at the default catalog's for " +
		"transactions (owner); at the default catalog's alone (primary); granted without asking anybody (synthetic); " +
		"refused (off)."}

func (l *loader) locks() Locks {
	c := Locks{Mirrors: l.int("gateway.instances", "") == 1, AcidRead: l.is("locks.acid-read", "unsafe")}
	mode := inMemory
	for key := range l.set {
		if strings.HasPrefix(key, zkPrefix) {
			mode = zooKeeper
		}
	}
	z := ZooKeeper{Root: l.text(zkPrefix + "znode"), ConnectTimeout: l.duration(zkPrefix+"connection-timeout-ms", ""),
		SessionTimeout: l.duration(zkPrefix+"session-timeout-ms", ""), BaseSleep: l.duration(zkPrefix+"base-sleep-ms", ""),
		MaxRetries: l.int(zkPrefix+"max-retries", "")}
	l.text(zkPrefix + "connect-string")
	l.text(zkPrefix + "acl")
	l.text(zkPrefix + "digest-file")
	if l.get("synthetic-read-lock.store.mode", mode).value == zooKeeper {
		c.ZooKeeper, c.Mirrors = &z, true
	}
	return c
}

// checkZooKeeper looks at what its keys say together, and completes it.
func (l *loader) checkZooKeeper(z *ZooKeeper) {
	const example = "host:port,host:port, and /path behind the last one if need be"
	s := l.get(zkPrefix+"connect-string", "")
	if z == nil {
		mode := l.set["synthetic-read-lock.store.mode"]
		for _, key := range slices.Sorted(maps.Keys(l.set)) {
			if strings.HasPrefix(key, zkPrefix) {
				l.failAt(l.set[key], "is for a lock store that "+mode.key+" on line "+strconv.Itoa(mode.line)+" does not choose",
					mode.key+": "+zooKeeper+", or no such key")
			}
		}
		return
	}
	if s.value == "" {
		at := l.lineOf(strings.TrimSuffix(zkPrefix, "."), "synthetic-read-lock.store.mode")
		l.fail(at, s.key, "", "is not set, and the lock store is in ZooKeeper", example)
		return
	}
	servers, root, err := zk.Servers(s.value)
	if err != nil {
		l.failAt(s, err.Error(), example)
	}
	znode := l.get(zkPrefix+"znode", "")
	if err := zk.CheckPath(znode.value); err != nil {
		l.failAt(znode, err.Error(), "a path such as /hmsgate/locks")
	}
	z.Servers, z.Root = servers, root+znode.value
	acl := l.get(zkPrefix+"acl", "")
	if z.ACL, err = zk.ParseACL(acl.value); err != nil {
		l.failAt(acl, err.Error(), "scheme:id:perms, comma separated, perms of the letters c, d, r, w, a")
	}
	if f := l.get(zkPrefix+"digest-file", ""); f.value != "" {
		data, err := os.ReadFile(f.value)
		data = bytes.TrimRight(data, "\r\n")
		user, password, ok := bytes.Cut(data, []byte(":"))
		switch {
		case err != nil:
			l.failAt(f, "cannot be read: "+err.Error(), "a file with user:password")
		case !ok || len(user) == 0 || len(password) == 0 || len(data) > 1024:
			l.failAt(f, "does not hold user:password", "one line with user:password")
		}
		z.Digest = string(data)
	}
}

// lockMode is a catalog's place in lockModes.
func (l *loader) lockMode(catalog string) int {
	for i, m := range lockModes {
		if l.is("catalog."+catalog+".locks", m) {
			return i
		}
	}
	return 0
}

// checkLocks says when locks hold less than they could.
func (l *loader) checkLocks(c *Config) {
	l.checkZooKeeper(c.Locks.ZooKeeper)
	if s, ok := l.set["synthetic-read-lock.store.mode"]; ok && l.format == Properties {
		l.note(s.line, "note", s.key, "synthetic locks are granted only where catalog.<n>.locks says so")
	}
	if c.Locks.Mirrors {
		return
	}
	for _, cat := range c.Catalogs {
		if cat.Name != c.DefaultCatalog && cat.Locks == 0 && c.DefaultCatalog != "" {
			s := l.get("gateway.instances", "")
			l.note(s.line, "note", "gateway.instances", "mirrors of locks are off: locks that transactions take on other "+
				"catalogs do not hold against clients of those catalogs alone; 1 turns them on, where one instance is all there is, and locks.store: ZOOKEEPER where there are several")
			return
		}
	}
}
