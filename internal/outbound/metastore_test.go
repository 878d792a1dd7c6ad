package outbound_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"hmsgate/internal/config"
	"hmsgate/internal/gateway"
	"hmsgate/internal/hms"
	"hmsgate/internal/wiretest"
	"hmsgate/profiles"
	"hmsgate/sasl"
	"hmsgate/sasl/digest"
	"hmsgate/sasl/krb"
	"hmsgate/sasl/krb/krbtest"
	"hmsgate/sasl/token"
)

func TestMain(m *testing.M) { wiretest.CheckLeaks(m) }

const (
	realm    = "TEST.LOCAL"
	gatename = "gw/localhost"
	storname = "hive/localhost"
)

// newRealm is a KDC and the keytabs of the gateway and of its metastores.
func newRealm(t testing.TB) (kdc *krbtest.KDC, own, theirs string) {
	kdc = krbtest.New(t, realm)
	return kdc, kdc.Rekey(gatename), kdc.Rekey(storname)
}

// metastore is a metastore of few words behind any protection.
type metastore struct {
	t      testing.TB
	ln     net.Listener
	codec  *hms.Codec
	server *sasl.Server  // nil: no SASL
	tls    *tls.Config   // nil: no TLS
	chunk  int           // bytes of a write to the socket; 0: all at once
	whole  bool          // a message is one token, as Java makes it
	large  []byte        // get_table's whole reply instead of the usual
	loop   func(*tokens) // instead of all that follows a negotiation
	// ready sees a message's token before it is sent; with whole.
	ready func(token []byte)

	amnesia atomic.Bool // tokens are forgotten as soon as they are issued

	mu       sync.Mutex // guards the rest
	tokens   *token.Authority
	acts     map[string]bool // for whom the gateway may act; nil: everybody
	heard    []string        // "user mechanism method" of each call
	issued   []string        // tokens asked for; "" for a refusal
	open     map[net.Conn]bool
	closed   bool
	running  sync.WaitGroup
	failures []error // of negotiations
}

type option func(*metastore)

// secured is a metastore with Kerberos.
func secured(keytab string, q sasl.QOP) option {
	return func(m *metastore) {
		kt, err := krb.OpenKeytab(keytab)
		if err != nil {
			m.t.Fatal(err)
		}
		a, err := krb.NewAcceptor(krb.AcceptorConfig{Keytab: kt, Principals: []string{storname + "@" + realm}, QOP: q, ShortName: shortName})
		if err != nil {
			m.t.Fatal(err)
		}
		m.forget()
		m.server = &sasl.Server{Mechanisms: []sasl.ServerMechanism{a, &digest.Server{Secrets: secrets{m}, QOP: q}}}
	}
}

// secrets are those of the authority that the metastore has now.
type secrets struct{ m *metastore }

func (s secrets) now() *token.Authority {
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	return s.m.tokens
}

func (s secrets) Password(user string) (string, error) { return s.now().Password(user) }
func (s secrets) Admit(user string, peer netip.Addr) (sasl.Identity, error) {
	return s.now().Admit(user, peer)
}

func shortName(p string) (string, error) {
	short, _, _ := strings.Cut(p, "@")
	short, _, _ = strings.Cut(short, "/")
	return short, nil
}

// forget makes all tokens void, as a restart does where they are kept in memory.
func (m *metastore) forget() {
	a, err := token.New(token.Config{Store: token.NewMemory(), ShortName: shortName, MayActFor: m.mayActFor})
	if err != nil {
		m.t.Fatal(err)
	}
	if err := a.Start(context.Background()); err != nil {
		m.t.Fatal(err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tokens = a
}

func (m *metastore) mayActFor(_ context.Context, principal, _, owner string, _ netip.Addr) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.acts == nil || m.acts[owner] {
		return nil
	}
	return fmt.Errorf("User: %s is not allowed to impersonate %s", principal, owner)
}

func newMetastore(t testing.TB, options ...option) *metastore {
	t.Helper()
	inv, err := profiles.Load("apache-3.1.3")
	if err != nil {
		t.Fatal(err)
	}
	m := &metastore{t: t, codec: hms.NewCodec(inv), open: map[net.Conn]bool{}}
	for _, o := range options {
		o(m)
	}
	if m.ln, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	m.running.Go(func() {
		for {
			c, err := m.ln.Accept()
			if err != nil {
				return
			}
			m.mu.Lock()
			if m.closed {
				c.Close()
			} else {
				m.open[c] = true
				m.running.Go(func() { m.serve(c) })
			}
			m.mu.Unlock()
		}
	})
	t.Cleanup(m.stop)
	return m
}

func (m *metastore) stop() {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.ln.Close()
	m.cut()
	m.running.Wait()
}

// cut closes all connections.
func (m *metastore) cut() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for c := range m.open {
		c.Close()
	}
}

// uri is as clients have it: by the name its principal has.
func (m *metastore) uri() string {
	_, port, _ := net.SplitHostPort(m.ln.Addr().String())
	return "thrift://localhost:" + port
}

// calls lists who made which calls, those of the gateway's probes left out.
func (m *metastore) calls() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []string
	for _, h := range m.heard {
		if !strings.HasSuffix(h, " getVersion") && !strings.HasSuffix(h, " get_catalogs") && !strings.HasSuffix(h, "_for_rewriting") {
			out = append(out, h)
		}
	}
	return out
}

func (m *metastore) issuedTokens() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.issued)
}

// secrets are the tokens issued, and their passwords.
func (m *metastore) secrets() (out []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, text := range m.issued {
		tok, err := token.Decode(text)
		if err != nil {
			m.t.Fatal(err)
		}
		out = append(out, text, base64.StdEncoding.EncodeToString(tok.Password))
	}
	return out
}

// dribble writes a few bytes at a time.
type dribble struct {
	net.Conn
	n int
}

func (d dribble) Write(p []byte) (done int, err error) {
	for done < len(p) && err == nil {
		var n int
		n, err = d.Conn.Write(p[done:min(done+d.n, len(p))])
		done += n
	}
	return done, err
}

// tokens is the server's end of a connection with SASL.
type tokens struct {
	net.Conn
	*sasl.Source
	*sasl.Sink
	one *[]byte // collects a message that is to be one token
	to  net.Conn
	m   *metastore
	l   sasl.Layer
}

func (c *tokens) Read(p []byte) (int, error) { return c.Source.Read(p) }
func (c *tokens) Write(p []byte) (int, error) {
	if c.one != nil {
		*c.one = append(*c.one, p...)
		return len(p), nil
	}
	return c.Sink.Write(p)
}

func (c *tokens) End() error {
	if c.one == nil {
		return c.Sink.End()
	}
	head, tail := 0, 0
	if c.l != nil {
		head, tail = c.l.Head(), c.l.Tail()
	}
	n := len(*c.one)
	b := make([]byte, 4+head+n+tail)
	copy(b[4+head:], *c.one)
	*c.one = nil
	tok, err := b[4:], error(nil)
	if c.l != nil {
		tok, err = c.l.Seal(tok, n)
	}
	if err != nil {
		return err
	}
	binary.BigEndian.PutUint32(b, uint32(len(tok)))
	if c.m.ready != nil {
		c.m.ready(tok)
	}
	_, err = c.to.Write(b[:4+len(tok)])
	return err
}

func (m *metastore) serve(c net.Conn) {
	defer func() {
		c.Close()
		m.mu.Lock()
		delete(m.open, c)
		m.mu.Unlock()
	}()
	if m.chunk > 0 {
		c = dribble{c, m.chunk}
	}
	if m.tls != nil {
		c = tls.Server(c, m.tls)
	}
	var who sasl.Identity
	if m.server != nil {
		s, err := m.server.Negotiate(c, netip.MustParseAddr("127.0.0.1"))
		if err != nil {
			m.mu.Lock()
			m.failures = append(m.failures, err)
			m.mu.Unlock()
			return
		}
		t := &tokens{Conn: c, Source: s.Source(c, sasl.DataLimits{}), Sink: s.Sink(c), to: c, m: m, l: s.Layer}
		if m.loop != nil {
			m.loop(t)
			return
		}
		if m.whole {
			t.one = &[]byte{}
		}
		who, c = s.Identity, t
	}
	w := hms.NewWire(c, m.codec, false)
	for {
		call, err := w.Read()
		if call == nil || err != nil && !errors.Is(err, hms.ErrUnknownMethod) {
			return
		}
		if w.Write(m.answer(&who, call)) != nil {
			return
		}
	}
}

// answer is what the metastore says to one call.
func (m *metastore) answer(who *sasl.Identity, call *hms.Message) []byte {
	m.mu.Lock()
	m.heard = append(m.heard, fmt.Sprintf("%s %s %s", who.User, who.Mechanism, call.Method))
	tokens := m.tokens
	m.mu.Unlock()
	var result any
	switch call.Method {
	case "getVersion":
		result = "3.0"
	case "set_ugi":
		if who.Mechanism == "" {
			who.User = call.Args["user_name"].(string)
		}
		result = call.Args["group_names"]
	case "get_delegation_token":
		text, err := tokens.Issue(context.Background(), *who, netip.MustParseAddr("127.0.0.1"),
			call.Args["token_owner"].(string), call.Args["renewer_kerberos_principal_name"].(string))
		if m.amnesia.Load() {
			m.forget()
		}
		m.mu.Lock()
		m.issued = append(m.issued, text)
		m.mu.Unlock()
		result = text
		if err != nil {
			result = &hms.Exception{Type: "MetaException", Message: err.Error()}
		}
	case "cancel_delegation_token":
		if err := tokens.Cancel(context.Background(), *who, call.Args["token_str_form"].(string)); err != nil {
			result = &hms.Exception{Type: "MetaException", Message: err.Error()}
		}
	case "get_table":
		if m.large != nil {
			return m.large
		}
		result = hms.Struct{"dbName": call.Args["dbname"], "tableName": call.Args["tbl_name"], "owner": who.User}
	case "get_all_databases":
		result = []any{"of_" + who.User}
	case "drop_table":
	default:
		b, err := m.codec.EncodeException(call.Method, call.Seq, 1, "Invalid method name: '"+call.Method+"'")
		if err != nil {
			m.t.Error(err)
		}
		return b
	}
	b, err := m.codec.EncodeReply(call.Method, call.Seq, result)
	if err != nil {
		m.t.Error(err)
	}
	return b
}

// site is a gateway in front of one secured metastore.
type site struct {
	t   testing.TB
	gw  *gateway.Gateway
	log *wiretest.Log
}

// kerberos are the settings of a gateway that logs in.
func kerberos(kdc *krbtest.KDC, keytab string) string {
	return fmt.Sprintf("security: {client-principal: %s@%s, client-keytab: %s, krb5-conf: %s}\n", gatename, realm, keytab, kdc.Conf())
}

// newSite starts a gateway; catalog are the settings of its one catalog.
func newSite(t testing.TB, m *metastore, catalog, more string) *site {
	t.Helper()
	if !strings.Contains(catalog, "runtime-profile") {
		catalog += ", runtime-profile: apache-3.1.3"
	}
	text := fmt.Sprintf("listen: 127.0.0.1:0\ncatalog:\n  hdp: {uris: %s%s}\n%s", m.uri(), catalog, more)
	cfg, err := config.Parse("one.yaml", config.YAML, []byte(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	s := &site{t: t, log: &wiretest.Log{}}
	if s.gw, err = gateway.New(cfg, zerolog.New(s.log), "test"); err != nil {
		t.Fatal(err)
	}
	if err := s.gw.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.gw.Close)
	return s
}

// client is a client without Kerberos.
type client struct {
	net.Conn
	t   testing.TB
	seq int32
}

func (s *site) client() *client {
	s.t.Helper()
	c, err := net.Dial("tcp", s.gw.Addr().String())
	if err != nil {
		s.t.Fatal(err)
	}
	c.SetDeadline(time.Now().Add(wiretest.Patience))
	s.t.Cleanup(func() { c.Close() })
	return &client{Conn: c, t: s.t}
}

// as is a client that says who it is.
func (s *site) as(user string) *client {
	c := s.client()
	c.call("set_ugi", wiretest.Struct(nil).String(1, user).Strings(2, "g").Stop())
	return c
}

func (c *client) call(method string, args []byte) wiretest.Message {
	c.t.Helper()
	c.seq++
	if _, err := c.Write(wiretest.Call(method, c.seq, args)); err != nil {
		c.t.Fatal(err)
	}
	var b []byte
	tmp := make([]byte, 64<<10)
	for {
		if len(b) >= 4 {
			if m, err := wiretest.Parse(b); err == nil {
				return m
			} else if !wiretest.IsShort(err) {
				c.t.Fatal(err)
			}
		}
		n, err := c.Read(tmp)
		b = append(b, tmp[:n]...)
		if n == 0 && err != nil {
			c.t.Fatalf("%s: %d bytes of a reply, then %v", method, len(b), err)
		}
	}
}

var someTable = wiretest.Struct(nil).String(1, "sales").String(2, "t").Stop()

func (c *client) table() wiretest.Message { c.t.Helper(); return c.call("get_table", someTable) }

// wantText checks that a reply has a text in it.
func wantText(t testing.TB, m wiretest.Message, part string) {
	t.Helper()
	if !bytes.Contains(m.Bytes, []byte(part)) {
		t.Errorf("got  %q\nwant %q in it", m.Bytes, part)
	}
}
