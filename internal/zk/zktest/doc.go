// Package zktest is a ZooKeeper server for tests: the wire protocol of one
// server over a tree in memory, with connections that can be broken, sessions
// that can be expired, answers that get lost and reads that lag behind. It has no
// watches, no quorum, and grants every access but where a node's ACL names a
// digest.
//
//	int32 length | xid, opcode, request     answers: int32 length | xid, zxid, error, response
//
// (zookeeper.jute). Real servers are in testdata/rig.
package zktest
