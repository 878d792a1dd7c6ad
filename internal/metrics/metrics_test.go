package metrics

import (
	"io"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// scrape returns the lines of one series and of nothing else.
func scrape(t *testing.T, r *Registry, prefix string) string {
	t.Helper()
	w := httptest.NewRecorder()
	r.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != 200 {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	body, err := io.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, l := range strings.Split(string(body), "\n") {
		if strings.HasPrefix(l, prefix) {
			lines = append(lines, l)
		}
	}
	return strings.Join(lines, "\n")
}

func table(r *Registry) *Table {
	return r.Table([]string{"get_table", "drop_table"}, []Catalog{{"hdp", "hdp"}, {"apache", "apache"}})
}

func TestCallLabels(t *testing.T) {
	for _, c := range []struct {
		name            string
		method, catalog int
		status          Status
		want            string
	}{
		{"first", 0, 0, OK, `method="get_table",status="ok"} 1`},
		{"second catalog", 1, 1, Error, `backend="apache",catalog="apache",method="drop_table",status="error"} 1`},
		{"method of no inventory", 2, 0, OK, `backend="hdp",catalog="hdp",method="other",status="ok"} 1`},
		{"negative method", -1, 0, OK, `method="other",status="ok"} 1`},
		{"gateway's own answer", 0, NoCatalog, Throttled, `backend="none",catalog="none",method="get_table",status="throttled"} 1`},
		{"fan-out", 0, AllCatalog, Degraded, `backend="fanout",catalog="all",method="get_table",status="degraded"} 1`},
		{"catalog beyond the table", 0, 2, Fallback, `catalog="none",method="get_table",status="fallback"} 1`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := New(Options{})
			table(r).Call(c.method, c.catalog).Observe(c.status, 0.002, 10, 20)
			got := scrape(t, r, "hmsgate_requests_total")
			if !strings.HasSuffix(got, c.want) || strings.Count(got, "\n") != 0 {
				t.Errorf("got  %s\nwant one line ending %s", got, c.want)
			}
		})
	}
}

func TestObserveFeeds(t *testing.T) {
	r := New(Options{Prefix: "hms_proxy_", Version: "v9"})
	c := table(r).Call(0, 0)
	c.Observe(OK, 0.002, 100, 1000)
	c.Observe(OK, 0.2, 11, 22)
	c.DefaultRouted()
	for _, want := range []string{
		`hms_proxy_requests_total{backend="hdp",catalog="hdp",method="get_table",status="ok"} 2`,
		`hms_proxy_request_duration_seconds_bucket{backend="hdp",catalog="hdp",method="get_table",le="0.001"} 0`,
		`hms_proxy_request_duration_seconds_bucket{backend="hdp",catalog="hdp",method="get_table",le="0.005"} 1`,
		`hms_proxy_request_duration_seconds_bucket{backend="hdp",catalog="hdp",method="get_table",le="30"} 2`,
		`hms_proxy_bytes_total{direction="call"} 111`,
		`hms_proxy_bytes_total{direction="reply"} 1022`,
		`hms_proxy_default_catalog_routed_total{method="get_table"} 1`,
		`hms_proxy_build_info{go_version="go`,
	} {
		if got := scrape(t, r, want); got == "" {
			t.Errorf("no line %s in\n%s", want, scrape(t, r, "hms_proxy_"))
		}
	}
}

func TestEvents(t *testing.T) {
	r := New(Options{Held: func() int64 { return 96 }})
	r.ClientOpened()
	r.ClientOpened()
	r.ClientClosed()
	r.BackendOpened()
	r.BackendOpened()
	r.BackendClosed()
	r.Refused("limit")
	r.Refused("made up")
	r.Unexpected("tls")
	r.Unexpected("made up")
	r.Ambiguous()
	r.Shadowed()
	r.HintWrite()
	r.Outgrown()
	r.BackendSwitched("hdp")
	r.FanoutDegraded("apache")
	r.BackendFailed("hdp", "timeout")
	r.BackendFailed("hdp", "org.apache.Something")
	r.Drained("cut")
	r.Token("denied")
	for _, want := range []string{
		"hmsgate_client_connections 1", "hmsgate_client_connections_total 2", "hmsgate_backend_connections 1",
		"hmsgate_held_bytes 96",
		`hmsgate_client_connections_refused_total{reason="limit"} 1`,
		`hmsgate_client_connections_refused_total{reason="other"} 1`,
		`hmsgate_unexpected_bytes_total{kind="tls"} 1`, `hmsgate_unexpected_bytes_total{kind="other"} 1`,
		"hmsgate_routing_ambiguous_total 1", "hmsgate_shadowed_database_total 1", "hmsgate_catalog_hint_writes_total 1",
		"hmsgate_replies_outgrown_total 1", `hmsgate_backend_switches_total{catalog="hdp"} 1`,
		`hmsgate_fanout_degraded_total{catalog="apache"} 1`,
		`hmsgate_backend_failures_total{backend="hdp",exception="timeout"} 1`,
		`hmsgate_backend_failures_total{backend="hdp",exception="other"} 1`,
		`hmsgate_impersonation_tokens_total{result="denied"} 1`, `hmsgate_impersonation_tokens_total{result="issued"} 0`,
		`hmsgate_drains_total{result="cut"} 1`, `hmsgate_drains_total{result="clean"} 0`,
		"go_goroutines ", "process_cpu_seconds_total ",
	} {
		if scrape(t, r, want) == "" {
			t.Errorf("no line %s in\n%s", want, scrape(t, r, "hmsgate_"))
		}
	}
}

func TestKerberos(t *testing.T) {
	r := New(Options{Prefix: "p_"})
	now := Login{}
	r.Kerberos("backend", func() Login { return now })
	for _, want := range []string{`p_kerberos_logged_in{component="backend"} 0`, `p_kerberos_ticket_end_timestamp_seconds{component="backend"} 0`} {
		if scrape(t, r, want) == "" {
			t.Errorf("no line %s in\n%s", want, scrape(t, r, "p_kerb"))
		}
	}
	now = Login{LoggedIn: true, End: time.Unix(1e9, 0), Logins: 3, Failures: 2}
	for _, want := range []string{`p_kerberos_logged_in{component="backend"} 1`, `p_kerberos_ticket_end_timestamp_seconds{component="backend"} 1e+09`,
		`p_kerberos_logins_total{component="backend"} 3`, `p_kerberos_failures_total{component="backend"} 2`} {
		if scrape(t, r, want) == "" {
			t.Errorf("no line %s in\n%s", want, scrape(t, r, "p_kerb"))
		}
	}
}

// A reload makes a new Table; counters go on where they were, also when a catalog's index has changed.
func TestReloadKeepsCounters(t *testing.T) {
	r := New(Options{})
	table(r).Call(0, 1).Observe(OK, 0, 1, 1)
	r.Table([]string{"drop_table", "get_table"}, []Catalog{{"apache", "apache"}}).Call(1, 0).Observe(OK, 0, 1, 1)
	want := `hmsgate_requests_total{backend="apache",catalog="apache",method="get_table",status="ok"} 2`
	if got := scrape(t, r, "hmsgate_requests_total"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Table must not write into the caller's slice, which a reload may still hold.
func TestTableCopiesCatalogs(t *testing.T) {
	catalogs := make([]Catalog, 1, 4)
	catalogs[0] = Catalog{"a", "a"}
	New(Options{}).Table(nil, catalogs)
	if got := catalogs[:2][1]; got != (Catalog{}) {
		t.Errorf("caller's slice was extended with %v", got)
	}
}

func TestConcurrentFirstUse(t *testing.T) {
	r := New(Options{})
	tab := table(r)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				tab.Call(0, 0).Observe(OK, 0, 1, 1)
			}
		})
	}
	wg.Wait()
	want := `hmsgate_requests_total{backend="hdp",catalog="hdp",method="get_table",status="ok"} 800`
	if got := scrape(t, r, "hmsgate_requests_total"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestNoAllocation(t *testing.T) {
	r := New(Options{})
	tab := table(r)
	tab.Call(0, 0).Observe(OK, 0, 0, 0)
	tab.Call(0, 0).DefaultRouted()
	n := testing.AllocsPerRun(1000, func() {
		c := tab.Call(0, 0)
		c.Observe(OK, 0.0004, 120, 4000)
		c.DefaultRouted()
		r.ClientOpened()
	})
	if n != 0 {
		t.Errorf("got %v allocations a call, want 0", n)
	}
}

func BenchmarkObserve(b *testing.B) {
	tab := table(New(Options{}))
	b.ReportAllocs()
	for b.Loop() {
		tab.Call(1, 1).Observe(OK, 0.0004, 120, 4000)
	}
}
