// Package digest owns DIGEST-MD5 (RFC 2831) on both sides, with auth, auth-int
// and auth-conf, as Hive uses it for delegation tokens: user name and password
// are the base64 of a token's identifier and password (package token), the
// digest-uri is literally "null/default". It does not know tokens: Secrets
// does.
//
//	S realm="default",nonce="..",qop="..",charset=utf-8[,cipher="3des,rc4"],algorithm=md5-sess
//	C charset=utf-8,username="..",realm="default",nonce="..",nc=00000001,cnonce="..",
//	  digest-uri="null/default",maxbuf=65536,response=32 hex,qop=..[,cipher=".."]
//	S rspauth=32 hex
//
//	auth-int : msg | HMAC-MD5(Ki, seq | msg)[0..9] | 00 01 | seq
//	auth-conf: CIPHER(Kc, msg | pad | HMAC-MD5(Ki, seq | msg)[0..9]) | 00 01 | seq
//
// Given the recorded nonces, both sides say byte for byte what Hive 3.1.3 and
// 4.1.0 said. One nonce serves one connection, one try and nc 1. The store is
// asked only after a correct response (Secrets.Admit); an unknown user is
// computed through with a random secret. Padding and MAC of 3des fail alike.
//
// Ciphers: 3des and rc4. Java clients take the first of "3des,rc4" they like,
// which is 3des; it is slow by nature. Best of several runs, 64 KiB tokens,
// two shared cores, November 2026: auth-int 650 MB/s, rc4 240 MB/s, 3des 21 MB/s. A site
// that wants privacy is better off with TLS. des, rc4-56 and rc4-40 are not
// offered and not taken. Under Go's strict FIPS mode MD5 is not to be had:
// Available says so, and a listener must not start.
package digest
