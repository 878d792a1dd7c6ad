package zktest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"hmsgate/internal/zk"
)

// Calls checks what a server answers to the calls of a connection, below an
// empty node. What the server here answers, a real one must.
func Calls(t *testing.T, c *zk.Conn, at string) {
	t.Helper()
	must := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	refused := func(what string, err, want error, names string) {
		t.Helper()
		if !errors.Is(err, want) || !strings.Contains(err.Error(), names) || errors.Is(err, zk.ErrUnavailable) {
			t.Errorf("%s: got %v, want %v about %s", what, err, want, names)
		}
	}
	must("root", c.Root(at))
	must("root that is there", c.Root(at))
	must("several", c.Multi(zk.Create(at+"/a", []byte("one")), zk.Create(at+"/a/b", nil), zk.Create(at+"/c", []byte{0, 255})))
	data, version, err := c.Get(at + "/a")
	if must("get", err); string(data) != "one" || version != 0 {
		t.Errorf("got %q of version %d", data, version)
	}
	if data, _, err := c.Get(at + "/c"); err != nil || string(data) != "\x00\xff" {
		t.Errorf("got %q, %v, want the bytes as written", data, err)
	}
	must("set", c.Multi(zk.Set(at+"/a", []byte("two"), 0)))
	refused("set of an old version", c.Multi(zk.Set(at+"/a", nil, 0)), zk.ErrVersion, at+"/a")
	refused("second part", c.Multi(zk.Create(at+"/d", nil), zk.Delete(at+"/a/b", 7), zk.Create(at+"/e", nil)), zk.ErrVersion, at+"/a/b")
	refused("create again", c.Multi(zk.Create(at+"/a", nil)), zk.ErrExists, at+"/a")
	refused("create below nothing", c.Multi(zk.Create(at+"/x/y", nil)), zk.ErrNoNode, at+"/x/y")
	refused("delete of nothing", c.Multi(zk.Delete(at+"/x", -1)), zk.ErrNoNode, at+"/x")
	_, _, err = c.Get(at + "/x")
	refused("get of nothing", err, zk.ErrNoNode, at+"/x")
	_, err = c.Children(at + "/x")
	refused("list of nothing", err, zk.ErrNoNode, at+"/x")
	if err := c.Multi(zk.Delete(at+"/a", -1)); err == nil || errors.Is(err, zk.ErrUnavailable) || !strings.Contains(err.Error(), "children") {
		t.Errorf("delete with children: got %v", err)
	}
	must("sync", c.Fresh(at))
	names, err := c.Children(at)
	if must("list", err); !slices.Equal(slices.Sorted(slices.Values(names)), []string{"a", "c"}) {
		t.Errorf("got %q, want nothing left of what was refused", names)
	}
	if _, version, _ := c.Get(at + "/a"); version != 1 {
		t.Errorf("version %d, want 1", version)
	}
	if err := c.Multi(zk.Create(at+"/large", make([]byte, 2<<20))); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Errorf("too large: got %v", err)
	}
	must("as large as may be", c.Multi(zk.Create(at+"/large", make([]byte, 1_000_000))))
	if data, _, err := c.Get(at + "/large"); err != nil || len(data) != 1_000_000 {
		t.Errorf("got %d bytes, %v", len(data), err)
	}
	must("clean up", c.Multi(zk.Delete(at+"/a/b", 0), zk.Delete(at+"/a", 1), zk.Delete(at+"/c", -1), zk.Delete(at+"/large", 0)))
	must("the root too", c.Multi(zk.Delete(at, -1)))
}
