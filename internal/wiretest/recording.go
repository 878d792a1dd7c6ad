package wiretest

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"testing"
)

const recordingMagic = "hmsgate recording 1\n"

// Recording is what one client and one server said to each other.
type Recording struct {
	Name  string // as the file: "3.1.3-4.1.0", "spark35-hms-3.1.3"
	Conns []Conn // by ID
}

// Conn is one TCP connection of a recording.
type Conn struct {
	ID     int
	Client []byte // everything the client sent, as sent
	Server []byte // everything the server sent, as sent
}

// Exchange is a call with its reply. Reply is nil where none came: a one-way
// call, or a connection that ended first.
type Exchange struct {
	Call  Message
	Reply *Message
}

// Versions names the interface versions of both ends: the Hive release whose
// IDL the client was generated from ("" for clients with a definition of their
// own) and the release of the server.
func (r Recording) Versions() (client, server string) {
	left, server, ok := strings.Cut(r.Name, "-hms-")
	if !ok {
		client, server, _ = strings.Cut(r.Name, "-")
		return client, server
	}
	switch {
	case strings.HasPrefix(left, "spark") && strings.HasSuffix(left, "-hive3"):
		return "3.1.3", server
	case strings.HasPrefix(left, "spark") && strings.HasSuffix(left, "-hive4"):
		return "4.0.1", server
	case strings.HasPrefix(left, "spark"):
		return "2.3.10", server // Spark 3.5 and 4.0 carry Hive 2.3.10
	case strings.HasPrefix(left, "hs2-"):
		return strings.TrimSuffix(strings.TrimPrefix(left, "hs2-"), "-txn"), server
	}
	return "", server
}

// Broken tells whether the client's stream does not end at a message border;
// what follows the last whole message must never reach a backend.
func (c Conn) Broken() bool {
	_, rest := Messages(c.Client)
	return len(rest) > 0
}

// Exchanges pairs the calls of a connection with their replies, in order.
// Connections are in lock step, so the next reply belongs to the oldest
// unanswered call of its method and sequence id; calls passed over have none.
// Servers of 4.x reply to a broken call ("Unrecognized type -128"); that reply,
// the last of its connection, belongs to no whole call and is left out.
func (c Conn) Exchanges() []Exchange {
	calls, _ := Messages(c.Client)
	replies, _ := Messages(c.Server)
	out := make([]Exchange, len(calls))
	for i := range calls {
		out[i].Call = calls[i]
	}
	at := 0
	for i := range replies {
		for j := at; j < len(out); j++ {
			if out[j].Call.Method == replies[i].Method && out[j].Call.Seq == replies[i].Seq {
				out[j].Reply = &replies[i]
				at = j + 1
				break
			}
		}
	}
	return out
}

var loadRecordings = sync.OnceValues(readRecordings)

// Recordings loads every recording of the tree, sorted by name.
func Recordings(tb testing.TB) []Recording {
	tb.Helper()
	rs, err := loadRecordings()
	if err != nil {
		tb.Fatal(err)
	}
	return append([]Recording(nil), rs...)
}

// RecordingNamed loads one recording.
func RecordingNamed(tb testing.TB, name string) Recording {
	tb.Helper()
	for _, r := range Recordings(tb) {
		if r.Name == name {
			return r
		}
	}
	tb.Fatalf("no recording %q in testdata/recordings", name)
	return Recording{}
}

// Root is the module's top folder: the first one above the working directory
// that holds go.mod. Tests run in their package's folder.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("no go.mod above the working directory")
		}
		dir = up
	}
}

func readRecordings() ([]Recording, error) {
	root, err := Root()
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(root, "testdata", "recordings", "*.rec.gz"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, errors.New("no recordings in testdata/recordings")
	}
	sort.Strings(files)
	var out []Recording
	for _, f := range files {
		r := Recording{Name: strings.TrimSuffix(filepath.Base(f), ".rec.gz")}
		if r.Conns, err = readRecording(f); err != nil {
			return nil, fmt.Errorf("recording %s: %w", r.Name, err)
		}
		out = append(out, r)
	}
	return out, nil
}

func readRecording(file string) ([]Conn, error) {
	packed, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(z)
	if err != nil {
		return nil, err
	}
	return parseRecording(b)
}

func parseRecording(b []byte) ([]Conn, error) {
	rest, ok := bytes.CutPrefix(b, []byte(recordingMagic))
	if !ok {
		return nil, fmt.Errorf("does not begin with %q", recordingMagic)
	}
	by := map[uint32]*Conn{}
	for len(rest) > 0 {
		if len(rest) < 9 {
			return nil, fmt.Errorf("%d bytes after the last record", len(rest))
		}
		id, way, n := binary.BigEndian.Uint32(rest), rest[4], binary.BigEndian.Uint32(rest[5:])
		rest = rest[9:]
		if uint64(n) > uint64(len(rest)) {
			return nil, fmt.Errorf("record of connection %d says %d bytes, %d are left", id, n, len(rest))
		}
		c := by[id]
		if c == nil {
			c = &Conn{ID: int(id)}
			by[id] = c
		}
		switch way {
		case '>':
			c.Client = append(c.Client, rest[:n]...)
		case '<':
			c.Server = append(c.Server, rest[:n]...)
		default:
			return nil, fmt.Errorf("record of connection %d has direction %q, not '>' or '<'", id, way)
		}
		rest = rest[n:]
	}
	out := make([]Conn, 0, len(by))
	for _, c := range by {
		out = append(out, *c)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].ID < out[j].ID })
	return out, nil
}
