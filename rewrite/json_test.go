package rewrite

import (
	"encoding/json"
	"strings"
	"testing"
)

// body rewrites a notification's body.
func body(t testing.TB, p *Plan, text string) string {
	t.Helper()
	k := Walker{p: p, names: c1(false)}
	out, err := k.message([]byte("<"), []byte(text))
	if err != nil || len(out) == 0 || out[0] != '<' {
		t.Fatalf("error %v, got %q", err, out)
	}
	return string(out[1:])
}

// TestMessages has what stands where in notifications of Hive 3.1 and 4.
func TestMessages(t *testing.T) {
	p, _ := textPlan(t)
	nested := func(s string) string {
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return `{"server":"","tableObjJson":` + string(b) + `,"timestamp":1}`
	}
	for _, tc := range []struct{ name, in, want string }{
		{"names", `{"db":"a","table":"a","catName":"hive","x":["a",1,null,{"db":"a"}]}`, `{"db":"c1__a","table":"a","catName":"hive","x":["a",1,null,{"db":"a"}]}`},
		{"space", "{ \"db\"\t:\r\n \"a\" , \"databases\" : [ \"a\" , \"b\" ] } ", "{ \"db\"\t:\r\n \"c1__a\" , \"databases\" : [ \"c1__a\" , \"c1__b\" ] } "},
		{"no string", `{"db":null,"databases":[null,1,["a"]],"catName":{"a":"b"}}`, `{"db":null,"databases":[null,1,["a"]],"catName":{"a":"b"}}`},
		{"escapes", `{"db":"\u0061\"\/\n","x":"\u0061"}`, `{"db":"c1__a\"/\n","x":"\u0061"}`},
		{"pair of surrogates", `{"db":"\ud83d\ude00"}`, "{\"db\":\"c1__\U0001F600\"}"},
		{"half a pair", `{"db":"\ud83d"}`, `{"db":"\ud83d"}`},
		{"write ids", `{"validWriteIds":"a.t:5:4:3:"}`, `{"validWriteIds":"c1__a.t:5:4:3:"}`},
		{"empty", `{}`, `{}`},
		{"table", nested(`{"1":{"str":"ev"},"2":{"str":"a"},"4":{"i32":-1},"5":{"tf":0},"7":{"rec":{"2":{"str":"a"}}},"17":{"str":"hive"},"18":{"i64":5}}`),
			nested(`{"1":{"str":"ev"},"2":{"str":"c1__a"},"4":{"i32":-1},"5":{"tf":0},"7":{"rec":{"2":{"str":"a"}}},"17":{"str":"hive"},"18":{"i64":5}}`)},
		{"parameters and text", nested(`{"9":{"map":["str","str",2,{"view.db":"a","x":"a"}]},"11":{"str":"select \"x\" from a.b"}}`),
			nested(`{"9":{"map":["str","str",2,{"view.db":"c1__a","x":"a"}]},"11":{"str":"select \"x\" from c1__a.b"}}`)},
		{"a table in a table", nested(`{"16":{"rec":{"16":{"rec":{"2":{"str":"a"}}}}}}`), nested(`{"16":{"rec":{"16":{"rec":{"2":{"str":"c1__a"}}}}}}`)},
		{"containers", nested(`{"19":{"lst":["str",2,"a.t","b.u"]},"20":{"map":["str","rec",1,{"a":{"2":{"str":"a"}}}]}}`),
			nested(`{"19":{"lst":["str",2,"c1__a.t","c1__b.u"]},"20":{"map":["str","rec",1,{"c1__a":{"2":{"str":"c1__a"}}}]}}`)},
		{"empty containers", nested(`{"2":{"str":"a"},"19":{"lst":["str",0]},"20":{"map":["str","rec",0,{}]}}`), nested(`{"2":{"str":"c1__a"},"19":{"lst":["str",0]},"20":{"map":["str","rec",0,{}]}}`)},
		{"keys that are lists", nested(`{"2":{"str":"a"},"20":{"map":["lst","str",1,{["str",1,"a"]:"b"}]}}`), nested(`{"2":{"str":"c1__a"},"20":{"map":["lst","str",1,{["str",1,"a"]:"b"}]}}`)},
		{"other types", nested(`{"2":{"i32":1},"19":{"lst":["i32",1,2]},"16":{"str":"x"},"21":{"str":"a"}}`), nested(`{"2":{"i32":1},"19":{"lst":["i32",1,2]},"16":{"str":"x"},"21":{"str":"c1__a"}}`)},
		{"unless latched", nested(`{"21":{"str":"a"}}`), nested(`{"21":{"str":"a"}}`)},
		{"list of structs", `{"primaryKeyListJson":["{\"1\":{\"str\":\"a\"}}","{\"1\":{\"str\":\"b\"}}"]}`, `{"primaryKeyListJson":["{\"1\":{\"str\":\"c1__a\"}}","{\"1\":{\"str\":\"c1__b\"}}"]}`},
		{"inner JSON is none", `{"db":"a","tableObjJson":"{\"2\":"}`, `{"db":"c1__a","tableObjJson":"{\"2\":"}`},
		{"bytes that are no text", "{\"db\":\"\xff\x01\"}", "{\"db\":\"c1__\xff\\u0001\"}"},

		{"cut off", `{"db":"a"`, `{"db":"a"`},
		{"cut off in a string", `{"db":"a","x":"`, `{"db":"a","x":"`},
		{"something behind it", `{"db":"a"}x`, `{"db":"a"}x`},
		{"no comma", `{"db":"a" "x":1}`, `{"db":"a" "x":1}`},
		{"comma too many", `{"db":"a",}`, `{"db":"a",}`},
		{"unknown escape", `{"db":"\q"}`, `{"db":"\q"}`},
		{"list", `["db"]`, `["db"]`},
		{"prose", `db a`, `db a`},
		{"nothing", ``, ``},
		{"no gzip", `H4sIxxxx`, `H4sIxxxx`},
		{"no base64", `H4sI-`, `H4sI-`},
		{"too deep", `{"db":"a","x":` + strings.Repeat("[", 70) + strings.Repeat("]", 70) + `}`, `{"db":"a","x":` + strings.Repeat("[", 70) + strings.Repeat("]", 70) + `}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := body(t, p, tc.in); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
			got := body(t, p, zipped(t, tc.in))
			if tc.in == tc.want {
				if got != zipped(t, tc.in) {
					t.Errorf("zipped: it changed")
				}
			} else if plain, ok := unzip([]byte(got)); !ok || string(plain) != tc.want {
				t.Errorf("zipped\ngot  %s, %v\nwant %s", plain, ok, tc.want)
			}
		})
	}
}

// TestMessageBomb: what unpacks to more than can be held stays packed.
func TestMessageBomb(t *testing.T) {
	p, _ := textPlan(t)
	text := zipped(t, `{"db":"a","x":"`+strings.Repeat("x", maxText)+`"}`)
	if len(text) > 100<<10 {
		t.Fatalf("%d bytes are no bomb", len(text))
	}
	if got := body(t, p, text); got != text {
		t.Errorf("%d bytes became %d", len(text), len(got))
	}
}

func TestMessageIDs(t *testing.T) {
	p, _ := textPlan(t)
	k := Walker{p: p, names: &reader{side: &side{id: 1 << 50}}}
	got, err := k.object(nil, []byte(`{"18":{"i64":1}}`), p.keys["tableObjJson"].node)
	if want := `{"18":{"i64":1125899906842625}}`; err != nil || string(got) != want {
		t.Errorf("error %v, got %s, want %s", err, got, want)
	}
}

// FuzzMessage: JSON stays JSON, and where names are the same on both sides
// every byte stays.
func FuzzMessage(f *testing.F) {
	p, _ := textPlan(f)
	for _, s := range []string{`{"db":"a","tableObjJson":"{\"2\":{\"str\":\"a\"},\"9\":{\"map\":[\"str\",\"str\",1,{\"view.db\":\"a\"}]}}"}`,
		`{"databases":["a"],"x":[{},1e5,true]}`, `{"primaryKeyListJson":["{\"1\":{\"str\":\"\\u0061\"}}"]}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := body(t, p, text)
		if json.Valid([]byte(text)) && !json.Valid([]byte(got)) {
			t.Fatalf("%q is no JSON any more: %q", text, got)
		}
		k := Walker{p: p, names: &reader{side: &side{}, not: "sql"}}
		if out, err := k.message(nil, []byte(text)); err != nil || string(out) != text {
			t.Fatalf("nothing to change, error %v\ngot  %q\nwant %q", err, out, text)
		}
	})
}
