package zk

import (
	"fmt"
	"strings"

	"github.com/go-zookeeper/zk"
)

// ACL says who may do what with a node.
type ACL struct {
	perms      int32
	scheme, id string
}

var letters = map[rune]int32{'c': zk.PermCreate, 'd': zk.PermDelete, 'r': zk.PermRead, 'w': zk.PermWrite, 'a': zk.PermAdmin}

// ParseACL reads a list of scheme:id:perms, as Hive does: cut at the first and
// the last colon, so that sasl:hive/h@R:cdrwa and digest:user:hash:cdrwa both work.
func ParseACL(text string) ([]ACL, error) {
	var out []ACL
	for _, item := range strings.Split(text, ",") {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		first, last := strings.IndexByte(item, ':'), strings.LastIndexByte(item, ':')
		if first <= 0 || first == last {
			return nil, fmt.Errorf("has an item %q that is not scheme:id:perms", item)
		}
		a := ACL{scheme: item[:first], id: item[first+1 : last]}
		for _, r := range item[last+1:] {
			if letters[r] == 0 {
				return nil, fmt.Errorf("has an item %q with a permission other than c, d, r, w, a", item)
			}
			a.perms |= letters[r]
		}
		if a.perms == 0 {
			return nil, fmt.Errorf("has an item %q without permissions", item)
		}
		out = append(out, a)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("is empty")
	}
	return out, nil
}
