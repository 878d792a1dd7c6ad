package main

import (
	"context"
	"fmt"
	"net"

	"github.com/apache/thrift/lib/go/thrift"
)

// The other way to build a gateway, as a baseline: every message is decoded into structs through apache/thrift's
// TProtocol, the database's name is changed there, and the structs are encoded again. The structs do what
// generated ones do; each says its fields once, for both directions.

// A codec reads or writes through one protocol and keeps the first error.
type codec struct {
	p       thrift.TProtocol
	ctx     context.Context
	writing bool
	err     error
	from    string // a database's name that becomes to as it is read
	to      string
}

func (c *codec) do(err error) {
	if c.err == nil {
		c.err = err
	}
}

// A place is one field of a struct being coded.
type place struct {
	ids []int16 // all fields, in the order of writing
	at  int
	id  int16
	typ thrift.TType
}

func (c *codec) begin(ids []int16) place {
	if c.writing {
		c.do(c.p.WriteStructBegin(c.ctx, ""))
	} else {
		_, err := c.p.ReadStructBegin(c.ctx)
		c.do(err)
	}
	return place{ids: ids, at: -1}
}

// next moves to the next field; the struct is ended when it returns false.
func (c *codec) next(f *place) bool {
	if c.writing {
		if f.at++; f.at < len(f.ids) && c.err == nil {
			f.id = f.ids[f.at]
			return true
		}
		c.do(c.p.WriteFieldStop(c.ctx))
		c.do(c.p.WriteStructEnd(c.ctx))
		return false
	}
	if f.at++; f.at > 0 {
		c.do(c.p.ReadFieldEnd(c.ctx))
	}
	_, t, id, err := c.p.ReadFieldBegin(c.ctx)
	c.do(err)
	if c.err != nil || t == thrift.STOP {
		c.do(c.p.ReadStructEnd(c.ctx))
		return false
	}
	f.id, f.typ = id, t
	return true
}

// skip drops a field that the structs do not know, as generated code does.
func (c *codec) skip(f *place) {
	if !c.writing {
		c.do(c.p.Skip(c.ctx, f.typ))
	}
}

// header begins a field when writing; when reading, next has done it.
func (c *codec) header(f *place, t thrift.TType) {
	if c.writing {
		c.do(c.p.WriteFieldBegin(c.ctx, "", t, f.id))
	}
}

func (c *codec) end() {
	if c.writing {
		c.do(c.p.WriteFieldEnd(c.ctx))
	}
}

func (c *codec) rawStr(v *string) {
	var err error
	if c.writing {
		err = c.p.WriteString(c.ctx, *v)
	} else {
		*v, err = c.p.ReadString(c.ctx)
	}
	c.do(err)
}

func (c *codec) str(f *place, v *string) {
	c.header(f, thrift.STRING)
	c.rawStr(v)
	c.end()
}

// database is a string that is renamed.
func (c *codec) database(f *place, v *string) {
	c.str(f, v)
	if !c.writing && *v == c.from {
		*v = c.to
	}
}

func (c *codec) optStr(f *place, v **string) {
	if !c.writing {
		*v = new(string)
	}
	if *v != nil {
		c.str(f, *v)
	}
}

func (c *codec) i32(f *place, v *int32) {
	var err error
	c.header(f, thrift.I32)
	if c.writing {
		err = c.p.WriteI32(c.ctx, *v)
	} else {
		*v, err = c.p.ReadI32(c.ctx)
	}
	c.do(err)
	c.end()
}

func (c *codec) i16(f *place, v *int16) {
	var err error
	c.header(f, thrift.I16)
	if c.writing {
		err = c.p.WriteI16(c.ctx, *v)
	} else {
		*v, err = c.p.ReadI16(c.ctx)
	}
	c.do(err)
	c.end()
}

func (c *codec) boolean(f *place, v *bool) {
	var err error
	c.header(f, thrift.BOOL)
	if c.writing {
		err = c.p.WriteBool(c.ctx, *v)
	} else {
		*v, err = c.p.ReadBool(c.ctx)
	}
	c.do(err)
	c.end()
}

func (c *codec) list(t thrift.TType, n int) int {
	var err error
	if c.writing {
		err = c.p.WriteListBegin(c.ctx, t, n)
	} else {
		_, n, err = c.p.ReadListBegin(c.ctx)
	}
	if c.do(err); c.err != nil {
		return 0
	}
	return n
}

func (c *codec) rawStrs(v *[]string) {
	n := c.list(thrift.STRING, len(*v))
	if !c.writing {
		*v = make([]string, n)
	}
	for i := 0; i < n && c.err == nil; i++ {
		c.rawStr(&(*v)[i])
	}
}

func (c *codec) strs(f *place, v *[]string) {
	c.header(f, thrift.LIST)
	c.rawStrs(v)
	c.end()
}

func (c *codec) lists(f *place, v *[]stringList) {
	c.header(f, thrift.LIST)
	n := c.list(thrift.LIST, len(*v))
	if !c.writing {
		*v = make([]stringList, n)
	}
	for i := 0; i < n && c.err == nil; i++ {
		c.rawStrs((*[]string)(&(*v)[i]))
	}
	c.end()
}

func (c *codec) strMap(f *place, v *map[string]string) {
	c.header(f, thrift.MAP)
	if c.writing {
		c.do(c.p.WriteMapBegin(c.ctx, thrift.STRING, thrift.STRING, len(*v)))
		for k, x := range *v {
			c.rawStr(&k)
			c.rawStr(&x)
		}
	} else {
		_, _, n, err := c.p.ReadMapBegin(c.ctx)
		c.do(err)
		*v = make(map[string]string, n)
		for ; n > 0 && c.err == nil; n-- {
			var k, x string
			c.rawStr(&k)
			c.rawStr(&x)
			(*v)[k] = x
		}
	}
	c.end()
}

type coder interface{ code(*codec) }

func structure[T any, P interface {
	*T
	coder
}](c *codec, f *place, v **T) {
	if !c.writing {
		*v = new(T)
	}
	if *v != nil {
		c.header(f, thrift.STRUCT)
		P(*v).code(c)
		c.end()
	}
}

func structures[T any, P interface {
	*T
	coder
}](c *codec, f *place, v *[]*T) {
	c.header(f, thrift.LIST)
	n := c.list(thrift.STRUCT, len(*v))
	if !c.writing {
		*v = make([]*T, n)
	}
	for i := 0; i < n && c.err == nil; i++ {
		if !c.writing {
			(*v)[i] = new(T)
		}
		P((*v)[i]).code(c)
	}
	c.end()
}

// serveCodec is the decoding proxy: to the client the backend's database inside is called outside.
func serveCodec(ln net.Listener, backend, outside, inside string) {
	proxied(ln, backend, func(c, b net.Conn) {
		client, server := protocol(c), protocol(b)
		for {
			if transcode(client, server, outside, inside, arguments) != nil ||
				transcode(server, client, inside, outside, results) != nil {
				return
			}
		}
	})
}

func protocol(c net.Conn) thrift.TProtocol {
	conf := &thrift.TConfiguration{MaxMessageSize: 1<<31 - 1}
	t := thrift.NewTBufferedTransport(thrift.NewTSocketFromConnConf(c, conf), 64<<10)
	return thrift.NewTBinaryProtocolConf(t, conf)
}

// transcode moves one message from a protocol to another.
func transcode(in, out thrift.TProtocol, from, to string, shapes map[string]func() coder) error {
	ctx := context.Background()
	method, kind, seq, err := in.ReadMessageBegin(ctx)
	if err != nil {
		return err
	}
	shape := shapes[method]
	if shape == nil || kind == thrift.EXCEPTION {
		return fmt.Errorf("method %s kind %d is no load", method, kind)
	}
	v := shape()
	r := &codec{p: in, ctx: ctx, from: from, to: to}
	v.code(r)
	r.do(in.ReadMessageEnd(ctx))
	if r.err != nil {
		return r.err
	}
	w := &codec{p: out, ctx: ctx, writing: true}
	w.do(out.WriteMessageBegin(ctx, method, kind, seq))
	v.code(w)
	w.do(out.WriteMessageEnd(ctx))
	w.do(out.Flush(ctx))
	return w.err
}
