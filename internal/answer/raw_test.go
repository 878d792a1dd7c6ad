package answer

import (
	"strings"
	"testing"

	"hmsgate/frame"
)

// FuzzMapText: a map's value is found under its key in any case, the first of
// several, and bytes that end early or lie about lengths are no reason to panic.
func FuzzMapText(f *testing.F) {
	f.Add("a", "1", "Transactional", "true", "transactional", uint16(0))
	f.Add("k", "v", "k", "w", "K", uint16(3))
	f.Fuzz(func(t *testing.T, k1, v1, k2, v2, key string, cut uint16) {
		v := []byte{byte(frame.String), byte(frame.String), 0, 0, 0, 2}
		for _, s := range []string{k1, v1, k2, v2} {
			v = append(v, stringValue([]byte(s))...)
		}
		want := ""
		switch {
		case strings.EqualFold(k1, key):
			want = v1
		case strings.EqualFold(k2, key):
			want = v2
		}
		if got := (fields{{frame.Map, 9, v}}).mapText(9, key); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		v = v[:len(v)-min(int(cut), len(v))]
		fields{{frame.Map, 9, v}}.mapText(9, key)
		if len(v) > 9 {
			v[6+int(cut)%(len(v)-6)] ^= 0xff
			fields{{frame.Map, 9, v}}.mapText(9, key)
		}
	})
}
