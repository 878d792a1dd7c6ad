package answer

import (
	"slices"

	"hmsgate/frame"
	"hmsgate/internal/session"
	"hmsgate/rewrite"
	"hmsgate/route"
)

// listed leaves out of a catalog's list what the call does not mean, or what
// clients could not name.
type listed struct {
	rewrite.Names
	call *session.Call
	cat  *route.Catalog
}

func (l *listed) Keep(_ rewrite.Kind, db []byte) bool {
	if l.call.Names().Listed(l.cat, db) {
		return true
	}
	if env := l.call.Env(); l.cat == env.Table.Default() && env.Table.Shadowed(db) {
		env.Metrics.Shadowed()
	}
	return false
}

// everywhere is all catalogs that can have a part in the call's answer.
func everywhere(c *session.Call) []session.Asked {
	var out []session.Asked
	b := c.Names()
	for _, cat := range c.Env().Table.Catalogs() {
		if _, ok := b.ForCatalog(cat, true); !ok {
			continue
		}
		out = append(out, session.Asked{Catalog: cat, Names: func(at bool) (call, reply rewrite.Names) {
			call, _ = b.ForCatalog(cat, at)
			return call, &listed{b.From(cat), c, cat}
		}})
	}
	return out
}

// ask collects the catalogs' lists, which read finds in their replies. done
// says that the client has its answer already: the only catalog's, or a failure.
func ask(c *session.Call, read func(msg []byte) (list, bool, error)) (lists []list, done bool) {
	if r := c.Names().Refused(); r != nil {
		c.Refuse(r)
		return nil, true
	}
	parts := c.Fanout(everywhere(c))
	var bad *session.Part
	var without []string
	for i := range parts {
		p := &parts[i]
		if p.Err == nil {
			l, ok, err := read(p.Message)
			if ok {
				lists = append(lists, l)
				continue
			}
			p.Err = err
		}
		if bad == nil {
			bad = p
		}
		without = append(without, p.Catalog.Name)
	}
	if bad != nil && c.Env().Limits.Lenient && len(lists) > 0 {
		degraded(c, without)
		return lists, false
	}
	switch {
	case bad == nil && len(parts) == 1:
		c.Raw(parts[0].Message)
		return nil, true
	case bad == nil:
		return lists, false
	case bad.Err != nil:
		c.Unreachable(bad.Catalog, bad.Err)
	default:
		c.Raw(bad.Message) // the catalog's own exception
	}
	return nil, true
}

// degraded tells of the catalogs that a merged answer does without.
func degraded(c *session.Call, without []string) {
	c.Degraded()
	for _, name := range without {
		c.Env().Metrics.FanoutDegraded(name)
		c.Env().Log.Warn().Str("method", c.Method()).Str("catalog", name).Msg("merged answer does without a catalog")
	}
}

// listOf reads the list that is the result itself.
func listOf(c *session.Call, elem frame.Type) func([]byte) (list, bool, error) {
	return func(msg []byte) (list, bool, error) { return readList(msg, c.Method(), elem) }
}

// mergeNames answers with the names of all catalogs, sorted, each once.
func mergeNames(c *session.Call) error {
	lists, done := ask(c, listOf(c, frame.String))
	if done {
		return nil
	}
	var names []string
	for _, l := range lists {
		names = l.appendTo(names)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	c.Reply(func(dst []byte) []byte { return appendNames(dst, names) })
	return nil
}

// mergeRows answers with the elements of all catalogs' lists one after the
// other.
func mergeRows(c *session.Call) error {
	lists, done := ask(c, listOf(c, frame.Struct))
	if done {
		return nil
	}
	count := 0
	for _, l := range lists {
		count += l.count
	}
	c.Reply(func(dst []byte) []byte {
		dst = append(dst, frame.List, 0, 0, frame.Struct)
		dst = be.AppendUint32(dst, uint32(count))
		for _, l := range lists {
			dst = append(dst, l.body...)
		}
		return append(dst, frame.Stop)
	})
	return nil
}
