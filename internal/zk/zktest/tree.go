package zktest

import (
	"maps"
	"slices"
	"strings"
)

// node is never changed: a change puts another one in its place.
type node struct {
	data    []byte
	version int32
	owner   string // digest that the ACL demands, "" for none
}

// tree is the nodes by path.
type tree map[string]node

func parent(path string) string {
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		return path[:i]
	}
	return "/"
}

func (t tree) children(path string) []string {
	var out []string
	prefix := strings.TrimSuffix(path, "/") + "/"
	for p := range t {
		if name, ok := strings.CutPrefix(p, prefix); ok && name != "" && !strings.Contains(name, "/") {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// change is one create, set or delete.
type change struct {
	op      int32
	path    string
	data    []byte
	version int32
	owner   string
}

func readChange(op int32, r *reader) change {
	c := change{op: op, path: r.text()}
	switch op {
	case opCreate:
		c.data = r.bytes()
		for n := r.i32(); n > 0 && !r.bad; n-- {
			r.i32()
			if scheme, id := r.text(), r.text(); scheme == "digest" {
				c.owner = id
			}
		}
		r.i32()
	case opSetData:
		c.data, c.version = r.bytes(), r.i32()
	case opDelete:
		c.version = r.i32()
	}
	return c
}

func (t tree) may(path, who string) bool {
	n := t[path]
	return n.owner == "" || n.owner == who
}

// apply does one change and gives the response, or the error.
func (t tree) apply(c change, who string) (resp []byte, code int32) {
	n, ok := t[c.path]
	up := parent(c.path)
	switch {
	case c.op == opCreate:
		if _, there := t[up]; !there {
			return nil, errNoNode
		}
		if ok {
			return nil, errNodeExists
		}
		if !t.may(up, who) {
			return nil, errNoAuth
		}
		t[c.path] = node{data: c.data, owner: c.owner}
		return putText(nil, c.path), 0
	case !ok:
		return nil, errNoNode
	case !t.may(c.path, who) || c.op == opDelete && !t.may(up, who):
		return nil, errNoAuth
	case c.version >= 0 && c.version != n.version:
		return nil, errBadVersion
	case c.op == opSetData:
		n.data, n.version = c.data, n.version+1
		t[c.path] = n
		return t.stat(c.path), 0
	case len(t.children(c.path)) > 0:
		return nil, errNotEmpty
	}
	delete(t, c.path)
	return nil, 0
}

// stat: czxid mzxid ctime mtime version cversion aversion owner length children pzxid.
func (t tree) stat(path string) []byte {
	n := t[path]
	b := make([]byte, 32)
	b = putI32(b, n.version)
	b = append(b, make([]byte, 16)...)
	b = putI32(b, int32(len(n.data)))
	b = putI32(b, int32(len(t.children(path))))
	return putI64(b, 0)
}

// multi does all changes or none (MultiTransactionRecord, MultiResponse).
func (t tree) multi(r *reader, who string) (resp []byte, next tree, code int32) {
	next = maps.Clone(t)
	var codes, ops []int32
	var answers [][]byte
	bad := -1
	for {
		op, done := r.i32(), r.bool()
		r.i32()
		if done || r.bad {
			break
		}
		a, c := next.apply(readChange(op, r), who)
		if c != 0 && bad < 0 {
			bad = len(codes)
		}
		codes, ops, answers = append(codes, c), append(ops, op), append(answers, a)
	}
	for i := range ops {
		if bad < 0 {
			resp = append(putI32(append(putI32(resp, ops[i]), 0), 0), answers[i]...)
			continue
		}
		c := int32(0)
		switch {
		case i == bad:
			c = codes[i]
		case i > bad:
			c = -2 // RUNTIMEINCONSISTENCY
		}
		resp = putI32(putI32(append(putI32(resp, -1), 0), c), c)
	}
	resp = putI32(append(putI32(resp, -1), 1), -1)
	if bad >= 0 {
		next = t
	}
	return resp, next, 0
}
