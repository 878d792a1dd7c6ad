package memhms

import (
	"errors"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hmsgate/frame"
	"hmsgate/internal/hms"
	"hmsgate/profiles"
)

// Config of a server. Only Inventory is needed.
type Config struct {
	Inventory *profiles.Inventory
	Name      string // for people: part of the metastore's uuid and of nothing else
	Warehouse string // URI of managed data, default file:/warehouse/<Name>
	External  string // URI of external tables, default Warehouse
	Folders   bool   // make local folders of databases, tables and partitions
	Version   string // getVersion's answer; default: as a real one of this version
	Clock     func() time.Time
	// OnCall sees each call before it is answered. Connections count from 1.
	OnCall func(conn int, method string, args hms.Struct)
}

// Server is a metastore. Its methods may be called at any time.
type Server struct {
	conf  Config
	codec *hms.Codec
	era   era
	begin time.Time

	mu     sync.Mutex // the store: everything from here to the empty line
	cats   map[string]*catalog
	lock   lockTable
	txn    txnTable
	misc   misc
	roles  roles
	log    eventLog
	grants []hms.Struct     // HiveObjectPrivilege
	nexts  map[string]int64 // sequences of ids by what they number

	open   sync.WaitGroup
	connMu sync.Mutex
	conns  map[net.Conn]struct{}
	lns    map[net.Listener]struct{}
	closed bool

	accepted, calls atomic.Int64
}

// era is what a version has.
type era struct {
	catalogs bool // 3.0 and later
	four     bool // 4.0 and later
	cas      bool // alter_table checks an expected parameter
	leader   bool // 4.1 and later: the metastore holds a lock of its own
}

// New makes a server with a default database.
func New(c Config) *Server {
	if c.Name == "" {
		c.Name = "memory"
	}
	if c.Warehouse == "" {
		c.Warehouse = "file:/warehouse/" + c.Name
	}
	if c.External == "" {
		c.External = c.Warehouse
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
	s := &Server{conf: c, codec: hms.NewCodec(c.Inventory), begin: c.Clock(), cats: map[string]*catalog{},
		nexts: map[string]int64{}, conns: map[net.Conn]struct{}{}, lns: map[net.Listener]struct{}{}}
	s.codec.AsJava, s.codec.Lax = true, true
	s.era.catalogs = c.Inventory.Methods["get_catalogs"] != nil
	s.era.four = c.Inventory.Methods["get_fields_req"] != nil
	s.era.leader = c.Inventory.Methods["create_database_req"] != nil
	// 2.3.10 has the check of 4.x, 3.1.3 has not (seen on real servers).
	s.era.cas = s.era.four || strings.HasSuffix(c.Inventory.Label, "-2.3.10")
	if s.conf.Version == "" {
		s.conf.Version = s.realVersion()
	}
	s.lock.init(s)
	s.txn.init()
	s.misc.init()
	s.roles.init()
	s.addCatalog(defaultCatalog, "Default catalog for Hive", c.Warehouse)
	return s
}

// realVersion: 2.3 to 3.1.3 all say 3.0, later ones tell the truth (seen).
func (s *Server) realVersion() string {
	if !s.era.four {
		return "3.0"
	}
	_, v, _ := strings.Cut(s.conf.Inventory.Label, "-")
	return v
}

// Connections is how many connections were accepted so far.
func (s *Server) Connections() int { return int(s.accepted.Load()) }

// Calls is how many calls arrived so far, unknown methods included.
func (s *Server) Calls() int { return int(s.calls.Load()) }

// Open is how many connections are open now.
func (s *Server) Open() int {
	s.connMu.Lock()
	defer s.connMu.Unlock()
	return len(s.conns)
}

// Serve accepts connections until Close, then returns nil.
func (s *Server) Serve(ln net.Listener) error {
	if !s.keepListener(ln) {
		ln.Close()
		return nil
	}
	for {
		conn, err := ln.Accept()
		if err != nil {
			s.connMu.Lock()
			defer s.connMu.Unlock()
			if s.closed {
				return nil
			}
			return err
		}
		if !s.keep(conn) {
			conn.Close()
			return nil
		}
		go s.serve(&session{id: int(s.accepted.Add(1)), conn: conn, meta: map[string]string{}})
	}
}

func (s *Server) keepListener(ln net.Listener) bool {
	s.connMu.Lock()
	defer s.connMu.Unlock()
	if !s.closed {
		s.lns[ln] = struct{}{}
	}
	return !s.closed
}

func (s *Server) keep(c net.Conn) bool {
	s.connMu.Lock()
	defer s.connMu.Unlock()
	if s.closed {
		return false
	}
	s.conns[c] = struct{}{}
	s.open.Add(1)
	return true
}

// Close stops listening, closes every connection and waits for their goroutines.
// What was stored stays and can be served again by nobody.
func (s *Server) Close() error {
	s.connMu.Lock()
	s.closed = true
	for ln := range s.lns {
		ln.Close()
	}
	for c := range s.conns {
		c.Close()
	}
	s.connMu.Unlock()
	s.open.Wait()
	return nil
}

// session is one client's connection.
type session struct {
	id   int
	conn net.Conn
	ugi  bool              // set_ugi has been called
	user string            // by it
	meta map[string]string // setMetaConf of this connection
}

func (s *Server) serve(c *session) {
	defer s.open.Done()
	defer func() {
		s.connMu.Lock()
		delete(s.conns, c.conn)
		s.connMu.Unlock()
		c.conn.Close()
	}()
	w := hms.NewWire(c.conn, s.codec, false)
	if w.Sniff() != nil {
		return
	}
	for {
		m, err := w.Read()
		if m == nil {
			return // the client left, or sent what cannot be answered
		}
		reply, err := s.answer(c, m, err)
		if err != nil {
			return
		}
		if reply != nil && w.Write(reply) != nil {
			return
		}
	}
}

// errHangUp is a handler's wish that the connection be closed without a reply,
// which is how 3.1.3 reports a RuntimeException (seen).
var errHangUp = errors.New("close the connection")

// answer is the reply to a message, nil to a one-way one.
func (s *Server) answer(c *session, m *hms.Message, readErr error) ([]byte, error) {
	s.calls.Add(1)
	if s.conf.OnCall != nil {
		s.conf.OnCall(c.id, m.Method, m.Args)
	}
	var lack *hms.MissingError
	if errors.As(readErr, &lack) {
		return s.codec.EncodeException(m.Method, m.Seq, hms.AppProtocolError, lack.Text)
	}
	method := s.conf.Inventory.Methods[m.Method]
	row, known := rows[m.Method]
	if method == nil || !known {
		return s.codec.EncodeException(m.Method, m.Seq, hms.AppUnknownMethod, "Invalid method name: '"+m.Method+"'")
	}
	result, err := s.run(newCall(s, c, method, m.Args), row)
	if method.Oneway || m.Type == frame.Oneway {
		return nil, nil
	}
	var x *hms.Exception
	switch {
	case errors.Is(err, errHangUp):
		return nil, err
	case errors.As(err, &x) && hms.Throws(method, x.Type) != nil:
		return s.codec.EncodeReply(m.Method, m.Seq, x)
	case err != nil: // Java: an exception that the method does not declare
		return s.codec.EncodeException(m.Method, m.Seq, hms.AppInternalError, "Internal error processing "+m.Method)
	case method.Returns == nil:
		result = nil
	}
	b, err := s.codec.EncodeReply(m.Method, m.Seq, result)
	if err != nil { // a handler's mistake: say what it is
		return s.codec.EncodeException(m.Method, m.Seq, hms.AppInternalError, err.Error())
	}
	return b, nil
}

// isResponse tells the structs that only wrap an answer, and exist without one, from
// objects, which may be null.
func isResponse(t *profiles.TypeRef) bool {
	return t != nil && t.Wire == frame.Struct && (strings.HasSuffix(t.Name, "Response") ||
		strings.HasSuffix(t.Name, "Result") || strings.HasSuffix(t.Name, "Resp"))
}

func (s *Server) run(c *call, r row) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, err := r.do(s, c)
	if err != nil || r.in == "" {
		if err == nil && v == nil && isResponse(c.method.Returns) {
			v = hms.Struct{}
		}
		return v, err
	}
	if c.method.Returns == nil || c.method.Returns.Wire != frame.Struct {
		return v, nil
	}
	return hms.Struct{r.in: v}, nil
}
