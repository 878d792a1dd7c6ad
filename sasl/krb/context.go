package krb

import (
	"crypto/aes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/binary"
	"hash"

	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/types"

	"hmsgate/sasl"
)

// A wrap token, version 2 (RFC 4121, 4.2.6.2). RRC rotates the body to the
// right; EC is the length of the checksum, or of the filler of a sealed one.
//
//	0  05 04 | flags | ff | EC(2) | RRC(2) | sequence(8)
//	16 sealed:   E(confounder(16) | plain | filler(EC) | header with RRC = 0)
//	   unsealed: plain | checksum(plain | header with EC = RRC = 0)
const (
	wrapHead = 16

	fromAcceptor   = 0x01
	isSealed       = 0x02
	acceptorSubkey = 0x04
)

// half is one direction of a context: keys derived once, counters.
type half struct {
	cbc      *cbc
	sealMAC  hash.Hash // Ki
	checkMAC hash.Hash // Kc
	flags    byte      // every token of this direction has these
	seq      uint64
	sum      [sha512.Size384]byte
	head     [wrapHead]byte
}

// A wrapContext is an established security context's per-message side.
type wrapContext struct {
	et         enctype
	send, recv half
	dead       bool
}

// contextKeys is what the exchange of AP-REQ and AP-REP left.
type contextKeys struct {
	acceptor bool // our role
	key      types.EncryptionKey
	subkey   bool // key is the acceptor's
	sendSeq  uint64
	recvSeq  uint64
}

func newWrapContext(k contextKeys) (*wrapContext, error) {
	et, err := checkKey(k.key, "context key")
	if err != nil {
		return nil, err
	}
	c := &wrapContext{et: et}
	toAcceptor, err := newHalf(et, k.key, usageInitiatorSeal)
	if err != nil {
		return nil, err
	}
	toInitiator, err := newHalf(et, k.key, usageAcceptorSeal)
	if err != nil {
		return nil, err
	}
	toInitiator.flags = fromAcceptor
	if k.subkey {
		toInitiator.flags |= acceptorSubkey
		toAcceptor.flags |= acceptorSubkey
	}
	c.send, c.recv = toAcceptor, toInitiator
	if k.acceptor {
		c.send, c.recv = toInitiator, toAcceptor
	}
	c.send.seq, c.recv.seq = k.sendSeq, k.recvSeq
	return c, nil
}

// newHalf derives Ke, Ki and Kc (RFC 3961, 5.3; RFC 8009, 3) once: gokrb5
// derives them anew for every token, which costs it three quarters of its speed.
func newHalf(et enctype, key types.EncryptionKey, usage uint32) (half, error) {
	g, err := crypto.GetEtype(et.id)
	if err != nil {
		return half{}, sasl.Errorf(sasl.Internal, "enctype %d: %w", et.id, err)
	}
	var keys [3][]byte
	for i, octet := range [3]byte{0xaa, 0x55, 0x99} {
		constant := append(binary.BigEndian.AppendUint32(nil, usage), octet)
		if keys[i], err = g.DeriveKey(key.KeyValue, constant); err != nil {
			return half{}, sasl.Errorf(sasl.Internal, "deriving keys of enctype %d: %w", et.id, err)
		}
	}
	b, err := aes.NewCipher(keys[0])
	if err != nil {
		return half{}, sasl.Errorf(sasl.Internal, "aes: %w", err)
	}
	h := sha1.New
	switch et.id {
	case 19:
		h = sha256.New
	case 20:
		h = sha512.New384
	}
	return half{cbc: newCBC(b), sealMAC: hmac.New(h, keys[1]), checkMAC: hmac.New(h, keys[2])}, nil
}

// putHead writes the header of the next token with EC and RRC 0.
func (h *half) putHead(b []byte, flags byte) {
	b[0], b[1], b[2], b[3] = 5, 4, h.flags|flags, 0xff
	b[4], b[5], b[6], b[7] = 0, 0, 0, 0
	binary.BigEndian.PutUint64(b[8:], h.seq)
}

// overhead of a token on the wire, EC being 0.
func (c *wrapContext) sealed() int   { return wrapHead + confounder + wrapHead + c.et.mac }
func (c *wrapContext) unsealed() int { return wrapHead + c.et.mac }

// seal makes a sealed token of b[32:32+n] in b, which has room for 16 bytes
// more than the token.
func (c *wrapContext) seal(b []byte, n int) []byte {
	h := &c.send
	h.putHead(b, isSealed)
	body := b[wrapHead : 2*wrapHead+confounder+n]
	rand.Read(body[:confounder])
	copy(body[confounder+n:], b[:wrapHead])
	end := len(body)
	if !c.et.sha2 { // over the plain text
		h.sealMAC.Reset()
		h.sealMAC.Write(body)
		sum := h.sealMAC.Sum(h.sum[:0])
		h.cbc.seal(body)
		end += copy(body[end:end+c.et.mac], sum)
	} else { // over the initial vector and the cipher text
		h.cbc.seal(body)
		h.sealMAC.Reset()
		h.sealMAC.Write(zeroIV[:])
		h.sealMAC.Write(body)
		end += copy(body[end:end+c.et.mac], h.sealMAC.Sum(h.sum[:0]))
	}
	h.seq++
	return b[:wrapHead+end]
}

// sign makes an unsealed token of b[16:16+n] in b.
func (c *wrapContext) sign(b []byte, n int) []byte {
	h := &c.send
	h.putHead(b, 0)
	h.checkMAC.Reset()
	h.checkMAC.Write(b[wrapHead : wrapHead+n])
	h.checkMAC.Write(b[:wrapHead])
	end := wrapHead + n
	end += copy(b[end:end+c.et.mac], h.checkMAC.Sum(h.sum[:0]))
	b[5] = byte(c.et.mac)
	h.seq++
	return b[:end]
}

func (c *wrapContext) damaged() error { c.dead = true; return sasl.ErrToken }

// checkHead looks at what needs no key. The connection is ordered, so exactly
// the next number must come.
func (c *wrapContext) checkHead(t []byte, flags byte) bool {
	return !c.dead && len(t) >= wrapHead && t[0] == 5 && t[1] == 4 && t[2] == c.recv.flags|flags && t[3] == 0xff &&
		binary.BigEndian.Uint64(t[8:]) == c.recv.seq
}

// rotate undoes RRC in place, by three reversals.
func rotate(b []byte, rrc int) {
	if len(b) == 0 || rrc%len(b) == 0 {
		return
	}
	r := rrc % len(b)
	reverse(b[:r])
	reverse(b[r:])
	reverse(b)
}

func reverse(b []byte) {
	for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
}

// unseal opens a sealed token in place.
func (c *wrapContext) unseal(t []byte) ([]byte, error) {
	if !c.checkHead(t, isSealed) {
		return nil, c.damaged()
	}
	ec, rrc := int(binary.BigEndian.Uint16(t[4:])), int(binary.BigEndian.Uint16(t[6:]))
	body := t[wrapHead:]
	if len(body) < confounder+ec+wrapHead+c.et.mac {
		return nil, c.damaged()
	}
	rotate(body, rrc)
	h := &c.recv
	mac := body[len(body)-c.et.mac:]
	body = body[:len(body)-c.et.mac]
	h.sealMAC.Reset()
	if c.et.sha2 {
		h.sealMAC.Write(zeroIV[:])
		h.sealMAC.Write(body)
		if subtle.ConstantTimeCompare(mac, h.sealMAC.Sum(h.sum[:0])[:c.et.mac]) != 1 {
			return nil, c.damaged()
		}
		h.cbc.open(body)
	} else {
		h.cbc.open(body)
		h.sealMAC.Write(body)
		if subtle.ConstantTimeCompare(mac, h.sealMAC.Sum(h.sum[:0])[:c.et.mac]) != 1 {
			return nil, c.damaged()
		}
	}
	inner := body[len(body)-wrapHead:]
	t[6], t[7] = 0, 0
	if subtle.ConstantTimeCompare(inner, t[:wrapHead]) != 1 {
		return nil, c.damaged()
	}
	h.seq++
	return body[confounder : len(body)-wrapHead-ec], nil
}

// check opens an unsealed token in place.
func (c *wrapContext) check(t []byte) ([]byte, error) {
	if !c.checkHead(t, 0) {
		return nil, c.damaged()
	}
	ec, rrc := int(binary.BigEndian.Uint16(t[4:])), int(binary.BigEndian.Uint16(t[6:]))
	body := t[wrapHead:]
	if ec != c.et.mac || len(body) < ec {
		return nil, c.damaged()
	}
	rotate(body, rrc)
	h := &c.recv
	plain, mac := body[:len(body)-ec], body[len(body)-ec:]
	copy(h.head[:], t)
	h.head[4], h.head[5], h.head[6], h.head[7] = 0, 0, 0, 0
	h.checkMAC.Reset()
	h.checkMAC.Write(plain)
	h.checkMAC.Write(h.head[:])
	if subtle.ConstantTimeCompare(mac, h.checkMAC.Sum(h.sum[:0])[:ec]) != 1 {
		return nil, c.damaged()
	}
	h.seq++
	return plain, nil
}
