package wiretest

import (
	"testing"
	"time"
)

// Patience bounds every wait of a test, for a machine that does other things.
const Patience = 20 * time.Second

// Until polls a condition, which has Patience to come true.
func Until(t testing.TB, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(Patience); !cond(); {
		if time.Now().After(end) {
			t.Fatalf("waited %v for: %s", Patience, what)
		}
		<-time.After(2 * time.Millisecond)
	}
}
