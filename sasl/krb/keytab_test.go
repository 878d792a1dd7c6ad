package krb

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jcmturner/gokrb5/v8/keytab"
)

// writeKeytab makes a keytab file of one principal's keys, one version each.
func writeKeytab(t *testing.T, path string, versions ...uint8) {
	kt := keytab.New()
	for _, v := range versions {
		if err := kt.AddEntry("hive/gw", "R", strings.Repeat("p", int(v)), time.Unix(1700000000, 0), v, 18); err != nil {
			t.Fatal(err)
		}
	}
	b, err := kt.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A replaced file is seen; keys it lacks stay for old tickets, for a week.
func TestKeytabReload(t *testing.T) {
	path := filepath.Join(t.TempDir(), "k")
	writeKeytab(t, path, 1)
	k, err := OpenKeytab(path)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	k.now = func() time.Time { return now }
	all := func(string) bool { return true }
	count := func() int { return len(k.keys(all, 18, 2)) }
	if n := count(); n != 1 {
		t.Fatalf("got %d keys", n)
	}
	writeKeytab(t, path, 2, 3)
	now = now.Add(2 * time.Second) // version 2 is unknown, so the file is looked at
	if n := count(); n != 3 {
		t.Errorf("after a new file: got %d keys, want 3", n)
	}
	if _, v, ok := k.newest("hive/gw@R", 18); !ok || v != 3 {
		t.Errorf("newest: got version %d", v)
	}
	if err := os.WriteFile(path, []byte("damaged"), 0o644); err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Minute)
	if n := count(); n != 3 || k.err == nil {
		t.Errorf("a damaged file: got %d keys, %v", n, k.err)
	}
	writeKeytab(t, path, 3)
	now = now.Add(keepOld)
	if n := count(); n != 2 { // 1 has been gone for a week, 2 just went
		t.Errorf("a week later: got %d keys, want 2", n)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := k.Reload(); err != nil || !k.Loose() {
		t.Errorf("readable by a group: %v, loose %v", err, k.Loose())
	}
}

func TestOpenKeytabRefusals(t *testing.T) {
	dir := t.TempDir()
	for name, b := range map[string]string{"empty": "", "text": "not a keytab", "header only": "\x05\x02", "cut": "\x05\x02\x00\x00\x00\x50ab"} {
		path := filepath.Join(dir, "k")
		if err := os.WriteFile(path, []byte(b), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenKeytab(path); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := OpenKeytab(filepath.Join(dir, "none")); err == nil {
		t.Error("a file that is not there: accepted")
	}
}

func TestSplitPrincipal(t *testing.T) {
	for s, ok := range map[string]bool{"alice@R": true, "hive/h@R": true, "alice": false, "@R": false, "a@": false, "a@b@R": false, "a//b@R": false, "a b@R": false, "": false} {
		if _, _, err := splitPrincipal(s); (err == nil) != ok {
			t.Errorf("%q: got %v, want ok %v", s, err, ok)
		}
	}
}
