package hms

import (
	"context"
	"errors"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"
)

// peer answers each call with what reply makes of it; nil bytes mean silence.
func peer(t *testing.T, framed bool, reply func(*Message) []byte) (string, <-chan struct{}) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { ln.Close() })
	go func() {
		defer close(done)
		conn, err := ln.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		w := NewWire(conn, NewCodec(load(t, "apache-3.1.3")), framed)
		for {
			m, err := w.Read()
			if err != nil {
				return
			}
			if b := reply(m); b != nil {
				if w.Write(b) != nil {
					return
				}
			}
		}
	}()
	return ln.Addr().String(), done
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

func TestClientOutcomes(t *testing.T) {
	inv := load(t, "apache-3.1.3")
	for _, c := range []struct {
		name, method string
		reply        func(*Message) []byte
		want         string // of the error
		usable       bool   // afterwards
	}{
		{"value", "getStatus", func(m *Message) []byte { return must(EncodeReply(inv, m.Method, m.Seq, 2)) }, "", true},
		{"declared exception", "get_table", func(m *Message) []byte {
			return must(EncodeReply(inv, m.Method, m.Seq, &Exception{Type: "NoSuchObjectException", Message: "d.t"}))
		}, "NoSuchObjectException: d.t", true},
		{"application exception", "get_table", func(m *Message) []byte {
			return must(EncodeException(m.Method, m.Seq,
				AppInternalError, "boom"))
		},
			"application exception 6: boom", true},
		{"no result", "get_table", func(m *Message) []byte { return must(EncodeReply(inv, m.Method, m.Seq, nil)) },
			"application exception 5: get_table failed: unknown result", true},
		{"other sequence id", "get_table", func(m *Message) []byte {
			return must(EncodeReply(inv, m.Method, m.Seq+1,
				Struct{}))
		},
			"get_table: reply has sequence id 2, want 1", false},
		{"other method", "get_table", func(m *Message) []byte {
			return must(EncodeReply(inv, "get_database", m.Seq,
				Struct{}))
		},
			`get_table: reply is to "get_database", want "get_table"`, false},
		{"a call as reply", "get_table", func(m *Message) []byte {
			return must(EncodeCall(inv, "get_table", m.Seq,
				nil))
		},
			"get_table: got a call, want a reply", false},
		{"nonsense", "get_table", func(*Message) []byte { return []byte("HTTP/1.1 400 Bad Request\r\n\r\n") },
			"get_table: ", false},
	} {
		for _, framed := range []bool{false, true} {
			t.Run(c.name+map[bool]string{true: " framed", false: " raw"}[framed], func(t *testing.T) {
				addr, done := peer(t, framed, c.reply)
				cl, err := Dial(t.Context(), addr, inv, Options{Framed: framed})
				if err != nil {
					t.Fatal(err)
				}
				_, err = cl.Call(t.Context(), c.method, nil)
				if got := errText(err); got != c.want && (c.usable || !strings.HasPrefix(got, c.want) || err == nil) {
					t.Errorf("got %q, want %q", got, c.want)
				}
				_, err = cl.Call(t.Context(), c.method, nil)
				if broken := errors.Is(err, ErrBroken); broken == c.usable {
					t.Errorf("second call: %v, usable should be %v", err, c.usable)
				}
				cl.Close()
				<-done
			})
		}
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestClientDeadline(t *testing.T) {
	inv := load(t, "apache-3.1.3")
	before := runtime.NumGoroutine()
	addr, done := peer(t, false, func(*Message) []byte { return nil })
	cl, err := Dial(t.Context(), addr, inv, Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := cl.Call(ctx, "getStatus", nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("deadline: got %v", err)
	}
	if _, err := cl.Call(t.Context(), "getStatus", nil); !errors.Is(err, ErrBroken) {
		t.Errorf("afterwards: got %v, want %v", err, ErrBroken)
	}
	<-done

	addr, done = peer(t, false, func(*Message) []byte { return nil })
	cl, err = Dial(t.Context(), addr, inv, Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	go cancel()
	if _, err := cl.Call(ctx, "getStatus", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancel: got %v", err)
	}
	<-done
	if n := settle(before); n > before {
		t.Errorf("%d goroutines, had %d", n, before)
	}
}

// settle waits until there are as few goroutines as before, or long enough.
func settle(before int) int {
	for end := time.Now().Add(2 * time.Second); runtime.NumGoroutine() > before && time.Now().Before(end); {
		runtime.Gosched()
	}
	return runtime.NumGoroutine()
}

func TestClientOneway(t *testing.T) {
	inv := load(t, "apache-3.1.3")
	seen := make(chan string, 2)
	addr, _ := peer(t, false, func(m *Message) []byte {
		seen <- m.Method + " " + m.Type.String()
		if m.Method == "shutdown" {
			return nil
		}
		return must(EncodeReply(inv, m.Method, m.Seq, "x"))
	})
	cl, err := Dial(t.Context(), addr, inv, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	if v, err := cl.Call(t.Context(), "shutdown", nil); v != nil || err != nil {
		t.Errorf("got %v, %v", v, err)
	}
	if v, err := cl.Call(t.Context(), "getName", nil); v != "x" || err != nil {
		t.Errorf("after a one-way call: got %v, %v", v, err)
	}
	if a, b := <-seen, <-seen; a != "shutdown oneway" || b != "getName call" {
		t.Errorf("peer saw %q, %q", a, b)
	}
}
