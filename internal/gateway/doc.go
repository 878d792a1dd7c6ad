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
// # Who a metastore is
//
// Each URI is asked at start, again and again until it answers, and every
// half minute after that, as the gateway and on a connection of its own: never
// on a client's. A call to a URI that has not answered yet waits for that
// answer, within its share of the patience for connects, then tries the next.
// catalog.<n>.runtime-profile decides instead.
package gateway
