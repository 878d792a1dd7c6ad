package wiretest

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
)

// The numbers are those of the recordings as they were made; a recording that
// is packed anew or a reader that loses a message shows here.
func TestRecordingsAreWhole(t *testing.T) {
	calls, replies, broken, methods := 0, 0, 0, map[string]bool{}
	for _, r := range Recordings(t) {
		if client, server := r.Versions(); server == "" || client == "" && !strings.HasPrefix(r.Name, "pyiceberg") && !strings.HasPrefix(r.Name, "trino") {
			t.Errorf("%s: got versions %q, %q", r.Name, client, server)
		}
		for _, c := range r.Conns {
			cs, rest := Messages(c.Client)
			if len(rest) > 0 {
				broken++
				// the header of a call, then the shutdown of a client that gave up
				if i := bytes.LastIndex(rest, Text("shutdown")); i < 4 || !c.Broken() {
					t.Errorf("%s connection %d: broken call ends in % x, want a shutdown", r.Name, c.ID, rest)
				} else if m, err := Parse(rest[i-4:]); err != nil || m.Type != TypeOneway {
					t.Errorf("%s connection %d: after a broken call got %+v, %v, want a one-way call", r.Name, c.ID, m, err)
				}
			}
			ss, rest := Messages(c.Server)
			if len(rest) > 0 {
				t.Errorf("%s connection %d: %d bytes after the server's last message", r.Name, c.ID, len(rest))
			}
			for _, m := range cs {
				methods[m.Method] = true
			}
			calls, replies = calls+len(cs), replies+len(ss)
		}
	}
	got := fmt.Sprintf("calls %d replies %d broken %d methods %d", calls, replies, broken, len(methods))
	if want := "calls 13223 replies 12746 broken 14 methods 265"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestExchangesPairEveryReply(t *testing.T) {
	for _, r := range Recordings(t) {
		replies, paired := 0, 0
		for _, c := range r.Conns {
			ss, _ := Messages(c.Server)
			replies += len(ss)
			if n := len(ss); c.Broken() && ss[n-1].Type == TypeException {
				replies-- // to the broken call
			}
			for _, x := range c.Exchanges() {
				if x.Reply != nil {
					paired++
				}
			}
		}
		if paired != replies {
			t.Errorf("%s: %d of %d replies belong to a call", r.Name, paired, replies)
		}
	}
}

func TestParse(t *testing.T) {
	deep := []byte{}
	for range 300 {
		deep = append(deep, WireStruct, 0, 1)
	}
	whole := Call("m", 3, Struct(nil).String(1, "x").StringMap(2, "k", "v").Strings(3, "a").I64(4, 9).Bool(5, true).
		I16(6, 1).I32(7, 2).Struct(8, Struct(nil).Stop()).Stop())
	for _, tc := range []struct {
		name, want string
		b          []byte
	}{
		{"whole", "<nil>", whole},
		{"old style header", "not strict binary: begins with 00 00 00 01", []byte{0, 0, 0, 1, 'm', 1}},
		{"negative name", "negative length -1 at byte 8", []byte{0x80, 1, 0, 1, 0xff, 0xff, 0xff, 0xff}},
		{"unknown type", "unknown type 9 at byte 15", Call("m", 1, []byte{9, 0, 1})},
		{"too deep", "nested deeper than 200", Call("m", 1, deep)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Parse(tc.b)
			if got := fmt.Sprint(err); !strings.HasPrefix(got, tc.want) {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
	for n := range len(whole) {
		if _, err := Parse(whole[:n]); !IsShort(err) {
			t.Errorf("first %d of %d bytes: got %v, want a short message", n, len(whole), err)
		}
	}
}

func TestParseRecordingRefuses(t *testing.T) {
	for name, b := range map[string]string{
		"other magic":   "hmsgate recording 2\n",
		"half a record": recordingMagic + "\x00\x00",
		"too long":      recordingMagic + "\x00\x00\x00\x01>\x00\x00\x00\x02x",
		"no direction":  recordingMagic + "\x00\x00\x00\x01-\x00\x00\x00\x01x",
	} {
		if got, err := parseRecording([]byte(b)); err == nil {
			t.Errorf("%s: got %v, want an error", name, got)
		}
	}
}

func TestEverySplitGivesTheSameBytes(t *testing.T) {
	for _, n := range []int{1, 2, 300, 20000} {
		want := bytes.Repeat([]byte("0123456789abcdef!"), n/17+1)[:n]
		ways := 0
		EverySplit(t, want, func(t *testing.T, r io.Reader) {
			ways++
			if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, want) {
				t.Errorf("got %d bytes, %v; want %d", len(got), err, len(want))
			}
		})
		if least := min(n, 200); ways < least {
			t.Errorf("%d bytes: got %d ways, want at least %d", n, ways, least)
		}
	}
}

func TestChunksStopAtCuts(t *testing.T) {
	r, got := Chunks([]byte("abcdef"), 2, 3, 99), []string{}
	for buf := make([]byte, 10); ; {
		n, err := r.Read(buf)
		if err != nil {
			break
		}
		got = append(got, string(buf[:n]))
	}
	if s := strings.Join(got, "|"); s != "ab|c|def" {
		t.Errorf("got %s, want ab|c|def", s)
	}
}

// recorder stands in for a test and keeps what it is told.
type recorder struct {
	testing.TB
	errs []string
}

func (r *recorder) Errorf(f string, a ...any) { r.errs = append(r.errs, fmt.Sprintf(f, a...)) }
func (r *recorder) Cleanup(func())            {}
func (r *recorder) Helper()                   {}

func TestBackendReports(t *testing.T) {
	call := Call("get_table", 1, Struct(nil).Stop())
	for _, tc := range []struct {
		name   string
		script []Step
		send   []byte
		framed bool
		want   string // of the first error; empty: none
	}{
		{"as expected", Script(Expect("get_table"), Answer(Struct(nil).Stop()), ExpectClose()), call, false, ""},
		{"other method", Script(Expect("lock")), call, false, "connection 1, step 1, expect lock: got call get_table, want lock"},
		{"nothing expected", Script(), call, false, "end of script: got call get_table"},
		{"broken call", Script(ExpectBroken()), call[:9], false, ""},
		{"broken call unexpected", Script(Expect("get_table")), call[:9], false, "the client left after 9 bytes"},
		{"call not broken", Script(ExpectBroken()), call, false, "got a whole call get_table"},
		{"other bytes", Script(ExpectBytes(call)), Call("get_table", 2, Struct(nil).Stop()), false, "expect bytes: got call"},
		{"framed", Script(Expect("get_table"), Throw(1, "x"), ExpectClose()), Framed(call), true, ""},
		{"frame too long", Script(Expect("get_table")), Framed(append(call[:len(call):len(call)], 0)), true, "holds a message of"},
		{"part of a call", Script(ReadBytes(9), Reset()), call, false, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			NoLeaks(t)
			rec := &recorder{TB: t}
			b := listen(rec, tc.framed, [][]Step{tc.script})
			talk(t, b.Addr(), tc.send)
			waitIdle(b)
			b.Close()
			got := strings.Join(rec.errs, "\n")
			if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// talk sends bytes, ends its side and reads to the end.
func talk(t *testing.T, addr string, b []byte) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write(b); err != nil {
		t.Fatal(err)
	}
	c.(*net.TCPConn).CloseWrite()
	io.Copy(io.Discard, c)
}

// waitIdle waits until the script of the only connection has ended.
func waitIdle(b *Backend) {
	for {
		b.mu.Lock()
		idle := b.accepted == 1 && len(b.open) == 0
		b.mu.Unlock()
		if idle {
			return
		}
		runtime.Gosched()
	}
}
