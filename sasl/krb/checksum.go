package krb

import (
	"encoding/binary"

	"github.com/jcmturner/gokrb5/v8/types"

	"hmsgate/sasl"
)

// The authenticator's checksum carries the context's flags (RFC 4121, 4.1.1),
// little endian:
//
//	0  16 (4) | 4 channel binding (16) | 20 flags (4)
//	24 1 (2) | 26 length (2) | 28 KRB-CRED | extensions     with deleg only
const (
	checksumType = 0x8003
	checksumHead = 24

	flagDeleg    = 0x1
	flagMutual   = 0x2
	flagReplay   = 0x4
	flagSequence = 0x8
	flagConf     = 0x10
	flagInteg    = 0x20
	flagAnon     = 0x40
	flagDCE      = 0x1000

	// What Java sends for every quality of protection, and so do we.
	initiatorFlags = flagMutual | flagReplay | flagSequence | flagConf | flagInteg
)

func newChecksum() types.Checksum {
	b := make([]byte, checksumHead)
	binary.LittleEndian.PutUint32(b, 16)
	binary.LittleEndian.PutUint32(b[20:], initiatorFlags)
	return types.Checksum{CksumType: checksumType, Checksum: b}
}

// parseChecksum returns the flags. Forwarded credentials are measured, not
// read: they are thrown away. Channel bindings are not looked at; Hive's
// clients send none.
func parseChecksum(c types.Checksum) (uint32, error) {
	b := c.Checksum
	if c.CksumType != checksumType || len(b) < checksumHead || binary.LittleEndian.Uint32(b) != 16 {
		return 0, sasl.Errorf(sasl.Protocol, "authenticator checksum of type %#x and %d bytes is not GSSAPI's", c.CksumType, len(b))
	}
	flags := binary.LittleEndian.Uint32(b[20:])
	switch {
	case flags&flagMutual == 0:
		return 0, sasl.Errorf(sasl.Protocol, "context flags %#x ask for no mutual authentication", flags)
	case flags&(flagAnon|flagDCE) != 0:
		return 0, sasl.Errorf(sasl.Protocol, "context flags %#x: anonymous and DCE style are refused", flags)
	case flags&flagDeleg == 0:
		return flags, nil
	}
	if len(b) < checksumHead+4 || binary.LittleEndian.Uint16(b[24:]) != 1 ||
		int(binary.LittleEndian.Uint16(b[26:])) > len(b)-checksumHead-4 {
		return 0, sasl.Errorf(sasl.Protocol, "forwarded credentials of the wrong length")
	}
	return flags, nil
}
