package gateway

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"hmsgate/internal/hms"
	"hmsgate/internal/memhms"
	"hmsgate/profiles"
)

var sweepVersions = []string{"apache-2.3.10", "apache-3.1.3", "apache-4.1.0", "hdp-3.1.5.0-152"}

// TestSweepVersions: clients of four interface versions at metastores of the
// same four, raw and framed on each side: whatever a client is told directly
// it is told through the gateway, in the default catalog and, up to its
// prefix, in another one.
func TestSweepVersions(t *testing.T) {
	asked, answered := 0, 0
	for _, client := range sweepVersions {
		for _, server := range sweepVersions {
			for i, framed := range [][2]bool{{false, false}, {true, false}, {false, true}, {true, true}} {
				if (testing.Short() || sweepRace) && i != (len(client)+len(server))%4 {
					continue
				}
				for _, prefix := range []string{"", "apache__"} {
					name := fmt.Sprintf("%s at %s, framed %v, prefix %q", client, server, framed, prefix)
					t.Run(name, func(t *testing.T) {
						n, ok := sweepPair(t, client, server, framed, prefix)
						asked, answered = asked+n, answered+ok
					})
				}
			}
		}
	}
	if t.Logf("%d calls, %d successes", asked, answered); asked < 1000 || answered < asked/2 {
		t.Errorf("%d calls with %d successes compared", asked, answered)
	}
}

// sweepPair asks the same directly and through a gateway.
func sweepPair(t *testing.T, client, server string, framed [2]bool, prefix string) (asked, ok int) {
	front, back := sweepLoad(t, client), sweepLoad(t, server)
	direct := sweepMemory(t, back)
	transport := map[bool]string{false: "raw", true: "framed"}[framed[1]]
	yaml := "listen: 127.0.0.1:0\nrouting.default-catalog: hdp\ncatalog:\n"
	for _, name := range []string{"hdp", "apache"} {
		yaml += fmt.Sprintf("  %s: {uris: thrift://%s, transport: %s}\n", name, sweepMemory(t, back), transport)
	}
	g := sweepGateway(t, yaml, nil)
	a, b := sweepDial(t, direct, front, framed[1]), sweepDial(t, g.Addr().String(), front, framed[0])
	for _, c := range sweepTable(front, back) {
		args, _ := sweepPrefixed(c.args, "").(hms.Struct)
		want, err1 := a.Call(t.Context(), c.method, args)
		args, _ = sweepPrefixed(c.args, prefix).(hms.Struct)
		got, err2 := b.Call(t.Context(), c.method, args)
		w, g := sweepText(want, err1, ""), sweepText(got, err2, prefix)
		if asked++; err1 == nil {
			ok++
		}
		if w != g {
			t.Errorf("%s:\n got %.400s\nwant %.400s", c.method, g, w)
		}
		if errors.Is(err2, hms.ErrBroken) {
			break
		}
	}
	return asked, ok
}

func sweepMemory(t *testing.T, inv *profiles.Inventory) (addr string) {
	t.Helper()
	now := time.Unix(1_700_000_000, 0)
	s := memhms.New(memhms.Config{Inventory: inv, Name: "mem", Clock: func() time.Time { return now }})
	memhms.Demo("hdp")(s)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go s.Serve(ln)
	t.Cleanup(func() { s.Close() })
	return ln.Addr().String()
}

func sweepDial(t *testing.T, addr string, inv *profiles.Inventory, framed bool) *hms.Client {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	c, err := hms.Dial(ctx, addr, inv, hms.Options{Framed: framed})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

type sweepCall struct {
	method string
	args   hms.Struct
}

// sweepDB marks a database's name in the table's arguments.
type sweepDB string

// sweepTable is what a client that both know does in a metastore.
func sweepTable(front, back *profiles.Inventory) (out []sweepCall) {
	table := hms.Struct{"tableName": "t", "dbName": sweepDB("w"), "owner": "o", "tableType": "MANAGED_TABLE",
		"sd": hms.Struct{"cols": []any{hms.Struct{"name": "a", "type": "int", "comment": ""}}, "parameters": map[string]string{},
			"serdeInfo": hms.Struct{"serializationLib": "l", "parameters": map[string]string{}}},
		"partitionKeys": []any{hms.Struct{"name": "ds", "type": "string", "comment": ""}}, "parameters": map[string]string{"k": "v"}}
	part := func(ds string) hms.Struct {
		return hms.Struct{"dbName": sweepDB("w"), "tableName": "t", "values": []string{ds}, "sd": table["sd"],
			"parameters": map[string]string{}}
	}
	sales := hms.Struct{"db_name": sweepDB("sales"), "tbl_name": "orders", "max_parts": -1}
	all := []sweepCall{
		{"set_ugi", hms.Struct{"user_name": "u", "group_names": []string{"g", "h"}}},
		{"get_database", hms.Struct{"name": sweepDB("sales")}},
		{"get_database", hms.Struct{"name": sweepDB("none")}},
		{"create_database", hms.Struct{"database": hms.Struct{"name": sweepDB("w"), "description": "d",
			"parameters": map[string]string{"k": "v"}}}},
		{"create_database", hms.Struct{"database": hms.Struct{"name": sweepDB("w")}}},
		{"alter_database", hms.Struct{"dbname": sweepDB("w"), "db": hms.Struct{"name": sweepDB("w"), "description": "e"}}},
		{"create_table", hms.Struct{"tbl": table}},
		{"get_table", hms.Struct{"dbname": sweepDB("w"), "tbl_name": "t"}},
		{"get_table", hms.Struct{"dbname": sweepDB("sales"), "tbl_name": "big_orders"}},
		{"get_table", hms.Struct{"dbname": sweepDB("sales"), "tbl_name": "none"}},
		{"get_table_req", hms.Struct{"req": hms.Struct{"dbName": sweepDB("sales"), "tblName": "orders"}}},
		{"get_table_objects_by_name", hms.Struct{"dbname": sweepDB("sales"), "tbl_names": []string{"orders", "none", "clicks"}}},
		{"get_table_objects_by_name_req", hms.Struct{"req": hms.Struct{"dbName": sweepDB("sales"), "tblNames": []string{"orders"}}}},
		{"get_all_tables", hms.Struct{"db_name": sweepDB("sales")}},
		{"get_tables", hms.Struct{"db_name": sweepDB("sales"), "pattern": "*o*"}},
		{"get_tables_by_type", hms.Struct{"db_name": sweepDB("sales"), "pattern": "*", "tableType": "VIRTUAL_VIEW"}},
		{"get_fields", hms.Struct{"db_name": sweepDB("sales"), "table_name": "orders"}},
		{"get_schema", hms.Struct{"db_name": sweepDB("sales"), "table_name": "orders"}},
		{"add_partition", hms.Struct{"new_part": part("1")}},
		{"add_partition", hms.Struct{"new_part": part("1")}},
		{"add_partitions", hms.Struct{"new_parts": []any{part("2"), part("3")}}},
		{"add_partitions_req", hms.Struct{"request": hms.Struct{"dbName": sweepDB("w"), "tblName": "t",
			"parts": []any{part("4")}, "ifNotExists": true}}},
		{"get_partition", hms.Struct{"db_name": sweepDB("w"), "tbl_name": "t", "part_vals": []string{"1"}}},
		{"get_partition_by_name", hms.Struct{"db_name": sweepDB("w"), "tbl_name": "t", "part_name": "ds=2"}},
		{"get_partitions", sales}, {"get_partition_names", sales},
		{"get_partitions_by_names", hms.Struct{"db_name": sweepDB("w"), "tbl_name": "t", "names": []string{"ds=1", "ds=9"}}},
		{"get_partitions_by_filter", hms.Struct{"db_name": sweepDB("w"), "tbl_name": "t", "filter": "ds > \"1\"", "max_parts": -1}},
		{"drop_partition", hms.Struct{"db_name": sweepDB("w"), "tbl_name": "t", "part_vals": []string{"1"}, "deleteData": false}},
		{"partition_name_to_vals", hms.Struct{"part_name": "a=1/b=2"}},
		{"alter_table", hms.Struct{"dbname": sweepDB("w"), "tbl_name": "t", "new_tbl": table}},
		{"get_functions", hms.Struct{"dbName": sweepDB("w"), "pattern": "*"}},
		{"get_primary_keys", hms.Struct{"request": hms.Struct{"db_name": sweepDB("w"), "tbl_name": "t"}}},
		{"lock", hms.Struct{"rqst": hms.Struct{"user": "u", "hostname": "h", "component": []any{
			hms.Struct{"type": 3, "level": 2, "dbname": sweepDB("w"), "tablename": "t"}}}}},
		{"drop_table", hms.Struct{"dbname": sweepDB("w"), "name": "t", "deleteData": false}},
		{"drop_database", hms.Struct{"name": sweepDB("w"), "deleteData": false, "cascade": false}},
		{"get_config_value", hms.Struct{"name": "hive.metastore.warehouse.dir", "defaultValue": "x"}},
		{"getVersion", nil},
	}
	for _, c := range all {
		if front.Methods[c.method] != nil && back.Methods[c.method] != nil {
			out = append(out, c)
		}
	}
	return out
}

// sweepPrefixed replaces the marked names.
func sweepPrefixed(v any, prefix string) any {
	switch x := v.(type) {
	case sweepDB:
		return prefix + string(x)
	case hms.Struct:
		out := hms.Struct{}
		for k, e := range x {
			out[k] = sweepPrefixed(e, prefix)
		}
		return out
	case []any:
		out := make([]any, len(x))
		for i, e := range x {
			out[i] = sweepPrefixed(e, prefix)
		}
		return out
	}
	return v
}

// sweepText is an answer as text, fields in order, without the prefix.
func sweepText(v any, err error, prefix string) string {
	if err != nil {
		return "error: " + strings.ReplaceAll(err.Error(), prefix, "")
	}
	var b strings.Builder
	sweepPrint(&b, v)
	if prefix == "" {
		return b.String()
	}
	return strings.ReplaceAll(b.String(), prefix, "")
}

func sweepPrint(b *strings.Builder, v any) {
	switch x := v.(type) {
	case hms.Struct:
		b.WriteByte('{')
		for _, k := range slices.Sorted(maps.Keys(x)) {
			fmt.Fprintf(b, "%s: ", k)
			sweepPrint(b, x[k])
			b.WriteString(", ")
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for _, e := range x {
			sweepPrint(b, e)
			b.WriteString(", ")
		}
		b.WriteByte(']')
	case int64:
		if x >= 1<<48 {
			x &= 1<<48 - 1 // the slot of another catalog's ids
		}
		fmt.Fprintf(b, "int64 %d", x)
	default:
		fmt.Fprintf(b, "%v %v", reflect.TypeOf(v), v)
	}
}
