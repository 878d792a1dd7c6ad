package answer

import (
	"bytes"
	"errors"
	"strings"

	"hmsgate/frame"
)

// field is one field of a struct: its value as it stands on the wire.
type field struct {
	t  frame.Type
	id int16
	v  []byte
}

// fields is a struct taken apart, so that one field can be changed and every
// other, known or not, stays.
//
//	type(1) id(2) value | ... | 00
type fields []field

var errRaw = errors.New("not the struct or list it should be")

// splitStruct takes apart the struct that b begins with.
func splitStruct(b []byte) (fields, error) {
	w := frame.NewWindow(bytes.NewReader(b), nil)
	defer w.Park()
	w.Start(0, len(b)+1)
	var fs fields
	for {
		if err := w.Need(1); err != nil {
			return nil, err
		}
		t := w.Bytes()[0]
		if t == frame.Stop {
			return fs, nil
		}
		if err := w.Need(3); err != nil {
			return nil, err
		}
		id := int16(be.Uint16(w.Bytes()[1:]))
		w.Advance(3)
		from := w.Pos()
		if err := w.Skip(t, 1); err != nil {
			return nil, err
		}
		fs = append(fs, field{t, id, b[from:w.Pos()]})
	}
}

// splitList takes a list apart into its elements, which must be of type elem.
//
//	elem(1) count(4) | elements
func splitList(v []byte, elem frame.Type) ([][]byte, error) {
	if len(v) < 5 {
		return nil, errRaw
	}
	n := int(be.Uint32(v[1:]))
	if n == 0 {
		return nil, nil
	}
	if v[0] != elem || n > len(v) {
		return nil, errRaw
	}
	w := frame.NewWindow(bytes.NewReader(v[5:]), nil)
	defer w.Park()
	w.Start(0, len(v))
	out := make([][]byte, 0, n)
	for range n {
		from := w.Pos()
		if err := w.Skip(elem, 1); err != nil {
			return nil, err
		}
		out = append(out, v[5+from:5+w.Pos()])
	}
	return out, nil
}

// appendTo appends the struct.
func (fs fields) appendTo(dst []byte) []byte {
	for _, f := range fs {
		dst = append(dst, f.t, byte(f.id>>8), byte(f.id))
		dst = append(dst, f.v...)
	}
	return append(dst, frame.Stop)
}

// joinList is a list of elements.
func joinList(elem frame.Type, list [][]byte) []byte {
	dst := be.AppendUint32([]byte{elem}, uint32(len(list)))
	for _, e := range list {
		dst = append(dst, e...)
	}
	return dst
}

// get is the value of a field of that type, nil when there is none.
func (fs fields) get(t frame.Type, id int16) []byte {
	for _, f := range fs {
		if f.id == id && f.t == t {
			return f.v
		}
	}
	return nil
}

// set overwrites a field or adds it.
func (fs fields) set(t frame.Type, id int16, v []byte) fields {
	for i := range fs {
		if fs[i].id == id {
			fs[i] = field{t, id, v}
			return fs
		}
	}
	return append(fs, field{t, id, v})
}

// without leaves a field out.
func (fs fields) without(id int16) fields {
	out := fs[:0:0]
	for _, f := range fs {
		if f.id != id {
			out = append(out, f)
		}
	}
	return out
}

// text is a string field's value.
func (fs fields) text(id int16) []byte {
	if v := fs.get(frame.String, id); len(v) >= 4 {
		return v[4:]
	}
	return nil
}

// mapText is the value of a key, in any case, of a field that maps strings to
// strings.
//
//	0b 0b count(4) | length(4) key, length(4) value, ..
func (fs fields) mapText(id int16, key string) string {
	v := fs.get(frame.Map, id)
	if len(v) < 6 || v[0] != byte(frame.String) || v[1] != byte(frame.String) {
		return ""
	}
	next := func() (s []byte) {
		if len(v) < 4 || uint64(len(v)-4) < uint64(be.Uint32(v)) {
			v = nil
			return nil
		}
		s, v = v[4:4+be.Uint32(v)], v[4+be.Uint32(v):]
		return s
	}
	for v = v[6:]; len(v) > 0; {
		k, value := next(), next()
		if strings.EqualFold(string(k), key) {
			return string(value)
		}
	}
	return ""
}

func (fs fields) i64(id int16) int64 {
	if v := fs.get(frame.I64, id); len(v) == 8 {
		return int64(be.Uint64(v))
	}
	return 0
}

func (fs fields) i32(id int16) int32 {
	if v := fs.get(frame.I32, id); len(v) == 4 {
		return int32(be.Uint32(v))
	}
	return 0
}

// stringValue is a string on the wire.
func stringValue(s []byte) []byte { return append(be.AppendUint32(nil, uint32(len(s))), s...) }

// argument is the struct under a call's argument id.
func argument(body []byte, id int16) (args, arg fields, err error) {
	if args, err = splitStruct(body); err != nil {
		return nil, nil, err
	}
	v := args.get(frame.Struct, id)
	if v == nil {
		return nil, nil, errRaw
	}
	arg, err = splitStruct(v)
	return args, arg, err
}

// success is the struct that a reply returns; ok is false for an exception.
func success(msg []byte) (result fields, ok bool, err error) {
	if frame.MessageType(msg[3]) != frame.Reply {
		return nil, false, nil
	}
	fs, err := splitStruct(msg[12+be.Uint32(msg[4:]):])
	if err != nil {
		return nil, false, err
	}
	v := fs.get(frame.Struct, 0)
	if v == nil {
		return nil, false, nil
	}
	result, err = splitStruct(v)
	return result, err == nil, err
}
