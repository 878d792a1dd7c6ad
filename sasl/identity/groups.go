package identity

import (
	"errors"
	"os/user"
	"strings"
	"sync"
	"time"

	"hmsgate/sasl"
)

// Groups finds a user's groups. An unknown user has none.
type Groups interface {
	Of(user string) ([]string, error)
}

// StaticGroups is a fixed table: user -> groups.
type StaticGroups map[string][]string

// Of looks the user up.
func (g StaticGroups) Of(user string) ([]string, error) { return g[user], nil }

// ParseStaticGroups reads Hadoop's hadoop.user.group.static.mapping.overrides:
//
//	user1=group1,group2;user2=;user3=group2
func ParseStaticGroups(s string) (StaticGroups, error) {
	g := StaticGroups{}
	for _, entry := range strings.Split(s, ";") {
		if entry = strings.TrimSpace(entry); entry == "" {
			continue
		}
		name, list, ok := strings.Cut(entry, "=")
		if name = strings.TrimSpace(name); name == "" || !ok {
			return nil, sasl.Errorf(sasl.Name, "groups entry %q: want user=group,group", entry)
		}
		if _, twice := g[name]; twice {
			return nil, sasl.Errorf(sasl.Name, "groups of %q are given twice", name)
		}
		g[name] = []string{}
		for _, x := range strings.Split(list, ",") {
			if x = strings.TrimSpace(x); x != "" {
				g[name] = append(g[name], x)
			}
		}
	}
	return g, nil
}

// SystemGroups asks the operating system.
type SystemGroups struct{}

// Of asks for the user's groups.
func (SystemGroups) Of(name string) ([]string, error) {
	u, err := user.Lookup(name)
	if err != nil {
		if unknown := user.UnknownUserError(""); errors.As(err, &unknown) {
			return nil, nil
		}
		return nil, sasl.Errorf(sasl.Unavailable, "groups of %q: %w", name, err)
	}
	ids, err := u.GroupIds()
	if err != nil {
		return nil, sasl.Errorf(sasl.Unavailable, "groups of %q: %w", name, err)
	}
	var list []string
	for _, id := range ids {
		if g, err := user.LookupGroupId(id); err == nil { // a number without a name matches no rule
			list = append(list, g.Name)
		}
	}
	return list, nil
}

// CachedGroups remembers what another source says, that somebody is in no
// group included. Failures are not remembered.
type CachedGroups struct {
	source Groups
	life   time.Duration
	none   time.Duration
	max    int
	now    func() time.Time

	mu   sync.Mutex
	seen map[string]cachedGroups
}

type cachedGroups struct {
	list  []string
	until time.Time
}

// NewCachedGroups remembers for life (0: 5 minutes, Hadoop's), an empty
// answer for 30 s as Hadoop does, of up to 10,000 users.
func NewCachedGroups(source Groups, life time.Duration) *CachedGroups {
	if life <= 0 {
		life = 5 * time.Minute
	}
	return &CachedGroups{source: source, life: life, none: min(life, 30*time.Second), max: 10000, now: time.Now,
		seen: map[string]cachedGroups{}}
}

// Of looks the user up.
func (c *CachedGroups) Of(name string) ([]string, error) {
	c.mu.Lock()
	e, ok := c.seen[name]
	c.mu.Unlock()
	if ok && c.now().Before(e.until) {
		return e.list, nil
	}
	list, err := c.source.Of(name)
	if err != nil {
		return nil, err
	}
	life := c.life
	if len(list) == 0 {
		life = c.none
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.seen) >= c.max {
		clear(c.seen)
	}
	c.seen[name] = cachedGroups{list, c.now().Add(life)}
	return list, nil
}
