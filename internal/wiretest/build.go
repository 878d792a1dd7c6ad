package wiretest

import "encoding/binary"

// Struct builds the fields of a struct by hand, in the order they are added.
// The zero value is an empty one; Stop ends it.
//
//	body := wiretest.Struct(nil).String(1, "sales").String(2, "t").Stop()
//	call := wiretest.Call("get_table", 1, body)
type Struct []byte

// Field appends a field of any type with its value already in wire form.
func (s Struct) Field(wireType byte, id int16, value []byte) Struct {
	s = append(s, wireType)
	s = binary.BigEndian.AppendUint16(s, uint16(id))
	return append(s, value...)
}

// Bool appends a bool field.
func (s Struct) Bool(id int16, v bool) Struct {
	b := byte(0)
	if v {
		b = 1
	}
	return s.Field(WireBool, id, []byte{b})
}

// I16 appends an i16 field.
func (s Struct) I16(id, v int16) Struct {
	return s.Field(WireI16, id, binary.BigEndian.AppendUint16(nil, uint16(v)))
}

// I32 appends an i32 field.
func (s Struct) I32(id int16, v int32) Struct {
	return s.Field(WireI32, id, binary.BigEndian.AppendUint32(nil, uint32(v)))
}

// I64 appends an i64 field.
func (s Struct) I64(id int16, v int64) Struct {
	return s.Field(WireI64, id, binary.BigEndian.AppendUint64(nil, uint64(v)))
}

// String appends a string field.
func (s Struct) String(id int16, v string) Struct {
	return s.Field(WireString, id, Text(v))
}

// Struct appends a struct field; v has its STOP.
func (s Struct) Struct(id int16, v []byte) Struct { return s.Field(WireStruct, id, v) }

// List appends a list field of elements in wire form.
func (s Struct) List(id int16, elem byte, values ...[]byte) Struct {
	b := binary.BigEndian.AppendUint32([]byte{elem}, uint32(len(values)))
	for _, v := range values {
		b = append(b, v...)
	}
	return s.Field(WireList, id, b)
}

// Strings appends a list<string> field.
func (s Struct) Strings(id int16, values ...string) Struct {
	var vs [][]byte
	for _, v := range values {
		vs = append(vs, Text(v))
	}
	return s.List(id, WireString, vs...)
}

// StringMap appends a map<string,string> field of key, value, key, value ...
func (s Struct) StringMap(id int16, pairs ...string) Struct {
	b := binary.BigEndian.AppendUint32([]byte{WireString, WireString}, uint32(len(pairs)/2))
	for _, p := range pairs[:len(pairs)/2*2] {
		b = append(b, Text(p)...)
	}
	return s.Field(WireMap, id, b)
}

// Stop ends the struct.
func (s Struct) Stop() []byte { return append(s, WireStop) }

// Text is a string in wire form.
func Text(v string) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(v))), v...)
}

// Call is a whole call around an argument struct.
func Call(method string, seq int32, args []byte) []byte { return Envelope(method, TypeCall, seq, args) }

// Reply is a whole reply around a result struct.
func Reply(method string, seq int32, result []byte) []byte {
	return Envelope(method, TypeReply, seq, result)
}

// Exception is a TApplicationException: text in field 1, kind in field 2
// (Apache Thrift, TApplicationException).
func Exception(method string, seq, kind int32, text string) []byte {
	return Envelope(method, TypeException, seq, Struct(nil).String(1, text).I32(2, kind).Stop())
}

// Envelope puts a strict binary header before a struct.
func Envelope(method string, kind byte, seq int32, body []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, 0x80010000|uint32(kind))
	b = append(b, Text(method)...)
	b = binary.BigEndian.AppendUint32(b, uint32(seq))
	return append(b, body...)
}

// Framed puts the size before a message, as the framed transport does.
func Framed(message []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(message))), message...)
}
