package answer

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"hmsgate/frame"
)

var be = binary.BigEndian

// list is the success value of a reply whose result is a list.
//
//	header | 0f 00 00 type(1) count(4) | elements | 00
type list struct {
	count int
	body  []byte // the elements
}

var errNoList = errors.New("reply is no list")

// readList takes a whole REPLY apart whose list has elements of type elem. ok
// is false for exceptions, declared ones or others.
func readList(msg []byte, method string, elem frame.Type) (l list, ok bool, err error) {
	at := 12 + len(method)
	if len(msg) < at+1 {
		return l, false, errNoList
	}
	if frame.MessageType(msg[3]) != frame.Reply {
		return l, false, nil
	}
	b := msg[at:]
	if b[0] == frame.Stop {
		return l, false, fmt.Errorf("%w: no result", errNoList)
	}
	if len(b) < 9 {
		return l, false, errNoList
	}
	if b[1] != 0 || b[2] != 0 {
		return l, false, onlyStruct(b)
	}
	if b[0] != frame.List {
		return l, false, fmt.Errorf("%w: a %s", errNoList, frame.TypeName(b[0]))
	}
	w := frame.NewWindow(bytes.NewReader(b[3:]), nil)
	defer w.Park()
	w.Start(0, len(b))
	if err := w.Skip(frame.List, 0); err != nil {
		return l, false, fmt.Errorf("%w: %w", errNoList, err)
	}
	end := 3 + int(w.Pos())
	if end != len(b)-1 || b[end] != frame.Stop { // a field that nobody knows cannot be merged
		return l, false, fmt.Errorf("%w: %d bytes behind it", errNoList, len(b)-1-end)
	}
	l = list{int(be.Uint32(b[4:])), b[8:end]}
	if l.count > 0 && b[3] != elem {
		return l, false, fmt.Errorf("%w of %ss: elements are %ss", errNoList, frame.TypeName(elem), frame.TypeName(b[3]))
	}
	return l, true, nil
}

// onlyStruct checks that a result is one struct, a declared exception, and
// nothing behind it that a client might read as success.
func onlyStruct(b []byte) error {
	w := frame.NewWindow(bytes.NewReader(b[3:]), nil)
	defer w.Park()
	w.Start(0, len(b))
	if b[0] != frame.Struct || w.Skip(frame.Struct, 0) != nil || 3+int(w.Pos()) != len(b)-1 {
		return fmt.Errorf("%w: neither success nor an exception", errNoList)
	}
	return nil
}

// appendTo appends the elements of a list of strings.
func (l list) appendTo(names []string) []string {
	b := l.body
	for range l.count {
		n := 4 + int(be.Uint32(b))
		names = append(names, string(b[4:n]))
		b = b[n:]
	}
	return names
}

// appendNames appends a result struct with a list of strings.
func appendNames(dst []byte, names []string) []byte {
	dst = append(dst, frame.List, 0, 0, frame.String)
	dst = be.AppendUint32(dst, uint32(len(names)))
	for _, n := range names {
		dst = be.AppendUint32(dst, uint32(len(n)))
		dst = append(dst, n...)
	}
	return append(dst, frame.Stop)
}
