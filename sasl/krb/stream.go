package krb

import (
	"crypto/subtle"

	"hmsgate/sasl"
)

// Tokens too long to be held come from Java, which wraps a whole message at
// once: EC as always, RRC 0. Rotated ones (Windows) are refused here.
const streamLeast = 128

// signingOpener passes the plain text on while its checksum runs.
type signingOpener struct{ c *wrapContext }

func (o signingOpener) Hold() int { return 1 + o.c.et.mac }

func (o signingOpener) Next(p []byte) ([]byte, int, error) {
	o.c.recv.checkMAC.Write(p)
	return p, len(p), nil
}

func (o signingOpener) Close(t []byte) ([]byte, error) {
	c, h := o.c, &o.c.recv
	plain, mac := t[:1], t[1:]
	h.checkMAC.Write(plain)
	h.checkMAC.Write(h.head[:])
	if c.dead || subtle.ConstantTimeCompare(mac, h.checkMAC.Sum(h.sum[:0])[:c.et.mac]) != 1 {
		return nil, c.damaged()
	}
	h.seq++
	return plain, nil
}

func (l sealing) OpenStream(n int64, head []byte) (sasl.Opener, error) {
	c, h := l.c, &l.c.recv
	if n < streamLeast || !c.checkHead(head, isSealed) || head[4]|head[5]|head[6]|head[7] != 0 {
		return nil, c.damaged()
	}
	copy(h.head[:], head)
	o := &sealingOpener{c: c, end: tail(int((n-int64(wrapHead+c.et.mac))%block) + block)}
	h.sealMAC.Reset()
	if c.et.sha2 {
		h.sealMAC.Write(zeroIV[:])
	}
	o.cut(head[wrapHead:])
	return o, nil
}

// sealingOpener decrypts all blocks but the last two as they come.
type sealingOpener struct {
	c    *wrapContext
	iv   [block]byte // the last cipher block
	next [block]byte
	end  int // bytes of the last block: 1 to 16
}

// Hold: the last two cipher blocks, which hold the inner header and at least
// one byte of plain text, and the MAC.
func (o *sealingOpener) Hold() int { return block + o.end + o.c.et.mac }

// cut decrypts whole blocks in place.
func (o *sealingOpener) cut(p []byte) {
	h := &o.c.recv
	copy(o.next[:], p[len(p)-block:])
	if o.c.et.sha2 {
		h.sealMAC.Write(p)
	}
	h.cbc.decrypter(o.iv[:]).CryptBlocks(p, p)
	if !o.c.et.sha2 {
		h.sealMAC.Write(p)
	}
	o.iv = o.next
}

func (o *sealingOpener) Next(p []byte) ([]byte, int, error) {
	p = p[:len(p)/block*block]
	if len(p) > 0 {
		o.cut(p)
	}
	return p, len(p), nil
}

func (o *sealingOpener) Close(t []byte) ([]byte, error) {
	c, h := o.c, &o.c.recv
	body, mac := t[:block+o.end], t[block+o.end:]
	if c.et.sha2 {
		h.sealMAC.Write(body)
	}
	h.cbc.openEnd(body, o.iv[:])
	if !c.et.sha2 {
		h.sealMAC.Write(body)
	}
	good := subtle.ConstantTimeCompare(mac, h.sealMAC.Sum(h.sum[:0])[:c.et.mac])
	good &= subtle.ConstantTimeCompare(body[o.end:], h.head[:])
	if c.dead || good != 1 {
		return nil, c.damaged()
	}
	h.seq++
	return body[:o.end], nil
}
