package gateway

import (
	"bytes"
	"strings"
	"testing"

	"hmsgate/frame"
	"hmsgate/internal/wiretest"
)

// wire is a struct's fields, short to write.
type wire = wiretest.Struct

func fields() wire { return wiretest.Struct(nil) }

const byteSeq = sweepFirst + 7

// bridgeBytes is one exchange, byte by byte. What the backend reads is empty
// where the call must not reach it; what the client reads may then be a part
// of a text.
type bridgeBytes struct {
	name, back   string
	method, as   string
	call, sent   []byte // arguments
	reply, given []byte // results
	refused      string
	fault        bool // the reply is an application exception, given its text
}

var (
	// aTable is a Table as 2.3 to 4.x have it, catName included; after is what
	// stands behind field 17.
	aTable = func(after wire) []byte {
		return append(fields().String(1, "t").String(2, "w").Struct(7, fields().List(1, wiretest.WireStruct,
			fields().String(1, "a").String(2, "int").Stop()).Stop()).StringMap(9, "k", "v").String(12, "EXTERNAL_TABLE").
			String(17, "hive"), append(after, 0)...)
	}
	thrownAs = func(id int16, text string) []byte {
		return fields().Struct(id, fields().String(1, text).Stop()).Stop()
	}
	key = fields().String(1, "w").String(2, "t").String(3, "a").I32(4, 1).String(5, "pk").Bool(6, false).Bool(7,
		false).Bool(8, true).Stop()
)

func bridgeByteCases() []bridgeBytes {
	success := func(v []byte) []byte { return fields().Struct(0, v).Stop() }
	table := aTable(nil)
	env := fields().StringMap(1, "x", "y").Stop()
	alter := fields().String(1, "hive").String(2, "w").String(3, "t").Struct(4, table).Struct(5, env)
	return []bridgeBytes{
		{name: "get_table", back: "apache-4.1.0", method: "get_table", as: "get_table_req",
			call: fields().String(1, "w").String(2, "t").Stop(), sent: fields().Struct(1, fields().String(1,
				"w").String(2, "t").Stop()).Stop(),
			reply: success(fields().Struct(1, table).Stop()), given: success(table)},
		{name: "get_table with a catalog", back: "apache-4.1.0", method: "get_table", as: "get_table_req",
			call:  fields().String(1, "@hive#w").String(2, "t").Stop(),
			sent:  fields().Struct(1, fields().String(1, "w").String(4, "hive").String(2, "t").Stop()).Stop(),
			reply: success(fields().Struct(1, table).Stop()), given: success(table)},
		{name: "get_table of none", back: "apache-4.1.0", method: "get_table", as: "get_table_req",
			call: fields().String(1, "w").String(2, "t").Stop(), sent: fields().Struct(1, fields().String(1,
				"w").String(2, "t").Stop()).Stop(),
			reply: thrownAs(2, "hive.w.t table not found"), given: thrownAs(2, "hive.w.t table not found")},
		{name: "get_table, a fault", back: "apache-4.1.0", method: "get_table", as: "get_table_req", fault: true,
			call: fields().String(1, "w").String(2, "t").Stop(), sent: fields().Struct(1, fields().String(1,
				"w").String(2, "t").Stop()).Stop(),
			reply: []byte("broken"), given: []byte("broken")},
		{name: "get_table_objects_by_name", back: "apache-4.1.0", method: "get_table_objects_by_name",
			as:    "get_table_objects_by_name_req",
			call:  fields().String(1, "@hive#w").Strings(2, "t", "u").Stop(),
			sent:  fields().Struct(1, fields().String(1, "w").String(4, "hive").Strings(2, "t", "u").Stop()).Stop(),
			reply: success(fields().List(1, wiretest.WireStruct, table, table).Stop()),
			given: fields().List(0, wiretest.WireStruct, table, table).Stop()},
		{name: "alter_table_req", back: "apache-3.1.3", method: "alter_table_req",
			as:    "alter_table_with_environment_context",
			call:  fields().Struct(1, append(bytes.Clone(alter), 0)).Stop(),
			sent:  fields().String(1, "@hive#w").String(2, "t").Struct(3, table).Struct(4, env).Stop(),
			reply: fields().Stop(), given: success(fields().Stop())},
		{name: "alter_table_req, its exception", back: "apache-3.1.3", method: "alter_table_req",
			as:    "alter_table_with_environment_context",
			call:  fields().Struct(1, append(bytes.Clone(alter), 0)).Stop(),
			sent:  fields().String(1, "@hive#w").String(2, "t").Struct(3, table).Struct(4, env).Stop(),
			reply: thrownAs(1, "no"), given: thrownAs(1, "no")},
		{name: "alter_table_req, compare and set", back: "apache-3.1.3", method: "alter_table_req",
			call:    fields().Struct(1, wire(bytes.Clone(alter)).String(10, "location").String(11, "x").Stop()).Stop(),
			refused: "expectedParameterKey: the backend cannot compare and set a parameter"},
		{name: "alter_table_req, write id", back: "apache-3.1.3", method: "alter_table_req",
			call:    fields().Struct(1, wire(bytes.Clone(alter)).I64(6, 5).Stop()).Stop(),
			refused: "writeId: the backend would not know the write id"},
		{name: "alter_table_req, no write id", back: "apache-3.1.3", method: "alter_table_req",
			as:    "alter_table_with_environment_context",
			call:  fields().Struct(1, wire(bytes.Clone(alter)).I64(6, -1).String(7, "ids").Stop()).Stop(),
			sent:  fields().String(1, "@hive#w").String(2, "t").Struct(3, table).Struct(4, env).Stop(),
			reply: fields().Stop(), given: success(fields().Stop())},
		{name: "create_table_req", back: "apache-3.1.3", method: "create_table_req",
			as: "create_table_with_environment_context",
			call: fields().Struct(1, fields().Struct(1, table).Struct(2, env).Strings(9, "CAP").String(10,
				"id").Stop()).Stop(),
			sent:  fields().Struct(1, table).Struct(2, env).Stop(),
			reply: fields().Stop(), given: fields().Stop()},
		{name: "create_table_req, constraints that are empty", back: "apache-3.1.3", method: "create_table_req",
			as: "create_table_with_environment_context",
			call: fields().Struct(1, fields().Struct(1, table).List(3, wiretest.WireStruct).List(4,
				wiretest.WireStruct).Stop()).Stop(),
			sent:  fields().Struct(1, table).Stop(),
			reply: thrownAs(1, "exists"), given: thrownAs(1, "exists")},
		{name: "create_table_req with constraints", back: "apache-3.1.3", method: "create_table_req",
			as: "create_table_with_constraints",
			call: fields().Struct(1, fields().Struct(1, table).Struct(2, env).List(3, wiretest.WireStruct,
				key).Stop()).Stop(),
			sent:  fields().Struct(1, table).List(2, wiretest.WireStruct, key).Stop(),
			reply: fields().Stop(), given: fields().Stop()},
		{name: "append_partition_req by values", back: "apache-3.1.3", method: "append_partition_req",
			as: "append_partition_with_environment_context",
			call: fields().Struct(1, fields().String(1, "hive").String(2, "w").String(3, "t").Strings(5,
				"1").Stop()).Stop(),
			sent:  fields().String(1, "@hive#w").String(2, "t").Strings(3, "1").Stop(),
			reply: success(fields().Strings(1, "1").Stop()), given: success(fields().Strings(1, "1").Stop())},
		{name: "append_partition_req by name", back: "apache-3.1.3", method: "append_partition_req",
			as: "append_partition_by_name_with_environment_context",
			call: fields().Struct(1, fields().String(1, "hive").String(2, "w").String(3, "t").String(4,
				"ds=1").Stop()).Stop(),
			sent:  fields().String(1, "@hive#w").String(2, "t").String(3, "ds=1").Stop(),
			reply: success(fields().Strings(1, "1").Stop()), given: success(fields().Strings(1, "1").Stop())},
		{name: "drop_partition_req by values", back: "apache-3.1.3", method: "drop_partition_req",
			as:    "drop_partition_with_environment_context",
			call:  fields().Struct(1, fields().String(2, "w").String(3, "t").Strings(5, "1").Bool(6, true).Stop()).Stop(),
			sent:  fields().String(1, "w").String(2, "t").Strings(3, "1").Bool(4, true).Stop(),
			reply: fields().Bool(0, true).Stop(), given: fields().Bool(0, true).Stop()},
		{name: "drop_partition_req by name", back: "apache-3.1.3", method: "drop_partition_req",
			as: "drop_partition_by_name_with_environment_context",
			call: fields().Struct(1, fields().String(1, "hive").String(2, "w").String(3, "t").String(4, "ds=1").Bool(6,
				false).Stop()).Stop(),
			sent:  fields().String(1, "@hive#w").String(2, "t").String(3, "ds=1").Bool(4, false).Stop(),
			reply: thrownAs(1, "none"), given: thrownAs(1, "none")},
		{name: "drop_database_req, soft", back: "apache-3.1.3", method: "drop_database_req",
			call: fields().Struct(1, fields().String(1, "w").Bool(3, false).Bool(4, false).Bool(5, false).Bool(6,
				true).Stop()).Stop(),
			refused: "softDelete: the backend has no soft delete"},
		{name: "get_partitions_by_names, an exception of 4.x", back: "apache-4.1.0", method: "get_partitions_by_names",
			as: "get_partitions_by_names", call: fields().String(1, "w").String(2, "t").Strings(3, "ds=1").Stop(),
			sent:  fields().String(1, "w").String(2, "t").Strings(3, "ds=1").Stop(),
			reply: thrownAs(3, "no such table"), given: thrownAs(1, "no such table")},
		{name: "a never", back: "apache-3.1.3", method: "create_stored_procedure",
			call:    fields().Struct(1, fields().String(1, "p").Stop()).Stop(),
			refused: "Invalid method name: 'create_stored_procedure'"},
	}
}

// TestBridgesByteByByte: bridged calls and replies as they are on the wire.
func TestBridgesByteByByte(t *testing.T) {
	for _, framed := range []bool{false, true} {
		for _, c := range bridgeByteCases() {
			t.Run(c.name, func(t *testing.T) {
				r := sweepServe(t, sweepSetup{profile: c.back, catalogs: []string{"hdp", "apache"}, framed: framed})
				c.run(t, r)
			})
		}
	}
}

func (c *bridgeBytes) run(t *testing.T, r *sweepRig) {
	t.Helper()
	reply, given := wiretest.Reply(c.as, byteSeq, c.reply), wiretest.Reply(c.method, byteSeq, c.given)
	if c.fault {
		reply = wiretest.Exception(c.as, byteSeq, int32(frame.InternalError), string(c.reply))
		given = wiretest.Exception(c.method, byteSeq, int32(frame.InternalError), string(c.given))
	}
	answered, got, err := r.exchange(wiretest.Call(c.method, byteSeq, c.call), reply, false)
	if err != nil {
		t.Fatal(err)
	}
	if c.refused != "" {
		if len(got) > 0 || !strings.Contains(string(answered), c.refused) {
			t.Errorf("got %q, the backend %d calls, want %q and none", answered, len(got), c.refused)
		}
		return
	}
	if len(got) != 1 {
		t.Fatalf("the backend got %d calls, the client %q", len(got), answered)
	}
	if err := sweepSame("the call", got[0].call, wiretest.Call(c.as, byteSeq, c.sent)); err != nil {
		t.Error(err)
	}
	if err := sweepSame("the reply", answered, given); err != nil {
		t.Error(err)
	}
}
