package krb

import (
	"encoding/binary"

	"hmsgate/sasl"
)

// newLayer makes the chosen security layer of an established context.
func newLayer(c *wrapContext, q sasl.QOP) sasl.Layer {
	switch q {
	case sasl.AuthInt:
		return signing{c}
	case sasl.AuthConf:
		return sealing{c}
	}
	return nil
}

// signing is auth-int: unsealed wrap tokens. A sealed one is an error.
type signing struct{ c *wrapContext }

func (signing) Head() int                              { return wrapHead }
func (l signing) Tail() int                            { return l.c.et.mac }
func (l signing) PlainMax(token int) int               { return token - l.c.unsealed() }
func (l signing) Seal(b []byte, n int) ([]byte, error) { return l.c.sign(b, n), nil }
func (l signing) Open(token []byte) ([]byte, error)    { return l.c.check(token) }
func (l signing) OpenStream(n int64, head []byte) (sasl.Opener, error) {
	c := l.c
	if n < streamLeast || !c.checkHead(head, 0) || int(binary.BigEndian.Uint16(head[4:])) != c.et.mac || head[6] != 0 || head[7] != 0 {
		return nil, c.damaged()
	}
	h := &c.recv
	copy(h.head[:], head)
	h.head[4], h.head[5] = 0, 0
	h.checkMAC.Reset()
	return signingOpener{c}, nil
}

// sealing is auth-conf: sealed wrap tokens. An unsealed one is an error.
type sealing struct{ c *wrapContext }

func (sealing) Head() int                              { return wrapHead + confounder }
func (l sealing) Tail() int                            { return block + wrapHead + l.c.et.mac }
func (l sealing) PlainMax(token int) int               { return token - l.c.sealed() }
func (l sealing) Seal(b []byte, n int) ([]byte, error) { return l.c.seal(b, n), nil }
func (l sealing) Open(token []byte) ([]byte, error)    { return l.c.unseal(token) }
