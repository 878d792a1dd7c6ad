// Package wiretest is what tests of the wire share: recordings of real clients
// and metastores, a second opinion on where messages begin and end, readers
// that hand a stream out in odd pieces, a backend that follows a script, and
// a check for goroutines left behind.
//
// It owns no product code and is imported by tests only. It knows nothing of
// package frame on purpose: Messages is a plain recursive reader, slow and
// short, so that it can be held against the real one.
//
// # Recordings
//
// testdata/recordings/NAME.rec.gz, made by convert.py beside them: after
// gunzip a line "hmsgate recording 1\n", then records
//
//	connection u32 | direction '>' or '<' | length u32 | bytes
//
// big endian; '>' is client to server. The records of a connection, in order,
// are what went over it; where one message ends and the next begins is for
// Messages to say. Fourteen client streams of Hive's own client do not end at
// one: it wrote the header of a call, found a required field missing, and
// closed, which sends a whole one-way "shutdown" right behind that header. To a
// reader the argument struct begins with field type 0x80. Conn.Broken tells.
//
// Byte slices of a recording are shared between all callers in a process:
// read, do not write.
package wiretest
