package zk

import (
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"
)

// What callers branch on.
var (
	ErrNoNode      = errors.New("no such node")
	ErrExists      = errors.New("node exists")
	ErrVersion     = errors.New("node was changed by somebody else")
	ErrNotEmpty    = errors.New("node has children")
	ErrAccess      = errors.New("access denied by the node's ACL")
	ErrUnavailable = errors.New("ZooKeeper does not answer")
)

// maxPacket is what servers take by default (jute.maxbuffer, 0xfffff), less
// room for what surrounds the data.
const maxPacket = 0xfffff - 16<<10

// Op is one part of a Multi.
type Op struct {
	verb, path string
	data       []byte
	version    int32
}

// Create makes a node.
func Create(path string, data []byte) Op { return Op{verb: "create", path: path, data: data} }

// Set changes a node of a version.
func Set(path string, data []byte, version int32) Op { return Op{"set", path, data, version} }

// Delete removes a node of a version; -1 is any.
func Delete(path string, version int32) Op { return Op{verb: "delete", path: path, version: version} }

func (o *Op) request(acl []zk.ACL) any {
	switch o.verb {
	case "create":
		return &zk.CreateRequest{Path: o.path, Data: o.data, Acl: acl}
	case "set":
		return &zk.SetDataRequest{Path: o.path, Data: o.data, Version: o.version}
	}
	return &zk.DeleteRequest{Path: o.path, Version: o.version}
}

// answers are the errors with which a server says that it did nothing.
var answers = map[error]error{
	zk.ErrNoNode:     ErrNoNode,
	zk.ErrNodeExists: ErrExists,
	zk.ErrBadVersion: ErrVersion,
	zk.ErrNoAuth:     ErrAccess,
	zk.ErrNotEmpty:   ErrNotEmpty,
	zk.ErrInvalidACL: errors.New("the server does not take the ACL: it knows the scheme not, or the connection is not authenticated in it"),
}

// failed is the library's error as this package's, with what was tried where.
func failed(verb, path string, err error) error {
	if err == nil {
		return nil
	}
	if a := answers[err]; a != nil {
		return fmt.Errorf("%s %s: %w", verb, path, a)
	}
	if errors.Is(err, ErrUnavailable) {
		return fmt.Errorf("%s %s: %w", verb, path, err)
	}
	return fmt.Errorf("%s %s: %w (%w)", verb, path, ErrUnavailable, err)
}
