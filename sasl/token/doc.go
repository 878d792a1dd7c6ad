// Package token owns Hive's delegation tokens: their encodings, master keys,
// and the Authority that issues, renews, cancels and verifies them. It does
// not know the wire: an Authority is the Secrets of a DIGEST-MD5 server. What
// is kept where is a Store's business; NewMemory is one, and the codecs of
// Hive's ZooKeeper layout (both paddings) are here for another.
//
//	identifier: 00 | Text owner | Text renewer | Text realUser | VLong issue | VLong max | VInt seq | VInt key
//	password:   HMAC(master key, identifier)
//	token:      VInt len | identifier | VInt len | password | Text kind | Text service, URL-safe base64
//	record:     VInt len | password | renew date ms(8)
//	key:        VInt id | VLong expiry ms | VInt len | key, URL-safe base64
//
// Tokens, records and keys of Hive 3.1.3 and 4.1.0 are read and written again
// to the byte by the tests.
//
// # Where it is stricter than Hive
//
//   - A token connection gets no new token: a stolen one would live for ever
//     (Hive 3.1.3 and 4.1.0 give it).
//   - Cancelling needs the whole token, and its owner, renewer or an admin
//     (Hive: anybody who authenticates).
//   - To the caller unknown, cancelled, run out and forged tokens are one
//     thing: "token is not valid".
//   - Our master keys have 32 random bytes (Hive's 8). Hive's own are used as
//     they are.
//   - 1,000 tokens for an owner's short name, 100,000 in all.
//   - An identifier has one encoding; others are refused.
//
// A token past its renew date is renewed when it is used, as Hive 4 does;
// NoAutoRenew refuses it, as Hive 3 does. A response is checked with cached
// master keys alone; only a correct one makes the store be asked, and an
// unknown key id asks it at most every 3 s: garbage costs one HMAC.
package token
