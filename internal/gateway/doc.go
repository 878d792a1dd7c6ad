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
// # Who a metastore is
//
// Each URI is asked at start, again and again until it answers, and every
// half minute after that, on a connection of its own: never on a client's. A
// call to a URI that has not answered yet waits for that answer, within the
// patience for connects. catalog.<n>.runtime-profile decides instead.
package gateway
