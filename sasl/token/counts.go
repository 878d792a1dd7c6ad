package token

import "sync"

// counts bounds the tokens of an owner and of all. It knows this instance's
// tokens at once and others' after the next collection.
type counts struct {
	mu    sync.Mutex
	by    map[string]int
	total int
}

func (c *counts) set(by map[string]int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.by, c.total = by, 0
	for _, n := range by {
		c.total += n
	}
}

func (c *counts) take(owner string, perOwner, total int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by[owner] >= perOwner || c.total >= total {
		return false
	}
	if c.by == nil {
		c.by = map[string]int{}
	}
	c.by[owner]++
	c.total++
	return true
}

func (c *counts) give(owner string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch n := c.by[owner]; {
	case n > 1:
		c.by[owner] = n - 1
	case n == 1:
		delete(c.by, owner)
	default:
		return
	}
	c.total--
}
