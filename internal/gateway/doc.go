// Package gateway puts the parts together: a configuration becomes a table, a
// set of plans and answers; listeners accept clients within limits and give
// each a session; metastores are asked who they are; and all of it ends
// without cutting a call. It does not look into messages (package session).
//
// # Drain
//
//	readiness off, still accepting      server.drain-delay-seconds
//	listeners closed
//	idle clients closed                 at a message border
//	calls in flight finished            server.shutdown-timeout-seconds
//	the rest cut
//
// A call whose first byte has been read is in flight. A client over the limit
// of connections hears so in answer to its first call, and has two seconds to
// make it; 64 are told at a time, further ones are closed without a word.
//
// # The door
//
// A listener with TLS or a security.mode lets nobody in who does not do as it
// says, and says nothing to a client that could not read it:
//
//	what comes first                     what happens
//	TLS                                  handshake where there is a certificate; then as follows, inside
//	SASL START                           negotiation; on failure sasl.RefusalText, whatever the reason
//	SASL BAD, ERROR                      the client's own login failed: a line
//	anything else                        a line that says what it seems to be, a count, closed
//
// The reason of a failed login is in the log alone, with names and no secret.
// Before anybody knows who a client is, it has 5 s to its first bytes and
// security.handshake-timeout-ms for all; limits.handshakes clients may be so
// far at a time, limits.handshakes-per-address of one address (of IPv6: a /64);
// after 100 failed logins an address has 10 tries a second.
//
// # Who a metastore is
//
// Each URI is asked at start, again and again until it answers, and every
// half minute after that, as the gateway and on a connection of its own: never
// on a client's. A call to a URI that has not answered yet waits for that
// answer, within its share of the patience for connects, then tries the next.
// catalog.<n>.runtime-profile decides instead.
package gateway
