package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A fleet is the processes of one run. Each has a file of its own for what it says.
type fleet struct {
	dir   string
	procs []*exec.Cmd
}

const haproxyConfig = `global
  maxconn 9000
  nbthread 2
defaults
  mode tcp
  timeout connect 5s
  timeout client 300s
  timeout server 300s
listen metastore
  bind %s
  server s %s
`

// Two catalogs on one backend: under the bare name nothing is renamed, under the other everything is.
const gatewayConfig = `listen: %s
admin: %s
routing.default-catalog: hdp
catalog:
  hdp:    {uris: thrift://%s}
  apache: {uris: thrift://%[3]s}
`

const renamed = "apache__" + dataDB

func (f *fleet) start(name string, args ...string) (*exec.Cmd, error) {
	log, err := os.Create(filepath.Join(f.dir, filepath.Base(name)+fmt.Sprint(len(f.procs))+".log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(name, args...)
	cmd.Stderr = log
	cmd.Stdout = log
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	f.procs = append(f.procs, cmd)
	return cmd, nil
}

// self starts one of this program's own servers on a free port.
func (f *fleet) self(args ...string) (addr string, pid int, err error) {
	exe, err := os.Executable()
	if err != nil {
		return "", 0, err
	}
	cmd := exec.Command(exe, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return "", 0, err
	}
	f.procs = append(f.procs, cmd)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return "", 0, fmt.Errorf("%s: said no address: %w", args[0], err)
	}
	return strings.TrimSpace(line), cmd.Process.Pid, nil
}

// haproxy starts HAProxy with two threads in TCP mode; ok is false where it is not installed.
func (f *fleet) haproxy(backend string) (t target, ok bool, err error) {
	exe, err := exec.LookPath("haproxy")
	if err != nil {
		return t, false, nil
	}
	addr, err := freeAddr()
	if err != nil {
		return t, false, err
	}
	file := filepath.Join(f.dir, "haproxy.cfg")
	if err := os.WriteFile(file, fmt.Appendf(nil, haproxyConfig, addr, backend), 0o644); err != nil {
		return t, false, err
	}
	cmd, err := f.start(exe, "-f", file, "-db")
	if err != nil {
		return t, false, err
	}
	return target{name: "HAProxy", addr: addr, db: dataDB, pid: cmd.Process.Pid}, true, listening(addr)
}

// gateway starts the gateway on two catalogs.
func (f *fleet) gateway(exe, backend string) (addr string, pid int, err error) {
	var free [2]string
	for i := range free {
		if free[i], err = freeAddr(); err != nil {
			return "", 0, err
		}
	}
	file := filepath.Join(f.dir, fmt.Sprintf("two%d.yaml", len(f.procs)))
	if err := os.WriteFile(file, fmt.Appendf(nil, gatewayConfig, free[0], free[1], backend), 0o644); err != nil {
		return "", 0, err
	}
	cmd, err := f.start(exe, "serve", "-c", file)
	if err != nil {
		return "", 0, err
	}
	if err := listening(free[0]); err != nil {
		said, _ := filepath.Glob(filepath.Join(f.dir, filepath.Base(exe)+"*.log"))
		for _, p := range said {
			b, _ := os.ReadFile(p)
			err = fmt.Errorf("%w\n%s", err, b)
		}
		return "", 0, err
	}
	return free[0], cmd.Process.Pid, nil
}

// stop ends all processes of the run.
func (f *fleet) stop() {
	for _, p := range f.procs {
		_ = p.Process.Kill()
		_ = p.Wait()
	}
	f.procs = nil
}

func (f *fleet) pids() (ps []int) {
	for _, p := range f.procs {
		ps = append(ps, p.Process.Pid)
	}
	return ps
}

// spin keeps the cores awake until the returned function is called.
func (f *fleet) spin() func() {
	exe, err := os.Executable()
	if err != nil {
		return func() {}
	}
	cmd := exec.Command(exe, "spin")
	if cmd.Start() != nil {
		return func() {}
	}
	f.procs = append(f.procs, cmd)
	return func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		f.procs = f.procs[:len(f.procs)-1]
	}
}

func freeAddr() (string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer ln.Close()
	return ln.Addr().String(), nil
}

func listening(addr string) error {
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			return c.Close()
		}
		if time.Now().After(end) {
			return fmt.Errorf("nothing listens after 10 s: %w", err)
		}
	}
}

// targetsOf starts everything that is to be compared. What is not installed is named in left.
func (f *fleet) targetsOf(gateway string, log io.Writer) (ts []target, left []string, err error) {
	backend, _, err := f.self("backend", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	ts = append(ts, target{name: "direct", addr: backend, db: dataDB})
	h, ok, err := f.haproxy(backend)
	switch {
	case err != nil:
		return nil, nil, err
	case ok:
		ts = append(ts, h)
	default:
		left = append(left, "HAProxy is not installed: no ratio to it")
	}
	pipe, pipePID, err := f.self("pipe", "127.0.0.1:0", backend)
	if err != nil {
		return nil, nil, err
	}
	ts = append(ts, target{name: "io.Copy", addr: pipe, db: dataDB, pid: pipePID})
	if gateway != "" {
		gs, err := f.gateways(gateway, backend)
		if err != nil {
			return nil, nil, err
		}
		ts = append(ts, gs...)
	}
	codec, codecPID, err := f.self("codec", "127.0.0.1:0", backend, renamed, dataDB)
	if err != nil {
		return nil, nil, err
	}
	ts = append(ts, target{name: decoding, addr: codec, db: renamed, pid: codecPID})
	for _, t := range ts {
		fmt.Fprintf(log, "%-22s pid %d\n", t.name, t.pid)
	}
	return ts, left, nil
}

// gateways starts one process for the raw rows and one for the framed: messages that are held whole leave a heap
// behind that would be the other rows' memory.
func (f *fleet) gateways(exe, backend string) ([]target, error) {
	var ts []target
	for _, group := range [][]target{
		{{name: plain, db: dataDB}, {name: renaming, db: renamed}},
		{{name: framed, db: renamed, framed: true}},
	} {
		addr, pid, err := f.gateway(exe, backend)
		if err != nil {
			return nil, fmt.Errorf("gateway %s: %w", exe, err)
		}
		for _, t := range group {
			t.addr, t.pid = addr, pid
			ts = append(ts, t)
		}
	}
	return ts, nil
}

// renew puts fresh gateways in the place of the targets that have served for a while.
func (f *fleet) renew(exe string, ts []target) error {
	fresh, err := f.gateways(exe, ts[0].addr)
	if err != nil {
		return err
	}
	for i := range ts {
		for _, n := range fresh {
			if ts[i].name == n.name {
				ts[i] = n
			}
		}
	}
	return nil
}

// Names of rows.
const (
	plain    = "hmsgate, bare names"
	renaming = "hmsgate, renaming"
	framed   = "hmsgate, renaming, framed"
	decoding = "decode + encode"
)
