package answer

import (
	"errors"
	"fmt"

	"hmsgate/frame"
	"hmsgate/internal/session"
	"hmsgate/profiles"
)

// allFunctions are the functions of every catalog, where the configuration
// says so. A metastore that does not know the call (before Hive 2) has none.
//
//	GetAllFunctionsResponse  1 functions
func (s *set) allFunctions(c *session.Call) error {
	if !s.o.AllLists {
		return forward(c)
	}
	lists, done := ask(c, func(msg []byte) (l list, ok bool, err error) {
		if frame.MessageType(msg[3]) == frame.Exception {
			return l, applicationType(msg) == unknownMethod, nil
		}
		return fieldList(msg)
	})
	if done {
		return nil
	}
	return replyList(c, lists)
}

// applicationType is the type of an application exception (TApplicationException: 1 message 2 type).
func applicationType(msg []byte) int32 {
	fs, err := splitStruct(msg[12+be.Uint32(msg[4:]):])
	if err != nil {
		return 0
	}
	return fs.i32(2)
}

// fieldList is the list in field 1 of the struct that a reply returns.
func fieldList(msg []byte) (l list, ok bool, err error) {
	r, ok, err := success(msg)
	if err != nil || !ok {
		return l, false, err
	}
	v := r.get(frame.List, 1)
	if v == nil {
		return l, true, nil
	}
	elems, err := splitList(v, frame.Struct)
	if err != nil {
		return l, false, err
	}
	return list{len(elems), v[5:]}, true, nil
}

// replyList answers with a struct whose field 1 is a list of structs.
func replyList(c *session.Call, lists []list) error {
	count := 0
	for _, l := range lists {
		count += l.count
	}
	v := be.AppendUint32([]byte{frame.Struct}, uint32(count))
	for _, l := range lists {
		v = append(v, l.body...)
	}
	c.Reply(func(dst []byte) []byte {
		return fields{{frame.Struct, 0, fields{{frame.List, 1, v}}.appendTo(nil)}}.appendTo(dst)
	})
	return nil
}

// allDatabases are the databases of every catalog that match, where the
// configuration says so and the request names no catalog. Each metastore is
// asked for names and then for each database: so every version can be.
//
//	GetDatabaseObjectsRequest   1 catalogName  2 pattern
//	GetDatabaseObjectsResponse  1 databases
func (s *set) allDatabases(c *session.Call) error {
	if !s.o.AllLists || c.Names().Hinted() {
		return forward(c)
	}
	_, req, err := argument(c.Body(), 1)
	if err != nil {
		return forward(c)
	}
	if r := c.Names().Refused(); r != nil {
		c.Refuse(r)
		return nil
	}
	pattern := req.text(2)
	if req.get(frame.String, 2) == nil {
		pattern = []byte("*")
	}
	return fromAll(c, func(a *session.Asked) (list, error) { return databasesOf(c, a, pattern) })
}

// fromAll answers with what get gives of each catalog, one after the other.
func fromAll(c *session.Call, get func(a *session.Asked) (list, error)) error {
	var lists []list
	var without []string
	for _, a := range everywhere(c) {
		l, err := get(&a)
		if err != nil && !c.Env().Limits.Lenient {
			c.Failed(a.Catalog, err)
			return nil
		}
		if err != nil {
			without = append(without, a.Catalog.Name)
			continue
		}
		lists = append(lists, l)
	}
	if len(lists) == 0 && len(without) > 0 {
		c.Failed(c.Env().Table.Catalog(without[0]), errShare)
		return nil
	}
	if len(without) > 0 {
		degraded(c, without)
	}
	return replyList(c, lists)
}

var errShare = errors.New("the metastore did not give its share")

// databasesOf are one catalog's databases whose names match.
func databasesOf(c *session.Call, a *session.Asked, pattern []byte) (l list, err error) {
	call := func(method string, arg []byte) ([]byte, error) {
		return c.Other(&session.Other{Catalog: a.Catalog, Method: method, Names: a.Names,
			Body: fields{{frame.String, 1, stringValue(arg)}}.appendTo(nil)})
	}
	msg, err := call(profiles.CallDatabases, pattern)
	if err != nil {
		return l, err
	}
	names, ok, err := readList(msg, profiles.CallDatabases, frame.String)
	if err != nil || !ok {
		return l, errors.Join(errShare, err)
	}
	for _, name := range names.appendTo(nil) {
		if msg, err = call(profiles.CallDatabase, []byte(name)); err != nil {
			return l, err
		}
		if frame.MessageType(msg[3]) != frame.Reply {
			return l, fmt.Errorf("%w: %q", errShare, name)
		}
		fs, err := splitStruct(msg[12+len(profiles.CallDatabase):])
		if err != nil {
			return l, err
		}
		switch db := fs.get(frame.Struct, 0); {
		case db != nil:
			l.count, l.body = l.count+1, append(l.body, db...)
		case fs.get(frame.Struct, 1) == nil: // 1 NoSuchObjectException: dropped meanwhile
			return l, fmt.Errorf("%w: %q", errShare, name)
		}
	}
	return l, nil
}
