package krbtest_test

import (
	"net/netip"
	"testing"

	"hmsgate/sasl"
	"hmsgate/sasl/krb"
	"hmsgate/sasl/krb/krbtest"
)

func TestTicket(t *testing.T) {
	k := krbtest.New(t, "alice", "hive/localhost")
	kt, err := krb.OpenKeytab(k.Keytab("hive/localhost"))
	if err != nil {
		t.Fatal(err)
	}
	a, err := krb.NewAcceptor(krb.AcceptorConfig{Keytab: kt, Principals: []string{"hive/localhost@" + krbtest.Realm},
		ShortName: func(p string) (string, error) { return "short of " + p, nil }})
	if err != nil {
		t.Fatal(err)
	}
	_, token, _, err := (&krb.Initiator{Login: k.Login("alice"), Service: "hive", Host: "localhost"}).Begin()
	if err != nil {
		t.Fatal(err)
	}
	x := a.Begin(netip.Addr{})
	if _, _, err := x.Step(token); err != nil {
		t.Fatal(err)
	}
	if id := x.Outcome().Identity; id.User != "short of alice@GO.TEST" {
		t.Errorf("got %+v", id)
	}
	for _, i := range []*krb.Initiator{{Login: k.Login("alice"), Service: "hive", Host: "elsewhere"},
		{Login: k.Login("bob"), Service: "hive", Host: "localhost"}} {
		if _, _, _, err := i.Begin(); err == nil || sasl.ReasonOf(err) == sasl.Unavailable {
			t.Errorf("%s: got %v, want a refusal", i.Host, err)
		}
	}
}
