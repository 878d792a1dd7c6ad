package token

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"time"

	"hmsgate/sasl"
)

// Record is what a store keeps under an identifier.
type Record struct {
	Password []byte
	Renew    time.Time // the token needs renewing by then
}

// MasterKey signs identifiers. Its id is the store's.
type MasterKey struct {
	ID     int32
	Expiry time.Time
	Key    []byte
}

// What a store answers when there is no such entry, or one already.
var (
	ErrNotFound = errors.New("token: no such entry")
	ErrExists   = errors.New("token: entry exists")
)

// Store keeps tokens and master keys, for one instance (NewMemory) or for
// several that share it. Every other error than the two above means that it
// cannot be asked: logins by token then fail, sessions go on.
type Store interface {
	AddToken(ctx context.Context, identifier []byte, r Record) error
	Token(ctx context.Context, identifier []byte) (Record, error)
	// SetRenew changes a record in place: nobody sees the token missing.
	SetRenew(ctx context.Context, identifier []byte, renew time.Time) error
	RemoveToken(ctx context.Context, identifier []byte) error
	Tokens(ctx context.Context) ([][]byte, error)

	AddKey(ctx context.Context, expiry time.Time, key []byte) (MasterKey, error)
	SetKey(ctx context.Context, k MasterKey) error
	RemoveKey(ctx context.Context, id int32) error
	Keys(ctx context.Context) ([]MasterKey, error)
}

// Padding is how a store's base64 ends: Hive 3's stores write none, Hive 4's
// write it, and neither finds the other's tokens.
type Padding bool

// Paddings.
const (
	Unpadded Padding = false
	Padded   Padding = true
)

func (p Padding) encode(b []byte) string {
	if p == Padded {
		return base64.URLEncoding.EncodeToString(b)
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// EntryName is a token's name in Hive's stores (TokenStoreDelegationTokenSecretManager.encodeWritable).
func (p Padding) EntryName(identifier []byte) string { return p.encode(identifier) }

// ParseEntryName reads either form.
func ParseEntryName(s string) ([]byte, error) { return decodeBase64(s) }

// AppendRecord appends a record as Hive's ZooKeeper store has it:
//
//	VInt len | password | renew date ms(8)
func AppendRecord(dst []byte, r Record) []byte {
	dst = append(appendVLong(dst, int64(len(r.Password))), r.Password...)
	return binary.BigEndian.AppendUint64(dst, uint64(r.Renew.UnixMilli()))
}

// ParseRecord reads one. Newer Hadoop appends a tracking id, which is dropped.
func ParseRecord(b []byte) (Record, error) {
	r := reader{b: b}
	rec := Record{Password: append([]byte(nil), r.bytes(secretMax)...)}
	ms := r.take(8)
	if r.err != nil {
		return Record{}, sasl.Errorf(sasl.Unavailable, "token record: %w", r.err)
	}
	rec.Renew = time.UnixMilli(int64(binary.BigEndian.Uint64(ms)))
	return rec, nil
}

// EncodeKey is a master key as Hive's stores have it, in base64:
//
//	VInt id | VLong expiry ms | VInt len | key
func (p Padding) EncodeKey(k MasterKey) string {
	b := appendVLong(appendVLong(nil, int64(k.ID)), k.Expiry.UnixMilli())
	return p.encode(append(appendVLong(b, int64(len(k.Key))), k.Key...))
}

// DecodeKey reads either form. Its errors do not repeat it.
func DecodeKey(s string) (MasterKey, error) {
	b, err := decodeBase64(s)
	if err != nil {
		return MasterKey{}, sasl.Errorf(sasl.Unavailable, "master key is not base64")
	}
	r := reader{b: b}
	k := MasterKey{ID: r.vint(), Expiry: time.UnixMilli(r.vlong())}
	k.Key = append([]byte(nil), r.bytes(secretMax)...) // -1, a null key, is an error
	if err := r.end(); err != nil {
		return MasterKey{}, sasl.Errorf(sasl.Unavailable, "master key: %w", err)
	}
	return k, nil
}
