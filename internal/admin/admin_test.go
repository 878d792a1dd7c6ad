package admin

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

func start(t *testing.T, ready func() Readiness) (base string) {
	t.Helper()
	s, err := Listen("127.0.0.1:0", Options{
		Ready: ready, Version: "v1.2",
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "calls 3\n") }),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		if err := s.Close(context.Background()); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return "http://" + s.Addr().String()
}

func ask(t *testing.T, method, url string) (code int, body, kind string) {
	t.Helper()
	req, err := http.NewRequest(method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b), res.Header.Get("Content-Type")
}

func TestPaths(t *testing.T) {
	base := start(t, func() Readiness { return Readiness{} })
	for _, c := range []struct {
		method, path string
		code         int
		contains     string
		kind         string
	}{
		{"GET", "/", 200, "hmsgate v1.2", "text/plain; charset=utf-8"},
		{"HEAD", "/", 200, "", "text/plain; charset=utf-8"},
		{"GET", "/healthz", 200, `{"status":"ok","alive":true,"uptimeSeconds":0}`, "application/json"},
		{"HEAD", "/healthz", 200, "", "application/json"},
		{"GET", "/readyz", 200, `"backends":[]`, "application/json"},
		{"GET", "/metrics", 200, "calls 3", "text/plain; charset=utf-8"},
		{"POST", "/healthz", 405, "Method Not Allowed", "text/plain; charset=utf-8"},
		{"GET", "/debug/pprof/", 404, "not found", "text/plain; charset=utf-8"},
		{"GET", "/elsewhere", 404, "not found", "text/plain; charset=utf-8"},
	} {
		t.Run(c.method+" "+c.path, func(t *testing.T) {
			code, body, kind := ask(t, c.method, base+c.path)
			if code != c.code || !strings.Contains(body, c.contains) || kind != c.kind {
				t.Errorf("got %d %q %q, want %d %q %q", code, kind, body, c.code, c.kind, c.contains)
			}
		})
	}
}

func TestReady(t *testing.T) {
	good := Backend{Name: "hdp", Connected: true, LastSuccess: time.Unix(1700000000, 0), LastLatency: 1500 * time.Microsecond, Version: "3.1.3"}
	lost := Backend{Name: "apache", Degraded: true, LastFailure: time.Unix(1700000009, 0), LastError: "connection refused"}
	optional := Backend{Name: "apache", LastError: "connection refused"}
	for _, c := range []struct {
		name         string
		in           Readiness
		code         int
		status, link string
	}{
		{"all well", Readiness{Backends: []Backend{good}}, 200, "ready", "ok"},
		{"one lost", Readiness{Backends: []Backend{good, lost}}, 503, "degraded", "degraded"},
		{"one lost that need not be there", Readiness{Backends: []Backend{good, optional}}, 200, "ready", "ok"},
		{"draining", Readiness{Draining: true, Backends: []Backend{good}}, 503, "draining", "ok"},
		{"draining and lost", Readiness{Draining: true, Backends: []Backend{lost}}, 503, "draining", "degraded"},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, body, _ := ask(t, "GET", start(t, func() Readiness { return c.in })+"/readyz")
			var got readyJSON
			if err := json.Unmarshal([]byte(body), &got); err != nil {
				t.Fatalf("%v in %s", err, body)
			}
			if code != c.code || got.Status != c.status || got.BackendConnectivity != c.link || !got.Alive || len(got.Backends) != len(c.in.Backends) {
				t.Errorf("got %d %s, want %d %q %q", code, body, c.code, c.status, c.link)
			}
		})
	}
}

func TestBackendFields(t *testing.T) {
	_, body, _ := ask(t, "GET", start(t, func() Readiness {
		return Readiness{Backends: []Backend{{Name: "hdp", Connected: true, LastSuccess: time.Unix(1700000000, 0),
			LastLatency: 1500 * time.Microsecond, Version: "3.1.3"}}}
	})+"/readyz")
	want := `{"status":"ready","alive":true,"backendConnectivity":"ok","backends":[{"backend":"hdp","connected":true,` +
		`"degraded":false,"lastSuccessEpochSecond":1700000000,"lastFailureEpochSecond":null,"lastLatencyMs":1.5,"version":"3.1.3"}]}` + "\n"
	if body != want {
		t.Errorf("got  %swant %s", body, want)
	}
}

func TestLoginStates(t *testing.T) {
	end := time.Now().Add(time.Hour)
	for _, c := range []struct {
		in   Login
		want string
	}{
		{Login{}, ""},
		{Login{Enabled: true, Principal: "gw@R"}, `"loggedIn":false,"healthy":false,"state":"PENDING","principal":"gw@R"`},
		{Login{Enabled: true, LoggedIn: true, Expires: end}, `"loggedIn":true,"healthy":true,"state":"ACTIVE"`},
		{Login{Enabled: true, LoggedIn: true, Expires: end, LastError: "no KDC"}, `"loggedIn":true,"healthy":true,"state":"STALE"`},
		{Login{Enabled: true, LastError: "no KDC"}, `"loggedIn":false,"healthy":false,"state":"FAILED"`},
	} {
		code, body, _ := ask(t, "GET", start(t, func() Readiness { return Readiness{Kerberos: Kerberos{Backend: c.in}} })+"/readyz")
		if code != 200 || strings.Contains(body, "kerberos") != c.in.Enabled || !strings.Contains(body, c.want) {
			t.Errorf("%+v: got %d %s, want %s", c.in, code, body, c.want)
		}
		if want := `"secondsUntilExpiry":359`; !c.in.Expires.IsZero() && !strings.Contains(body, want) {
			t.Errorf("no %s in %s", want, body)
		}
	}
}

func TestListenError(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	_, err = Listen(ln.Addr().String(), Options{})
	if err == nil || !strings.Contains(err.Error(), `admin listener "`+ln.Addr().String()+`"`) {
		t.Errorf("got %v, want an error that names the listener", err)
	}
}

// Close waits for an answer in flight, and no longer than it is told to.
func TestClose(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	s, err := Listen("127.0.0.1:0", Options{
		Ready:   func() Readiness { return Readiness{} },
		Metrics: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { close(entered); <-leave }),
	})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		res, err := http.Get("http://" + s.Addr().String() + "/metrics")
		if err == nil {
			res.Body.Close()
		}
		done <- err
	}()
	<-entered
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Close(ctx); err != nil {
		t.Errorf("close: %v", err)
	}
	if err := <-done; err == nil {
		t.Error("got an answer, want a cut connection")
	}
	close(leave)
	if _, err := net.Dial("tcp", s.Addr().String()); err == nil {
		t.Error("still listening after Close")
	}
}
