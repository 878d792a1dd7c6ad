// Package hmsgate_test holds the one test that belongs to no package: which package may import which.
package hmsgate_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path"
	"strings"
	"testing"
)

const module = "hmsgate"

// The arrows are cmd -> internal -> route -> profiles -> rewrite -> frame and sasl -> frame. What a layer may
// import of the tree is everything below it, not only its neighbour.
var layers = map[string][]string{
	"cmd":      {"internal", "route", "profiles", "rewrite", "frame", "sasl"},
	"internal": {"internal", "route", "profiles", "rewrite", "frame", "sasl"},
	"bench":    {"internal", "route", "profiles", "rewrite", "frame", "sasl"},
	"route":    {"profiles", "rewrite", "frame"},
	"profiles": {"rewrite", "frame"},
	"rewrite":  {"frame"},
	"sasl":     {"frame"},
	"frame":    {},
}

// The application's rooms: another one needs a reason in its doc.go and a line here.
var rooms = words(`gateway session policy answer locks hms memhms metrics ranger iceberg admin config zk outbound wiretest`)

// Packages of internal that tests of the layers below may use: the parser of recorded messages, and the
// schema-driven values as an oracle.
var testSupport = words(`internal/wiretest internal/hms`)

// Each library has its places (a prefix covers the packages under it). Tests may use apache/thrift anywhere.
var places = map[string][]string{
	"gopkg.in/yaml.v3":                  {"internal/config", "profiles"},
	"github.com/apache/thrift":          {"internal/hms", "bench"},
	"github.com/prometheus":             {"internal/metrics", "internal/admin"},
	"github.com/rs/zerolog":             {"internal", "cmd"},
	"github.com/valyala/bytebufferpool": {"internal"},
	"github.com/spf13/cobra":            {"cmd"},
	"go.uber.org/thriftrw":              {"profiles"}, // idl and the ast it gives
	"github.com/pires/go-proxyproto":    {"internal/gateway"},
	"github.com/go-zookeeper/zk":        {"internal/zk"},
	"github.com/jcmturner/gokrb5":       {"sasl"},
	"golang.org/x/crypto/bcrypt":        {"sasl/passwd"},
	"github.com/jcmturner/gofork":       {"sasl"}, // its encoding/asn1 is the type of gokrb5's fields
	"github.com/go-ldap/ldap":           {"sasl"},
	"github.com/lestrrat-go/jwx":        {"sasl"},
	"github.com/twmb/avro":              {"internal/iceberg"},
	"github.com/colinmarc/hdfs":         {"internal/iceberg"},
	"github.com/dop251/goja":            {"internal/ranger"},
	"go.opentelemetry.io":               {"internal/admin"},
}

// A listed package is what "go list -json" says of it.
type listed struct {
	ImportPath                         string
	Standard                           bool
	Imports, TestImports, XTestImports []string
	Deps                               []string
}

func TestArrows(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-json=ImportPath,Standard,Imports,TestImports,XTestImports,Deps", "./...").Output()
	if err != nil {
		var ee *exec.ExitError
		if errors.As(err, &ee) {
			t.Fatalf("go list: %v\n%s", err, ee.Stderr)
		}
		t.Fatal(err)
	}
	standard, own := map[string]bool{"C": true}, []listed{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		standard[p.ImportPath] = p.Standard
		if p.ImportPath == module || strings.HasPrefix(p.ImportPath, module+"/") {
			own = append(own, p)
		}
	}
	if len(own) == 0 {
		t.Fatal("go list names no package of this module")
	}
	for _, p := range own {
		from := rel(p.ImportPath)
		for _, to := range p.Imports {
			report(t, from, to, false, standard)
		}
		for _, to := range append(p.TestImports, p.XTestImports...) {
			report(t, from, to, true, standard)
		}
		for _, to := range p.Deps {
			if (from == "frame" || from == "rewrite") && !standard[to] && !strings.HasPrefix(to, module+"/") {
				t.Errorf("%s depends on %s: frame and rewrite need the standard library only", from, to)
			}
		}
	}
}

func report(t *testing.T, from, to string, test bool, standard map[string]bool) {
	// Standard packages that only tests use are not among the listed dependencies; none has a dot in its first part.
	if std, known := standard[to]; std || !known && !strings.Contains(firstPart(to), ".") && firstPart(to) != module {
		return
	}
	if err := judge(from, to, test); err != nil {
		t.Error(err)
	}
}

// judge says what is wrong with an arrow from a package of ours (path inside the module) to any other
// that is not of the standard library.
func judge(from, to string, test bool) error {
	layer := firstPart(from)
	if from == "." { // this file's own package: nothing but the standard library
		return fmt.Errorf("the root package imports %s", to)
	}
	below, known := layers[layer]
	if !known {
		return fmt.Errorf("%s: no such room in the house", from)
	}
	if parts := strings.Split(from, "/"); layer == "internal" && (len(parts) < 2 || !has(rooms, parts[1])) {
		return fmt.Errorf("%s: no such room in internal", from)
	}
	if to == module || strings.HasPrefix(to, module+"/") {
		inside := rel(to)
		switch {
		case has(below, firstPart(inside)), firstPart(inside) == layer && layer != "cmd":
			return nil
		case test && has(testSupport, inside):
			return nil
		}
		return fmt.Errorf("%s imports %s: arrows go cmd -> internal -> route -> profiles -> rewrite -> frame and sasl -> frame", from, inside)
	}
	for library, allowed := range places {
		if !within(to, library) {
			continue
		}
		if test && library == "github.com/apache/thrift" {
			return nil
		}
		for _, a := range allowed {
			if within(from, a) {
				return nil
			}
		}
		return fmt.Errorf("%s imports %s, whose place is %s", from, to, strings.Join(allowed, ", "))
	}
	return fmt.Errorf("%s imports %s, a library without a place", from, to)
}

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		from, to string
		test, ok bool
	}{
		{"cmd/hmsgate", "hmsgate/internal/gateway", false, true},
		{"internal/session", "hmsgate/internal/policy", false, true},
		{"internal/answer/lists", "hmsgate/route", false, true},
		{"route", "hmsgate/frame", false, true},
		{"sasl", "hmsgate/frame", false, true},
		{"rewrite", "hmsgate/profiles", false, false},
		{"frame", "hmsgate/rewrite", false, false},
		{"route", "hmsgate/sasl", false, false},
		{"sasl", "hmsgate/route", false, false},
		{"route", "hmsgate/internal/config", false, false},
		{"route", "hmsgate/internal/wiretest", false, false},
		{"route", "hmsgate/internal/wiretest", true, true},
		{"internal/session", "hmsgate/cmd/hmsgate", false, false},
		{"cmd/other", "hmsgate/cmd/hmsgate", false, false},
		{"util", "hmsgate/frame", false, false},
		{"internal/util", "hmsgate/frame", false, false},
		{".", "hmsgate/frame", true, false},
		{"internal/config", "gopkg.in/yaml.v3", false, true},
		{"route", "gopkg.in/yaml.v3", false, false},
		{"internal/metrics", "github.com/prometheus/client_golang/prometheus", false, true},
		{"internal/session", "github.com/prometheus/client_golang/prometheus", false, false},
		{"internal/hms", "github.com/apache/thrift/lib/go/thrift", false, true},
		{"internal/session", "github.com/apache/thrift/lib/go/thrift", false, false},
		{"internal/session", "github.com/apache/thrift/lib/go/thrift", true, true},
		{"frame", "github.com/apache/thrift/lib/go/thrift", true, true},
		{"cmd/hmsgate", "github.com/spf13/cobra", false, true},
		{"internal/gateway", "github.com/spf13/cobra", false, false},
		{"sasl", "github.com/rs/zerolog", false, false},
		{"internal/gateway", "github.com/example/thing", false, false},
		{"internal/gateway", "github.com/example/thing", true, false},
	} {
		t.Run(c.from+" to "+c.to, func(t *testing.T) {
			if err := judge(c.from, c.to, c.test); (err == nil) != c.ok {
				t.Errorf("test import %v: got %v, want allowed %v", c.test, err, c.ok)
			}
		})
	}
}

func words(s string) []string { return strings.Fields(s) }

func has(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

func within(p, prefix string) bool { return p == prefix || strings.HasPrefix(p, prefix+"/") }

func firstPart(p string) string { first, _, _ := strings.Cut(p, "/"); return first }

func rel(importPath string) string {
	if importPath == module {
		return "."
	}
	return path.Clean(strings.TrimPrefix(importPath, module+"/"))
}
