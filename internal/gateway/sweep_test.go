package gateway

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"hmsgate/internal/hms"
	"hmsgate/internal/wiretest"
	"hmsgate/profiles"
	"hmsgate/rewrite"
	"hmsgate/route"
)

// The sweep sends every method of every inventory through a gateway, with a
// name in every place that has one, in every form clients write names, and
// compares each byte on the other side. Everything is made from inventories
// and rules; no method is named.

// sweepCase is one method of one inventory, ready to be spelled.
type sweepCase struct {
	g      *sweepMessage
	method string
}

// sweepMade is one call with its reply, on both sides.
type sweepMade struct {
	call, backCall   []byte // as the client sends it, as the backend reads it
	reply, backReply []byte // as the client reads it, as the backend sends it
	met              map[rewrite.Kind]bool
}

func (c *sweepCase) make(f *sweepForm, seq int32) (m sweepMade, err error) {
	m.met = map[rewrite.Kind]bool{}
	spelled := map[string]string{}
	for _, x := range []struct {
		out   *[]byte
		build func(string, int32) ([]byte, error)
		spell func(rewrite.Kind, int) string
	}{
		{&m.call, c.g.call, f.calls(0, m.met, spelled)},
		{&m.backCall, c.g.call, f.calls(1, m.met, spelled)},
		{&m.reply, c.g.reply, f.replies(0, spelled)},
		{&m.backReply, c.g.reply, f.replies(1, spelled)},
	} {
		c.g.spell = x.spell
		if *x.out, err = x.build(c.method, seq); err != nil {
			return m, err
		}
	}
	return m, nil
}

// sweep sends one case in one form and says what is wrong with what happened.
func (r *sweepRig) sweep(c *sweepCase, f *sweepForm) error {
	r.seq++
	m, err := c.make(f, r.seq)
	if err != nil {
		return err
	}
	row := &r.plans.Method([]byte(c.method)).Row
	if r.seq%200 == 0 {
		r.hangUp() // a scripted backend waits for seconds only, and one of the two has nothing to do
	}
	if row.Class == profiles.Identity { // said once a connection, and replayed to its backends
		r.hangUp()
		defer r.hangUp()
	}
	answered, got, err := r.exchange(m.call, m.backReply, row.Oneway)
	if err != nil {
		return err
	}
	for _, g := range got {
		if i := bytes.Index(bytes.ToLower(g.call), []byte("apache__")); i >= 0 {
			return fmt.Errorf("catalog %s received a client's name: %q", g.catalog, g.call[i:min(i+30, len(g.call))])
		}
	}
	if row.Answer != "" {
		if r.loose {
			m.backCall = nil
		}
		return sweepAnswered(&m, f, got, answered, row)
	}
	if why := sweepRefusal(&m, f, row); why != "" {
		return sweepRefused(answered, got, why)
	}
	want := sweepGot{"hdp", m.backCall}
	pattern := m.met[rewrite.Pattern] && f.db[0] != "%s" // that only the other catalog can match
	if !f.home && (f.decides(m.met) || pattern) {
		want.catalog = "apache"
	}
	if r.refusedByVersion(answered, got) {
		return nil
	}
	if r.loose {
		for _, g := range got {
			if g.catalog != want.catalog {
				return fmt.Errorf("catalog %s received it, want %s", g.catalog, want.catalog)
			}
		}
		return nil
	}
	if len(got) != 1 || got[0].catalog != want.catalog {
		return fmt.Errorf("%d backends received it, want %s alone; reply %.200q", len(got), want.catalog, answered)
	}
	if err := r.alike("the call", got[0].call, want.call, true, nil); err != nil {
		return err
	}
	return r.alike("the reply", answered, m.reply, false, nil)
}

// sweepRefusal is the reason for which the row gives no backend the call, ""
// when it goes to one.
func sweepRefusal(m *sweepMade, f *sweepForm, row *profiles.Row) route.Reason {
	named := f.decides(m.met)
	for _, k := range sweepNames {
		named = named || m.met[k]
	}
	switch {
	case row.Where == profiles.AtDefault && named && !f.home:
		return route.Elsewhere
	case row.Where == profiles.NeedsNames && !named:
		return route.Unowned
	}
	return ""
}

// sweepRefused checks that a refusal reached the client and nothing else
// anybody.
func sweepRefused(answered []byte, got []sweepGot, why route.Reason) error {
	text := map[route.Reason]string{route.Elsewhere: "in the default catalog", route.Ambiguous: "conflict",
		route.Unowned: "requires explicit namespace ownership"}[why]
	if len(got) > 0 {
		return fmt.Errorf("catalog %s received it, want a refusal (%s)", got[0].catalog, why)
	}
	if !bytes.Contains(answered, []byte(text)) {
		return fmt.Errorf("got reply %.300q, want a refusal with %q", answered, text)
	}
	return nil
}

// sweepAnswered checks calls that the gateway answers or merges: the backends
// it asks read their own names, and only those the names allow are asked; the
// client reads its own.
func sweepAnswered(m *sweepMade, f *sweepForm, got []sweepGot, answered []byte, row *profiles.Row) error {
	if len(answered) == 0 && !row.Oneway {
		return errors.New("no reply")
	}
	decided := f.decides(m.met) || m.met[rewrite.PatternAt] && f.db[0] != "%s"
	for _, g := range got {
		if decided && !f.home && g.catalog == "hdp" {
			return errors.New("catalog hdp was asked for the other one's")
		}
		if err := sweepSame("the question to "+g.catalog, g.call, m.backCall); err != nil && m.backCall != nil {
			return err
		}
	}
	inside := map[string]bool{"sales": f.external != "%s", "crm": f.external != "%s", "hive": f.catOut != "hive" && f.decides(m.met)}
	for name, no := range inside { // some of the elements were left out, so that bytes cannot be compared
		if text := wiretest.Text(name); no && decided && bytes.Contains(answered, text) {
			return fmt.Errorf("the reply has the backend's name %q", text)
		}
	}
	return nil
}

// sweepCases are all methods of all inventories, or those whose messages
// differ. With -short and under the
// race detector it is a sample.
func sweepCases(t *testing.T, every bool) (out []sweepCase, kinds map[string]rewrite.Kind) {
	t.Helper()
	kinds = sweepKinds(t)
	seen := map[string]bool{}
	for _, label := range profiles.Labels() {
		inv := sweepInventory(t, label)
		g := &sweepMessage{inv: inv, codec: hms.NewCodec(inv), kinds: kinds, used: map[string]bool{}}
		for i, method := range inv.Order {
			if (testing.Short() || sweepRace) && i%7 != 0 {
				continue
			}
			c := sweepCase{g, method}
			m, err := c.make(&sweepForms[1], sweepFirst)
			if err != nil {
				t.Fatalf("%s %s: %v", label, method, err)
			}
			if key := string(m.call) + string(m.backReply); every || !seen[key] {
				seen[key] = true
				out = append(out, c)
			}
		}
	}
	return out, kinds
}

// applies says whether the form can be written in this inventory at all.
func (c *sweepCase) applies(f *sweepForm) bool {
	return !f.ats() || c.g.inv.Structs["Catalog"] != nil
}

func TestSweep(t *testing.T) {
	cases, _ := sweepCases(t, false)
	rigs := map[bool]*sweepRig{
		false: sweepServe(t, sweepTwo("apache-4.1.0")), true: sweepServe(t, sweepTwo("apache-2.3.10"))}
	sent := 0
	for i := range sweepForms {
		f := &sweepForms[i]
		t.Run(f.name, func(t *testing.T) {
			defer rigs[f.old].hangUp()
			for i := range cases {
				c := &cases[i]
				if !c.applies(f) || !sweepMatters(t, c, f) {
					continue
				}
				sent++
				if err := rigs[f.old].sweep(c, f); err != nil {
					t.Errorf("%s %s: %v", c.g.inv.Label, c.method, err)
				}
			}
		})
	}
	least := 4000
	if testing.Short() || sweepRace {
		least = 500
	}
	if t.Logf("%d methods, %d calls", len(cases), sent); sent < least {
		t.Errorf("%d calls of %d methods were sent, want at least %d", sent, len(cases), least)
	}
}

// TestSweepAtEachVersion: at backends of the versions that the gateway knows,
// where more than names is translated, no name leaks and no other catalog is
// asked; at a backend of the client's own version no byte changes that is no
// name, but for what the plans of all clients with that version add.
func TestSweepAtEachVersion(t *testing.T) {
	cases, _ := sweepCases(t, true)
	sent := 0
	for _, label := range profiles.Labels() {
		t.Run(label, func(t *testing.T) {
			o := sweepTwo(label)
			o.names = false
			r := sweepServe(t, o)
			r.pair = sweepPairs(t, label)
			for i := range cases {
				c := &cases[i]
				for _, at := range []int{0, 5, 7, 9, 11} { // bare, prefix, prefix behind @hive#, catName, @apache#
					f := &sweepForms[at]
					r.loose = c.g.inv.Label != label || f.ats() && strings.HasPrefix(label, "apache-2.")
					if r.loose && (i+at)%61 != 0 || at == 0 && i%3 != 0 || !c.applies(f) || !sweepMatters(t, c, f) {
						continue
					}
					if c.method == "get_open_txns" {
						continue // its arguments, of which it has none, and its reply come in other forms
					}
					sent++
					if err := r.sweep(c, f); err != nil {
						t.Errorf("%s %s, %s: %v", c.g.inv.Label, c.method, f.name, err)
					}
				}
			}
		})
	}
	t.Logf("%d calls", sent)
}

// sweepMatters leaves out calls that have no name to write in this form: they
// are the bare form's. Calls that are bound to a metastore by more than names
// (transactions, locks, ids) have tests of their own where they leave the
// default catalog.
func sweepMatters(t *testing.T, c *sweepCase, f *sweepForm) bool {
	if f == &sweepForms[0] {
		return true
	}
	if !f.home && recBound(t, profiles.Auto(), c.method) {
		return false
	}
	m, err := c.make(f, sweepFirst)
	if err != nil {
		t.Fatal(err)
	}
	pattern := m.met[rewrite.Pattern] || m.met[rewrite.PatternAt]
	return f.decides(m.met) || pattern && (f.home || f.db[0] != "%s")
}

// TestSweepUnknownMethods: calls of a method that no inventory has.
func TestSweepUnknownMethods(t *testing.T) {
	r := sweepServe(t, sweepTwo("apache-4.1.0"))
	deep := func(v string) []byte {
		elem := wiretest.Struct(nil).I64(1, 7).StringMap(2, "k", v).Stop()
		return wiretest.Struct(nil).I32(1, 5).List(9, wiretest.WireStruct, wiretest.Struct(nil).Stop(), elem).Stop()
	}
	for _, tc := range []struct {
		name, value string
		refused     bool
	}{
		{"bare", "sales", false}, {"own catalog's", "@hive#sales", false}, {"looks alike", "apachesales", false},
		{"prefix", "apache__sales", true}, {"upper prefix", "APACHE__sales", true}, {"@hive#prefix", "@hive#apache__sales", true},
		{"@apache#", "@apache#sales", true}, {"catName", "Apache", true}, {"full name", "apache__sales.t", true},
		{"write ids", "apache__sales.t:3:4::", true}, {"many write ids", "9$sales.t:3:4::$apache__crm.u:1::", true},
	} {
		for shape, body := range map[string][]byte{
			"argument": wiretest.Struct(nil).String(3, tc.value).Stop(), "nested": deep(tc.value),
			"element": wiretest.Struct(nil).Strings(1, "x", tc.value).Stop(),
			"key":     wiretest.Struct(nil).StringMap(1, tc.value, "v").Stop(),
		} {
			t.Run(tc.name+" "+shape, func(t *testing.T) {
				r.seq++
				call := wiretest.Call("vendors_own", r.seq, body)
				reply := wiretest.Reply("vendors_own", r.seq, deep("apache__sales"))
				answered, got, err := r.exchange(call, reply, false)
				if err != nil {
					t.Fatal(err)
				}
				if !tc.refused {
					if len(got) != 1 || got[0].catalog != "hdp" || !bytes.Equal(got[0].call, call) || !bytes.Equal(answered, reply) {
						t.Errorf("got %d calls, reply %.100q; want hdp asked and answering, no byte changed", len(got), answered)
					}
					return
				}
				typ := binary.BigEndian.AppendUint32(nil, 0x80010000|uint32(wiretest.TypeException))
				if len(got) != 0 || !bytes.HasPrefix(answered, typ) || !bytes.Contains(answered, []byte("Invalid method name")) {
					t.Errorf("got %d calls, reply %.100q; want UNKNOWN_METHOD and nobody asked", len(got), answered)
				}
			})
		}
	}
}
