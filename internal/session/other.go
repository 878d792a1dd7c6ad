package session

import (
	"errors"
	"fmt"
	"time"

	"hmsgate/frame"
	"hmsgate/profiles"
	"hmsgate/rewrite"
	"hmsgate/route"
)

// Other is a call that an answer makes beside, or instead of, the client's: of
// the client's interface, to whichever catalog.
type Other struct {
	Catalog *route.Catalog
	Method  string
	Body    []byte // the arguments struct
	// Names are those of both directions, once it is known whether the backend
	// reads "@cat#"; nil: none changes.
	Names func(at bool) (call, reply rewrite.Names)
}

// Other sends a call over this client's connection to a catalog and gives its
// whole reply in the client's interface. A *route.Refusal says that the
// backend's version would lose something of it. Like any read, one that may be
// repeated is sent once more when no answer came.
func (c *Call) Other(o *Other) ([]byte, error) {
	s := c.s
	index, until := c.reach(o.Catalog)
	for try := 0; ; try++ {
		reply, err := c.otherOnce(o, index, until)
		var r *route.Refusal
		switch {
		case err == nil:
			return reply, nil
		case errors.As(err, &r):
			return nil, r
		}
		s.drop(index)
		if try > 0 || !s.env.methods[o.Method].repeats(err) {
			return nil, err
		}
	}
}

// reach is a catalog's place, and how long its metastore may take.
func (c *Call) reach(cat *route.Catalog) (index int, until time.Time) {
	index, until = c.s.env.indexOf(cat), c.until
	if c.cat == nil {
		c.cat, c.index = cat, index
	}
	if t := c.s.env.Targets[index].Timeout; t > 0 && until.IsZero() {
		until = c.start.Add(t)
	}
	return index, until
}

// GenerationAt is the generation of the metastore that this client's calls to
// a catalog go to.
func (c *Call) GenerationAt(cat *route.Catalog) (profiles.Generations, error) {
	index, until := c.reach(cat)
	b, err := c.s.backend(cat, index, until)
	if err != nil {
		return 0, err
	}
	return profiles.GenerationOf(b.label), nil
}

// repeats says whether a call that ended so is sent once more.
func (m *method) repeats(err error) bool {
	var dial *route.DialError
	return m != nil && m.Replay && !errors.Is(err, errTimeout) && !errors.Is(err, errCallerGone) && !errors.As(err, &dial)
}

func (c *Call) otherOnce(o *Other, index int, until time.Time) ([]byte, error) {
	b, err := c.s.backend(o.Catalog, index, until)
	if err != nil {
		return nil, err
	}
	b.link.until = until
	reply, err := c.otherOn(b, o)
	if err == nil {
		b.done(time.Now())
	}
	return reply, err
}

func (c *Call) otherOn(b *backend, o *Other) ([]byte, error) {
	s := c.s
	mine := Call{s: s, m: s.env.methods[o.Method], cat: o.Catalog, seq: c.seq}
	if mine.m == nil {
		return nil, fmt.Errorf("method %s is in no inventory", o.Method)
	}
	p := s.plansFor(b)
	mine.way = way{plans: p, m: p.List()[mine.m.index]}
	var call, names rewrite.Names
	if o.Names != nil {
		call, names = o.Names(b.at)
	}
	msg := append(frame.AppendHeader(nil, frame.Call, o.Method, c.seq), o.Body...)
	k, out := &rewrite.Walker{}, &held{s: s}
	if err := transform(k, msg, p.Call, mine.way.m.CallRoot, call, out); err != nil {
		return nil, err
	}
	if k.Guards != 0 {
		if r := mine.missed(k.Guards); r != nil {
			return nil, r
		}
	}
	if err := mine.exchange(b, out.Bytes()); err != nil {
		return nil, err
	}
	return mine.exchanged(b, k, names)
}

// Failed answers the call when Other gave no reply.
func (c *Call) Failed(cat *route.Catalog, err error) {
	var r *route.Refusal
	var dial *route.DialError
	switch {
	case errors.As(err, &r):
		c.s.refuse(c, r)
	case !c.writes(), errors.As(err, &dial), errors.Is(err, errPreamble), errors.Is(err, errCallerGone),
		errors.Is(err, frame.ErrBudget):
		c.Unreachable(cat, err)
	case errors.Is(err, errTimeout):
		c.close = true
		c.s.unknown(c, textTimeoutWrite(c.Method(), cat.Name, c.s.env.Targets[c.s.env.indexOf(cat)].Timeout))
	default:
		c.s.unknown(c, textUnknown(c.Method(), cat.Name))
	}
}

// Generations are those that the client may still be of.
func (c *Call) Generations() profiles.Generations { return c.s.possible }
