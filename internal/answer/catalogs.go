package answer

import (
	"slices"
	"strings"

	"hmsgate/internal/hms"
	"hmsgate/internal/session"
	"hmsgate/rewrite"
)

// catalogs names the configured catalogs, sorted, and while clients see
// backends' catalog names also those of the default catalog's metastore.
func (s *set) catalogs(c *session.Call) error {
	names := make([]string, 0, len(s.o.Catalogs)+1)
	for _, cat := range s.o.Catalogs {
		names = append(names, cat.Name)
	}
	if c.Env().Table.Preserve() {
		own, done := s.ownCatalogs(c)
		if done {
			return nil
		}
		for _, n := range own {
			if !slices.ContainsFunc(names, func(o string) bool { return strings.EqualFold(o, n) }) {
				names = append(names, n)
			}
		}
	}
	slices.Sort(names)
	return s.reply(c, hms.Struct{"names": hms.ListOf(names)})
}

// ownCatalogs asks the default catalog's metastore. One that knows no
// catalogs (Hive 2) has none. done says that the client has been answered.
func (s *set) ownCatalogs(c *session.Call) (names []string, done bool) {
	def := c.Env().Table.Default()
	part := c.Fanout([]session.Asked{{Catalog: def, Names: func(bool) (call, reply rewrite.Names) { return nil, nil }}})[0]
	if part.Err != nil {
		c.Unreachable(def, part.Err)
		return nil, true
	}
	m, err := s.codec.DecodeMessage(part.Message)
	if err != nil {
		c.Unreachable(def, err)
		return nil, true
	}
	if v, ok := m.Result.(hms.Struct); ok {
		return hms.Strings(v["names"]), false
	}
	if m.Failure != nil && m.Failure.Type == unknownMethod {
		return nil, false
	}
	c.Raw(part.Message)
	return nil, true
}

const unknownMethod = 1

// catalog describes a configured catalog; any other name is the default
// catalog's metastore's business.
func (s *set) catalog(c *session.Call) error {
	m, err := s.codec.DecodeMessage(c.Message())
	if err != nil {
		return forward(c) // it is for the metastore to say what is wrong
	}
	name := ""
	for _, v := range m.Args {
		if req, ok := v.(hms.Struct); ok {
			name = req.Str("name")
		}
	}
	for _, cat := range s.o.Catalogs {
		if c.Names().Hinted() && strings.EqualFold(cat.Name, name) {
			return s.reply(c, hms.Struct{"catalog": hms.Struct{
				"name": cat.Name, "description": cat.Description, "locationUri": cat.Location}})
		}
	}
	return forward(c)
}

// reply answers with a value written by the inventory.
func (s *set) reply(c *session.Call, v any) error {
	msg, err := s.codec.EncodeReply(c.Method(), c.Seq(), v)
	if err != nil {
		return err
	}
	c.Raw(msg)
	return nil
}
