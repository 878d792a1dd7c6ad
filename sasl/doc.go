// Package sasl owns Thrift's SASL transport: the negotiation on both sides,
// PLAIN, and the data frames as chunk source and sink, so that what walks
// messages does not see whether they are sealed. The mechanisms with a layer
// are packages of their own: digest (DIGEST-MD5), krb (GSSAPI with Kerberos
// 5). Package identity has Hadoop's name mapping, proxy and group rules,
// package token Hive's delegation tokens, package passwd a file of PLAIN's
// users. None of them knows the gateway, its
// listeners or its log; gokrb5 is known to krb only.
//
// A negotiation message (Apache Thrift, TSaslTransport):
//
//	status(1) length(4) payload      01 START 02 OK 03 BAD 04 ERROR 05 COMPLETE
//
//	GSSAPI                    DIGEST-MD5                 PLAIN
//	C START "GSSAPI"          C START "DIGEST-MD5"       C START "PLAIN"
//	C OK AP-REQ               C OK                       C COMPLETE user, password
//	S OK AP-REP               S OK challenge             S COMPLETE
//	C OK                      C OK response
//	S OK wrap(mask, size)     S COMPLETE rspauth
//	C COMPLETE wrap(choice)
//	S COMPLETE
//
// A client sends START and its first response at once, in one segment or two.
// Data frames follow; frames are a byte stream, not messages:
//
//	length(4) token     with a layer: one sealed token
//	length(4) bytes     without one: as Thrift's framed transport
//
// # What a refused peer hears
//
// RefusalText, whatever the reason; the reason is an Error for our log, with
// names and numbers and no secret. Status is ERROR for misuse and BAD for the
// rest. Nothing is said to a peer that sent no known status (a plain client,
// TLS): it could not read it, and HMS 4.1.0 says nothing either. Metastores
// tell a cancelled token from a wrong password (seen on 3.1.3 and 4.1.0); we
// do not. A client whose own ticket fails sends BAD as its only message: that
// is Reason PeerFailed, no attack.
//
// Bounds, all checked before memory is taken: START within 5 s, all within
// 15 s and 10 messages, mechanism name 32 bytes, tokens of GSSAPI 64 KiB
// (settable to 256) and of the others 4 KiB. Deadlines are absolute, so one
// byte a second does not help. A payload's memory grows as it arrives.
//
// # Tokens too long to hold
//
// Java seals a whole reply in one token: 1 GB of it must not cost 1 GB. By
// default a token is held until it is verified, in memory taken from a
// frame.Budget as the bytes come, up to DataLimits.Frame. With
// DataLimits.Stream a token beyond Hold (1 MiB) is opened piece by piece, and
// its last bytes, at least one of plain text, are kept back until its MAC is
// verified. What has been given out before is unverified: CBC lets an
// attacker garble one block and choose the next, and the token's length
// stands outside it. So who sets Stream asks Source.Settled at each message's
// end before its last byte goes on (the walker keeps a call's STOP byte back
// anyway): then a damaged token spoils a message and never completes one.
// An honest peer's token ends with its message, so nothing is lost by it.
// Measured: one token of 1 GB under auth-conf at 430 MB/s and under auth-int
// at 1.2 GB/s with 8 MB resident for the whole process, enctype 18.
//
// Rejected: a file for long tokens (safe, but a gigabyte of disk and the
// first byte only after the last), and refusing them (Java metastores cannot
// be told to split).
//
// # Memory
//
// An idle source has 1 KiB, an idle sink nothing; a message borrows 64 KiB
// from one pool. A message costs no allocation, under any layer. Tokens are
// at most 64 KiB: Java announces and Cyrus enforces that much, and longer ones
// seal no faster (16 KiB, 64 KiB, 256 KiB and 1 MiB: 490, 500, 440, 450 MB/s).
//
// # Peers seen
//
// By tests: the JDK's SASL under libthrift 0.16 and MIT's GSSAPI 1.20 on
// either side, an MIT KDC, recorded sessions of Hive 3.1.3 and 4.1.0 (package
// peers, testdata). By hand: Hive's 4.1.0 client in front of a relay of these
// packages in front of a secured metastore 4.1.0, each protection; and its
// tokens with each protection and cipher, rc4 included.
//
// A Source survives any error of its connection (a deadline in the middle of
// a length); a damaged token ends it, and the layer with it. Slices a Layer
// returns lie in the token given to it.
package sasl
