package memhms_test

import (
	"context"
	"fmt"
	"log"
	"net"

	"hmsgate/internal/hms"
	"hmsgate/internal/memhms"
	"hmsgate/profiles"
)

// A metastore of 3.1.3 with the demo's data, asked by a client.
func Example() {
	inv, err := profiles.Load("apache-3.1.3")
	if err != nil {
		log.Fatal(err)
	}
	s := memhms.New(memhms.Config{Inventory: inv, Name: "hdp"})
	memhms.Demo("hdp")(s)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go s.Serve(ln)
	defer s.Close()

	ctx := context.Background()
	c, err := hms.Dial(ctx, ln.Addr().String(), inv, hms.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	dbs, err := c.Call(ctx, "get_databases", hms.Struct{"pattern": "*"})
	fmt.Println(dbs, err)
	names, err := c.Call(ctx, "get_partition_names", hms.Struct{"db_name": "@hive#sales", "tbl_name": "orders",
		"max_parts": 2})
	fmt.Println(names, err)
	_, err = c.Call(ctx, "get_table", hms.Struct{"dbname": "sales", "tbl_name": "nothing"})
	fmt.Println(err)
	// Output:
	// [default my_database sales] <nil>
	// [ds=2024-01-01 ds=2024-01-02] <nil>
	// NoSuchObjectException: hive.sales.nothing table not found
}
