package krbtest

import (
	"context"
	"testing"

	"hmsgate/sasl"
	"hmsgate/sasl/krb"
)

// Who logs in with Kerberos finds the KDC no different from a real one.
func TestLogin(t *testing.T) {
	k := New(t, "TEST.LOCAL")
	kt, err := krb.OpenKeytab(k.Rekey("gw/localhost"))
	if err != nil {
		t.Fatal(err)
	}
	k.Rekey("hive/localhost")
	l, err := krb.NewLogin(k.Conf(), "gw/localhost@TEST.LOCAL", kt)
	if err != nil {
		t.Fatal(err)
	}
	ticket, err := l.Ticket(context.Background(), "hive", "localhost")
	if err != nil || ticket.Service != "hive/localhost@TEST.LOCAL" {
		t.Fatalf("got %+v, %v", ticket, err)
	}
	if _, err := l.Ticket(context.Background(), "hive", "elsewhere"); sasl.ReasonOf(err) != sasl.NoKey {
		t.Errorf("an unknown service: got %v", err)
	}
	if k.Asked("krbtgt/TEST.LOCAL") != 1 || k.Asked("hive/localhost") != 1 {
		t.Errorf("asked %v", k.asked)
	}
	k.Stop()
	if _, err := l.Ticket(context.Background(), "hive", "third"); sasl.ReasonOf(err) != sasl.Unavailable {
		t.Errorf("no KDC: got %v", err)
	}
	k.Start()
}
