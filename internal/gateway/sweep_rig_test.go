package gateway

import (
	"bytes"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"hmsgate/internal/config"
	"hmsgate/internal/wiretest"
	"hmsgate/profiles"
)

// sweepFirst is the first sequence id of swept calls: lower ones are probes.
const sweepFirst = 1 << 20

// sweepRig is a gateway before backends that do as told: they record the
// calls that are known and give the reply set last.
type sweepRig struct {
	t      testing.TB
	addr   string
	framed bool
	loose  bool              // bytes may differ by what the two versions differ in
	pair   []*profiles.Plans // what the gateway may edit besides names, nothing when empty
	plans  *profiles.Plans
	conn   net.Conn
	dial   func() (net.Conn, error)
	piece  int // the client writes so many bytes at a time; 0: all
	in     []byte
	seq    int32
	known  func(m wiretest.Message) bool // part of the test; anything else is a probe

	mu    sync.Mutex
	reply []byte
	told  map[string][]byte // by recKey: replies to what a session repeats on each backend connection
	got   []sweepGot
}

type sweepGot struct {
	catalog string
	call    []byte
}

// sweepSetup is what a rig is made of.
type sweepSetup struct {
	profile  string   // of the backends
	catalogs []string // the first is the default one
	framed   bool     // on both sides
	names    bool     // nothing but names is translated, as for a version that no inventory describes
	settings string   // more lines of configuration
	change   func(*Gateway)
}

// sweepLabel begins with what tells 2.x, and no inventory has it.
const sweepLabel = "-undescribed"

// sweepTwo is two catalogs whose backends are of one version, of which only
// the habit of "@cat#" counts.
func sweepTwo(profile string) sweepSetup {
	return sweepSetup{profile: profile, catalogs: []string{"hdp", "apache"}, names: true}
}

// sweepServe starts the backends and the gateway before them.
func sweepServe(t testing.TB, o sweepSetup) *sweepRig {
	t.Helper()
	r := &sweepRig{t: t, seq: sweepFirst, framed: o.framed, plans: profiles.Auto()}
	r.known = func(m wiretest.Message) bool { return m.Seq >= sweepFirst }
	var yaml strings.Builder
	fmt.Fprintf(&yaml, "listen: 127.0.0.1:0\nrouting.default-catalog: %s\n%scatalog:\n", o.catalogs[0], o.settings)
	for _, name := range o.catalogs {
		serve, transport := wiretest.NewBackend, "raw"
		if o.framed {
			serve, transport = wiretest.NewFramedBackend, "framed"
		}
		b := serve(t).Others(wiretest.Serve(func(m wiretest.Message) []byte { return r.answer(name, m) }))
		fmt.Fprintf(&yaml, "  %s: {uris: thrift://%s, runtime-profile: %s, transport: %s}\n", name, b.Addr(), o.profile, transport)
	}
	g := sweepGateway(t, yaml.String(), func(g *Gateway) {
		for i := range g.cfg.Catalogs {
			if o.names {
				g.cfg.Catalogs[i].Profile += sweepLabel
			}
		}
		if o.change != nil {
			o.change(g)
		}
	})
	r.addr, r.loose = g.Addr().String(), !o.names
	r.dial = func() (net.Conn, error) { return net.Dial("tcp", r.addr) }
	t.Cleanup(r.hangUp)
	return r
}

// sweepGateway starts a gateway on a configuration's text.
func sweepGateway(t testing.TB, yaml string, change func(*Gateway)) *Gateway {
	t.Helper()
	cfg, err := config.Parse("sweep.yaml", config.YAML, []byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	cfg.ShutdownTimeout, cfg.DrainDelay = time.Second, 0
	g, err := New(cfg, zerolog.Nop(), "test")
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(g)
	}
	if err := g.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return g
}

// answer is all backends. Probes learn a version and nothing else.
func (r *sweepRig) answer(catalog string, m wiretest.Message) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	if again := r.told[recKey(m)]; again != nil {
		return again
	}
	if !r.known(m) {
		return wiretest.Reply(m.Method, m.Seq, wiretest.Struct(nil).String(0, "4.1.0").Stop())
	}
	r.got = append(r.got, sweepGot{catalog, bytes.Clone(m.Bytes)})
	if m.Type == wiretest.TypeOneway {
		return []byte{}
	}
	return r.reply
}

func recKey(m wiretest.Message) string { return fmt.Sprint(m.Method, " ", m.Seq) }

func (r *sweepRig) hangUp() {
	if r.conn != nil {
		r.conn.Close()
	}
	r.conn, r.in = nil, nil
}

// exchange sends a call; the backends answer it with reply. answered is what
// the client reads.
func (r *sweepRig) exchange(call, reply []byte, oneway bool) (answered []byte, got []sweepGot, err error) {
	r.mu.Lock()
	r.reply, r.got = reply, nil
	r.mu.Unlock()
	if r.conn == nil {
		if r.conn, err = r.dial(); err != nil {
			return nil, nil, err
		}
	}
	r.conn.SetDeadline(time.Now().Add(20 * time.Second))
	if r.framed {
		call = wiretest.Framed(call)
	}
	for n := 0; len(call) > 0 && err == nil; call = call[n:] {
		if n = len(call); r.piece > 0 {
			n = min(r.piece, n)
		}
		_, err = r.conn.Write(call[:n])
	}
	if err == nil && !oneway {
		answered, err = r.read()
	}
	if err != nil || oneway {
		r.hangUp()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return answered, r.got, err
}

func (r *sweepRig) read() ([]byte, error) {
	for {
		in := r.in
		if r.framed {
			in = in[min(4, len(in)):]
		}
		if m, err := wiretest.Parse(in); err == nil {
			r.in = in[len(m.Bytes):]
			return m.Bytes, nil
		} else if len(in) > 0 && !wiretest.IsShort(err) {
			return nil, err
		}
		var buf [32 << 10]byte
		n, err := r.conn.Read(buf[:])
		if r.in = append(r.in, buf[:n]...); n == 0 {
			return nil, fmt.Errorf("after %d bytes of a reply: %w", len(r.in), err)
		}
	}
}

// alike compares a message with what it may have become: itself or, where
// versions are known, what the plans for them leave of it when no name
// changes, for whatever the client has shown of itself so far.
func (r *sweepRig) alike(what string, got, want []byte, call bool, fold func([]byte) []byte) error {
	if fold == nil {
		fold = func(b []byte) []byte { return b }
	}
	may := [][]byte{want}
	for _, p := range r.pair {
		m, err := wiretest.Parse(want)
		if err != nil {
			return err
		}
		if out, err := newRecRun().whole(want, call, p, p.Method([]byte(m.Method)), nil); err == nil {
			may = append(may, out)
		}
	}
	var first error
	for _, b := range may {
		err := sweepSame(what, fold(got), fold(b))
		if err == nil {
			return nil
		}
		if first == nil {
			first = err
		}
	}
	return first
}

// refusedByVersion says whether a call was refused since the backend's version
// cannot serve it, or not for a client that has not shown its own.
func (r *sweepRig) refusedByVersion(answered []byte, got []sweepGot) bool {
	return r.pair != nil && len(got) == 0 && (bytes.Contains(answered, []byte("Invalid method name")) ||
		bytes.Contains(answered, []byte("cannot be served by the version")))
}

// sweepSame compares bytes and shows the first difference.
func sweepSame(what string, got, want []byte) error {
	if bytes.Equal(got, want) {
		return nil
	}
	i := 0
	for i < len(got) && i < len(want) && got[i] == want[i] {
		i++
	}
	part := func(b []byte) []byte { return b[max(min(i, len(b))-40, 0):min(i+40, len(b))] }
	return fmt.Errorf("%s differs at byte %d of %d:\n got %q\nwant %q", what, i, len(want), part(got), part(want))
}

// sweepPairs are the plans by which calls of any client may go to a version.
func sweepPairs(t *testing.T, label string) (out []*profiles.Plans) {
	t.Helper()
	all, err := profiles.AutoInventory()
	if err != nil {
		t.Fatal(err)
	}
	for reader := profiles.Unsure; reader <= profiles.Since4; reader++ {
		p, err := profiles.CompileFor(all, sweepLoad(t, label), reader)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, p)
	}
	return out
}
