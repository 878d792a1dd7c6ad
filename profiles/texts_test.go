package profiles

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
	"regexp"
	"strings"
	"testing"

	"hmsgate/frame"
	"hmsgate/internal/wiretest"
	"hmsgate/rewrite"
)

// TestTextRulesExist: every field and struct that texts.yaml names is in some
// inventory, and every kind is one that texts can have.
func TestTextRulesExist(t *testing.T) {
	r, err := texts()
	if err != nil {
		t.Fatal(err)
	}
	u, err := AutoInventory()
	if err != nil {
		t.Fatal(err)
	}
	check := func(key string, tr textRule) {
		if tr.object != "" && u.Structs[tr.object] == nil {
			t.Errorf("%s: no inventory has a struct %s", key, tr.object)
		}
	}
	for key, tr := range r.fields {
		check(key, tr)
		owner, field, _ := strings.Cut(key, ".")
		found := false
		for i := range u.Structs[owner].Fields {
			found = found || u.Structs[owner].Fields[i].Name == field
		}
		if !found || mustRules(t).structs[owner][field].kind == rewrite.None {
			t.Errorf("%s: no such field, or fields.yaml has no rule to make more precise", key)
		}
	}
	for key, tr := range r.messages {
		if check(key, tr); tr.kind != rewrite.DB && tr.kind != rewrite.Cat && tr.kind != rewrite.Object {
			t.Errorf("%s: %s is nothing that a notification holds", key, tr.kind)
		}
	}
	for key, tr := range r.params {
		if tr.kind != rewrite.DBRef && tr.kind != rewrite.AcidFlag {
			t.Errorf("%s: a parameter refers to a database, it is no %s", key, tr.kind)
		}
	}
	if len(r.fields) < 4 || len(r.messages) < 30 || len(r.params) < 2 {
		t.Errorf("%d fields, %d keys of messages, %d parameters", len(r.fields), len(r.messages), len(r.params))
	}
}

func TestParseTexts(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"messages: {db: dbb}", `messages: db: "dbb" is no kind of name`},
		{"messages: {db: object}", "an object is one of a struct"},
		{"fields: {a.b: db Table}", `a db is none of a struct, yet "Table" follows`},
		{"params: {}", "field params not found"},
	} {
		if _, err := parseTexts([]byte(tc.text)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %s", tc.text, err, tc.want)
		}
	}
}

// prefixer puts "x__" before the db of recorded events.
type prefixer struct{ edits int }

func (p *prefixer) Append(dst []byte, k rewrite.Kind, v []byte) ([]byte, error) {
	if k == rewrite.DB && len(v) > 0 {
		p.edits++
		dst = append(dst, "x__"...)
	}
	return append(dst, v...), nil
}
func (p *prefixer) ID(_ rewrite.Kind, id int64) (int64, error) { return id, nil }
func (p *prefixer) Keep(rewrite.Kind, []byte) bool             { return true }
func (p *prefixer) Strict() bool                               { return false }
func (p *prefixer) Rewrites(k rewrite.Kind) bool               { return k == rewrite.JSON || k == rewrite.Object }

type buffer struct{ bytes.Buffer }

func (*buffer) End() error { return nil }

// bodyOf finds notification bodies of both formats in a message.
var bodyOf = regexp.MustCompile(`\{"[a-zA-Z]+":.*?\}\x0b\x00\x07|H4sI[A-Za-z0-9+/=]+`)

func unpack(t *testing.T, b []byte) (string, bool) {
	t.Helper()
	if b[0] == '{' {
		return strings.TrimSuffix(string(b), "\x0b\x00\x07"), false
	}
	raw, err := base64.StdEncoding.DecodeString(string(b))
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), true
}

// TestRecordedNotifications: the bodies that metastores of 3.1.3 and 4.x wrote,
// in both formats. The databases in them are all called pdb or pdb_2; where
// they stand is told by text alone.
func TestRecordedNotifications(t *testing.T) {
	plans, places := Auto(), strings.NewReplacer(
		`"db":"pdb`, `"db":"x__pdb`, `"dbName":"pdb`, `"dbName":"x__pdb`, `"database":"pdb`, `"database":"x__pdb`,
		`\"2\":{\"str\":\"pdb\"}`, `\"2\":{\"str\":\"x__pdb\"}`, `\"2\":{\"str\":\"pdb_2\"}`, `\"2\":{\"str\":\"x__pdb_2\"}`)
	plain, packed := 0, 0
	for _, rec := range wiretest.Recordings(t) {
		for _, c := range rec.Conns {
			for _, x := range c.Exchanges() {
				if x.Call.Method != "get_next_notification" || x.Reply == nil {
					continue
				}
				out, names := new(buffer), new(prefixer)
				w := frame.NewWindow(bytes.NewReader(x.Reply.Bytes), nil)
				w.Start(0, 0)
				w.Emit(out, false)
				var k rewrite.Walker
				if err := k.Emit(w, plans.Reply, plans.Method([]byte(x.Call.Method)).ReplyRoot, names); err != nil {
					t.Fatal(err)
				}
				if err := w.End(); err != nil {
					t.Fatal(err)
				}
				was, is := bodyOf.FindAll(x.Reply.Bytes, -1), bodyOf.FindAll(out.Bytes(), -1)
				if len(was) != len(is) {
					t.Fatalf("%s: %d bodies became %d", rec.Name, len(was), len(is))
				}
				for i := range was {
					a, zipped := unpack(t, was[i])
					b, _ := unpack(t, is[i])
					if zipped {
						packed++
					} else {
						plain++
					}
					if want := places.Replace(a); b != want || !strings.Contains(b, "x__") {
						t.Errorf("%s\ngot  %s\nwant %s", rec.Name, b, want)
					}
				}
			}
		}
	}
	if plain < 30 || packed < 30 {
		t.Errorf("%d plain and %d packed bodies", plain, packed)
	}
}
