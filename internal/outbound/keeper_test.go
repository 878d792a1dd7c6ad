package outbound_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"hmsgate/internal/hms"
	"hmsgate/internal/memhms"
	"hmsgate/internal/wiretest"
	"hmsgate/profiles"
	"hmsgate/sasl"
)

// lent is a connection of a metastore's that somebody else serves.
type lent struct {
	*tokens
	over  chan struct{}
	close sync.Once
}

func (l *lent) Close() error {
	l.close.Do(func() { close(l.over) })
	return l.tokens.Conn.Close()
}

// lender hands negotiated connections to a server.
type lender struct {
	net.Listener
	conns chan net.Conn
	done  chan struct{}
	close sync.Once
}

func (l *lender) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *lender) Close() error { l.close.Do(func() { close(l.done) }); return nil }

// The keeper of locks dials like everybody: a mirror stands at a metastore with
// Kerberos, taken by the gateway for a transaction of the other catalog's.
func TestKeeperOfLocks(t *testing.T) {
	kdc, own, theirs := newRealm(t)
	inv, err := profiles.Load("apache-3.1.3")
	if err != nil {
		t.Fatal(err)
	}
	store := memhms.New(memhms.Config{Inventory: inv})
	door := &lender{conns: make(chan net.Conn), done: make(chan struct{})}
	m := newMetastore(t, secured(theirs, sasl.AuthConf), func(m *metastore) {
		m.loop = func(c *tokens) {
			l := &lent{tokens: c, over: make(chan struct{})}
			select {
			case door.conns <- l:
				<-l.over
			case <-door.done:
			}
		}
	})
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	other := memhms.New(memhms.Config{Inventory: inv})
	go store.Serve(door)
	go other.Serve(plain)
	t.Cleanup(func() { store.Close(); other.Close() })
	s := newSite(t, m, sasled+"privacy", fmt.Sprintf(
		"  hdp2: {uris: 'thrift://%s', runtime-profile: apache-3.1.3}\nrouting.default-catalog: hdp2\ngateway.instances: 1\n%s",
		plain.Addr(), kerberos(kdc, own)))
	ctx, cancel := context.WithTimeout(context.Background(), wiretest.Patience)
	defer cancel()
	c, err := hms.Dial(ctx, s.gw.Addr().String(), inv, hms.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	must := func(method string, args hms.Struct) hms.Struct {
		t.Helper()
		v, err := c.Call(ctx, method, args)
		if err != nil {
			t.Fatalf("%s: %v\n%s", method, err, s.log)
		}
		out, _ := v.(hms.Struct)
		return out
	}
	txn := must("open_txns", hms.Struct{"rqst": hms.Struct{"num_txns": 1, "user": "u", "hostname": "h"}})["txn_ids"].([]any)[0]
	must("lock", hms.Struct{"rqst": hms.Struct{"txnid": txn, "user": "u", "hostname": "h", "agentInfo": "a", "component": []any{
		hms.Struct{"type": 2, "level": 2, "dbname": "hdp__sales", "tablename": "t", "operationType": 1, "isTransactional": false}}}})
	direct := hms.NewClient(pipeTo(t, store), inv, hms.Options{})
	defer direct.Close()
	v, err := direct.Call(ctx, "show_locks", hms.Struct{"rqst": hms.Struct{}})
	if err != nil {
		t.Fatal(err)
	}
	locks := v.(hms.Struct).Structs("locks")
	if len(locks) != 1 || !strings.HasPrefix(locks[0].Str("agentInfo"), "hmsgate/") || locks[0].Str("dbname") != "sales" {
		t.Errorf("the metastore with Kerberos holds %v, want the mirror", locks)
	}
	must("commit_txn", hms.Struct{"rqst": hms.Struct{"txnid": txn}})
}

// pipeTo is a connection around the door.
func pipeTo(t *testing.T, store *memhms.Server) net.Conn {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go store.Serve(ln)
	c, err := net.DialTimeout("tcp", ln.Addr().String(), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
