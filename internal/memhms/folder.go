package memhms

import (
	"os"
	"path"
	"strings"
)

// Folders are made only where Config.Folders asks for it: clients that write files
// (Spark) expect a table's folder to be there. They are moved and removed only below
// the server's own Warehouse and External.

// local is a file: URI's path.
func local(uri string) (string, bool) {
	rest, ok := strings.CutPrefix(uri, "file:")
	if !ok || !strings.HasPrefix(rest, "/") {
		return "", false
	}
	return path.Clean("/" + strings.TrimLeft(rest, "/")), true
}

// own tells whether a path lies below the server's own folders.
func (s *Server) own(p string) bool {
	for _, uri := range []string{s.conf.Warehouse, s.conf.External} {
		if root, ok := local(uri); ok && strings.HasPrefix(p, root+"/") {
			return true
		}
	}
	return false
}

func (s *Server) makeFolder(uri string) error {
	p, ok := local(uri)
	if !s.conf.Folders || !ok {
		return nil
	}
	if err := os.MkdirAll(p, 0o777); err != nil {
		return throw(meta, "%s is not a directory or unable to create one", uri)
	}
	return nil
}

func (s *Server) moveFolder(from, to string) error {
	a, ok1 := local(from)
	b, ok2 := local(to)
	if !s.conf.Folders || !ok1 || !ok2 || a == b || !s.own(a) || !s.own(b) {
		return nil
	}
	if err := os.MkdirAll(path.Dir(b), 0o777); err != nil {
		return throw(invalidOp, "Unable to access new location %s", to)
	}
	if err := os.Rename(a, b); err != nil && !os.IsNotExist(err) {
		return throw(invalidOp, "Unable to move %s to %s", from, to)
	}
	return nil
}

func (s *Server) removeFolder(uri string) error {
	if p, ok := local(uri); s.conf.Folders && ok && s.own(p) {
		return os.RemoveAll(p)
	}
	return nil
}
