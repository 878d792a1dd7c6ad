package gateway

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hmsgate/internal/config"
	"hmsgate/internal/wiretest"
	"hmsgate/sasl"
	"hmsgate/sasl/krb"
)

// tableNamed is a metastore with a reply of n bytes and more to get_table.
func tableNamed(t testing.TB, n int) (b *wiretest.Backend, reply []byte) {
	table := wiretest.Struct(nil).String(1, "t").String(2, "sales").String(3, strings.Repeat("o", n)).Stop()
	result := wiretest.Struct(nil).Struct(0, table).Stop()
	return wiretest.NewBackend(t).Others(wiretest.Serve(func(m wiretest.Message) []byte {
		if m.Method == "getVersion" {
			return wiretest.Reply(m.Method, m.Seq, wiretest.Struct(nil).String(0, "3.0").Stop())
		}
		return wiretest.Reply(m.Method, m.Seq, result)
	})), wiretest.Reply("get_table", 7, result)
}

// What a plain client gets, a Kerberos client gets under every protection,
// whatever the chunks.
func TestKerberosProtections(t *testing.T) {
	k := newRealm(t, "alice", "hive/localhost")
	for _, size := range []int{10, 5000, 300000} {
		b, reply := tableNamed(t, size)
		g, log := startGateway(t, b.Addr(), kerberos(k, "log.calls: true")...)
		l := k.login("alice")
		for _, q := range allProtections {
			for name, wrap := range map[string]func(net.Conn) net.Conn{
				"whole": nil, "trickling": func(c net.Conn) net.Conn { return trickling{c} }} {
				if size > 5000 && wrap != nil {
					continue
				}
				t.Run(fmt.Sprintf("%v %s %d", q, name, size), func(t *testing.T) {
					c, err := login(t, g, initiator(l, q), wrap)
					if err != nil {
						t.Fatal(err)
					}
					for range 3 {
						c.wants(tableCall("get_table", 7), reply)
					}
					long := wiretest.Call("get_table", 7, wiretest.Struct(nil).String(1, "sales").String(2, "t").
						String(99, strings.Repeat("x", 30*size)).Stop())
					if wrap == nil {
						c.wants(long, reply)
					}
					c.Close()
				})
			}
		}
		wiretest.Until(t, "all sessions to end", func() bool { return g.clients.Load() == 0 })
		if n := g.budget.Used(); n != 0 {
			t.Errorf("%d bytes are still held", n)
		}
		logged(t, log, "client authenticated", `"mechanism":"GSSAPI"`, `"protection":"auth-conf"`, `"principal":"alice@GO.TEST"`, `"user":"alice"`)
		logged(t, log, `"message":"call"`, `"user":"alice"`)
	}
}

// oneToken seals a whole message as Java does, in a single token of any size.
func oneToken(t testing.TB, l sasl.Layer, msg []byte) []byte {
	b := make([]byte, l.Head()+len(msg)+l.Tail())
	copy(b[l.Head():], msg)
	token, err := l.Seal(b, len(msg))
	if err != nil {
		t.Fatal(err)
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(token))), token...)
}

// A call in one token that is opened piece by piece: whole, it reaches the
// metastore; damaged at its end, the metastore never sees it complete.
func TestKerberosLongToken(t *testing.T) {
	k := newRealm(t, "alice", "hive/localhost")
	var calls, broken atomic.Int64
	addr := serving(t, func(c net.Conn) {
		for {
			m, err := readMessage(c)
			if err != nil {
				broken.Add(1)
				return
			}
			result := wiretest.Struct(nil)
			if m.Method == "getVersion" {
				result = result.String(0, "3.0")
			} else if m.Method == "get_table" {
				calls.Add(1)
			}
			c.Write(wiretest.Reply(m.Method, m.Seq, result.Stop()))
		}
	})
	reply := wiretest.Reply("get_table", 7, wiretest.Struct(nil).Stop())
	g, log := startGateway(t, addr, kerberos(k)...)
	l := k.login("alice")
	call := wiretest.Call("get_table", 7, wiretest.Struct(nil).String(1, "sales").String(2, "t").
		String(99, strings.Repeat("x", 8<<20)).Stop())
	for _, q := range allProtections[1:] {
		for _, damaged := range []string{"", "mac", "longer"} {
			c := mustLogin(t, g, initiator(l, q))
			had, gone := calls.Load(), broken.Load()
			plain := call
			if damaged == "longer" { // it ends while nobody knows yet whether its token is good
				plain = append(call[:len(call):len(call)], make([]byte, 2<<20)...)
			}
			token := oneToken(t, c.session.Layer, plain)
			if damaged == "mac" {
				token[len(token)-1] ^= 1
			}
			if _, err := c.Write(token); err != nil && damaged == "" {
				t.Fatal(err)
			}
			m, err := c.next()
			switch {
			case damaged == "" && (err != nil || !bytes.Equal(m.Bytes, reply)):
				t.Errorf("%v: got %q, %v", q, m.Bytes, err)
			case damaged != "" && err == nil:
				t.Errorf("%v %s: answered with %q", q, damaged, m.Bytes)
			case damaged != "":
				logged(t, log, "bytes that are not what the client sealed",
					map[string]string{"mac": "damaged", "longer": "a message ends inside a token"}[damaged])
				wiretest.Until(t, "the metastore to see the call broken off", func() bool { return broken.Load() > gone })
				if calls.Load() != had {
					t.Errorf("%v: the metastore has got a call that was not verified", q)
				}
			}
			c.Close()
		}
	}
	wiretest.Until(t, "all sessions to end", func() bool { return g.clients.Load() == 0 })
	if n := g.budget.Used(); n != 0 {
		t.Errorf("%d bytes are still held", n)
	}
}

// Small tokens too: replayed, reordered, of another layer, cut, too long.
func TestKerberosSpoiltTokens(t *testing.T) {
	k := newRealm(t, "alice", "hive/localhost")
	b := answering(t, nil)
	g, log := startGateway(t, b.Addr(), kerberos(k)...)
	l := k.login("alice")
	for name, spoil := range map[string]func(token []byte) []byte{
		"bit":      func(b []byte) []byte { b[len(b)/2] ^= 4; return b },
		"sequence": func(b []byte) []byte { b[4+15]++; return b },
		"length":   func(b []byte) []byte { return append([]byte{0x7f, 0xff, 0xff, 0xff}, b[4:]...) },
		"negative": func(b []byte) []byte { b[0] = 0x80; return b },
		"plain":    func([]byte) []byte { return tableCall("get_table", 1) },
		"twice":    func(b []byte) []byte { return append(b, b...) },
	} {
		c := mustLogin(t, g, initiator(l, sasl.AuthConf))
		said := len(log.String())
		if _, err := c.Write(spoil(oneToken(t, c.session.Layer, tableCall("get_table", 1)))); err != nil {
			t.Fatal(err)
		}
		if name == "twice" {
			if _, err := c.next(); err != nil {
				t.Errorf("twice: the first was good, got %v", err)
			}
		}
		if m, err := c.next(); err == nil {
			t.Errorf("%s: got %q, want the end", name, m.Bytes)
		}
		wiretest.Until(t, name+": a line", func() bool { return strings.Contains(log.String()[said:], "not what the client sealed") })
		c.Close()
	}
}

// A reply far beyond any buffer, sealed: no memory goes with its length.
func TestKerberosLargeReply(t *testing.T) {
	total := 256 << 20
	if testing.Short() {
		total = 32 << 20
	}
	k := newRealm(t, "alice", "hive/localhost")
	addr := streaming(t, total)
	g, _ := startGateway(t, addr, kerberos(k)...)
	for _, q := range allProtections {
		c := mustLogin(t, g, initiator(k.login("alice"), q))
		if _, err := c.sink.Write(tableCall("get_table", 1)); err != nil {
			t.Fatal(err)
		}
		if err := c.sink.End(); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 64<<10)
		got := 0
		allocated := allocations(func() {
			for got < total {
				c.SetDeadline(time.Now().Add(wiretest.Patience))
				n, err := c.source.Read(buf)
				if got += n; err != nil {
					t.Fatalf("%v: after %d bytes: %v", q, got, err)
				}
			}
		})
		t.Logf("%v: %d KB allocated for a reply of %d MB, both ends", q, allocated>>10, got>>20)
		if allocated > 16<<20 {
			t.Errorf("%v: %d bytes allocated for a reply of %d", q, allocated, got)
		}
		c.Close()
	}
}

// L73: whoever is refused hears the same; the log says why, and counters count.
func TestKerberosRefusals(t *testing.T) {
	k := newRealm(t, "alice", "root/admin", "hive/localhost", "hive/elsewhere")
	b := answering(t, nil)
	both := k.keytab("hive/localhost", "hive/elsewhere")
	g, log := startGateway(t, b.Addr(), "security.mode: KERBEROS", "security.server-principal: "+serviceName,
		"security.server-keytab: "+both, "security.auth-to-local: RULE:[1:$1@$0](alice@.*)s/@.*//", "log.calls: true")
	start := func(mech string) []byte { return sasl.AppendMessage(nil, sasl.Start, []byte(mech)) }
	for _, c := range []struct {
		name string
		says []byte
		want []byte
		line []string
	}{
		{"plain client", tableCall("get_table", 1), nil, []string{`"peer":"raw"`, "client without SASL on a listener that requires it: closed (security.mode)"}},
		{"framed client", wiretest.Framed(tableCall("get_table", 1)), nil, []string{`"peer":"framed"`, "client without SASL"}},
		{"TLS", []byte("\x16\x03\x01\x02\x00\x01"), nil, []string{`"peer":"tls"`, "TLS client on a listener without TLS"}},
		{"HTTP", []byte("GET / HTTP/1.1\r\n\r\n"), nil, []string{`"peer":"http"`, "HTTP client on a Thrift listener"}},
		{"garbage", []byte("\xff\xff\xff\xff\xff\xff"), nil, []string{`"peer":"unknown"`, "not a SASL client"}},
		{"mechanism", start("PLAIN"), refusal(sasl.Bad), []string{`"reason":"mechanism"`, "a mechanism this listener does not offer"}},
		{"long name", start(strings.Repeat("X", 33)), refusal(sasl.Fault), []string{`"reason":"limit"`}},
		{"no ticket", sasl.AppendMessage(nil, sasl.Bad, []byte("GSS initiate failed")), nil,
			[]string{`"reason":"peer"`, `GSS initiate failed`, "it has no ticket, or its KDC does not know the service"}},
		{"START twice", append(start("GSSAPI"), start("GSSAPI")...), refusal(sasl.Fault), []string{`"reason":"protocol"`}},
		{"no AP-REQ", append(start("GSSAPI"), sasl.AppendMessage(nil, sasl.OK, []byte("x"))...), refusal(sasl.Fault), []string{`"mechanism":"GSSAPI"`}},
	} {
		if got := lastWords(t, g, c.says); !bytes.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
		logged(t, log, c.line...)
	}
	for _, c := range []struct {
		name string
		m    *krb.Initiator
		line []string
	}{
		{"wrong service", &krb.Initiator{Login: k.login("alice"), Service: "hive", Host: "elsewhere"},
			[]string{`"reason":"no-key"`, "hive/elsewhere", "a service this listener does not answer for (security.server-principal)"}},
		{"unmapped name", initiator(k.login("root/admin"), sasl.Auth),
			[]string{`"reason":"name"`, `"principal":"root/admin@GO.TEST"`, "no rule gives the client a short name"}},
		{"protection", initiator(k.login("alice"), sasl.AuthConf), []string{`"reason":"peer"`}},
	} {
		_, err := login(t, g, c.m, nil)
		var p *sasl.PeerError
		if errors.As(err, &p); err == nil || c.name != "protection" && (p == nil || p.Status != sasl.Bad || p.Text != sasl.RefusalText) {
			t.Errorf("%s: got %v", c.name, err)
		}
		if c.name != "protection" { // our client gives up without a word there
			logged(t, log, c.line...)
		}
	}
	mustLogin(t, g, initiator(k.login("alice"), sasl.Auth)).wants(tableCall("get_table", 1), wiretest.Reply("get_table", 1, wiretest.Struct(nil).Stop()))
	metrics := scrape(t, g)
	for _, want := range []string{`authentications_total{mechanism="GSSAPI",result="ok"} 1`, `authentications_total{mechanism="GSSAPI",result="no-key"} 1`,
		`authentications_total{mechanism="none",result="mechanism"} 1`, `unexpected_bytes_total{kind="raw"} 1`, `unexpected_bytes_total{kind="tls"} 1`} {
		if !strings.Contains(metrics, want) {
			t.Errorf("metrics lack %s", want)
		}
	}
}

// The other way round: a secure client at a listener without security.
func TestSecureClientAtPlainListener(t *testing.T) {
	k := newRealm(t, "alice", "hive/localhost")
	g, log := startGateway(t, answering(t, nil).Addr())
	if _, err := login(t, g, initiator(k.login("alice"), sasl.Auth), nil); sasl.ReasonOf(err) != sasl.IO {
		t.Errorf("got %v, want a closed connection", err)
	}
	logged(t, log, `"peer":"sasl"`, "SASL client on a listener without SASL: closed (security.mode)")
}

// A login that is replayed, and a ticket that has run out, past any skew.
func TestKerberosReplay(t *testing.T) {
	k := newRealm(t, "alice", "hive/localhost")
	g, log := startGateway(t, answering(t, nil).Addr(), kerberos(k)...)
	var said bytes.Buffer
	_, err := login(t, g, initiator(k.login("alice"), sasl.Auth), func(c net.Conn) net.Conn { return recorded{c, &said} })
	if err != nil {
		t.Fatal(err)
	}
	if got := lastWords(t, g, said.Bytes()); !bytes.Equal(got, refusal(sasl.Bad)) {
		t.Errorf("got %q", got)
	}
	logged(t, log, `"reason":"replay"`)

	old := k.login("alice")
	if err := old.Renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	k.Life(-10 * time.Minute)
	if _, err := login(t, g, initiator(old, sasl.Auth), nil); sasl.ReasonOf(err) != sasl.PeerFailed {
		t.Errorf("expired ticket: got %v", err)
	}
	logged(t, log, `"reason":"expired"`)
}

type recorded struct {
	net.Conn
	said *bytes.Buffer
}

func (r recorded) Write(p []byte) (int, error) { r.said.Write(p); return r.Conn.Write(p) }

// bcrypt of "wonderland", cost 4
const aliceHash = "$2a$04$nOUnXgn0cJopb1dBAruOMumRT5tJeIWS8AO4pX.TKaIo9wlxK3iAa"

func usersFile(t testing.TB, text string) string {
	path := filepath.Join(t.TempDir(), "users")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestPlain(t *testing.T) {
	g, log := startGateway(t, answering(t, nil).Addr(), "security.mode: PLAIN", "security.plain-without-tls: true", "log.calls: true",
		"security.users-file: "+usersFile(t, "alice:"+aliceHash+"\n"))
	c := mustLogin(t, g, sasl.PlainLogin{User: "alice", Password: "wonderland"})
	c.wants(tableCall("get_table", 1), wiretest.Reply("get_table", 1, wiretest.Struct(nil).Stop()))
	logged(t, log, "client authenticated", `"mechanism":"PLAIN"`, `"user":"alice"`)
	for _, l := range []sasl.PlainLogin{{User: "alice", Password: "looking-glass"}, {User: "mallory", Password: "wonderland"}} {
		_, err := login(t, g, l, nil)
		var p *sasl.PeerError
		if !errors.As(err, &p) || p.Status != sasl.Bad || p.Text != sasl.RefusalText {
			t.Errorf("%s: got %v", l.User, err)
		}
		logged(t, log, `"reason":"credentials"`, l.User)
	}
	for _, says := range []string{"root\x00alice\x00wonderland", "alice\x00", "wonderland"} {
		got := lastWords(t, g, sasl.AppendMessage(sasl.AppendMessage(nil, sasl.Start, []byte("PLAIN")), sasl.Complete, []byte(says)))
		if !bytes.Equal(got, refusal(sasl.Bad)) && !bytes.Equal(got, refusal(sasl.Fault)) {
			t.Errorf("%q: got %q", says, got)
		}
	}
	for _, secret := range []string{"wonderland", "looking-glass", aliceHash} {
		if strings.Contains(log.String(), secret) {
			t.Errorf("the log has %q", secret)
		}
	}
}

// What cannot work is said at start, with the line.
func TestSecurityFiles(t *testing.T) {
	k := newRealm(t, "hive/localhost", "alice")
	for _, c := range []struct{ settings, want string }{
		{"security: {mode: KERBEROS, server-principal: hive/h@R, server-keytab: /nowhere}", `one.yaml:4: security.server-keytab: "/nowhere" `},
		{"security: {mode: KERBEROS, server-principal: hive/h@R, server-keytab: " + k.keytab("alice") + "}", `one.yaml:4: security.server-principal: "hive/h@R" `},
		{"security: {mode: PLAIN, plain-without-tls: true, users-file: /nowhere}", `one.yaml:4: security.users-file: "/nowhere" `},
	} {
		cfg, err := config.Parse("one.yaml", config.YAML, []byte("listen: 127.0.0.1:0\ncatalog:\n  hdp: {uris: thrift://h:1}\n"+c.settings+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		if err := CheckSecurity(cfg); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
	if got := principals([]string{"hive/_HOST@R", "hive/x@R"}); strings.Contains(got[0], "_HOST") || !strings.HasSuffix(got[0], "@R") || got[1] != "hive/x@R" {
		t.Errorf("got %q", got)
	}
}

// Places at the door: a silent client and a slow one take one, for a time.
func TestHandshakeBounds(t *testing.T) {
	k := newRealm(t, "alice", "hive/localhost")
	g, log := startGateway(t, answering(t, nil).Addr(), kerberos(k, "limits.handshakes-per-address: 2", "security.handshake-timeout-ms: 1500")...)
	begun := time.Now()
	silent, slow := dialGateway(t, g), dialGateway(t, g)
	slow.Write(sasl.AppendMessage(nil, sasl.Start, []byte("GSSAPI")))
	wiretest.Until(t, "both to be at the door", func() bool {
		g.security.doorman.mu.Lock()
		defer g.security.doorman.mu.Unlock()
		return g.security.doorman.inside == 2
	})
	if got := lastWords(t, g, nil); len(got) != 0 {
		t.Errorf("got %q, want the end", got)
	}
	logged(t, log, "limits.handshakes-per-address")
	drip := time.NewTicker(50 * time.Millisecond)
	defer drip.Stop()
	for b := range append([]byte{2, 0, 0, 0xff, 0xff}, make([]byte, 1<<16)...) {
		if _, err := slow.Write([]byte{byte(b)}); err != nil {
			break
		}
		<-drip.C
	}
	for _, c := range []net.Conn{silent, slow} {
		if _, err := io.ReadAll(c); err != nil && !strings.Contains(err.Error(), "reset") {
			t.Error(err)
		}
	}
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("they were there for %v, want about 1.5 s", took)
	}
	c := mustLogin(t, g, initiator(k.login("alice"), sasl.Auth))
	c.wants(tableCall("get_table", 1), wiretest.Reply("get_table", 1, wiretest.Struct(nil).Stop()))
}

// Over the limit of connections a client hears so in the negotiation's words.
func TestSecureConnectionsOverTheLimit(t *testing.T) {
	k := newRealm(t, "alice", "hive/localhost")
	g, _ := startGateway(t, answering(t, nil).Addr(), kerberos(k, "limits.connections: 1")...)
	l := k.login("alice")
	mustLogin(t, g, initiator(l, sasl.Auth))
	_, err := login(t, g, initiator(l, sasl.Auth), nil)
	var p *sasl.PeerError
	if !errors.As(err, &p) || !strings.Contains(p.Text, "too many clients (limits.connections)") {
		t.Errorf("got %v", err)
	}
}

// A drain does not wait for clients that have not authenticated.
func TestDrainAtTheDoor(t *testing.T) {
	k := newRealm(t, "alice", "hive/localhost")
	g, log := startGateway(t, answering(t, nil).Addr(), kerberos(k)...)
	dialGateway(t, g).Write(sasl.AppendMessage(nil, sasl.Start, []byte("GSSAPI")))
	in := mustLogin(t, g, initiator(k.login("alice"), sasl.AuthConf))
	in.wants(tableCall("get_table", 1), wiretest.Reply("get_table", 1, wiretest.Struct(nil).Stop()))
	wiretest.Until(t, "both clients", func() bool { return g.clients.Load() == 2 })
	begun := time.Now()
	if err := g.Drain(t.Context()); err != nil {
		t.Error(err)
	}
	if took := time.Since(begun); took > 4*time.Second {
		t.Errorf("took %v", took)
	}
	if strings.Contains(log.String(), "login refused") {
		t.Errorf("got log %s", log)
	}
}

// set_ugi behind a login is echoed as a metastore with SASL does, group list
// and user, again and again, and tells nobody anything.
func TestSetUGIBehindLogin(t *testing.T) {
	k := newRealm(t, "alice", "hive/localhost")
	b := answering(t, nil)
	g, _ := startGateway(t, b.Addr(), kerberos(k, "security: {set-ugi: fixed, set-ugi-user: etl}")...)
	c := mustLogin(t, g, initiator(k.login("alice"), sasl.Auth))
	for _, x := range []struct {
		args wiretest.Struct
		want []string
	}{
		{wiretest.Struct(nil).String(1, "root").Strings(2, "wheel", "staff"), []string{"wheel", "staff", "root"}},
		{wiretest.Struct(nil).String(1, "root").Strings(2), []string{"root"}},
		{wiretest.Struct(nil).String(1, "root"), []string{"root"}},
		{wiretest.Struct(nil).Strings(2, "staff"), []string{"staff"}},
	} {
		c.wants(wiretest.Call("set_ugi", 3, x.args.Stop()), wiretest.Reply("set_ugi", 3, wiretest.Struct(nil).Strings(0, x.want...).Stop()))
	}
	c.wants(tableCall("get_table", 4), wiretest.Reply("get_table", 4, wiretest.Struct(nil).Stop()))
	for _, m := range b.Calls() {
		if m.Method == "set_ugi" {
			t.Error("the metastore has heard set_ugi")
		}
	}
}
