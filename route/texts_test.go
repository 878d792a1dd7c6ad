package route

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// replayWords make some client send its call again: MetaException texts in
// Hive's RetryingMetaStoreClient, any text in Spark's HiveClientImpl.
var replayWords = regexp.MustCompile(`(TTransport|TProtocol|TApplication|JDO[A-Za-z]*)Exception`)

func TestTexts(t *testing.T) {
	bad := []byte("org.apache.thrift.transport.TTransportException TApplicationException TProtocolException " +
		"javax.jdo.JDODataStoreException \xff\n" + strings.Repeat("x", 1000))
	tbl := fixture(t, nil)
	a, d := tbl.Catalog("apache"), tbl.Default()
	texts := map[string]string{
		"catalog against db": textCatalogAgainstDB(bad, bad),
		"conflict":           textConflict(bad, bad),
		"unowned":            textUnowned("create_role"),
		"acid elsewhere":     textAcidElsewhere("open_txns", a, d),
		"elsewhere":          textElsewhere("lock", a, d),
		"hint write":         textHintWrite("create_table", a),
		"unknown method":     textUnknownMethod(bad),
		"unreachable":        textUnreachable("apache"),
	}
	for name, s := range texts {
		t.Run(name, func(t *testing.T) {
			if m := replayWords.FindString(s); m != "" {
				t.Errorf("%q in %q makes clients replay the call", m, s)
			}
			if !utf8.ValidString(s) || strings.ContainsAny(s, "\n\r\x00") || len(s) > 800 {
				t.Errorf("not fit for a text: %q", s)
			}
		})
	}
}

func TestQuote(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain", "apache__sales", "apache__sales"},
		{"UTF-8", "caf\u00e9", "caf\u00e9"},
		{"invalid", "a\xffb", "a?b"},
		{"control", "a\tb\x7f", "a?b?"},
		{"long", strings.Repeat("a", 300), strings.Repeat("a", 256) + "..."},
		{"cut inside a character", strings.Repeat("a", 255) + "\u00e9", strings.Repeat("a", 255) + "?..."},
		{"replay word", "TTransportException", "TTransportExc."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := quote([]byte(tt.in)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
