package krb

import (
	"crypto/sha256"
	"sync"
	"time"

	"hmsgate/sasl"
)

// ReplayCache remembers authenticators. It is defence in depth: with our own
// subkey in every AP-REP a recorded session fails at its first wrap token,
// at another instance too.
//
// An authenticator can be replayed until its time + skew, which is at most
// 2 x skew after it was first seen. So each shard has two generations of that
// length and forgets the older as a whole. A full shard refuses: failing open
// would make filling it the attack.
type ReplayCache struct {
	life   time.Duration
	max    int // per shard and generation
	shards [64]replayShard
}

type replayShard struct {
	mu       sync.Mutex
	turn     time.Time // when the generations move
	now, old map[[sha256.Size]byte]struct{}
}

// NewReplayCache remembers up to entries (0: 1 M) authenticators for 2 x skew.
func NewReplayCache(skew time.Duration, entries int) *ReplayCache {
	if entries <= 0 {
		entries = 1 << 20
	}
	c := &ReplayCache{life: 2 * skew}
	c.max = max(entries/len(c.shards)/2, 1)
	return c
}

// add notes an encrypted authenticator; check and insert are one step.
func (c *ReplayCache) add(cipher []byte, now time.Time) error {
	k := sha256.Sum256(cipher)
	s := &c.shards[k[0]%byte(len(c.shards))]
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil || !now.Before(s.turn) {
		if s.old = s.now; now.Sub(s.turn) >= c.life { // nothing was seen for a whole generation
			s.old = nil
		}
		s.now, s.turn = map[[sha256.Size]byte]struct{}{}, now.Add(c.life)
	}
	_, a := s.now[k]
	_, b := s.old[k]
	switch {
	case a || b:
		return sasl.Errorf(sasl.Replay, "this authenticator was used before")
	case len(s.now) >= c.max:
		return sasl.Errorf(sasl.Replay, "replay cache is full (%d authenticators in %v)", c.max*len(c.shards), c.life)
	}
	s.now[k] = struct{}{}
	return nil
}
