package memhms

import (
	"fmt"

	"hmsgate/internal/hms"
)

// Do answers a call without a connection, as Serve would: the way to fill a server
// and to look into it.
func (s *Server) Do(method string, args hms.Struct) (any, error) {
	m, row := s.conf.Inventory.Methods[method], rows[method]
	if m == nil || row.do == nil {
		return nil, &hms.AppError{Type: hms.AppUnknownMethod, Message: "Invalid method name: '" + method + "'"}
	}
	return s.run(newCall(s, &session{meta: map[string]string{}}, m, args), row)
}

// Demo fills a server with small databases to look at: "hdp" with default, sales
// and my_database, "apache" (and any other name) with default, sales and crm. It
// panics if the server already holds them, since only a mistake in this file or in
// its use leads there.
func Demo(name string) func(*Server) {
	dbs := map[string][]demoTable{"sales": apacheSales, "crm": crm}
	if name == "hdp" {
		dbs = map[string][]demoTable{"sales": hdpSales, "my_database": myDatabase}
	}
	return func(s *Server) {
		for _, db := range sortedKeys(dbs) {
			s.must("create_database", hms.Struct{"database": hms.Struct{"name": db, "description": name + "'s " + db,
				"parameters": map[string]string{"source": name}, "ownerName": "etl", "ownerType": int32(1)}})
			for _, t := range dbs[db] {
				s.fill(db, t)
			}
		}
	}
}

func (s *Server) must(method string, args hms.Struct) {
	// Values by hand may be loose; a trip over the wire form makes them strict.
	b, err := s.codec.EncodeCall(method, 1, args)
	if err == nil {
		var m *hms.Message
		if m, err = s.codec.DecodeMessage(b); err == nil {
			_, err = s.Do(method, m.Args)
		}
	}
	if err != nil {
		panic(fmt.Sprintf("demo data: %s: %v", method, err))
	}
}

// demoTable is a table in a line: columns and keys as name, type, name, type.
type demoTable struct {
	name, kind string
	cols, keys []string
	parts      [][]string
	params     map[string]string
	view       string
}

var hdpSales = []demoTable{
	{name: "orders", kind: "MANAGED_TABLE", cols: []string{"id", "bigint", "customer", "string", "amount",
		"decimal(10,2)"},
		keys: []string{"ds", "string"}, parts: [][]string{{"2024-01-01"}, {"2024-01-02"}, {"2024-01-03"}}},
	{name: "customers", kind: "EXTERNAL_TABLE", cols: []string{"id", "bigint", "name", "string"}},
	{name: "big_orders", kind: "VIRTUAL_VIEW", cols: []string{"id", "bigint", "amount", "decimal(10,2)"},
		view: "select `orders`.`id`, `orders`.`amount` from `sales`.`orders` where `orders`.`amount` > 1000"},
	{name: "clicks", kind: "EXTERNAL_TABLE", cols: []string{"at", "timestamp", "page", "string"}, params: iceberg},
}

var myDatabase = []demoTable{
	{name: "notes", kind: "MANAGED_TABLE", cols: []string{"id", "int", "note", "string"}},
}

var apacheSales = []demoTable{
	{name: "orders", kind: "MANAGED_TABLE", cols: []string{"id", "bigint", "account", "bigint", "total", "double"},
		keys: []string{"year", "int", "month", "int"}, parts: [][]string{{"2024", "1"}, {"2024", "2"}}},
	{name: "leads", kind: "EXTERNAL_TABLE", cols: []string{"id", "bigint", "source", "string"}, params: iceberg},
	{name: "open_orders", kind: "VIRTUAL_VIEW", cols: []string{"id", "bigint"},
		view: "select `orders`.`id` from `sales`.`orders`"},
}

var crm = []demoTable{
	{name: "accounts", kind: "EXTERNAL_TABLE", cols: []string{"id", "bigint", "name", "string", "country", "string"}},
	{name: "contacts", kind: "MANAGED_TABLE", cols: []string{"id", "bigint", "account", "bigint", "email", "string"}},
}

// iceberg is what marks an Iceberg table of the Hive catalog (Apache Iceberg,
// HiveTableOperations); there is no file behind it.
var iceberg = map[string]string{"table_type": "ICEBERG",
	"metadata_location": "file:/nowhere/metadata/00000-demo.metadata.json"}

func columns(l []string) []any {
	out := []any{}
	for i := 0; i+1 < len(l); i += 2 {
		out = append(out, hms.Struct{"name": l[i], "type": l[i+1], "comment": ""})
	}
	return out
}

func (s *Server) fill(db string, d demoTable) {
	p := map[string]string{}
	for k, v := range d.params {
		p[k] = v
	}
	if d.kind == "EXTERNAL_TABLE" {
		p["EXTERNAL"] = "TRUE"
	}
	sd := hms.Struct{"cols": columns(d.cols), "inputFormat": "org.apache.hadoop.mapred.TextInputFormat",
		"outputFormat": "org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat", "numBuckets": -1,
		"serdeInfo": hms.Struct{"serializationLib": "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe",
			"parameters": map[string]string{"serialization.format": "1"}},
		"bucketCols": []string{}, "sortCols": []any{}, "parameters": map[string]string{}}
	t := hms.Struct{"tableName": d.name, "dbName": db, "owner": "etl", "tableType": d.kind, "sd": sd,
		"partitionKeys": columns(d.keys), "parameters": p}
	if d.view != "" {
		t["viewOriginalText"], t["viewExpandedText"] = d.view, d.view
	}
	s.must("create_table", hms.Struct{"tbl": t})
	for _, vals := range d.parts {
		s.must("add_partition", hms.Struct{"new_part": hms.Struct{"dbName": db, "tableName": d.name, "values": vals,
			"sd": sd, "parameters": map[string]string{}}})
	}
}
