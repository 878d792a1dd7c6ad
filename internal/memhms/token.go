package memhms

import "hmsgate/internal/hms"

func init() {
	// Without SASL a real metastore has no token manager, and says so in Java's words
	// (seen at 2.3.10, 3.1.3 and 4.1.0 on Java 17).
	for method, sig := range map[string]string{"get_delegation_token": "getDelegationToken(String, String, String)",
		"renew_delegation_token": "renewDelegationToken(String)", "cancel_delegation_token": "cancelDelegationToken(String)"} {
		add(method, func(s *Server, _ *call) (any, error) {
			class := "thrift.HiveDelegationTokenManager"
			if s.era.catalogs {
				class = "metastore.security.MetastoreDelegationTokenManager"
			}
			return nil, throw(meta, `java.lang.NullPointerException: Cannot invoke "org.apache.hadoop.hive.%s.%s" because "org.apache.hadoop.hive.metastore.HiveMetaStore.delegationTokenManager" is null`, class, sig)
		}, "")
	}
	add("add_token", (*Server).addToken, "")
	add("get_token", (*Server).getToken, "")
	add("remove_token", (*Server).removeToken, "")
	add("get_all_token_identifiers", func(s *Server, _ *call) (any,
		error) {
		return hms.ListOf(sortedKeys(s.misc.tokens)), nil
	}, "")
	add("add_master_key", (*Server).addMasterKey, "")
	add("update_master_key", (*Server).updateMasterKey, "")
	add("remove_master_key", (*Server).removeMasterKey, "")
	add("get_master_keys", (*Server).masterKeys, "")

	add("get_type", (*Server).getType, "")
	add("create_type", (*Server).createType, "")
	add("drop_type", (*Server).dropType, "")
	add("get_type_all", func(*Server, *call) (any, error) { return nil, throw(meta, "Not yet implemented") }, "")
}

func (s *Server) addToken(c *call) (any, error) {
	s.misc.tokens[c.str("tokenidentifier")] = c.str("delegationtoken")
	return true, nil
}

// getToken of one that is not there is no result at all at 2.3, empty later (seen).
func (s *Server) getToken(c *call) (any, error) {
	v, ok := s.misc.tokens[c.str("tokenidentifier")]
	if !ok && !s.era.catalogs {
		return nil, nil
	}
	return v, nil
}

func (s *Server) removeToken(c *call) (any, error) {
	_, ok := s.misc.tokens[c.str("tokenidentifier")]
	delete(s.misc.tokens, c.str("tokenidentifier"))
	return ok, nil
}

func (s *Server) addMasterKey(c *call) (any, error) {
	id := s.next("master key")
	s.misc.keys[id] = c.str("key")
	return int32(id), nil
}

func (s *Server) updateMasterKey(c *call) (any, error) {
	id := c.num("seqnumber")
	if _, ok := s.misc.keys[id]; !ok {
		return nil, throw(meta, "NoSuchObjectException(message:No key found with keyId: %d)", id)
	}
	s.misc.keys[id] = c.str("key")
	return nil, nil
}

func (s *Server) removeMasterKey(c *call) (any, error) {
	_, ok := s.misc.keys[c.num("keyseq")]
	delete(s.misc.keys, c.num("keyseq"))
	return ok, nil
}

func (s *Server) masterKeys(*call) (any, error) {
	out := []any{}
	for id := range s.nexts["master key"] + 1 {
		if k, ok := s.misc.keys[id]; ok {
			out = append(out, k)
		}
	}
	return out, nil
}

func (s *Server) getType(c *call) (any, error) {
	if t := s.misc.types[c.str("name")]; t != nil {
		return t, nil
	}
	return nil, throw(noSuchObject, "Type %q not found.", c.str("name"))
}

func (s *Server) createType(c *call) (any, error) {
	t := c.strct("type")
	if s.misc.types[t.Str("name")] != nil {
		return nil, throw(alreadyExists, "Type %s already exists", t.Str("name"))
	}
	s.misc.types[t.Str("name")] = t
	return true, nil
}

func (s *Server) dropType(c *call) (any, error) {
	_, ok := s.misc.types[c.str("type")]
	delete(s.misc.types, c.str("type"))
	return ok, nil
}
