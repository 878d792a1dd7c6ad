package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hmsgate/internal/wiretest"
)

// What a real-peer test may take. Each prints what it compared; the limits are
// for a machine of two cores that does other things too.
const (
	fetchLimit = 10 * time.Minute // a cold cache: about 1.5 GB
	runLimit   = 8 * time.Minute
)

// realPeerNeeds is what testdata/rig needs in PATH.
var realPeerNeeds = []string{"java", "javac", "mvn", "python3", "flock", "bash"}

// TestRealPeers runs published clients at published metastores, directly and
// through the gateway, and wants the same lines (testdata/rig/README.md).
// Without Java or Maven each part is left out with its reason; CI=true makes
// that a failure.
func TestRealPeers(t *testing.T) {
	missing := missingTools()
	if testing.Short() {
		missing = "-short"
	}
	if missing != "" {
		for _, part := range []string{"HiveClient", "PyIceberg", "PySpark", "HiveServer2", "Kerberos"} {
			t.Run(part, func(t *testing.T) { leaveOut(t, missing) })
		}
		return
	}
	p := newPeers(t)

	// Two pairs of servers for the probe and one for the Python clients, so
	// that what runs side by side never shares a metastore.
	t.Run("side by side", func(t *testing.T) {
		t.Run("Hive 3.1.3", func(t *testing.T) { t.Parallel(); p.hive(t, "3.1.3") })
		t.Run("Hive 4.1.0", func(t *testing.T) { t.Parallel(); p.hive(t, "4.1.0") })
		t.Run("Python", func(t *testing.T) { t.Parallel(); p.python(t) })
	})
	// Both client versions at the same time on one port, each way round.
	for _, versions := range []string{"3.1.3,4.1.0", "4.1.0,3.1.3"} {
		p.run(t, "both versions on one port, default "+versions[:5], "diff", "--front", "mix",
			"--client", versions, "--backend", versions, "--skip", "txn,lock", "--servers", p.hiveServers)
	}
	t.Run("HiveServer2", p.hiveServer2)
	t.Run("Kerberos", p.kerberos)
}

// kerberos runs the probe at metastores with Kerberos, each with another
// protection.
func (p *peers) kerberos(t *testing.T) {
	if _, err := exec.LookPath("/usr/sbin/krb5kdc"); err != nil {
		if _, err := exec.LookPath("krb5kdc"); err != nil {
			leaveOut(t, "krb5kdc is not installed")
		}
	}
	p.run(t, "3.1.3", "kerberos", "--version", "3.1.3", "--protection", "authentication")
	p.run(t, "4.1.0", "kerberos", "--version", "4.1.0", "--protection", "privacy")
}

// peers is what all real-peer tests share.
type peers struct {
	rig           string
	env           []string
	hiveServers   string // folders of testdata/rig/up
	pythonServers string
}

func newPeers(t *testing.T) *peers {
	root, err := wiretest.Root()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	p := &peers{
		rig:           filepath.Join(root, "testdata", "rig"),
		env:           append(os.Environ(), "HMSGATE_BIN="+filepath.Join(dir, "hmsgate"), "HMSGATE_WITH_PARENT=1"),
		hiveServers:   filepath.Join(dir, "hive"),
		pythonServers: filepath.Join(dir, "python"),
	}
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "hmsgate"), "./cmd/hmsgate")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	// What cannot be had from the registries is a reason to leave out, as a
	// missing tool is; what was had and does not work is a failure.
	for _, c := range [][]string{{"hms/hms", "fetch", "3.1.3"}, {"hms/hms", "fetch", "4.1.0"},
		{"probe/probe", "build", "3.1.3"}, {"probe/probe", "build", "4.1.0"}} {
		p.fetch(t, c...)
	}
	keeper := fmt.Sprint(os.Getpid())
	for _, up := range [][]string{{p.hiveServers, "3.1.3", "4.1.0"}, {p.pythonServers, "3.1.3"}} {
		t.Cleanup(func() {
			if out, err := p.command(t, time.Minute, "down", "--dir", up[0]); err != nil {
				t.Errorf("down: %v\n%s", err, out)
			}
		})
		args := append([]string{"--dir", up[0], "--while", keeper}, up[1:]...)
		if out, err := p.command(t, runLimit, "up", args...); err != nil {
			t.Fatalf("up: %v\n%s", err, out)
		}
	}
	return p
}

// fetch runs a script that fills the cache.
func (p *peers) fetch(t *testing.T, c ...string) {
	t.Helper()
	if out, err := p.command(t, fetchLimit, c[0], c[1:]...); err != nil {
		leaveOut(t, fmt.Sprintf("testdata/rig/%s: %v: %s", strings.Join(c, " "), err, lastLine(out)))
	}
}

// hive runs Hive's own client of one version at metastores of that version.
func (p *peers) hive(t *testing.T, version string) {
	// fewer lines than a direct run has would mean that a part was not compared
	least := map[string][2]string{"3.1.3": {"439,351", "439,334"}, "4.1.0": {"482,403", "482,380"}}[version]
	for _, transport := range []string{"raw", "framed"} {
		args := []string{"--client", version, "--backend", version, "--servers", p.hiveServers, "--transport", transport}
		p.run(t, transport+" default", "diff", append(args, "--catalog", "default", "--least", least[0])...)
		p.run(t, transport+" apache", "diff", append(args, "--catalog", "apache", "--least", least[1])...)
	}
	// framed to the metastore too: servers of its own, and the groups that move the most kinds of values
	p.run(t, "framed both sides", "diff", "--client", version, "--backend", version, "--catalog", "apache",
		"--transport", "framed", "--backend-transport", "framed", "--only", "meta,db,table,part,stats", "--least", "120,90")
}

// python runs locks and two writers of a table, PyIceberg and PySpark in both
// catalogs, and a join across them. The locks come first: they want to see that
// none are left.
func (p *peers) python(t *testing.T) {
	p.fetch(t, "clients/run", "fetch")
	p.run(t, "locks and writers", "locks", "--backend", "3.1.3", "--servers", p.pythonServers)
	p.fetch(t, "zookeeper", "fetch")
	p.run(t, "locks and writers at two instances", "locks", "--backend", "3.1.3", "--instances", "2", "--servers", p.pythonServers)
	for _, catalog := range []string{"default", "apache"} {
		p.run(t, "PyIceberg "+catalog, "pydiff", "--client", "pyiceberg", "--backend", "3.1.3",
			"--catalog", catalog, "--servers", p.pythonServers, "--least", "44,34")
	}
	for _, catalog := range []string{"default", "apache"} {
		p.run(t, "PySpark "+catalog, "pydiff", "--client", "spark35", "--backend", "3.1.3",
			"--catalog", catalog, "--servers", p.pythonServers, "--least", "82,74")
	}
	p.run(t, "PySpark join across both", "pydiff", "--client", "spark35", "--backend", "3.1.3",
		"--catalog", "both", "--servers", p.pythonServers)
}

// hiveServer2 runs its statements over both generations, where partition
// expressions must not pass, and with transactions that read another catalog,
// the transactional tables of which are written around the gateway.
func (p *peers) hiveServer2(t *testing.T) {
	p.fetch(t, "clients/run", "fetch", "hs2-3.1.3")
	p.run(t, "3.1.3 at 4.1.0", "pydiff", "--client", "hs2-3.1.3", "--backend", "3.1.3,4.1.0", "--cross",
		"--catalog", "apache", "--servers", p.hiveServers, "--least", "132,118",
		"--logged", "get_partitions_by_expr.*a partition expression of another Hive generation")
	p.run(t, "3.1.3 with transactions", "pydiff", "--client", "hs2-3.1.3-txn", "--backend", "3.1.3",
		"--catalog", "apache", "--servers", p.hiveServers, "--least", "150,138", "--set", "gateway.instances=1")
}

// run is one comparison as a subtest; it logs what was compared.
func (p *peers) run(t *testing.T, name, script string, args ...string) {
	t.Run(name, func(t *testing.T) {
		start := time.Now()
		out, err := p.command(t, runLimit, script, args...)
		if err != nil {
			t.Errorf("%s %s: %v\n%s", script, strings.Join(args, " "), err, out)
			return
		}
		t.Logf("%s (%.0f s)", strings.TrimSpace(out), time.Since(start).Seconds())
	})
}

// command runs a script of testdata/rig and returns all it printed. At the
// limit it is asked to end, so that it stops what it started.
func (p *peers) command(t *testing.T, limit time.Duration, script string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	c := exec.CommandContext(ctx, filepath.Join(p.rig, filepath.FromSlash(script)), args...)
	c.Env = p.env
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = 30 * time.Second
	// a file, not a pipe: a server started by the script would keep a pipe open
	out, err := os.CreateTemp("", "hmsgate-peers")
	if err != nil {
		return "", err
	}
	defer os.Remove(out.Name())
	defer out.Close()
	c.Stdout, c.Stderr = out, out
	err = c.Run()
	if ctx.Err() != nil {
		err = fmt.Errorf("not done after %v", limit)
	}
	b, readErr := os.ReadFile(out.Name())
	if readErr != nil {
		return "", readErr
	}
	return string(b), err
}

// missingTools says what of realPeerNeeds is not there, empty for nothing.
func missingTools() string {
	var missing []string
	for _, tool := range realPeerNeeds {
		if _, err := exec.LookPath(tool); err != nil {
			missing = append(missing, tool)
		}
	}
	if len(missing) == 0 {
		return ""
	}
	return strings.Join(missing, ", ") + " not in PATH"
}

// leaveOut skips with a reason; where CI=true nothing may be left out.
func leaveOut(t *testing.T, reason string) {
	t.Helper()
	if os.Getenv("CI") == "true" && !testing.Short() {
		t.Fatalf("CI=true and the real peers cannot run: %s", reason)
	}
	t.Skipf("real peers: %s", reason)
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}
