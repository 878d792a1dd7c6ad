package session

import (
	"hmsgate/frame"
	"hmsgate/profiles"
	"hmsgate/route"
)

// UGI is what becomes of a client's own word about who it is (set_ugi). Zero:
// the metastores hear it.
type UGI struct {
	Drop bool   // they do not
	User string // they hear this user instead, whatever the client says, or when it says nothing
	Need bool   // no other call is served before the client has said it
}

// answerUGI is the answer that the row of set_ugi names.
const answerUGI = "set-ugi"

// preset puts the listener's own user before what the client may say.
func (s *Session) preset() {
	if s.opt.UGI.User == "" || s.identity != nil {
		return
	}
	m := frame.AppendHeader(nil, frame.Call, s.env.ugi, 0)
	m = frame.AppendString(m, 1, s.opt.UGI.User)
	m = append(m, frame.List, 0, 2, frame.String, 0, 0, 0, 0, frame.Stop)
	s.preamble.messages = append(s.preamble.messages, message{bytes: m, user: true})
	s.preamble.size, s.preamble.name = len(m), s.opt.UGI.User
}

// Said notes a client's word about who it is, and says whether the metastores
// are to hear it: then the answer tells them (Preamble).
func (c *Call) Said() (tell bool) {
	u := &c.s.opt.UGI
	c.s.preamble.user = true
	return !u.Drop && u.User == "" && c.s.identity == nil
}

// nameless says whether a client must say first who it is.
func (s *Session) nameless(c *Call) *route.Refusal {
	if !s.opt.UGI.Need || s.preamble.user || s.identity != nil {
		return nil
	}
	if row := c.Row(); row != nil && (row.Class == profiles.Local || row.Class == profiles.Identity) {
		return nil
	}
	return &route.Refusal{Exception: route.Meta, Reason: "nameless", Text: textNameless}
}
