// Package session owns one client's connection: what it speaks, its calls in
// lock step, the backend connections that belong to it and to nobody else,
// the replies on their way back, and what the client sees when something
// breaks. It does not listen (package gateway), does not decide whose a name
// is (package route) and does not make merged or local answers (package
// answer; it is handed them).
//
//	             gather, route, check             emit
//	client  -----> window of calls  ------------------------> backend
//	        <------------------------  window of replies <---
//
// One goroutine serves a client. It reads a call, decides, sends it, streams
// the reply back and only then reads the next: metastore clients never
// pipeline, and whatever arrives early waits in the window. Back-pressure
// follows by itself. Goroutines beyond that one exist only while a call fans
// out, one for each backend after the first.
//
// A backend connection is dialled on first use, is never shared and dies with
// its client: a metastore binds identity and settings to the connection
// (HiveMetaStore.HMSHandler's thread locals; TUGIBasedProcessor).
//
// A call larger than the window streams once it is known where it goes, but
// not to a framed backend, which wants its length first: there it is held, up
// to the frame limit, and routed once more by all its names. Whatever the
// gateway answers itself, it reads the client's call to its end first.
//
// A metastore that connects but has not said yet what it is is passed over,
// within the patience for connects, like one that does not connect.
//
// A backend connection may be protected (TLS, SASL; package outbound). The
// session's reads and writes, with their deadlines and looks at the client,
// then stand below the protection: TLS cannot go on after a write that was cut,
// nor can a token. Where a catalog is used as its callers (impersonation), a
// connection is dialled for the client's user, and a client without one is
// refused; it is never the gateway's for want of a better one.
//
// # Clients that authenticate
//
// A Door (package gateway has it) lets a client in before its first message.
// What it leaves are an identity, which nothing changes afterwards, and a
// source and a sink of package sasl between the connection and the windows:
//
//	connection -> Source -> window of calls      window of replies -> Sink -> connection
//
// The walker does not see them. A reply ends its token (Sink.End), so that no
// client waits for the rest of one. A token too long to be held is opened
// piece by piece: what its MAC has not confirmed yet may be walked and sent
// on, but never a call's last byte (Session.verified), so a damaged token
// spoils a call and completes none.
//
// # Versions
//
// A call travels by the plans of its backend's version (Env.Warm compiles them
// when a probe learns it) and of what the client has shown itself to be: the
// generations that have every method it called so far, and that write "@cat#db"
// if it did. Nothing else says it; a listener's profile ends the guessing. An
// unsure client is never taken for one of 4.x: its partition expressions do not
// reach a 4.x backend (package profiles, "What a client is").
//
// A method that the backend's version lacks goes its bridge: as another method
// on the same connection, or by a program of package answer, which makes its
// calls through Call.Ask there, under the client's identity. What a backend of
// a version that has a method answers with UNKNOWN_METHOD is remembered for its
// URI until the profile's epoch changes; a call that is still held then tries
// the bridge, since nothing was executed, and later ones go there at once.
// Where there is no way the client gets the rules' empty answer, if they have
// one, counted as fallback; on a transport error never.
//
// # Whose fault
//
// Whether the first byte of a reply has left is the only thing the end of a
// broken call depends on, besides what the method does: a read is sent once
// more, a write never. Every text a client may see is in texts.go.
package session
