package digest

import (
	"crypto/cipher"
	"crypto/des"
	"crypto/hmac"
	"crypto/md5"
	"crypto/rc4"
	"crypto/subtle"
	"encoding/binary"
	"hash"

	"hmsgate/sasl"
)

const (
	macSize  = 10
	trailer  = 6 // 00 01 and the sequence number
	desBlock = des.BlockSize

	streamLeast = 64 // shorter tokens are held, whatever the limits say
)

// half is one direction: its signing key and its cipher, whose state runs on
// from token to token.
type half struct {
	mac    hash.Hash
	block  cipher.BlockMode // 3des
	stream *rc4.Cipher      // rc4
	seq    uint32
	sum    [md5.Size]byte
	num    [4]byte
}

// layer is auth-int or auth-conf (RFC 2831, 2.3 and 2.4):
//
//	auth-int : msg | HMAC-MD5(Ki, seq | msg)[0..9] | 00 01 | seq
//	auth-conf: CIPHER(Kc, msg | pad | HMAC-MD5(Ki, seq | msg)[0..9]) | 00 01 | seq
type layer struct {
	send, recv half
	padded     bool // 3des: 1 to 8 bytes, each telling their number
	dead       bool // a damaged token leaves the ciphers out of step
}

func derive(a1 []byte, magic string) []byte {
	k := md5.Sum(append(append([]byte{}, a1...), magic...))
	return k[:]
}

func newLayer(a1 [md5.Size]byte, q sasl.QOP, name string, server bool) (*layer, error) {
	toServer, err := newHalf(a1, q, name, "client-to-server", server)
	if err != nil {
		return nil, err
	}
	toClient, err := newHalf(a1, q, name, "server-to-client", !server)
	if err != nil {
		return nil, err
	}
	l := &layer{send: toServer, recv: toClient, padded: q == sasl.AuthConf && name == "3des"}
	if server {
		l.send, l.recv = toClient, toServer
	}
	return l, nil
}

func newHalf(a1 [md5.Size]byte, q sasl.QOP, name, direction string, opens bool) (half, error) {
	h := half{mac: hmac.New(md5.New, derive(a1[:], "Digest session key to "+direction+" signing key magic constant"))}
	if q != sasl.AuthConf {
		return h, nil
	}
	k := derive(a1[:], "Digest H(A1) to "+direction+" sealing key magic constant")
	switch name {
	case "rc4":
		c, err := rc4.NewCipher(k)
		if err != nil {
			return h, sasl.Errorf(sasl.Internal, "rc4: %w", err)
		}
		h.stream = c
	case "3des":
		k1, k2 := widen(k[:7]), widen(k[7:14])
		c, err := des.NewTripleDESCipher(append(append(append([]byte{}, k1...), k2...), k1...))
		if err != nil {
			return h, sasl.Errorf(sasl.Internal, "3des: %w", err)
		}
		if opens {
			h.block = cipher.NewCBCDecrypter(c, k[8:16])
		} else {
			h.block = cipher.NewCBCEncrypter(c, k[8:16])
		}
	default:
		return h, sasl.Errorf(sasl.LayerChoice, "cipher %q: allowed are 3des, rc4", name)
	}
	return h, nil
}

// widen spreads 56 bits over 8 bytes, 7 in each, the lowest bit odd parity.
func widen(b []byte) []byte {
	var v uint64
	for _, c := range b {
		v = v<<8 | uint64(c)
	}
	out := make([]byte, 8)
	for i := range out {
		c := byte(v>>(49-7*i)) << 1
		p := c ^ c>>4
		p ^= p >> 2
		p ^= p >> 1
		out[i] = c | ^p&1
	}
	return out
}

// begin starts the MAC of the next token.
func (h *half) begin() {
	h.mac.Reset()
	binary.BigEndian.PutUint32(h.num[:], h.seq)
	h.mac.Write(h.num[:])
}

func (h *half) end() []byte { return h.mac.Sum(h.sum[:0])[:macSize] }

func (l *layer) Head() int { return 0 }
func (l *layer) Tail() int { return desBlock + macSize + trailer }

func (l *layer) PlainMax(token int) int {
	if l.padded {
		return token - desBlock - macSize - trailer - 2 // Java reckons 26
	}
	return token - macSize - trailer
}

func (l *layer) Seal(b []byte, n int) ([]byte, error) {
	h := &l.send
	h.begin()
	h.mac.Write(b[:n])
	end := n
	if l.padded {
		pad := desBlock - (n+macSize)%desBlock
		for i := 0; i < pad; i++ {
			b[end+i] = byte(pad)
		}
		end += pad
	}
	end += copy(b[end:], h.end())
	h.crypt(b[:end])
	b[end], b[end+1] = 0, 1
	binary.BigEndian.PutUint32(b[end+2:], h.seq)
	h.seq++
	return b[:end+trailer], nil
}

func (h *half) crypt(b []byte) {
	if h.block != nil {
		h.block.CryptBlocks(b, b)
	} else if h.stream != nil {
		h.stream.XORKeyStream(b, b)
	}
}

func (l *layer) Open(t []byte) ([]byte, error) {
	if !l.fits(int64(len(t))) || !l.next(t) {
		return nil, l.damaged()
	}
	h := &l.recv
	b := t[:len(t)-trailer]
	h.crypt(b)
	return l.finish(b, true)
}

// fits says whether a token of the next message may have n bytes.
func (l *layer) fits(n int64) bool {
	least := int64(macSize + trailer)
	if l.padded {
		least += desBlock - macSize%desBlock
	}
	return !l.dead && n >= least && !(l.padded && (n-trailer)%desBlock != 0)
}

// next says whether t ends as the next token must.
func (l *layer) next(t []byte) bool {
	e := t[len(t)-trailer:]
	return e[0] == 0 && e[1] == 1 && binary.BigEndian.Uint32(e[2:]) == l.recv.seq
}

func (l *layer) damaged() error { l.dead = true; return sasl.ErrToken }

// finish verifies the plain end "msg | pad | mac" of a token. A bad padding is
// found out no sooner than a bad MAC: the message is then taken to be all but
// one byte of padding.
func (l *layer) finish(b []byte, fresh bool) ([]byte, error) {
	h := &l.recv
	msg, mac := b[:len(b)-macSize], b[len(b)-macSize:]
	good := 1
	if l.padded {
		n := len(msg)
		pad := int(msg[n-1])
		good = subtle.ConstantTimeLessOrEq(1, pad) & subtle.ConstantTimeLessOrEq(pad, min(desBlock, n))
		pad = subtle.ConstantTimeSelect(good, pad, 1)
		msg = msg[:n-pad]
	}
	if fresh {
		h.begin()
	}
	h.mac.Write(msg)
	good &= subtle.ConstantTimeCompare(mac, h.end())
	if good != 1 {
		return nil, l.damaged()
	}
	h.seq++
	return msg, nil
}

func (l *layer) OpenStream(n int64, _ []byte) (sasl.Opener, error) {
	if n < streamLeast || !l.fits(n) {
		return nil, l.damaged()
	}
	l.recv.begin()
	return &opener{l}, nil
}

// opener opens a token piece by piece: the cipher and the MAC run on anyway.
type opener struct{ l *layer }

func (o *opener) Hold() int {
	if o.l.padded {
		return 3*desBlock + trailer // the last blocks of message, padding and MAC
	}
	return 1 + macSize + trailer
}

func (o *opener) Next(p []byte) ([]byte, int, error) {
	if o.l.padded {
		p = p[:len(p)/desBlock*desBlock]
	}
	h := &o.l.recv
	h.crypt(p)
	h.mac.Write(p)
	return p, len(p), nil
}

func (o *opener) Close(tail []byte) ([]byte, error) {
	if o.l.dead || !o.l.next(tail) {
		return nil, o.l.damaged()
	}
	b := tail[:len(tail)-trailer]
	o.l.recv.crypt(b)
	return o.l.finish(b, false)
}
