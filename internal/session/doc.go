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
// # Whose fault
//
// Whether the first byte of a reply has left is the only thing the end of a
// broken call depends on, besides what the method does: a read is sent once
// more, a write never. Every text a client may see is in texts.go.
package session
