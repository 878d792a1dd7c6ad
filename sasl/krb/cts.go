package krb

import "crypto/cipher"

const block = 16

// cbcMode is what crypto/aes's CBC modes have besides CryptBlocks: without it
// every token would cost an allocation.
type cbcMode interface {
	cipher.BlockMode
	SetIV([]byte)
}

var zeroIV [block]byte

// cbc runs a block cipher in CBC mode with cipher text stealing, variant 3
// (RFC 3962, 5): the last two blocks are always swapped.
type cbc struct {
	aes  cipher.Block
	enc  cbcMode
	dec  cbcMode
	iv   [block]byte
	last [block]byte
	prev [block]byte
}

func newCBC(aes cipher.Block) *cbc {
	c := &cbc{aes: aes}
	c.enc, _ = cipher.NewCBCEncrypter(aes, zeroIV[:]).(cbcMode)
	c.dec, _ = cipher.NewCBCDecrypter(aes, zeroIV[:]).(cbcMode)
	return c
}

func (c *cbc) encrypter(iv []byte) cipher.BlockMode {
	if c.enc == nil {
		return cipher.NewCBCEncrypter(c.aes, iv)
	}
	c.enc.SetIV(iv)
	return c.enc
}

func (c *cbc) decrypter(iv []byte) cipher.BlockMode {
	if c.dec == nil {
		return cipher.NewCBCDecrypter(c.aes, iv)
	}
	c.dec.SetIV(iv)
	return c.dec
}

// tail is the length of the last, perhaps partial block of n bytes: 1 to 16.
func tail(n int) int { return (n-1)%block + 1 }

// seal encrypts b in place. len(b) > 16, and cap(b) reaches the next full block.
//
//	P1 .. Pn-1 Pn(r)  ->  C1 .. Cn, Cn-1(first r bytes)
func (c *cbc) seal(b []byte) {
	n := len(b)
	r := tail(n)
	full := b[:n-r+block]
	clear(full[n:])
	c.encrypter(zeroIV[:]).CryptBlocks(full, full)
	copy(c.last[:], full[len(full)-block:])
	copy(b[n-r:], full[n-r-block:n-r]) // Cn-1, cut to r bytes
	copy(b[n-r-block:], c.last[:])
}

// open decrypts b in place; len(b) > 16.
func (c *cbc) open(b []byte) {
	cut := len(b) - tail(len(b)) - block
	iv := zeroIV[:]
	if cut > 0 {
		copy(c.iv[:], b[cut-block:cut])
		iv = c.iv[:]
		c.decrypter(zeroIV[:]).CryptBlocks(b[:cut], b[:cut])
	}
	c.openEnd(b[cut:], iv)
}

// openEnd decrypts the last 16+r bytes "Cn, Cn-1(r)" after the cipher block iv.
func (c *cbc) openEnd(b, iv []byte) {
	r := len(b) - block
	c.aes.Decrypt(c.last[:], b[:block]) // Pn (padded with zeros) xor Cn-1
	prev := &c.prev                     // Cn-1, whole; a field, since a local would be allocated
	copy(prev[:], b[block:])
	copy(prev[r:], c.last[r:])
	for i := 0; i < r; i++ {
		b[block+i] = c.last[i] ^ prev[i]
	}
	c.aes.Decrypt(b[:block], prev[:])
	for i := range iv {
		b[i] ^= iv[i]
	}
}
