package frame

import "sync/atomic"

// Budget bounds the bytes that all sessions together hold beyond their
// windows. The zero Budget has no limit.
type Budget struct {
	limit int64
	used  atomic.Int64
}

// NewBudget returns a Budget of limit bytes; 0 means no limit.
func NewBudget(limit int64) *Budget { return &Budget{limit: limit} }

// Used is the number of bytes held now.
func (b *Budget) Used() int64 {
	if b == nil {
		return 0
	}
	return b.used.Load()
}

// Take reserves n bytes and says whether they could be had.
func (b *Budget) Take(n int64) bool {
	if b == nil {
		return true
	}
	if v := b.used.Add(n); b.limit > 0 && v > b.limit {
		b.used.Add(-n)
		return false
	}
	return true
}

// Give returns n bytes.
func (b *Budget) Give(n int64) {
	if b != nil && n != 0 {
		b.used.Add(-n)
	}
}
