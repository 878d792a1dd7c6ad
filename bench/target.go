package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// A target is one way to reach the backend's data.
type target struct {
	name, addr string
	db         string // the database's name there
	pid        int    // 0: no process to account for
	framed     bool
}

// parseTarget reads name,addr,db[,pid[,framed]].
func parseTarget(s string) (t target, err error) {
	f := strings.Split(s, ",")
	if len(f) < 3 || len(f) > 5 {
		return t, fmt.Errorf("target %q: want name,addr,db[,pid[,framed]]", s)
	}
	t = target{name: f[0], addr: f[1], db: f[2]}
	if len(f) > 3 {
		if t.pid, err = strconv.Atoi(f[3]); err != nil {
			return t, fmt.Errorf("target %q: pid %q is no number", s, f[3])
		}
	}
	if len(f) > 4 && f[4] != "framed" {
		return t, fmt.Errorf("target %q: %q: only framed is allowed here", s, f[4])
	}
	t.framed = len(f) > 4
	return t, nil
}

// What a probe finds in a target's reply.
type probed struct {
	bytes   int64 // on the wire, with the frame's size where there is one
	renamed int   // strings that are the target's name of the database
	plain   int   // strings that are the backend's name
}

// probe makes one call and walks its reply to the end.
func (t target) probe(l load, timeout time.Duration) (probed, error) {
	c, err := net.DialTimeout("tcp", t.addr, timeout)
	if err != nil {
		return probed{}, err
	}
	defer c.Close()
	return t.probeOn(c, l, timeout)
}

// probeOn is probe on an open connection.
func (t target) probeOn(c net.Conn, l load, timeout time.Duration) (p probed, err error) {
	if err := c.SetDeadline(time.Now().Add(timeout)); err != nil {
		return p, err
	}
	k := t.caller(c, l, 0)
	if _, err := c.Write(k.next()); err != nil {
		return p, err
	}
	if t.framed {
		var size [4]byte
		if _, err := io.ReadFull(c, size[:]); err != nil {
			return p, err
		}
		p.bytes = 4
	}
	d := newDec(c, 64<<10)
	d.names = [2]string{t.db, dataDB}
	if err := checkReply(d, l.method, k.seq); err != nil {
		return p, err
	}
	if d.r.Buffered() > 0 {
		return p, fmt.Errorf("%d bytes after the reply", d.r.Buffered())
	}
	p.bytes, p.renamed, p.plain = p.bytes+d.n, d.seen[0], d.seen[1]
	return p, nil
}

func checkReply(d *dec, method string, seq int32) error {
	name, kind, got, err := d.head()
	if err != nil {
		return err
	}
	if name != method || kind != kindReply || got != seq {
		_ = d.discard(3)
		text, _ := d.str()
		return fmt.Errorf("reply %q kind %d sequence id %d %q, want %q %d %d", name, kind, got, text, method, kindReply, seq)
	}
	t, err := d.u8()
	if err != nil {
		return err
	}
	id, err := d.i16()
	if err != nil {
		return err
	}
	if t == tStop || id != 0 {
		return fmt.Errorf("declared exception, field %d", id)
	}
	if err := d.skip(t); err != nil {
		return err
	}
	return d.skip(tStruct) // the rest of the result
}

// A caller repeats one call on one connection and checks each reply's head and length.
type caller struct {
	conn   net.Conn
	r      io.Reader // conn, or something slower on it
	call   []byte
	seqAt  int
	seq    int32
	want   int64
	prefix []byte // the reply's beginning up to the sequence id
	skip   int    // bytes of the frame's size
	buf    []byte
}

func (t target) caller(c net.Conn, l load, want int64) *caller {
	call := l.call(t.db)
	k := &caller{conn: c, r: c, want: want, seqAt: 8 + len(l.method)}
	if t.framed {
		call = append(binary.BigEndian.AppendUint32(nil, uint32(len(call))), call...)
		k.seqAt, k.skip = k.seqAt+4, 4
	}
	k.call = call
	var e enc
	e.head(l.method, kindReply, 0)
	k.prefix = e.b[:len(e.b)-4]
	k.buf = make([]byte, max(min(want, 256<<10), 128))
	return k
}

// next is the call's bytes with the next sequence id.
func (k *caller) next() []byte {
	k.seq++
	binary.BigEndian.PutUint32(k.call[k.seqAt:], uint32(k.seq))
	return k.call
}

var errReply = errors.New("reply's head is not the expected one")

func (k *caller) once() error {
	if _, err := k.conn.Write(k.next()); err != nil {
		return err
	}
	head := k.skip + len(k.prefix) + 4
	n, err := io.ReadAtLeast(k.r, k.buf[:min(int64(len(k.buf)), k.want)], head)
	if err != nil {
		return fmt.Errorf("%d of %d bytes: %w", n, k.want, err)
	}
	if string(k.buf[k.skip:head-4]) != string(k.prefix) || binary.BigEndian.Uint32(k.buf[head-4:]) != uint32(k.seq) {
		return errReply
	}
	for got := int64(n); got < k.want; got += int64(n) {
		if n, err = k.r.Read(k.buf[:min(int64(len(k.buf)), k.want-got)]); err != nil {
			return fmt.Errorf("%d of %d bytes: %w", got, k.want, err)
		}
	}
	return nil
}
