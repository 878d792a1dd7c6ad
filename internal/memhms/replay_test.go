package memhms

import (
	"errors"
	"fmt"
	"net"
	"os"
	"regexp"
	"sort"
	"strings"
	"testing"

	"hmsgate/internal/hms"
	"hmsgate/internal/wiretest"
	"hmsgate/profiles"
)

// least is how many replies to a real client's calls must equal those of the real
// metastore, in percent. What differs is the order of lists that real ones do not
// order, partition expressions, databases that were there before, and what depends on
// how the connections of a recording were interleaved: a replay plays them one after
// the other, and recordings in which that matters more are left out.
var least = map[string]int{
	"hs2-3.1.3-hms-3.1.3": 96, "hs2-3.1.3-hms-4.1.0": 96, "hs2-3.1.3-txn-hms-3.1.3": 97, "hs2-4.0.1-hms-3.1.3": 87,
	"pyiceberg-hms-4.1.0": 95, "spark35-hive3-hms-3.1.3": 98, "spark35-hive3-hms-4.1.0": 97, "spark35-hms-3.1.3": 92,
	"spark4-hive4-hms-3.1.3": 100, "spark4-hive4-hms-4.1.0": 98, "spark4-hms-3.1.3": 92, "spark4-hms-4.1.0": 98,
	"trino476-catname-hms-3.1.3": 100, "trino476-hms-3.1.3": 97, "trino476-hms-4.1.0": 95,
}

// Replay what real clients sent to real metastores, and compare the replies.
func TestReplay(t *testing.T) {
	names := sortedKeys(least)
	if testing.Short() {
		names = []string{"hs2-3.1.3-hms-3.1.3", "spark4-hms-4.1.0", "trino476-hms-3.1.3"}
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			rec := wiretest.RecordingNamed(t, name)
			_, server := rec.Versions()
			inv, err := profiles.Load("apache-" + server)
			if err != nil {
				t.Fatal(err)
			}
			p := &replay{rig: start(t, "apache-"+server, folders(rec)), codec: hms.NewCodec(inv),
				ids: map[int64]int64{}, diff: map[string]int{}}
			for _, c := range rec.Conns {
				p.connection(c)
			}
			percent := 100 * p.same / max(p.all, 1)
			t.Logf("%d of %d replies equal, %d%%", p.same, p.all, percent)
			if percent < least[name] {
				t.Errorf("%d%% of the replies are those of the real metastore, want at least %d%%; differing by method:\n%s",
					percent, least[name], strings.Join(p.worst(), "\n"))
			}
		})
	}
}

// folders gives a server the folders of the recorded one, whose names clients put into
// their calls.
func folders(rec wiretest.Recording) func(*Config) {
	return func(c *Config) {
		for _, x := range rec.Conns {
			if m := regexp.MustCompile(`file:/[\w./-]*?/warehouse`).Find(x.Server); m != nil && c.Warehouse == "" {
				c.Warehouse = string(m)
			}
			if m := regexp.MustCompile(`file:/[\w./-]*?/external`).Find(x.Server); m != nil && c.External == "" {
				c.External = string(m)
			}
		}
	}
}

type replay struct {
	*rig
	codec     *hms.Codec
	ids       map[int64]int64 // recorded lock and transaction ids to ours
	all, same int
	diff      map[string]int
}

func (p *replay) worst() []string {
	var out []string
	for m, n := range p.diff {
		out = append(out, fmt.Sprintf("%5d %s", n, m))
	}
	sort.Sort(sort.Reverse(sort.StringSlice(out)))
	return out
}

func (p *replay) connection(c wiretest.Conn) {
	var conn net.Conn
	defer func() {
		if conn != nil {
			conn.Close()
		}
	}()
	var w *hms.Wire
	for _, x := range c.Exchanges() {
		if conn == nil {
			var err error
			if conn, err = net.Dial("tcp", p.addr); err != nil {
				p.Fatal(err)
			}
			w = hms.NewWire(conn, p.codec, false)
		}
		if err := w.Write(p.translated(x.Call.Bytes)); err != nil {
			p.Fatal(err)
		}
		if x.Reply == nil && x.Call.Method == "shutdown" {
			continue
		}
		got, err := w.Read()
		if got == nil { // closed, which may be right
			conn.Close()
			conn = nil
		}
		p.compare(x, got, err)
	}
}

// translated is a call with our ids in place of the recorded ones.
func (p *replay) translated(b []byte) []byte {
	m, err := p.codec.DecodeMessage(b)
	if err != nil {
		return b
	}
	out, err := p.codec.EncodeCall(m.Method, m.Seq, p.mapped(m.Args).(hms.Struct))
	if err != nil {
		return b
	}
	return out
}

var idField = regexp.MustCompile(`(?i)^(lockid|txnid|txn_?ids|min|max)$`)

func (p *replay) mapped(v any) any {
	switch x := v.(type) {
	case hms.Struct:
		out := hms.Struct{}
		for k, e := range x {
			out[k] = p.mapped(e)
			if idField.MatchString(k) {
				out[k] = p.mappedID(e)
			}
		}
		return out
	case []any:
		out := make([]any, len(x))
		for i, e := range x {
			out[i] = p.mapped(e)
		}
		return out
	}
	return v
}

func (p *replay) mappedID(v any) any {
	switch x := v.(type) {
	case int64:
		if id, ok := p.ids[x]; ok {
			return id
		}
	case []any:
		out := make([]any, len(x))
		for i, e := range x {
			out[i] = p.mappedID(e)
		}
		return out
	}
	return v
}

func (p *replay) compare(x wiretest.Exchange, got *hms.Message, err error) {
	p.all++
	want := "closed"
	var rec *hms.Message
	if x.Reply != nil {
		var err error
		if rec, err = p.codec.DecodeMessage(x.Reply.Bytes); rec == nil {
			p.Fatalf("recorded reply to %s: %v", x.Call.Method, err)
		}
		want = outcomeText(rec)
	}
	have := "closed"
	if got != nil {
		have = outcomeText(got)
	}
	if rec != nil && got != nil {
		p.learn(rec.Result, got.Result)
	}
	if have == want {
		p.same++
		return
	}
	p.diff[x.Call.Method]++
	if os.Getenv("REPLAY") == x.Call.Method { // what differs, for whoever works on it
		i := 0
		for i < min(len(want), len(have)) && want[i] == have[i] {
			i++
		}
		i = max(0, i-60)
		p.Logf("%s\n want %.400s\n  got %.400s %v", x.Call.Method, want[i:], have[i:], errors.Unwrap(err))
	}
}

// learn pairs the ids of two replies.
func (p *replay) learn(rec, got any) {
	a, ok1 := rec.(hms.Struct)
	b, ok2 := got.(hms.Struct)
	if !ok1 || !ok2 {
		return
	}
	if x, y := a.Int("lockid"), b.Int("lockid"); x != 0 && y != 0 {
		p.ids[x] = y
	}
	x, y := a.List("txn_ids"), b.List("txn_ids")
	for i := range min(len(x), len(y)) {
		p.ids[x[i].(int64)] = y[i].(int64)
	}
}

// changing are the fields and parameters that differ between any two runs: times, ids,
// and the figures of files, of which there are none here.
var changing = map[string]bool{}

func init() {
	for _, k := range strings.Fields(`createTime lastAccessTime transient_lastDdlTime lastAnalyzed createdAt materializationTime grantTime
		lastheartbeat acquiredat startedTime lastHeartbeatTime creationTime enqueueTime eventTime
		lockid txnid txnId txn_ids txnIds id eventId eventIds txn_high_water_mark min_open_txn open_txns writeId tableId lockIdInternal
		numFiles numFilesErasureCoded totalSize rawDataSize numRows`) {
		changing[k] = true
	}
}

var (
	ids    = regexp.MustCompile(`(?i)\b(lockid|txnid|intLockId|createTime):\d+`)
	folder = regexp.MustCompile(`file:[^ \],{}]*?/(warehouse/mem|warehouse|external|wh)/`)
	uuid   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
)

func outcomeText(m *hms.Message) string {
	switch {
	case m.Failure != nil:
		return ids.ReplaceAllString(m.Failure.Error(), "$1:0")
	case m.Thrown != nil:
		return ids.ReplaceAllString(m.Thrown.Error(), "$1:0")
	}
	return plain(m.Result)
}

// plain prints a value without what changes, the keys of maps and structs in order.
func plain(v any) string {
	switch x := v.(type) {
	case hms.Struct:
		parts := []string{}
		for _, k := range sortedKeys(x) {
			if !changing[k] && !(k == "locationUri" && x["name"] == "default") {
				parts = append(parts, k+":"+plain(x[k]))
			}
		}
		return "{" + strings.Join(parts, " ") + "}"
	case hms.Map:
		parts := []string{}
		for _, e := range x {
			if k, ok := e.Key.(string); !ok || !changing[k] {
				parts = append(parts, plain(e.Key)+":"+plain(e.Value))
			}
		}
		sort.Strings(parts)
		return "(" + strings.Join(parts, " ") + ")"
	case []any:
		parts := []string{}
		for _, e := range x {
			parts = append(parts, plain(e))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case string:
		if strings.Contains(x, "file:") {
			x = folder.ReplaceAllString(x, "file:/W/")
		}
		if len(x) >= 36 {
			x = uuid.ReplaceAllString(x, "UUID")
		}
		return x
	}
	return fmt.Sprint(v)
}
