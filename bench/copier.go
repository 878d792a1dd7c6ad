package main

import (
	"context"
	"fmt"

	"github.com/apache/thrift/lib/go/thrift"
)

// A copier moves values from one protocol to another, token by token.
type copier struct {
	ctx     context.Context
	in, out thrift.TProtocol
}

func (c *copier) value(t thrift.TType) error {
	switch t {
	case thrift.STRUCT:
		return c.fields()
	case thrift.LIST, thrift.SET:
		return c.list()
	case thrift.MAP:
		return c.pairs()
	case thrift.STRING:
		v, err := c.in.ReadString(c.ctx)
		return first(err, func() error { return c.out.WriteString(c.ctx, v) })
	case thrift.I32:
		v, err := c.in.ReadI32(c.ctx)
		return first(err, func() error { return c.out.WriteI32(c.ctx, v) })
	case thrift.I64:
		v, err := c.in.ReadI64(c.ctx)
		return first(err, func() error { return c.out.WriteI64(c.ctx, v) })
	case thrift.I16:
		v, err := c.in.ReadI16(c.ctx)
		return first(err, func() error { return c.out.WriteI16(c.ctx, v) })
	case thrift.BOOL:
		v, err := c.in.ReadBool(c.ctx)
		return first(err, func() error { return c.out.WriteBool(c.ctx, v) })
	case thrift.BYTE:
		v, err := c.in.ReadByte(c.ctx)
		return first(err, func() error { return c.out.WriteByte(c.ctx, v) })
	case thrift.DOUBLE:
		v, err := c.in.ReadDouble(c.ctx)
		return first(err, func() error { return c.out.WriteDouble(c.ctx, v) })
	}
	return fmt.Errorf("unknown type %d", t)
}

func first(err error, then func() error) error {
	if err != nil {
		return err
	}
	return then()
}

func (c *copier) fields() error {
	if _, err := c.in.ReadStructBegin(c.ctx); err != nil {
		return err
	}
	for {
		_, t, id, err := c.in.ReadFieldBegin(c.ctx)
		if err != nil {
			return err
		}
		if t == thrift.STOP {
			return c.out.WriteFieldStop(c.ctx)
		}
		if err := c.out.WriteFieldBegin(c.ctx, "", t, id); err != nil {
			return err
		}
		if err := c.value(t); err != nil {
			return err
		}
	}
}

func (c *copier) list() error {
	t, n, err := c.in.ReadListBegin(c.ctx)
	if err != nil {
		return err
	}
	err = c.out.WriteListBegin(c.ctx, t, n)
	for ; n > 0 && err == nil; n-- {
		err = c.value(t)
	}
	return err
}

func (c *copier) pairs() error {
	k, v, n, err := c.in.ReadMapBegin(c.ctx)
	if err != nil {
		return err
	}
	err = c.out.WriteMapBegin(c.ctx, k, v, n)
	for ; n > 0 && err == nil; n-- {
		if err = c.value(k); err == nil {
			err = c.value(v)
		}
	}
	return err
}
