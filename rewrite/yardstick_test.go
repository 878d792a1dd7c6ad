package rewrite

import (
	"bufio"
	"bytes"
	"context"
	"io"

	"github.com/apache/thrift/lib/go/thrift"

	"hmsgate/frame"
)

// yardstick is the frozen reference skip: a recursion over a slice, with a
// size table, strings handled inside the struct loop and tight loops over
// strings. The gates are ratios to its speed, so it is never edited.
func yardstick(b []byte, i int, t byte, depth int) int {
	if depth == 0 {
		return -1
	}
	switch t {
	case frame.Struct:
		for uint(i) < uint(len(b)) {
			ft := b[i]
			if ft == frame.Stop {
				return i + 1
			}
			if ft == frame.String {
				if len(b)-i < 7 {
					return -1
				}
				n := be.Uint32(b[i+3:])
				i += 7 + int(n)
				if int32(n) < 0 {
					return -1
				}
				continue
			}
			if s := yardFixed[ft]; s != 0 {
				i += 3 + int(s)
				continue
			}
			if i = yardstick(b, i+3, ft, depth-1); i < 0 {
				return -1
			}
		}
		return -1
	case frame.List, frame.Set:
		if len(b)-i < 5 || i < 0 {
			return -1
		}
		et, n := b[i], int(int32(be.Uint32(b[i+1:])))
		i += 5
		if n < 0 {
			return -1
		}
		if s := yardFixed[et]; s != 0 {
			return i + n*int(s)
		}
		if et == frame.String {
			return yardStrings(b, i, n)
		}
		for ; n > 0; n-- {
			if i = yardstick(b, i, et, depth-1); i < 0 {
				return -1
			}
		}
		return i
	case frame.Map:
		if len(b)-i < 6 || i < 0 {
			return -1
		}
		kt, vt, n := b[i], b[i+1], int(int32(be.Uint32(b[i+2:])))
		i += 6
		if n < 0 {
			return -1
		}
		ks, vs := yardFixed[kt], yardFixed[vt]
		if ks != 0 && vs != 0 {
			return i + n*int(ks+vs)
		}
		if kt == frame.String && vt == frame.String {
			return yardStrings(b, i, 2*n)
		}
		for ; n > 0; n-- {
			if i = yardstick(b, i, kt, depth-1); i < 0 {
				return -1
			}
			if i = yardstick(b, i, vt, depth-1); i < 0 {
				return -1
			}
		}
		return i
	case frame.String:
		return yardStrings(b, i, 1)
	}
	if s := yardFixed[t]; s != 0 {
		return i + int(s)
	}
	return -1
}

func yardStrings(b []byte, i, n int) int {
	for ; n > 0; n-- {
		if uint(i)+4 > uint(len(b)) {
			return -1
		}
		l := be.Uint32(b[i:])
		if int32(l) < 0 {
			return -1
		}
		i += 4 + int(l)
	}
	return i
}

var yardFixed = [256]uint8{frame.Bool: 1, frame.Byte: 1, frame.Double: 8, frame.I16: 2, frame.I32: 4, frame.I64: 8, frame.UUID: 16}

// yardSkip skips a whole message.
func yardSkip(msg []byte) int {
	return yardstick(msg, 12+int(be.Uint32(msg[4:])), frame.Struct, 64)
}

// tokenCopy is what a gateway does that decodes and encodes, at its fastest:
// each token read and written through apache/thrift's protocol.
func tokenCopy(r io.Reader, w io.Writer) error {
	in := thrift.NewTBinaryProtocolConf(thrift.NewStreamTransportR(bufio.NewReaderSize(r, 64<<10)), nil)
	out := thrift.NewTBinaryProtocolConf(thrift.NewStreamTransportW(bufio.NewWriterSize(w, 64<<10)), nil)
	ctx := context.Background()
	name, typ, seq, err := in.ReadMessageBegin(ctx)
	if err == nil {
		err = out.WriteMessageBegin(ctx, name, typ, seq)
	}
	if err == nil {
		err = copyValue(ctx, in, out, thrift.STRUCT)
	}
	if err == nil {
		err = out.Flush(ctx)
	}
	return err
}

// pass hands a value read on to its writer.
func pass[T any](ctx context.Context, write func(context.Context, T) error) func(T, error) error {
	return func(v T, err error) error {
		if err != nil {
			return err
		}
		return write(ctx, v)
	}
}

func copyValue(ctx context.Context, in, out *thrift.TBinaryProtocol, t thrift.TType) error {
	switch t {
	case thrift.BOOL:
		return pass(ctx, out.WriteBool)(in.ReadBool(ctx))
	case thrift.BYTE:
		return pass(ctx, out.WriteByte)(in.ReadByte(ctx))
	case thrift.I16:
		return pass(ctx, out.WriteI16)(in.ReadI16(ctx))
	case thrift.I32:
		return pass(ctx, out.WriteI32)(in.ReadI32(ctx))
	case thrift.I64:
		return pass(ctx, out.WriteI64)(in.ReadI64(ctx))
	case thrift.DOUBLE:
		return pass(ctx, out.WriteDouble)(in.ReadDouble(ctx))
	case thrift.UUID:
		return pass(ctx, out.WriteUUID)(in.ReadUUID(ctx))
	case thrift.STRING:
		return pass(ctx, out.WriteString)(in.ReadString(ctx))
	case thrift.STRUCT:
		for {
			_, ft, id, err := in.ReadFieldBegin(ctx)
			if err != nil {
				return err
			}
			if ft == thrift.STOP {
				return out.WriteFieldStop(ctx)
			}
			if err := out.WriteFieldBegin(ctx, "", ft, id); err != nil {
				return err
			}
			if err := copyValue(ctx, in, out, ft); err != nil {
				return err
			}
		}
	case thrift.LIST, thrift.SET:
		et, n, err := in.ReadListBegin(ctx)
		if err == nil {
			err = out.WriteListBegin(ctx, et, n)
		}
		for ; n > 0 && err == nil; n-- {
			err = copyValue(ctx, in, out, et)
		}
		return err
	case thrift.MAP:
		kt, vt, n, err := in.ReadMapBegin(ctx)
		if err == nil {
			err = out.WriteMapBegin(ctx, kt, vt, n)
		}
		for ; n > 0 && err == nil; n-- {
			if err = copyValue(ctx, in, out, kt); err == nil {
				err = copyValue(ctx, in, out, vt)
			}
		}
		return err
	}
	return thrift.NewTProtocolExceptionWithType(thrift.INVALID_DATA, io.ErrUnexpectedEOF)
}

// parses says whether apache/thrift reads b as exactly one message.
func parses(b []byte) error {
	var out bytes.Buffer
	if err := tokenCopy(bytes.NewReader(b), &out); err != nil {
		return err
	}
	if out.Len() != len(b) {
		return io.ErrShortWrite
	}
	return nil
}
