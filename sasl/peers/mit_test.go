package peers

import (
	"bufio"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"hmsgate/sasl"
	"hmsgate/sasl/krb"
	"hmsgate/sasl/krb/krbtest"
)

// python finds one that has MIT's library. Debian's package belongs to
// Debian's own Python.
func python(t testing.TB) string {
	krbtest.Program(t, "krb5kdc")
	for _, p := range []string{"/usr/bin/python3", "python3"} {
		if exec.Command(p, "-c", "import gssapi; gssapi.SecurityContext").Run() == nil {
			return p
		}
	}
	krbtest.LeaveOut(t, "no Python with gssapi (python3-gssapi)")
	return ""
}

// MIT's library as client, with keys of each enctype; with forwarded
// credentials too.
func TestMITClient(t *testing.T) {
	py := python(t)
	r := krbtest.NewMIT(t, "1h", service, "alice")
	e := newEcho(t, r, sasl.Auth|sasl.AuthInt|sasl.AuthConf)
	port := e.addr[strings.LastIndexByte(e.addr, ':')+1:]
	for _, etype := range etypes {
		as := r.Only(etype)
		as.Run("kinit", "-f", "-k", "-t", r.KeytabPath("alice"), "alice")
		for _, q := range qops {
			args := []string{"testdata/mit.py", "client", port, "hive@localhost", fmt.Sprint(int(q))}
			if q == sasl.AuthInt {
				args = append(args, "deleg")
			}
			cmd := exec.Command(py, args...)
			cmd.Env = as.Env()
			out, err := cmd.CombinedOutput()
			want := ""
			for _, n := range []int{3, 100000, 7} {
				want += fmt.Sprintf("REPLY GSSAPI alice@%s %v %d\n", krbtest.MITRealm, q, n)
			}
			if want += "OFFER 7\n"; err != nil || string(out) != want {
				t.Errorf("%s %v: %v, got\n%s\nwant\n%s\nserver: %v", etype, q, err, out, want, e.failures())
			}
		}
	}
}

// MIT's library as server: it asserts a subkey of its own.
func TestMITServer(t *testing.T) {
	py := python(t)
	r := krbtest.NewMIT(t, "1h", service, "alice")
	login := newLogin(t, r, "alice")
	for _, q := range qops {
		cmd := exec.Command(py, "testdata/mit.py", "server", "7")
		cmd.Env = append(r.Env(), "KRB5_KTNAME=FILE:"+r.KeytabPath(service))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		var log strings.Builder
		cmd.Stderr = &log
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		lines.Scan()
		addr := "127.0.0.1:" + strings.TrimPrefix(lines.Text(), "PORT ")
		m := &krb.Initiator{Login: login, Service: "hive", Host: "localhost", QOP: []sasl.QOP{q}}
		got, err := call(t, addr, m, 3, 100000, 7)
		if err != nil || len(got) != 3 || got[2] != fmt.Sprintf("GSSAPI alice@%s %v", krbtest.MITRealm, q) {
			t.Errorf("%v: got %q, %v", q, got, err)
			_ = cmd.Process.Kill()
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: the MIT server: %v\n%s", q, err, log.String())
		}
	}
}
