// Package storetest checks a locks.Store, whichever it is.
package storetest

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hmsgate/internal/hms"
	"hmsgate/internal/locks"
)

// Run checks stores that open makes: each call of open gives one more view of
// the same content, which fresh empties first.
func Run(t *testing.T, fresh func(t *testing.T), open func(t *testing.T) locks.Store) {
	for name, f := range map[string]func(*testing.T, locks.Store, locks.Store){
		"put and get": putAndGet, "conflicts": conflicts, "by transaction": byTransaction, "all": all, "numbers": numbers,
		"racing for one lock": racing, "racing in one transaction": racingTxn, "as it was put": whole,
	} {
		t.Run(name, func(t *testing.T) {
			fresh(t)
			f(t, open(t), open(t))
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func putAndGet(t *testing.T, a, b locks.Store) {
	if _, ok, err := b.Get(7); ok || err != nil {
		t.Errorf("an empty store has lock 7: %v, %v", ok, err)
	}
	l := locks.Lock{ID: 7, By: "one", Mirrors: []locks.Mirror{{Catalog: "x"}}}
	must(t, a.Admit(l))
	must(t, a.Put(&l))
	got, ok, err := b.Get(7)
	if err != nil || !ok || got.By != "one" || got.Rev != l.Rev {
		t.Fatalf("got %+v, %v, %v, want what the other put", got, ok, err)
	}
	got.Mirrors[0].ID = 9
	if again, _, _ := b.Get(7); again.Mirrors[0].ID != 0 {
		t.Error("a lock that was not put has changed")
	}
	must(t, b.Put(&got))
	if again, _, err := a.Get(7); err != nil || again.Mirrors[0].ID != 9 || again.Rev != got.Rev {
		t.Errorf("got %+v, %v, want the change", again, err)
	}
	must(t, a.Delete(got))
	if _, ok, err := b.Get(7); ok || err != nil {
		t.Errorf("after its end: %v, %v", ok, err)
	}
}

func conflicts(t *testing.T, a, b locks.Store) {
	conflict := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, locks.ErrConflict) {
			t.Errorf("%s: got %v, want a conflict", what, err)
		}
	}
	l := locks.Lock{ID: 1, Txn: 2}
	must(t, a.Put(&l))
	second := locks.Lock{ID: 1, Txn: 2}
	conflict("made twice", b.Put(&second))
	if second.Rev != 0 {
		t.Errorf("a failed put set Rev %d", second.Rev)
	}
	old := l
	must(t, b.Put(&l))
	conflict("changed as it was before", a.Put(&old))
	conflict("deleted as it was before", a.Delete(old))
	must(t, b.Delete(l))
	conflict("changed after its end", a.Put(&l))
	conflict("deleted after its end", a.Delete(l))
	third := locks.Lock{ID: 1, Txn: 2}
	must(t, a.Put(&third))
	must(t, a.Delete(third))
}

func byTransaction(t *testing.T, a, b locks.Store) {
	kept := map[int64]*locks.Lock{}
	for id, txn := range map[int64]int64{1: 5, 2: 5, 3: 0, 4: 55} {
		kept[id] = &locks.Lock{ID: id, Txn: txn}
		must(t, a.Put(kept[id]))
	}
	must(t, b.Put(kept[1]))
	ids := func() (out []int64) {
		list, err := b.OfTxn(5)
		must(t, err)
		for _, l := range list {
			out = append(out, l.ID)
		}
		slices.Sort(out)
		return out
	}
	if got := ids(); !slices.Equal(got, []int64{1, 2}) {
		t.Errorf("of transaction 5: got %v, want 1 and 2", got)
	}
	must(t, b.Delete(*kept[1]))
	if got := ids(); !slices.Equal(got, []int64{2}) {
		t.Errorf("after the first one's end: got %v", got)
	}
	must(t, a.Delete(*kept[2]))
	if got := ids(); len(got) != 0 {
		t.Errorf("after their end: got %v", got)
	}
}

func all(t *testing.T, a, b locks.Store) {
	for _, id := range []int64{9, 1<<62 + 3, 2, 1 << 40} {
		must(t, a.Put(&locks.Lock{ID: id}))
	}
	list, err := b.All()
	must(t, err)
	var got []int64
	for _, l := range list {
		got = append(got, l.ID)
	}
	if !slices.Equal(got, []int64{2, 9, 1 << 40, 1<<62 + 3}) {
		t.Errorf("got %v, want all, in order", got)
	}
}

func numbers(t *testing.T, a, b locks.Store) {
	var mu sync.Mutex
	var wait sync.WaitGroup
	seen := map[int64]bool{}
	for _, s := range []locks.Store{a, b, a, b} {
		wait.Go(func() {
			for range 100 {
				n, err := s.Next()
				mu.Lock()
				if err != nil || n <= 0 || seen[n] {
					t.Errorf("got %d, %v, seen before: %v", n, err, seen[n])
				}
				seen[n] = true
				mu.Unlock()
			}
		})
	}
	wait.Wait()
}

// Many change one lock: each change that succeeds was made to the latest state.
func racing(t *testing.T, a, b locks.Store) {
	must(t, a.Put(&locks.Lock{ID: 1}))
	var wait sync.WaitGroup
	const each = 20
	for _, s := range []locks.Store{a, b, a, b} {
		wait.Go(func() {
			for done := 0; done < each; {
				l, ok, err := s.Get(1)
				if err != nil || !ok {
					t.Errorf("got %v, %v", ok, err)
					return
				}
				l.Going = append(l.Going, locks.Held{Catalog: "x", ID: int64(len(l.Going))})
				switch err := s.Put(&l); {
				case err == nil:
					done++
				case !errors.Is(err, locks.ErrConflict):
					t.Error(err)
					return
				}
			}
		})
	}
	wait.Wait()
	if l, _, err := a.Get(1); err != nil || len(l.Going) != 4*each {
		t.Errorf("got %d changes, %v, want %d", len(l.Going), err, 4*each)
	}
}

// Locks of one transaction come and go at once: none is lost from its index,
// and nothing stays.
func racingTxn(t *testing.T, a, b locks.Store) {
	var wait sync.WaitGroup
	for i, s := range []locks.Store{a, b, a, b} {
		wait.Go(func() {
			for n := range int64(15) {
				l := locks.Lock{ID: int64(i)*1000 + n, Txn: 77}
				if err := s.Put(&l); err != nil {
					t.Errorf("put: %v", err)
					return
				}
				list, err := s.OfTxn(77)
				if err != nil || !slices.ContainsFunc(list, func(x locks.Lock) bool { return x.ID == l.ID }) {
					t.Errorf("lock %d is not of its transaction: %v", l.ID, err)
				}
				if err := s.Delete(l); err != nil {
					t.Errorf("delete: %v", err)
					return
				}
			}
		})
	}
	wait.Wait()
	if list, err := a.OfTxn(77); err != nil || len(list) != 0 {
		t.Errorf("left: %v, %v", list, err)
	}
}

// whole: every field comes back, names of any text included.
func whole(t *testing.T, a, b locks.Store) {
	at := time.UnixMilli(1_700_000_000_123)
	l := locks.Lock{ID: 1<<48 - 1, Txn: 1<<48 - 2, By: "one", Touched: at,
		Mirrors: []locks.Mirror{
			{Catalog: "a", ID: 5, Acquired: true},
			{Catalog: "b", Asked: at, By: "two", Request: hms.Struct{"user": "\"u\\<>\u2028\x00", "hostname": "h",
				"component": []any{hms.Struct{"type": 3, "level": 2, "dbname": "\u00e4\U0001f600", "isTransactional": false}}}},
		},
		Going: []locks.Held{{Catalog: "a", ID: 4}},
		Shown: []hms.Struct{{"lockid": 1<<62 + 1, "dbname": "x", "state": 1}}}
	must(t, a.Put(&l))
	got, ok, err := b.Get(l.ID)
	if err != nil || !ok || !reflect.DeepEqual(got, l) {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, l)
	}
}

// Bounded checks that a store refuses a lock that is too large for it, and what
// it cannot keep as it is.
func Bounded(t *testing.T, s locks.Store) {
	large := locks.Lock{ID: 1, Mirrors: []locks.Mirror{{Catalog: "a", Request: hms.Struct{"user": strings.Repeat("x", 600_000)}}}}
	for what, err := range map[string]error{"admit": s.Admit(large), "put": s.Put(&large)} {
		if !errors.Is(err, locks.ErrTooLarge) || !strings.Contains(err.Error(), "at most") {
			t.Errorf("%s: got %v, want it too large", what, err)
		}
	}
	odd := locks.Lock{ID: 1, Mirrors: []locks.Mirror{{Catalog: "a", Request: hms.Struct{"user": "\xff"}}}}
	for what, err := range map[string]error{"admit": s.Admit(odd), "put": s.Put(&odd)} {
		if err == nil || !strings.Contains(err.Error(), "UTF-8") {
			t.Errorf("%s: got %v, want it refused", what, err)
		}
	}
	if _, ok, err := s.Get(1); ok || err != nil {
		t.Errorf("something was stored: %v, %v", ok, err)
	}
}
