package gateway

import (
	"testing"

	"hmsgate/internal/wiretest"
)

// L34 (HIVE-27984): betas of 4.0 want the engine that statistics are of, which
// no client before 4.0 sends.
func TestStatisticsWithoutAnEngine(t *testing.T) {
	desc := fields().Bool(1, true).String(2, "w").String(3, "t").Stop()
	stats := func(engine string) []byte {
		return engineOf(fields().Struct(1, desc).List(2, wiretest.WireStruct), 4, engine)
	}
	set := func(engine string) []byte {
		return engineOf(fields().List(1, wiretest.WireStruct, stats(engine), stats(engine)).Bool(2, true), 5, engine)
	}
	ofTable := func(engine string) []byte {
		return engineOf(fields().String(1, "w").String(2, "t").Strings(3, "a").String(4, "hive"), 6, engine)
	}
	ofParts := func(engine string) []byte {
		return engineOf(fields().String(1, "w").String(2, "t").Strings(3, "a").Strings(4, "ds=1"), 7, engine)
	}
	yes := fields().Bool(0, true).Stop()
	none := fields().Struct(0, fields().List(1, wiretest.WireStruct).Stop()).Stop()
	rigs := map[string]*sweepRig{}
	for _, c := range []struct {
		method  string
		request func(engine string) []byte
		result  []byte
	}{
		{"set_aggr_stats_for", set, yes}, {"update_table_column_statistics", stats, yes},
		{"update_partition_column_statistics", stats, yes}, {"get_table_statistics_req", ofTable, none},
		{"get_partitions_statistics_req", ofParts, none}, {"get_aggr_stats_for", ofParts, none},
	} {
		for _, to := range []struct{ front, back, says, reads string }{
			{"apache-3.1.3", "apache-4.0.0", "", "hive"}, {"auto", "apache-4.0.0", "", "hive"},
			{"auto", "apache-4.0.0", "impala", "impala"}, {"auto", "apache-3.1.3", "", ""},
		} {
			pair := to.front + " at " + to.back
			if rigs[pair] == nil {
				rigs[pair] = sweepServe(t, sweepSetup{profile: to.back, catalogs: []string{"hdp", "apache"},
					settings: "compatibility.frontend-profile: " + to.front + "\n"})
			}
			t.Run(c.method+", "+pair+" "+to.says, func(t *testing.T) {
				(&bridgeBytes{method: c.method, as: c.method, call: fields().Struct(1, c.request(to.says)).Stop(),
					sent: fields().Struct(1, c.request(to.reads)).Stop(), reply: c.result, given: c.result}).run(t, rigs[pair])
			})
		}
	}
}

func engineOf(s wire, id int16, engine string) []byte {
	if engine != "" {
		s = s.String(id, engine)
	}
	return s.Stop()
}
