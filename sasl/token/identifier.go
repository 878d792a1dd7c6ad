package token

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"hash"
	"strings"
	"time"
	"unicode/utf8"

	"hmsgate/sasl"
)

// Bounds.
const (
	textMax       = 1 << 10
	identifierMax = 2 << 10
	tokenMax      = 4 << 10
	secretMax     = 128
	Kind          = "HIVE_DELEGATION_TOKEN"
)

// Identifier says what a token is (Hadoop, AbstractDelegationTokenIdentifier):
//
//	00 | Text owner | Text renewer | Text realUser | VLong issue | VLong max | VInt seq | VInt key
type Identifier struct {
	Owner, Renewer, RealUser string
	Issue, Max               int64 // ms
	Seq, Key                 int32
}

// Append appends the encoding.
func (d Identifier) Append(dst []byte) []byte {
	dst = append(dst, 0)
	dst = appendText(dst, d.Owner)
	dst = appendText(dst, d.Renewer)
	dst = appendText(dst, d.RealUser)
	dst = appendVLong(dst, d.Issue)
	dst = appendVLong(dst, d.Max)
	dst = appendVLong(dst, int64(d.Seq))
	return appendVLong(dst, int64(d.Key))
}

// String names the token without any secret.
func (d Identifier) String() string {
	return fmt.Sprintf("owner=%q renewer=%q realUser=%q seq=%d key=%d", d.Owner, d.Renewer, d.RealUser, d.Seq, d.Key)
}

func (d Identifier) end() time.Time { return time.UnixMilli(d.Max) }

// ParseIdentifier reads an encoding, and refuses one that is not the encoding
// of what it says: the raw bytes are what is signed and stored.
func ParseIdentifier(b []byte) (Identifier, error) {
	if len(b) > identifierMax {
		return Identifier{}, sasl.Errorf(sasl.Limit, "identifier of %d bytes, at most %d", len(b), identifierMax)
	}
	r := reader{b: b}
	version := r.take(1)
	if r.err == nil && version[0] != 0 {
		return Identifier{}, sasl.Errorf(sasl.Credentials, "identifier of version %d, want 0", version[0])
	}
	d := Identifier{Owner: r.text(textMax), Renewer: r.text(textMax), RealUser: r.text(textMax)}
	d.Issue, d.Max = r.vlong(), r.vlong()
	d.Seq, d.Key = r.vint(), r.vint()
	if err := r.end(); err != nil {
		return Identifier{}, sasl.Errorf(sasl.Credentials, "identifier: %w", err)
	}
	if !bytes.Equal(d.Append(nil), b) || !utf8.ValidString(d.Owner+d.Renewer+d.RealUser) {
		return Identifier{}, sasl.Errorf(sasl.Credentials, "identifier is not in its only form")
	}
	return d, nil
}

// Algorithm makes token passwords from master keys.
type Algorithm string

// Algorithms; Hive uses HmacSHA1.
const (
	HmacSHA1   Algorithm = "HmacSHA1"
	HmacSHA256 Algorithm = "HmacSHA256"
	HmacSHA512 Algorithm = "HmacSHA512"
)

func (a Algorithm) hash() (func() hash.Hash, error) {
	switch a {
	case "", HmacSHA1:
		return sha1.New, nil
	case HmacSHA256:
		return sha256.New, nil
	case HmacSHA512:
		return sha512.New, nil
	}
	return nil, sasl.Errorf(sasl.Credentials, "token algorithm %q: allowed are %s, %s, %s", a, HmacSHA1, HmacSHA256, HmacSHA512)
}

// Password signs an identifier.
func (a Algorithm) Password(key, identifier []byte) []byte {
	h, err := a.hash()
	if err != nil {
		return nil // NewManager has refused it
	}
	m := hmac.New(h, key)
	m.Write(identifier)
	return m.Sum(nil)
}

// Token is what a client is given:
//
//	VInt len | identifier | VInt len | password | Text kind | Text service
//
// as URL-safe base64 without padding.
type Token struct {
	Identifier, Password []byte
	Kind, Service        string
}

// Encode returns the text.
func (t Token) Encode() string {
	b := append(appendVLong(nil, int64(len(t.Identifier))), t.Identifier...)
	b = append(appendVLong(b, int64(len(t.Password))), t.Password...)
	b = appendText(appendText(b, t.Kind), t.Service)
	return base64.RawURLEncoding.EncodeToString(b)
}

// Decode reads a token's text, with or without padding, in either alphabet.
// Its errors do not repeat it.
func Decode(s string) (Token, error) {
	if len(s) > tokenMax {
		return Token{}, sasl.Errorf(sasl.Limit, "token of %d characters, at most %d", len(s), tokenMax)
	}
	b, err := decodeBase64(s)
	if err != nil {
		return Token{}, sasl.Errorf(sasl.Credentials, "token is not base64")
	}
	r := reader{b: b}
	t := Token{Identifier: r.bytes(identifierMax), Password: r.bytes(secretMax), Kind: r.text(textMax), Service: r.text(textMax)}
	if err := r.end(); err != nil {
		return Token{}, sasl.Errorf(sasl.Credentials, "token: %w", err)
	}
	return t, nil
}

func decodeBase64(s string) ([]byte, error) {
	s = strings.NewReplacer("+", "-", "/", "_").Replace(strings.TrimRight(s, "="))
	return base64.RawURLEncoding.Strict().DecodeString(s)
}
