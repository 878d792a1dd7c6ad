package gateway

import (
	"fmt"
	"strings"
	"testing"

	"hmsgate/internal/wiretest"
)

// forwarded is a call and its reply of which nothing but databases may change,
// at metastores of some versions.
type forwarded struct {
	name, method string
	backs        []string
	args, result func(db string) []byte
}

func always(b []byte) func(string) []byte { return func(string) []byte { return b } }

// run sends it in both catalogs and compares every byte on both sides.
func (c *forwarded) run(t *testing.T, back string, r *sweepRig) {
	for _, prefix := range []string{"", "apache__"} {
		r.seq++
		answered, got, err := r.exchange(wiretest.Call(c.method, r.seq, c.args(prefix+"sales")),
			wiretest.Reply(c.method, r.seq, c.result("sales")), false)
		if err != nil {
			t.Fatalf("%s, %ssales: %v", back, prefix, err)
		}
		if len(got) != 1 {
			t.Fatalf("%s, %ssales: got %d calls and the answer %.200q", back, prefix, len(got), answered)
		}
		if err := sweepSame("the call", got[0].call, wiretest.Call(c.method, r.seq, c.args("sales"))); err != nil {
			t.Errorf("%s, %ssales: %v", back, prefix, err)
		}
		if err := sweepSame("the reply", answered, wiretest.Reply(c.method, r.seq, c.result(prefix+"sales"))); err != nil {
			t.Errorf("%s, %ssales: %v", back, prefix, err)
		}
	}
}

func forwardedAll(t *testing.T, cases []forwarded) {
	rigs := map[string]*sweepRig{}
	for _, c := range cases {
		for _, back := range c.backs {
			if rigs[back] == nil {
				rigs[back] = sweepServe(t, sweepSetup{profile: back, catalogs: []string{"hdp", "apache"}})
			}
			t.Run(c.name+" at "+back, func(t *testing.T) { c.run(t, back, rigs[back]) })
			rigs[back].hangUp()
		}
	}
}

var (
	since2 = []string{"apache-2.3.10", "apache-3.1.3", "hdp-3.1.5.0-152", "apache-4.1.0"}
	since4 = []string{"apache-4.0.0", "apache-4.1.0", "apache-4.2.0"}
)

// strange is a value that no inventory has: a struct with a map of maps.
func strange() []byte {
	inner := append([]byte{wiretest.WireString, wiretest.WireList, 0, 0, 0, 1}, wiretest.Text("apache__sales")...)
	inner = append(inner, wiretest.WireI64, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 9)
	outer := append([]byte{wiretest.WireString, wiretest.WireMap, 0, 0, 0, 1}, wiretest.Text("k")...)
	return fields().Field(wiretest.WireMap, 1, append(outer, inner...)).Struct(2, fields().Bool(7, true).Stop()).Stop()
}

// L30 (waggle-dance 317), L37, L98 (impala 58): what a decoder would lose or
// stumble over.
func TestFieldsThatNobodyKnowsPass(t *testing.T) {
	table := func(db string) []byte {
		return fields().Struct(0, fields().Struct(1, fields().String(1, "t").String(2, db).Struct(901, strange()).Stop()).Stop()).Stop()
	}
	part := func(db string) []byte {
		return fields().Strings(1, "1").String(2, db).Struct(900, strange()).String(3, "t").Stop()
	}
	forwardedAll(t, []forwarded{
		{"L30 capabilities without values", "get_table_req", since2, func(db string) []byte {
			return fields().Struct(1, fields().String(1, db).String(2, "t").Struct(3, fields().Stop()).Stop()).Stop()
		}, table},
		{"L37 a field above the known ones", "get_partitions_by_names_req", since4, func(db string) []byte {
			return fields().Struct(1, fields().String(1, db).Struct(900, strange()).String(2, "t").Strings(3, "ds=1").Stop()).Stop()
		}, func(db string) []byte {
			return fields().Struct(0, fields().List(1, wiretest.WireStruct, part(db), part(db)).Struct(900, strange()).Stop()).Stop()
		}},
		{"L37 an argument above the known ones", "get_table", since2[:3], func(db string) []byte {
			return fields().Struct(900, strange()).String(1, db).String(2, "t").Stop()
		}, func(db string) []byte {
			return fields().Struct(0, fields().String(1, "t").Struct(901, strange()).String(2, db).Stop()).Stop()
		}},
		{"L98 a skip list that 3.1 has not heard of", "get_next_notification", since2, always(fields().Struct(1,
			fields().I64(1, 100).I32(2, 10).Strings(3, "OPEN_TXN").Struct(900, strange()).Stop()).Stop()),
			always(fields().Struct(0, fields().List(1, wiretest.WireStruct).Stop()).Stop())},
	})
}

// odd are values of partitions that have been lost or changed on the way, by
// trino 8913, 11719, 20071, metacat 294 and 356, and that look like names of ours.
var odd = []string{"with-hyphen", "with.dot", "with:colon", "with/slash", `with\\\\backslash`, "with=equal", "with?question",
	"100%", "1.0#2023-11-27", "Example's", "", " ", "__HIVE_DEFAULT_PARTITION__", `"quoted"`, "apache__sales", "@apache#sales",
	"apache__sales.t:9:3::", "\x00", "\xff\xfe"}

// L44, L45: values, names and filters of partitions.
func TestPartitionValuesPass(t *testing.T) {
	var cases []forwarded
	for _, v := range odd {
		name := v + "=1/ds=" + v
		args := func(db string) wire { return fields().String(1, db).String(2, "p") }
		part := func(db string) []byte {
			p := fields().Strings(1, v, "1").String(2, db).String(3, "p").StringMap(7, "note", v).Stop()
			return fields().Struct(0, p).Stop()
		}
		for _, c := range []forwarded{
			{"", "get_partition_by_name", since2, func(db string) []byte { return args(db).String(3, name).Stop() }, part},
			{"", "get_partition", since2, func(db string) []byte { return args(db).Strings(3, v, "1").Stop() }, part},
			{"", "append_partition_by_name", since2, func(db string) []byte { return args(db).String(3, name).Stop() }, part},
			{"", "drop_partition_by_name", since2, func(db string) []byte { return args(db).String(3, name).Bool(4, true).Stop() },
				always(fields().Bool(0, true).Stop())},
			{"", "get_partition_names", since2, func(db string) []byte { return args(db).I16(3, -1).Stop() },
				always(fields().Strings(0, name, name).Stop())},
			{"", "get_partitions_by_filter", since2, func(db string) []byte {
				return args(db).String(3, "dt='O''Brien' and ds = '"+v+"'").I16(4, -1).Stop()
			}, func(db string) []byte {
				p := fields().Strings(1, v, "1").String(2, db).String(3, "p").Stop()
				return fields().List(0, wiretest.WireStruct, p, p).Stop()
			}},
		} {
			c.name = fmt.Sprintf("%s %q", c.method, v)
			c.backs = []string{since2[len(cases)%len(since2)]} // each meets each version by turns
			cases = append(cases, c)
		}
	}
	forwardedAll(t, cases)
}

// L44: functions of a name alone are the default catalog's, whatever it holds.
func TestPartitionNamesWithoutADatabase(t *testing.T) {
	r := sweepServe(t, sweepTwo("apache-3.1.3"))
	for _, v := range odd {
		for method, result := range map[string][]byte{
			"partition_name_to_vals": fields().Strings(0, v).Stop(),
			"partition_name_to_spec": fields().StringMap(0, "ds", v).Stop(),
		} {
			r.seq++
			call, reply := wiretest.Call(method, r.seq, fields().String(1, v+"=1/ds="+v).Stop()), wiretest.Reply(method, r.seq, result)
			answered, got, err := r.exchange(call, reply, false)
			if err != nil || len(got) != 1 || got[0].catalog != "hdp" || string(got[0].call) != string(call) || string(answered) != string(reply) {
				t.Errorf("%s of %q: got %q, %v; the metastores read %q", method, v, answered, err, got)
			}
		}
	}
}

// L46 (spark 15673, 26807, 30207): upon this text Spark lists all partitions
// and filters itself.
func TestRefusedFiltersReachSpark(t *testing.T) {
	const text = "Filtering is supported only on partition keys of type string"
	thrown := always(thrownAs(1, text))
	args := func(db string) wire { return fields().String(1, db).String(2, "p").String(3, "n > 1") }
	forwardedAll(t, []forwarded{
		{"partitions", "get_partitions_by_filter", since2, func(db string) []byte { return args(db).I16(4, -1).Stop() }, thrown},
		{"specs", "get_part_specs_by_filter", since2, func(db string) []byte { return args(db).I32(4, -1).Stop() }, thrown},
		{"count", "get_num_partitions_by_filter", since2, func(db string) []byte { return args(db).Stop() }, thrown},
	})
	c := &bridgeBytes{method: "get_partitions_by_filter_req", as: "get_partitions_by_filter",
		call:  fields().Struct(1, fields().String(2, "sales").String(3, "p").String(4, "n > 1").Stop()).Stop(),
		sent:  fields().String(1, "sales").String(2, "p").String(3, "n > 1").I16(4, -1).Stop(),
		reply: thrownAs(1, text), given: thrownAs(1, text)}
	c.run(t, sweepServe(t, sweepSetup{profile: "apache-3.1.3", catalogs: []string{"hdp", "apache"}}))
}

// L92: an Iceberg commit, with the parameter to compare first (HIVE-26882)
// where the metastore knows it, and as PyIceberg locks for it where it does not.
func TestIcebergCommitPasses(t *testing.T) {
	commit := func(env ...string) func(string) []byte {
		return func(db string) []byte {
			table := fields().String(1, "t").String(2, db).StringMap(9, "table_type", "ICEBERG", "metadata_location",
				"s3://w/sales.db/t/v4.json", "previous_metadata_location", "s3://w/sales.db/t/v3.json", "owner_db", "apache__sales").Stop()
			return fields().String(1, db).String(2, "t").Struct(3, table).Struct(4, fields().StringMap(1, env...).Stop()).Stop()
		}
	}
	const method = "alter_table_with_environment_context"
	guarded := commit("DO_NOT_UPDATE_STATS", "true", "expected_parameter_key", "metadata_location",
		"expected_parameter_value", "s3://w/sales.db/t/v3.json")
	forwardedAll(t, []forwarded{
		{"plain", method, since2, commit("DO_NOT_UPDATE_STATS", "true"), always(fields().Stop())},
		{"guarded", method, append([]string{"apache-2.3.10"}, since4...), guarded, always(fields().Stop())},
		{"refused by the metastore", method, since4, guarded, always(thrownAs(2,
			"The table has been modified. The parameter value for key 'metadata_location' is 's3://w/sales.db/t/v5.json'."))},
	})
}

// L28: a list of tables that 4.0.1 and later give only upon a request.
func TestTablesByNameBridged(t *testing.T) {
	for _, n := range []int{0, 1, 1000} {
		var names []string
		var tables [][]byte
		for i := range n {
			names = append(names, fmt.Sprintf("t%d", i))
			tables = append(tables, fields().String(1, names[i]).String(2, "sales").String(17, "hive").Stop())
		}
		list := func(id int16) wire { return fields().List(id, wiretest.WireStruct, tables...) }
		for _, back := range []string{"apache-4.0.1", "apache-4.1.0"} {
			for _, framed := range []bool{false, true} {
				t.Run(fmt.Sprintf("%d at %s, framed %v", n, back, framed), func(t *testing.T) {
					c := &bridgeBytes{method: "get_table_objects_by_name", as: "get_table_objects_by_name_req",
						call:  fields().String(1, "sales").Strings(2, names...).Stop(),
						sent:  fields().Struct(1, fields().String(1, "sales").Strings(2, names...).Stop()).Stop(),
						reply: fields().Struct(0, list(1).Stop()).Stop(), given: list(0).Stop()}
					c.run(t, sweepServe(t, sweepSetup{profile: back, catalogs: []string{"hdp", "apache"}, framed: framed}))
				})
			}
		}
	}
}

// L29 (HIVE-24608): a metastore before get_table_req. One client finds out, no
// other asks again.
func TestTableRequestIsUnknown(t *testing.T) {
	b := wiretest.NewBackend(t).Others(wiretest.Serve(func(m wiretest.Message) []byte {
		switch m.Method {
		case "get_table":
			return wiretest.Reply(m.Method, m.Seq, fields().Struct(0, fields().String(1, "t").String(2, "sales").Stop()).Stop())
		case "get_table_req":
			return wiretest.Exception(m.Method, m.Seq, 1, "Invalid method name: 'get_table_req'")
		}
		return wiretest.Reply(m.Method, m.Seq, fields().String(0, "3.0").Stop())
	}))
	g, _ := startGateway(t, b.Addr(), "catalog.hdp.runtime-profile: apache-2.3.10")
	for range 3 {
		c := dialGateway(t, g)
		for seq := range int32(4) {
			call := wiretest.Call("get_table_req", seq, fields().Struct(1, fields().String(1, "sales").String(2, "t").Stop()).Stop())
			want := wiretest.Reply("get_table_req", seq, fields().Struct(0, fields().Struct(1, fields().String(1,
				"t").String(2, "sales").Stop()).Stop()).Stop())
			if m, err := exchange(c, call); err != nil || string(m.Bytes) != string(want) {
				t.Fatalf("got %q, %v, want %q", m.Bytes, err, want)
			}
		}
	}
	asked := map[string]int{}
	for _, m := range b.Calls() {
		asked[m.Method]++
	}
	if asked["get_table_req"] != 1 || asked["get_table"] != 12 {
		t.Errorf("the metastore was asked %v, want get_table_req once and get_table 12 times", asked)
	}
}

// L22: what no version behind the gateway can do is unknown in the words of a
// metastore, since clients look at type and text.
func TestUnknownStaysUnknown(t *testing.T) {
	n := 0
	for _, back := range since2 {
		r := sweepServe(t, sweepSetup{profile: back, catalogs: []string{"hdp", "apache"}})
		for _, p := range sweepPairs(t, back)[0].List() {
			if !p.Missing || p.Bridge == nil || p.Bridge.Never == "" || p.Answer != "" {
				continue
			}
			r.seq++
			answered, got, err := r.exchange(wiretest.Call(p.Method, r.seq, fields().Stop()), nil, false)
			if refused := strings.Contains(string(answered), "namespace ownership"); err == nil && refused {
				continue // a write that names nobody
			}
			if n++; err != nil || len(got) > 0 {
				t.Fatalf("%s at %s: %v, %d calls", p.Method, back, err, len(got))
			}
			if err := sweepSame(p.Method+" at "+back, answered, wiretest.Exception(p.Method, r.seq, 1,
				"Invalid method name: '"+p.Method+"'")); err != nil {
				t.Error(err)
			}
		}
	}
	if n < 80 {
		t.Errorf("%d methods were asked for, want at least 80", n)
	}
}

// L36: the one lock type that 3.1 has not heard of goes as the next stronger
// one, and no other changes, known or not.
func TestLockTypes(t *testing.T) {
	lock := func(kind int32) []byte {
		part := fields().I32(1, kind).I32(2, 2).String(3, "sales").String(4, "t").Stop()
		return fields().Struct(1, fields().List(1, wiretest.WireStruct, part).String(3, "u").String(4, "h").Stop()).Stop()
	}
	state := fields().Struct(0, fields().I64(1, 5).I32(2, 1).Stop()).Stop()
	r := sweepServe(t, sweepSetup{profile: "apache-3.1.3", catalogs: []string{"hdp", "apache"}})
	for kind, sent := range map[int32]int32{1: 1, 2: 2, 3: 3, 4: 3, 5: 5, -1: -1} {
		t.Run(fmt.Sprint(kind), func(t *testing.T) {
			(&bridgeBytes{method: "lock", as: "lock", call: lock(kind), sent: lock(sent), reply: state, given: state}).run(t, r)
		})
	}
}
