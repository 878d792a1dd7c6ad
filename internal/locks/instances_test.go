package locks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"hmsgate/internal/hms"
	"hmsgate/internal/zk"
	"hmsgate/internal/zk/zktest"
)

var bg = context.Background()

// view is one instance's way to the store that all share. It can be made to
// fail, to run something before a change, and to be that of an instance that was
// killed.
type view struct {
	Store
	mu     sync.Mutex // guards what follows
	before func(l *Lock)
	down   bool // no change is made and nothing is told
	lost   bool // the next change is made and not confirmed
}

var errDown = errors.New("down")

func (v *view) set(f func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	f()
}

func (v *view) Put(l *Lock) error {
	v.mu.Lock()
	before := v.before
	v.before = nil
	v.mu.Unlock()
	if before != nil {
		before(l)
	}
	v.mu.Lock()
	lost := v.lost
	v.lost = false
	v.mu.Unlock()
	switch {
	case v.isDown():
		return errDown
	case lost:
		c := l.copy()
		_ = v.Store.Put(&c)
		return errDown
	}
	return v.Store.Put(l)
}

func (v *view) isDown() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.down
}

func (v *view) Get(id int64) (Lock, bool, error) {
	if v.isDown() {
		return Lock{}, false, errDown
	}
	return v.Store.Get(id)
}

func (v *view) All() ([]Lock, error) {
	if v.isDown() {
		return nil, errDown
	}
	return v.Store.All()
}

func (v *view) Delete(l Lock) error {
	if v.isDown() {
		return errDown
	}
	return v.Store.Delete(l)
}

// instance is a gateway that shares its store with others.
type instance struct {
	*Keeper
	*view
	dead chan struct{} // closed: it was killed
}

// kill ends an instance in the middle of what it does: nothing it does from
// here on has an effect.
func (i *instance) kill() {
	close(i.dead)
	i.set(func() { i.down = true })
}

// instances of one gateway, on one store.
func (p *pair) instances(names ...string) []*instance {
	s := NewMemory()
	return p.instancesOn(func() Store { return s }, names...)
}

func (p *pair) instancesOn(open func() Store, names ...string) (out []*instance) {
	for _, n := range names {
		i := &instance{view: &view{Store: open()}, dead: make(chan struct{})}
		o := p.options(i.view, "g", n)
		o.Dial = func(ctx context.Context, catalog string) (*hms.Client, error) {
			select {
			case <-i.dead:
				return nil, errors.New("killed")
			default:
				return p.dial(ctx, catalog)
			}
		}
		i.Keeper = New(o)
		out = append(out, i)
	}
	return out
}

func (p *pair) primary() Lock {
	p.t.Helper()
	id := p.call("home", "lock", hms.Struct{"rqst": wanted("away__db")}).Int("lockid")
	return Lock{ID: id, Mirrors: []Mirror{{Catalog: "away", Request: wanted("db")}}}
}

func (p *pair) wantCheck(k *instance, id int64, want bool, why string) {
	p.t.Helper()
	if all, err := k.Check(bg, id); err != nil || all != want {
		p.t.Errorf("%s: got %v, %v, want %v", why, all, err, want)
	}
}

func (p *pair) unlockPrimary(id int64) {
	p.t.Helper()
	p.call("home", "unlock", hms.Struct{"rqst": hms.Struct{"lockid": id}})
}

// A lock taken through one instance is checked and released through another.
func TestInstancesShare(t *testing.T) {
	p := newPair(t)
	k := p.instances("a", "b", "c")
	l := p.primary()
	if all, err := k[0].Take(bg, l, true); err != nil || !all {
		t.Fatalf("take: %v, %v", all, err)
	}
	p.wantCheck(k[1], l.ID, true, "at another instance")
	p.unlockPrimary(l.ID)
	k[2].Release(bg, l.ID)
	p.wantAway(0, "released at the third")
	p.wantCheck(k[0], l.ID, true, "nothing is kept of it")
}

// While one instance asks for a mirror, another leaves it alone.
func TestClaimedMirrorIsLeftAlone(t *testing.T) {
	p := newPair(t)
	k := p.instances("a", "b")
	l := p.primary()
	p.once("away", "lock", func() { p.wantCheck(k[1], l.ID, false, "while the first asks") })
	if all, err := k[0].Take(bg, l, true); err != nil || !all {
		t.Fatalf("take: %v, %v", all, err)
	}
	p.wantAway(1, "asked for once")
	p.wantCheck(k[1], l.ID, true, "after that")
}

// The lock is released while its mirror is being asked for.
func TestReleasedWhileAsked(t *testing.T) {
	p := newPair(t)
	k := p.instances("a", "b")
	l := p.primary()
	p.once("away", "lock", func() { p.unlockPrimary(l.ID); k[1].Release(bg, l.ID) })
	if all, err := k[0].Take(bg, l, true); err == nil {
		t.Errorf("take: got %v, want an error", all)
	}
	p.wantAway(0, "nobody has a use for it")
}

// Killed with a claim, before and after its metastore has been asked: others
// wait, then look for what it left, and there is one mirror in the end.
func TestKilledWithAClaim(t *testing.T) {
	for _, asked := range []bool{false, true} {
		t.Run(fmt.Sprint("asked ", asked), func(t *testing.T) {
			p := newPair(t)
			k := p.instances("a", "b")
			l := p.primary()
			if asked { // it dies before it can note the mirror
				p.once("away", "lock", func() { k[0].set(func() { k[0].before = func(*Lock) { k[0].kill() } }) })
			} else { // it dies as soon as the claim is stored
				k[0].Store = &second{Store: k[0].Store, kill: k[0].kill}
			}
			if _, err := k[0].Take(bg, l, true); err == nil {
				t.Error("take: a killed instance answered")
			}
			left := 0
			if asked {
				left = 1
			}
			p.wantAway(left, "left behind")
			p.wantCheck(k[1], l.ID, false, "its claim is fresh")
			p.wantAway(left, "its claim is fresh")
			p.pass(claimTime)
			p.wantCheck(k[1], l.ID, true, "its claim is old")
			p.wantAway(1, "taken once")
			p.unlockPrimary(l.ID)
			k[1].Sweep(bg)
			p.wantAway(0, "the primary is gone")
		})
	}
}

// second kills an instance with the second change that it stores.
type second struct {
	Store
	n    int
	kill func()
}

func (s *second) Put(l *Lock) error {
	if s.n++; s.n == 2 {
		defer s.kill()
	}
	return s.Store.Put(l)
}

// A sweep of another instance sees the mirror before its own instance has noted
// it.
func TestSweptBeforeNoted(t *testing.T) {
	p := newPair(t)
	k := p.instances("a", "b")
	l := p.primary()
	p.once("away", "lock", func() { k[0].set(func() { k[0].before = func(*Lock) { k[1].Sweep(bg) } }) })
	if all, err := k[0].Take(bg, l, true); err != nil || !all {
		t.Fatalf("take: %v, %v", all, err)
	}
	p.wantAway(1, "it is kept")
	p.wantCheck(k[1], l.ID, true, "it counts")
}

// An instance stops in the middle of asking, for longer than a claim lasts, and
// goes on when another one has taken the mirror: it gives its own up.
func TestLateClaim(t *testing.T) {
	p := newPair(t)
	k := p.instances("a", "b")
	l := p.primary()
	p.once("away", "lock", func() {
		p.pass(claimTime)
		p.wantCheck(k[1], l.ID, true, "taken over")
	})
	if _, err := k[0].Take(bg, l, true); err != nil {
		t.Errorf("take: %v", err)
	}
	p.wantAway(1, "the second one was given up")
	p.wantCheck(k[0], l.ID, true, "the other's counts")
	k[1].Sweep(bg)
	p.wantAway(1, "its primary lives")
}

// The store does not confirm the note of a mirror: it is not unlocked, since the
// note may have been made, and counts when that can be read again.
func TestNoteNotConfirmed(t *testing.T) {
	for _, made := range []bool{false, true} {
		t.Run(fmt.Sprint("made ", made), func(t *testing.T) {
			p := newPair(t)
			k := p.instances("a", "b")
			l := p.primary()
			p.once("away", "lock", func() { k[0].set(func() { k[0].down, k[0].lost = !made, made }) })
			if _, err := k[0].Take(bg, l, true); !errors.Is(err, ErrStore) {
				t.Errorf("take: got %v, want an error of the store's", err)
			}
			p.wantAway(1, "it may be noted")
			k[0].set(func() { k[0].down = false })
			p.wantCheck(k[1], l.ID, made, "as far as the other can tell")
			p.wantCheck(k[0], l.ID, true, "the store answers again")
			p.wantAway(1, "found, not taken again")
			p.wantCheck(k[1], l.ID, true, "then")
		})
	}
}

// The second mirror cannot be had: the first one stops to count before it is
// unlocked, or another instance would find a lock acquired that is not held.
func TestNotedBeforeUnlocked(t *testing.T) {
	p := newPair(t)
	k := p.instances("a", "b")
	l := p.primary()
	l.Mirrors = append(l.Mirrors, Mirror{Catalog: "far", Request: hms.Struct{"user": "u", "hostname": "h"}}) // no component: refused
	counted := false
	p.once("away", "unlock", func() {
		now, _, err := k[1].Store.Get(l.ID)
		counted = err != nil || now.Mirrors[0].Acquired || !now.going(1)
	})
	if _, err := k[0].Take(bg, l, true); err == nil || !strings.Contains(err.Error(), "'far'") {
		t.Errorf("take: got %v, want that far refuses", err)
	}
	if counted {
		t.Error("it was unlocked while it counted")
	}
	p.wantAway(0, "given up")
	if now, _, _ := k[1].Store.Get(l.ID); len(now.Going) != 0 {
		t.Errorf("still going: %v", now.Going)
	}
}

// The creating instance beats; another one only when it does not any more.
func TestHeartbeatsPassOn(t *testing.T) {
	p := newPair(t)
	k := p.instances("a", "b")
	l := p.primary()
	if all, err := k[0].Take(bg, l, true); err != nil || !all {
		t.Fatalf("take: %v, %v", all, err)
	}
	var beats int
	var mu sync.Mutex
	p.mu.Lock()
	p.on = func(c, m string) {
		mu.Lock()
		defer mu.Unlock()
		if c == "away" && m == "heartbeat" {
			beats++
		}
	}
	p.mu.Unlock()
	want := func(n int, why string) {
		t.Helper()
		mu.Lock()
		defer mu.Unlock()
		if beats != n {
			t.Errorf("%s: %d heartbeats, want %d", why, beats, n)
		}
		beats = 0
	}
	k[1].Sweep(bg)
	want(1, "an instance that has just started cannot know")
	for range 3 {
		p.pass(time.Minute)
		k[0].Sweep(bg)
		want(1, "the creating one")
		k[1].Sweep(bg)
		want(0, "the other one, which sees that")
	}
	k[0].kill()
	for range 10 { // longer than a transaction may be silent: the client lives, at another instance
		p.pass(time.Minute)
		p.call("home", "heartbeat", hms.Struct{"ids": hms.Struct{"lockid": l.ID}})
		k[1].Sweep(bg)
		want(1, "the other one, alone")
	}
	p.wantAway(1, "its primary lives")
	p.wantCheck(k[1], l.ID, true, "it holds")
}

// The creating instance is killed and its client with it, at metastores that
// never expire a lock: the next writer at the owner proceeds after the timeout,
// and a client that was only slow gets its mirror again.
func TestKilledWithItsClient(t *testing.T) {
	for _, inTxn := range []bool{false, true} {
		t.Run(fmt.Sprint("transaction ", inTxn), func(t *testing.T) {
			p := newPair(t)
			k := p.instances("a", "b")
			var txn int64
			req := wanted("away__db")
			if inTxn {
				txn = p.call("home", "open_txns", hms.Struct{"rqst": hms.Struct{"num_txns": 1, "user": "u", "hostname": "h"}}).List("txn_ids")[0].(int64)
				req["txnid"] = txn
			}
			l := Lock{ID: p.call("home", "lock", hms.Struct{"rqst": req}).Int("lockid"), Txn: txn,
				Mirrors: []Mirror{{Catalog: "away", Request: wanted("db")}}}
			if all, err := k[0].Take(bg, l, true); err != nil || !all {
				t.Fatalf("take: %v, %v", all, err)
			}
			next := p.call("away", "lock", hms.Struct{"rqst": wanted("db")})
			k[0].kill()
			for range 5 {
				k[1].Sweep(bg)
				p.pass(time.Minute)
			}
			p.wantAway(2, "the client may be alive")
			p.pass(time.Second)
			k[1].Sweep(bg)
			p.wantAway(1, "it gave no sign")
			check := hms.Struct{"rqst": hms.Struct{"lockid": next.Int("lockid")}}
			if got := p.call("away", "check_lock", check).Int("state"); got != 1 {
				t.Errorf("the next writer: state %d, want it acquired", got)
			}
			p.wantCheck(k[1], l.ID, false, "the next writer holds what the client had")
			p.call("away", "unlock", check)
			p.wantCheck(k[1], l.ID, true, "the slow client again")
		})
	}
}

// Without the store only heartbeats go on, for what was known.
func TestSweepWithoutStore(t *testing.T) {
	p := newPair(t)
	k := p.instances("a")[0]
	l := p.primary()
	if all, err := k.Take(bg, l, true); err != nil || !all {
		t.Fatalf("take: %v, %v", all, err)
	}
	k.Sweep(bg)
	k.set(func() { k.down = true })
	for range 10 {
		p.pass(time.Minute)
		p.call("home", "heartbeat", hms.Struct{"ids": hms.Struct{"lockid": l.ID}})
		k.Sweep(bg)
	}
	if got, want := p.locks("away")[0].Int("lastheartbeat"), p.clock().UnixMilli(); got != want {
		t.Errorf("last heartbeat %d, want %d", got, want)
	}
	p.unlockPrimary(l.ID)
	k.Sweep(bg)
	p.wantAway(1, "nobody may release it now")
	k.set(func() { k.down = false })
	k.Sweep(bg)
	p.wantAway(0, "the store answers again")
}

// Without the store a lock that has mirrors is told from one that has none by
// the names under which the default metastore holds it.
func TestKnownWithoutStore(t *testing.T) {
	p := newPair(t)
	k := p.instances("a")[0]
	own := p.call("home", "lock", hms.Struct{"rqst": wanted("db")}).Int("lockid")
	other := p.primary().ID
	k.set(func() { k.down = true })
	if _, ok, err := k.Known(bg, own); ok || err != nil {
		t.Errorf("a lock of the default catalog: got %v, %v, want that it is none of ours", ok, err)
	}
	if _, ok, err := k.Known(bg, other); ok || !errors.Is(err, ErrStore) {
		t.Errorf("a lock of another catalog: got %v, %v, want an error", ok, err)
	}
	if _, ok, err := k.Known(bg, 7<<48|1); ok || err != nil {
		t.Errorf("another catalog's own lock: got %v, %v, want that it is none of ours", ok, err)
	}
}

// Many clients, three instances, each step at another one: no lock has two
// mirrors at a time that count, and none is left.
func TestInstancesAtOnce(t *testing.T) {
	t.Run("memory", func(t *testing.T) { p := newPair(t); p.atOnce(p.instances("a", "b", "c")) })
	t.Run("ZooKeeper", func(t *testing.T) {
		p, s := newPair(t), zktest.New(t)
		s.Lag(true)
		p.atOnce(p.instancesOn(func() Store {
			c, err := zk.Open(zk.Options{Servers: []string{s.Addr()}, ConnectTimeout: 20 * time.Second, SessionTimeout: 20 * time.Second,
				BaseSleep: time.Millisecond, MaxRetries: 3})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(c.Close)
			return NewZooKeeper(c, "/locks", "g", zerolog.Nop())
		}, "a", "b", "c"))
	})
}

func (p *pair) atOnce(k []*instance) {
	t := p.t
	stop, swept := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(swept)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				k[i%3].Sweep(bg)
			}
		}
	}()
	var clients sync.WaitGroup
	for n := range 4 {
		clients.Go(func() {
			for round := range 8 {
				l := p.primary()
				l.Mirrors[0].Request["component"].([]any)[0].(hms.Struct)["tablename"] = fmt.Sprint("t", n) // one writer each
				if _, err := k[round%3].Take(bg, l, n%2 == 0); err != nil {
					t.Errorf("take: %v", err)
				}
				var checks sync.WaitGroup
				for i := range k {
					checks.Go(func() {
						if _, err := k[i].Check(bg, l.ID); err != nil {
							t.Errorf("check: %v", err)
						}
					})
				}
				checks.Wait()
				p.wantCheck(k[n%3], l.ID, true, "after all have asked")
				p.unlockPrimary(l.ID)
				k[(round+1)%3].Release(bg, l.ID)
			}
		})
	}
	clients.Wait()
	close(stop)
	<-swept
	for _, i := range k {
		i.Sweep(bg)
	}
	p.wantAway(0, "all were released")
	if list, err := k[0].Store.All(); err != nil || len(list) != 0 {
		t.Errorf("left in the store: %v, %v", list, err)
	}
}

// An instance that starts finds a primary before its own instance has noted it.
func TestFoundBeforeNoted(t *testing.T) {
	p := newPair(t)
	k := p.instances("a", "b")
	l := p.primary()
	k[1].Sweep(bg)
	if !known(k[1].Keeper, l.ID) {
		t.Fatal("the second instance has not found it")
	}
	if all, err := k[0].Take(bg, l, true); err != nil || !all {
		t.Errorf("take: got %v, %v, want it acquired", all, err)
	}
	p.wantAway(1, "taken once")
	p.unlockPrimary(l.ID)
	k[1].Release(bg, l.ID)
	p.wantAway(0, "released")
}

// A mirror that waits is lost at its metastore: all are taken again, in order.
func TestWaitingMirrorLost(t *testing.T) {
	p := newPair(t)
	k := p.instances("a")[0]
	other := p.call("far", "lock", hms.Struct{"rqst": wanted("db")})
	l := p.primary()
	l.Mirrors = append(l.Mirrors, Mirror{Catalog: "far", Request: wanted("db")})
	if all, err := k.Take(bg, l, true); err != nil || all {
		t.Fatalf("take: got %v, %v, want it to wait", all, err)
	}
	first, lost := p.locks("away")[0].Int("lockid"), p.locks("far")[1].Int("lockid")
	p.call("far", "unlock", hms.Struct{"rqst": hms.Struct{"lockid": lost}})
	p.wantCheck(k, l.ID, false, "it waits again")
	if got := p.locks("away"); len(got) != 1 || got[0].Int("lockid") == first {
		t.Errorf("at the first owner: got %v, want one that is new", got)
	}
	p.call("far", "unlock", hms.Struct{"rqst": hms.Struct{"lockid": other.Int("lockid")}})
	p.wantCheck(k, l.ID, true, "nobody is in its way")
}

// A second mirror of a lock that lives, left by an instance that was killed
// while it was late: it is unlocked when it is old, and the one that counts stays.
func TestMirrorTooMany(t *testing.T) {
	p := newPair(t)
	k := p.instances("a", "b")
	l := p.primary()
	if all, err := k[0].Take(bg, l, true); err != nil || !all {
		t.Fatalf("take: got %v, %v", all, err)
	}
	second := wanted("db")
	second["agentInfo"] = k[0].Mark(l.ID, 0)
	p.call("away", "lock", hms.Struct{"rqst": second})
	for range 6 {
		p.wantAway(2, "it may be younger than it looks")
		p.pass(time.Minute)
		p.call("home", "heartbeat", hms.Struct{"ids": hms.Struct{"lockid": l.ID}})
		k[0].Sweep(bg)
	}
	p.wantAway(1, "nobody beats for it")
	p.wantCheck(k[1], l.ID, true, "the other one counts")
	if got := p.locks("away")[0].Int("state"); got != 1 {
		t.Errorf("the mirror left has state %d, want the acquired one", got)
	}
}
