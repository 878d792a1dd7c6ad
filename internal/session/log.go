package session

import "github.com/rs/zerolog"

// warn begins a line about the client.
func (s *Session) warn() *zerolog.Event {
	return s.who(s.env.Log.Warn())
}

// log begins a quiet line about the client.
func (s *Session) log() *zerolog.Event {
	return s.who(s.env.Log.Debug())
}

// who names the client.
func (s *Session) who(e *zerolog.Event) *zerolog.Event {
	e = e.Str("client", s.conn.RemoteAddr().String())
	if s.identity != nil {
		e = e.Str("user", s.identity.User)
	}
	return e
}

// line begins a line about a call.
func (c *Call) line(e *zerolog.Event) *zerolog.Event {
	e = c.s.who(e).Str("method", c.Method()).Int32("seq", c.seq)
	if c.cat != nil {
		e = e.Str("catalog", c.cat.Name)
	}
	return e
}
