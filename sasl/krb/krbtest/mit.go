package krbtest

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

// MITRealm is the usual name of an MIT KDC's realm.
const MITRealm = "GATE.TEST"

// Program finds an executable, or leaves the test out.
func Program(t testing.TB, name string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("SKIP: -short runs no program of others")
	}
	for _, dir := range []string{"", "/usr/sbin", "/usr/local/sbin"} {
		if p, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return p
		}
	}
	LeaveOut(t, name+" is not installed")
	return ""
}

// LeaveOut skips a test for want of a program of others; with CI=true it fails.
func LeaveOut(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s, and CI=true leaves nothing out", why)
	}
	t.Skip("SKIP: " + why)
}

// MIT is an MIT KDC in a folder of its own, on loopback, on free ports.
type MIT struct {
	t    testing.TB
	name string
	dir  string
	Conf string // krb5.conf
	Addr string
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

// NewMIT makes a realm and starts its KDC, or leaves the test out. life is the
// longest ticket's.
func NewMIT(t testing.TB, life string, principals ...string) *MIT {
	t.Helper()
	return NewMITRealm(t, MITRealm, life, principals...)
}

// NewMITRealm is NewMIT with another name of the realm.
func NewMITRealm(t testing.TB, name, life string, principals ...string) *MIT {
	t.Helper()
	Program(t, "krb5kdc")
	r := &MIT{t: t, name: name, dir: t.TempDir(), Addr: freeAddr(t)}
	r.Conf = filepath.Join(r.dir, "krb5.conf")
	r.File("krb5.conf", fmt.Sprintf(`[libdefaults]
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
`, name, r.Addr))
	r.File("kdc.conf", fmt.Sprintf(`[kdcdefaults]
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
`, name, r.Addr, r.dir, life))
	r.File("kadm5.acl", "")
	r.Run("kdb5_util", "create", "-s", "-r", name, "-P", "of this test only")
	for _, p := range principals {
		r.Kadmin("addprinc -randkey " + p)
		r.Keytab(p)
	}
	r.Start()
	t.Cleanup(r.Stop)
	return r
}

// File writes a file of the realm.
func (r *MIT) File(name, text string) {
	if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// Env is the environment of programs of the realm.
func (r *MIT) Env() []string {
	return append(os.Environ(), "KRB5_CONFIG="+r.Conf, "KRB5_KDC_PROFILE="+filepath.Join(r.dir, "kdc.conf"),
		"KRB5CCNAME=FILE:"+filepath.Join(r.dir, "cc"))
}

// Run runs a program and returns what it says.
func (r *MIT) Run(name string, args ...string) string {
	r.t.Helper()
	cmd := exec.Command(Program(r.t, name), args...)
	cmd.Env = r.Env()
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// Kadmin runs a query of kadmin.local.
func (r *MIT) Kadmin(query string) {
	r.t.Helper()
	r.Run("kadmin.local", "-r", r.name, "-q", query)
}

// Keytab writes the principal's present keys to a file of its own, anew.
func (r *MIT) Keytab(principal string) string {
	r.t.Helper()
	path := r.KeytabPath(principal)
	fresh := path + ".new"
	r.Kadmin("ktadd -norandkey -k " + fresh + " " + principal)
	if err := os.Rename(fresh, path); err != nil {
		r.t.Fatal(err)
	}
	return path
}

// KeytabPath is where a principal's keytab is.
func (r *MIT) KeytabPath(principal string) string {
	return filepath.Join(r.dir, string(bytes.ReplaceAll([]byte(principal), []byte("/"), []byte(".")))+".keytab")
}

// Start starts the KDC and waits until it takes connections.
func (r *MIT) Start() {
	r.t.Helper()
	cmd := exec.Command(Program(r.t, "krb5kdc"), "-n", "-r", r.name)
	cmd.Env = r.Env()
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.cmd = cmd
	WaitFor(r.t, "the KDC", func() bool {
		c, err := net.Dial("tcp", r.Addr)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
}

// Stop ends the KDC.
func (r *MIT) Stop() {
	if r.cmd != nil {
		_ = r.cmd.Process.Kill()
		_ = r.cmd.Wait()
		r.cmd = nil
	}
}

// WaitFor asks until it is so, for half a minute.
func WaitFor(t testing.TB, what string, is func() bool) {
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

// Read reads a file of the realm.
func (r *MIT) Read(name string) string {
	b, err := os.ReadFile(filepath.Join(r.dir, name))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(b)
}

// Only is the same realm for clients that take one enctype.
func (r *MIT) Only(etype string) *MIT {
	set := "[libdefaults]\n"
	for _, what := range []string{"default_tkt_enctypes", "default_tgs_enctypes", "permitted_enctypes"} {
		set += " " + what + " = " + etype + "\n"
	}
	r.File(etype+".conf", strings.Replace(r.Read("krb5.conf"), "[libdefaults]\n", set, 1))
	other := *r
	other.Conf = filepath.Join(r.dir, etype+".conf")
	return &other
}
