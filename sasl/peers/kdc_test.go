package peers

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
)

const realmName = "GATE.TEST"

// program finds an executable, or leaves the test out.
func program(t testing.TB, name string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("SKIP: -short runs no program of others")
	}
	for _, dir := range []string{"", "/usr/sbin", "/usr/local/sbin"} {
		if p, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return p
		}
	}
	leaveOut(t, name+" is not installed")
	return ""
}

func leaveOut(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s, and CI=true leaves nothing out", why)
	}
	t.Skip("SKIP: " + why)
}

// realm is an MIT KDC of our own.
type realm struct {
	t    testing.TB
	name string
	dir  string
	conf string // krb5.conf
	addr string
	cmd  *exec.Cmd
}

func freeAddr(t testing.TB) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// newRealm makes a realm and starts its KDC. life is the longest ticket's.
func newRealm(t testing.TB, life string, principals ...string) *realm {
	t.Helper()
	return newNamedRealm(t, realmName, life, principals...)
}

func newNamedRealm(t testing.TB, name, life string, principals ...string) *realm {
	t.Helper()
	program(t, "krb5kdc")
	r := &realm{t: t, name: name, dir: t.TempDir(), addr: freeAddr(t)}
	r.conf = filepath.Join(r.dir, "krb5.conf")
	r.file("krb5.conf", fmt.Sprintf(`[libdefaults]
 default_realm = %[1]s
 dns_lookup_realm = false
 dns_lookup_kdc = false
 dns_canonicalize_hostname = false
 rdns = false
 udp_preference_limit = 1
[realms]
 %[1]s = {
  kdc = 127.0.0.1:1
  kdc = %[2]s
 }
[domain_realm]
 localhost = %[1]s
`, name, r.addr))
	r.file("kdc.conf", fmt.Sprintf(`[kdcdefaults]
 kdc_listen = %[2]s
 kdc_tcp_listen = %[2]s
[realms]
 %[1]s = {
  database_name = %[3]s/principal
  key_stash_file = %[3]s/stash
  acl_file = %[3]s/kadm5.acl
  max_life = %[4]s
  supported_enctypes = aes256-cts-hmac-sha384-192:normal aes128-cts-hmac-sha256-128:normal aes256-cts-hmac-sha1-96:normal aes128-cts-hmac-sha1-96:normal
 }
[logging]
 kdc = FILE:%[3]s/kdc.log
`, name, r.addr, r.dir, life))
	r.file("kadm5.acl", "")
	r.run("kdb5_util", "create", "-s", "-r", name, "-P", "of this test only")
	for _, p := range principals {
		r.kadmin("addprinc -randkey " + p)
		r.keytab(p)
	}
	r.start()
	t.Cleanup(r.stop)
	return r
}

func (r *realm) file(name, text string) {
	if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

func (r *realm) env() []string {
	return append(os.Environ(), "KRB5_CONFIG="+r.conf, "KRB5_KDC_PROFILE="+filepath.Join(r.dir, "kdc.conf"),
		"KRB5CCNAME=FILE:"+filepath.Join(r.dir, "cc"))
}

func (r *realm) run(name string, args ...string) string {
	r.t.Helper()
	cmd := exec.Command(program(r.t, name), args...)
	cmd.Env = r.env()
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}

func (r *realm) kadmin(query string) {
	r.t.Helper()
	r.run("kadmin.local", "-r", r.name, "-q", query)
}

// keytab writes the principal's present keys to a file of its own, anew.
func (r *realm) keytab(principal string) string {
	r.t.Helper()
	path := r.keytabPath(principal)
	fresh := path + ".new"
	r.kadmin("ktadd -norandkey -k " + fresh + " " + principal)
	if err := os.Rename(fresh, path); err != nil {
		r.t.Fatal(err)
	}
	return path
}

func (r *realm) keytabPath(principal string) string {
	return filepath.Join(r.dir, string(bytes.ReplaceAll([]byte(principal), []byte("/"), []byte(".")))+".keytab")
}

// start starts the KDC and waits until it takes connections.
func (r *realm) start() {
	r.t.Helper()
	cmd := exec.Command(program(r.t, "krb5kdc"), "-n", "-r", r.name)
	cmd.Env = r.env()
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.cmd = cmd
	waitFor(r.t, "the KDC", func() bool {
		c, err := net.Dial("tcp", r.addr)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
}

func (r *realm) stop() {
	if r.cmd != nil {
		_ = r.cmd.Process.Kill()
		_ = r.cmd.Wait()
		r.cmd = nil
	}
}

// waitFor asks until it is so, for half a minute.
func waitFor(t testing.TB, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	end := time.After(30 * time.Second)
	for !is() {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("%s: not within 30 seconds", what)
		}
	}
}

func (r *realm) read(name string) string {
	b, err := os.ReadFile(filepath.Join(r.dir, name))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(b)
}

// only is the same realm for clients that take one enctype.
func (r *realm) only(etype string) *realm {
	set := "[libdefaults]\n"
	for _, what := range []string{"default_tkt_enctypes", "default_tgs_enctypes", "permitted_enctypes"} {
		set += " " + what + " = " + etype + "\n"
	}
	r.file(etype+".conf", strings.Replace(r.read("krb5.conf"), "[libdefaults]\n", set, 1))
	other := *r
	other.conf = filepath.Join(r.dir, etype+".conf")
	return &other
}
