package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// A run is everything that "bench all" found out.
type run struct {
	when    time.Time
	left    []string // what could not be measured, and why
	cells   []cell
	hauls   []haul
	crowds  []crowd
	rushes  map[string][]rush
	targets []target
	walk    strings.Builder // its table, printed
}

const idleClients = 2000

// all measures everything against a gateway and writes the table.
func all(args []string) error {
	fs := flag.NewFlagSet("all", flag.ExitOnError)
	gateway := fs.String("gateway", "", "the hmsgate program; without it only the baselines are measured")
	out := fs.String("out", "", "Markdown file to write; standard output when empty")
	rounds := fs.Int("rounds", 3, "turns of each target in each row")
	dur := fs.Duration("dur", 800*time.Millisecond, "of one turn")
	if err := fs.Parse(args); err != nil {
		return err
	}
	raiseFileLimit()
	dir, err := os.MkdirTemp("", "hmsgate-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	f := &fleet{dir: dir}
	defer f.stop()

	r := run{when: time.Now(), rushes: map[string][]rush{}}
	if r.targets, r.left, err = f.targetsOf(*gateway, os.Stderr); err != nil {
		return err
	}
	m := &matrix{targets: r.targets, conns: []int{1, 16, 64}, rounds: *rounds, dur: *dur, ours: f.pids,
		base: []string{"HAProxy", "io.Copy", decoding}, log: os.Stderr, awake: f.spin}
	r.cells = m.run(loads)
	if *gateway != "" {
		if err := f.renew(*gateway, r.targets); err != nil {
			return err
		}
	}
	r.rest(*rounds, *dur, os.Stderr)
	f.stop()
	fmt.Fprintln(os.Stderr, "in memory")
	if err := walkTable(&r.walk, *dur/2); err != nil {
		return err
	}

	w := io.Writer(os.Stdout)
	if *out != "" {
		file, err := os.Create(*out)
		if err != nil {
			return err
		}
		defer file.Close()
		w = file
	}
	_, err = io.WriteString(w, r.markdown())
	return err
}

// rest is what is no matrix: the long reply, idle clients, short connections.
func (r *run) rest(rounds int, dur time.Duration, log io.Writer) {
	for round := range rounds {
		for _, t := range r.targets {
			if t.framed || t.name == plain {
				continue
			}
			fmt.Fprintf(log, "connect + call + close: %s\n", t.name)
			if round == 0 {
				_ = warm(t) // a failure shows in what follows
				short(t, 16, dur/2)
			}
			r.rushes[t.name] = append(r.rushes[t.name], short(t, 16, dur))
		}
	}
	for range rounds {
		for _, t := range r.targets {
			// A frame of 1 GB is over every cap, and the decoded reply needs gigabytes.
			if t.framed || t.name == decoding {
				continue
			}
			fmt.Fprintf(log, "1 GB: %s\n", t.name)
			r.hauls = append(r.hauls, long(t, longLoad, 0))
		}
	}
	for _, t := range r.targets {
		if t.pid == 0 || t.framed || t.name == plain {
			continue
		}
		fmt.Fprintf(log, "%d clients: %s\n", idleClients, t.name)
		h, end := hold(t, idleClients, 5*time.Second)
		end()
		r.crowds = append(r.crowds, h)
	}
}

// warm lets buffers, pools and the heap reach the size they have in service.
func warm(t target) error {
	for _, l := range loads {
		p, err := t.probe(l, time.Minute)
		if err == nil {
			err = drive(t, l, 8, 300*time.Millisecond, p.bytes, nil).err
		}
		if err != nil {
			return fmt.Errorf("warm-up, %s: %w", l.name, err)
		}
	}
	return nil
}

func (r *run) machine() string {
	parts := []string{
		fmt.Sprintf("%d cores", runtime.NumCPU()),
		runtime.GOOS + "/" + runtime.GOARCH,
		runtime.Version(),
	}
	if b, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		major, rest, _ := strings.Cut(string(b), ".")
		minor, _, _ := strings.Cut(rest, ".")
		parts = append(parts, "Linux "+major+"."+minor)
	}
	if out, err := exec.Command("haproxy", "-v").Output(); err == nil {
		if f := strings.Fields(string(out)); len(f) > 2 {
			version, _, _ := strings.Cut(f[2], "-")
			parts = append(parts, "HAProxy "+version+" (TCP mode, 2 threads)")
		}
	}
	if bi, ok := debug.ReadBuildInfo(); ok {
		for _, d := range bi.Deps {
			if d.Path == "github.com/apache/thrift" {
				parts = append(parts, "apache/thrift "+d.Version)
			}
		}
	}
	return strings.Join(parts, ", ")
}

// part measures one thing and prints its table.
func (r *run) part(name string, rounds int, dur time.Duration, clients int) error {
	if len(r.targets) == 0 {
		return fmt.Errorf("bench %s: no target, want name,addr,db[,pid[,framed]]", name)
	}
	var b strings.Builder
	switch name {
	case "matrix":
		f := &fleet{}
		pids := func() []int {
			ps := f.pids()
			for _, t := range r.targets {
				ps = append(ps, t.pid)
			}
			return ps
		}
		m := &matrix{targets: r.targets, conns: []int{1, 16, 64}, rounds: rounds, dur: dur, ours: pids,
			base: []string{"HAProxy", "io.Copy"}, log: os.Stderr, awake: f.spin}
		for _, c := range m.run(loads) {
			c.markdown(&b)
		}
	case "big":
		for _, t := range r.targets {
			r.hauls = append(r.hauls, long(t, longLoad, 0))
		}
		r.longTable(&b)
	case "hold":
		for _, t := range r.targets {
			h, end := hold(t, clients, 5*time.Second)
			end()
			r.crowds = append(r.crowds, h)
		}
		r.crowdTable(&b)
	case "short":
		for range rounds {
			for _, t := range r.targets {
				r.rushes[t.name] = append(r.rushes[t.name], short(t, 16, dur))
			}
		}
		r.rushTable(&b)
	}
	fmt.Print(b.String())
	return nil
}
