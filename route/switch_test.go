package route

import "testing"

// A switch is another URI than before; where URIs are drawn by lot, only when
// the one before has failed.
func TestSwitched(t *testing.T) {
	for _, random := range []bool{false, true} {
		be, err := newBackend(CatalogConfig{Name: "c", URIs: []string{"a:1", "b:2"}, RandomURIs: random})
		if err != nil {
			t.Fatal(err)
		}
		a, b := be.URIs()[0], be.URIs()[1]
		for i, step := range []struct {
			to, from, fails *URI // from: where URIs are not drawn by lot
			lot             *URI // where they are
		}{{to: a}, {to: a}, {to: b, from: a}, {to: a, from: b}, {to: b, fails: a, from: a, lot: a}, {to: b}} {
			if step.fails != nil {
				step.fails.Fail()
			}
			want := step.from
			if random {
				want = step.lot
			}
			if got := be.Switched(step.to); got != want {
				t.Errorf("random %v, step %d: got %v, want %v", random, i+1, got, want)
			}
		}
	}
}
