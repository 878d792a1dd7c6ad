// Package hms reads and writes metastore values by the inventory of an
// interface version, over apache/thrift's protocols, and has a small client on
// top. It serves the control plane, the in-memory metastore and tests; it
// allocates freely and is never on the path of a forwarded byte.
//
// It does not route, rename or retry, and knows no method by name: everything
// it knows about an interface it is told by a profiles.Inventory.
//
// # Values
//
// A value is a plain Go value. What Read returns, and Write takes:
//
//	bool            bool
//	byte            int8
//	i16, i32, i64   int16, int32, int64
//	enum            int32, the number; Codec.EnumName and EnumValue know the names
//	double          float64
//	string          string
//	binary          []byte
//	list, set       []any
//	map             Map: pairs in wire order, since a key may be a list
//	struct, union   Struct: field name to value; an absent field is absent
//	exception       Struct inside an *Exception
//
// Write also takes what people write by hand: an int for every integer and enum
// where it fits, []string for a list of strings, map[string]string for a map of
// strings (sorted by key), string for binary. Every other mismatch is an error
// that names the field: "Table.sd.cols[3].name: want string, got int64".
//
// # Messages
//
// A call is the header (name, type, sequence id) and a struct of the arguments; a
// reply is the header and a struct that holds the success value under id 0 or one
// declared exception under its id (thrift's generated code, all languages):
//
//	80 01 00 01 | 00 00 00 09 get_table | 00 00 00 2a | 0b 00 01 .. 0b 00 02 .. 00
//	version+type  method                  sequence id   arguments               stop
//
// Raw transport has nothing around it, framed transport a length of four bytes.
// Only the strict header is read, as real metastores do.
package hms
