package rewrite

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
	"slices"
	"strings"
	"testing"

	"hmsgate/frame"
	"hmsgate/internal/wiretest"
)

// reader puts "c1__" before names and reads texts; of the kinds in not, it
// does not.
type reader struct {
	*side
	not string
}

func (r *reader) Rewrites(k Kind) bool { return !slices.Contains(strings.Fields(r.not), k.String()) }

func (r *reader) Append(dst []byte, k Kind, v []byte) ([]byte, error) {
	switch {
	case k == SQL || k == SQLOriginal:
		return AppendSQL(dst, v, prefixed{}), nil
	case k == Cat:
		return append(dst, v...), nil
	}
	return r.side.Append(dst, k, v)
}

func c1(strict bool) *reader { return &reader{side: &side{add: "c1__", strict: strict}} }

// textPlan is a struct with a text of each kind, and a Table inside of JSON.
func textPlan(t testing.TB) (*Plan, RootID) {
	return build(t, func(b *Builder, n NodeID) {
		table, constraint := b.Node("Table"), b.Node("SQLPrimaryKey")
		b.Field(table, 2, frame.String, Action{Do: Name, Kind: DB})
		b.Field(table, 9, frame.Map, Action{Do: Name, Kind: TableParams})
		b.Field(table, 11, frame.String, Action{Do: Name, Kind: SQL})
		b.Field(table, 16, frame.Struct, Action{Do: Into, Node: table})
		b.Field(table, 16, frame.String, Action{Latch: true})
		b.Field(table, 17, frame.String, Action{Do: Name, Kind: Cat})
		b.Field(table, 18, frame.I64, Action{Do: Name, Kind: WriteID})
		b.Field(table, 19, frame.List, Action{Do: Each, Elem: &Action{Do: Name, Kind: TableFull}})
		b.Field(table, 20, frame.Map, Action{Do: Each, Key: &Action{Do: Name, Kind: DB}, Elem: &Action{Do: Into, Node: table}})
		b.Field(table, 21, frame.String, Action{Do: Name, Kind: DB, When: IfLatched})
		b.Field(table, 22, frame.String, Action{Do: Name, Kind: WriteIDs})
		b.Field(constraint, 1, frame.String, Action{Do: Name, Kind: DB})
		b.Field(n, 1, frame.String, Action{Do: Name, Kind: SQL})
		b.Field(n, 2, frame.String, Action{Do: Name, Kind: SQLOriginal})
		b.Field(n, 3, frame.Map, Action{Do: Name, Kind: TableParams})
		b.Field(n, 4, frame.String, Action{Do: Name, Kind: JSON})
		b.Field(n, 5, frame.String, Action{Do: Name, Kind: Object, Node: table})
		b.Key("db", DB, 0)
		b.Key("databases", DB, 0)
		b.Key("catName", Cat, 0)
		b.Key("validWriteIds", WriteIDs, 0)
		b.Key("tableObjJson", Object, table)
		b.Key("primaryKeyListJson", Object, constraint)
		b.Param("view.db", DBRef)
		b.Param("view.part.1", DBRef)
	})
}

const sqlIn, sqlOut = "select 'a.b' from a.b -- from a.b", "select 'a.b' from c1__a.b -- from a.b"

// TestTexts walks a message with texts, whole and cut at every byte.
func TestTexts(t *testing.T) {
	p, r := textPlan(t)
	msg := func(sql, original, param, json, object string) []byte {
		return call(st{}.String(1, sql).String(2, original).
			StringMap(3, "comment", "from a.b", "view.db", param, "view.dbx", "a", "view.part.1", param).
			String(4, json).String(5, object).String(9, sqlIn))
	}
	in := msg(sqlIn, sqlIn, "a", `{"db":"a"}`, `{"2":{"str":"a"}}`)
	for _, tc := range []struct {
		name  string
		names Names
		want  []byte
	}{
		{"all", c1(true), msg(sqlOut, sqlOut, "c1__a", `{"db":"c1__a"}`, `{"2":{"str":"c1__a"}}`)},
		{"not the original", &reader{c1(true).side, "sql_original"}, msg(sqlOut, sqlIn, "c1__a", `{"db":"c1__a"}`, `{"2":{"str":"c1__a"}}`)},
		{"no views", &reader{c1(true).side, "sql sql_original table_params"}, msg(sqlIn, sqlIn, "a", `{"db":"c1__a"}`, `{"2":{"str":"c1__a"}}`)},
		{"names that read no texts", c1(true).side, in},
		{"the same names on both sides", nil, in},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := through(t, p, r, tc.names, in)
			if got.err != nil || !bytes.Equal(got.out, tc.want) {
				t.Errorf("error %v\ngot  %q\nwant %q", got.err, got.out, tc.want)
			}
		})
	}
}

func TestTextsAreNoFacts(t *testing.T) {
	p, r := textPlan(t)
	facts, f := gather(t, p, r, call(st{}.String(1, sqlIn).StringMap(3, "view.db", "a").String(4, `{"db":"a"}`).String(5, `{}`)))
	if len(facts) != 0 || f.Final {
		t.Errorf("facts %q, final %v", facts, f.Final)
	}
}

// TestLongTexts: up to 16 MB in either direction, beyond it a call is refused
// and a reply copied.
func TestLongTexts(t *testing.T) {
	p, r := textPlan(t)
	text := func(n int) string {
		return "select 1 from a.b -- " + strings.Repeat("x", n-len("select 1 from a.b -- "))
	}
	for _, n := range []int{frame.SmallSize, frame.BigSize, 3 << 20, maxText} {
		in, want := call(st{}.String(1, text(n)).I32(7, 1)), call(st{}.String(1, strings.Replace(text(n), "a.b", "c1__a.b", 1)).I32(7, 1))
		if got := emit(bytes.NewReader(in), p, r, c1(false), n%2 == 0); got.err != nil || !bytes.Equal(got.out, want) {
			t.Fatalf("%d bytes: error %v, got %s", n, got.err, clip(got.out))
		}
	}
	in := call(st{}.String(1, text(maxText+1)).I32(7, 1))
	if got := emit(bytes.NewReader(in), p, r, c1(false), false); got.err != nil || !bytes.Equal(got.out, in) || got.unseen != 1 {
		t.Errorf("a reply: error %v, unseen %d, got %s", got.err, got.unseen, clip(got.out))
	}
	has(t, emit(bytes.NewReader(in), p, r, c1(true), false).err, ErrName, "sql of 16777217 bytes", "at most 16777216")
}

func TestTextsThatAreNone(t *testing.T) {
	p, r := textPlan(t)
	negative := call(st{}.Field(wiretest.WireString, 1, []byte{0xff, 0xff, 0xff, 0xff}))
	has(t, emit(bytes.NewReader(negative), p, r, c1(false), false).err, frame.ErrNegative, "args.1")
	odd := call(st{}.Field(wiretest.WireMap, 3, dict(wiretest.WireString, wiretest.WireI32, append(strs("view.db"), []byte{0, 0, 0, 1})...)))
	if got := emit(bytes.NewReader(odd), p, r, c1(false), false); got.err != nil || !bytes.Equal(got.out, odd) || got.unseen != 1 {
		t.Errorf("a map of another type: error %v, unseen %d, got %q", got.err, got.unseen, got.out)
	}
	has(t, emit(bytes.NewReader(odd), p, r, c1(true), false).err, ErrElement, "args.3")
	long := call(st{}.StringMap(3, "view.db", strings.Repeat("x", maxName+1)))
	if got := emit(bytes.NewReader(long), p, r, c1(false), false); got.err != nil || !bytes.Equal(got.out, long) || got.unseen != 1 {
		t.Errorf("a long parameter: error %v, unseen %d", got.err, got.unseen)
	}
}

// TestANameInATextThatBelongsElsewhere refuses a call, as it does outside.
func TestANameInATextThatBelongsElsewhere(t *testing.T) {
	p, r := textPlan(t)
	n := c1(true)
	n.elsewhere = "a"
	for _, msg := range [][]byte{
		call(st{}.String(5, `{"2":{"str":"a"}}`)), call(st{}.String(4, `{"databases":["b","a"]}`)),
		call(st{}.String(4, zipped(t, `{"tableObjJson":"{\"2\":{\"str\":\"a\"}}"}`))), call(st{}.StringMap(3, "view.db", "a")),
	} {
		has(t, emit(bytes.NewReader(msg), p, r, n, false).err, errElsewhere, "args.")
	}
}

// Write-id lists inside a text may be as long as they are outside of one.
func TestLongListsInJSON(t *testing.T) {
	p, r := textPlan(t)
	for _, n := range []int{1, maxName} {
		ids := strings.Repeat(":1", n)
		in := call(st{}.String(4, `{"validWriteIds":"a.t`+ids+`"}`))
		want := call(st{}.String(4, `{"validWriteIds":"c1__a.t`+ids+`"}`))
		if out := emit(bytes.NewReader(in), p, r, c1(true), false); out.err != nil || !bytes.Equal(out.out, want) {
			t.Errorf("%d entries: got %.80q, %v, want the name alone changed", n, out.out, out.err)
		}
	}
}

func zipped(t testing.TB, s string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, s); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}
