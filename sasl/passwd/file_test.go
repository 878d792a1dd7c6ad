package passwd

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"hmsgate/sasl"
)

func hashed(t testing.TB, password string) string {
	h, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	return string(h)
}

func write(t testing.TB, path, text string) {
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestCheck(t *testing.T) {
	path := filepath.Join(t.TempDir(), "users")
	// as htpasswd -B marks it
	write(t, path, "# people\n\nalice:"+strings.Replace(hashed(t, "wonder:land"), "$2a$", "$2y$", 1)+"\r\nbob:"+hashed(t, strings.Repeat("b", 72))+"\n")
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		user, password string
		ok             bool
	}{
		{"alice", "wonder:land", true}, {"alice", "wonderland", false}, {"alice", "", false}, {"Alice", "wonder:land", false},
		{"carol", "wonder:land", false}, {"carol", "nobody's", false},
		{"bob", strings.Repeat("b", 72), true}, {"bob", strings.Repeat("b", 73), false},
	} {
		id, err := f.Check(c.user, c.password, netip.Addr{})
		if (err == nil) != c.ok || c.ok && (id.User != c.user || id.Principal != c.user) {
			t.Errorf("%s %q: got %+v, %v", c.user, c.password, id, err)
		}
		if err != nil && (sasl.ReasonOf(err) != sasl.Credentials || c.password != "" && strings.Contains(err.Error(), c.password)) {
			t.Errorf("%s: got %v", c.user, err)
		}
	}
}

// A changed file counts when it is looked at again; a broken one does not.
func TestReload(t *testing.T) {
	path := filepath.Join(t.TempDir(), "users")
	write(t, path, "alice:"+hashed(t, "one")+"\n")
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	f.now = func() time.Time { return now }
	check := func(password string) bool {
		_, err := f.Check("alice", password, netip.Addr{})
		return err == nil
	}
	write(t, path, "# longer\nalice:"+hashed(t, "two")+"\n")
	if !check("one") || check("two") {
		t.Error("looked too soon")
	}
	if now = now.Add(lookEvery); check("one") || !check("two") {
		t.Error("the changed file does not count")
	}
	write(t, path, "alice")
	if now = now.Add(lookEvery); !check("two") {
		t.Error("a broken file took what was there")
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ text, want string }{
		{"alice", "line 1: want name:hash"}, {":x", "line 1: want name:hash"},
		{"a:" + hashed(t, "secret") + "\n\nb:secret", "line 3: not a bcrypt hash"},
		{"alice:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=", "line 1: not a bcrypt hash"},
		{"a:" + strings.Replace(hashed(t, "x"), "$04$", "$15$", 1), "line 1: cost 15, at most 14"},
		{"a:" + hashed(t, "x") + "\na:" + hashed(t, "y"), `line 2: the name "a" is there twice`},
	} {
		path := filepath.Join(dir, "users")
		write(t, path, c.text)
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: got %v, want %s", c.text, err, c.want)
		}
	}
	if _, err := Open(filepath.Join(dir, "missing")); !os.IsNotExist(err) {
		t.Errorf("got %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("alice:$2y$10$abcdefghijklmnopqrstuuW0Lr0zJ1Yk1Y3XyH0m3r8Gk0V9c9o1e\n# x\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		users, cost, err := parse(b)
		if err == nil && (cost < bcrypt.MinCost || cost > costMost) {
			t.Errorf("%d users of cost %d", len(users), cost)
		}
	})
}
