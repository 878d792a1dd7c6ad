package session

import "github.com/rs/zerolog"

// warn begins a line about the client.
func (s *Session) warn() *zerolog.Event {
	return s.env.Log.Warn().Str("client", s.client.conn.RemoteAddr().String())
}

// log begins a quiet line about the client.
func (s *Session) log() *zerolog.Event {
	return s.env.Log.Debug().Str("client", s.client.conn.RemoteAddr().String())
}

// line begins a line about a call.
func (c *Call) line(e *zerolog.Event) *zerolog.Event {
	e = e.Str("client", c.s.client.conn.RemoteAddr().String()).Str("method", c.Method()).Int32("seq", c.seq)
	if c.cat != nil {
		e = e.Str("catalog", c.cat.Name)
	}
	return e
}
