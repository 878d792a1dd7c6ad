package frame

import "strconv"

// Type is a wire type of Thrift's binary protocol: one byte in front of each
// field, and of the elements of each list, set and map.
type Type = byte

// Wire types (Apache Thrift, doc/specs/thrift-binary-protocol.md).
const (
	Stop   Type = 0
	Bool   Type = 2
	Byte   Type = 3
	Double Type = 4
	I16    Type = 6
	I32    Type = 8
	I64    Type = 10
	String Type = 11 // also binary
	Struct Type = 12 // also union and exception
	Map    Type = 13
	Set    Type = 14
	List   Type = 15
	UUID   Type = 16
)

// TypeName is a wire type's name for people, or its number when it has none.
func TypeName(t Type) string {
	switch t {
	case Stop:
		return "stop"
	case Bool:
		return "bool"
	case Byte:
		return "byte"
	case Double:
		return "double"
	case I16:
		return "i16"
	case I32:
		return "i32"
	case I64:
		return "i64"
	case String:
		return "string"
	case Struct:
		return "struct"
	case Map:
		return "map"
	case Set:
		return "set"
	case List:
		return "list"
	case UUID:
		return "uuid"
	}
	return "type " + strconv.Itoa(int(t))
}

// fixed is the size in bytes of the values of each fixed-size type, else 0.
var fixed = [256]uint8{Bool: 1, Byte: 1, Double: 8, I16: 2, I32: 4, I64: 8, UUID: 16}

// least is the smallest number of bytes a value of each type can have; 0
// marks what is no type of a value. A container of n elements needs n times
// that much, which is how a count is checked before it is believed.
var least = [256]uint8{Bool: 1, Byte: 1, Double: 8, I16: 2, I32: 4, I64: 8, UUID: 16,
	String: 4, Struct: 1, Map: 6, Set: 5, List: 5}

// FixedSize is the size of a value of a fixed-size type, 0 for all others.
func FixedSize(t Type) int { return int(fixed[t]) }

// MessageType tells calls from replies.
type MessageType byte

// Message types (Apache Thrift, TMessageType).
const (
	Call      MessageType = 1
	Reply     MessageType = 2
	Exception MessageType = 3 // an application exception, not one a method declares
	Oneway    MessageType = 4
)

func (t MessageType) String() string {
	switch t {
	case Call:
		return "call"
	case Reply:
		return "reply"
	case Exception:
		return "exception"
	case Oneway:
		return "oneway"
	}
	return "message type " + strconv.Itoa(int(t))
}
