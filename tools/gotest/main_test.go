package main

import (
	"strings"
	"testing"
)

func TestReport(t *testing.T) {
	const in = `{"Action":"output","Package":"m/a","Test":"TestGood","Output":"=== RUN   TestGood\n"}
{"Action":"pass","Package":"m/a","Test":"TestGood","Elapsed":0}
{"Action":"output","Package":"m/a","Test":"TestLeft","Output":"    a_test.go:9: SKIP: no Java in PATH\n"}
{"Action":"output","Package":"m/a","Test":"TestLeft","Output":"--- SKIP: TestLeft (0.00s)\n"}
{"Action":"skip","Package":"m/a","Test":"TestLeft","Elapsed":0}
{"Action":"output","Package":"m/a","Output":"ok  \tm/a\t0.1s\n"}
{"Action":"pass","Package":"m/a","Elapsed":0.1}
{"Action":"output","Package":"m/b","Test":"TestBad","Output":"    b_test.go:3: got 1 want 2\n"}
{"Action":"fail","Package":"m/b","Test":"TestBad","Elapsed":0}
{"Action":"output","Package":"m/b","Test":"TestHung","Output":"panic: gone\n"}
{"Action":"output","Package":"m/b","Output":"FAIL\tm/b\t0.1s\n"}
{"Action":"fail","Package":"m/b","Elapsed":0.1}
not json
`
	const want = "ok  \tm/a\t0.1s\n" +
		"    b_test.go:3: got 1 want 2\n" +
		"panic: gone\n" +
		"FAIL\tm/b\t0.1s\n" +
		"not json\n" +
		"SKIP m/a TestLeft: no Java in PATH\n" +
		"2 packages, 1 failed; tests: 1 passed, 1 failed, 1 skipped\n"
	var out strings.Builder
	r := newReport(&out)
	r.read(strings.NewReader(in))
	r.close()
	if out.String() != want {
		t.Errorf("got:\n%swant:\n%s", out.String(), want)
	}
}
