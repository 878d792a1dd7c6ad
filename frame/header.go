package frame

import "fmt"

// MaxMethod bounds a method's name: the longest of the metastore interface
// has 59 bytes.
const MaxMethod = 256

// Header is the head of a message.
type Header struct {
	Type   MessageType
	Seq    int32
	Method []byte // valid until the window is next used
	Old    bool   // old-style, without version
	Size   int    // bytes of the header itself
}

// Header reads a message's header. Old-style headers are ErrOldHeader unless
// old is set: real metastores read only strict ones (TBinaryProtocol with
// strictRead, HiveMetaStore.startMetaStore).
func (w *Window) Header(old bool) (Header, error) {
	if err := w.Need(8); err != nil {
		return Header{}, err
	}
	v, n := be.Uint32(w.b[w.r:]), be.Uint32(w.b[w.r+4:])
	if int32(v) >= 0 {
		if !old {
			return Header{}, ErrOldHeader
		}
		return w.oldHeader(v)
	}
	if v&0xffff0000 != 0x80010000 {
		return Header{}, fmt.Errorf("%w: version %#08x", ErrNotThrift, v)
	}
	if n > MaxMethod {
		return Header{}, fmt.Errorf("%w: method name of %d bytes, at most %d", ErrTooLong, int32(n), MaxMethod)
	}
	size := 12 + int(n)
	if err := w.Need(size); err != nil {
		return Header{}, err
	}
	b := w.b[w.r : w.r+size]
	w.r += size
	return Header{Type: MessageType(v), Seq: int32(be.Uint32(b[size-4:])), Method: b[8 : 8+n], Size: size}, nil
}

// oldHeader reads {len name type seq}.
func (w *Window) oldHeader(n uint32) (Header, error) {
	if n == 0 || n > MaxMethod {
		return Header{}, fmt.Errorf("%w: name of %d bytes, at most %d", ErrOldHeader, n, MaxMethod)
	}
	size := 9 + int(n)
	if err := w.Need(size); err != nil {
		return Header{}, err
	}
	b := w.b[w.r : w.r+size]
	w.r += size
	seq := int32(be.Uint32(b[size-4:]))
	return Header{Type: MessageType(b[size-5]), Seq: seq, Method: b[4 : 4+n], Old: true, Size: size}, nil
}

// AppendHeader appends a strict header.
func AppendHeader[S string | []byte](dst []byte, t MessageType, method S, seq int32) []byte {
	dst = append(dst, 0x80, 0x01, 0, byte(t))
	dst = be.AppendUint32(dst, uint32(len(method)))
	dst = append(dst, method...)
	return be.AppendUint32(dst, uint32(seq))
}
