package frame

// AppType is the type of an application exception.
type AppType int32

// Types of application exceptions (Apache Thrift, TApplicationException).
const (
	UnknownMethod      AppType = 1
	InvalidMessageType AppType = 2
	WrongMethodName    AppType = 3
	BadSequenceID      AppType = 4
	MissingResult      AppType = 5
	InternalError      AppType = 6
	ProtocolError      AppType = 7
	InvalidProtocol    AppType = 9
)

// AppendString appends a string field.
func AppendString(dst []byte, id int16, s string) []byte {
	dst = append(dst, String, byte(id>>8), byte(id))
	dst = be.AppendUint32(dst, uint32(len(s)))
	return append(dst, s...)
}

// AppendFault appends a whole EXCEPTION message:
// TApplicationException{1: string message, 2: i32 type}.
func AppendFault(dst []byte, method string, seq int32, t AppType, text string) []byte {
	dst = AppendHeader(dst, Exception, method, seq)
	dst = AppendString(dst, 1, text)
	dst = append(dst, I32, 0, 2)
	dst = be.AppendUint32(dst, uint32(t))
	return append(dst, Stop)
}

// AppendDeclared appends a whole REPLY that throws the exception declared
// under id, whose only field is 1: string message, as all of the metastore's
// exceptions have it.
func AppendDeclared(dst []byte, method string, seq int32, id int16, text string) []byte {
	dst = AppendHeader(dst, Reply, method, seq)
	dst = append(dst, Struct, byte(id>>8), byte(id))
	dst = AppendString(dst, 1, text)
	return append(dst, Stop, Stop)
}
