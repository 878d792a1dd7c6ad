package locks

import (
	"context"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"hmsgate/internal/hms"
)

// L85 (iceberg 2301): a client was killed. Nobody beats for its lock, so that
// the metastore that has it can expire it.
func TestSweepLeavesPrimariesToTheirClients(t *testing.T) {
	p := newPair(t)
	k := p.keeper("a")
	p.take(k)
	before := p.locks("home")[0].Int("lastheartbeat")
	for range 4 {
		p.now = p.now.Add(time.Minute)
		k.Sweep(context.Background())
	}
	if after := p.locks("home")[0].Int("lastheartbeat"); after != before {
		t.Errorf("the primary was beaten for at %d, %d ms after its client", after, after-before)
	}
}

// L85: a synthetic lock lives for as long as a metastore's would. Iceberg beats
// every 240 s; the next writer waits for at most 300.
func TestSyntheticLockOfASilentClient(t *testing.T) {
	now := time.Unix(1000, 0)
	k := New(Options{Store: NewMemory(), Log: zerolog.Nop(), Now: func() time.Time { return now }})
	id, err := k.Grant(0, []hms.Struct{{"dbname": "db", "tablename": "to_be_made"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		after time.Duration
		beat  bool
		there bool
	}{{241 * time.Second, true, true}, {241 * time.Second, false, true}, {60 * time.Second, false, false}} {
		now = now.Add(step.after)
		k.Sweep(context.Background())
		if n := len(k.Shown()); n == 1 != step.there {
			t.Errorf("at %v: %d locks are shown; there: want %v", now, n, step.there)
		}
		if ok, err := k.Touch(id, step.beat); ok != step.there || err != nil {
			t.Errorf("at %v: got %v, %v, want %v", now, ok, err, step.there)
		}
	}
}
