package config

import "time"

// hiveConf gives the aliases of a catalog key under catalog.<n>.conf, where a
// site has its Hive client settings. Hive 3 has two names for each: that of
// HiveConf and that of MetastoreConf (org.apache.hadoop.hive.metastore.conf).
func hiveConf(a alias, names ...string) []alias {
	out := make([]alias, len(names))
	for i, n := range names {
		b := a
		b.key = "catalog.<n>.conf." + n
		out[i] = b
	}
	return out
}

var catalogRows = []row{
	{key: "catalog.<n>.uris", kind: kindURIs, derived: "required",
		doc:     "Metastores of the catalog, thrift://host:port each.",
		aliases: hiveConf(alias{}, "hive.metastore.uris", "metastore.thrift.uris")},
	// Hive's own default is RANDOM (MetastoreConf.THRIFT_URI_SELECTION); the
	// peer forces its HDP clients to SEQUENTIAL.
	{key: "catalog.<n>.uri-selection", kind: kindChoice, def: "sequential", peer: "random",
		allowed: []string{"sequential", "random"},
		doc:     "Order in which the URIs are tried. In a .properties file an HDP catalog defaults to sequential.",
		aliases: hiveConf(alias{}, "hive.metastore.uri.selection", "metastore.thrift.uri.selection")},
	{key: "catalog.<n>.backend-catalog", kind: kindText, def: "hive",
		doc: "Name of the catalog inside the metastore that this one stands for."},
	{key: "catalog.<n>.id-slot", kind: kindInt, def: "0", max: 16383,
		doc: "Marks the catalog's lock and compaction ids for clients; 0: made of its name. Two catalogs must differ."},
	lockRow,
	{key: "catalog.<n>.runtime-profile", kind: kindProfile, def: "auto", peer: "apache-3.1.3",
		doc: "Interface version of the metastores; auto asks them."},
	{key: "catalog.<n>.transport", kind: kindChoice, def: "raw", allowed: transports,
		doc: "Transport the metastores speak.",
		aliases: hiveConf(alias{values: map[string]string{"true": "framed", "false": "raw"}},
			"hive.metastore.thrift.framed.transport.enabled", "metastore.thrift.framed.transport.enabled")},
	{key: "catalog.<n>.description", kind: kindText, doc: "Shown to clients that ask for the catalog."},
	{key: "catalog.<n>.location-uri", kind: kindText, derived: "file:///warehouse/<n>",
		doc: "Location shown to clients that ask for the catalog."},
	{key: "catalog.<n>.call-timeout-ms", kind: kindDuration, unit: time.Millisecond, def: "600000",
		doc: "How long a call may take; 0 = no limit. Under its Hive names a bare number is seconds.",
		aliases: hiveConf(alias{unit: time.Second},
			"hive.metastore.client.socket.timeout", "metastore.client.socket.timeout")},
	{key: "catalog.<n>.txn-timeout-seconds", kind: kindDuration, unit: time.Second, def: "300", min: 1, max: 1 << 24,
		doc: "Of the default catalog, as its metastore has it: how long a transaction or a lock may be without a " +
			"heartbeat. Synthetic locks and mirrors end after it.",
		aliases: hiveConf(alias{}, "metastore.txn.timeout", "hive.txn.timeout")},
	{key: "catalog.<n>.conf.*", kind: kindFree,
		doc: "Other Hive client settings of the catalog. Kept, none has an effect in this version but those named " +
			"on this page."},
	{key: "backend.conf.*", kind: kindFree, doc: "The same for every catalog that does not set the key itself."},
}
