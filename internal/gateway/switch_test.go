package gateway

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"hmsgate/internal/config"
	"hmsgate/internal/hms"
	"hmsgate/internal/memhms"
	"hmsgate/internal/wiretest"
)

// L96 (doris 20227): events are one catalog's, in order, and whoever wonders
// why they begin anew finds that another metastore gives them.
func TestEventsAfterASwitch(t *testing.T) {
	log := &wiretest.Log{}
	serve := func(demo string) (*memhms.Server, string) {
		s := memhms.New(memhms.Config{Inventory: sweepLoad(t, "apache-3.1.3"), Name: demo})
		memhms.Demo(demo)(s)
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go s.Serve(ln)
		t.Cleanup(func() { s.Close() })
		return s, ln.Addr().String()
	}
	first, one := serve("hdp")
	second, two := serve("hdp")
	_, other := serve("apache")
	cfg, err := config.Parse("switch.yaml", config.YAML, []byte(fmt.Sprintf("listen: 127.0.0.1:0\nrouting.default-catalog: hdp\n"+
		"catalog:\n  hdp: {uris: [thrift://%s, thrift://%s]}\n  apache: {uris: thrift://%s}\n", one, two, other)))
	if err != nil {
		t.Fatal(err)
	}
	g, err := New(cfg, zerolog.New(log), "test")
	if err != nil {
		t.Fatal(err)
	}
	begin(t, g)
	c := sweepDial(t, g.Addr().String(), sweepLoad(t, "apache-3.1.3"), false)
	events := func(after int64) []hms.Struct {
		t.Helper()
		v, err := c.Call(t.Context(), "get_next_notification", st{"rqst": st{"lastEvent": after, "maxEvents": int32(10)}})
		if err != nil {
			t.Fatal(err)
		}
		list := v.(hms.Struct).Structs("events")
		for i, e := range list {
			if e.Int("eventId") != after+int64(i)+1 || strings.Contains(e.Str("dbName"), "__") {
				t.Errorf("event %d of %q behind %d", e.Int("eventId"), e.Str("dbName"), after+int64(i))
			}
		}
		return list
	}
	if got := len(events(0)); got == 0 || got > 10 {
		t.Errorf("%d events, want some, and 10 at most", got)
	}
	if _, err := second.Do("create_database", st{"database": st{"name": "only_here"}}); err != nil {
		t.Fatal(err)
	}
	id, err := second.Do("get_current_notificationEventId", nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := counted(t, g, "hmsgate_backend_switches_total"); n != 0 {
		t.Errorf("%v switches before there was one", n)
	}
	first.Close()
	last := id.(hms.Struct).Int("eventId")
	if got := events(last - 1); len(got) != 1 || got[0].Str("dbName") != "only_here" {
		t.Errorf("got %v, want the second metastore's last event", got)
	}
	events(0)
	if n := counted(t, g, "hmsgate_backend_switches_total"); n != 1 {
		t.Errorf("%v switches are counted, want 1", n)
	}
	for _, want := range []string{"another metastore serves the catalog now", `"from":"` + one, `"to":"` + two} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("no %s in the log:\n%s", want, log)
		}
	}
}
