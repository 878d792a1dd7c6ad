package answer

import (
	"bytes"

	"hmsgate/frame"
	"hmsgate/internal/hms"
	"hmsgate/internal/locks"
	"hmsgate/internal/session"
	"hmsgate/rewrite"
)

// showCompact of a request that asks for nothing in particular is every
// catalog's queue, where the configuration says so.
//
//	ShowCompactResponse  1 compacts
func (s *set) showCompact(c *session.Call) error {
	if _, req, err := argument(c.Body(), 1); err != nil || !s.o.AllStatus || len(req) > 0 {
		return forward(c)
	}
	return fromAll(c, func(a *session.Asked) (list, error) {
		lines, err := statusOf(c, a)
		return listOfLines(lines), err
	})
}

// allLocks are the locks of every catalog, without mirrors.
func (s *set) allLocks(c *session.Call) error {
	return fromAll(c, func(a *session.Asked) (l list, err error) {
		var lines [][]byte
		if s.mode(a.Catalog) == locks.Synthetic {
			_, names := a.Names(true)
			lines, err = s.shownLocks(c, func(e hms.Struct) ([]byte, bool) {
				if e.Str("catalog") != a.Catalog.Name {
					return nil, false
				}
				db, err := names.Append(nil, rewrite.DB, []byte(e.Str("db")))
				return db, err == nil
			})
			return listOfLines(lines), err
		}
		if lines, err = statusOf(c, a); err == nil && a.Catalog != c.Env().Table.Default() {
			lines, err = unmirrored(lines)
		}
		return listOfLines(lines), err
	})
}

// statusOf are the lines that one catalog's metastore has to show: none, if it
// does not know the call.
func statusOf(c *session.Call, a *session.Asked) ([][]byte, error) {
	msg, err := c.Other(&session.Other{Catalog: a.Catalog, Method: c.Method(), Body: c.Body(), Names: a.Names})
	if err != nil {
		return nil, err
	}
	r, ok, err := success(msg)
	switch {
	case err != nil:
		return nil, err
	case !ok && c.Without(msg):
		return nil, nil
	case !ok:
		return nil, errShare
	}
	v := r.get(frame.List, 1)
	if v == nil {
		return nil, nil
	}
	return splitList(v, frame.Struct)
}

func listOfLines(lines [][]byte) list { return list{len(lines), bytes.Join(lines, nil)} }
