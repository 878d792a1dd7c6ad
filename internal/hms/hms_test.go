package hms

import (
	"bytes"
	"errors"
	"math/rand"
	"reflect"
	"strings"
	"testing"

	"hmsgate/frame"
	"hmsgate/profiles"

	"github.com/apache/thrift/lib/go/thrift"
)

var labels = []string{"apache-2.3.10", "apache-3.1.3", "hdp-3.1.5.0-152", "apache-4.1.0"}

func load(t testing.TB, label string) *profiles.Inventory {
	t.Helper()
	inv, err := profiles.Load(label)
	if err != nil {
		t.Fatal(err)
	}
	return inv
}

// random makes values of a type; small, so that recursion ends.
type random struct {
	*rand.Rand
	inv *profiles.Inventory
}

func (r random) value(t *profiles.TypeRef, depth int) any {
	switch t.Wire {
	case frame.Bool:
		return r.Intn(2) == 1
	case frame.Byte:
		return int8(r.Intn(256) - 128)
	case frame.I16:
		return int16(r.Intn(1<<16) - 1<<15)
	case frame.I32:
		return int32(r.Uint32())
	case frame.I64:
		return int64(r.Uint64())
	case frame.Double:
		return r.Float64()
	case frame.String:
		b := make([]byte, r.Intn(6))
		for i := range b {
			b[i] = byte('a' + r.Intn(26))
		}
		if t.Name == "binary" {
			return b
		}
		return string(b)
	case frame.Struct:
		return r.fields(r.inv.Structs[t.Name].Fields, depth-1)
	case frame.List, frame.Set:
		l := []any{}
		for range r.count(depth) {
			l = append(l, r.value(t.Elem, depth-1))
		}
		return l
	case frame.Map:
		m := Map{}
		for range r.count(depth) {
			m = append(m, Pair{r.value(t.Key, depth-1), r.value(t.Elem, depth-1)})
		}
		return m
	}
	return nil
}

func (r random) count(depth int) int {
	if depth <= 0 {
		return 0
	}
	return r.Intn(3)
}

func (r random) fields(fs []profiles.Field, depth int) Struct {
	out := Struct{}
	for i := range fs {
		f := &fs[i]
		if f.Req != profiles.Required && (depth <= 0 || r.Intn(3) == 0) {
			continue
		}
		out[f.Name] = r.value(f.Type, depth)
	}
	return out
}

// Every call, result and exception of every method goes out and comes back.
func TestRoundTripOfEveryMethod(t *testing.T) {
	for _, label := range labels {
		t.Run(label, func(t *testing.T) {
			inv := load(t, label)
			r := random{rand.New(rand.NewSource(7)), inv}
			for name, m := range inv.Methods {
				args := r.fields(m.Args, 5)
				b, err := EncodeCall(inv, name, 11, args)
				if err != nil {
					t.Fatalf("encode call: %v", err)
				}
				got, err := DecodeMessage(inv, b)
				if err != nil || got.Seq != 11 || !reflect.DeepEqual(got.Args, args) {
					t.Fatalf("%s call: err %v\n got %#v\nwant %#v", name, err, got, args)
				}
				results := []any{}
				if m.Returns != nil {
					results = append(results, r.value(m.Returns, 5))
				}
				for _, x := range m.Throws {
					results = append(results, &Exception{Type: x.Type.Name, Message: "it failed"})
				}
				for _, want := range results {
					b, err := EncodeReply(inv, name, 12, want)
					if err != nil {
						t.Fatalf("encode reply of %s: %v", name, err)
					}
					got, err := DecodeMessage(inv, b)
					if err != nil {
						t.Fatalf("%s reply: %v", name, err)
					}
					if x, ok := want.(*Exception); ok {
						if got.Thrown == nil || got.Thrown.Type != x.Type || got.Thrown.Message != x.Message {
							t.Errorf("%s: got %v, want %v", name, got.Thrown, x)
						}
					} else if !reflect.DeepEqual(got.Result, want) {
						t.Errorf("%s result\n got %#v\nwant %#v", name, got.Result, want)
					}
				}
			}
		})
	}
}

func TestErrorsNameTheField(t *testing.T) {
	inv := load(t, "apache-3.1.3")
	table := func(sd Struct) Struct { return Struct{"tbl": Struct{"tableName": "t", "sd": sd}} }
	deep := any("x")
	for range 80 {
		deep = []any{deep}
	}
	for _, c := range []struct {
		name, method string
		args         Struct
		want         string
	}{
		{"wrong type", "create_table", table(Struct{"cols": []any{Struct{}, Struct{"name": int64(3)}}}),
			"create_table_args.tbl.sd.cols[1].name: want string, got int64"},
		{"no such field", "create_table", table(Struct{"colour": "red"}),
			"create_table_args.tbl.sd.colour: StorageDescriptor has no such field in apache-3.1.3"},
		{"required and absent", "get_table_req", Struct{"req": Struct{"dbName": "d"}},
			"get_table_req_args.req.tblName: required by GetTableRequest and absent"},
		{"too wide", "get_partitions", Struct{"max_parts": 40000},
			"get_partitions_args.max_parts: 40000 does not fit into i16"},
		{"other width", "get_partitions", Struct{"max_parts": int64(4)},
			"get_partitions_args.max_parts: want i16, got int64"},
		{"map value", "create_table", Struct{"tbl": Struct{"parameters": Map{{"a", "b"}, {"c", 1}}}},
			"create_table_args.tbl.parameters[value 1]: want string, got int"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := EncodeCall(inv, c.method, 1, c.args)
			if err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
	if _, err := EncodeCall(inv, "no_such", 1, nil); !errors.Is(err, ErrUnknownMethod) {
		t.Errorf("unknown method: got %v, want %v", err, ErrUnknownMethod)
	}
}

func TestLooseValues(t *testing.T) {
	inv := load(t, "apache-3.1.3")
	b, err := EncodeCall(inv, "create_table", 1, Struct{"tbl": Struct{"createTime": 5,
		"parameters": map[string]string{"b": "2", "a": "1"},
		"sd":         Struct{"bucketCols": []string{"x"}}}})
	if err != nil {
		t.Fatal(err)
	}
	m, err := DecodeMessage(inv, b)
	want := Struct{"createTime": int32(5), "parameters": Map{{"a", "1"}, {"b", "2"}},
		"sd": Struct{"bucketCols": []any{"x"}}}
	if err != nil || !reflect.DeepEqual(m.Args["tbl"], want) {
		t.Errorf("err %v\n got %#v\nwant %#v", err, m.Args["tbl"], want)
	}
}

// A newer peer's fields are skipped; a field of another wire type too, and then it
// may be missing.
func TestForeignFields(t *testing.T) {
	old, young := load(t, "apache-2.3.10"), load(t, "apache-4.1.0")
	b, err := EncodeReply(young, "get_open_txns", 1, Struct{"txn_high_water_mark": int64(3),
		"open_txns": []any{int64(1)}, "abortedBits": []byte{}})
	if err != nil {
		t.Fatal(err)
	}
	m, err := DecodeMessage(old, b)
	var lack *MissingError
	if !errors.As(err, &lack) || lack.Field != "open_txns" {
		t.Fatalf("got %v, want open_txns missing (a set in 2.3, a list since)", err)
	}
	if got := m.Result.(Struct)["txn_high_water_mark"]; got != int64(3) {
		t.Errorf("rest of the value: got %v, want 3", got)
	}
	if !strings.HasPrefix(lack.Text,
		"Required field 'open_txns' is unset! Struct:GetOpenTxnsResponse(txn_high_water_mark:3, open_txns:null") {
		t.Errorf("text: %s", lack.Text)
	}
}

func TestAsJava(t *testing.T) {
	old, young := load(t, "apache-3.1.3"), load(t, "apache-4.1.0")
	comp := Struct{"type": 4, "level": 2, "dbname": "d"} // EXCL_WRITE, which 3.1 does not know
	b, err := EncodeCall(young, "lock", 1, Struct{"rqst": Struct{"component": []any{comp}, "user": "u",
		"hostname": "h"}})
	if err != nil {
		t.Fatal(err)
	}
	c := NewCodec(old)
	if _, err := c.DecodeMessage(b); err != nil {
		t.Errorf("plain: %v", err)
	}
	c.AsJava = true
	var lack *MissingError
	if _, err := c.DecodeMessage(b); !errors.As(err, &lack) || lack.Field != "type" {
		t.Errorf("as Java: got %v, want type missing", err)
	}
	b, err = c.EncodeReply("get_partition", 1, Struct{"dbName": "d"})
	if err != nil {
		t.Fatal(err)
	}
	m, err := DecodeMessage(old, b)
	want := Struct{"dbName": "d", "createTime": int32(0), "lastAccessTime": int32(0)}
	if err != nil || !reflect.DeepEqual(m.Result, want) {
		t.Errorf("primitives: err %v\n got %v\nwant %v", err, m.Result, want)
	}
}

func TestReadLimits(t *testing.T) {
	inv := load(t, "apache-3.1.3")
	c := NewCodec(inv)
	c.Limits.Elements, c.Limits.String, c.Limits.Depth = 3, 10, 4
	for _, x := range []struct {
		name, method string
		args         Struct
		want         error
	}{
		{"list", "get_table_objects_by_name", Struct{"tbl_names": []string{"a", "b", "c", "d"}}, ErrTooLong},
		{"string", "get_table", Struct{"dbname": "0123456789a"}, ErrTooLong},
		{"depth", "create_table", Struct{"tbl": Struct{"sd": Struct{"skewedInfo": Struct{"skewedColValues": []any{[]any{"x"}}}}}}, ErrTooDeep},
		{"within", "get_table", Struct{"dbname": "0123456789"}, nil},
	} {
		t.Run(x.name, func(t *testing.T) {
			b, err := EncodeCall(inv, x.method, 1, x.args)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.DecodeMessage(b); !errors.Is(err, x.want) {
				t.Errorf("read: got %v, want %v", err, x.want)
			}
			if _, err := c.EncodeCall(x.method, 1, x.args); !errors.Is(err, x.want) {
				t.Errorf("write: got %v, want %v", err, x.want)
			}
		})
	}
}

// Unknown calls are read to their end, so that the next one can be answered.
func TestUnknownMethodKeepsStep(t *testing.T) {
	b, err := EncodeCall(load(t, "apache-4.1.0"), "get_fields_req", 4,
		Struct{"req": Struct{"dbName": "d", "tblName": "t"}})
	if err != nil {
		t.Fatal(err)
	}
	m, err := DecodeMessage(load(t, "apache-3.1.3"), b)
	if !errors.Is(err, ErrUnknownMethod) || m == nil || m.Seq != 4 || m.Method != "get_fields_req" {
		t.Errorf("got %+v, %v", m, err)
	}
	if _, err := DecodeMessage(load(t, "apache-4.1.0"), append(b, 0)); err == nil {
		t.Error("a byte after the message: got no error")
	}
}

func TestApplicationException(t *testing.T) {
	b, err := EncodeException("anything", 9, AppUnknownMethod, "Invalid method name: 'anything'")
	if err != nil {
		t.Fatal(err)
	}
	want := []byte("\x80\x01\x00\x03\x00\x00\x00\x08anything\x00\x00\x00\x09\x0b\x00\x01\x00\x00\x00\x1fInvalid method name: 'anything'\x08\x00\x02\x00\x00\x00\x01\x00")
	if !bytes.Equal(b, want) {
		t.Errorf("got  % x\nwant % x", b, want)
	}
	m, err := DecodeMessage(load(t, "apache-3.1.3"), b)
	if err != nil || *m.Failure != (AppError{AppUnknownMethod, "Invalid method name: 'anything'"}) {
		t.Errorf("got %+v, %v", m, err)
	}
}

func TestText(t *testing.T) {
	c := NewCodec(load(t, "apache-3.1.3"))
	got := c.StructText("Partition", Struct{"values": []any{"2024-01-01", "1"}, "dbName": "d", "catName": "hive",
		"sd": Struct{"cols": []any{Struct{"name": "a", "type": "int", "comment": "c"}}, "parameters": Map{{"k", "v"}}}})
	want := "Partition(values:[2024-01-01, 1], dbName:d, tableName:null, createTime:0, lastAccessTime:0, sd:StorageDescriptor(" +
		"cols:[FieldSchema(name:a, type:int, comment:c)], location:null, inputFormat:null, outputFormat:null, compressed:false, " +
		"numBuckets:0, serdeInfo:null, bucketCols:null, sortCols:null, parameters:{k=v}), parameters:null, catName:hive)"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if n := c.EnumName("LockType", 3); n != "EXCLUSIVE" {
		t.Errorf("enum name: got %q, want EXCLUSIVE", n)
	}
	if v, ok := c.EnumValue("LockType", "SHARED_WRITE"); v != 2 || !ok {
		t.Errorf("enum value: got %d, %v, want 2", v, ok)
	}
}

func TestDefault(t *testing.T) {
	c := NewCodec(load(t, "apache-3.1.3"))
	for _, x := range []struct {
		strct, field string
		want         any
	}{{"Table", "ownerType", int32(1)}, {"LockComponent", "operationType", int32(5)}, {"LockComponent",
		"isDynamicPartitionWrite", false},
		{"LockRequest", "agentInfo", "Unknown"}, {"PartitionsByExprRequest", "maxParts", int16(-1)}, {"Table", "owner",
			nil}} {
		if got := c.Default(c.Inventory.Structs[x.strct].Field(x.field)); got != x.want {
			t.Errorf("%s.%s: got %#v, want %#v", x.strct, x.field, got, x.want)
		}
	}
}

// What is read comes out of apache/thrift again as the same bytes, whatever is fed.
func FuzzDecodeMessage(f *testing.F) {
	inv := load(f, "apache-3.1.3")
	r := random{rand.New(rand.NewSource(3)), inv}
	for _, name := range []string{"create_table", "lock", "get_table", "add_partitions_req", "set_ugi"} {
		b, err := EncodeCall(inv, name, 1, r.fields(inv.Methods[name].Args, 5))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte("\x80\x01\x00\x01\x00\x00\x00\x04lock\x00\x00\x00\x01\x0c\x00\x01\x0f\x00\x01\x0c\x7f\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := DecodeMessage(inv, b)
		if err != nil || m.Type != frame.Call {
			return
		}
		out, err := EncodeCall(inv, m.Method, m.Seq, m.Args)
		if err != nil {
			t.Fatalf("read %+v, cannot write it: %v", m, err)
		}
		again, err := DecodeMessage(inv, out)
		if err != nil || NewCodec(inv).structText(argsOf(inv.Methods[m.Method]),
			again.Args) != NewCodec(inv).structText(argsOf(inv.Methods[m.Method]), m.Args) {
			t.Fatalf("second reading: %v\n%+v\n%+v", err, m, again)
		}
	})
}

// The protocol below is apache/thrift's: its others work as well, and need every end
// of a container.
func TestOtherProtocols(t *testing.T) {
	c := NewCodec(load(t, "apache-3.1.3"))
	typ := &profiles.TypeRef{Wire: frame.Struct, Name: "Table"}
	want := Struct{"tableName": "t", "parameters": Map{{"a", "b"}}, "partitionKeys": []any{},
		"sd": Struct{"cols": []any{Struct{"name": "n"}, Struct{"name": "m"}}, "compressed": true,
			"numBuckets": int32(-1)}}
	for name, p := range map[string]func(thrift.TTransport) thrift.TProtocol{
		"compact": func(b thrift.TTransport) thrift.TProtocol { return thrift.NewTCompactProtocolConf(b, nil) },
		"json":    func(b thrift.TTransport) thrift.TProtocol { return thrift.NewTJSONProtocol(b) },
	} {
		t.Run(name, func(t *testing.T) {
			buf := thrift.NewTMemoryBuffer()
			w := p(buf)
			if err := c.Write(w, typ, want); err != nil {
				t.Fatal(err)
			}
			if err := w.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			if name == "json" && buf.String() != `{"1":{"str":"t"},"7":{"rec":{"1":{"lst":["rec",2,{"1":{"str":"n"}},{"1":{"str":"m"}}]},"5":{"tf":1},"6":{"i32":-1}}},"8":{"lst":["rec",0]},"9":{"map":["str","str",1,{"a":"b"}]}}` {
				t.Errorf("got %s", buf)
			}
			if got, err := c.Read(p(buf), typ); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("got %v, %v\nwant %v", got, err, want)
			}
		})
	}
}
