package profiles

import "testing"

// What the gateway calls of its own, every version has.
func TestOwnCalls(t *testing.T) {
	delegate, asked := Delegate("alice", "gw@R")
	undelegate, given := Undelegate("t")
	for _, label := range Labels() {
		inv, err := Load(label)
		if err != nil {
			t.Fatal(err)
		}
		for method, args := range map[string]map[string]any{delegate: asked, undelegate: given, SetUser: nil} {
			m := inv.Methods[method]
			if m == nil {
				t.Errorf("%s has no %s", label, method)
				continue
			}
			if args != nil && len(args) != len(m.Args) {
				t.Errorf("%s: %s has %d arguments, we give %d", label, method, len(m.Args), len(args))
			}
			for _, a := range m.Args {
				if _, ok := args[a.Name]; args != nil && !ok {
					t.Errorf("%s: %s has an argument %s that we do not give", label, method, a.Name)
				}
			}
		}
		if a := inv.Methods[SetUser].Args; a[0].ID != 1 || a[1].ID != 2 || len(a) != 2 {
			t.Errorf("%s: %s has other arguments", label, SetUser)
		}
	}
}
