package gateway

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"hmsgate/frame"
	"hmsgate/internal/wiretest"
	"hmsgate/profiles"
	"hmsgate/rewrite"
)

// recNames put a prefix to every database name, or take it away again.
type recNames struct {
	prefix string
	remove bool
	all    bool // catalogs and ids change too
	edits  int
}

func (n *recNames) Append(dst []byte, k rewrite.Kind, v []byte) ([]byte, error) {
	s := string(v)
	switch k {
	case rewrite.DB, rewrite.DBAt, rewrite.DBRef:
		s = n.db(s)
	case rewrite.SQL, rewrite.SQLOriginal:
		return rewrite.AppendSQL(dst, v, n), nil
	case rewrite.Cat:
		if n.all && s != "" {
			s = n.fix(s)
		}
	case rewrite.Pattern, rewrite.PatternAt:
		s = n.behindAt(s, func(s string) string {
			parts := strings.Split(s, "|")
			for i, p := range parts {
				if p != "" {
					parts[i] = n.fix(p)
				}
			}
			return strings.Join(parts, "|")
		})
	case rewrite.TableFull, rewrite.TableMaybe, rewrite.WriteIDs:
		s = n.full(s)
	case rewrite.WriteIDsMulti:
		parts := strings.Split(s, "$")
		for i := range parts[1:] {
			name, rest, colon := strings.Cut(parts[i+1], ":")
			if parts[i+1] = n.full(name); colon {
				parts[i+1] += ":" + rest
			}
		}
		s = strings.Join(parts, "$")
	case rewrite.Policy:
		if s != "" && s[0] != '.' {
			s = n.fix(s)
		}
	}
	if s != string(v) {
		n.edits++
	}
	return append(dst, s...), nil
}

// db is a database name in any of its forms; the dummy one is nobody's.
func (n *recNames) db(s string) string {
	return n.behindAt(s, func(s string) string {
		if strings.EqualFold(strings.TrimPrefix(s, n.prefix), "_dummy_database") {
			return s
		}
		return n.fix(s)
	})
}

// behindAt keeps "@cat#" in front, and what names nothing as it is.
func (n *recNames) behindAt(s string, name func(string) string) string {
	head := ""
	if i := strings.IndexByte(s, '#'); i > 0 && s[0] == '@' {
		head, s = s[:i+1], s[i+1:]
		if head != "@hive#" {
			return head + s // a catalog that only the backend knows
		}
		if strings.HasSuffix(s, "#") || strings.HasSuffix(s, "!") {
			return head + s
		}
	}
	if s == "" {
		return head
	}
	return head + name(s)
}

// full is db.table; a lone table stays.
func (n *recNames) full(s string) string {
	i := strings.LastIndexByte(s, '.')
	if i <= 0 {
		return s
	}
	head, rest := "", s
	if strings.HasPrefix(s, "hive.") && i > len("hive.") {
		head, rest = s[:len("hive.")], s[len("hive."):]
	}
	return head + n.fix(rest)
}

func (n *recNames) fix(s string) string {
	if n.remove {
		return strings.TrimPrefix(s, n.prefix)
	}
	return n.prefix + s
}

func (n *recNames) ID(_ rewrite.Kind, id int64) (int64, error) {
	if n.all {
		n.edits++
		return id ^ 1<<50, nil
	}
	return id, nil
}

func (n *recNames) Keep(rewrite.Kind, []byte) bool { return true }

func (n *recNames) Strict() bool { return true }

// recRun walks messages from a stream to memory.
type recRun struct {
	w    *frame.Window
	k    rewrite.Walker
	f    rewrite.Facts
	out  recSink
	part recParts
}

type recSink struct{ bytes.Buffer }

func (*recSink) End() error { return nil }

func newRecRun() *recRun { return &recRun{w: frame.NewWindow(nil, nil)} }

// recParts is a stream in two pieces.
type recParts [2][]byte

func (p *recParts) Read(b []byte) (int, error) {
	for i := range p {
		if len(p[i]) > 0 {
			n := copy(b, p[i])
			p[i] = p[i][n:]
			return n, nil
		}
	}
	return 0, io.EOF
}

// edit walks the message of a stream. The result is good until the next edit.
func (r *recRun) edit(src io.Reader, call bool, p *profiles.Plans, m *profiles.MethodPlan, names rewrite.Names) ([]byte, error) {
	w := r.w
	w.Reset(src, nil)
	r.out.Reset()
	w.Start(0, 64<<20)
	plan, root := p.Reply, m.ReplyRoot
	if call {
		plan, root = p.Call, m.CallRoot
		if _, err := w.Header(false); err != nil {
			return nil, err
		}
		if err := r.k.Gather(w, plan, root, &r.f); err != nil {
			return nil, err
		}
		w.Rewind()
	}
	w.Emit(&r.out, false)
	if err := r.k.Emit(w, plan, root, names); err != nil {
		return nil, err
	}
	err := w.End()
	w.Release()
	return r.out.Bytes(), err
}

// whole edits a message in one piece.
func (r *recRun) whole(msg []byte, call bool, p *profiles.Plans, m *profiles.MethodPlan, names rewrite.Names) ([]byte, error) {
	r.part = recParts{msg}
	out, err := r.edit(&r.part, call, p, m, names)
	return bytes.Clone(out), err
}

// recMessage is one recorded message, of which the same bytes, sequence id
// aside, were not seen before.
type recMessage struct {
	wiretest.Message
	recording      string
	client, server string // labels of inventories; "" for clients with an interface of their own
	call           bool
	plan           *profiles.MethodPlan // of all versions
}

// sender is the version of who sent the message.
func (m *recMessage) sender() string {
	if m.call {
		return m.client
	}
	return m.server
}

// recMessages are all different messages of all recordings.
func recMessages(t *testing.T) (out []recMessage) {
	t.Helper()
	seen := map[string]bool{}
	for _, r := range wiretest.Recordings(t) {
		client, server := r.Versions()
		if client != "" {
			client = "apache-" + client
		}
		for _, c := range r.Conns {
			calls, _ := wiretest.Messages(c.Client)
			replies, _ := wiretest.Messages(c.Server)
			for i, m := range append(calls, replies...) {
				key := string(m.Bytes[:8+len(m.Method)]) + r.Name + string(m.Bytes[m.Body:])
				if seen[key] {
					continue
				}
				seen[key] = true
				out = append(out, recMessage{m, r.Name, client, "apache-" + server, i < len(calls),
					profiles.Auto().Method([]byte(m.Method))})
			}
		}
	}
	return out
}
