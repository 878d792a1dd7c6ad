package frame

// Peer is what a peer's first bytes say it speaks.
type Peer uint8

const (
	Undecided Peer = iota // more bytes needed
	RawBinary             // strict binary protocol, no frames
	FramedBinary
	OldBinary // old-style header
	Compact
	FramedCompact
	SASL
	TLS
	HTTP
	Unknown
)

var peerNames = [...]string{"undecided", "raw", "framed", "old-binary", "compact", "framed-compact",
	"sasl", "tls", "http", "unknown"}

func (p Peer) String() string { return peerNames[p] }

// SniffSize is enough bytes to tell any peer.
const SniffSize = 6

// Sniff tells what the first bytes of a connection are.
//
//	80 01        strict binary       82       compact
//	len len len len 80 01 | 82       the same in frames
//	00 00 00 nn letter               old-style binary
//	01           SASL START (TSaslTransport: status 1, length, mechanism)
//	16 03        TLS hello           GET, POST, PUT, HEAD, OPTIONS, PRI: HTTP
func Sniff(b []byte) Peer {
	if len(b) == 0 {
		return Undecided
	}
	switch c := b[0]; {
	case c == 0x80:
		return second(b, 0x01, RawBinary)
	case c == 0x82:
		return Compact
	case c == 0x16:
		return second(b, 0x03, TLS)
	case c >= 'A' && c <= 'Z':
		return sniffHTTP(b)
	}
	if len(b) < 5 {
		return Undecided
	}
	if b[0] == 1 && b[1] == 0 && b[2] == 0 {
		// SASL START, and a frame of 16 MB has no reason to begin a connection
		return SASL
	}
	switch {
	case b[4] == 0x80:
		if len(b) < 6 {
			return Undecided
		}
		if b[5] == 0x01 {
			return FramedBinary
		}
	case b[4] == 0x82:
		return FramedCompact
	case letter(b[4]):
		if n := be.Uint32(b); n > 0 && n <= MaxMethod {
			return OldBinary
		}
	}
	return Unknown
}

func second(b []byte, want byte, p Peer) Peer {
	if len(b) < 2 {
		return Undecided
	}
	if b[1] == want {
		return p
	}
	return Unknown
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' }

func sniffHTTP(b []byte) Peer {
	for _, m := range [...]string{"GET ", "POST ", "PUT ", "HEAD ", "OPTIONS ", "PRI ", "DELETE ", "PATCH ", "CONNECT "} {
		n := min(len(m), len(b), 4)
		if string(b[:n]) == m[:n] {
			if len(b) < 4 {
				return Undecided
			}
			return HTTP
		}
	}
	return Unknown
}
