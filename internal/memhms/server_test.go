package memhms

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hmsgate/internal/hms"
	"hmsgate/profiles"
)

const v2, v3, v4 = "apache-2.3.10", "apache-3.1.3", "apache-4.1.0"

var labels = []string{v2, v3, v4}

// rig is a server on a real connection.
type rig struct {
	*testing.T
	s    *Server
	addr string
	inv  *profiles.Inventory
	c    *hms.Client
	now  atomic.Int64
}

func start(t *testing.T, label string, set ...func(*Config)) *rig {
	t.Helper()
	inv, err := profiles.Load(label)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{T: t, inv: inv}
	r.now.Store(1_700_000_000)
	conf := Config{Inventory: inv, Name: "mem", Clock: func() time.Time { return time.Unix(r.now.Load(), 0) }}
	for _, f := range set {
		f(&conf)
	}
	r.s = New(conf)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.addr = ln.Addr().String()
	served := make(chan error, 1)
	go func() { served <- r.s.Serve(ln) }()
	t.Cleanup(func() {
		r.s.Close()
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	r.c = r.dial(hms.Options{})
	return r
}

func (r *rig) dial(o hms.Options) *hms.Client {
	r.Helper()
	c, err := hms.Dial(r.Context(), r.addr, r.inv, o)
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { c.Close() })
	return c
}

// ok calls and wants no error.
func (r *rig) ok(method string, args hms.Struct) any {
	r.Helper()
	v, err := r.c.Call(r.Context(), method, args)
	if err != nil {
		r.Fatalf("%s: %v", method, err)
	}
	return v
}

// fails calls and wants this error text.
func (r *rig) fails(want, method string, args hms.Struct) {
	r.Helper()
	v, err := r.c.Call(r.Context(), method, args)
	if err == nil || err.Error() != want {
		r.Errorf("%s:\n got %v, %v\nwant %s", method, v, err, want)
	}
}

func (r *rig) is(want any, got any) {
	r.Helper()
	if l, ok := want.([]string); ok {
		want = hms.ListOf(l)
	}
	if !reflect.DeepEqual(got, want) {
		r.Errorf("got  %#v\nwant %#v", got, want)
	}
}

// has tells whether the version has a method.
func (r *rig) has(method string) bool { return r.inv.Methods[method] != nil }

// by picks what a version is expected to say.
func by[T any](label string, two, three, four T) T {
	switch label {
	case v2:
		return two
	case v3:
		return three
	}
	return four
}

func each(t *testing.T, f func(*testing.T, *rig, string)) {
	for _, label := range labels {
		t.Run(label, func(t *testing.T) { f(t, start(t, label), label) })
	}
}

func TestBase(t *testing.T) {
	each(t, func(t *testing.T, r *rig, label string) {
		r.is("new db based metaserver", r.ok("getName", nil))
		r.is(by(label, "3.0", "3.0", "4.1.0"), r.ok("getVersion", nil))
		r.is(int32(2), r.ok("getStatus", nil))
		r.is(int64(1_700_000_000), r.ok("aliveSince", nil))
		r.is(hms.Map{}, r.ok("getCounters", nil))
		r.ok("setOption", hms.Struct{"key": "a", "value": "1"})
		r.is("1", r.ok("getOption", hms.Struct{"key": "a"}))
		r.is(hms.Map{{Key: "a", Value: "1"}}, r.ok("getOptions", nil))
		r.is("true", r.ok("getMetaConf", hms.Struct{"key": "hive.metastore.try.direct.sql"}))
		r.ok("setMetaConf", hms.Struct{"key": "hive.metastore.try.direct.sql", "value": "false"})
		r.is("false", r.ok("getMetaConf", hms.Struct{"key": "hive.metastore.try.direct.sql"}))
		r.fails("MetaException: Invalid configuration key no.such.key", "getMetaConf", hms.Struct{"key": "no.such.key"})
		r.is("1s", r.ok("get_config_value", hms.Struct{"name": "hive.metastore.client.connect.retry.delay"}))
		r.fails("ConfigValSecurityException: For security reasons, the config key javax.x cannot be accessed",
			"get_config_value", hms.Struct{"name": "javax.x", "defaultValue": "d"})
		r.is("dflt", r.ok("get_config_value", hms.Struct{"name": "hive.x", "defaultValue": "dflt"}))
		if r.has("get_metastore_db_uuid") {
			if u := r.ok("get_metastore_db_uuid", nil).(string); len(u) != 36 {
				t.Errorf("uuid %q", u)
			}
		}
		r.ok("shutdown", nil) // one-way: nothing happens
		r.is("new db based metaserver", r.ok("getName", nil))
		other := r.dial(hms.Options{})
		if _, err := other.Call(t.Context(), "getStatus", nil); err != nil {
			t.Errorf("another connection after shutdown: %v", err)
		}
	})
}

func TestSetUGI(t *testing.T) {
	each(t, func(t *testing.T, r *rig, _ string) {
		r.ok("getStatus", nil) // the first set_ugi may come late
		args := hms.Struct{"user_name": "u", "group_names": []string{"g1", "g2"}}
		r.is([]string{"g1", "g2"}, r.ok("set_ugi", args))
		_, err := r.c.Call(t.Context(), "set_ugi", args)
		if !errors.Is(err, io.EOF) {
			t.Errorf("second set_ugi: got %v, want the connection closed", err)
		}
		r.c = r.dial(hms.Options{})
		r.is([]string{"g1", "g2"}, r.ok("set_ugi", args))
	})
}

func TestUnknownMethods(t *testing.T) {
	young := start(t, v4)
	old := start(t, v3)
	conn, err := net.Dial("tcp", old.addr)
	if err != nil {
		t.Fatal(err)
	}
	c := hms.NewClient(conn, young.inv, hms.Options{}) // a client of 4.1 at a server of 3.1
	defer c.Close()
	for range 2 {
		_, err := c.Call(t.Context(), "get_fields_req", hms.Struct{"req": hms.Struct{"dbName": "d", "tblName": "t"}})
		var app *hms.AppError
		if !errors.As(err, &app) || *app != (hms.AppError{Type: hms.AppUnknownMethod,
			Message: "Invalid method name: 'get_fields_req'"}) {
			t.Errorf("got %v", err)
		}
	}
	// 4.1 has lost the positional get_table.
	conn, err = net.Dial("tcp", young.addr)
	if err != nil {
		t.Fatal(err)
	}
	c2 := hms.NewClient(conn, old.inv, hms.Options{})
	defer c2.Close()
	if _, err := c2.Call(t.Context(), "get_table", hms.Struct{"dbname": "default", "tbl_name": "t"}); err == nil ||
		!strings.Contains(err.Error(), "Invalid method name: 'get_table'") {
		t.Errorf("get_table at 4.1: got %v", err)
	}
}

// A call without a required field is refused with Java's text, and the connection
// lives on.
func TestMissingField(t *testing.T) {
	r := start(t, v3)
	lax := hms.NewCodec(r.inv)
	inv := *r.inv
	req := *r.inv.Structs["GetTableRequest"]
	req.Fields = append([]profiles.Field{}, req.Fields...)
	for i := range req.Fields {
		req.Fields[i].Req = profiles.Optional
	}
	inv.Structs = map[string]*profiles.Struct{"GetTableRequest": &req}
	lax.Inventory = &inv
	b, err := lax.EncodeCall("get_table_req", 5, hms.Struct{"req": hms.Struct{"tblName": "t", "catName": "hive"}})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	w := hms.NewWire(conn, hms.NewCodec(r.inv), false)
	for range 2 {
		if err := w.Write(b); err != nil {
			t.Fatal(err)
		}
		m, err := w.Read()
		want := hms.AppError{Type: hms.AppProtocolError,
			Message: "Required field 'dbName' is unset! Struct:GetTableRequest(dbName:null, tblName:t, catName:hive)"}
		if err != nil || m.Failure == nil || *m.Failure != want {
			t.Fatalf("got %+v, %v\nwant %v", m, err, want)
		}
	}
}

func TestFramedAndNonsense(t *testing.T) {
	r := start(t, v3)
	r.c = r.dial(hms.Options{Framed: true})
	r.is([]string{"default"}, r.ok("get_all_databases", nil))
	for _, in := range []string{"GET / HTTP/1.1\r\n\r\n", "\x82\x21\x01", "\x01\x00\x00\x00\x06GSSAPI",
		"\x80\x02\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00",
		"\x00\x00\x00\x00", "\x00\x00\x00\x05hello"} {
		conn, err := net.Dial("tcp", r.addr)
		if err != nil {
			t.Fatal(err)
		}
		conn.SetDeadline(time.Now().Add(5 * time.Second))
		conn.Write([]byte(in))
		if n, err := conn.Read(make([]byte, 1)); n != 0 || errors.Is(err, context.DeadlineExceeded) || isTimeout(err) {
			t.Errorf("%q: got %d bytes, %v, want the connection closed", in, n, err)
		}
		conn.Close()
	}
	r.is([]string{"default"}, r.ok("get_all_databases", nil))
}

func isTimeout(err error) bool { var n net.Error; return errors.As(err, &n) && n.Timeout() }

func TestOnCallAndCounters(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	r := start(t, v3, func(c *Config) {
		c.OnCall = func(conn int, method string, args hms.Struct) {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, fmt.Sprint(conn, " ", method, " ", args["name"]))
		}
	})
	r.fails("NoSuchObjectException: x", "get_database", hms.Struct{"name": "x"})
	r.c = r.dial(hms.Options{})
	r.ok("getStatus", nil)
	mu.Lock()
	defer mu.Unlock()
	if want := []string{"1 get_database x", "2 getStatus <nil>"}; !reflect.DeepEqual(seen, want) {
		t.Errorf("got %q, want %q", seen, want)
	}
	if a, b, c := r.s.Connections(), r.s.Calls(), r.s.Open(); a != 2 || b != 2 || c != 2 {
		t.Errorf("connections %d, calls %d, open %d, want 2, 2, 2", a, b, c)
	}
}

// Every method of every version gets an answer: never a closed connection, never a
// reply that cannot be read.
func TestEveryMethodIsAnswered(t *testing.T) {
	for _, label := range append([]string{"hdp-3.1.5.0-152", "apache-4.0.0", "apache-4.2.0"}, labels...) {
		t.Run(label, func(t *testing.T) {
			r := start(t, label)
			Demo("hdp")(r.s)
			for _, name := range r.inv.Order {
				m := r.inv.Methods[name]
				args := hms.Struct{}
				for i := range m.Args {
					args[m.Args[i].Name] = sample(r.inv, m.Args[i].Type, 0)
				}
				_, err := r.c.Call(t.Context(), name, args)
				var x *hms.Exception
				var app *hms.AppError
				if err != nil && !errors.As(err, &x) && !errors.As(err, &app) {
					t.Fatalf("%s: %v", name, err)
				}
				if _, known := rows[name]; known && app != nil && (app.Type == hms.AppUnknownMethod ||
					strings.Contains(app.Message, "required by")) {
					t.Errorf("%s has a row and got %v", name, app)
				}
			}
		})
	}
}

// sample is a value with every field set, names that exist where a name is asked.
func sample(inv *profiles.Inventory, t *profiles.TypeRef, depth int) any {
	switch {
	case inv.Enums[t.Name] != nil:
		return 1
	case inv.Structs[t.Name] != nil:
		s, out := inv.Structs[t.Name], hms.Struct{}
		for i := range s.Fields {
			if depth < 3 || s.Fields[i].Req == profiles.Required {
				out[s.Fields[i].Name] = sample(inv, s.Fields[i].Type, depth+1)
			}
		}
		return out
	case t.Key != nil:
		return hms.Map{}
	case t.Elem != nil:
		return []any{sample(inv, t.Elem, depth+1)}
	}
	switch t.Name {
	case "bool":
		return true
	case "string":
		return "sales"
	case "binary":
		return []byte("x")
	case "double":
		return 1.5
	}
	return 1
}

func TestCloseLeavesNothing(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Run("run", func(t *testing.T) {
		r := start(t, v3)
		for range 10 {
			r.c = r.dial(hms.Options{})
			r.ok("getStatus", nil)
		}
	})
	for end := time.Now().Add(2 * time.Second); runtime.NumGoroutine() > before && time.Now().Before(end); {
		runtime.Gosched()
	}
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines, had %d", n, before)
	}
}

func TestManyClients(t *testing.T) {
	r := start(t, v3)
	Demo("hdp")(r.s)
	var wg sync.WaitGroup
	errs := make(chan error, 8)
	for i := range 8 {
		c := r.dial(hms.Options{Framed: i%2 == 0})
		wg.Go(func() { errs <- busy(t.Context(), c, i) })
	}
	wg.Wait()
	for range 8 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	r.is([]string{"big_orders", "clicks", "customers", "orders"},
		r.ok("get_all_tables", hms.Struct{"db_name": "sales"}))
}

// busy makes, changes and drops things of its own while others do the same.
func busy(ctx context.Context, c *hms.Client, i int) error {
	name := fmt.Sprintf("t%d", i)
	for j := range 20 {
		for _, step := range []struct {
			method string
			args   hms.Struct
		}{
			{"create_table", hms.Struct{"tbl": simple("sales", name)}},
			{"get_table", hms.Struct{"dbname": "sales", "tbl_name": name}},
			{"alter_table", hms.Struct{"dbname": "sales", "tbl_name": name, "new_tbl": simple("sales", name)}},
			{"get_table_meta", hms.Struct{"db_patterns": "*", "tbl_patterns": "*"}},
			{"drop_table", hms.Struct{"dbname": "sales", "name": name}},
		} {
			if _, err := c.Call(ctx, step.method, step.args); err != nil {
				return fmt.Errorf("%s round %d: %w", name, j, err)
			}
		}
	}
	return nil
}

// simple is a small table, partitioned where keys are given as name, type.
func simple(db, name string, keys ...string) hms.Struct {
	return hms.Struct{"dbName": db, "tableName": name, "owner": "me", "tableType": "MANAGED_TABLE",
		"parameters":    map[string]string{},
		"partitionKeys": columns(keys), "sd": hms.Struct{"cols": columns([]string{"a", "int", "b", "string"})}}
}
