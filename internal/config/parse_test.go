package config

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

// The cases follow the description of java.util.Properties.load(Reader).
func TestPropertiesSyntax(t *testing.T) {
	type kv struct {
		key, value string
		line       int
	}
	for _, c := range []struct {
		name, file string
		want       []kv
	}{
		{"separators", "a=1\nb:2\nc 3\nd\t4\ne = 5\nf : 6\ng\n", []kv{{"a", "1", 1}, {"b", "2", 2}, {"c", "3", 3}, {"d", "4", 4}, {"e", "5", 5}, {"f", "6", 6}, {"g", "", 7}}},
		{"only one separator goes", "a==1\nb : = 2\nc:=3\n", []kv{{"a", "=1", 1}, {"b", "= 2", 2}, {"c", "=3", 3}}},
		{"comments and blank lines", "# a=1\n  ! b=2\n\n \t\nc=3 # not a comment\n", []kv{{"c", "3 # not a comment", 5}}},
		{"a comment does not continue", "# a\\\nb=1\n", []kv{{"b", "1", 2}}},
		{"continuation", "a=1,\\\n   2,\\\n\t3\nb=4\n", []kv{{"a", "1,2,3", 1}, {"b", "4", 4}}},
		{"continuation of the key", "a\\\n  b=1\n", []kv{{"ab", "1", 1}}},
		{"continuation into a comment sign", "a=1\\\n#2\n", []kv{{"a", "1#2", 1}}},
		{"even backslashes", "a=1\\\\\nb=2\n", []kv{{"a", "1\\", 1}, {"b", "2", 2}}},
		{"backslash at the end of the file", "a=1\\", []kv{{"a", "1", 1}}},
		{"line ends", "a=1\rb=2\r\nc=3\\\r\n4\n", []kv{{"a", "1", 1}, {"b", "2", 2}, {"c", "34", 3}}},
		{"escaped separators", "a\\=b\\:c\\ d=1\\=2\n", []kv{{"a=b:c d", "1=2", 1}}},
		{"letters", "a=\\t1\\n2\\q\\z\n", []kv{{"a", "1\n2qz", 1}}},
		{"unicode", "a=\\u00fc\\u4E2D\\uD83D\\uDE00\n", []kv{{"a", "\u00fc\u4e2d\U0001F600", 1}}},
		{"half a pair", "a=\\uD83D.\n", []kv{{"a", "\ufffd.", 1}}},
		{"UTF-8", "\xef\xbb\xbfa=\u00fc\n", []kv{{"a", "\u00fc", 1}}},
		{"ISO 8859-1", "a=\xfc\n", []kv{{"a", "\u00fc", 1}}},
		{"no last line end", "a=1", []kv{{"a", "1", 1}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			entries, errs := parseProperties("f", []byte(c.file))
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			var got []kv
			for _, e := range entries {
				got = append(got, kv{e.key, e.value, e.line})
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
	for _, bad := range []string{"a=\\u12", "a=\\u", "a=\\u+123", "a\\uzzzz=1", "=1", " : 2"} {
		if _, errs := parseProperties("f", []byte(bad)); len(errs) != 1 {
			t.Errorf("%q: got %d errors, want 1", bad, len(errs))
		}
	}
}

// Aliases inside aliases stand for more nodes than memory has.
func TestYAMLBombs(t *testing.T) {
	var b strings.Builder
	b.WriteString("a0: &a0 {k: v, l: v, m: v, n: v, o: v, p: v, q: v, r: v}\n")
	for i := 1; i < 12; i++ {
		fmt.Fprintf(&b, "a%d: &a%d {", i, i)
		for j := 0; j < 8; j++ {
			fmt.Fprintf(&b, "k%d: *a%d, ", j, i-1)
		}
		b.WriteString("}\n")
	}
	deep := strings.Repeat("{a: ", 100) + "1" + strings.Repeat("}", 100)
	for name, file := range map[string]string{"wide": b.String(), "deep": "x: " + deep, "cycle": "a: &a {b: *a}\n"} {
		entries, errs := parseYAML("f", []byte(file))
		if len(errs) != 1 || !strings.Contains(errs[0].Problem, "too large") && !strings.Contains(errs[0].Problem, "not YAML") {
			t.Errorf("%s: got %v, want one error about the size", name, errs)
		}
		if len(entries) > mostNodes {
			t.Errorf("%s: %d entries", name, len(entries))
		}
	}
}

func TestValues(t *testing.T) {
	ms := &row{kind: kindDuration, unit: time.Millisecond}
	size := &row{kind: kindSize}
	host := &row{kind: kindHost}
	prof := &row{kind: kindProfile}
	for _, c := range []struct {
		row      *row
		in, want string
	}{
		{ms, "5", "5"}, {ms, "5s", "5000"}, {ms, "2 min", "120000"}, {ms, "1h", "3600000"}, {ms, "1D", "86400000"},
		{ms, "3msec", "3"}, {ms, "1500us", "1500000ns"}, {ms, "10ns", "10ns"}, {ms, "0", "0"},
		{size, "0", "0"}, {size, "64MB", "67108864"}, {size, "64 MiB", "67108864"}, {size, "64m", "67108864"},
		{size, "1GiB", "1073741824"}, {size, "2k", "2048"}, {size, "7b", "7"},
		{host, "[::1]", "::1"}, {host, "::1", "::1"}, {host, "", ""}, {host, "a_b.example", "a_b.example"},
		{prof, "AUTO", "auto"}, {prof, "apache_4_1_0", "apache-4.1.0"}, {prof, "hdp-3.1.5.0-152", "hdp-3.1.5.0-152"},
		{prof, "HORTONWORKS_3_1_0_3_1_0_78", "hdp-3.1.0.0-78"}, {prof, "apache-master-2026", "apache-master-2026"},
	} {
		if got, bad := c.row.normalise(c.in, nil); got != c.want || bad.problem != "" {
			t.Errorf("%q: got %q %s, want %q", c.in, got, bad.problem, c.want)
		}
	}
	for _, c := range []struct {
		row *row
		in  string
	}{
		{ms, ""}, {ms, "-1"}, {ms, "1.5s"}, {ms, "s"}, {ms, "9223372036854775807h"},
		{size, ""}, {size, "1.5G"}, {size, "MB"}, {size, "8EB"}, {size, "9999999999999G"},
		{host, "a b"}, {host, "h:1"}, {host, "[h"}, {prof, ""}, {prof, "3.1"}, {prof, "Apache-3.1.3"},
	} {
		if got, bad := c.row.normalise(c.in, nil); bad.problem == "" || bad.allowed == "" {
			t.Errorf("%q: accepted as %q", c.in, got)
		}
	}
}

func TestNearest(t *testing.T) {
	for _, c := range [][2]string{
		{"lisen", "listen"}, {"server.Port", "server.port"}, {"catalog.x.uri", "catalog.x.uris"},
		{"catalogue.x.uris", "catalog.x.uris"}, {"limits.call_bytes", "limits.call-bytes"},
		{"degraded-routing-policy", "routing.degraded-routing-policy"}, {"separator", ""},
		{"catalog.x.cnof.fs.defaultFS", "catalog.x.conf.fs.defaultFS"}, {"q", ""}, {strings.Repeat("x", 300), ""},
	} {
		if got := nearest(c[0]); got != c[1] {
			t.Errorf("%s: got %q, want %q", c[0], got, c[1])
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"ab", "ba", 1}, {"kitten", "sitting", 3}, {"abc", "abc", 0}, {"", "xyz", 3}} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
