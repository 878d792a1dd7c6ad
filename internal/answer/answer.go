package answer

import (
	"errors"
	"time"

	"hmsgate/frame"
	"hmsgate/internal/hms"
	"hmsgate/internal/locks"
	"hmsgate/internal/session"
	"hmsgate/profiles"
	"hmsgate/route"
	"hmsgate/sasl/token"
)

// Options are what the answers say of the gateway.
type Options struct {
	Name         string // of the server; empty: what the default catalog's metastore says
	Started      time.Time
	GlobalWrites bool // namespace-less writes go to the default catalog, changes of its own catalogs too
	Catalogs     []Catalog
	Locks        *locks.Keeper    // nil: one that takes no mirrors
	Tokens       *token.Authority // nil: there are no delegation tokens
	AcidRead     bool             // clients of 4.x too read other catalogs' transactional tables
	AllStatus    bool             // locks and compactions that no database is named for are those of all catalogs
	AllLists     bool             // lists of functions and databases that name no catalog are those of all
}

// Catalog is what get_catalog says of a configured catalog, and what its locks are.
type Catalog struct {
	Name, Description, Location string
	Locks                       locks.Mode
}

// set is the answers of one configuration.
type set struct {
	o     Options
	codec *hms.Codec
	modes map[string]locks.Mode // by catalog
}

// replyLabel is the inventory whose structs the answers are written by: the
// structs of catalogs are the same in every version that has them.
const replyLabel = "apache-3.1.3"

// Answers gives all answers under the names that rows use, and all programs
// under those that bridges use.
func Answers(o Options) (map[string]session.Answer, error) {
	inv, err := profiles.Load(replyLabel)
	if err != nil {
		return nil, err
	}
	s := &set{o, hms.NewCodec(inv), map[string]locks.Mode{}}
	if s.o.Locks == nil {
		s.o.Locks = locks.New(locks.Options{Store: locks.NewMemory()})
	}
	for _, c := range o.Catalogs {
		s.modes[c.Name] = c.Locks
	}
	out := map[string]session.Answer{
		"merge-names":        mergeNames,
		"merge-table-meta":   mergeRows,
		"all-databases":      s.allDatabases,
		"all-functions":      s.allFunctions,
		"catalogs":           s.catalogs,
		"catalog":            s.catalog,
		"refuse-catalog-ddl": s.refuseCatalogDDL,
		"name":               s.name,
		"version":            forward,
		"status":             status,
		"alive-since":        s.aliveSince,
		"nothing":            nothing,
		"set-ugi":            setUGI,
		"set-meta-conf":      setMetaConf,
		"token-get":          s.tokenGet,
		"token-renew":        s.tokenRenew,
		"token-cancel":       s.tokenCancel,
		"token-store":        tokenStore,
		"lock":               s.lock,
		"check-lock":         s.checkLock,
		"unlock":             s.unlock,
		"heartbeat":          s.heartbeat,
		"end-txn":            s.endTxn,
		"show-locks":         s.showLocks,
		"show-compact":       s.showCompact,
		"write-ids":          s.writeIDs,
	}
	for name, p := range programs {
		out[name] = run(p)
	}
	return out, nil
}

// forward lets the default catalog's metastore speak for the gateway.
func forward(c *session.Call) error {
	c.Forward()
	return nil
}

func (s *set) name(c *session.Call) error {
	if s.o.Name == "" {
		return forward(c)
	}
	c.Reply(func(dst []byte) []byte { return append(frame.AppendString(dst, 0, s.o.Name), frame.Stop) })
	return nil
}

// alive is fb_status.ALIVE (fb303.thrift).
const alive = 2

func status(c *session.Call) error {
	c.Reply(func(dst []byte) []byte { return append(dst, frame.I32, 0, 0, 0, 0, 0, alive, frame.Stop) })
	return nil
}

func (s *set) aliveSince(c *session.Call) error {
	t := s.o.Started.Unix()
	c.Reply(func(dst []byte) []byte {
		return append(be.AppendUint64(append(dst, frame.I64, 0, 0), uint64(t)), frame.Stop)
	})
	return nil
}

// nothing takes the one-way calls of the base service, which are meant for
// the server: Hive's client sends shutdown whenever it closes
// (HiveMetaStoreClient.close).
func nothing(*session.Call) error { return nil }

// The texts of this package, which clients read. The first two are the Java
// proxy's.
const (
	textCatalogDDL = "Catalog definitions are policy-owned by proxy config; HMS API catalog mutations are disabled " +
		"to preserve explicit namespace ownership"
	textNoTokens   = "Delegation tokens require Kerberos/SASL on the proxy front door"
	textTokenStore = "token stores are not for clients: this gateway keeps its delegation tokens itself"
	textTokensFail = "delegation tokens cannot be served now, try again later"
	textSettings   = "this connection has made more settings than a gateway can repeat on other connections"
)

// refuseCatalogDDL refuses, unless the operator gave the default catalog all
// namespace-less writes and the call does not name a configured catalog.
func (s *set) refuseCatalogDDL(c *session.Call) error {
	if s.o.GlobalWrites && !c.Names().Hinted() {
		return forward(c)
	}
	c.Refuse(&route.Refusal{Exception: route.Meta, Reason: route.Unowned, Text: textCatalogDDL})
	return nil
}

var errSecondUGI = errors.New("second set_ugi on one connection")
