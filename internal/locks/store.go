package locks

import (
	"errors"
	"slices"
	"sync"
	"time"

	"hmsgate/internal/hms"
)

// Lock is a lock that a client knows and that the gateway has something to do
// for. It is a value: a change is stored with Put.
type Lock struct {
	ID, Txn int64
	By      string   // instance that took it
	Mirrors []Mirror // of a primary, in the order they are taken
	Going   []Held   // mirrors that are to be unlocked, and count no more
	// Of a synthetic lock: when the client last gave a sign, and what
	// show_locks says of it.
	Touched time.Time
	Shown   []hms.Struct

	// Rev tells states of the stored lock apart; 0: it was not stored yet.
	Rev int64
}

// Synthetic says whether no metastore knows the lock.
func (l *Lock) Synthetic() bool { return IsSynthetic(l.ID) }

// mirror is where the lock's mirror at a catalog stands in Mirrors; -1 for none.
func (l *Lock) mirror(catalog string) int {
	return slices.IndexFunc(l.Mirrors, func(m Mirror) bool { return m.Catalog == catalog })
}

// Mirror is a lock at another catalog's metastore.
type Mirror struct {
	Catalog  string
	ID       int64 // of that metastore; 0: none is known
	Acquired bool
	Request  hms.Struct // what is asked for; nil for an adopted one
	// While ID is 0: since when somebody has been asking for one, zero for
	// never, and which instance; "" when it got no answer.
	Asked time.Time
	By    string
}

// Held is a lock of a catalog's metastore.
type Held struct {
	Catalog string
	ID      int64
}

// What callers of a store branch on. Any other error of a store's means that it
// does not answer, and a change may have been made all the same.
var (
	ErrConflict = errors.New("the lock was changed by somebody else")
	ErrTooLarge = errors.New("the lock names too many tables for the lock store")
)

// Store remembers locks by their id and their transaction.
type Store interface {
	// Put stores a lock: a new one when Rev is 0, else the one that was read
	// with that Rev. It sets Rev, or says ErrConflict.
	Put(l *Lock) error
	Get(id int64) (l Lock, ok bool, err error)
	// Delete removes a lock as it was read, or says ErrConflict.
	Delete(l Lock) error
	OfTxn(txn int64) ([]Lock, error)
	All() ([]Lock, error)
	// Next is a number that no other lock of the store was given.
	Next() (int64, error)
	// Admit says why a new lock could not be stored now.
	Admit(l Lock) error
}

// Memory is the store of a single instance.
type Memory struct {
	mu    sync.Mutex // guards all below
	locks map[int64]Lock
	byTxn map[int64][]int64
	next  int64
	rev   int64
}

// NewMemory is an empty store.
func NewMemory() *Memory { return &Memory{locks: map[int64]Lock{}, byTxn: map[int64][]int64{}} }

// Put implements Store.
func (m *Memory) Put(l *Lock) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.locks[l.ID].Rev != l.Rev {
		return ErrConflict
	}
	if l.Rev == 0 && l.Txn != 0 {
		m.byTxn[l.Txn] = append(m.byTxn[l.Txn], l.ID)
	}
	m.rev++
	l.Rev = m.rev
	m.locks[l.ID] = l.copy()
	return nil
}

func (l *Lock) copy() Lock {
	out := *l
	out.Mirrors, out.Going = slices.Clone(l.Mirrors), slices.Clone(l.Going)
	return out
}

// Get implements Store.
func (m *Memory) Get(id int64) (Lock, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l, ok := m.locks[id]
	return l.copy(), ok, nil
}

// Delete implements Store.
func (m *Memory) Delete(l Lock) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.locks[l.ID].Rev != l.Rev {
		return ErrConflict
	}
	delete(m.locks, l.ID)
	if l.Txn != 0 {
		left := slices.DeleteFunc(m.byTxn[l.Txn], func(x int64) bool { return x == l.ID })
		if m.byTxn[l.Txn] = left; len(left) == 0 {
			delete(m.byTxn, l.Txn)
		}
	}
	return nil
}

// OfTxn implements Store.
func (m *Memory) OfTxn(txn int64) ([]Lock, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []Lock
	for _, id := range m.byTxn[txn] {
		l := m.locks[id]
		out = append(out, l.copy())
	}
	return out, nil
}

// All implements Store.
func (m *Memory) All() ([]Lock, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([]Lock, 0, len(m.locks))
	for _, l := range m.locks {
		out = append(out, l.copy())
	}
	return sorted(out), nil
}

func sorted(list []Lock) []Lock {
	slices.SortFunc(list, func(a, b Lock) int { return int(min(max(a.ID-b.ID, -1), 1)) })
	return list
}

// Next implements Store.
func (m *Memory) Next() (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.next++
	return m.next, nil
}

// Admit implements Store.
func (m *Memory) Admit(Lock) error { return nil }
