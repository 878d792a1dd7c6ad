package krb

import (
	"crypto/rand"

	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/types"

	"hmsgate/sasl"
)

// An enctype we accept. gokrb5's own key generator makes keys of 24 bytes for
// 20, whose keys have 32 (its GetKeyByteSize is that of Ki): hence a table.
type enctype struct {
	id   int32
	name string
	key  int // bytes of a key
	mac  int // bytes of a MAC on the wire
	sha2 bool
}

// Encryption types: AES of RFC 3962 and RFC 8009. RC4 and DES use older token
// formats (RFC 4757, RFC 1964), are off by default in JDK 17 and MIT 1.20, and
// are refused.
var enctypes = []enctype{
	{id: 18, name: "aes256-cts-hmac-sha1-96", key: 32, mac: 12},
	{id: 17, name: "aes128-cts-hmac-sha1-96", key: 16, mac: 12},
	{id: 20, name: "aes256-cts-hmac-sha384-192", key: 32, mac: 24, sha2: true},
	{id: 19, name: "aes128-cts-hmac-sha256-128", key: 16, mac: 16, sha2: true},
}

func enctypeOf(id int32) (enctype, bool) {
	for _, e := range enctypes {
		if e.id == id {
			return e, true
		}
	}
	return enctype{}, false
}

const confounder = 16

// checkKey says whether k is a key of an accepted type.
func checkKey(k types.EncryptionKey, what string) (enctype, error) {
	e, ok := enctypeOf(k.KeyType)
	if !ok {
		return e, sasl.Errorf(sasl.Enctype, "%s is of enctype %d: accepted are 17, 18, 19, 20", what, k.KeyType)
	}
	if len(k.KeyValue) != e.key {
		return e, sasl.Errorf(sasl.Enctype, "%s of enctype %d has %d bytes, want %d", what, k.KeyType, len(k.KeyValue), e.key)
	}
	return e, nil
}

func newKey(e enctype) types.EncryptionKey {
	k := make([]byte, e.key)
	rand.Read(k)
	return types.EncryptionKey{KeyType: e.id, KeyValue: k}
}

// decrypt opens an encrypted part with a key of the same enctype. gokrb5
// slices a cipher text that is shorter than its MAC out of range: the guard
// comes first.
func decrypt(d types.EncryptedData, k types.EncryptionKey, usage uint32, what string) ([]byte, error) {
	e, err := checkKey(k, "key of the "+what)
	if err != nil {
		return nil, err
	}
	if d.EType != k.KeyType {
		return nil, sasl.Errorf(sasl.Enctype, "%s is of enctype %d, its key of %d", what, d.EType, k.KeyType)
	}
	if len(d.Cipher) < confounder+e.mac+1 {
		return nil, sasl.Errorf(sasl.Credentials, "%s of %d bytes is too short", what, len(d.Cipher))
	}
	b, err := crypto.DecryptMessage(d.Cipher, k, usage)
	if err != nil { // its text says no more than this one
		return nil, sasl.Errorf(sasl.Credentials, "%s does not decrypt with its key", what)
	}
	return b, nil
}

func encrypt(plain []byte, k types.EncryptionKey, usage uint32, kvno int) (types.EncryptedData, error) {
	d, err := crypto.GetEncryptedData(plain, k, usage, kvno)
	if err != nil {
		return d, sasl.Errorf(sasl.Internal, "encrypting with enctype %d: %w", k.KeyType, err)
	}
	return d, nil
}

// Key usage numbers of RFC 4120, 7.5.1 and RFC 4121, 2.
const (
	usagePATimestamp   = 1
	usageTicket        = 2
	usageASReply       = 3
	usageTGSReply      = 8
	usageAuthenticator = 11
	usageAPReply       = 12
	usageAcceptorSeal  = 22
	usageInitiatorSeal = 24
)
