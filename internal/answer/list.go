package answer

import (
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
	elem  frame.Type
	count int
	body  []byte // the elements
}

var errNoList = errors.New("reply is no list")

// readList takes a whole REPLY apart. ok is false for exceptions, declared
// ones or others.
func readList(msg []byte, method string) (l list, ok bool, err error) {
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
		return l, false, nil
	}
	if b[0] != frame.List {
		return l, false, fmt.Errorf("%w: a %s", errNoList, frame.TypeName(b[0]))
	}
	return list{b[3], int(be.Uint32(b[4:])), b[8 : len(b)-1]}, true, nil
}

// names are the elements of a list of strings.
func (l list) names() ([]string, error) {
	var out []string
	b := l.body
	for i := 0; i < l.count; i++ {
		if len(b) < 4 || l.elem != frame.String {
			return nil, errNoList
		}
		n := int(be.Uint32(b))
		if n < 0 || len(b)-4 < n {
			return nil, errNoList
		}
		out = append(out, string(b[4:4+n]))
		b = b[4+n:]
	}
	return out, nil
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
