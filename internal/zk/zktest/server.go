package zktest

import (
	"crypto/sha1"
	"encoding/base64"
	"io"
	"maps"
	"net"
	"strings"
	"sync"
	"testing"
)

// Server is a server that listens on loopback.
type Server struct {
	tb   testing.TB
	addr string

	mu       sync.Mutex // guards what follows
	ln       net.Listener
	tree     tree
	zxid     int64
	sessions map[int64]bool
	ids      int64
	conns    map[net.Conn]bool
	lag      bool // reads show what the connection last caught up with
	lose     bool // the next change is done and its answer lost
	mute     bool // nothing is answered
	ignore   int  // so many connections get no answer at all
	running  sync.WaitGroup
}

// New starts a server that ends with the test.
func New(tb testing.TB) *Server {
	tb.Helper()
	s := &Server{tb: tb, addr: "127.0.0.1:0", tree: tree{"/": {}}, sessions: map[int64]bool{}, conns: map[net.Conn]bool{}}
	s.Up()
	tb.Cleanup(s.Down)
	return s
}

// Addr is where it listens, also when it is down.
func (s *Server) Addr() string { return s.addr }

// Up listens again on the same port.
func (s *Server) Up() {
	s.tb.Helper()
	ln, err := net.Listen("tcp", s.addr)
	if err != nil {
		s.tb.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ln, s.addr = ln, ln.Addr().String()
	s.running.Add(1)
	go func() {
		defer s.running.Done()
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			if !s.enter(ln, c) {
				_ = c.Close()
				continue
			}
			go s.serve(c)
		}
	}()
}

// Down stops listening and breaks all connections; nodes and sessions stay.
func (s *Server) Down() {
	s.mu.Lock()
	if s.ln != nil {
		_ = s.ln.Close()
	}
	s.ln = nil
	s.mu.Unlock()
	s.Drop()
	s.running.Wait()
}

// enter counts a connection, unless its listener was closed after it came.
func (s *Server) enter(ln net.Listener, c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ln != ln {
		return false
	}
	s.conns[c] = true
	s.running.Add(1)
	return true
}

// Drop breaks all connections.
func (s *Server) Drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		_ = c.Close()
	}
}

// Expire ends all sessions.
func (s *Server) Expire() {
	s.mu.Lock()
	clear(s.sessions)
	s.mu.Unlock()
	s.Drop()
}

// Lag makes reads show what their connection last caught up with.
func (s *Server) Lag(on bool) { s.set(&s.lag, on) }

// LoseAnswer does the next change and breaks its connection instead of answering.
func (s *Server) LoseAnswer() { s.set(&s.lose, true) }

// Mute makes it read and never answer.
func (s *Server) Mute(on bool) { s.set(&s.mute, on) }

func (s *Server) set(flag *bool, on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*flag = on
}

// Ignore accepts the next n connections and never says a word to them.
func (s *Server) Ignore(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ignore = n
}

// ignored waits for the end of a connection that is to be ignored.
func (s *Server) ignored(c net.Conn) bool {
	s.mu.Lock()
	s.ignore--
	yes := s.ignore >= 0
	s.mu.Unlock()
	if yes {
		_, _ = io.Copy(io.Discard, c)
	}
	return yes
}

// Sessions is how many sessions were made so far.
func (s *Server) Sessions() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ids
}

// Paths are all nodes, with their data.
func (s *Server) Paths() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]string{}
	for p, n := range s.tree {
		out[p] = string(n.data)
	}
	return out
}

// session is one connection's.
type session struct {
	who  string // digest it is authenticated as
	view tree   // what it has caught up with
}

func (s *Server) serve(c net.Conn) {
	defer s.running.Done()
	defer func() {
		_ = c.Close()
		s.mu.Lock()
		delete(s.conns, c)
		s.mu.Unlock()
	}()
	if s.ignored(c) {
		return
	}
	r, err := readPacket(c)
	if err != nil {
		return
	}
	var se session
	if writePacket(c, s.connect(r, &se)) != nil {
		return
	}
	for {
		r, err := readPacket(c)
		if err != nil {
			return
		}
		xid, op := r.i32(), r.i32()
		resp, code, more := s.answer(&se, op, r)
		if !more {
			return
		}
		if resp == nil && code == noAnswer {
			continue
		}
		head := putI32(putI64(putI32(nil, xid), s.now()), code)
		if writePacket(c, append(head, resp...)) != nil || op == opClose {
			return
		}
	}
}

const noAnswer = 1

func (s *Server) now() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.zxid
}

// connect: version lastZxid timeout session password; session 0 is answered
// when the one asked for has expired.
func (s *Server) connect(r *reader, se *session) []byte {
	r.i32()
	r.i64()
	timeout, id := r.i32(), r.i64()
	s.mu.Lock()
	defer s.mu.Unlock()
	se.view = maps.Clone(s.tree)
	switch {
	case id != 0 && !s.sessions[id]:
		id = 0
	case id == 0:
		s.ids++
		id = s.ids
		s.sessions[id] = true
	}
	return append(putBytes(putI64(putI32(putI32(nil, 0), timeout), id), make([]byte, 16)), 0)
}

// answer does one request; more is false when the connection ends.
func (s *Server) answer(se *session, op int32, r *reader) (resp []byte, code int32, more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mute {
		return nil, noAnswer, true
	}
	if !s.lag {
		se.view = maps.Clone(s.tree)
	}
	switch op {
	case opPing, opClose:
		return nil, 0, true
	case opAuth:
		r.i32()
		if scheme, auth := r.text(), r.text(); scheme == "digest" {
			user, _, _ := strings.Cut(auth, ":")
			sum := sha1.Sum([]byte(auth))
			se.who = user + ":" + base64.StdEncoding.EncodeToString(sum[:])
		}
		return nil, 0, true
	case opSync:
		se.view = maps.Clone(s.tree)
		return putText(nil, r.text()), 0, true
	case opGetData, opGetChildren2:
		resp, code = se.read(op, r.text())
		return resp, code, true
	case opCreate, opSetData, opDelete:
		next := maps.Clone(s.tree)
		if resp, code = next.apply(readChange(op, r), se.who); code == 0 {
			s.tree = next
		}
	case opMulti:
		resp, s.tree, code = s.tree.multi(r, se.who)
	default:
		return nil, errUnimplemented, true
	}
	s.zxid++
	se.view = maps.Clone(s.tree)
	lost := s.lose
	s.lose = false
	return resp, code, !lost
}

func (se *session) read(op int32, path string) ([]byte, int32) {
	n, ok := se.view[path]
	switch {
	case !ok:
		return nil, errNoNode
	case !se.view.may(path, se.who):
		return nil, errNoAuth
	case op == opGetData:
		return append(putBytes(nil, n.data), se.view.stat(path)...), 0
	}
	names := se.view.children(path)
	b := putI32(nil, int32(len(names)))
	for _, x := range names {
		b = putText(b, x)
	}
	return append(b, se.view.stat(path)...), 0
}
