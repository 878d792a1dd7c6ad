package main

import (
	"fmt"
	"io"
	"time"
)

// A matrix is loads by numbers of connections, each measured on every target in turn.
type matrix struct {
	targets []target
	conns   []int
	rounds  int
	dur     time.Duration // of one turn
	ours    func() []int  // pids of the measurement beside its own
	base    []string      // targets that others are compared with
	log     io.Writer     // progress
	awake   func() func() // keeps the cores awake until the returned function is called
}

// A cell is one load at one number of connections.
type cell struct {
	load  load
	conns int
	bytes int64 // the reply as the backend sends it
	rows  []row
}

// A row is one target in a cell.
type row struct {
	target    string
	rate      float64
	ratio     map[string]float64 // to each base, median of the rounds' ratios
	mbs       float64
	p50, p99  time.Duration
	perCall   float64 // CPU of the target's process, microseconds
	perGB     float64 // seconds
	peakMB    int64
	strangers float64
	note      string // why there are no figures
}

// A target whose first turn takes longer gets no second, and one whose calls take longer is not asked with more
// connections.
const (
	slowTurn = 4 * time.Second
	slowCall = 2 * time.Second
)

func (m *matrix) run(ls []load) []cell {
	var cells []cell
	for _, l := range ls {
		sizes, notes := m.check(l)
		for _, n := range m.conns {
			c := m.cell(l, n, sizes, notes)
			cells = append(cells, c)
			for _, r := range c.rows {
				if r.p50 > slowCall {
					notes[r.target] = fmt.Sprintf("left out, a call took %s with %d connections", short3(r.p50), n)
				}
			}
		}
	}
	return cells
}

// check walks one reply of each target and demands that it has the names it must have.
func (m *matrix) check(l load) (sizes map[string]int64, notes map[string]string) {
	sizes, notes = map[string]int64{}, map[string]string{}
	names := -1
	for _, t := range m.targets {
		p, err := t.probe(l, time.Minute)
		switch {
		case err != nil:
			notes[t.name] = "failed: " + err.Error()
		case names >= 0 && p.renamed != names, t.db != dataDB && p.plain != 0:
			notes[t.name] = fmt.Sprintf("failed: wrong reply: %d names as they must be, want %d; %d of the backend's own", p.renamed, names, p.plain)
		default:
			sizes[t.name], names = p.bytes, p.renamed
		}
	}
	return sizes, notes
}

func (m *matrix) cell(l load, conns int, sizes map[string]int64, notes map[string]string) cell {
	fmt.Fprintf(m.log, "%s, %d connections\n", l.name, conns)
	if conns == 1 && l.bytes < 1<<20 {
		defer m.awake()()
	}
	turns := map[string][]turn{}
	for _, t := range m.targets {
		resetPeak(t.pid)
	}
	for round := range m.rounds {
		for _, t := range m.targets {
			if notes[t.name] != "" || round > 0 && turns[t.name][0].elapsed > slowTurn {
				continue
			}
			r := drive(t, l, conns, m.dur, sizes[t.name], m.ours())
			if r.err != nil {
				notes[t.name] = "failed: " + r.err.Error()
			}
			turns[t.name] = append(turns[t.name], r)
		}
	}
	c := cell{load: l, conns: conns, bytes: makeReply(l).size()}
	for _, t := range m.targets {
		if notes[t.name] != "" {
			c.rows = append(c.rows, row{target: t.name, note: notes[t.name]})
			continue
		}
		c.rows = append(c.rows, m.row(t, turns, sizes[t.name]))
	}
	return c
}

func (m *matrix) row(t target, turns map[string][]turn, size int64) row {
	own := turns[t.name]
	of := func(f func(turn) float64) float64 {
		var v []float64
		for _, r := range own {
			v = append(v, f(r))
		}
		return median(v)
	}
	r := row{
		target: t.name, ratio: map[string]float64{}, peakMB: statusKB(t.pid, "VmHWM") >> 10,
		rate: of(turn.rate),
		mbs:  of(func(r turn) float64 { return r.rate() * float64(size) / 1e6 }),
		p50:  time.Duration(of(func(r turn) float64 { return float64(r.p50) })),
		p99:  time.Duration(of(func(r turn) float64 { return float64(r.p99) })),
	}
	// CPU comes in ticks of 10 ms: summed over the rounds, not a median of coarse numbers.
	var cpu time.Duration
	var calls int64
	for _, x := range own {
		cpu, calls = cpu+x.cpu, calls+x.calls
		r.strangers = max(r.strangers, x.strangers)
	}
	if calls > 0 {
		r.perCall = float64(cpu.Microseconds()) / float64(calls)
		r.perGB = cpu.Seconds() / (float64(calls) * float64(size) / 1e9)
	}
	for _, b := range m.base {
		var v []float64
		for i, x := range turns[b] {
			if i < len(own) && x.calls > 0 {
				v = append(v, own[i].rate()/x.rate())
			}
		}
		if len(v) > 0 {
			r.ratio[b] = median(v)
		}
	}
	return r
}
