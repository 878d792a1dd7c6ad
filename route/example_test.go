package route_test

import (
	"fmt"

	"hmsgate/profiles"
	"hmsgate/rewrite"
	"hmsgate/route"
)

// A call that names apache__sales, and its reply.
func Example() {
	table, err := route.New(route.Config{
		Catalogs: []route.CatalogConfig{
			{Name: "hdp", URIs: []string{"thrift://hdp-ms:9083"}},
			{Name: "apache", URIs: []string{"thrift://ms-1:9083", "thrift://ms-2:9083"}},
		},
		Default: "hdp", Separator: "__", PreserveBackendCatalog: true,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	row := &profiles.Row{Method: "some_read", Class: profiles.Read}

	var b route.Binding
	b.Reset(table, nil)
	b.Add(rewrite.DBAt, []byte("@hive#apache__sales"))
	catalog, refusal := b.Route(row)
	fmt.Println(catalog.Name, b.How(), refusal == nil)

	call, _ := b.Call(true).Append(nil, rewrite.DBAt, []byte("@hive#apache__sales"))
	reply, _ := b.Reply().Append(nil, rewrite.DB, []byte("sales"))
	fmt.Printf("%s %s\n", call, reply)

	b.Reset(table, nil)
	b.Add(rewrite.DB, []byte("apache__sales"))
	b.Add(rewrite.Cat, []byte("hdp"))
	_, refusal = b.Route(row)
	fmt.Println(refusal)
	// Output:
	// apache prefix true
	// @hive#sales apache__sales
	// Request has conflicting catalog and database namespace: catName='hdp', dbName='apache__sales'
}

// A merged list asks only the catalogs that the pattern can mean.
func ExampleBinding_ForCatalog() {
	table, err := route.New(route.Config{
		Catalogs: []route.CatalogConfig{
			{Name: "hdp", URIs: []string{"thrift://hdp-ms:9083"}},
			{Name: "apache", URIs: []string{"thrift://ms-1:9083"}},
		},
		Default: "hdp", Separator: "__",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	pattern := []byte("my_*|apache__c*")
	var b route.Binding
	b.Reset(table, nil)
	b.Add(rewrite.PatternAt, pattern)
	for _, c := range table.Catalogs() {
		if names, ok := b.ForCatalog(c, true); ok {
			sent, _ := names.Append(nil, rewrite.PatternAt, pattern)
			fmt.Printf("%s is asked for %s\n", c.Name, sent)
		}
	}
	fmt.Println(b.Match([]byte("apache__crm")), b.Match([]byte("apache__sales")))
	// Output:
	// hdp is asked for my_*
	// apache is asked for c*
	// true false
}
