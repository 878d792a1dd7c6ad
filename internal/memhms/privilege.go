package memhms

import (
	"strings"

	"hmsgate/internal/hms"
)

func init() {
	add("grant_privileges", (*Server).grantPrivileges, "")
	add("revoke_privileges", (*Server).revokePrivileges, "")
	add("grant_revoke_privileges", (*Server).grantRevokePrivileges, "success")
	add("refresh_privileges", func(*Server, *call) (any, error) { return true, nil }, "success")
	add("list_privileges", (*Server).listPrivileges, "")
	add("get_privilege_set", (*Server).privilegeSet, "")
}

// objectKey is what a HiveObjectRef names, for comparing.
func objectKey(o hms.Struct) string {
	return strings.Join([]string{itoa(o.Int("objectType")), ident(o.Str("dbName")), ident(o.Str("objectName")),
		strings.Join(hms.Strings(o["partValues"]), "/"), o.Str("columnName")}, "\x00")
}

func sameGrant(a, b hms.Struct) bool {
	return objectKey(a.Struct("hiveObject")) == objectKey(b.Struct("hiveObject")) &&
		a.Str("principalName") == b.Str("principalName") &&
		a.Int("principalType") == b.Int("principalType") && strings.EqualFold(a.Struct("grantInfo").Str("privilege"),
		b.Struct("grantInfo").Str("privilege"))
}

func (s *Server) grantPrivileges(c *call) (any, error) {
	bag := c.strct("privileges").Structs("privileges")
	for _, p := range bag {
		for _, q := range s.grants {
			if sameGrant(p, q) {
				o := p.Struct("hiveObject")
				return nil, s.gotException(invalidObject,
					p.Struct("grantInfo").Str("privilege")+" is already granted on table ["+
						o.Str("dbName")+","+o.Str("objectName")+"] by "+q.Struct("grantInfo").Str("grantor"))
			}
		}
	}
	for _, p := range bag {
		o := p.Struct("hiveObject")
		if s.era.catalogs && o.Str("catName") == "" && o.Str("dbName") != "" {
			o = with(o, "catName", defaultCatalog)
		}
		s.grants = append(s.grants, with(with(p, "grantInfo", with(p.Struct("grantInfo"), "createTime",
			int32(s.now()))), "hiveObject", o))
	}
	return true, nil
}

func (s *Server) revokePrivileges(c *call) (any, error) {
	kept := s.grants[:0:0]
	for _, q := range s.grants {
		gone := false
		for _, p := range c.strct("privileges").Structs("privileges") {
			gone = gone || sameGrant(p, q)
		}
		if !gone {
			kept = append(kept, q)
		}
	}
	s.grants = kept
	return true, nil
}

func (s *Server) grantRevokePrivileges(c *call) (any, error) {
	if c.num("requesttype") == revoke {
		return s.revokePrivileges(c)
	}
	return s.grantPrivileges(c)
}

// listPrivileges: everything of a principal when no object is named.
func (s *Server) listPrivileges(c *call) (any, error) {
	o, who := c.strct("hiveobject"), c.str("principalname")
	if o == nil && !s.era.catalogs {
		return nil, errInternal // seen
	}
	out := []any{}
	for _, q := range s.grants {
		if (who == "" || q.Str("principalName") == who) && (o == nil || o["objectType"] == nil ||
			objectKey(o) == objectKey(q.Struct("hiveObject"))) {
			out = append(out, q)
		}
	}
	return out, nil
}

func (s *Server) privilegeSet(c *call) (any, error) {
	o := c.strct("hiveobject")
	if o == nil && !s.era.catalogs {
		return nil, errInternal // seen
	}
	of := func(kind int64, name string) []any {
		out := []any{}
		for _, q := range s.grants {
			if q.Int("principalType") == kind && q.Str("principalName") == name &&
				objectKey(o) == objectKey(q.Struct("hiveObject")) {
				out = append(out, q["grantInfo"])
			}
		}
		return out
	}
	groups := hms.Map{}
	for _, g := range c.strs("groupnames") {
		groups = append(groups, hms.Pair{Key: g, Value: of(3, g)})
	}
	set := hms.Struct{"groupPrivileges": groups, "rolePrivileges": hms.Map{{Key: "public", Value: of(2, "public")}}}
	if who := c.str("username"); who != "" {
		set["userPrivileges"] = hms.Map{{Key: who, Value: of(1, who)}}
	}
	return set, nil
}
