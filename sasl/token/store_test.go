package token

import (
	"context"
	"encoding/base64"
	"errors"
	"sync"
	"testing"
	"time"

	"hmsgate/sasl"
	"hmsgate/sasl/internal/recorded"
)

// Two instances on one store know each other's tokens.
func TestSharedStore(t *testing.T) {
	store := NewMemory()
	a, ca := newAuthority(t, store, nil)
	b, cb := newAuthority(t, store, nil)
	text := issue(t, a, alice, "alice", "bob")
	cb.move(reloadEvery)
	if _, err := login(t, b, text); err != nil {
		t.Errorf("issued at one, used at the other: %v", err)
	}
	if _, err := b.Renew(ctx, bob, text); err != nil {
		t.Errorf("renewed at the other: %v", err)
	}
	if err := a.Roll(ctx); err != nil {
		t.Fatal(err)
	}
	fresh := issue(t, a, alice, "alice", "bob")
	cb.move(reloadEvery)
	if _, err := login(t, b, fresh); err != nil {
		t.Errorf("a key the other has not seen yet: %v", err)
	}
	if _, err := login(t, a, text); err != nil {
		t.Errorf("a token of the key before: %v", err)
	}
	if err := b.Cancel(ctx, alice, text); err != nil {
		t.Fatal(err)
	}
	if _, err := login(t, a, text); err == nil {
		t.Error("cancelled at the other, used at the first")
	}
	ca.move(8 * 24 * time.Hour)
	if err := a.Collect(ctx); err != nil {
		t.Fatal(err)
	}
	list, _ := store.Tokens(ctx)
	if keys, _ := store.Keys(ctx); len(list) != 0 || len(keys) > 2 {
		t.Errorf("after their time %d tokens and %d keys are left", len(list), len(keys))
	}
}

// A token that Hive 3.1.3 or 4.1.0 issued, with that one's master key and
// record in the store, logs in here.
func TestTokenOfHive(t *testing.T) {
	for _, v := range []string{"3.1.3", "4.1.0"} {
		c, err := recorded.Load("../testdata/" + v + "-digest-md5-auth.wire")
		if err != nil {
			t.Fatal(err)
		}
		text := c.Facts["token"]
		d := mustParse(t, c.Hex("identifier"))
		m := NewMemory()
		a, clock := newAuthority(t, m, nil)
		clock.now = time.UnixMilli(d.Issue).Add(time.Hour)
		m.keys[d.Key] = MasterKey{ID: d.Key, Expiry: d.end(), Key: c.Hex("master-key")}
		m.tokens[string(c.Hex("identifier"))] = Record{Password: c.Hex("password"), Renew: clock.now.Add(time.Hour)}
		if id, err := login(t, a, text); err != nil || id.User != "alice" || id.RealUser != "alice@RIG.TEST" {
			t.Errorf("%s: got %+v, %v", v, id, err)
		}
		if end, err := a.Renew(ctx, alice, text); err != nil || end != clock.now.Add(24*time.Hour).UnixMilli() {
			t.Errorf("%s: renewed until %d, %v", v, end, err)
		}
		if err := a.Cancel(ctx, alice, text); err != nil {
			t.Errorf("%s: %v", v, err)
		}
	}
}

// down is a store that cannot be asked.
type down struct{ *Memory }

func (down) Token(context.Context, []byte) (Record, error) { return Record{}, errors.New("no quorum") }
func (down) Keys(context.Context) ([]MasterKey, error)     { return nil, errors.New("no quorum") }

// A store that is away: logins fail closed, and say so in the log only.
func TestStoreDown(t *testing.T) {
	m := NewMemory()
	a, c := newAuthority(t, m, nil)
	text := issue(t, a, alice, "alice", "")
	a.c.Store, a.ring.store = down{m}, down{m}
	if _, err := login(t, a, text); sasl.ReasonOf(err) != sasl.Unavailable {
		t.Errorf("got %v", err)
	}
	tok, _ := Decode(text)
	d := mustParse(t, tok.Identifier)
	d.Key = 99
	c.move(time.Minute)
	if _, err := a.Password(base64.StdEncoding.EncodeToString(d.Append(nil))); sasl.ReasonOf(err) != sasl.Unavailable {
		t.Errorf("unknown key: got %v", err)
	}
	if err := a.Cancel(ctx, alice, text); sasl.ReasonOf(err) != sasl.Unavailable {
		t.Errorf("cancel: got %v", err)
	}
}

// Garbage with unknown key ids asks the store once in a while only.
func TestUnknownKeysAreCheap(t *testing.T) {
	store := &keyCounter{Memory: NewMemory()}
	a, c := newAuthority(t, store, nil)
	c.move(time.Minute)
	before := store.asked
	for i := range int32(100) {
		_, _ = a.Password(base64.StdEncoding.EncodeToString(Identifier{Owner: "x", Key: 1000 + i}.Append(nil)))
	}
	if n := store.asked - before; n != 1 {
		t.Errorf("100 unknown keys asked the store %d times, want 1", n)
	}
}

type keyCounter struct {
	*Memory
	asked int
}

func (k *keyCounter) Keys(c context.Context) ([]MasterKey, error) { k.asked++; return k.Memory.Keys(c) }

func TestAlgorithms(t *testing.T) {
	for a, n := range map[Algorithm]int{"": 20, HmacSHA1: 20, HmacSHA256: 32, HmacSHA512: 64} {
		x, _ := newAuthority(t, NewMemory(), func(c *Config) { c.Algorithm = a })
		text := issue(t, x, alice, "alice", "")
		if tok, _ := Decode(text); len(tok.Password) != n {
			t.Errorf("%q: password of %d bytes, want %d", a, len(tok.Password), n)
		}
		if _, err := login(t, x, text); err != nil {
			t.Errorf("%q: %v", a, err)
		}
	}
	if _, err := New(Config{Store: NewMemory(), ShortName: short, Algorithm: "HmacMD5"}); err == nil {
		t.Error("HmacMD5: accepted")
	}
}

func TestConcurrentUse(t *testing.T) {
	a, _ := newAuthority(t, NewMemory(), nil)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				text, err := a.Issue(ctx, alice, peer, "alice", "alice")
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := login(t, a, text); err != nil {
					t.Error(err)
				}
				if _, err := a.Renew(ctx, alice, text); err != nil {
					t.Error(err)
				}
				if err := a.Cancel(ctx, alice, text); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Go(func() {
		for range 10 {
			if err := a.Roll(ctx); err != nil {
				t.Error(err)
			}
			if err := a.Collect(ctx); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Wait()
}
