package memhms

import (
	"fmt"
	"hash/fnv"
	"strings"

	"hmsgate/internal/hms"
)

func init() {
	add("add_runtime_stats", (*Server).addRuntime, "")
	add("get_runtime_stats", (*Server).runtimeStats, "")
}

// misc is what belongs to no database.
type misc struct {
	options  map[string]string
	rebuilds map[string]int64 // transactions that rebuild materialized views
	runtime  []any            // RuntimeStat, newest first
	tokens   map[string]string
	keys     map[int64]string // master keys
	types    map[string]hms.Struct
}

func (m *misc) init() {
	m.options = map[string]string{}
	m.rebuilds = map[string]int64{}
	m.tokens, m.keys, m.types = map[string]string{}, map[int64]string{}, map[string]hms.Struct{}
}

// metaConf are the settings that getMetaConf knows (MetastoreConf.metaConfs). Each
// has two spellings from 3.0 on, and only the one with "hive." before.
var metaConf = map[string]string{
	"try.direct.sql": "true", "try.direct.sql.ddl": "true", "client.socket.timeout": "600s",
	"partition.name.whitelist.pattern": "", "disallow.incompatible.col.type.changes": "true",
	"capability.check": "true",
}

// metaKey is the short key of a setting, "" for one that is not known.
func (s *Server) metaKey(key string) string {
	short, ok := strings.CutPrefix(key, "hive.metastore.")
	if !ok && s.era.catalogs {
		short, ok = strings.CutPrefix(key, "metastore.")
	}
	if _, known := metaConf[short]; ok && known {
		return short
	}
	return ""
}

func (s *Server) getMetaConf(c *call) (any, error) {
	k := s.metaKey(c.str("key"))
	if k == "" {
		return nil, throw(meta, "Invalid configuration key %s", c.str("key"))
	}
	if v, ok := c.c.meta[k]; ok {
		return v, nil
	}
	return metaConf[k], nil
}

func (s *Server) setMetaConf(c *call) (any, error) {
	k := s.metaKey(c.str("key"))
	if k == "" {
		return nil, throw(meta, "Invalid configuration key %s", c.str("key"))
	}
	c.c.meta[k] = c.str("value")
	return nil, nil
}

var configValues = map[string]string{"hive.metastore.client.connect.retry.delay": "1s",
	"metastore.client.connect.retry.delay": "1s"}

func (s *Server) configValue(c *call) (any, error) {
	name := c.str("name")
	open := false
	for _, p := range []string{"hive", "hdfs", "mapred", "metastore"} {
		open = open || strings.HasPrefix(name, p)
	}
	if !open {
		return nil, throw(configDenied, "For security reasons, the config key %s cannot be accessed", name)
	}
	if v, ok := configValues[name]; ok {
		return v, nil
	}
	return c.value("defaultvalue"), nil
}

func (s *Server) addRuntime(c *call) (any, error) {
	r := with(c.strct("stat"), "createTime", int32(s.now()))
	s.misc.runtime = append([]any{r}, s.misc.runtime...)
	return nil, nil
}

func (s *Server) runtimeStats(c *call) (any, error) {
	l := s.misc.runtime
	if max := c.max("maxweight"); max >= 0 && len(l) > max {
		l = l[:max]
	}
	return append([]any{}, l...), nil
}

// uuid is the same for the same name, so that runs compare.
func (s *Server) uuid(*call) (any, error) {
	h := fnv.New128a()
	h.Write([]byte(s.conf.Name))
	x := fmt.Sprintf("%x", h.Sum(nil))
	return x[:8] + "-" + x[8:12] + "-4" + x[13:16] + "-a" + x[17:20] + "-" + x[20:32], nil
}
