package passwd

import (
	"bytes"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/bcrypt"

	"hmsgate/sasl"
)

const (
	lookEvery = 5 * time.Second
	fileMax   = 16 << 20
	costMost  = 14 // about a second
	bytesMost = 72 // bcrypt reads no more of a password
)

// File is a file of users that may be replaced while we run.
type File struct {
	path  string
	now   func() time.Time
	slots chan struct{}

	mu     sync.Mutex // guards the rest
	users  map[string][]byte
	nobody []byte // as costly as the costliest hash
	looked time.Time
	size   int64
	time   time.Time
}

// Open reads the file.
func Open(path string) (*File, error) {
	f := &File{path: path, now: time.Now, slots: make(chan struct{}, 2*runtime.GOMAXPROCS(0))}
	return f, f.read()
}

// read is called with mu held, or before there is anybody to hold it from.
func (f *File) read() error {
	f.looked = f.now()
	st, err := os.Stat(f.path)
	if err != nil {
		return err
	}
	if st.Size() > fileMax {
		return fmt.Errorf("%s: %d bytes, at most %d", f.path, st.Size(), fileMax)
	}
	b, err := os.ReadFile(f.path)
	if err != nil {
		return err
	}
	users, cost, err := parse(b)
	if err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	nobody, err := bcrypt.GenerateFromPassword([]byte("nobody's"), cost)
	if err != nil {
		return err
	}
	f.users, f.nobody, f.size, f.time = users, nobody, st.Size(), st.ModTime()
	return nil
}

// parse reads lines; its errors do not repeat them.
func parse(b []byte) (users map[string][]byte, cost int, err error) {
	users, cost = map[string][]byte{}, bcrypt.MinCost
	for i, line := range bytes.Split(b, []byte("\n")) {
		s := strings.TrimSpace(string(line))
		if s == "" || s[0] == '#' {
			continue
		}
		name, hash, ok := strings.Cut(s, ":")
		n, bad := bcrypt.Cost([]byte(hash))
		switch {
		case !ok || name == "":
			return nil, 0, fmt.Errorf("line %d: want name:hash", i+1)
		case bad != nil:
			return nil, 0, fmt.Errorf("line %d: not a bcrypt hash (htpasswd -B makes them)", i+1)
		case n > costMost:
			return nil, 0, fmt.Errorf("line %d: cost %d, at most %d", i+1, n, costMost)
		case users[name] != nil:
			return nil, 0, fmt.Errorf("line %d: the name %q is there twice", i+1, name)
		}
		users[name], cost = []byte(hash), max(cost, n)
	}
	return users, cost, nil
}

// Check is a sasl.Checker.
func (f *File) Check(user, password string, _ netip.Addr) (sasl.Identity, error) {
	hash, known := f.hash(user)
	f.slots <- struct{}{}
	err := bcrypt.CompareHashAndPassword(hash, []byte(password[:min(len(password), bytesMost)]))
	<-f.slots
	switch {
	case !known:
		return sasl.Identity{}, sasl.Errorf(sasl.Credentials, "unknown user %q", user)
	case err != nil || len(password) > bytesMost:
		return sasl.Identity{}, &sasl.Error{Reason: sasl.Credentials, Principal: user, Err: fmt.Errorf("wrong password")}
	}
	return sasl.Identity{Principal: user, User: user}, nil
}

func (f *File) hash(user string) (hash []byte, known bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := f.now(); now.Sub(f.looked) >= lookEvery {
		f.looked = now
		if st, err := os.Stat(f.path); err == nil && (st.Size() != f.size || !st.ModTime().Equal(f.time)) {
			_ = f.read() // what we have stays
		}
	}
	if hash, known = f.users[user]; !known {
		hash = f.nobody
	}
	return hash, known
}
