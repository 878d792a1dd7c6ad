package main

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// serveOn runs a server on a free port until the test ends.
func serveOn(t *testing.T, f func(net.Listener)) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { f(ln); close(done) }()
	t.Cleanup(func() { ln.Close(); <-done })
	return ln.Addr().String()
}

func baselines(t *testing.T) []target {
	backend := serveOn(t, serveBackend)
	return []target{
		{name: "direct", addr: backend, db: dataDB},
		{name: "io.Copy", db: dataDB, addr: serveOn(t, func(ln net.Listener) { servePipe(ln, backend) })},
		{name: decoding, db: renamed, addr: serveOn(t, func(ln net.Listener) { serveCodec(ln, backend, renamed, dataDB) })},
	}
}

func TestReplies(t *testing.T) {
	for _, x := range baselines(t) {
		for _, l := range loads[:3] {
			t.Run(x.name+" "+l.name, func(t *testing.T) {
				p, err := x.probe(l, time.Minute)
				if err != nil {
					t.Fatal(err)
				}
				want := makeReply(l)
				names := strings.Count(string(want.head), dataDB) - strings.Count(string(want.head), dataDB+".db")
				if p.renamed != names || x.db != dataDB && p.plain != 0 {
					t.Errorf("got %d names as wanted and %d of the backend's, want %d and 0", p.renamed, p.plain, names)
				}
				if x.name != decoding && p.bytes != want.size() {
					t.Errorf("got %d bytes, want %d", p.bytes, want.size())
				}
				if lowest, highest := int64(l.bytes)*9/10, int64(l.bytes)*12/10; want.size() < lowest || want.size() > highest {
					t.Errorf("reply of %d bytes, want about %d", want.size(), l.bytes)
				}
			})
		}
	}
}

// The long reply must be well formed: head, blocks and tail walk to the end without being kept.
func TestLongReply(t *testing.T) {
	l := load{"long", "get_partitions", "t", 200 * blockPartitions * 2300}
	r := makeReply(l)
	pr, pw := io.Pipe()
	go func() { pw.CloseWithError(send(pw, r.appendHead(nil, 5), r)) }()
	d := newDec(pr, 64<<10)
	d.names = [2]string{dataDB, "no such name"}
	if err := checkReply(d, l.method, 5); err != nil {
		t.Fatal(err)
	}
	if _, err := d.r.ReadByte(); err != io.EOF {
		t.Errorf("after the reply: got %v, want EOF", err)
	}
	if d.n != r.size() || d.seen[0] != r.names() || r.times < 200 {
		t.Errorf("got %d bytes and %d names, want %d and %d, in %d blocks", d.n, d.seen[0], r.size(), r.names(), r.times)
	}
}

func TestWrongRepliesAreSeen(t *testing.T) {
	backend := serveOn(t, serveBackend)
	for _, c := range []struct{ name, db, method, want string }{
		{"unknown database", "elsewhere", "get_table", "Invalid method name"},
		{"unknown method", dataDB, "get_index_by_name", "Invalid method name"},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := target{name: "x", addr: backend, db: c.db}
			_, err := x.probe(load{"", c.method, "orders_1k", 0}, time.Minute)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q in it", err, c.want)
			}
		})
	}
	t.Run("timed call, other sequence id", func(t *testing.T) {
		ln := serveOn(t, func(ln net.Listener) {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			defer c.Close()
			_, _ = c.Read(make([]byte, 1<<10))
			_, _ = c.Write(makeReply(loads[1]).appendHead(nil, 77))
		})
		r := drive(target{name: "x", addr: ln, db: dataDB}, loads[1], 1, time.Millisecond, makeReply(loads[1]).size(), nil)
		if r.err != errReply {
			t.Errorf("got %v, want %v", r.err, errReply)
		}
	})
}

func TestMatrixAndTables(t *testing.T) {
	m := &matrix{targets: baselines(t), conns: []int{2}, rounds: 2, dur: 20 * time.Millisecond, base: []string{"io.Copy"}, log: io.Discard,
		ours: func() []int { return nil }}
	m.targets = append(m.targets, target{name: "nobody", addr: "127.0.0.1:1", db: dataDB})
	r := run{cells: m.run(loads[1:2]), targets: m.targets, rushes: map[string][]rush{}, left: []string{"something"}}
	for _, x := range r.cells[0].rows {
		if x.target == "nobody" {
			if x.note == "" {
				t.Error("a target that is not there has no note")
			}
			continue
		}
		if x.note != "" || x.rate <= 0 || x.p50 <= 0 || x.p99 < x.p50 || x.ratio["io.Copy"] <= 0 {
			t.Errorf("%+v: want figures", x)
		}
	}
	text := r.markdown()
	for _, want := range []string{"Left out: something.", "### get_table, 1 KB", "| direct |", "| nobody | failed: ", "not measured"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestClaims(t *testing.T) {
	r := run{cells: []cell{{load: loads[0], conns: 16, rows: []row{
		{target: renaming, ratio: map[string]float64{"HAProxy": 0.74, "io.Copy": 0.96}},
	}}}}
	var b strings.Builder
	r.targetTable(&b)
	for _, want := range []string{"of HAProxy | >= 0.75 | 0.74 | **missed** |", "of io.Copy | >= 0.95 | 0.96 | reached |"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func TestWays(t *testing.T) {
	for _, l := range loads[:3] {
		m := walkedOf(l)
		ways, out, err := m.ways()
		if err != nil {
			t.Fatal(err)
		}
		names := strings.Count(string(m.msg), "\x00\x0f"+dataDB)
		for _, x := range ways {
			out.n = 0
			if err := x.once(); err != nil {
				t.Errorf("%s, %s: %v", m.name, x.name, err)
			}
			want := map[string]int{"skip": len(m.msg), "rename": len(m.msg) + names*len("apache__"), "token copy": 0}[x.name]
			if out.n != int64(want) {
				t.Errorf("%s, %s: got %d bytes, want %d", m.name, x.name, out.n, want)
			}
		}
	}
}

func TestTrust(t *testing.T) {
	for _, c := range []struct {
		strangers float64
		want      bool
	}{{0.02, false}, {0.4, true}} {
		r := run{cells: []cell{{rows: []row{{strangers: c.strangers}, {note: "failed", strangers: 1}}}}}
		if got := r.trust(); strings.Contains(got, "40 % of it") != c.want || (got != "") != c.want {
			t.Errorf("strangers %v: got %q, want a warning %v", c.strangers, got, c.want)
		}
	}
}

func TestParseTarget(t *testing.T) {
	for _, c := range []struct {
		in   string
		want target
		ok   bool
	}{
		{"a,h:1,db", target{name: "a", addr: "h:1", db: "db"}, true},
		{"a,h:1,db,7", target{name: "a", addr: "h:1", db: "db", pid: 7}, true},
		{"a,h:1,db,7,framed", target{name: "a", addr: "h:1", db: "db", pid: 7, framed: true}, true},
		{"a,h:1", target{}, false},
		{"a,h:1,db,x", target{}, false},
		{"a,h:1,db,7,sasl", target{}, false},
	} {
		got, err := parseTarget(c.in)
		if (err == nil) != c.ok || c.ok && got != c.want {
			t.Errorf("%s: got %+v %v, want %+v, accepted %v", c.in, got, err, c.want, c.ok)
		}
	}
}

func TestSlowReader(t *testing.T) {
	const size, rate = 300_000, 10_000_000
	at := time.Now()
	n, err := io.Copy(io.Discard, &slowReader{r: strings.NewReader(strings.Repeat("x", size)), rate: rate})
	// the last piece is not waited for
	if least := time.Duration(float64(size-64<<10) / rate * float64(time.Second)); n != size || err != nil || time.Since(at) < least {
		t.Errorf("got %d bytes, %v, in %v, want %d in at least %v", n, err, time.Since(at), size, least)
	}
}
