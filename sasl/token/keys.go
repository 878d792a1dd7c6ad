package token

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"hmsgate/sasl"
)

const (
	keySize     = 32              // Hive's are 8; the length is free on the wire
	reloadEvery = 3 * time.Second // an unknown key id asks the store at most so often
)

// keyring caches the store's master keys and owns one of them, with which
// this instance signs.
type keyring struct {
	store Store
	now   func() time.Time

	mu      sync.Mutex
	keys    map[int32]MasterKey
	current int32
	owned   bool
	loaded  time.Time
}

// find returns the key of an id; the store is asked for an unknown one, now
// and then, so that garbage from a stranger costs no store traffic.
func (r *keyring) find(ctx context.Context, id int32) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k, ok := r.keys[id]
	if !ok && r.now().Sub(r.loaded) >= reloadEvery {
		if err := r.load(ctx); err != nil {
			return nil, err
		}
		k, ok = r.keys[id]
	}
	switch {
	case !ok:
		return nil, sasl.Errorf(sasl.Credentials, "no master key %d", id)
	case r.now().After(k.Expiry):
		return nil, sasl.Errorf(sasl.Expired, "master key %d is past its time", id)
	}
	return k.Key, nil
}

// load reads all keys. With mu held.
func (r *keyring) load(ctx context.Context) error {
	r.loaded = r.now()
	list, err := r.store.Keys(ctx)
	if err != nil {
		return sasl.Errorf(sasl.Unavailable, "master keys: %w", err)
	}
	fresh := make(map[int32]MasterKey, len(list))
	for _, k := range list {
		fresh[k.ID] = k
	}
	r.keys = fresh
	return nil
}

// own returns the key to sign with.
func (r *keyring) own(ctx context.Context) (MasterKey, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if k, ok := r.keys[r.current]; r.owned && ok {
		return k, nil
	}
	return MasterKey{}, sasl.Errorf(sasl.Unavailable, "no master key yet")
}

// roll makes a new key. The one before lives as long as a token it signed may.
func (r *keyring) roll(ctx context.Context, interval, life time.Duration) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	secret := make([]byte, keySize)
	rand.Read(secret)
	k, err := r.store.AddKey(ctx, r.now().Add(interval+life), secret)
	if err != nil {
		return sasl.Errorf(sasl.Unavailable, "new master key: %w", err)
	}
	if before, ok := r.keys[r.current]; ok && r.owned {
		before.Expiry = r.now().Add(life)
		if err := r.store.SetKey(ctx, before); err != nil && !errors.Is(err, ErrNotFound) {
			return sasl.Errorf(sasl.Unavailable, "master key %d: %w", before.ID, err)
		}
	}
	r.current, r.owned = k.ID, true
	return r.load(ctx)
}

// collect removes keys past their time.
func (r *keyring) collect(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.load(ctx); err != nil {
		return err
	}
	for id, k := range r.keys {
		if r.now().After(k.Expiry) && !(r.owned && id == r.current) {
			if err := r.store.RemoveKey(ctx, id); err != nil && !errors.Is(err, ErrNotFound) {
				return sasl.Errorf(sasl.Unavailable, "master key %d: %w", id, err)
			}
			delete(r.keys, id)
		}
	}
	return nil
}
