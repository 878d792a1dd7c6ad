package answer_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"hmsgate/internal/hms"
)

// What a listener makes of a client's word, seen from the metastore.
func TestSetUGIPolicies(t *testing.T) {
	get := hms.Struct{"dbname": "sales", "tbl_name": "orders"}
	for _, c := range []struct {
		settings string
		says     bool
		want     []string // users the metastore heard of, in front of get_table
		refused  bool
	}{
		{"security.set-ugi: trust", true, names("alice"), false},
		{"security.set-ugi: trust", false, nil, false},
		{"security: {set-ugi: fixed, set-ugi-user: etl}", true, names("etl"), false},
		{"security: {set-ugi: fixed, set-ugi-user: etl}", false, names("etl"), false},
		{"security.set-ugi: ignore", true, nil, false},
		{"security.set-ugi: require", true, names("alice"), false},
		{"security.set-ugi: require", false, nil, true},
	} {
		f := newFront(t, c.settings)
		cl := f.dial("apache-3.1.3")
		cl.must("getStatus", nil)
		if c.says {
			cl.wantNames("set_ugi", ugi("alice", "g"), "g")
		}
		_, err := cl.try("get_table", get)
		var x *hms.Exception
		if refused := errors.As(err, &x) && x.Type == "MetaException" && strings.Contains(err.Error(), "security.set-ugi"); refused != c.refused || (err != nil) != c.refused {
			t.Errorf("%s, says %v: got %v", c.settings, c.says, err)
		}
		var got []string
		for _, s := range f.hdp.calls("set_ugi") {
			got = append(got, s.args.Str("user_name"))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s, says %v: the metastore heard %q, want %q", c.settings, c.says, got, c.want)
		}
		if c.says { // whatever became of the first, a second ends the connection
			if v, err := cl.try("set_ugi", ugi("bob")); err == nil {
				t.Errorf("%s: second set_ugi: got %v", c.settings, v)
			}
		}
	}
}
