package krb

import (
	"bytes"
	"encoding/binary"

	"hmsgate/sasl"
)

// The mechanism's object identifier, DER, and the token ids of RFC 4121, 4.1.
var oid = []byte{0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x12, 0x01, 0x02, 0x02}

const (
	idAPReq = 0x0100
	idAPRep = 0x0200
	idError = 0x0300
)

// appendContextToken frames an inner message (RFC 2743, 3.1):
//
//	60 <DER length> <oid> <id> message
func appendContextToken(dst []byte, id uint16, inner []byte) []byte {
	n := len(oid) + 2 + len(inner)
	dst = append(dst, 0x60)
	switch {
	case n < 0x80:
		dst = append(dst, byte(n))
	case n < 1<<8:
		dst = append(dst, 0x81, byte(n))
	case n < 1<<16:
		dst = append(dst, 0x82, byte(n>>8), byte(n))
	default:
		dst = append(dst, 0x83, byte(n>>16), byte(n>>8), byte(n))
	}
	dst = append(dst, oid...)
	dst = binary.BigEndian.AppendUint16(dst, id)
	return append(dst, inner...)
}

// parseContextToken returns the id and the inner message. Nothing may follow
// the message, and the length is DER's shortest.
func parseContextToken(b []byte) (uint16, []byte, error) {
	if len(b) < 2 || b[0] != 0x60 {
		return 0, nil, sasl.Errorf(sasl.Protocol, "not an initial GSS token")
	}
	n, rest := int(b[1]), b[2:]
	if n >= 0x80 {
		k := n & 0x7f
		if k == 0 || k > 3 || len(rest) < k {
			return 0, nil, sasl.Errorf(sasl.Protocol, "bad length of a GSS token")
		}
		n = 0
		for _, c := range rest[:k] {
			n = n<<8 | int(c)
		}
		rest = rest[k:]
		if n < 0x80 || k > 1 && n < 1<<(8*(k-1)) {
			return 0, nil, sasl.Errorf(sasl.Protocol, "length of a GSS token is not in its shortest form")
		}
	}
	if n != len(rest) {
		return 0, nil, sasl.Errorf(sasl.Protocol, "GSS token says %d bytes, has %d", n, len(rest))
	}
	if !bytes.HasPrefix(rest, oid) || len(rest) < len(oid)+2 {
		return 0, nil, sasl.Errorf(sasl.Mechanism, "GSS token of another mechanism (SPNEGO?) than Kerberos 5")
	}
	rest = rest[len(oid):]
	return binary.BigEndian.Uint16(rest), rest[2:], nil
}
