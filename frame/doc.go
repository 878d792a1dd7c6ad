// Package frame owns bytes and message borders of Thrift's binary protocol:
// wire types, the message header, the window through which each direction of
// a session flows, skipping values, raw and framed transports, telling what a
// peer speaks, and the replies that say what went wrong. It knows no
// interface and no names; see package rewrite for those.
//
// A strict message on the wire (Apache Thrift, thrift-binary-protocol.md):
//
//	80 01 00 tt | len(4) method | seq(4) | struct
//	struct: { type(1) id(2) value }* 00
//	string: len(4) bytes      list, set: type(1) count(4) elements
//	map: ktype(1) vtype(1) count(4) { key value }*
//
// In the framed transport each message has its length (4 bytes) in front.
// Numbers are big-endian and signed.
//
// # The window
//
// One Window serves one direction. It alone does I/O: whoever walks it asks
// for bytes (Need) and blocks until they are there, so any chunking of the
// source gives the same result. Slices from Bytes and Header are valid until
// the next Need, Skip, or edit.
//
// Memory: a small buffer (4 KB) while messages are small; a pooled tier of
// 256 KB, its output buffer and memo slots once a message outgrows it, given
// back at the message's end; beyond that only for bytes that must be held,
// each such byte reserved from a Budget first.
//
// # Compact protocol
//
// It would be a second skip and a second walk over the same plans; a window
// does not know which protocol its bytes are in.
package frame
