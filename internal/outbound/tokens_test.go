package outbound

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hmsgate/route"
	"hmsgate/sasl/token"
)

// bank is tokens whose metastore is a function.
type bank struct {
	*tokens
	asked   atomic.Int64
	mu      sync.Mutex
	clock   time.Time
	dropped []string
}

func newBank(t *testing.T, fetch func(ctx context.Context, k tokenKey) (*grant, error)) *bank {
	b := &bank{tokens: newTokens(), clock: time.Unix(1e9, 0)}
	b.now = func() time.Time { b.mu.Lock(); defer b.mu.Unlock(); return b.clock }
	b.fetch = func(ctx context.Context, k tokenKey) (*grant, error) {
		b.asked.Add(1)
		return fetch(ctx, k)
	}
	b.drop = func(k tokenKey, g *grant) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.dropped = append(b.dropped, k.user)
	}
	t.Cleanup(b.close)
	return b
}

func (b *bank) pass(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clock = b.clock.Add(d)
}

func (b *bank) issue(_ context.Context, k tokenKey) (*grant, error) {
	return &grant{text: "token of " + k.user, end: b.now().Add(time.Hour)}, nil
}

// A token is fetched once, by whoever comes first and for all who wait, until
// its end; the old one is given back.
func TestTokensAreKept(t *testing.T) {
	ctx, gate := context.Background(), make(chan struct{})
	var b *bank
	b = newBank(t, func(ctx context.Context, k tokenKey) (*grant, error) { <-gate; return b.issue(ctx, k) })
	k := tokenKey{0, "h:1", "alice"}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if g, _, err := b.get(ctx, k); err != nil || g.text != "token of alice" {
				t.Errorf("got %+v, %v", g, err)
			}
		})
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, _, err := b.get(gone, k); !errors.Is(err, context.Canceled) {
		t.Errorf("who has left: got %v", err)
	}
	close(gate)
	all.Wait()
	if _, fresh, err := b.get(ctx, k); err != nil || fresh {
		t.Errorf("the next: fresh %v, %v", fresh, err)
	}
	for _, other := range []tokenKey{{0, "h:2", "alice"}, {1, "h:1", "alice"}, {0, "h:1", "bob"}} {
		if _, _, err := b.get(ctx, other); err != nil {
			t.Error(err)
		}
	}
	if n := b.asked.Load(); n != 4 {
		t.Errorf("asked %d times for four tokens", n)
	}
	b.pass(time.Hour)
	if _, fresh, err := b.get(ctx, k); err != nil || !fresh {
		t.Errorf("after its end: fresh %v, %v", fresh, err)
	}
	b.close()
	if len(b.dropped) != 1 || b.dropped[0] != "alice" {
		t.Errorf("given back: %q", b.dropped)
	}
}

// A failure is forgotten at once, a denial after a minute.
func TestTokensThatFail(t *testing.T) {
	ctx := context.Background()
	down, denied := errors.New("down"), &route.Refusal{Text: "no"}
	b := newBank(t, func(_ context.Context, k tokenKey) (*grant, error) {
		if k.user == "bob" {
			return nil, denied
		}
		return nil, down
	})
	for i := range 3 {
		if _, _, err := b.get(ctx, tokenKey{user: "alice"}); !errors.Is(err, down) || b.asked.Load() != int64(i+1) {
			t.Errorf("got %v, asked %d times", err, b.asked.Load())
		}
	}
	b.asked.Store(0)
	for range 3 {
		if _, _, err := b.get(ctx, tokenKey{user: "bob"}); err != error(denied) || b.asked.Load() != 1 {
			t.Errorf("got %v, asked %d times", err, b.asked.Load())
		}
	}
	b.pass(denialLife)
	if _, _, err := b.get(ctx, tokenKey{user: "bob"}); err == nil || b.asked.Load() != 2 {
		t.Errorf("a minute later: got %v, asked %d times", err, b.asked.Load())
	}
	b.close()
	if len(b.dropped) != 0 {
		t.Errorf("given back: %q", b.dropped)
	}
}

// A lost token is fetched anew, but not because of one that was lost before.
func TestTokensLost(t *testing.T) {
	ctx, k := context.Background(), tokenKey{user: "alice"}
	var b *bank
	b = newBank(t, func(ctx context.Context, k tokenKey) (*grant, error) { return b.issue(ctx, k) })
	first, _, _ := b.get(ctx, k)
	b.lost(k, first)
	second, fresh, err := b.get(ctx, k)
	if second == first || !fresh || err != nil {
		t.Fatalf("got %v, %v", fresh, err)
	}
	b.lost(k, first) // somebody else was slow
	if third, fresh, _ := b.get(ctx, k); third != second || fresh {
		t.Error("the new token is forgotten too")
	}
}

// However many users come, so many tokens are kept: the least used goes.
func TestTokensAreBounded(t *testing.T) {
	ctx := context.Background()
	var b *bank
	b = newBank(t, func(ctx context.Context, k tokenKey) (*grant, error) { return b.issue(ctx, k) })
	user := func(i int) tokenKey { return tokenKey{user: fmt.Sprint(i)} }
	for i := range tokensMost {
		b.pass(time.Second)
		if _, _, err := b.get(ctx, user(i)); err != nil {
			t.Fatal(err)
		}
	}
	b.pass(time.Second)
	if _, fresh, _ := b.get(ctx, user(0)); fresh {
		t.Error("a token was dropped too early")
	}
	if _, _, err := b.get(ctx, user(tokensMost)); err != nil {
		t.Fatal(err)
	}
	b.close()
	if len(b.kept) != tokensMost || len(b.dropped) != 1 || b.dropped[0] != "1" {
		t.Errorf("%d kept, given back %q", len(b.kept), b.dropped)
	}
}

// How long a token is used follows from what it says, within bounds.
func TestTokenEnds(t *testing.T) {
	now := time.Unix(1e9, 0)
	d := &Dialer{tokens: &tokens{now: func() time.Time { return now }}}
	for max, want := range map[time.Duration]time.Duration{
		7 * 24 * time.Hour: tokenLife, time.Hour: time.Hour - time.Minute, 50 * time.Second: 40 * time.Second,
	} {
		id := token.Identifier{Owner: "alice", Max: now.Add(max).UnixMilli()}
		text := token.Token{Identifier: id.Append(nil), Password: []byte("secret"), Kind: token.Kind}.Encode()
		g, err := d.grantOf(&target{}, text)
		if err != nil || g.end.Sub(now) != want {
			t.Errorf("a token of %v: used for %v, want %v, %v", max, g.end.Sub(now), want, err)
		}
	}
	for _, text := range []string{"", "!", "AAAA"} {
		if _, err := d.grantOf(&target{}, text); err == nil {
			t.Errorf("%q is taken for a token", text)
		}
	}
}

// Texts for clients hold no word upon which they replay a call (package
// session has the same test and says which they are).
func TestTexts(t *testing.T) {
	replay := regexp.MustCompile(`(?i)JDO[a-zA-Z]*Exception|TProtocol|TTransport|TApplication|Got exception`)
	for _, s := range []string{textDenied("hdp", "gw/h@R", "alice"), textNoName("hdp")} {
		if replay.MatchString(s) {
			t.Errorf("%q", s)
		}
	}
}
