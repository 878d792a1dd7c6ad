package session

import (
	"encoding/binary"
	"errors"
	"time"

	"hmsgate/frame"
	"hmsgate/internal/metrics"
	"hmsgate/profiles"
	"hmsgate/route"
)

var be = binary.BigEndian

// Call is one call while it is served. Checks and answers see it; it is valid
// until they return.
type Call struct {
	s        *Session
	m        *method // nil: in no inventory
	name     []byte  // of a method in no inventory
	typ      frame.MessageType
	seq      int32
	cat      *route.Catalog
	index    int // of cat
	start    time.Time
	until    time.Time // the call's limit; zero: none
	head     int       // bytes of its header
	whole    bool      // the call is complete in the window
	read     bool      // the client has sent it to its end
	close    bool      // the client's connection ends with this call
	done     bool      // a reply has been given
	app      bool      // the reply is an application exception, which no plan knows
	threw    bool      // the reply was an exception of any kind
	void     bool      // the client left before the call was whole: it counts for nothing
	tries    int
	way      way      // how it travels, once its backend is known
	asItself bool     // no bridge is to serve it
	at       *backend // while a program serves it
	sent     int      // calls that its program has made

	status  metrics.Status
	fanned  bool
	in, out int64
}

// Row is what the rules say of the method; nil when no inventory has it.
func (c *Call) Row() *profiles.Row {
	if c.m == nil {
		return nil
	}
	return &c.m.Row
}

// Method is the method's name.
func (c *Call) Method() string {
	if c.m == nil {
		return string(c.name)
	}
	return c.m.Row.Method
}

// Catalog is where the call was routed; nil before.
func (c *Call) Catalog() *route.Catalog { return c.cat }

// Names is the binding of the call's names.
func (c *Call) Names() *route.Binding { return &c.s.bind }

// Env is the configuration the call is served under.
func (c *Call) Env() *Env { return c.s.env }

// Message is a copy of the whole call under a strict header.
func (c *Call) Message() []byte {
	return append(frame.AppendHeader(nil, frame.Call, c.Method(), c.seq), c.Body()...)
}

// Body is the call's arguments struct.
func (c *Call) Body() []byte { return c.s.in.Kept()[c.head:] }

// Seq is the call's sequence id.
func (c *Call) Seq() int32 { return c.seq }

// Close ends the client's connection after this call.
func (c *Call) Close() { c.close = true }

// serve serves one call and says whether the connection goes on.
func (s *Session) serve() bool {
	c := &s.call
	h, err := s.in.Header(s.opt.Old)
	if err != nil {
		return s.nonsense(nil, err)
	}
	s.begin(c, &h)
	if err := s.gather(c); err != nil {
		s.ungathered(c, err)
	} else {
		s.admitted(c)
	}
	s.giveBack()
	if !c.void {
		s.account(c)
	}
	return !c.close
}

// admitted serves a gathered call if there is a place for it. Calls that have
// not arrived yet take none: a client that sends slowly costs others nothing.
func (s *Session) admitted(c *Call) {
	inFlight := s.env.InFlight
	n := inFlight.Add(1)
	defer inFlight.Add(-1)
	if most := s.env.Limits.InFlight; most > 0 && n > most {
		c.status = metrics.Throttled
		s.fault(c, frame.InternalError, textBusy("too many calls at once (limits.calls-in-flight)"))
		return
	}
	s.decide(c)
}

// begin resets the call to what the header says.
func (s *Session) begin(c *Call, h *frame.Header) {
	m := s.env.methods[string(h.Method)]
	*c = Call{s: s, m: m, typ: h.Type, seq: h.Seq, head: h.Size, index: -1, start: time.Now()}
	if m == nil {
		s.name = append(s.name[:0], h.Method...)
		c.name = s.name
	} else if m.Hold {
		s.in.Hold(s.env.Limits.HeldCall)
	}
	if n := len(s.env.Table.Catalogs()); len(s.backs) != n {
		s.resize(n)
	}
}

// resize fits the backend connections to a new configuration.
func (s *Session) resize(n int) {
	if len(s.backs) > 0 {
		s.closeBackends()
	}
	s.backs = make([]*backend, n)
}

// gather reads the call until it is whole, or until a final fact says where
// it goes and the rest may stream.
func (s *Session) gather(c *Call) error {
	for held := false; ; held = true {
		err := s.walk(c)
		if err == nil {
			c.whole, c.read, c.in = true, true, s.in.Pos()
			return nil
		}
		if !errors.Is(err, frame.ErrFull) {
			return err
		}
		if c.m != nil && !c.m.Hold && c.m.Answer == "" && (s.facts.Final || s.bind.How() > route.ByBare) {
			return nil
		}
		if held || c.m != nil && c.m.Hold {
			return &tooLarge{textTooLarge(s.env.Limits.HeldCall)}
		}
		if err := s.again(s.env.Limits.HeldCall); err != nil {
			return err
		}
	}
}

// again goes back to the call's body, of which up to hold bytes are kept now.
func (s *Session) again(hold int) error {
	s.in.Hold(hold)
	s.in.Rewind()
	_, err := s.in.Header(true)
	return err
}

// tooLarge ends the gathering of a call that outgrows what may be held.
type tooLarge struct{ text string }

func (e *tooLarge) Error() string { return e.text }

// entire holds a call that began to stream, since its backend wants its length
// first, and routes it once more by all its names.
func (s *Session) entire(c *Call) bool {
	err := s.hold(c)
	if errors.Is(err, frame.ErrFull) {
		err = &tooLarge{textFrameTooLarge(s.env.Limits.Frame)}
	}
	if err != nil {
		s.ungathered(c, err)
		return false
	}
	return s.settled(c)
}

// hold keeps the whole call, if it is no larger than a frame may be.
func (s *Session) hold(c *Call) error {
	if err := s.again(s.env.Limits.Frame); err != nil {
		return err
	}
	return s.walk(c)
}

// settled routes a call that is held whole now by all its names.
func (s *Session) settled(c *Call) bool {
	c.whole, c.read, c.in = true, true, s.in.Pos()
	return s.reroute(c)
}

// reroute routes a call by the names that were collected anew.
func (s *Session) reroute(c *Call) bool {
	var ref *route.Refusal
	if c.cat, ref = s.bind.Route(&c.m.Row); ref != nil {
		s.refuse(c, ref)
		return false
	}
	c.index = s.env.indexOf(c.cat)
	return true
}

// walk collects the call's names.
func (s *Session) walk(c *Call) error {
	s.bind.Reset(s.env.Table, s.opt.Default)
	if c.m == nil {
		if err := s.walker.Strings(&s.in, s.visit); err != nil {
			return err
		}
		return s.verified()
	}
	err := s.walker.Gather(&s.in, s.env.Plans.Call, c.m.CallRoot, &s.facts)
	for _, f := range s.facts.List() {
		s.bind.Add(f.Kind, s.in.At(f.Off, f.Len))
	}
	s.shown(c)
	if err == nil {
		err = s.verified()
	}
	return err
}

// decide finds out who answers the call.
func (s *Session) decide(c *Call) {
	if c.typ != frame.Call && !(c.typ == frame.Oneway && c.m != nil && c.m.Oneway) {
		s.fault(c, frame.InvalidMessageType, textMessageType(c.typ))
		return
	}
	if ref := s.nameless(c); ref != nil {
		s.refuse(c, ref)
		return
	}
	if c.m != nil && c.m.answer != nil {
		if !s.checked(c) {
			return
		}
		if err := c.m.answer(c); err != nil {
			c.line(s.env.Log.Warn()).Err(err).Msg("client closed")
			c.status, c.close = metrics.Error, true
		}
		return
	}
	var ref *route.Refusal
	if c.m != nil {
		c.cat, ref = s.bind.Route(&c.m.Row)
	} else {
		c.cat, ref = s.bind.RouteUnknown(c.name)
	}
	if ref != nil {
		s.refuse(c, ref)
		return
	}
	if s.checked(c) {
		s.forward(c)
	}
}

// checked asks the policies.
func (s *Session) checked(c *Call) bool {
	for _, check := range s.env.Checks {
		if ref := check(c); ref != nil {
			s.refuse(c, ref)
			return false
		}
	}
	return true
}

// indexOf is a catalog's place in the table.
func (e *Env) indexOf(cat *route.Catalog) int {
	for i, c := range e.Table.Catalogs() {
		if c == cat {
			return i
		}
	}
	return -1
}

// account counts the call and writes its line.
func (s *Session) account(c *Call) {
	method, cat := -1, metrics.NoCatalog
	if c.m != nil {
		method = c.m.index
	}
	if c.fanned {
		cat = metrics.AllCatalog
	} else if c.cat != nil {
		cat = c.index
	}
	n := s.env.counts.Call(method, cat)
	took := time.Since(c.start)
	n.Observe(c.status, took.Seconds(), c.in, c.out)
	if c.cat != nil && !c.fanned && s.bind.How() == route.ByDefault {
		n.DefaultRouted()
	}
	if c.cat != nil && s.bind.HintOnly() && c.writes() {
		s.env.Metrics.HintWrite()
		if !s.hinted {
			s.hinted = true // once a client
			c.line(s.env.Log.Warn()).Msg("a write was routed by its catalog field alone (routing.catalog-hint-writes)")
		}
	}
	if s.env.LogCalls {
		c.line(s.env.Log.Info()).Str("status", c.status.String()).Dur("took", took).
			Int64("in", c.in).Int64("out", c.out).Msg("call")
	}
}
