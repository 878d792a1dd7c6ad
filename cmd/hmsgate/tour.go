package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hmsgate/internal/hms"
	"hmsgate/profiles"
)

//go:embed tour.json
var tourSteps []byte

// step is one call of the tour.
type step struct {
	Say    string         `json:"say"`
	Method string         `json:"method"`
	Args   map[string]any `json:"args"`
}

type witnessFunc = func(conn int, method string, args hms.Struct)

// witness notes what reaches the metastores while a step runs.
type witness struct {
	mu    sync.Mutex
	step  string // method of the running step
	lines []string
}

func (w *witness) watch(i int) witnessFunc {
	return func(_ int, method string, args hms.Struct) {
		w.mu.Lock()
		defer w.mu.Unlock()
		if method == w.step {
			w.lines = append(w.lines, fmt.Sprintf("%s was asked %s", demoCatalogs[i].name, short(args, 100)))
		}
	}
}

// begin starts a step, end returns what was seen.
func (w *witness) begin(method string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.step, w.lines = method, nil
}

func (w *witness) end() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.step = ""
	sort.Strings(w.lines)
	return w.lines
}

// tour calls the gateway as a client would and tells what happened.
func tour(out io.Writer, addr string, seen *witness) error {
	var steps []step
	if err := json.Unmarshal(tourSteps, &steps); err != nil {
		return fmt.Errorf("tour.json: %w", err)
	}
	inv, err := profiles.Load(demoCatalogs[0].label)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	counted := &countedConn{Conn: conn}
	client := hms.NewClient(counted, inv, hms.Options{})
	defer client.Close()
	for i, s := range steps {
		in, back := counted.in.Load(), counted.out.Load()
		seen.begin(s.Method)
		result, err := client.Call(ctx, s.Method, hms.Struct(structs(s.Args)))
		lines := seen.end()
		fmt.Fprintf(out, "\n%d. %s\n   asked     %s %s\n", i+1, s.Say, s.Method, short(s.Args, 100))
		for _, l := range lines {
			fmt.Fprintf(out, "   %s\n", l)
		}
		if len(lines) == 0 {
			fmt.Fprintf(out, "   no metastore was asked\n")
		}
		if err != nil {
			if client.Broken() {
				return err
			}
			fmt.Fprintf(out, "   answered  %s\n", cut(err.Error(), 180))
		} else {
			fmt.Fprintf(out, "   answered  %s\n", short(result, 180))
		}
		fmt.Fprintf(out, "   %d bytes out, %d bytes in\n", counted.out.Load()-back, counted.in.Load()-in)
	}
	return nil
}

// structs turns nested JSON objects into struct values.
func structs(m map[string]any) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		if o, ok := v.(map[string]any); ok {
			v = hms.Struct(structs(o))
		}
		out[k] = v
	}
	return out
}

// short is a value for people, cut to n bytes.
func short(v any, n int) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(plain(v)); err != nil {
		return fmt.Sprint(v)
	}
	return cut(strings.TrimSpace(b.String()), n)
}

func cut(s string, n int) string {
	if len(s) > n {
		return s[:n] + " ..."
	}
	return s
}

// plain makes maps that JSON can write.
func plain(v any) any {
	switch v := v.(type) {
	case hms.Struct:
		out := map[string]any{}
		for k, x := range v {
			out[k] = plain(x)
		}
		return out
	case hms.Map:
		out := map[string]any{}
		for _, p := range v {
			out[fmt.Sprint(p.Key)] = plain(p.Value)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = plain(x)
		}
		return out
	}
	return v
}

// countedConn counts a client's bytes.
type countedConn struct {
	net.Conn
	in, out atomic.Int64
}

func (c *countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.in.Add(int64(n))
	return n, err
}

func (c *countedConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.out.Add(int64(n))
	return n, err
}
