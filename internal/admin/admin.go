package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"
)

// Options of a Server. Ready and Metrics are required.
type Options struct {
	Ready   func() Readiness // called for each /readyz, must not block
	Metrics http.Handler
	Version string
	Errors  *log.Logger // what net/http has to say; nil = the standard logger
}

// A Server is the admin listener. Make it with Listen, end it with Close.
type Server struct {
	ln      net.Listener
	http    http.Server
	started time.Time
	ended   chan struct{} // closed when the accepting goroutine has returned
	failed  error         // why it returned; read after ended
}

// Listen opens addr, "host:port", and serves it on a goroutine of its own until Close.
func Listen(addr string, o Options) (*Server, error) {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("admin listener %q: %w", addr, err)
	}
	s := &Server{ln: ln, started: time.Now(), ended: make(chan struct{})}
	s.http = http.Server{
		Handler:  s.routes(o),
		ErrorLog: o.Errors,
		// Nobody has a large request to send here, and a slow reader must not keep a goroutine for ever.
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
	}
	go func() {
		defer close(s.ended)
		if err := s.http.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			s.failed = err
		}
	}()
	return s, nil
}

// Addr is where the server listens, with the port the system chose for ":0".
func (s *Server) Addr() net.Addr { return s.ln.Addr() }

// Close stops listening, waits for answers in flight until ctx ends, and then cuts them. It returns what ended
// the server early, if anything did.
func (s *Server) Close(ctx context.Context) error {
	if err := s.http.Shutdown(ctx); err != nil {
		_ = s.http.Close()
	}
	<-s.ended
	return s.failed
}

const index = `hmsgate %s

/healthz  is the process alive
/readyz   can it serve: 200, or 503 with the reason
/metrics  Prometheus
`

func (s *Server) routes(o Options) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		fmt.Fprintf(w, index, o.Version)
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, healthJSON{"ok", true, int64(time.Since(s.started).Seconds())})
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		v, ready := o.Ready().json()
		code := http.StatusOK
		if !ready {
			code = http.StatusServiceUnavailable
		}
		writeJSON(w, code, v)
	})
	mux.Handle("GET /metrics", o.Metrics)
	return mux
}

func writeJSON(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	// A failed write means the asker has left.
	_ = json.NewEncoder(w).Encode(v)
}
