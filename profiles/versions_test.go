package profiles

import (
	"slices"
	"testing"
)

// TestRepliesKeepTheirNames: what the gateway plans in the replies of a known
// version is what that version's own interface has, whatever else is made on
// the way (bridges share its structs).
func TestRepliesKeepTheirNames(t *testing.T) {
	u, err := AutoInventory()
	if err != nil {
		t.Fatal(err)
	}
	for _, label := range Labels() {
		inv := mustLoad(t, label)
		own, err := Compile(inv, inv)
		if err != nil {
			t.Fatal(err)
		}
		for r := Unsure; r < readers; r++ {
			p, err := CompileFor(u, inv, r)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range inv.Order {
				got, want := kinds(p.byName[name].reply), kinds(own.byName[name].reply)
				if !slices.Equal(got, want) {
					t.Errorf("%s, client %s, reply of %s: got kinds %v, want %v", label, r, name, got, want)
				}
			}
		}
	}
}
