package main

import (
	"io"
	"net"
	"sync"
)

// replies makes each load's reply when it is first asked for, by method and table.
var replies = func() map[string]func() *reply {
	m := map[string]func() *reply{}
	for _, l := range append(loads[:len(loads):len(loads)], longLoad) {
		m[l.method+" "+l.table] = sync.OnceValue(func() *reply { return makeReply(l) })
	}
	return m
}()

// serveBackend is a metastore that answers the loads from memory, and the few calls that a gateway makes on its
// own (version, status, identity). Everything else gets UNKNOWN_METHOD, as a real one answers. It returns when
// the listener is closed.
func serveBackend(ln net.Listener) {
	each(ln, func(c net.Conn) { _ = answer(c) }) // ends with the client
}

// each runs serve for every connection, in a goroutine, until the listener is closed.
func each(ln net.Listener, serve func(net.Conn)) {
	for {
		c, err := ln.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			serve(c)
		}()
	}
}

// proxied runs serve for every connection and one of its own to the backend.
func proxied(ln net.Listener, backend string, serve func(client, server net.Conn)) {
	each(ln, func(c net.Conn) {
		b, err := net.Dial("tcp", backend)
		if err != nil {
			return
		}
		defer b.Close()
		serve(c, b)
	})
}

func answer(c net.Conn) error {
	d := newDec(c, 4<<10)
	var buf []byte
	for {
		method, _, seq, err := d.head()
		if err != nil {
			return err
		}
		args, err := d.args()
		if err != nil {
			return err
		}
		key := method + " " + args[2]
		if method == "get_tables" {
			key = method + " "
		}
		r, found := &reply{}, replies[key]
		if found == nil || args[1] != dataDB {
			buf = control(buf[:0], method, seq)
		} else {
			r = found()
			buf = r.appendHead(buf[:0], seq)
		}
		if err := send(c, buf, r); err != nil {
			return err
		}
	}
}

func send(w io.Writer, head []byte, r *reply) error {
	if _, err := w.Write(head); err != nil {
		return err
	}
	for range r.times {
		if _, err := w.Write(r.block); err != nil {
			return err
		}
	}
	if len(r.tail) == 0 {
		return nil
	}
	_, err := w.Write(r.tail)
	return err
}

// control appends the reply of a call that is no load.
func control(b []byte, method string, seq int32) []byte {
	e := enc{b}
	e.head(method, kindReply, seq)
	switch method {
	case "getStatus":
		e.i32Field(0, 2) // fb_status.ALIVE
	case "aliveSince":
		e.field(tI64, 0)
		e.i64(1700000000)
	case "getVersion":
		e.strField(0, "3.1.3")
	case "getName":
		e.strField(0, "metastore")
	case "set_ugi", "get_all_databases", "get_databases":
		e.strsField(0, "default", dataDB)
	case "getMetaConf", "get_config_value":
		e.strField(0, "")
	default:
		e = enc{b}
		e.head(method, kindException, seq)
		e.strField(1, "Invalid method name: '"+method+"'")
		e.i32Field(2, 1) // UNKNOWN_METHOD
	}
	e.stop()
	return e.b
}

// servePipe is a proxy made of io.Copy, two goroutines a connection.
func servePipe(ln net.Listener, backend string) {
	proxied(ln, backend, func(c, b net.Conn) {
		go func() {
			_, _ = io.Copy(b, c)
			_ = b.(*net.TCPConn).CloseWrite()
		}()
		_, _ = io.Copy(c, b)
	})
}
