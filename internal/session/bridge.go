package session

import (
	"errors"
	"sync"

	"hmsgate/frame"
	"hmsgate/profiles"
	"hmsgate/rewrite"
	"hmsgate/route"
)

// way is how a call travels to a backend: by the plans of that backend's
// version, as itself or as another method.
type way struct {
	plans *profiles.Plans
	m     *profiles.MethodPlan
	as    *profiles.Candidate // nil: as itself
}

// versions are the plans of all backend versions met so far, compiled on first
// sight. One front has one.
type versions struct {
	set   *profiles.Set
	front *profiles.Inventory
	mu    sync.Mutex // guards made
	made  map[versionKey]*profiles.Plans
}

type versionKey struct {
	back   string
	reader profiles.Reader
}

func newVersions(set *profiles.Set, front string) (*versions, error) {
	v := &versions{set: set, made: map[versionKey]*profiles.Plans{}}
	var err error
	v.front, err = set.Load(front)
	return v, err
}

// plans are those for a backend's label and what the client has shown.
func (v *versions) plans(back string, r profiles.Reader) (*profiles.Plans, error) {
	if v.front.Label != profiles.AutoLabel {
		r = profiles.Unsure // the listener has said it
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	key := versionKey{back, r}
	if p := v.made[key]; p != nil {
		return p, nil
	}
	inv, err := v.set.Load(back)
	if err != nil {
		return nil, err
	}
	p, err := profiles.CompileFor(v.front, inv, r)
	if err == nil {
		v.made[key] = p
	}
	return p, err
}

// Warm compiles the plans for a backend's version before a call needs them.
func (e *Env) Warm(back string) error {
	for r := profiles.Unsure; r <= profiles.Since4; r++ {
		if _, err := e.versions.plans(back, r); err != nil {
			return err
		}
	}
	return nil
}

// plans are those by which this client's calls go to b.
func (s *Session) plansFor(b *backend) *profiles.Plans {
	r := profiles.ReaderOf(s.possible)
	if p := b.plans[r]; p != nil {
		return p
	}
	p, err := s.env.versions.plans(b.label, r)
	if err != nil {
		s.env.Log.Error().Err(err).Str("profile", b.label).Msg("no plans for this version: names only")
		p = s.env.Plans
	}
	b.plans[r] = p
	return p
}

// shown narrows down what the client may be by what it just called.
func (s *Session) shown(c *Call) {
	if g := s.possible & c.m.Gens; g != 0 {
		s.possible = g
	}
	if g := s.possible &^ profiles.Gen2; g != 0 && s.bind.Ats() {
		s.possible = g
	}
}

// choose decides how the call travels to b. It answers false when the client
// has got its answer already, or cannot get any; when the connection is gone
// after a true one, the call is to be routed again.
func (s *Session) choose(c *Call, b *backend) bool {
	if c.m == nil {
		return true
	}
	p := s.plansFor(b)
	c.way = way{plans: p, m: p.List()[c.m.index]}
	br := c.way.m.Bridge
	if c.asItself {
		return true
	}
	switch {
	case br == nil: // what no bridge leads to, the backend itself may refuse
		return true
	case c.way.m.Missing || c.way.m.Formed || s.env.lacking.has(b, c.m.index) && (br.Never != "" || br.Replaces(c.m.Row.Method)):
		return s.bridged(c, b, br)
	case br.Program != nil && c.way.m.Guarded:
		return s.guarded(c, b, br.Program)
	}
	return true
}

// bridged decides how a call that b does not know is served.
func (s *Session) bridged(c *Call, b *backend, br *profiles.Bridge) bool {
	switch {
	case br.Never != "":
		s.refuse(c, &route.Refusal{Exception: route.UnknownMethod, Reason: route.UnknownCall, Text: textNever(c.Method()), Cause: br.Never})
		return false
	case br.Here != nil:
		c.Reply(func(dst []byte) []byte { return append(dst, br.Here...) })
		return false
	case br.Program != nil:
		if here, ok := s.wholeAt(c, b); !here {
			return ok
		}
		return s.program(c, b, br.Program.Name)
	}
	for i := range br.Candidates {
		c.way.as = &br.Candidates[i]
		if c.way.as.Unless == 0 {
			return true
		}
		if here, ok := s.wholeAt(c, b); !here {
			return ok
		}
		s.in.Rewind()
		if _, err := s.walker.Measure(&s.in, c.way.plans.Call, c.way.as.CallRoot, s.bind.Call(b.at)); err != nil {
			break // emitting it says what is wrong
		}
		if s.walker.Guards&c.way.as.Unless == 0 {
			break
		}
	}
	return true
}

// wholeAt holds the call whole. here says that it still goes to b: else it has
// its answer (ok is false), or a late name sends it elsewhere.
func (s *Session) wholeAt(c *Call, b *backend) (here, ok bool) {
	if !c.whole && !s.entire(c) {
		return false, false
	}
	return s.backs[c.index] == b, true
}

// guarded lets a program serve a call that would lose something on the way to
// a backend that has its method, and nothing that the program loses too. One
// too large to be held streams; then what it would lose refuses it.
func (s *Session) guarded(c *Call, b *backend, p *profiles.Program) bool {
	if !c.whole {
		switch err := s.hold(c); {
		case errors.Is(err, frame.ErrFull):
			return s.reroute(c)
		case err != nil:
			s.ungathered(c, err)
			return false
		case !s.settled(c):
			return false
		}
	}
	if s.backs[c.index] != b {
		return true
	}
	s.in.Rewind()
	_, err := s.walker.Measure(&s.in, c.way.plans.Call, c.way.m.CallRoot, s.bind.Call(b.at))
	if g := s.walker.Guards; err != nil || g == 0 || g&^p.Serves != 0 { // emitting it says what is wrong
		return true
	}
	return s.program(c, b, p.Name)
}

// missed is the refusal of a call whose emission met a guard: something in it
// would be lost on the way.
func (c *Call) missed(guards uint64) *route.Refusal {
	reason := ""
	if c.way.as != nil {
		reason = c.way.as.Reason(guards)
	}
	if reason == "" && c.way.plans != nil {
		if br := c.way.m.Bridge; br != nil && br.Program != nil {
			if others := guards &^ br.Program.Serves; others != 0 {
				guards = others // the program would have kept the rest
			}
		}
		reason = c.way.plans.Reason(guards)
	}
	if reason == "" {
		return nil
	}
	return c.Loss(reason)
}

// plan is the pair of entry points for a call's bytes.
func (c *Call) plan() (p *rewrite.Plan, r rewrite.RootID) {
	switch {
	case c.m == nil:
		return c.s.env.copying, 0
	case c.way.as != nil:
		return c.way.plans.Call, c.way.as.CallRoot
	case c.way.m != nil:
		return c.way.plans.Call, c.way.m.CallRoot
	}
	return c.s.env.Plans.Call, c.m.CallRoot
}

func (c *Call) replyPlan() (p *rewrite.Plan, r rewrite.RootID) {
	switch {
	case c.way.as != nil && c.app:
		return c.way.plans.Reply, c.way.as.FaultRoot
	case c.m == nil || c.app:
		return c.s.env.copying, 0
	case c.way.as != nil:
		return c.way.plans.Reply, c.way.as.ReplyRoot
	case c.way.m != nil:
		return c.way.plans.Reply, c.way.m.ReplyRoot
	}
	return c.s.env.Plans.Reply, c.m.ReplyRoot
}

// sentAs says whether a reply's method is that of the call as it was sent.
func (c *Call) sentAs(method []byte) bool {
	if c.way.as != nil {
		return string(method) == c.way.as.Call
	}
	if c.m == nil {
		return string(method) == string(c.name)
	}
	return string(method) == c.m.Row.Method
}
