package memhms

import "hmsgate/internal/hms"

func init() {
	add("create_role", (*Server).createRole, "")
	add("drop_role", (*Server).dropRole, "")
	add("get_role_names", (*Server).roleNames, "")
	add("grant_role", (*Server).grantRole, "")
	add("revoke_role", (*Server).revokeRole, "")
	add("grant_revoke_role", (*Server).grantRevokeRole, "success")
	add("list_roles", (*Server).listRoles, "")
	add("get_principals_in_role", (*Server).principals, "principalGrants")
	add("get_role_grants_for_principal", (*Server).roleGrants, "principalGrants")
}

const revoke = 2 // GrantRevokeType

// roles and the grants of them. The roles public and admin are always there; every
// user has public.
type roles struct {
	all    map[string]hms.Struct
	grants []hms.Struct // RolePrincipalGrant
}

func (r *roles) init() {
	r.all = map[string]hms.Struct{}
	for _, n := range []string{"admin", "public"} {
		r.all[n] = hms.Struct{"roleName": n, "createTime": int32(0), "ownerName": n}
	}
}

// gotException wraps the way HMSHandler does where a method declares MetaException
// alone; 2.3 lets the exception pass, which nobody declared (seen).
func (s *Server) gotException(class, text string) error {
	if !s.era.catalogs {
		return errInternal
	}
	return throw(meta, "Got exception: org.apache.hadoop.hive.metastore.api.%s %s", class, text)
}

func (s *Server) createRole(c *call) (any, error) {
	r := c.strct("role")
	name := ident(r.Str("roleName"))
	if s.roles.all[name] != nil {
		return nil, s.gotException(invalidObject, "Role "+name+" already exists.")
	}
	s.roles.all[name] = hms.Struct{"roleName": name, "createTime": int32(s.now()), "ownerName": r.Str("ownerName")}
	return true, nil
}

// dropRole of a role that is not there succeeds (seen).
func (s *Server) dropRole(c *call) (any, error) {
	name := ident(c.str("rolename"))
	delete(s.roles.all, name)
	s.forget(func(g hms.Struct) bool { return g.Str("roleName") == name })
	return true, nil
}

func (s *Server) forget(gone func(hms.Struct) bool) (n int) {
	kept := s.roles.grants[:0:0]
	for _, g := range s.roles.grants {
		if gone(g) {
			n++
		} else {
			kept = append(kept, g)
		}
	}
	s.roles.grants = kept
	return n
}

func (s *Server) roleNames(*call) (any, error) { return hms.ListOf(sortedKeys(s.roles.all)), nil }

func (s *Server) grantRole(c *call) (any, error) {
	role, who := ident(c.str("rolename")), c.str("principalname")
	if s.roles.all[role] == nil {
		return nil, s.gotException(noSuchObject, "Role "+role+" does not exist")
	}
	for _, g := range s.roles.grants {
		if g.Str("roleName") == role && g.Str("principalName") == who {
			return nil, s.gotException(invalidObject, "Principal "+who+" already has the role "+role)
		}
	}
	s.roles.grants = append(s.roles.grants, hms.Struct{"roleName": role, "principalName": who,
		"principalType": c.value("principaltype"),
		"grantOption":   c.flag("grantoption"), "grantTime": int32(s.now()), "grantorName": c.value("grantor"),
		"grantorPrincipalType": c.value("grantortype")})
	return true, nil
}

func (s *Server) revokeRole(c *call) (any, error) {
	role, who := ident(c.str("rolename")), c.str("principalname")
	if s.forget(func(g hms.Struct) bool { return g.Str("roleName") == role && g.Str("principalName") == who }) == 0 {
		return nil, s.gotException(invalidObject, who+" does not have the role "+role)
	}
	return true, nil
}

func (s *Server) grantRevokeRole(c *call) (any, error) {
	if c.num("requesttype") == revoke {
		return s.revokeRole(c)
	}
	return s.grantRole(c)
}

func (s *Server) listRoles(c *call) (any, error) {
	out := []any{}
	for _, g := range s.roles.grants {
		if g.Str("principalName") == c.str("principalname") && g.Int("principalType") == c.num("principaltype") {
			out = append(out, s.roles.all[g.Str("roleName")])
		}
	}
	if c.num("principaltype") == 1 {
		out = append(out, s.roles.all["public"])
	}
	return out, nil
}

func (s *Server) principals(c *call) (any, error) {
	out := []any{}
	for _, g := range s.roles.grants {
		if g.Str("roleName") == ident(c.str("rolename")) {
			out = append(out, g)
		}
	}
	return out, nil
}

func (s *Server) roleGrants(c *call) (any, error) {
	out := []any{}
	for _, g := range s.roles.grants {
		if g.Str("principalName") == c.str("principalname") && g.Int("principalType") == c.num("principaltype") {
			out = append(out, g)
		}
	}
	if c.num("principaltype") == 1 {
		out = append(out, hms.Struct{"roleName": "public", "principalName": c.str("principalname"),
			"principalType": int32(1),
			"grantOption":   false, "grantTime": int32(0)})
	}
	return out, nil
}
