package locks

import (
	"context"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"hmsgate/internal/hms"
	"hmsgate/internal/memhms"
	"hmsgate/internal/wiretest"
	"hmsgate/profiles"
)

func TestMain(m *testing.M) { wiretest.CheckLeaks(m) }

// pair is two metastores, the default catalog's and another one's (and a third
// where a test wants it), under one clock.
type pair struct {
	t     *testing.T
	addrs map[string]string

	mu  sync.Mutex // guards what follows
	now time.Time
	on  func(catalog, method string) // sees each call before it is done
}

func (p *pair) clock() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now
}

func (p *pair) pass(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = p.now.Add(d)
}

// once runs f before the next call of a method at a catalog.
func (p *pair) once(catalog, method string, f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.on = func(c, m string) {
		if c != catalog || m != method {
			return
		}
		p.mu.Lock()
		p.on = nil
		p.mu.Unlock()
		f()
	}
}

func (p *pair) called(catalog, method string) {
	p.mu.Lock()
	on := p.on
	p.mu.Unlock()
	if on != nil {
		on(catalog, method)
	}
}

func newPair(t *testing.T) *pair {
	t.Helper()
	p := &pair{t: t, addrs: map[string]string{}, now: time.Unix(1_000_000, 0)}
	for _, name := range []string{"home", "away", "far"} {
		inv, err := profiles.Load("apache-3.1.3")
		if err != nil {
			t.Fatal(err)
		}
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		s := memhms.New(memhms.Config{Inventory: inv, Name: name, Clock: p.clock,
			OnCall: func(_ int, method string, _ hms.Struct) { p.called(name, method) }})
		done := make(chan struct{})
		go func() {
			defer close(done)
			s.Serve(ln)
		}()
		t.Cleanup(func() { s.Close(); <-done })
		p.addrs[name] = ln.Addr().String()
	}
	return p
}

func (p *pair) dial(ctx context.Context, catalog string) (*hms.Client, error) {
	inv, err := profiles.Load("apache-3.1.3")
	if err != nil {
		return nil, err
	}
	return hms.Dial(ctx, p.addrs[catalog], inv, hms.Options{})
}

func (p *pair) keeper(instance string) *Keeper {
	return New(p.options(NewMemory(), instance, "one"))
}

func (p *pair) options(s Store, gateway, instance string) Options {
	return Options{Store: s, Gateway: gateway, Instance: instance, Mirrors: true, Default: "home", Owners: []string{"away", "far"},
		Outside: func(name string) (string, string) {
			c, db, ok := strings.Cut(name, "__")
			if !ok {
				return "", ""
			}
			return c, db
		},
		Dial: p.dial, Log: zerolog.Nop(), Now: p.clock}
}

func (p *pair) call(catalog, method string, args hms.Struct) hms.Struct {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	c, err := p.dial(ctx, catalog)
	if err != nil {
		p.t.Fatal(err)
	}
	defer c.Close()
	v, err := c.Call(ctx, method, args)
	if err != nil {
		p.t.Fatalf("%s at %s: %v", method, catalog, err)
	}
	r, _ := v.(hms.Struct)
	return r
}

func wanted(db string) hms.Struct {
	return hms.Struct{"user": "u", "hostname": "h", "component": []any{hms.Struct{"type": int32(3), "level": int32(2),
		"dbname": db, "tablename": "t", "operationType": int32(6), "isTransactional": false}}}
}

// take locks at home and mirrors away, as an answer does.
func (p *pair) take(k *Keeper) int64 {
	p.t.Helper()
	id := p.call("home", "lock", hms.Struct{"rqst": wanted("away__db")}).Int("lockid")
	all, err := k.Take(context.Background(), Lock{ID: id, Mirrors: []Mirror{{Catalog: "away", Request: wanted("db")}}}, true)
	if err != nil || !all {
		p.t.Fatalf("mirror: got %v, %v, want it acquired", all, err)
	}
	return id
}

func (p *pair) locks(catalog string) []hms.Struct {
	p.t.Helper()
	return p.call(catalog, "show_locks", hms.Struct{"rqst": hms.Struct{}}).Structs("locks")
}

func (p *pair) wantAway(n int, why string) {
	p.t.Helper()
	if got := p.locks("away"); len(got) != n {
		p.t.Errorf("%s: got locks %v, want %d", why, got, n)
	}
}

func TestSweepFollowsThePrimary(t *testing.T) {
	p := newPair(t)
	k := p.keeper("a")
	id := p.take(k)
	p.pass(time.Minute)
	k.Sweep(context.Background())
	if got, want := p.locks("away")[0].Int("lastheartbeat"), p.clock().UnixMilli(); got != want {
		t.Errorf("last heartbeat %d, want %d", got, want)
	}
	p.call("home", "unlock", hms.Struct{"rqst": hms.Struct{"lockid": id}})
	p.wantAway(1, "the gateway has not seen it yet")
	k.Sweep(context.Background())
	p.wantAway(0, "the primary is gone")
	if known(k, id) {
		t.Error("the lock is still known")
	}
}

// A process that ended left a mirror: the next one adopts it while its primary
// lives, and releases it with that.
func TestSweepAdopts(t *testing.T) {
	p := newPair(t)
	id := p.take(p.keeper("a"))
	k := p.keeper("a")
	p.pass(time.Hour)
	k.Sweep(context.Background())
	p.wantAway(1, "its primary lives")
	if !known(k, id) {
		t.Fatal("the mirror was not adopted")
	}
	k.Release(context.Background(), id)
	p.wantAway(0, "released")
}

// What waited when a process ended is found by its name, each mirror it lacks
// with all components, and taken when the primary is acquired.
func TestSweepFindsWhatWaits(t *testing.T) {
	p := newPair(t)
	req := wanted("away__db")
	req["component"] = append(req.List("component"), hms.Struct{"type": int32(2), "level": int32(1), "dbname": "away__more",
		"operationType": int32(6), "isTransactional": false}, wanted("own").List("component")[0])
	id := p.call("home", "lock", hms.Struct{"rqst": req}).Int("lockid")
	k := p.keeper("a")
	k.Sweep(context.Background())
	p.wantAway(0, "nobody has asked for the lock yet")
	for range 2 {
		if all, err := k.Check(context.Background(), id); err != nil || !all {
			t.Fatalf("check: got %v, %v, want all acquired", all, err)
		}
		p.wantAway(2, "its two components")
	}
	k.Sweep(context.Background())
	p.wantAway(2, "its primary lives")
	p.call("home", "unlock", hms.Struct{"rqst": hms.Struct{"lockid": id}})
	k.Sweep(context.Background())
	p.wantAway(0, "its primary is gone")
}

// A mirror of a gateway that is gone, and whose primary is: the next writer
// proceeds when nobody has beaten for as long as a transaction may be silent.
func TestSweepUnlocksStrays(t *testing.T) {
	p := newPair(t)
	id := p.take(p.keeper("a"))
	p.call("home", "unlock", hms.Struct{"rqst": hms.Struct{"lockid": id}})
	k := p.keeper("b")
	k.Sweep(context.Background())
	p.wantAway(1, "it may have been taken a moment ago")
	p.pass(DefaultTimeout + time.Second)
	k.Sweep(context.Background())
	p.wantAway(0, "nobody beats for it")
}

// Another gateway's mirror is no business of ours as long as somebody beats,
// even when a primary here has the number that its mark names.
func TestSweepLeavesOthers(t *testing.T) {
	p := newPair(t)
	id := p.call("home", "lock", hms.Struct{"rqst": wanted("db")}).Int("lockid") // it is about a database of home's
	all, err := p.keeper("other").Take(context.Background(), Lock{ID: id, Mirrors: []Mirror{{Catalog: "away", Request: wanted("db")}}}, true)
	if err != nil || !all {
		t.Fatalf("mirror: got %v, %v, want it acquired", all, err)
	}
	k := p.keeper("mine")
	k.Sweep(context.Background())
	if known(k, id) {
		t.Error("another gateway's mirror was adopted")
	}
	p.wantAway(1, "it is beaten for")
}

func TestMarks(t *testing.T) {
	k := New(Options{Gateway: "3fa9"})
	m := k.Mark(7, 9)
	if m != "hmsgate/3fa9/7/9" {
		t.Errorf("got %q", m)
	}
	for agent, want := range map[string]bool{m: true, "hmsgate/x": false, "Iceberg-1": false, "hmsgate/a/b/c": false} {
		_, id, txn, ok := readMark(agent)
		if ok != want || ok && (id != 7 || txn != 9) {
			t.Errorf("%q: got %d, %d, %v, want %v", agent, id, txn, ok, want)
		}
	}
}

func TestSyntheticExpires(t *testing.T) {
	now := time.Unix(1000, 0)
	k := New(Options{Store: NewMemory(), Timeout: time.Minute, Now: func() time.Time { return now }})
	id, err := k.Grant(5, nil)
	if err != nil || !IsSynthetic(id) || IsSynthetic(1<<62-1) {
		t.Fatalf("got %d, %v", id, err)
	}
	for _, step := range []struct {
		after time.Duration
		beat  bool
		want  bool
	}{{50 * time.Second, true, true}, {50 * time.Second, false, true}, {50 * time.Second, true, false}} {
		now = now.Add(step.after)
		if ok, err := k.Touch(id, step.beat); ok != step.want || err != nil {
			t.Errorf("at %v: got %v, %v, want %v", now, ok, err, step.want)
		}
	}
}

func TestSnapshots(t *testing.T) {
	var s Snapshots
	now := time.Unix(1000, 0)
	if got := s.Put("7:7::", "a", "one", now); got != "one" {
		t.Errorf("got %q", got)
	}
	if got := s.Put("7:7::", "a", "two", now); got != "one" {
		t.Errorf("the same reader again: got %q, want what it saw", got)
	}
	s.Put("77:7::", "a", "other", now)
	s.EndTxn(7)
	if got := s.Get("7:7::", "a", now); got != "" {
		t.Errorf("after its transaction: got %q", got)
	}
	if got := s.Get("77:7::", "a", now.Add(2*snapshotIdle)); got != "" {
		t.Errorf("unused for long: got %q", got)
	}
	for i := range maxSnapshots + 10 {
		s.Put(strings.Repeat("x", i), "a", "t", now.Add(time.Duration(i)))
	}
	if len(s.all) > maxSnapshots {
		t.Errorf("%d are kept, want at most %d", len(s.all), maxSnapshots)
	}
}

func known(k *Keeper, id int64) bool {
	_, ok, err := k.Known(context.Background(), id)
	return ok && err == nil
}
