package gateway

import (
	"testing"

	"hmsgate/internal/wiretest"
)

// versionBytes is an exchange between a client and a backend that both have
// the method and differ in what they send.
type versionBytes struct {
	front string
	bridgeBytes
}

func versionByteCases() []versionBytes {
	base := func() wire { return fields().String(1, "t").String(2, "w") }
	success := func(table []byte) []byte { return fields().Struct(0, fields().Struct(1, table).Stop()).Stop() }
	// HDP 3.1.5 counts accessType, read and write capabilities from 23, Apache 4
	// from 22 and has an id at 25.
	hdp := base().Field(wiretest.WireByte, 23, []byte{4}).Strings(24, "READ").Strings(25, "WRITE").Stop()
	four := base().Field(wiretest.WireByte, 22, []byte{4}).Strings(23, "READ").Strings(24, "WRITE").Stop()
	fourID := base().Field(wiretest.WireByte, 22, []byte{4}).Strings(23, "READ").Strings(24, "WRITE").I64(25, 9).Stop()
	get := fields().Struct(1, fields().String(1, "w").String(2, "t").Stop()).Stop()
	create := func(table []byte) []byte { return fields().Struct(1, table).Stop() }
	void := fields().Stop()
	two := fields().I64(1, 7).String(2, "w").String(3, "t").Strings(4, "ds=1").I32(5, 1)
	three := fields().I64(1, 7).I64(2, 8).String(3, "w").String(4, "t").Strings(5, "ds=1").I32(6, 1)
	dyn := func(s wire) []byte { return fields().Struct(1, s.Stop()).Stop() }
	event := func(data wire, more wire) []byte {
		r := append(fields().Bool(1, true).Struct(2, fields().Struct(1, data.Stop()).Stop()).String(3, "w").String(4,
			"t"), more...)
		return fields().Struct(1, r.Stop()).Stop()
	}
	lock := func(kind int32) []byte {
		part := fields().I32(1, kind).I32(2, 2).String(3, "w").String(4, "t").Bool(7, true).Stop()
		return fields().Struct(1, fields().List(1, wiretest.WireStruct, part).String(3, "u").String(4, "h").Stop()).Stop()
	}
	state := fields().Struct(0, fields().I64(1, 5).I32(2, 1).Stop()).Stop()
	locked := func(kind int32) []byte {
		e := fields().I64(1, 5).String(2, "w").I32(5, 1).I32(6, kind).I64(8, 0).String(10, "u").String(11, "h").Stop()
		return fields().Struct(0, fields().List(1, wiretest.WireStruct, e).Stop()).Stop()
	}
	show := fields().Struct(1, fields().String(1, "w").Stop()).Stop()
	alike := func(front, back, name, method string, call, sent, reply, given []byte) versionBytes {
		return versionBytes{front, bridgeBytes{name: name, back: back, method: method, as: method,
			call: call, sent: sent, reply: reply, given: given}}
	}
	const h, a3, a4, a2 = "hdp-3.1.5.0-152", "apache-3.1.3", "apache-4.1.0", "apache-2.3.10"
	return []versionBytes{
		alike(a4, h, "a table of HDP", "get_table_req", get, get, success(hdp), success(four)),
		alike(h, a4, "a table for HDP", "get_table_req", get, get, success(fourID), success(hdp)),
		alike(a4, h, "a table to HDP", "create_table", create(fourID), create(hdp), void, void),
		alike(h, a4, "a table from HDP", "create_table", create(hdp), create(four), void, void),
		alike(a4, a4, "a table of the same version", "create_table", create(fourID), create(fourID), void, void),
		alike(a3, a2, "dynamic partitions to 2.3", "add_dynamic_partitions", dyn(three), dyn(two), void, void),
		alike(a2, a3, "an insert event of 2.3", "fire_listener_event",
			event(fields().Strings(1, "f").Strings(2, "sum"), nil),
			event(fields().Strings(2, "f").Strings(3, "sum"), fields().String(6, "hive")),
			fields().Struct(0, void).Stop(), fields().Struct(0, void).Stop()),
		alike(a3, a2, "an insert event to 2.3", "fire_listener_event",
			event(fields().Bool(1, true).Strings(2, "f").Strings(3, "sum"), nil),
			event(fields().Strings(1, "f").Strings(2, "sum"), nil),
			fields().Struct(0, void).Stop(), fields().Struct(0, void).Stop()),
		alike(a4, a3, "EXCL_WRITE to 3.1", "lock", lock(4), lock(3), state, state),
		alike(a4, a4, "EXCL_WRITE to 4.1", "lock", lock(4), lock(4), state, state),
		alike(a2, a3, "LockComponent.7 of 2.3", "lock", lock(3), lock(3), state, state),
		alike(a3, a2, "LockComponent.7 to 2.3", "lock", lock(3), lock(3), state, state),
		alike(a3, a4, "EXCL_WRITE for 3.1", "show_locks", show, show, locked(4), locked(3)),
		alike(a3, a2, "catName of 2.3.10", "get_table_req", get, get, success(base().String(16, "hive").Stop()),
			success(base().String(17, "hive").Stop())),
		alike(a2, a3, "catName for 2.3.10", "get_table_req", get, get,
			success(base().Struct(16, fields().String(1, "hive").String(2, "w").String(3,
				"t").Strings(4).Stop()).String(17, "hive").Stop()),
			success(base().String(16, "hive").Stop())),
		{a4, bridgeBytes{name: "a refresh event to 3.1", back: a3, method: "fire_listener_event", call: fields().Struct(1,
			fields().Bool(1, true).Struct(2, fields().Bool(3, true).Stop()).String(3, "w").Stop()).Stop(),
			refused: "refreshEvent: the backend has no such event"}},
		{a4, bridgeBytes{name: "write ids anew, which 3.1 does not know", back: a3, method: "allocate_table_write_ids",
			call:    fields().Struct(1, fields().String(1, "w").String(2, "t").Bool(6, true).Stop()).Stop(),
			refused: "reallocate: the backend cannot reallocate write ids"}},
		{a4, bridgeBytes{name: "valid write ids by a write id", back: a3, method: "get_valid_write_ids",
			call: fields().Struct(1,
				fields().Strings(1, "w.t").I64(3, 4).Stop()).Stop(),
			refused: "writeId: the backend cannot tell which transaction a write id belongs to"}},
		{a3, bridgeBytes{name: "compare and set, asked of 3.1 by an environment", back: a3,
			method: "alter_table_with_environment_context",
			call: fields().String(1, "w").String(2, "t").Struct(3, base().Stop()).Struct(4,
				fields().StringMap(1, "expected_parameter_key", "k").Stop()).Stop(),
			refused: "expected_parameter_key: the backend cannot compare a parameter"}},
		{a3, bridgeBytes{name: "a constraint that 2.3 does not know", back: a2, method: "create_table_with_constraints",
			call:    fields().Struct(1, base().Stop()).List(5, wiretest.WireStruct, fields().Stop()).Stop(),
			refused: "notNullConstraints: the backend has no such constraints"}},
	}
}

// openTxnsCases: 2.3 has the open transactions as a set, later versions as a
// list, beside bits that say which of them are aborted.
func openTxnsCases() (out []versionBytes) {
	result := func(bits, set, list bool) []byte {
		r := fields().I64(1, 9)
		ids := append([]byte{wiretest.WireI64, 0, 0, 0, 1}, 0, 0, 0, 0, 0, 0, 0, 7)
		if set {
			r = r.Field(wiretest.WireSet, 2, ids)
		}
		if list {
			r = r.Field(wiretest.WireList, 2, ids)
		}
		if bits {
			r = r.String(4, "")
		}
		return fields().Struct(0, r.Stop()).Stop()
	}
	for _, c := range []struct {
		front, back  string
		reply, given []byte
	}{
		{"auto", "apache-2.3.10", result(false, true, false), result(true, true, true)},
		{"auto", "apache-3.1.3", result(true, false, true), result(true, true, true)},
		{"apache-3.1.3", "apache-2.3.10", result(false, true, false), result(true, false, true)},
		{"apache-2.3.10", "apache-3.1.3", result(true, false, true), result(false, true, false)},
		{"apache-4.1.0", "apache-3.1.3", result(true, false, true), result(true, false, true)},
	} {
		out = append(out, versionBytes{c.front, bridgeBytes{name: "open transactions of " + c.back + " for " + c.front, back: c.back,
			method: "get_open_txns", as: "get_open_txns", call: fields().Stop(), sent: fields().Stop(), reply: c.reply, given: c.given}})
	}
	return out
}

// TestVersionsByteByByte: what becomes of messages between two versions that
// both have the method.
func TestVersionsByteByByte(t *testing.T) {
	for _, c := range append(versionByteCases(), openTxnsCases()...) {
		t.Run(c.name, func(t *testing.T) {
			c.run(t, sweepServe(t, sweepSetup{profile: c.back, catalogs: []string{"hdp", "apache"},
				settings: "compatibility.frontend-profile: " + c.front + "\n"}))
		})
	}
}
