// Package zk is the gateway's connection to ZooKeeper: a few calls with bounded
// waits and errors that say what to do, over github.com/go-zookeeper/zk, which
// nothing else imports. It knows paths, bytes and versions, not what they mean.
//
//	package locks (later: tokens) -> Conn -> library -> one of the servers
//
// # Sessions
//
// The library connects in the background, to one server after the other, and
// makes a new session when the old one has expired. Nothing here depends on a
// session: no ephemeral node, no watch. So its loss costs time, not state.
//
// A call waits for a session while there has been none for less than the
// connect timeout, later it fails at once: what can go on without ZooKeeper is
// not held up. No call takes longer than the connect timeout in all; reads that
// lost their connection are asked again, as often as the options say, writes
// never are.
//
// # What an error means
//
//	ErrNoNode, ErrExists, ErrVersion, ...   the server's answer: nothing was changed
//	ErrUnavailable                          no answer: a write may have been done, or be done later
//
// A write must therefore be one that may come late: conditional on a version,
// or on a node being there or not.
//
// A server answers reads from what it has, which may be behind what another
// one has confirmed (ZooKeeper Programmer's Guide, Consistency Guarantees).
// Fresh asks it to catch up first.
package zk
