// Package config owns the configuration of the gateway: one schema of dotted
// keys, two spellings of it, and the typed result.
//
// The schema is a table (schema*.go). Each row has the key, its type, the
// default a YAML file gets, the default a .properties file gets, a sentence,
// and the other names the key is known by. The reference page
// (WriteReference) and the effective settings (Config.Effective) are made of
// the same rows, so that neither can drift from what is read.
//
//	hmsgate.yaml      nested maps flatten: {catalog: {hdp: {uris: ...}}} is
//	                  catalog.hdp.uris; a list is allowed where a comma
//	                  separated value is; defaults are ours
//	proxy.properties  Java properties syntax, the file of hms-proxy as it
//	                  is; defaults are that program's, so that a migrated
//	                  site behaves as before
//
// Strictness is the point: an unknown key, a key said twice, a value out of
// range and two keys that contradict each other are errors, all of them are
// reported at once, and each names file, line, key, value and what is allowed.
// Keys of features this version lacks are data too: their off value is
// accepted with a note, any other value is refused, because a read-only
// catalog that silently is writable is worse than a gateway that does not
// start.
//
// What the package does not own: which interface inventories exist (see
// Config.CheckProfiles), opening sockets, reading secrets, and reloading.
// A Config is never changed after Load or Parse returned it; it may be shared
// between goroutines.
package config
