package rewrite_test

import (
	"bytes"
	"fmt"
	"os"

	"hmsgate/frame"
	"hmsgate/rewrite"
)

// outside puts a catalog's prefix in front of database names.
type outside struct{ prefix string }

func (o outside) Append(dst []byte, _ rewrite.Kind, name []byte) ([]byte, error) {
	return append(append(dst, o.prefix...), name...), nil
}
func (o outside) ID(_ rewrite.Kind, id int64) (int64, error) { return id, nil }
func (o outside) Keep(_ rewrite.Kind, name []byte) bool      { return string(name) != "hidden" }
func (o outside) Strict() bool                               { return false }

// collect is a sink in memory.
type collect struct{ bytes.Buffer }

func (c *collect) End() error { return nil }

// A reply with a list of databases: one is left out, the others get their
// outside names. Nothing else of the message is looked at.
func ExampleWalker_Emit() {
	b := rewrite.NewBuilder()
	result := b.Node("get_databases result")
	b.Field(result, 0, frame.List, rewrite.Action{Do: rewrite.Each, Filter: true,
		Elem: &rewrite.Action{Do: rewrite.Name, Kind: rewrite.DB, Verdict: true}})
	root := b.Root(result)
	plan, err := b.Build()
	if err != nil {
		fmt.Println(err)
		return
	}

	reply := frame.AppendHeader(nil, frame.Reply, "get_databases", 7)
	reply = append(reply, frame.List, 0, 0, frame.String, 0, 0, 0, 3)
	for _, name := range []string{"sales", "hidden", "hr"} {
		reply = append(append(reply, 0, 0, 0, byte(len(name))), name...)
	}
	reply = append(reply, frame.Stop)

	var out collect
	var walker rewrite.Walker
	win := frame.NewWindow(bytes.NewReader(reply), nil)
	win.Start(0, 0)
	win.Emit(&out, false)
	if err := walker.Emit(win, plan, root, outside{"apache__"}); err != nil {
		fmt.Println(err)
		return
	}
	if err := win.End(); err != nil {
		fmt.Println(err)
		return
	}
	win.Release()
	fmt.Printf("%q\n", out.Bytes()[25:])
	// Output:
	// "\x0f\x00\x00\v\x00\x00\x00\x02\x00\x00\x00\rapache__sales\x00\x00\x00\napache__hr\x00"
}

// What a call is about, before a byte of it is sent.
func ExampleWalker_Gather() {
	b := rewrite.NewBuilder()
	args := b.Node("get_table args")
	b.Field(args, 1, frame.String, rewrite.Action{Do: rewrite.Name, Kind: rewrite.DBAt, Route: true})
	root := b.Root(args)
	plan, err := b.Build()
	if err != nil {
		fmt.Println(err)
		return
	}
	call := frame.AppendHeader(nil, frame.Call, "get_table", 7)
	call = frame.AppendString(call, 1, "apache__sales")
	call = append(frame.AppendString(call, 2, "orders"), frame.Stop)

	var walker rewrite.Walker
	var facts rewrite.Facts
	win := frame.NewWindow(bytes.NewReader(call), nil)
	win.Start(0, 0)
	if _, err := win.Header(false); err != nil {
		fmt.Println(err)
		return
	}
	if err := walker.Gather(win, plan, root, &facts); err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range facts.List() {
		fmt.Printf("%s %s final=%v\n", f.Kind, win.At(f.Off, f.Len), facts.Final)
	}
	// Output: db@ apache__sales final=true
}

func ExamplePlan_Write() {
	b := rewrite.NewBuilder()
	table, result := b.Node("Table"), b.Node("get_table result")
	b.Field(table, 2, frame.String, rewrite.Action{Do: rewrite.Name, Kind: rewrite.DB})
	b.Field(table, 16, frame.String, rewrite.Action{Do: rewrite.Name, Kind: rewrite.Cat, Renumber: true, To: 17})
	b.Field(result, 0, frame.Struct, rewrite.Action{Do: rewrite.Into, Node: table})
	root := b.Root(result)
	plan, err := b.Build()
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := plan.Write(os.Stdout, root); err != nil {
		fmt.Println(err)
	}
	// Output:
	// root 0: body is get_table result
	// get_table result
	//   0 struct: into Table
	// Table
	//   2 string: name db
	//   16 string: name cat, renumber 17
}
