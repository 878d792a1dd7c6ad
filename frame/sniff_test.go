package frame

import "testing"

// Every row of what may come to the port, arriving byte by byte: undecided
// until it is decided, and then it stays so.
func TestSniff(t *testing.T) {
	for _, c := range []struct {
		name string
		in   string
		want Peer
		at   int // bytes after which it is known
	}{
		{"strict binary", "\x80\x01\x00\x01\x00\x00\x00\x09get_table", RawBinary, 2},
		{"other version", "\x80\x02\x00\x01", Unknown, 2},
		{"compact", "\x82\x21\x01\x09get_table", Compact, 1},
		{"framed binary", "\x00\x00\x00\x20\x80\x01\x00\x01", FramedBinary, 6},
		{"framed binary of 16 MB", "\x00\xfa\x00\x00\x80\x01\x00\x01", FramedBinary, 6},
		{"framed binary of 64 KB", "\x00\x01\x00\x00\x80\x01", FramedBinary, 6},
		{"framed, other version", "\x00\x00\x00\x20\x80\x02", Unknown, 6},
		{"framed compact", "\x00\x00\x00\x20\x82\x21", FramedCompact, 5},
		{"old-style", "\x00\x00\x00\x09get_table\x01", OldBinary, 5},
		{"old-style, longest", "\x00\x00\x01\x00get_table\x01", OldBinary, 5},
		{"NI_PING (L50)", "\x00\x00\x00\x08NI_PING\x00", OldBinary, 5},
		{"old-style, no name", "\x00\x00\x00\x00get", Unknown, 5},
		{"old-style, too long", "\x00\x00\x01\x01get", Unknown, 5},
		{"SASL GSSAPI (L53)", "\x01\x00\x00\x00\x06GSSAPI", SASL, 5},
		{"SASL PLAIN", "\x01\x00\x00\x00\x05PLAIN", SASL, 5},
		{"SASL DIGEST-MD5", "\x01\x00\x00\x00\x0aDIGEST-MD5", SASL, 5},
		{"TLS", "\x16\x03\x01\x02\x00\x01", TLS, 2},
		{"16 without TLS", "\x16\x04\x01", Unknown, 2},
		{"GET", "GET / HTTP/1.1\r\n", HTTP, 4},
		{"POST", "POST /metastore HTTP/1.1\r\n", HTTP, 4},
		{"PUT", "PUT /x HTTP/1.1\r\n", HTTP, 4},
		{"HEAD", "HEAD / HTTP/1.1\r\n", HTTP, 4},
		{"OPTIONS", "OPTIONS * HTTP/1.1\r\n", HTTP, 4},
		{"HTTP/2", "PRI * HTTP/2.0\r\n", HTTP, 4},
		{"letters", "HELLO", Unknown, 3},
		{"SSH", "SSH-2.0-OpenSSH_9.6\r\n", Unknown, 1},
		{"small letters", "help\r\n", Unknown, 5},
		{"zeros", "\x00\x00\x00\x00\x00\x00", Unknown, 5},
		{"0xff", "\xff\xff\xff\xff\xff\xff", Unknown, 5},
		{"postgres", "\x00\x00\x00\x08\x04\xd2\x16\x2f", Unknown, 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			for n := 0; n <= len(c.in); n++ {
				want := Undecided
				if n >= c.at {
					want = c.want
				}
				if got := Sniff([]byte(c.in[:n])); got != want {
					t.Errorf("first %d bytes: got %s, want %s", n, got, want)
				}
			}
			if c.at > SniffSize {
				t.Errorf("needs %d bytes, SniffSize is %d", c.at, SniffSize)
			}
		})
	}
}

func FuzzSniff(f *testing.F) {
	f.Add([]byte("\x80\x01"))
	f.Fuzz(func(t *testing.T, b []byte) {
		known := Undecided
		for n := range len(b) + 1 {
			got := Sniff(b[:n])
			if known != Undecided && got != known {
				t.Fatalf("%s, then after %d bytes %s", known, n, got)
			}
			known = got
		}
		if len(b) >= SniffSize && known == Undecided {
			t.Fatalf("undecided after %d bytes", len(b))
		}
		_ = known.String()
	})
}
