package gateway

import (
	"net"
	"testing"

	"hmsgate/internal/wiretest"
	"hmsgate/sasl"
	"hmsgate/sasl/krb"
)

var emptyReply = wiretest.Reply("get_table", 1, wiretest.Struct(nil).Stop())

// L76: clients ask for the load balancer's name, or for the machine's.
func TestL76TwoServiceNames(t *testing.T) {
	k := newRealm(t, "alice", "hive/localhost", "hive/metastore.example")
	g, _ := startGateway(t, answering(t, nil).Addr(), "security.mode: KERBEROS",
		"security.server-principal: ["+serviceName+", hive/metastore.example@"+realmName+"]",
		"security.server-keytab: "+k.keytab("hive/localhost", "hive/metastore.example"))
	for _, host := range []string{"localhost", "metastore.example"} {
		mustLogin(t, g, &krb.Initiator{Login: k.login("alice"), Service: "hive", Host: host}).wants(tableCall("get_table", 1), emptyReply)
	}
}

// L77: a KDC that is down when the gateway starts is nobody's hurry: tickets
// that clients have are good, and those they get later.
func TestL77NoKDCAtStart(t *testing.T) {
	k := newRealm(t, "alice", "hive/localhost")
	l := k.login("alice")
	if _, err := l.Ticket(t.Context(), "hive", "localhost"); err != nil {
		t.Fatal(err)
	}
	k.Stop()
	g, _ := startGateway(t, answering(t, nil).Addr(), kerberos(k)...)
	mustLogin(t, g, initiator(l, sasl.AuthInt)).wants(tableCall("get_table", 1), emptyReply)
	k.Start()
	mustLogin(t, g, initiator(k.login("alice"), sasl.AuthConf)).wants(tableCall("get_table", 1), emptyReply)
}

// L61 behind a door: clients that leave by a reset, in every state of a login
// and of a call.
func TestL61SecureResets(t *testing.T) {
	k := newRealm(t, "alice", "hive/localhost")
	g, _ := startGateway(t, answering(t, nil).Addr(), kerberos(k)...)
	l := k.login("alice")
	start := sasl.AppendMessage(nil, sasl.Start, []byte("GSSAPI"))
	reset := func(c net.Conn) {
		c.(*net.TCPConn).SetLinger(0)
		c.Close()
	}
	for i := range 120 {
		if i%3 == 0 {
			c := dialGateway(t, g)
			c.Write(start[:i/3%len(start)])
			reset(c)
			continue
		}
		c := mustLogin(t, g, initiator(l, allProtections[i%len(allProtections)]))
		if i%3 == 1 {
			c.wants(tableCall("get_table", 1), emptyReply)
		} else if token := []byte(nil); c.session.Layer != nil {
			token = oneToken(t, c.session.Layer, make([]byte, 100000))
			c.Write(token[:i*len(token)/120])
		}
		reset(c.Conn)
	}
	wiretest.Until(t, "all sessions to end", func() bool { return g.clients.Load() == 0 && g.inFlight.Load() == 0 })
	if n := g.budget.Used(); n != 0 {
		t.Errorf("%d bytes are still held", n)
	}
	d := g.security.doorman
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.inside != 0 {
		t.Errorf("%d clients are still at the door", d.inside)
	}
}
