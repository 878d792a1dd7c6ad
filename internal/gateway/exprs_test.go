package gateway

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"hmsgate/internal/hms"
)

// TestPartitionExpressions: none crosses between 4.x and earlier generations,
// also not on a guess about a client that has not shown what it is.
func TestPartitionExpressions(t *testing.T) {
	for _, c := range []struct {
		name, client, back string
		shows              string // a call by which the client shows what it is
		crosses            bool
	}{
		{"3.1.3 at 4.1.0", "apache-3.1.3", "apache-4.1.0", "", false},
		{"2.3.10 at 4.1.0", "apache-2.3.10", "apache-4.1.0", "", false},
		{"4.1.0, not shown, at 4.1.0", "apache-4.1.0", "apache-4.1.0", "", false},
		{"4.1.0 at 4.1.0", "apache-4.1.0", "apache-4.1.0", "get_fields_req", true},
		{"3.1.3 at 3.1.3", "apache-3.1.3", "apache-3.1.3", "", true},
		{"2.3.10 at 3.1.3", "apache-2.3.10", "apache-3.1.3", "", true},
		{"4.1.0 at 3.1.3", "apache-4.1.0", "apache-3.1.3", "get_fields_req", false},
		{"4.1.0 at HDP", "apache-4.1.0", "hdp-3.1.5.0-152", "get_fields_req", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := &heard{}
			cl := sweepDial(t, bridgeGateway(t, c.back, h).Addr().String(), sweepLoad(t, c.client), false)
			if c.shows != "" {
				_, _ = cl.Call(t.Context(), c.shows, hms.Struct{"req": hms.Struct{"dbName": "default", "tblName": "t"}})
			}
			exprCross(t, cl, h, c.crosses)
		})
	}
}

func exprCross(t *testing.T, cl *hms.Client, h *heard, crosses bool) {
	t.Helper()
	table := func(field string, v any) hms.Struct { return hms.Struct{"dbName": "default", "tblName": "t", field: v} }
	h.take()
	_, err := cl.Call(t.Context(), "get_partitions_by_expr", hms.Struct{"req": table("expr", []byte("kryo"))})
	var app *hms.AppError
	if !crosses && (!errors.As(err, &app) || app.Type != hms.AppUnknownMethod) {
		t.Errorf("get_partitions_by_expr: got %v, want UNKNOWN_METHOD", err)
	}
	exprs := hms.Struct{"exprs": []any{hms.Struct{"expr": []byte("kryo")}}}
	_, err = cl.Call(t.Context(), "drop_partitions_req", hms.Struct{"req": table("parts", exprs)})
	var x *hms.Exception
	if !crosses && (!errors.As(err, &x) || x.Type != "MetaException" || !strings.Contains(x.Message, "another Hive generation")) {
		t.Errorf("drop_partitions_req: got %v, want a MetaException that says why", err)
	}
	got := h.take()
	for _, method := range []string{"get_partitions_by_expr", "drop_partitions_req"} {
		if slices.Contains(got, method) != crosses {
			t.Errorf("the metastore heard %v; %s among it: want %v", got, method, crosses)
		}
	}
	_, err = cl.Call(t.Context(), "drop_partitions_req", hms.Struct{"req": table("parts", hms.Struct{"names": []string{"ds=1"}})})
	if errors.As(err, &x) && strings.Contains(x.Message, "generation") || !slices.Contains(h.take(), "drop_partitions_req") {
		t.Errorf("drop_partitions_req by names does not arrive: %v", err)
	}
}

// TestPartitionExpressionIsLoggedOnce: one line, with what the client heard and
// why it is so.
func TestPartitionExpressionIsLoggedOnce(t *testing.T) {
	g, log := startGateway(t, bridgeServer(t, "apache-4.1.0", &heard{}), "catalog.hdp.runtime-profile: apache-4.1.0")
	cl := sweepDial(t, g.Addr().String(), sweepLoad(t, "apache-3.1.3"), false)
	_, err := cl.Call(t.Context(), "get_partitions_by_expr",
		hms.Struct{"req": hms.Struct{"dbName": "default", "tblName": "t", "expr": []byte("kryo")}})
	var app *hms.AppError
	if !errors.As(err, &app) {
		t.Fatalf("got %v, want an application exception", err)
	}
	var lines []string
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, "get_partitions_by_expr") {
			lines = append(lines, line)
		}
	}
	if len(lines) != 1 || !strings.Contains(lines[0], `"text":"Invalid method name`) || !strings.Contains(lines[0], `"cause":"`) {
		t.Errorf("got %q, want one line with text and cause", lines)
	}
}
