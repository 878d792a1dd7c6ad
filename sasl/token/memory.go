package token

import (
	"context"
	"sync"
	"time"
)

// Memory is a store of this process: tokens die with it and are unknown to
// other instances.
type Memory struct {
	mu     sync.Mutex
	tokens map[string]Record
	keys   map[int32]MasterKey
	last   int32
}

// NewMemory returns an empty store.
func NewMemory() *Memory { return &Memory{tokens: map[string]Record{}, keys: map[int32]MasterKey{}} }

// AddToken adds a token.
func (m *Memory) AddToken(_ context.Context, identifier []byte, r Record) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.tokens[string(identifier)]; ok {
		return ErrExists
	}
	m.tokens[string(identifier)] = r
	return nil
}

// Token returns a token's record.
func (m *Memory) Token(_ context.Context, identifier []byte) (Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.tokens[string(identifier)]
	if !ok {
		return Record{}, ErrNotFound
	}
	return r, nil
}

// SetRenew changes a token's renew date.
func (m *Memory) SetRenew(_ context.Context, identifier []byte, renew time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.tokens[string(identifier)]
	if !ok {
		return ErrNotFound
	}
	r.Renew = renew
	m.tokens[string(identifier)] = r
	return nil
}

// RemoveToken removes a token.
func (m *Memory) RemoveToken(_ context.Context, identifier []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.tokens[string(identifier)]; !ok {
		return ErrNotFound
	}
	delete(m.tokens, string(identifier))
	return nil
}

// Tokens lists the identifiers.
func (m *Memory) Tokens(context.Context) ([][]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := make([][]byte, 0, len(m.tokens))
	for id := range m.tokens {
		list = append(list, []byte(id))
	}
	return list, nil
}

// AddKey adds a master key under the next number.
func (m *Memory) AddKey(_ context.Context, expiry time.Time, key []byte) (MasterKey, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := MasterKey{ID: m.last, Expiry: expiry, Key: key}
	m.last++
	m.keys[k.ID] = k
	return k, nil
}

// SetKey overwrites a master key.
func (m *Memory) SetKey(_ context.Context, k MasterKey) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.keys[k.ID]; !ok {
		return ErrNotFound
	}
	m.keys[k.ID] = k
	return nil
}

// RemoveKey removes a master key.
func (m *Memory) RemoveKey(_ context.Context, id int32) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.keys, id)
	return nil
}

// Keys lists the master keys.
func (m *Memory) Keys(context.Context) ([]MasterKey, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := make([]MasterKey, 0, len(m.keys))
	for _, k := range m.keys {
		list = append(list, k)
	}
	return list, nil
}
