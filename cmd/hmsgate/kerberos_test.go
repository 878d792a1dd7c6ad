package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"hmsgate/internal/config"
	"hmsgate/internal/gateway"
	"hmsgate/internal/wiretest"
	"hmsgate/sasl/krb/krbtest"
)

const gatewayPrincipal = "hive/localhost@" + krbtest.MITRealm

// secure is Hive's own client in front of secure listeners in front of an
// unsecured metastore, with tickets of an MIT KDC.
type secure struct {
	p    *peers
	kdc  *krbtest.MIT
	port string // of the metastore
	log  *wiretest.Log

	classes map[string]string // class path by version
}

// TestKerberosPeers: Hive's own client of both generations by ticket and by
// token, under every protection, and what it shows when something is wrong.
func TestKerberosPeers(t *testing.T) {
	if testing.Short() {
		leaveOut(t, "-short")
	}
	if missing := missingTools(); missing != "" {
		leaveOut(t, missing)
	}
	s := newSecure(t)
	for _, q := range []struct{ hadoop, qop string }{{"authentication", "auth"}, {"integrity", "auth-int"}, {"privacy", "auth-conf"}} {
		g := s.gateway(t, "security.protection: "+q.hadoop)
		for _, version := range []string{"3.1.3", "4.1.0"} {
			t.Run(version+" "+q.qop, func(t *testing.T) { s.works(t, g, version, q.hadoop, q.qop) })
		}
	}
	g := s.gateway(t, "security.auth-to-local: RULE:[1:$1@$0](alice@.*)s/@.*//")
	plain := s.start(t)
	cert, key := wiretest.Certificate(t, t.TempDir(), 1)
	trust := filepath.Join(t.TempDir(), "trust")
	if out, err := exec.Command("keytool", "-importcert", "-noprompt", "-alias", "gate", "-file", cert, "-keystore", trust,
		"-storepass", "changeit").CombinedOutput(); err != nil {
		t.Fatalf("keytool: %v\n%s", err, out)
	}
	over := s.gateway(t, "server.tls: {certificate: "+cert+", key: "+key+"}")
	for _, version := range []string{"3.1.3", "4.1.0"} {
		t.Run(version+" TLS", func(t *testing.T) {
			s.works(t, over, version, "authentication", "auth", "truststore="+trust)
		})
	}
	for _, version := range []string{"3.1.3", "4.1.0"} {
		t.Run(version+" refusals", func(t *testing.T) { s.refusals(t, g, plain, version) })
	}
}

func newSecure(t *testing.T) *secure {
	s := &secure{log: &wiretest.Log{}, classes: map[string]string{}}
	s.kdc = krbtest.NewMIT(t, "1h", "alice", "bob", "hive/localhost", "hive/elsewhere")
	root, err := wiretest.Root()
	if err != nil {
		t.Fatal(err)
	}
	s.p = &peers{rig: filepath.Join(root, "testdata", "rig"), env: os.Environ()}
	dir := t.TempDir()
	for _, v := range []string{"3.1.3", "4.1.0"} {
		s.p.fetch(t, "hms/hms", "fetch", v)
		cp, err := s.p.command(t, time.Minute, "hms/hms", "cp", v)
		if err != nil {
			t.Fatalf("hms cp: %v\n%s", err, cp)
		}
		classes := filepath.Join(dir, v)
		s.classes[v] = classes + ":" + strings.TrimSpace(cp)
		out, err := exec.Command("javac", "-nowarn", "-proc:none", "-cp", strings.TrimSpace(cp), "-d", classes,
			filepath.Join(s.p.rig, "probe", "Secure.java")).CombinedOutput()
		if err != nil {
			t.Fatalf("javac %s: %v\n%s", v, err, out)
		}
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, s.port, _ = net.SplitHostPort(free.Addr().String())
	free.Close()
	hms := filepath.Join(dir, "hms")
	t.Cleanup(func() {
		if out, err := s.p.command(t, time.Minute, "hms/hms", "stop", "--dir", hms, "--clean"); err != nil {
			t.Errorf("hms stop: %v\n%s", err, out)
		}
	})
	if out, err := s.p.command(t, 5*time.Minute, "hms/hms", "start", "3.1.3", "--port", s.port, "--dir", hms, "--wait",
		"--while", fmt.Sprint(os.Getpid())); err != nil {
		t.Fatalf("hms start: %v\n%s", err, out)
	}
	return s
}

// gateway is a KERBEROS listener before the metastore.
func (s *secure) gateway(t *testing.T, more ...string) *gateway.Gateway {
	return s.start(t, append(more, "security.mode: KERBEROS", "security.server-principal: "+gatewayPrincipal,
		"security.server-keytab: "+s.kdc.KeytabPath("hive/localhost"))...)
}

func (s *secure) start(t *testing.T, more ...string) *gateway.Gateway {
	t.Helper()
	text := "listen: 127.0.0.1:0\nlog.calls: true\ncatalog.hms.uris: thrift://127.0.0.1:" + s.port + "\n" + strings.Join(more, "\n") + "\n"
	cfg, err := config.Parse("secure.yaml", config.YAML, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.New(cfg, zerolog.New(s.log), "test")
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return g
}

// probe runs the Java client; it returns its lines.
func (s *secure) probe(t *testing.T, g *gateway.Gateway, version string, args ...string) []string {
	t.Helper()
	addr := g.Addr().String()
	java := []string{"-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Djava.net.preferIPv4Stack=true",
		"-Djava.security.krb5.conf=" + s.kdc.Conf, "-Dlog4j2.level=OFF", "-Dorg.slf4j.simpleLogger.defaultLogLevel=off"}
	for _, m := range strings.Fields("lang lang.reflect io net nio util util.concurrent util.concurrent.atomic time") {
		java = append(java, "--add-opens=java.base/java."+m+"=ALL-UNNAMED")
	}
	java = append(java, "--add-exports=java.security.jgss/sun.security.krb5=ALL-UNNAMED", "--add-opens=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
		"-cp", s.classes[version], "Secure", "uri=thrift://localhost:"+addr[strings.LastIndexByte(addr, ':')+1:])
	cmd := exec.Command("java", append(java, args...)...)
	cmd.Env = s.kdc.Env()
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, _ := cmd.Output() // its lines tell
	var lines []string
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimSuffix(line, "\n"); strings.Count(line, "\t") == 2 {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		t.Fatalf("the Java client says nothing: %s\n%s", out, errs.String())
	}
	return lines
}

func (s *secure) login(user string, more ...string) []string {
	return append([]string{"as=" + user, "keytab=" + s.kdc.KeytabPath(user), "service=" + gatewayPrincipal, "renewer=hive/_HOST@" + krbtest.MITRealm}, more...)
}

func (s *secure) works(t *testing.T, g *gateway.Gateway, version, hadoop, qop string, more ...string) {
	said := len(s.log.String())
	got := s.probe(t, g, version, append(s.login("alice", "qop="+hadoop, "renewer=alice"), more...)...)
	want := []string{"connect\tok\talice@" + krbtest.MITRealm}
	for _, as := range []string{"login", "token"} {
		if as == "token" {
			want = append(want, "token\tok\tHIVE_DELEGATION_TOKEN service '' owner alice renewer alice realUser alice@"+krbtest.MITRealm, "token connect\tok\talice")
		}
		want = append(want, as+" databases\tok\t[default]", as+" create\tok\tsecure_"+as, as+" get\tok\tmade by a probe, 156000")
		want = append(want, as+" large call\terror\tUnknownDBException: Could not find database hive.nowhere_secure_"+as, as+" set_ugi\tok\t[g1, g2, mallory]", as+" drop\tok\tsecure_"+as)
	}
	want = append(want, "token for a token\terror\tMetaException: Delegation Token can be issued only with kerberos authentication",
		"token for another\terror\tMetaException: User: alice@"+krbtest.MITRealm+" is not allowed to impersonate bob",
		"renew\tok\t24 h", "cancel\tok\t", "cancelled connect\terror\tMetaException: Could not connect to meta store using any of the URIs provided. "+
			"Most recent failure: org.apache.thrift.transport.TTransportException: Peer indicated failure: authentication failed",
		"token close\tok\t", "close\tok\t")
	t.Log(strings.Join(got, "\n"))
	for i, w := range want {
		if i >= len(got) || !strings.HasPrefix(got[i], w) {
			t.Fatalf("line %d differs, want %q\n%s\nlog:\n%s", i+1, w, strings.Join(got, "\n"), tail(s.log.String()[said:]))
		}
	}
	log := s.log.String()[said:]
	for _, w := range []string{`"mechanism":"GSSAPI","protection":"` + qop + `","principal":"alice@GATE.TEST","user":"alice"`,
		`"mechanism":"DIGEST-MD5","protection":"` + qop + `"`} {
		if !strings.Contains(log, w) {
			t.Errorf("the log lacks %s", w)
		}
	}
}

// refusals are the rows of the README's table: what the client shows and what
// the log says.
func (s *secure) refusals(t *testing.T, g, plain *gateway.Gateway, version string) {
	for _, c := range []struct {
		name      string
		g         *gateway.Gateway
		args      []string
		step      string
		shows, is string
	}{
		{"unsecured on secure", g, []string{"as=alice", "steps=login"}, "databases", "error\t", "client without SASL on a listener that requires it"},
		{"secure on unsecured", plain, s.login("alice", "steps=login"), "connect", "error\t", "SASL client on a listener without SASL"},
		{"service of another", g, s.login("alice", "steps=login", "service=hive/elsewhere@"+krbtest.MITRealm), "connect",
			"Peer indicated failure: authentication failed", `"reason":"no-key"`},
		{"service nobody knows", g, s.login("alice", "steps=login", "service=hive/nowhere@"+krbtest.MITRealm), "connect",
			"GSS initiate failed", `"reason":"peer"`},
		{"no ticket", g, []string{"as=alice", "service=" + gatewayPrincipal, "steps=login"}, "connect", "GSS initiate failed", `"reason":"peer"`},
		{"unmapped name", g, s.login("bob", "steps=login"), "connect", "Peer indicated failure: authentication failed", `"reason":"name"`},
		{"no protection in common", g, s.login("alice", "steps=login", "qop=privacy"), "connect", "No common protection layer", "the client gave its login up"},
	} {
		if version != "3.1.3" && c.step == "connect" && c.g == g {
			continue // its words are the same
		}
		said := len(s.log.String())
		lines := s.probe(t, c.g, version, c.args...)
		last := lines[len(lines)-1]
		line := ""
		for l := range strings.Lines(s.log.String()[said:]) {
			if strings.Contains(l, c.is) {
				line = l
			}
		}
		t.Logf("%s:\n  %s\n  %s", c.name, last, line)
		if !strings.HasPrefix(last, c.step+"\t") || !strings.Contains(last, c.shows) || line == "" {
			t.Errorf("%s: got %q\nlog:\n%s", c.name, last, tail(s.log.String()[said:]))
		}
	}
}

func tail(s string) string { return s[max(0, len(s)-4000):] }
