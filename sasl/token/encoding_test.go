package token

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"hmsgate/sasl/internal/recorded"
)

func TestVLong(t *testing.T) {
	for _, c := range []struct {
		v    int64
		want string
	}{
		{0, "00"}, {127, "7f"}, {128, "8f80"}, {255, "8fff"}, {256, "8e0100"}, {-1, "ff"}, {-112, "90"}, {-113, "8770"},
		{1 << 31, "8c80000000"}, {math.MaxInt64, "887fffffffffffffff"}, {math.MinInt64, "807fffffffffffffff"},
	} {
		got := appendVLong(nil, c.v)
		r := reader{b: got}
		if back := r.vlong(); hex.EncodeToString(got) != c.want || back != c.v || r.end() != nil {
			t.Errorf("%d: got %x, back %d, %v, want %s", c.v, got, back, r.end(), c.want)
		}
	}
	for _, s := range []string{"", "8f", "8e01", "88ffffffffffffff"} {
		b, _ := hex.DecodeString(s)
		if r := (&reader{b: b}); r.vlong() != 0 && r.end() == nil {
			t.Errorf("%s: accepted", s)
		}
	}
}

// A made-up token, computed from the layout by another program.
func TestVector(t *testing.T) {
	d := Identifier{Owner: "alice", Renewer: "gw", RealUser: "hive/hs2.test.local@TEST.LOCAL", Issue: 1700000000000, Max: 1700604800000, Seq: 7, Key: 3}
	raw := d.Append(nil)
	if got, want := hex.EncodeToString(raw), "0005616c6963650267771e686976652f6873322e746573742e6c6f63616c40544553542e4c4f43414c8a018bcfe568008a018bf3f1ec000703"; got != want {
		t.Errorf("identifier: got %s, want %s", got, want)
	}
	pw := HmacSHA1.Password([]byte{0, 1, 2, 3, 4, 5, 6, 7}, raw)
	if got, want := hex.EncodeToString(pw), "fd7e9b9db23961f325092a7bf4e66f229bb60ed9"; got != want {
		t.Errorf("password: got %s, want %s", got, want)
	}
	text := Token{Identifier: raw, Password: pw, Kind: Kind}.Encode()
	const want = "OQAFYWxpY2UCZ3ceaGl2ZS9oczIudGVzdC5sb2NhbEBURVNULkxPQ0FMigGLz-VoAIoBi_Px7AAHAxT9fpudsjlh8yUJKnv05m8im7YO2RVISVZFX0RFTEVHQVRJT05fVE9LRU4A"
	if text != want {
		t.Errorf("token: got %s, want %s", text, want)
	}
	if back, err := ParseIdentifier(raw); err != nil || back != d {
		t.Errorf("got %+v, %v", back, err)
	}
}

// Real tokens of Hive 3.1.3 and 4.1.0.
func TestRecorded(t *testing.T) {
	for _, v := range []string{"3.1.3", "4.1.0"} {
		for _, q := range []string{"auth", "auth-int", "auth-conf"} {
			c, err := recorded.Load("../testdata/" + v + "-digest-md5-" + q + ".wire")
			if err != nil {
				t.Fatal(err)
			}
			tok, err := Decode(c.Facts["token"])
			if err != nil || tok.Kind != Kind || tok.Service != "" || !bytes.Equal(tok.Identifier, c.Hex("identifier")) || !bytes.Equal(tok.Password, c.Hex("password")) {
				t.Fatalf("%s %s: got %+v, %v", v, q, tok, err)
			}
			if tok.Encode() != c.Facts["token"] {
				t.Errorf("%s %s: encodes to %s", v, q, tok.Encode())
			}
			d, err := ParseIdentifier(tok.Identifier)
			if err != nil || d.Owner != "alice" || d.Renewer != "alice" || d.RealUser != "alice@RIG.TEST" || d.Max-d.Issue != (7*24*time.Hour).Milliseconds() {
				t.Errorf("%s %s: got %+v, %v", v, q, d, err)
			}
			if got := HmacSHA1.Password(c.Hex("master-key"), tok.Identifier); !bytes.Equal(got, tok.Password) {
				t.Errorf("%s %s: password differs", v, q)
			}
		}
	}
}

// Hive's own ZooKeeper entries: each key and record is read and written again
// to the byte, and each token's password follows from its key.
func TestZNodes(t *testing.T) {
	for v, p := range map[string]Padding{"3.1.3": Unpadded, "4.1.0": Padded} {
		b, err := os.ReadFile("../testdata/" + v + "-znodes.txt")
		if err != nil {
			t.Fatal(err)
		}
		keys, tokens := map[int32][]byte{}, 0
		for _, line := range strings.Split(strings.TrimSpace(string(b)), "\n") {
			f := strings.Fields(line)
			switch f[0] {
			case "key":
				k, err := DecodeKey(f[2])
				if err != nil || len(k.Key) != 8 || p.EncodeKey(k) != f[2] || !strings.HasSuffix(f[1], string(rune('0'+k.ID))) {
					t.Errorf("%s: got %+v, %v, encoded %s", line, k.ID, err, p.EncodeKey(k))
				}
				keys[k.ID] = k.Key
			case "token":
				raw, err := ParseEntryName(f[1])
				if err != nil || p.EntryName(raw) != f[1] {
					t.Fatalf("%s: %v, written %s", f[1], err, p.EntryName(raw))
				}
				d, err := ParseIdentifier(raw)
				if err != nil {
					t.Fatal(err)
				}
				data, _ := hex.DecodeString(f[2])
				r, err := ParseRecord(data)
				if err != nil || !bytes.Equal(AppendRecord(nil, r), data) || !bytes.Equal(r.Password, HmacSHA1.Password(keys[d.Key], raw)) {
					t.Errorf("%s: got renew %v, %v", f[1], r.Renew, err)
				}
				if got := r.Renew.UnixMilli() - d.Issue; got != (24 * time.Hour).Milliseconds() {
					t.Errorf("%s: renew date %d ms after issue", f[1], got)
				}
				tokens++
			}
		}
		if len(keys) != 2 || tokens != 6 {
			t.Errorf("%s: %d keys and %d tokens", v, len(keys), tokens)
		}
	}
}

func TestBadIdentifiers(t *testing.T) {
	good := Identifier{Owner: "alice", Renewer: "r", RealUser: "x", Issue: 1, Max: 2, Seq: 3, Key: 4}.Append(nil)
	change := func(at int, b ...byte) []byte {
		c := append([]byte(nil), good...)
		return append(c[:at], append(b, good[at+1:]...)...)
	}
	for name, b := range map[string][]byte{
		"empty":                  nil,
		"trailing byte":          append(append([]byte(nil), good...), 0),
		"cut":                    good[:len(good)-1],
		"version 1":              change(0, 1),
		"negative length":        change(1, 0xff),
		"long length":            change(1, 0x8c, 0x7f, 0xff, 0xff, 0xff),
		"number not in one byte": change(len(good)-1, 0x8f, 4),
		"key of 33 bits":         change(len(good)-1, 0x8b, 1, 0, 0, 0, 0),
		"not UTF-8":              change(2, 0xff),
		"owner of 1025 bytes":    Identifier{Owner: strings.Repeat("a", 1025)}.Append(nil),
		"2049 bytes":             make([]byte, 2049),
	} {
		if d, err := ParseIdentifier(b); err == nil {
			t.Errorf("%s: got %+v", name, d)
		}
	}
	if _, err := ParseIdentifier(good); err != nil {
		t.Error(err)
	}
}

func TestDecode(t *testing.T) {
	tok := Token{Identifier: []byte("id~~~?"), Password: []byte{0xff, 0xfe, 0xfd, 0xfb, 0xfa}, Kind: Kind, Service: "s"}
	text := tok.Encode()
	raw, _ := base64.RawURLEncoding.DecodeString(text)
	for _, s := range []string{text, base64.URLEncoding.EncodeToString(raw), base64.StdEncoding.EncodeToString(raw), base64.RawStdEncoding.EncodeToString(raw)} {
		if got, err := Decode(s); err != nil || !bytes.Equal(got.Password, tok.Password) || got.Service != "s" {
			t.Errorf("%s: got %+v, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "!", text + "AAAA", text[:len(text)-4], strings.Repeat("A", 4097)} {
		if got, err := Decode(s); err == nil {
			t.Errorf("%q: got %+v", s, got)
		} else if len(s) > 8 && strings.Contains(err.Error(), s[:8]) {
			t.Errorf("the error repeats the token: %v", err)
		}
	}
}

func FuzzIdentifier(f *testing.F) {
	f.Add(Identifier{Owner: "alice", Renewer: "r", Issue: -1, Max: 1 << 40, Seq: -3, Key: 4}.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if d, err := ParseIdentifier(b); err == nil && !bytes.Equal(d.Append(nil), b) {
			t.Fatalf("%x is also %x", b, d.Append(nil))
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add("OQAFYWxpY2UCZ3ceaGl2ZS9oczIudGVzdC5sb2NhbEBURVNULkxPQ0FMigGLz-VoAIoBi_Px7AAHAxT9fpudsjlh8yUJKnv05m8im7YO2RVISVZFX0RFTEVHQVRJT05fVE9LRU4A")
	f.Fuzz(func(t *testing.T, s string) {
		if tok, err := Decode(s); err == nil {
			if again, err := Decode(tok.Encode()); err != nil || !bytes.Equal(again.Identifier, tok.Identifier) || again.Kind != tok.Kind {
				t.Fatalf("%q does not come back: %v", s, err)
			}
		}
		_, _ = DecodeKey(s)
		_, _ = ParseRecord([]byte(s))
	})
}
