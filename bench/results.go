package main

import (
	"fmt"
	"strings"
	"time"
)

// markdown is the whole of RESULTS.md.
func (r *run) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Results of the benchmark

%s, `+"`make bench`"+`, on %s.

Client, backend and proxy share the cores, so only ratios of one run mean anything; what is compared takes turns within
each round. Every timed reply is checked. "Strangers" is the largest share of the machine that other processes took
during a turn: a row with much of it is worth little. One-connection rows up to 100 KB run with the cores kept awake.
Each reply is %s. "bare names" is the default catalog, where every message is walked and nothing changes;
"renaming" is another catalog, where the database's name is changed in the call and everywhere in the reply; "decode + encode"
reads every message into structs, as a gateway made of generated code does.
`, r.when.UTC().Format("2 January 2006"), r.machine(), "what a Hive 3 metastore sends, 30 columns a partition")
	b.WriteString(r.trust())
	for _, l := range r.left {
		fmt.Fprintf(&b, "\nLeft out: %s.\n", l)
	}
	r.targetTable(&b)
	b.WriteString("\n## Calls\n")
	for _, c := range r.cells {
		c.markdown(&b)
	}
	r.longTable(&b)
	r.crowdTable(&b)
	r.rushTable(&b)
	b.WriteString(r.walk.String())
	return b.String()
}

// trust says how much of the machine the run had to itself.
func (r *run) trust() string {
	var all []float64
	for _, c := range r.cells {
		for _, x := range c.rows {
			if x.note == "" {
				all = append(all, x.strangers)
			}
		}
	}
	if len(all) == 0 || median(all) < 0.1 {
		return ""
	}
	return fmt.Sprintf("\n**The machine was not quiet**: in half of the rows strangers took %.0f %% of it or more. Take the ratios as an\n"+
		"indication, not as a result; counts, CPU a call and memory hold.\n", 100*median(all))
}

func (c cell) markdown(b *strings.Builder) {
	plural := "s"
	if c.conns == 1 {
		plural = ""
	}
	fmt.Fprintf(b, "\n### %s (%d bytes), %d connection%s\n\n", c.load.name, c.bytes, c.conns, plural)
	b.WriteString("| | calls/s | of HAProxy | of io.Copy | MB/s | p50 | p99 | CPU a call | CPU a GB | peak memory | strangers |\n")
	b.WriteString("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, r := range c.rows {
		if r.note != "" {
			fmt.Fprintf(b, "| %s | %s | | | | | | | | | |\n", r.target, r.note)
			continue
		}
		fmt.Fprintf(b, "| %s | %.0f | %s | %s | %.0f | %s | %s | %s | %s | %s | %.0f %% |\n", r.target, r.rate,
			ratio(r.ratio["HAProxy"]), ratio(r.ratio["io.Copy"]), r.mbs, short3(r.p50), short3(r.p99),
			unless(r.perCall == 0, "%.0f us", r.perCall), unless(r.perGB == 0, "%.2f s", r.perGB),
			unless(r.peakMB == 0, "%d MB", r.peakMB), 100*r.strangers)
	}
}

func ratio(v float64) string { return unless(v == 0, "%.2f", v) }

func unless(empty bool, format string, v any) string {
	if empty {
		return ""
	}
	return fmt.Sprintf(format, v)
}

// short3 prints a duration with about three digits.
func short3(d time.Duration) string {
	switch {
	case d >= time.Second:
		return fmt.Sprintf("%.2f s", d.Seconds())
	case d >= time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
	}
	return fmt.Sprintf("%d us", d.Microseconds())
}

// A claim is one line of what the gateway wants to reach.
type claim struct {
	text, want string
	got        []float64
	format     string
	good       func(float64) bool
}

// find collects a figure of a target over cells.
func (r *run) find(target string, f func(row) float64, in func(cell) bool) (v []float64) {
	for _, c := range r.cells {
		if !in(c) {
			continue
		}
		for _, x := range c.rows {
			if x.target == target && x.note == "" {
				if y := f(x); y != 0 {
					v = append(v, y)
				}
			}
		}
	}
	return v
}

func (r *run) claims() []claim {
	to := func(base string) func(row) float64 { return func(x row) float64 { return x.ratio[base] } }
	busy := func(size int) func(cell) bool {
		return func(c cell) bool { return c.conns > 1 && c.load.bytes == size }
	}
	small := func(c cell) bool { return c.conns > 1 && c.load.bytes <= 1000 }
	least := func(x float64) func(float64) bool { return func(v float64) bool { return v >= x } }
	most := func(x float64) func(float64) bool { return func(v float64) bool { return v <= x } }
	cs := []claim{
		{"up to 1 KB, 16 and 64 connections, of HAProxy", ">= 0.75", r.find(renaming, to("HAProxy"), small), "%.2f", least(.75)},
		{"the same, of io.Copy", ">= 0.95", r.find(renaming, to("io.Copy"), small), "%.2f", least(.95)},
		{"up to 1 KB, one connection, p50 above HAProxy's", "<= 5 us", r.addedLatency(), "%+.0f us", most(5)},
		{"100 KB, of HAProxy", ">= 0.80", r.find(renaming, to("HAProxy"), busy(loads[2].bytes)), "%.2f", least(.8)},
		{"10 MB, of HAProxy", ">= 0.70", r.find(renaming, to("HAProxy"), busy(loads[3].bytes)), "%.2f", least(.7)},
		{"100 KB, of decode + encode", ">= 7", r.find(renaming, to(decoding), busy(loads[2].bytes)), "%.1f", least(7)},
		{"10 MB, of decode + encode", ">= 9", r.find(renaming, to(decoding), busy(loads[3].bytes)), "%.1f", least(9)},
	}
	var speeds, each []float64
	grown := 0.0
	for _, h := range r.hauls {
		if h.target == renaming && h.err == nil {
			speeds = append(speeds, float64(h.bytes)/h.elapsed.Seconds()/1e9)
			grown = max(grown, float64(h.peak-h.before)/1024)
		}
	}
	for _, c := range r.crowds {
		if c.target == renaming && c.served == c.of {
			each = append(each, c.each())
		}
	}
	var speed, grew []float64
	if len(speeds) > 0 {
		speed, grew = []float64{median(speeds)}, []float64{grown}
	}
	return append(cs,
		claim{"1 GB on one connection, every name changed", ">= 0.80 GB/s", speed, "%.2f GB/s", least(.8)},
		claim{"resident memory it adds", "<= 2 MB", grew, "%.1f MB", most(2)},
		claim{"memory of an idle client with its backend connection", "<= 24 KB", each, "%.1f KB", most(24)},
		claim{"connect + call + close, of HAProxy", ">= 0.60", r.rushRatios("HAProxy"), "%.2f", least(.6)},
	)
}

func (r *run) addedLatency() (v []float64) {
	for _, c := range r.cells {
		if c.conns != 1 || c.load.bytes > 1000 {
			continue
		}
		at := map[string]time.Duration{}
		for _, x := range c.rows {
			at[x.target] = x.p50
		}
		if at["HAProxy"] > 0 && at[renaming] > 0 {
			v = append(v, float64((at[renaming] - at["HAProxy"]).Microseconds()))
		}
	}
	return v
}

// targetTable sets what was wanted against what came out, the lost rows included.
func (r *run) targetTable(b *strings.Builder) {
	b.WriteString("\n## What is wanted and what came out\n\n| renaming gateway | wanted | measured | |\n|---|---|---|---|\n")
	for _, c := range r.claims() {
		if len(c.got) == 0 {
			fmt.Fprintf(b, "| %s | %s | not measured | |\n", c.text, c.want)
			continue
		}
		verdict, texts := "reached", []string{}
		for _, v := range c.got {
			texts = append(texts, fmt.Sprintf(c.format, v))
			if !c.good(v) {
				verdict = "**missed**"
			}
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", c.text, c.want, strings.Join(texts, ", "), verdict)
	}
}

// longTable has one row a target: median times, and the most memory of all its turns.
func (r *run) longTable(b *strings.Builder) {
	b.WriteString("\n## One reply of 1 GB\n\n| | MB | time | MB/s | CPU a GB | resident before | peak | after |\n|---|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, t := range r.targets {
		var took, cpu []float64
		var one haul
		for _, h := range r.hauls {
			if h.target != t.name {
				continue
			}
			took, cpu = append(took, h.elapsed.Seconds()), append(cpu, h.cpu.Seconds())
			if one.target == "" {
				one = h
			}
			one.peak, one.after = max(one.peak, h.peak), h.after
			if h.err != nil {
				one.err = h.err
			}
		}
		if one.err != nil {
			fmt.Fprintf(b, "| %s | failed: %v | | | | | | |\n", t.name, one.err)
		} else if one.target != "" {
			gb := float64(one.bytes) / 1e9
			fmt.Fprintf(b, "| %s | %.0f | %.2f s | %.0f | %s | %s | %s | %s |\n", t.name, gb*1000, median(took), gb*1000/median(took),
				unless(median(cpu) == 0, "%.2f s", median(cpu)/gb), megabytes(one.before), megabytes(one.peak), megabytes(one.after))
		}
	}
}

func megabytes(kb int64) string { return unless(kb == 0, "%.1f MB", float64(kb)/1024) }

func (r *run) crowdTable(b *strings.Builder) {
	fmt.Fprintf(b, "\n## %d clients that made one call and stay\n\n| | served | resident before | with all | each | threads | first that failed |\n|---|--:|--:|--:|--:|--:|---|\n", idleClients)
	for _, c := range r.crowds {
		failed := ""
		if c.err != nil {
			failed = c.err.Error()
		}
		fmt.Fprintf(b, "| %s | %d | %s | %s | %.1f KB | %d | %s |\n", c.target, c.served, megabytes(c.before), megabytes(c.with), c.each(), c.threads, failed)
	}
}

func (r *run) rushRatios(base string) []float64 {
	var v []float64
	for i, x := range r.rushes[renaming] {
		if b := r.rushes[base]; i < len(b) && b[i].calls > 0 {
			v = append(v, x.rate()/b[i].rate())
		}
	}
	if len(v) == 0 {
		return nil
	}
	return []float64{median(v)}
}

func (r *run) rushTable(b *strings.Builder) {
	b.WriteString("\n## Connect, one call of 1 KB, close; 16 at once\n\n| | a second | CPU each | failed |\n|---|--:|--:|--:|\n")
	for _, t := range r.targets {
		rs := r.rushes[t.name]
		if len(rs) == 0 {
			continue
		}
		var rates []float64
		var calls, failed int64
		var cpu time.Duration
		for _, x := range rs {
			rates = append(rates, x.rate())
			calls, failed, cpu = calls+x.calls, failed+x.failed, cpu+x.cpu
		}
		fmt.Fprintf(b, "| %s | %.0f | %s | %d |\n", t.name, median(rates),
			unless(cpu == 0 || calls == 0, "%.0f us", float64(cpu.Microseconds())/float64(max(calls, 1))), failed)
	}
}
