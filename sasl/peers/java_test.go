package peers

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"hmsgate/sasl"
	"hmsgate/sasl/digest"
	"hmsgate/sasl/krb"
	"hmsgate/sasl/krb/krbtest"
)

// java is the compiled Java peer.
type java struct{ path, classes string }

func newJava(t testing.TB) java {
	krbtest.Program(t, "java")
	krbtest.Program(t, "javac")
	jars := []string{}
	for _, names := range [][]string{{"thrift.jar", "libthrift.jar"}, {"slf4j-api.jar"}} {
		found := ""
		for _, n := range names {
			if p := filepath.Join("/usr/share/java", n); found == "" {
				if _, err := os.Stat(p); err == nil {
					found = p
				}
			}
		}
		if found == "" {
			krbtest.LeaveOut(t, "no "+names[0]+" (libthrift-java, libslf4j-java)")
		}
		jars = append(jars, found)
	}
	dir := t.TempDir()
	j := java{path: strings.Join(append(jars, dir), ":"), classes: dir}
	out, err := exec.Command("javac", "-nowarn", "-cp", j.path, "-d", dir, "testdata/SaslPeer.java").CombinedOutput()
	if err != nil {
		t.Fatalf("javac: %v\n%s", err, out)
	}
	return j
}

func (j java) command(r *krbtest.MIT, args ...string) *exec.Cmd {
	a := []string{"-cp", j.path, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Djava.security.krb5.conf=" + r.Conf, "SaslPeer"}
	cmd := exec.Command("java", append(a, args...)...)
	cmd.Env = r.Env()
	return cmd
}

// server starts the Java peer as a server and returns its address.
func (j java) server(t testing.TB, r *krbtest.MIT, qops string) string {
	cmd := j.command(r, "server", qops, r.KeytabPath(service), service+"@"+krbtest.MITRealm, digestFor, secretOf)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if port, ok := strings.CutPrefix(lines.Text(), "PORT "); ok {
			return "127.0.0.1:" + port
		}
	}
	_ = cmd.Wait()
	t.Fatalf("the Java server did not start:\n%s", log.String())
	return ""
}

func (j java) client(t testing.TB, r *krbtest.MIT, args ...string) string {
	out, err := j.command(r, append([]string{"client"}, args...)...).Output()
	if err != nil {
		t.Fatalf("Java client %q: %v\n%s", args, err, out)
	}
	return string(out)
}

var qops = []sasl.QOP{sasl.Auth, sasl.AuthInt, sasl.AuthConf}

// The JDK's client in front of us: each mechanism and protection, small calls,
// a big one in a single token, and what it sees when it is refused.
func TestJavaClient(t *testing.T) {
	j := newJava(t)
	r := krbtest.NewMIT(t, "1h", service, "alice", "hive/elsewhere")
	e := newEcho(t, r, sasl.Auth|sasl.AuthInt|sasl.AuthConf)
	port := e.addr[strings.LastIndexByte(e.addr, ':')+1:]
	gss := func(qop, host string) []string {
		return []string{"GSSAPI", port, qop, "alice@" + krbtest.MITRealm, r.KeytabPath("alice"), "hive", host, "3", "100000", "1000000", "5"}
	}
	var rows []struct {
		args []string
		want string
	}
	row := func(args []string, mech, who, qop string) {
		want := "OPEN " + qop
		for i := 8; i < 12; i++ {
			want += fmt.Sprintf("\nREPLY %d %s %s %s true", i, mech, who, qop)
		}
		rows = append(rows, struct {
			args []string
			want string
		}{args, want})
	}
	for _, q := range qops {
		row(gss(q.String(), "localhost"), "GSSAPI", "alice@"+krbtest.MITRealm, q.String())
		row([]string{"DIGEST-MD5", port, q.String(), digestFor, secretOf, "-", "-", "3", "100000", "1000000", "5"}, "DIGEST-MD5", digestFor, q.String())
	}
	rows = append(rows,
		struct {
			args []string
			want string
		}{[]string{"PLAIN", port, "auth", digestFor, secretOf, "-", "-", "3"}, "OPEN auth\nREPLY 8 PLAIN " + digestFor + " auth true"},
		struct {
			args []string
			want string
		}{[]string{"DIGEST-MD5", port, "auth", digestFor, "wrong", "-", "-", "3"},
			"FAILED org.apache.thrift.transport.TTransportException: Peer indicated failure: authentication failed"},
		struct {
			args []string
			want string
		}{gss("auth", "elsewhere"),
			"FAILED org.apache.thrift.transport.TTransportException: Peer indicated failure: authentication failed"})
	realms := make([]*krbtest.MIT, len(rows)) // a krb5.conf for each
	for i := range rows {
		realms[i] = r
	}
	for _, etype := range etypes[1:] {
		realms = append(realms, r.Only(etype))
		row(gss("auth-conf", "localhost"), "GSSAPI", "alice@"+krbtest.MITRealm, "auth-conf")
	}
	var wg sync.WaitGroup
	slots := make(chan struct{}, 2)
	for i, c := range rows {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if got := strings.TrimSpace(j.client(t, realms[i], c.args...)); got != c.want {
				t.Errorf("%q: got\n%s\nwant\n%s\nserver: %v", c.args[:3], got, c.want, e.failures())
			}
		})
	}
	wg.Wait()
	t.Logf("%d runs of the JDK's client", len(rows))
}

// Us in front of the JDK's server.
func TestJavaServer(t *testing.T) {
	j := newJava(t)
	r := krbtest.NewMIT(t, "1h", service, "alice")
	addr := j.server(t, r, "auth,auth-int,auth-conf")
	login := newLogin(t, r, "alice")
	for _, q := range qops {
		list := []sasl.QOP{q}
		for who, m := range map[string]sasl.ClientMechanism{
			"GSSAPI alice@" + krbtest.MITRealm: &krb.Initiator{Login: login, Service: "hive", Host: "localhost", QOP: list},
			"DIGEST-MD5 " + digestFor:          &digest.Login{User: digestFor, Password: secretOf, QOP: list},
		} {
			got, err := call(t, addr, m, 3, 100000, 1000000, 5)
			if err != nil || len(got) != 4 || got[3] != who+" "+q.String() {
				t.Errorf("%s %v: got %q, %v", who, q, got, err)
			}
		}
	}
	rc4 := &digest.Login{User: digestFor, Password: secretOf, QOP: []sasl.QOP{sasl.AuthConf}, Ciphers: []string{"rc4"}}
	if got, err := call(t, addr, rc4, 3, 100000, 5); err != nil || len(got) != 3 {
		t.Errorf("rc4: got %q, %v", got, err)
	}
	if _, err := call(t, addr, &digest.Login{User: digestFor, Password: "wrong"}, 3); sasl.ReasonOf(err) != sasl.PeerFailed {
		t.Errorf("wrong password: got %v", err)
	}
}

func newLogin(t testing.TB, r *krbtest.MIT, principal string) *krb.Login {
	kt, err := krb.OpenKeytab(r.KeytabPath(principal))
	if err != nil {
		t.Fatal(err)
	}
	l, err := krb.NewLogin(r.Conf, principal+"@"+krbtest.MITRealm, kt)
	if err != nil {
		t.Fatal(err)
	}
	return l
}
