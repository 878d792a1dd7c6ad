package main

import (
	"encoding/binary"
	"fmt"
)

// A load is one kind of call with its reply.
type load struct {
	name, method, table string
	bytes               int // about the size of the reply
}

// The loads of the matrix, and the one of the long reply.
var (
	loads = []load{
		{"get_tables, 86 B", "get_tables", "", 86},
		{"get_table, 1 KB", "get_table", "orders_1k", 1000},
		{"get_partitions, 100 KB", "get_partitions", "orders_100k", 100_000},
		{"get_partitions, 10 MB", "get_partitions", "orders_10m", 10 << 20},
	}
	longLoad = load{"get_partitions, 1 GB", "get_partitions", "orders_1g", 1 << 30}
)

// The database's name at the backend, the prefix under which the gateway shows it, and where its tables are.
const (
	dataDB    = "sales_analytics"
	warehouse = "hdfs://nameservice1/warehouse/tablespace/managed/hive/sales_analytics.db/orders_fact"
)

// call makes the call for a database under the name the target knows it by.
func (l load) call(db string) []byte {
	var e enc
	e.head(l.method, kindCall, 0)
	e.strField(1, db)
	switch l.method {
	case "get_tables":
		e.strField(2, "*")
	case "get_table":
		e.strField(2, l.table)
	default:
		e.strField(2, l.table)
		e.field(tI16, 3)
		e.i16(-1)
	}
	e.stop()
	return e.b
}

var (
	columnTypes = []string{"bigint", "string", "double", "timestamp", "decimal(18,2)", "array<string>", "int", "date"}
	columnNames = []string{"order_id", "customer_id", "event_ts", "amount_usd", "country_code", "visit_uuid", "referrer_url", "is_test"}
)

// storage appends the fields of a StorageDescriptor as a Hive 3 metastore sends them. The columns' names go on
// counting from first.
func storage(e *enc, columns, first int, location string) {
	e.field(tList, 1)
	e.list(tStruct, columns)
	for i := range columns {
		e.strField(1, fmt.Sprintf("%s_%d", columnNames[i%8], first+i))
		e.strField(2, columnTypes[i%8])
		comment := ""
		if i%7 == 0 {
			comment = "natural key of the source system"
		}
		e.strField(3, comment)
		e.stop()
	}
	e.strField(2, location)
	e.strField(3, "org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat")
	e.strField(4, "org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat")
	e.boolField(5, 0)
	e.i32Field(6, -1)
	e.field(tStruct, 7)
	e.strField(2, "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe")
	e.mapField(3, "serialization.format", "1")
	e.stop()
	e.strsField(8)
	e.field(tList, 9)
	e.list(tStruct, 0)
	e.mapField(10)
	e.field(tStruct, 11)
	e.strsField(1)
	e.field(tList, 2)
	e.list(tList, 0)
	e.field(tMap, 3)
	e.u8(tList)
	e.u8(tString)
	e.i32(0)
	e.stop()
	e.boolField(12, 0)
	e.stop()
}

func partition(e *enc, k int, table string) { partitionOf(e, k, 0, table) }

func partitionOf(e *enc, k, firstColumn int, table string) {
	day := fmt.Sprintf("%d-%02d-%02d", 2024+k/(28*12*24), k/28%12+1, k%28+1)
	hour := fmt.Sprintf("%02d", k/(28*12)%24)
	e.strsField(1, day, hour)
	e.strField(2, dataDB)
	e.strField(3, table)
	e.i32Field(4, int32(1700000000+k))
	e.i32Field(5, 0)
	e.field(tStruct, 6)
	storage(e, 30, firstColumn, warehouse+"/ds="+day+"/hr="+hour)
	e.mapField(7, "transient_lastDdlTime", fmt.Sprint(1700000000+k), "numFiles", "12", "totalSize", "1288490188",
		"numRows", "918273", "rawDataSize", "9182730", "COLUMN_STATS_ACCURATE", `{"BASIC_STATS":"true"}`)
	e.strField(9, "hive")
	e.stop()
}

func table(e *enc, name string) {
	e.strField(1, name)
	e.strField(2, dataDB)
	e.strField(3, "etl")
	e.i32Field(4, 1700000000)
	e.i32Field(5, 0)
	e.i32Field(6, 0)
	e.field(tStruct, 7)
	storage(e, 8, 0, warehouse)
	e.field(tList, 8)
	e.list(tStruct, 2)
	for _, k := range []string{"ds", "hr"} {
		e.strField(1, k)
		e.strField(2, "string")
		e.stop()
	}
	e.mapField(9, "transient_lastDdlTime", "1700000000", "bucketing_version", "2")
	e.strField(12, "MANAGED_TABLE")
	e.strField(17, "hive")
	e.stop()
}

// A reply is a head, a block sent a number of times, and a tail, so that 1 GB needs no gigabyte.
type reply struct {
	head, block, tail []byte
	times             int
	seqAt             int // where in head the sequence id is
}

// Partitions in the block that a long reply repeats.
const blockPartitions = 100

func makeReply(l load) *reply {
	var e enc
	e.head(l.method, kindReply, 0)
	r := &reply{seqAt: len(e.b) - 4}
	switch l.method {
	case "get_tables":
		e.strsField(0, "orders", "items", "refunds", "web_raw", "ml_scoring")
		e.stop()
	case "get_table":
		e.field(tStruct, 0)
		table(&e, l.table)
		e.stop()
	default:
		r.partitions(&e, l)
	}
	r.head = e.b
	return r
}

func (r *reply) partitions(e *enc, l load) {
	var one enc
	partition(&one, 1, l.table)
	n := (l.bytes + len(one.b) - 1) / len(one.b)
	e.field(tList, 0)
	if n < 200*blockPartitions { // as one buffer
		e.list(tStruct, n)
		for k := range n {
			partition(e, k, l.table)
		}
		e.stop()
		return
	}
	n = n / blockPartitions * blockPartitions
	e.list(tStruct, n)
	var block enc
	for k := range blockPartitions {
		partition(&block, k, l.table)
	}
	r.block, r.times, r.tail = block.b, n/blockPartitions, []byte{tStop}
}

// names is how often the database's name is in a reply that is built of blocks.
func (r *reply) names() int { return r.times * blockPartitions }

// size is the length of the whole reply.
func (r *reply) size() int64 {
	return int64(len(r.head)) + int64(len(r.block))*int64(r.times) + int64(len(r.tail))
}

func (r *reply) appendHead(b []byte, seq int32) []byte {
	at := len(b) + r.seqAt
	b = append(b, r.head...)
	binary.BigEndian.PutUint32(b[at:], uint32(seq))
	return b
}
