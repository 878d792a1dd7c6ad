package config

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// escapeProperty writes text so that the reader must give it back.
func escapeProperty(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\f':
			b.WriteString(`\f`)
		case strings.ContainsRune(`\=:#! `, r):
			b.WriteRune('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// What was read and is written again reads the same.
func FuzzProperties(f *testing.F) {
	if data, err := os.ReadFile("testdata/peer.properties"); err == nil {
		f.Add(data)
	}
	for _, s := range []string{"a=1\\\n 2\r\n#x\\\n!\nb\\ c:\\u00fc\n", "\\", "a\\", "=\n:\n", "\\u", "\xff=\\uD83D\\uDE00"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		first, _ := parseProperties("f", data)
		lines := 1 + bytes.Count(data, []byte("\n")) + bytes.Count(data, []byte("\r"))
		var b strings.Builder
		for _, e := range first {
			if e.line < 1 || e.line > lines || e.key == "" {
				t.Fatalf("entry %q at line %d of %d", e.key, e.line, lines)
			}
			b.WriteString(escapeProperty(e.key) + "=" + escapeProperty(e.value) + "\n")
		}
		again, errs := parseProperties("f", []byte(b.String()))
		if len(errs) > 0 || len(again) != len(first) {
			t.Fatalf("%d entries became %d, %v:\n%s", len(first), len(again), errs, b.String())
		}
		for i := range again {
			if again[i].key != first[i].key || again[i].value != first[i].value {
				t.Fatalf("entry %d: %q=%q became %q=%q", i, first[i].key, first[i].value, again[i].key, again[i].value)
			}
		}
	})
}

// Any text gives a configuration or findings with sound places, never both
// and never a panic.
func FuzzParse(f *testing.F) {
	f.Add([]byte(base), false)
	f.Add([]byte(peerBase), true)
	f.Add([]byte("catalog: {a: {uris: [x, *y]}}\n<<: &y {a: *y}\n---\n"), false)
	f.Add([]byte("a: &a [*a]\n? {b: c}\n: d\n"), false)
	f.Add([]byte("catalogs=a.b,\\u0000,server\nadditional-frontends=server,c d\nlistener.c.bind=::\n"), true)
	f.Fuzz(func(t *testing.T, data []byte, properties bool) {
		format := YAML
		if properties {
			format = Properties
		}
		c, err := Parse("f", format, data)
		if (c == nil) == (err == nil) {
			t.Fatalf("got %v and %v", c, err)
		}
		for _, e := range AsErrors(err) {
			if e.Line < 0 || e.Problem == "" || strings.ContainsAny(e.Error(), "\r\n") {
				t.Fatalf("unsound finding %+v", e)
			}
		}
		if c == nil {
			return
		}
		if len(c.Catalogs) == 0 || !c.has(c.DefaultCatalog) || len(c.Listeners) == 0 {
			t.Fatalf("incomplete result %+v", c)
		}
		for _, n := range c.Notes {
			if strings.ContainsAny(n, "\r\n") {
				t.Fatalf("note over two lines: %q", n)
			}
		}
		var b strings.Builder
		if err := c.WriteEffective(&b); err != nil || strings.Count(b.String(), "\n") != len(c.Effective()) {
			t.Fatalf("listing has %d lines for %d settings, %v", strings.Count(b.String(), "\n"), len(c.Effective()), err)
		}
	})
}
