package digest

import (
	"crypto/fips140"
	"crypto/md5"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"strconv"

	"hmsgate/sasl"
)

// Names on the wire. Hive passes a null protocol to Java's SASL, which makes
// the digest-uri literally "null/default" (HadoopThriftAuthBridge; recorded).
const (
	Name           = "DIGEST-MD5"
	DefaultRealm   = "default"
	DefaultURI     = "null/default"
	DefaultCiphers = "3des,rc4"

	MessageMax   = 4 << 10 // a JDK server's limit of a response
	challengeMax = 2 << 10 // a JDK client's limit of a challenge
	maxBufLeast  = 1 << 10 // smaller buffers are nobody's
	maxBufMost   = 0xffffff
	maxBufUsual  = 65536 // RFC 2831, when not said
	firstCount   = "00000001"
)

// Available says whether the primitives may be used: not under Go's strict
// FIPS mode, where a listener that wants DIGEST-MD5 must not start.
func Available() error {
	if fips140.Enforced() {
		return sasl.Errorf(sasl.Mechanism, "DIGEST-MD5 needs MD5, which strict FIPS mode forbids")
	}
	return nil
}

// A1 of md5-sess, hashed (RFC 2831, 2.1.2.1).
func hashA1(user, realm, password, nonce, cnonce, authzid string) [md5.Size]byte {
	x := md5.Sum([]byte(user + ":" + realm + ":" + password))
	b := append(x[:], ":"+nonce+":"+cnonce...)
	if authzid != "" {
		b = append(b, ":"+authzid...)
	}
	return md5.Sum(b)
}

// response is the value of response ("AUTHENTICATE:" before the uri) and of
// rspauth (":").
func response(a1 [md5.Size]byte, verb, uri, nonce, nc, cnonce, qop string) string {
	a2 := verb + uri
	if qop != sasl.Auth.String() {
		a2 += ":00000000000000000000000000000000"
	}
	h2 := md5.Sum([]byte(a2))
	r := md5.Sum([]byte(hex.EncodeToString(a1[:]) + ":" + nonce + ":" + nc + ":" + cnonce + ":" + qop + ":" +
		hex.EncodeToString(h2[:])))
	return hex.EncodeToString(r[:])
}

const (
	verbClient = "AUTHENTICATE:"
	verbServer = ":"
)

func equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// randomText makes a nonce as long as Java's: 40 characters.
func randomText() string {
	var b [30]byte
	rand.Read(b[:])
	return base64.StdEncoding.EncodeToString(b[:])
}

func parseMaxBuf(list []directive) (int, error) {
	v, ok := find(list, "maxbuf")
	if !ok {
		return maxBufUsual, nil
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 || n > maxBufMost {
		return 0, sasl.Errorf(sasl.Protocol, "maxbuf %q: allowed are numbers up to %d", v, maxBufMost)
	}
	return n, nil
}

func parseQOP(word string) (sasl.QOP, bool) {
	for _, q := range [...]sasl.QOP{sasl.Auth, sasl.AuthInt, sasl.AuthConf} {
		if q.String() == word {
			return q, true
		}
	}
	return 0, false
}
