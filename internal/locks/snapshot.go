package locks

import (
	"strconv"
	"strings"
	"sync"
	"time"
)

// Bounds of what is remembered of readers.
const (
	maxSnapshots = 4096
	snapshotIdle = time.Hour
)

// Snapshots remembers which transactions of another catalog a reader sees, by
// the list of transactions it sees at the default one. A reader's list names its
// own transaction, so that the two belong together for that one's life and a
// query that asks twice gets the same answer twice.
type Snapshots struct {
	mu  sync.Mutex // guards all
	all map[snapshotKey]*snapshot
}

type snapshotKey struct{ list, catalog string }

type snapshot struct {
	text string
	used time.Time
}

// Get is the list remembered for a caller's, "" when there is none.
func (s *Snapshots) Get(list, catalog string, now time.Time) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.all[snapshotKey{list, catalog}]
	if n == nil || now.Sub(n.used) > snapshotIdle {
		return ""
	}
	n.used = now
	return n.text
}

// Put remembers a list, and answers the one that another call of the same
// reader's was quicker to remember.
func (s *Snapshots) Put(list, catalog, text string, now time.Time) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[snapshotKey]*snapshot{}
	}
	key := snapshotKey{list, catalog}
	if n := s.all[key]; n != nil && now.Sub(n.used) <= snapshotIdle {
		return n.text
	}
	if len(s.all) >= maxSnapshots {
		s.makeRoom(now)
	}
	s.all[key] = &snapshot{text, now}
	return text
}

// makeRoom forgets what is idle, and the longest unused one.
func (s *Snapshots) makeRoom(now time.Time) {
	var oldest snapshotKey
	var when time.Time
	for key, n := range s.all {
		if now.Sub(n.used) > snapshotIdle {
			delete(s.all, key)
		} else if when.IsZero() || n.used.Before(when) {
			oldest, when = key, n.used
		}
	}
	if len(s.all) >= maxSnapshots {
		delete(s.all, oldest)
	}
}

// EndTxn forgets what a transaction's reader saw: its own id is the highest of
// its list (TxnCommonUtils.createValidReadTxnList).
func (s *Snapshots) EndTxn(txn int64) {
	prefix := strconv.FormatInt(txn, 10) + ":"
	s.mu.Lock()
	defer s.mu.Unlock()
	for key := range s.all {
		if strings.HasPrefix(key.list, prefix) {
			delete(s.all, key)
		}
	}
}
