package rewrite

import (
	"fmt"

	"hmsgate/frame"
	"hmsgate/internal/wiretest"
)

// Realistic replies: partitions of 30 columns, 2.2 KB each, as a warehouse's
// fact table has them.

var colTypes = [...]string{"bigint", "string", "double", "timestamp", "decimal(18,2)", "array<string>", "int", "date"}
var colNames = [...]string{"order_id", "customer_id", "event_ts", "amount_usd", "country_code", "session_uuid", "referrer_url", "is_test"}

// columns are the fields of a table; the one that varies differs from
// partition to partition.
func columns(n, varies, k int) [][]byte {
	var cols [][]byte
	for i := range n {
		comment := ""
		if i%7 == 0 {
			comment = "natural key of the source system"
		}
		name := fmt.Sprintf("%s_%d", colNames[i%8], i)
		if i == varies {
			name = fmt.Sprintf("%s_%06d", colNames[i%8], k)
		}
		cols = append(cols, st{}.String(1, name).String(2, colTypes[i%8]).String(3, comment).Stop())
	}
	return cols
}

func storage(n, varies, k int, location string) []byte {
	serde := st{}.String(2, "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe").StringMap(3, "serialization.format", "1").Stop()
	skew := st{}.Strings(1).List(2, frame.List).Field(frame.Map, 3, dict(frame.List, frame.String)).Stop()
	return st{}.List(1, frame.Struct, columns(n, varies, k)...).String(2, location).
		String(3, "org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat").
		String(4, "org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat").
		Bool(5, false).I32(6, -1).Struct(7, serde).Strings(8).List(9, frame.Struct).StringMap(10).
		Struct(11, skew).Bool(12, false).Stop()
}

func partition(k, varies int) []byte {
	day, hour := fmt.Sprintf("2024-%02d-%02d", k/28%12+1, k%28+1), fmt.Sprintf("%02d", k%24)
	at := "hdfs://nameservice1/warehouse/tablespace/managed/hive/sales_analytics.db/orders_fact/ds=" + day + "/hr=" + hour
	return st{}.Strings(1, day, hour).String(2, "sales_analytics").String(3, "orders_fact").I32(4, int32(1700000000+k)).I32(5, 0).
		Struct(6, storage(30, varies, k, at)).
		StringMap(7, "transient_lastDdlTime", fmt.Sprint(1700000000+k), "numFiles", "12", "totalSize", "1288490188", "numRows", "918273",
			"rawDataSize", "9182730", "COLUMN_STATS_ACCURATE", `{"BASIC_STATS":"true"}`).
		String(9, "hive").I64(10, int64(k)).Stop()
}

// partitions is a reply of about size bytes. varies is the column that never
// repeats; -1: none.
func partitions(size, varies int) []byte {
	var ps [][]byte
	for n := 0; n < size; {
		p := partition(len(ps), varies)
		ps, n = append(ps, p), n+len(p)
	}
	return wiretest.Reply("get_partitions", 1, st{}.List(0, frame.Struct, ps...).Stop())
}

func tableReply() []byte {
	tbl := st{}.String(1, "orders_fact").String(2, "sales_analytics").String(3, "etl").I32(4, 1700000000).I32(5, 0).I32(6, 0).
		Struct(7, storage(8, -1, 0, "hdfs://nameservice1/warehouse/tablespace/managed/hive/sales_analytics.db/orders_fact")).
		List(8, frame.Struct, st{}.String(1, "ds").String(2, "string").Stop(), st{}.String(1, "hr").String(2, "string").Stop()).
		StringMap(9, "transient_lastDdlTime", "1700000000", "bucketing_version", "2").String(12, "MANAGED_TABLE").String(17, "hive")
	return wiretest.Reply("get_table", 1, st{}.Struct(0, tbl.Stop()).Stop())
}

func namesReply(n int) []byte {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("orders_fact_daily_%05d", i))
	}
	return wiretest.Reply("get_databases", 1, st{}.Strings(0, names...).Stop())
}

func smallReply() []byte {
	return wiretest.Reply("get_databases", 1, st{}.Strings(0, "default", "sales", "hr", "web_raw", "ml_features").Stop())
}

// warehouse is a plan for these replies: every dbName; with repeat, the three
// parts of a storage descriptor that partitions have in common.
type warehouse struct {
	plan                           *Plan
	partitions, table, names, none RootID
}

func newWarehouse(repeat bool) warehouse {
	b := NewBuilder()
	sd, part, tbl := b.Node("StorageDescriptor"), b.Node("Partition"), b.Node("Table")
	if repeat {
		b.Field(sd, 1, frame.List, Action{Repeat: true})
		b.Field(sd, 7, frame.Struct, Action{Repeat: true})
		b.Field(sd, 11, frame.Struct, Action{Repeat: true})
	}
	name := Action{Do: Name, Kind: DB}
	b.Field(part, 2, frame.String, name)
	b.Field(part, 6, frame.Struct, Action{Do: Into, Node: sd})
	b.Field(tbl, 2, frame.String, name)
	parts, table, names := b.Node("get_partitions result"), b.Node("get_table result"), b.Node("get_databases result")
	b.Field(parts, 0, frame.List, Action{Do: Each, Elem: &Action{Do: Into, Node: part}})
	b.Field(table, 0, frame.Struct, Action{Do: Into, Node: tbl})
	b.Field(names, 0, frame.List, Action{Do: Each, Elem: &name})
	w := warehouse{partitions: b.Root(parts), table: b.Root(table), names: b.Root(names), none: b.Root(b.Node("nothing"))}
	var err error
	if w.plan, err = b.Build(); err != nil {
		panic(err)
	}
	return w
}
