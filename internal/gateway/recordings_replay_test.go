package gateway

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"hmsgate/internal/session"
	"hmsgate/internal/wiretest"
	"hmsgate/profiles"
)

// recAnswered are the answers that say something else than the recorded
// metastore did, since they speak for the gateway.
var recAnswered = map[string]bool{"catalogs": true, "refuse-catalog-ddl": true, "alive-since": true,
	"token-get": true, "token-renew": true, "token-cancel": true, "token-store": true}

// recReplay feeds recorded calls to a gateway whose backends give the
// recorded replies, and compares both sides.
type recReplay struct {
	*sweepRig
	prefix string // "" for the default catalog
	run    *recRun
	calls  int
	moved  int // calls that went to the other catalog
}

// TestRecordingsThroughGateway: every recorded conversation, through a gateway
// with one catalog and, its calls renamed before, through one with two; raw
// and framed. What the backend reads and what the client reads is what was
// recorded, up to the names.
func TestRecordingsThroughGateway(t *testing.T) {
	for _, tc := range []struct {
		name, prefix string
		framed       bool
		versions     bool // more than names is translated: recordings of one version on both sides
	}{
		{"default catalog, raw", "", false, false}, {"default catalog, framed", "", true, false},
		{"prefixed catalog, raw", "apache__", false, false}, {"prefixed catalog, framed", "apache__", true, false},
		{"default catalog, versions", "", false, true}, {"prefixed catalog, versions", "apache__", true, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			total, moved, nth := 0, 0, 0
			for _, rec := range wiretest.Recordings(t) {
				client, server := rec.Versions()
				if tc.versions && client != server {
					continue
				}
				o := sweepTwo("apache-" + server)
				o.names = !tc.versions
				o.framed, o.settings = tc.framed, "routing.global-writes: default\n"
				if tc.prefix == "" {
					o.catalogs = o.catalogs[:1]
				}
				r := &recReplay{sweepRig: sweepServe(t, o), prefix: tc.prefix, run: newRecRun()}
				if tc.versions {
					r.pair = sweepPairs(t, "apache-"+server)
				}
				for _, c := range rec.Conns {
					if nth++; nth%7 == 0 || !testing.Short() && !sweepRace {
						r.conversation(t, rec.Name, c)
					}
				}
				total, moved = total+r.calls, moved+r.moved
			}
			if t.Logf("%d calls, %d to the other catalog", total, moved); total < 200 || tc.prefix != "" && moved < 100 {
				t.Errorf("%d calls were replayed, %d of them to the other catalog", total, moved)
			}
		})
	}
}

// TestRecordingsInPiecesThroughGateway: the same when a client's bytes arrive
// one by one, or in pieces that end in the middle of everything: a pipe keeps
// them apart.
func TestRecordingsInPiecesThroughGateway(t *testing.T) {
	for _, name := range []string{"4.2.0-4.2.0", "2.3.10-3.1.3", "pyiceberg-hms-4.1.0", "trino476-catname-hms-3.1.3"} {
		for _, piece := range []int{1, 5} {
			for _, framed := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, %d, framed %v", name, piece, framed), func(t *testing.T) {
					rec := wiretest.RecordingNamed(t, name)
					o := sweepTwo("apache-4.1.0")
					o.framed, o.settings = framed, "routing.global-writes: default\n"
					var env *session.Env
					o.change = func(g *Gateway) { env = g.envs["auto"] }
					r := &recReplay{sweepRig: sweepServe(t, o), prefix: "apache__", run: newRecRun()}
					r.piece = piece
					r.dial = func() (net.Conn, error) {
						client, server := net.Pipe()
						s := session.New(func() *session.Env { return env }, server, session.Options{Raw: true, Framed: true})
						go s.Run()
						return client, nil
					}
					for i, c := range rec.Conns {
						if i%5 == 0 || !testing.Short() && !sweepRace {
							r.conversation(t, rec.Name, c)
						}
					}
				})
			}
		}
	}
}

// recBound says whether a method is bound to one metastore by more than the
// names in it: by transactions, or by ids that carry their catalog.
func recBound(t *testing.T, p *profiles.Plans, method string) bool {
	row := p.Method([]byte(method))
	if method == "drop_database_req" { // Hive 4 tells it its transaction, which another metastore has not
		return true
	}
	if row.Class == profiles.Txn || row.Class == profiles.Lock || row.Where == profiles.AtDefault {
		return true
	}
	if known, ok := recCompactions.Load(method); ok {
		return known.(bool)
	}
	var text strings.Builder
	if err := profiles.Explain(&text, p, method); err != nil {
		t.Fatal(err)
	}
	own := strings.Contains(text.String(), "compaction_id")
	recCompactions.Store(method, own)
	return own
}

// recCompactions are the methods met, and whether ids of compactions are in them.
var recCompactions sync.Map

// conversation replays one connection.
func (r *recReplay) conversation(t *testing.T, recording string, c wiretest.Conn) {
	r.hangUp()
	r.mu.Lock()
	r.told = map[string][]byte{}
	r.mu.Unlock()
	for i, x := range c.Exchanges() {
		oneway := x.Call.Type == wiretest.TypeOneway
		if x.Reply == nil && !oneway {
			continue // the server closed over it: what the gateway does then is another test's
		}
		if row := r.plans.Method([]byte(x.Call.Method)); r.prefix != "" && row.Class == profiles.List && row.Answer == "" {
			continue // its pattern may mean one catalog and its catalog another: refused
		}
		if r.pair != nil && x.Call.Method == "get_open_txns" {
			continue // a client that may be of any version gets its list in both forms
		}
		if r.prefix != "" && bytes.Contains(x.Call.Bytes, []byte("transactional")) {
			continue // a transactional table is the default catalog's
		}
		if r.prefix != "" && recBound(t, r.plans, x.Call.Method) {
			continue // locks, transactions and ids of another catalog are more than names: tests of their own
		}
		r.calls++
		if err := r.exchanged(x); err != nil {
			t.Errorf("%s connection %d call %d, %s: %v", recording, c.ID, i, x.Call.Method, err)
			return
		}
	}
}

func (r *recReplay) exchanged(x wiretest.Exchange) error {
	m := r.plans.Method([]byte(x.Call.Method))
	call, want, catalog, err := r.renamed(m, x)
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.known = func(m wiretest.Message) bool { return m.Method == x.Call.Method && m.Seq == x.Call.Seq }
	delete(r.told, recKey(x.Call))
	r.mu.Unlock()
	var reply []byte
	if x.Reply != nil {
		reply = x.Reply.Bytes
	}
	answered, got, err := r.exchange(call, reply, x.Reply == nil)
	if err != nil {
		return err
	}
	if m.Class == profiles.Identity {
		r.mu.Lock()
		r.told[recKey(x.Call)] = reply
		r.mu.Unlock()
	}
	for _, g := range got {
		if m.Answer == "" && g.catalog != catalog {
			return fmt.Errorf("catalog %s received it, want %s", g.catalog, catalog)
		}
		if err := r.alike("the call to "+g.catalog, g.call, x.Call.Bytes, true, nil); err != nil {
			return err
		}
	}
	if r.refusedByVersion(answered, got) {
		return nil
	}
	if m.Answer == "" && len(got) != 1 {
		return fmt.Errorf("%d backends received it, want one; reply %.200q", len(got), answered)
	}
	if recAnswered[m.Answer] || len(got) > 1 || x.Reply == nil {
		return nil
	}
	if r.prefix != "" {
		return r.alike("the reply", answered, want, false, recFolded) // a client reads its own spelling of a name
	}
	return r.alike("the reply", answered, want, false, nil)
}

// recFolded makes ASCII letters small and leaves all other bytes.
func recFolded(b []byte) []byte {
	b = bytes.Clone(b)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return b
}

// renamed is the call as a client of this gateway sends it, the reply it
// must read, and the catalog that must receive the call.
func (r *recReplay) renamed(m *profiles.MethodPlan, x wiretest.Exchange) (call, reply []byte, catalog string, err error) {
	if x.Reply != nil {
		reply = x.Reply.Bytes
	}
	if r.prefix == "" {
		return x.Call.Bytes, reply, "hdp", nil
	}
	names := &recNames{prefix: r.prefix}
	if call, err = r.run.whole(x.Call.Bytes, true, r.plans, m, names); err != nil || names.edits == 0 {
		return call, reply, "hdp", err
	}
	r.moved++
	if reply != nil && x.Reply.Type == wiretest.TypeReply {
		reply, err = r.run.whole(reply, false, r.plans, m, &recNames{prefix: r.prefix})
	}
	return call, reply, "apache", err
}

// TestRecordingsBrokenOff: streams that real clients broke off in the middle
// of a message reach a backend as far as they were whole, and no further.
func TestRecordingsBrokenOff(t *testing.T) {
	broken := 0
	for _, rec := range wiretest.Recordings(t) {
		for _, c := range rec.Conns {
			if !c.Broken() {
				continue
			}
			broken++
			o := sweepTwo("apache-3.1.3")
			o.catalogs = o.catalogs[:1]
			r := sweepServe(t, o)
			if err := r.brokenOff(c); err != nil {
				t.Errorf("%s connection %d: %v", rec.Name, c.ID, err)
			}
		}
	}
	if broken < 14 {
		t.Errorf("%d broken streams, want at least 14", broken)
	}
}

// brokenOff sends what follows the last whole message of a stream, behind
// a healthy call and as one write, and reads until the gateway closes.
func (r *sweepRig) brokenOff(c wiretest.Conn) error {
	_, rest := wiretest.Messages(c.Client)
	r.seq++
	first := wiretest.Call("get_config_value", r.seq, wiretest.Struct(nil).Stop())
	reply := wiretest.Reply("get_config_value", r.seq, wiretest.Struct(nil).String(0, "x").Stop())
	r.mu.Lock()
	r.known = func(m wiretest.Message) bool { return m.Seq >= sweepFirst || strings.Contains(string(rest), m.Method) }
	r.mu.Unlock()
	answered, _, err := r.exchange(first, reply, false)
	if err != nil || !bytes.Equal(answered, reply) {
		return fmt.Errorf("the call before: %q, %w", answered, err)
	}
	r.conn.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := r.conn.Write(rest); err != nil {
		return err
	}
	if err := r.conn.(*net.TCPConn).CloseWrite(); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, r.conn); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("the gateway did not close: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.got) != 1 {
		return fmt.Errorf("the backend received %d calls, want 1; the last is %q", len(r.got), r.got[len(r.got)-1].call)
	}
	return nil
}
