package locks

import (
	"slices"
	"sync"
	"time"

	"hmsgate/internal/hms"
)

// Lock is a lock that a client knows and that the gateway has something to do
// for. It is a value: a change is stored with Put.
type Lock struct {
	ID, Txn int64
	Mirrors []Mirror // of a primary, in the order they are taken
	// Of a synthetic lock: when the client last gave a sign, and what
	// show_locks says of it.
	Touched time.Time
	Shown   []hms.Struct
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
	ID       int64 // of that metastore; 0: not asked for yet
	Acquired bool
	Request  hms.Struct // what is asked for; nil for an adopted one
}

// Store remembers locks by their id and their transaction.
type Store interface {
	Put(l Lock) error
	Get(id int64) (l Lock, ok bool, err error)
	Delete(id int64) error
	OfTxn(txn int64) ([]Lock, error)
	All() ([]Lock, error)
	// Next is a number that no other lock of the store was given.
	Next() (int64, error)
}

// Memory is the store of a single instance.
type Memory struct {
	mu    sync.Mutex // guards all below
	locks map[int64]Lock
	byTxn map[int64][]int64
	next  int64
}

// NewMemory is an empty store.
func NewMemory() *Memory { return &Memory{locks: map[int64]Lock{}, byTxn: map[int64][]int64{}} }

// Put implements Store.
func (m *Memory) Put(l Lock) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.locks[l.ID]; !ok && l.Txn != 0 {
		m.byTxn[l.Txn] = append(m.byTxn[l.Txn], l.ID)
	}
	l.Mirrors = slices.Clone(l.Mirrors)
	m.locks[l.ID] = l
	return nil
}

// Get implements Store.
func (m *Memory) Get(id int64) (Lock, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l, ok := m.locks[id]
	l.Mirrors = slices.Clone(l.Mirrors)
	return l, ok, nil
}

// Delete implements Store.
func (m *Memory) Delete(id int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	l, ok := m.locks[id]
	if !ok {
		return nil
	}
	delete(m.locks, id)
	if l.Txn != 0 {
		left := slices.DeleteFunc(m.byTxn[l.Txn], func(x int64) bool { return x == id })
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
		out = append(out, m.locks[id])
	}
	return out, nil
}

// All implements Store.
func (m *Memory) All() ([]Lock, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([]Lock, 0, len(m.locks))
	for _, l := range m.locks {
		out = append(out, l)
	}
	slices.SortFunc(out, func(a, b Lock) int { return int(min(max(a.ID-b.ID, -1), 1)) })
	return out, nil
}

// Next implements Store.
func (m *Memory) Next() (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.next++
	return m.next, nil
}
