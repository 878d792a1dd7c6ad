package wiretest

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// leakPatience is how long goroutines that are on their way out may take.
const leakPatience = 3 * time.Second

// CheckLeaks runs the tests of a package and fails when goroutines are left
// after the last one. Use it as the whole of TestMain:
//
//	func TestMain(m *testing.M) { wiretest.CheckLeaks(m) }
func CheckLeaks(m *testing.M) {
	before := goroutines()
	code := m.Run()
	if left := leftAfter(before); len(left) > 0 && code == 0 {
		fmt.Fprintf(os.Stderr, "%d goroutines left after the tests:\n\n%s\n", len(left), strings.Join(left, "\n\n"))
		code = 1
	}
	os.Exit(code)
}

// NoLeaks fails a test that leaves goroutines behind. Call it first: cleanups
// run last in, first out, so it looks when all others are done. Not for tests
// that run in parallel with others.
func NoLeaks(tb testing.TB) {
	tb.Helper()
	before := goroutines()
	tb.Cleanup(func() {
		if left := leftAfter(before); len(left) > 0 {
			tb.Errorf("%d goroutines left:\n\n%s", len(left), strings.Join(left, "\n\n"))
		}
	})
}

// leftAfter waits for goroutines that were not there before to end and returns
// the stacks of those that do not.
func leftAfter(before map[string]string) []string {
	deadline := time.Now().Add(leakPatience)
	for {
		var left []string
		for id, stack := range goroutines() {
			if before[id] == "" {
				left = append(left, stack)
			}
		}
		if len(left) == 0 || time.Now().After(deadline) {
			return left
		}
		<-time.After(5 * time.Millisecond) // they end when scheduled; nothing signals it
	}
}

// goroutines returns the stacks of all goroutines of ours by their number.
// Those of the test runner and the runtime come and go on their own.
func goroutines() map[string]string {
	buf := make([]byte, 1<<20)
	for {
		n := runtime.Stack(buf, true)
		if n < len(buf) {
			buf = buf[:n]
			break
		}
		buf = make([]byte, 2*len(buf))
	}
	out := map[string]string{}
	for _, g := range bytes.Split(buf, []byte("\n\n")) {
		s := string(g)
		head, _, _ := strings.Cut(s, " [")
		if strings.Contains(s, "testing.(*T).Run(") || strings.Contains(s, "testing.(*M).") ||
			strings.Contains(s, "wiretest.goroutines(") || strings.Contains(s, "os/signal.signal_recv") ||
			strings.Contains(s, "testing.tRunner.func") || strings.Contains(s, "runtime.ensureSigM") {
			continue
		}
		out[head] = s
	}
	return out
}
