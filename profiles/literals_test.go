package profiles

import (
	"go/ast"
	goparser "go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// spellers may spell method names: this package, the in-memory metastore, and
// what plays a client or a server of known bytes (the demo's tour, recordings
// of real peers, the load of the benchmark).
var spellers = []string{"profiles", "internal/memhms", "internal/wiretest", "bench", "testdata"}

// TestNoMethodNames: everything else asks rows, so that a method is known in
// one place. Names without an underscore are words of other things too.
func TestNoMethodNames(t *testing.T) {
	u, err := AutoInventory()
	if err != nil {
		t.Fatal(err)
	}
	files := 0
	err = filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel("..", path)
		if d.IsDir() {
			if slices.Contains(spellers, filepath.ToSlash(rel)) || strings.HasPrefix(d.Name(), ".") && rel != "." {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(rel, ".go") || strings.HasSuffix(rel, "_test.go") || strings.HasSuffix(rel, "tour.go") {
			return nil
		}
		files++
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, found := range methodLiterals(rel, src, u) {
			t.Errorf("%s stands outside of package profiles: let a row say it", found)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 20 {
		t.Errorf("%d files read, want at least 20", files)
	}
}

// methodLiterals finds string literals that are a method's name with an
// underscore. A file that does not parse is the compiler's business.
func methodLiterals(name string, src []byte, inv *Inventory) (out []string) {
	set := token.NewFileSet()
	f, err := goparser.ParseFile(set, name, src, goparser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	ast.Inspect(f, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return true
		}
		s, err := strconv.Unquote(lit.Value)
		if err == nil && strings.Contains(s, "_") && inv.Methods[s] != nil {
			out = append(out, set.Position(lit.Pos()).String()+": "+s)
		}
		return true
	})
	return out
}

func TestMethodLiteralsBites(t *testing.T) {
	u, err := AutoInventory()
	if err != nil {
		t.Fatal(err)
	}
	const src = "package x\nvar a = \"get_table\"\nvar b = \"get_tabel\" + `lock` + \"show get_table\"\n"
	got := methodLiterals("x.go", []byte(src), u)
	if want := []string{"x.go:2:9: get_table"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
