package memhms

import "hmsgate/internal/hms"

func init() {
	text := func(v any) func(*Server, *call) (any, error) {
		return func(*Server, *call) (any, error) { return v, nil }
	}
	add("getName", text("new db based metaserver"), "")
	add("getVersion", func(s *Server, _ *call) (any, error) { return s.conf.Version, nil }, "")
	add("getStatus", text(int32(2)), "") // fb_status ALIVE
	add("getStatusDetails", text(""), "")
	add("getCounters", text(hms.Map{}), "")
	add("getCounter", text(int64(0)), "")
	add("getCpuProfile", text(""), "")
	add("aliveSince", func(s *Server, _ *call) (any, error) { return s.begin.Unix(), nil }, "")
	// One-way. A real metastore's shutdown ends nothing but the caller's own thread
	// state, and every Java client sends it when it closes (HMSHandler.shutdown).
	add("shutdown", text(nil), "")
	add("reinitialize", text(nil), "")
	add("setOption", (*Server).setOption, "")
	add("getOption", func(s *Server, c *call) (any, error) { return s.misc.options[c.str("key")], nil }, "")
	add("getOptions", func(s *Server, _ *call) (any, error) { return hms.MapOf(s.misc.options), nil }, "")
	add("set_ugi", (*Server).setUGI, "")
	add("getMetaConf", (*Server).getMetaConf, "")
	add("setMetaConf", (*Server).setMetaConf, "")
	add("get_config_value", (*Server).configValue, "")
	add("flushCache", text(nil), "")
	add("get_metastore_db_uuid", (*Server).uuid, "")
}

func (s *Server) setOption(c *call) (any, error) {
	s.misc.options[c.str("key")] = c.str("value")
	return nil, nil
}

// setUGI answers the groups the first time; a second one on a connection without
// SASL ends it (TUGIBasedProcessor.handleSetUGI throws, the server thread closes).
func (s *Server) setUGI(c *call) (any, error) {
	if c.c.ugi {
		return nil, errHangUp
	}
	c.c.ugi, c.c.user = true, c.str("username")
	return hms.ListOf(c.strs("groupnames")), nil
}
