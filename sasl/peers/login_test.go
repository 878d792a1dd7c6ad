package peers

import (
	"context"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"

	"hmsgate/sasl"
	"hmsgate/sasl/identity"
	"hmsgate/sasl/krb"
	"hmsgate/sasl/krb/krbtest"
)

var etypes = []string{"aes256-cts-hmac-sha1-96", "aes128-cts-hmac-sha1-96", "aes256-cts-hmac-sha384-192", "aes128-cts-hmac-sha256-128"}

func ticket(l *krb.Login, host string) error {
	_, err := l.Ticket(context.Background(), "hive", host)
	return err
}

// Each enctype, both sides ours, with real tickets. The first KDC of the
// realm's list never answers.
func TestOwnBothSides(t *testing.T) {
	r := krbtest.NewMIT(t, "1h", service, "alice")
	e := newEcho(t, r, sasl.Auth|sasl.AuthInt|sasl.AuthConf)
	for _, etype := range append([]string{""}, etypes...) {
		as := r
		if etype != "" {
			as = r.Only(etype)
		}
		l := newLogin(t, as, "alice")
		for _, q := range qops {
			m := &krb.Initiator{Login: l, Service: "hive", Host: "localhost", QOP: []sasl.QOP{q}}
			got, err := call(t, e.addr, m, 3, 300000)
			if want := "GSSAPI alice@" + krbtest.MITRealm + " " + q.String(); err != nil || got[1] != want {
				t.Errorf("%s %v: got %q, %v\nserver: %v", etype, q, got, err, e.failures())
			}
		}
		if s := l.Status(); !s.LoggedIn || s.Logins != 1 || s.Failures != 0 || s.LastError != "" {
			t.Errorf("%s: got status %+v", etype, s)
		}
	}
}

func TestKDCRefusals(t *testing.T) {
	r := krbtest.NewMIT(t, "1h", service, "alice")
	l := newLogin(t, r, "alice")
	if err := ticket(l, "nowhere"); sasl.ReasonOf(err) != sasl.NoKey || !strings.Contains(err.Error(), "hive/nowhere") {
		t.Errorf("unknown service: got %v", err)
	}
	if err := ticket(l, "localhost"); err != nil {
		t.Errorf("an unknown service stands in the way of the next: %v", err)
	}
	kt, err := krb.OpenKeytab(r.KeytabPath("alice"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"bob@" + krbtest.MITRealm, "alice@ELSE.WHERE", "alice"} {
		l, err := krb.NewLogin(r.Conf, p, kt)
		if err == nil {
			err = ticket(l, "localhost")
		}
		if err == nil {
			t.Errorf("%s logs in with alice's keytab", p)
		}
	}
	r.Kadmin("cpw -randkey alice") // the keytab is old now
	if err := ticket(newLogin(t, r, "alice"), "localhost"); sasl.ReasonOf(err) != sasl.Credentials {
		t.Errorf("old key: got %v", err)
	}
}

// A KDC that is down at start, and later for longer than tickets live.
func TestKDCOutage(t *testing.T) {
	r := krbtest.NewMIT(t, "5s", service, "alice")
	e := newEcho(t, r, sasl.Auth)
	r.Stop()
	l := newLogin(t, r, "alice")
	if err := ticket(l, "localhost"); sasl.ReasonOf(err) != sasl.Unavailable {
		t.Fatalf("no KDC: got %v", err)
	}
	if s := l.Status(); s.LoggedIn || s.Failures == 0 || s.LastError == "" {
		t.Errorf("no KDC: status %+v", s)
	}
	r.Start()
	krbtest.WaitFor(t, "a ticket after a start without KDC", func() bool { return ticket(l, "localhost") == nil })

	r.Stop()
	if err := ticket(l, "localhost"); err != nil {
		t.Errorf("the ticket at hand is lost with the KDC: %v", err)
	}
	if _, err := call(t, e.addr, &krb.Initiator{Login: l, Service: "hive", Host: "localhost"}, 3); err != nil {
		t.Errorf("connecting with the ticket at hand: %v", err)
	}
	krbtest.WaitFor(t, "the tickets' end", func() bool { return ticket(l, "localhost") != nil && !l.Status().LoggedIn })
	if err := l.Renew(context.Background()); sasl.ReasonOf(err) != sasl.Unavailable {
		t.Errorf("renewing without KDC: got %v", err)
	}
	r.Start()
	krbtest.WaitFor(t, "a ticket after the outage", func() bool { return ticket(l, "localhost") == nil })
	if _, err := call(t, e.addr, &krb.Initiator{Login: l, Service: "hive", Host: "localhost"}, 3); err != nil {
		t.Errorf("connecting after the outage: %v", err)
	}
	logins := l.Status().Logins
	krbtest.WaitFor(t, "a login ahead of time", func() bool {
		return l.Renew(context.Background()) == nil && l.Status().Logins > logins
	})
}

// Keys replaced while we run: the service's, whose old tickets stay good, and
// our own login's.
func TestKeytabReplaced(t *testing.T) {
	r := krbtest.NewMIT(t, "5s", service, "alice")
	e := newEcho(t, r, sasl.Auth)
	old := newLogin(t, r, "alice")
	dial := func(l *krb.Login) error {
		_, err := call(t, e.addr, &krb.Initiator{Login: l, Service: "hive", Host: "localhost"}, 3)
		return err
	}
	if err := dial(old); err != nil {
		t.Fatal(err)
	}
	r.Kadmin("cpw -randkey " + service)
	r.Kadmin("cpw -randkey alice")
	if err := os.Remove(r.KeytabPath(service)); err != nil {
		t.Fatal(err)
	}
	r.Keytab(service)
	r.Keytab("alice")
	krbtest.WaitFor(t, "a new ticket, of the new keys", func() bool { return dial(newLogin(t, r, "alice")) == nil })
	if err := ticket(old, "localhost"); err == nil {
		if err := dial(old); err != nil {
			t.Errorf("a ticket of the old key: %v", err)
		}
	}
	logins := old.Status().Logins
	krbtest.WaitFor(t, "the old login's next, with the new keytab", func() bool {
		return dial(old) == nil && old.Status().Logins > logins
	})
}

// Many connections at once need one login and one ticket.
func TestConcurrentTickets(t *testing.T) {
	r := krbtest.NewMIT(t, "1h", service, "alice")
	l := newLogin(t, r, "alice")
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if err := ticket(l, "localhost"); err != nil {
				t.Error(err)
			}
			_ = l.Status()
		})
	}
	wg.Go(func() { _ = l.Renew(context.Background()) })
	wg.Wait()
	if n := strings.Count(r.Read("kdc.log"), "TGS_REQ"); n != 1 {
		t.Errorf("the KDC was asked for a service ticket %d times, want 1", n)
	}
}

// A client of one realm at a service of another, which has a key with ours:
// the ticket comes by way of both KDCs, and names the client's own realm.
func TestCrossRealm(t *testing.T) {
	const far = "FAR.TEST"
	r := krbtest.NewMIT(t, "1h", "alice")
	other := krbtest.NewMITRealm(t, far, "1h", "hive/far.example")
	for _, x := range []*krbtest.MIT{r, other} {
		x.Kadmin("addprinc -pw of-both krbtgt/" + far + "@" + krbtest.MITRealm)
	}
	conf := strings.Replace(r.Read("krb5.conf"), "[realms]", "[realms]\n "+far+" = {\n  kdc = "+other.Addr+"\n }", 1)
	r.File("krb5.conf", conf+" .example = "+far+"\n")
	kt, err := krb.OpenKeytab(other.KeytabPath("hive/far.example"))
	if err != nil {
		t.Fatal(err)
	}
	login := newLogin(t, r, "alice")
	for _, c := range []struct {
		name, rules string
		realms      []string
		want        sasl.Reason
	}{
		{"mapped", "RULE:[1:$1@$0](.*@GATE\\.TEST)s/@.*/_far/", nil, ""},
		{"mapped and trusted", "RULE:[1:$1@$0](.*@GATE\\.TEST)s/@.*/_far/", []string{krbtest.MITRealm}, ""},
		{"mapped, not trusted", "RULE:[1:$1]", []string{"THIRD.TEST"}, sasl.Realm},
		{"by DEFAULT", "DEFAULT", nil, sasl.Name},
	} {
		names, err := identity.NewMapping(c.rules, far, "")
		if err != nil {
			t.Fatal(err)
		}
		a, err := krb.NewAcceptor(krb.AcceptorConfig{Keytab: kt, Principals: []string{"hive/far.example@" + far}, ShortName: names.Short, ClientRealms: c.realms})
		if err != nil {
			t.Fatal(err)
		}
		_, token, _, err := (&krb.Initiator{Login: login, Service: "hive", Host: "far.example"}).Begin()
		if err != nil {
			t.Fatal(err)
		}
		x := a.Begin(netip.Addr{})
		_, _, err = x.Step(token)
		if c.want != "" {
			if err == nil || sasl.ReasonOf(err) != c.want {
				t.Errorf("%s: got %v, want reason %s", c.name, err, c.want)
			}
		} else if id := x.Outcome().Identity; err != nil || id.Principal != "alice@"+krbtest.MITRealm || id.User != "alice_far" {
			t.Errorf("%s: got %+v, %v", c.name, id, err)
		}
	}
}
