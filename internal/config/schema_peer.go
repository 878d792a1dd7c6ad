package config

import "slices"

const (
	noJars    = "no Hive jar is involved"
	noThreads = "the gateway has no pool of worker threads"
	noPools   = "every client has its own backend connections"
	notUsed   = "the feature it belongs to is off"
	lazyDial  = "backends are dialled when they are first needed, so an unreachable one does not stop the start"
)

// notedRows are keys of the peer that a migrated file may keep.
var notedRows = slices.Concat(plainNoted,
	family("security.", notUsed, "service-principals.*"),
	family("security.group-disk-cache.", notUsed, "path", "entry-ttl-seconds",
		"persist-interval-seconds", "persist-on-shutdown"),
	family("routing.backend-state-polling.", notUsed, "interval-ms", "probe-timeout-ms", "max-parallelism"),
	family("routing.adaptive-timeout.", notUsed, "initial-ms", "min-ms", "max-ms", "multiplier",
		"alpha", "reconnect-cooldown-ms"),
	family("routing.circuit-breaker.", notUsed, "failure-threshold", "open-state-ms"),
	family("routing.iceberg-pointer-guard.", notUsed, "table-cache-ttl-ms", "table-cache-max-entries",
		"lock-enabled",
		"lock-acquire-timeout-ms", "hive-engine-descriptor"),
	family("routing.database-list-cache.", notUsed, cacheKeys...),
	family("routing.database-metadata-cache.", notUsed, cacheKeys...),
	family("routing.table-metadata-cache.", notUsed, cacheKeys...),
	family("routing.partition-metadata-cache.", notUsed, cacheKeys...),
	family("routing.config-value-cache.", notUsed, "max-entries"),
	family("routing.database-cache.background-refresh.", notUsed, "interval-ms", "activity-window-ms"),
	family("routing.distributed-invalidation.zookeeper.", notUsed,
		append([]string{"event-retention-ms"}, zookeeper...)...),
	family("ranger.", notUsed, rangerKeys...),
	family("catalog.<n>.ranger.", notUsed, rangerKeys...),
	family("rest-catalog.", notUsed, "port", "bind-host", "min-worker-threads", "max-worker-threads",
		"kerberos.principal",
		"kerberos.keytab", "purge.mode", "purge.allowed-prefixes", "hive-engine-descriptor"),
)

// The families are spelled out, not closed with a *: a typo in the key that
// switches a feature on must not pass as one of its details.
var (
	zookeeper = []string{"znode", "connection-timeout-ms", "session-timeout-ms", "base-sleep-ms", "max-retries"}
	cacheKeys = []string{"max-entries", "shared-across-users", "stale-grace-period-ms"}

	rangerKeys = []string{"policy.rest.url", "service-name", "service-type", "app-id", "policy.cache.dir",
		"policy.poll-interval-ms", "policy.connection-timeout-ms", "policy.read-timeout-ms", "ssl.truststore.file",
		"ssl.truststore.password", "config-dir", "audit.enabled"}
)

func family(prefix, why string, names ...string) []row {
	out := make([]row, len(names))
	for i, n := range names {
		out[i] = row{key: prefix + n, standing: noted, note: why}
	}
	return out
}

var plainNoted = []row{
	{key: "server.min-worker-threads", standing: noted, note: noThreads},
	{key: "server.max-worker-threads", standing: noted, note: noThreads + "; limits.connections bounds clients"},
	{key: "additional-frontends.<n>.min-worker-threads", standing: noted, note: noThreads},
	{key: "additional-frontends.<n>.max-worker-threads", standing: noted, note: noThreads},
	{key: "additional-frontends.<n>.standalone-metastore-jar", standing: noted, note: noJars},
	{key: "compatibility.frontend-standalone-metastore-jar", standing: noted, note: noJars},
	{key: "compatibility.hortonworks-standalone-metastore-jar", standing: noted, note: noJars},
	{key: "compatibility.backend-standalone-metastore-jar", standing: noted, note: noJars},
	{key: "catalog.<n>.backend-standalone-metastore-jar", standing: noted, note: noJars},
	{key: "management.threads", standing: noted, note: noThreads},
	{key: "management.readiness-cache-ms", standing: noted,
		note: "readiness is known without asking the backends"},
	{key: "routing.hedged-read.enabled", standing: noted,
		note: "listings over all catalogs always ask them in parallel"},
	{key: "routing.hedged-read.max-parallelism", standing: noted,
		note: "listings over all catalogs always ask them in parallel"},
	{key: "catalog.<n>.startup-mode", standing: noted, note: lazyDial},
	{key: "catalog.<n>.shared-session-pool-size", standing: noted, note: noPools},
	{key: "catalog.<n>.concurrency-timeout-ms", standing: noted, note: notUsed},
	{key: "catalog.<n>.impersonation-max-clients", standing: noted, note: noPools},
	{key: "catalog.<n>.impersonation-client-idle-ttl-ms", standing: noted, note: noPools},
	{key: "catalog.<n>.impersonation-pool-max-size", standing: noted, note: noPools},
	{key: "catalog.<n>.impersonation-session-idle-ttl-ms", standing: noted, note: noPools},
	{key: "guard.transactional-ddl.client-addresses", standing: noted, note: notUsed},
	{key: "federation.external-table-location-rewrite.source-default-fs", standing: noted, note: notUsed},
	{key: "config.strict-validation", standing: noted, note: "unknown keys are always errors"},
	{key: "config.reload.poll-interval-seconds", standing: noted,
		note: "this version reads its configuration once; restart it to change"},
}

var (
	offFalse = []string{"false"}
	offZero  = []string{"0"}
	offMode  = []string{"DISABLED", "OFF", "NONE"}
)

// laterRows are keys whose features are missing. A value that asks for the
// feature is refused.
var laterRows = []row{
	{key: "security.group-disk-cache.enabled", standing: later, off: offFalse},
	{key: "catalog.<n>.conf.hive.metastore.thrift.compact.protocol.enabled", standing: later, off: offFalse},
	{key: "catalog.<n>.conf.metastore.thrift.compact.protocol.enabled", standing: later, off: offFalse},
	{key: "catalog.<n>.conf.hive.metastore.client.auth.mode", standing: later, off: []string{"NOSASL"}},
	{key: "catalog.<n>.conf.metastore.client.auth.mode", standing: later, off: []string{"NOSASL"}},
	{key: "catalog.<n>.conf.hive.metastore.client.thrift.transport.mode", standing: later, off: []string{"binary"}},
	{key: "catalog.<n>.conf.metastore.client.thrift.transport.mode", standing: later, off: []string{"binary"}},
	{key: "catalog.<n>.access-mode", standing: later, off: []string{"READ_WRITE"}},
	{key: "catalog.<n>.write-db-whitelist", standing: later},
	{key: "catalog.<n>.expose-mode", standing: later, off: []string{"ALLOW_ALL"}},
	{key: "catalog.<n>.expose-db-patterns", standing: later},
	{key: "catalog.<n>.expose-table-patterns.*", standing: later},
	{key: "catalog.<n>.latency-budget-ms", standing: later, off: offZero},
	{key: "catalog.<n>.max-concurrent-calls", standing: later, off: offZero},
	{key: "catalog.<n>.fallback-catalog", standing: later},
	{key: "catalog.<n>.fallback-on-outage", standing: later, off: offFalse},
	{key: "catalog.<n>.unprefixed-databases", standing: later},
	{key: "catalog.<n>.required-for-readiness", standing: later, off: []string{"true"}},
	{key: "catalog.<n>.ranger.enabled", standing: later, off: offFalse},
	{key: "management.readyz.require-all-catalogs", standing: later, off: []string{"true"}},
	{key: "guard.transactional-ddl.mode", standing: later, off: offMode},
	{key: "rate-limit.*", standing: later, off: offZero},
	{key: "federation.external-table-drop-purge.mode", standing: later, off: offMode},
	{key: "federation.external-table-location-rewrite.mode", standing: later, off: offMode},
	{key: "routing.backend-state-polling.enabled", standing: later, off: offFalse},
	{key: "routing.adaptive-timeout.enabled", standing: later, off: offFalse},
	{key: "routing.circuit-breaker.enabled", standing: later, off: offFalse},
	{key: "routing.iceberg-pointer-guard.enabled", standing: later, off: offFalse,
		peerOn: "no check keeps an alter_table from undoing an Iceberg commit, where hms-proxy has one on by " +
			"default"},
	{key: "routing.refresh-privileges.synthetic-success", standing: later, off: offFalse},
	{key: "routing.refresh-privileges.mode", standing: later},
	{key: "routing.database-list-cache.ttl-ms", standing: later, off: offZero},
	{key: "routing.database-list-cache.ttl-seconds", standing: later, off: offZero},
	{key: "routing.database-list-cache.serve-stale-on-error", standing: later, off: offFalse},
	{key: "routing.database-metadata-cache.ttl-ms", standing: later, off: offZero},
	{key: "routing.database-metadata-cache.ttl-seconds", standing: later, off: offZero},
	{key: "routing.database-metadata-cache.serve-stale-on-error", standing: later, off: offFalse},
	{key: "routing.database-cache.background-refresh.enabled", standing: later, off: offFalse},
	{key: "routing.database-cache.distributed-invalidation.mode", standing: later, off: offMode},
	{key: "routing.table-metadata-cache.ttl-ms", standing: later, off: offZero},
	{key: "routing.table-metadata-cache.ttl-seconds", standing: later, off: offZero},
	{key: "routing.table-metadata-cache.serve-stale-on-error", standing: later, off: offFalse},
	{key: "routing.partition-metadata-cache.ttl-ms", standing: later, off: offZero},
	{key: "routing.partition-metadata-cache.ttl-seconds", standing: later, off: offZero},
	{key: "routing.partition-metadata-cache.serve-stale-on-error", standing: later, off: offFalse},
	{key: "routing.config-value-cache.ttl-ms", standing: later, off: offZero},
	{key: "routing.distributed-invalidation.mode", standing: later, off: offMode},
	{key: "routing.distributed-invalidation.zookeeper.connect-string", standing: later},
	{key: "ranger.enabled", standing: later, off: offFalse},
	{key: "rest-catalog.enabled", standing: later, off: offFalse},
}
