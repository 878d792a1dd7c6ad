// Command gotest runs "go test" and prints what a person wants to read of it: one line a package, the whole
// output of what failed, and at the end one SKIP line for each test that was left out, with its reason,
// which plain "go test" keeps to itself.
//
//	gotest go test -race ./...
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"sort"
	"strings"
)

// An event is one line of "go test -json" (go doc test2json).
type event struct {
	Action, Package, Test, Output, ImportPath string
	Elapsed                                   float64
}

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: gotest go test [flags] packages")
		os.Exit(2)
	}
	args := append([]string{os.Args[2], "-json"}, os.Args[3:]...)
	cmd := exec.Command(os.Args[1], args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gotest:", err)
		os.Exit(1)
	}
	r := newReport(os.Stdout)
	r.read(out)
	err = cmd.Wait()
	r.close()
	if err != nil {
		os.Exit(1)
	}
}

// A report collects the output of each test until it is known whether anybody wants to see it.
type report struct {
	w                io.Writer
	pending          map[string][]string // package + test -> its output so far
	skips            []string
	passed, failed   int
	packages, broken int
}

func newReport(w io.Writer) *report { return &report{w: w, pending: map[string][]string{}} }

func (r *report) read(in io.Reader) {
	s := bufio.NewScanner(in)
	s.Buffer(nil, 64<<20)
	for s.Scan() {
		var e event
		if json.Unmarshal(s.Bytes(), &e) != nil {
			fmt.Fprintln(r.w, s.Text())
			continue
		}
		r.add(e)
	}
	// Even when a line was too long, the child must not block on a full pipe.
	_, _ = io.Copy(io.Discard, in)
}

func (r *report) add(e event) {
	key := e.Package + " " + e.Test
	switch e.Action {
	case "build-output":
		fmt.Fprint(r.w, e.Output)
	case "output":
		r.pending[key] = append(r.pending[key], e.Output)
	case "pass", "fail", "skip":
		if e.Test == "" {
			r.endPackage(e, key)
		} else {
			r.endTest(e, key)
		}
		delete(r.pending, key)
	}
}

func (r *report) endPackage(e event, key string) {
	r.packages++
	if e.Action == "fail" {
		r.broken++
		// A panic or a time-out ends the process before its tests could report.
		for k, lines := range r.pending {
			if k != key && strings.HasPrefix(k, e.Package+" ") {
				fmt.Fprint(r.w, strings.Join(lines, ""))
				delete(r.pending, k)
			}
		}
		fmt.Fprint(r.w, strings.Join(r.pending[key], ""))
		return
	}
	for _, line := range r.pending[key] {
		if strings.HasPrefix(line, "ok ") {
			fmt.Fprint(r.w, line)
		}
	}
}

func (r *report) endTest(e event, key string) {
	switch e.Action {
	case "pass":
		r.passed++
	case "fail":
		r.failed++
		fmt.Fprint(r.w, strings.Join(r.pending[key], ""))
	case "skip":
		r.skips = append(r.skips, fmt.Sprintf("SKIP %s %s: %s", e.Package, e.Test, reason(r.pending[key])))
	}
}

var position = regexp.MustCompile(`^\s*\S+\.go:\d+: `)

// reason finds the text given to t.Skip among a skipped test's lines.
func reason(lines []string) string {
	var text []string
	for _, l := range lines {
		if position.MatchString(l) {
			text = append(text, strings.TrimSpace(position.ReplaceAllString(l, "")))
		}
	}
	if len(text) == 0 {
		return "no reason given"
	}
	return strings.TrimPrefix(strings.Join(text, "; "), "SKIP: ")
}

func (r *report) close() {
	sort.Strings(r.skips)
	for _, s := range r.skips {
		fmt.Fprintln(r.w, s)
	}
	fmt.Fprintf(r.w, "%d packages, %d failed; tests: %d passed, %d failed, %d skipped\n",
		r.packages, r.broken, r.passed, r.failed, len(r.skips))
}
