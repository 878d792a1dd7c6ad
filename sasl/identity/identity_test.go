package identity

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"
)

func TestShort(t *testing.T) {
	const own = "CORP.EXAMPLE"
	for _, c := range []struct {
		rules, name, want string // want "": an error
	}{
		{"", "alice@CORP.EXAMPLE", "alice"},
		{"DEFAULT", "hive/any.host@CORP.EXAMPLE", "hive"},
		{"DEFAULT", "alice@OTHER.EXAMPLE", ""},
		{"DEFAULT", "alice", "alice"},
		{"RULE:[1:x-$1]", "alice", "alice"}, // short already
		{"DEFAULT", "hive/host", ""},
		{"DEFAULT", "a@b@CORP.EXAMPLE", ""},
		{"DEFAULT", "a/b/c@CORP.EXAMPLE", ""},
		{"DEFAULT", "@CORP.EXAMPLE", ""},
		{"DEFAULT", "alice@", ""},
		{"DEFAULT", "/host@CORP.EXAMPLE", ""},
		{"DEFAULT", "hive/@CORP.EXAMPLE", ""},
		{"DEFAULT", "", ""},
		// The count of components selects.
		{"RULE:[1:one-$1]RULE:[2:two-$1-$2]", "a@R", "one-a"},
		{"RULE:[1:one-$1]RULE:[2:two-$1-$2]", "a/b@R", "two-a-b"},
		// $0 is the realm; a match is one of the whole text.
		{"RULE:[1:$1@$0](.*@OTHER\\.EXAMPLE)s/@.*//", "bob@OTHER.EXAMPLE", "bob"},
		{"RULE:[1:$1@$0](.*@OTHER)s/@.*//", "bob@OTHER.EXAMPLE", ""},
		{"RULE:[1:$1@$0](bob)s/x/y/", "bobby@R", ""},
		{"RULE:[2:$1](hdfs)s/.*/hadoop/", "hdfs/nn@R", "hadoop"},
		{"RULE:[2:$1](hdfs|nn)s/^.*$/hadoop/", "nn/h@R", "hadoop"},
		// First match only, or all.
		{"RULE:[1:$1]s/a/b/", "banana@R", "bbnana"},
		{"RULE:[1:$1]s/a/b/g", "banana@R", "bbnbnb"},
		{"RULE:[1:$1]s/a//g", "banana@R", "bnn"},
		// Lower case at the end.
		{"RULE:[1:$1]/L", "Alice@R", "alice"},
		{"RULE:[1:$1]s/C/X/g/L", "ACCC@R", "axxx"},
		{"RULE:[1:$1@$0](.*@R)s/@.*///L", "BOB@R", "bob"},
		// Groups and escapes in a replacement are Java's.
		{`RULE:[1:$1]s/(.)(.)/$2$1/`, "ab@R", "ba"},
		{`RULE:[1:$1]s/(.)b/$1x/`, "ab@R", "ax"},
		{`RULE:[1:$1]s/(a)(b)?/<$1$2>/`, "ac@R", "<a>c"},
		{`RULE:[1:$1]s/(a)/$10/`, "a@R", "a0"},
		{`RULE:[1:$1]s/a/\$/`, "a@R", "$"},
		{`RULE:[1:$1]s/(?P<x>a)/${x}y/`, "a@R", "ay"},
		// The first rule that fits decides, even when its result is no name.
		{"RULE:[2:$1/$2]DEFAULT", "hive/h@CORP.EXAMPLE", ""},
		{"RULE:[1:$1@$0]", "a@R", ""},
		{"RULE:[1:$1](x)DEFAULT", "alice@CORP.EXAMPLE", "alice"},
		{"RULE:[1:$1]s/.*//", "alice@R", ""},
		{" RULE:[1:$1](a)s/a/one/ \n RULE:[1:$1](b)s/b/two/\n\nDEFAULT ", "b@R", "two"},
	} {
		t.Run(c.rules+" "+c.name, func(t *testing.T) {
			m, err := NewMapping(c.rules, own, "")
			if err != nil {
				t.Fatal(err)
			}
			got, err := m.Short(c.name)
			if got != c.want || (err != nil) != (c.want == "") {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
		})
	}
}

func TestMITMechanism(t *testing.T) {
	m, err := NewMapping("RULE:[2:$1/$2](hive/h)RULE:[1:$1](alice)", "R", "mit")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"hive/h@X": "hive/h", "alice@X": "alice", "bob@X": "bob@X"} {
		if got, err := m.Short(name); got != want || err != nil {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, want)
		}
	}
}

func TestBadRules(t *testing.T) {
	for _, c := range []struct{ rules, realm, mechanism string }{
		{"NONSENSE", "R", ""}, {"RULE:[1:$1](a", "R", ""}, {"RULE:[:$1]", "R", ""}, {"RULE:[3:$1]", "R", ""}, {"RULE:[0:x]", "R", ""},
		{"RULE:[1:$2]", "R", ""}, {"RULE:[1:$]", "R", ""}, {"RULE:[1:$1](*)", "R", ""}, {"RULE:[1:$1]((?=a)b)", "R", ""},
		{`RULE:[1:$1]s/(a)\1/b/`, "R", ""}, {"RULE:[1:$1]s/a/$1/", "R", ""}, {"RULE:[1:$1]s/a/$x/", "R", ""}, {`RULE:[1:$1]s/a/\/`, "R", ""},
		{"RULE:[1:$1]s/a/${none}/", "R", ""}, {"DEFAULT", "", ""}, {"DEFAULT", "R", "heimdal"}, {"DEFAULT garbage", "R", ""},
	} {
		if _, err := NewMapping(c.rules, c.realm, c.mechanism); err == nil {
			t.Errorf("%q, realm %q, mechanism %q: accepted", c.rules, c.realm, c.mechanism)
		}
	}
}

func FuzzShort(f *testing.F) {
	f.Add("RULE:[2:$1@$0](.*@R)s/@.*//g/L DEFAULT", "hive/h@R")
	f.Fuzz(func(t *testing.T, rules, name string) {
		m, err := NewMapping(rules, "R", "")
		if err != nil {
			return
		}
		got, err := m.Short(name)
		if err == nil && (got == "" || strings.ContainsAny(got, "/@")) {
			t.Fatalf("%q maps %q to %q", rules, name, got)
		}
	})
}

// names is a Resolver without a network.
type names map[string][]string

func (n names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	list, ok := n[host]
	if !ok {
		return nil, errors.New("no such host")
	}
	var out []netip.Addr
	for _, s := range list {
		out = append(out, netip.MustParseAddr(s))
	}
	return out, nil
}

func TestProxies(t *testing.T) {
	groups := StaticGroups{"bob": {"staff", "etl"}, "carol": {"guests"}}
	hosts := names{"hs2.example": {"10.0.0.5", "2001:db8::5"}}
	for _, c := range []struct {
		name, settings, caller, owner, peer, want string
	}{
		{"stars", "users=*;hosts=*", "hue", "bob", "192.0.2.1", ""},
		{"groups star", "groups=*;hosts=*", "hue", "bob", "192.0.2.1", ""},
		{"listed user", "users=alice,bob;hosts=*", "hue", "bob", "192.0.2.1", ""},
		{"user not listed", "users=alice;hosts=*", "hue", "bob", "192.0.2.1", "User: hue/h@R is not allowed to impersonate bob"},
		{"listed group", "groups=etl;hosts=*", "hue", "bob", "192.0.2.1", ""},
		{"group not listed", "groups=etl;hosts=*", "hue", "carol", "192.0.2.1", "User: hue/h@R is not allowed to impersonate carol"},
		{"user of no group", "groups=etl;hosts=*", "hue", "dave", "192.0.2.1", "User: hue/h@R is not allowed to impersonate dave"},
		{"the caller's groups do not count", "groups=etl;hosts=*", "hue", "hue", "192.0.2.1", "User: hue/h@R is not allowed to impersonate hue"},
		{"no users and groups", "hosts=*", "hue", "bob", "192.0.2.1", "User: hue/h@R is not allowed to impersonate bob"},
		{"no hosts", "users=*", "hue", "bob", "192.0.2.1", "Unauthorized connection for super-user: hue/h@R from IP 192.0.2.1"},
		{"empty hosts", "users=*;hosts=", "hue", "bob", "192.0.2.1", "Unauthorized connection for super-user: hue/h@R from IP 192.0.2.1"},
		{"no rules for the caller", "users=*;hosts=*", "alice", "bob", "192.0.2.1", "User: alice/h@R is not allowed to impersonate bob"},
		{"address", "users=*;hosts=10.0.0.1,192.0.2.1", "hue", "bob", "192.0.2.1", ""},
		{"mapped address", "users=*;hosts=192.0.2.1", "hue", "bob", "::ffff:192.0.2.1", ""},
		{"another address", "users=*;hosts=192.0.2.10", "hue", "bob", "192.0.2.1", "Unauthorized connection for super-user: hue/h@R from IP 192.0.2.1"},
		{"network", "users=*;hosts=192.0.0.0/16", "hue", "bob", "192.0.2.1", ""},
		{"another network", "users=*;hosts=192.1.0.0/16", "hue", "bob", "192.0.2.1", "Unauthorized connection for super-user: hue/h@R from IP 192.0.2.1"},
		{"host name", "users=*;hosts=hs2.example", "hue", "bob", "10.0.0.5", ""},
		{"host name in capitals", "users=*;hosts=HS2.example.", "hue", "bob", "2001:db8::5", ""},
		{"host name of others", "users=*;hosts=hs2.example,gone.example", "hue", "bob", "10.0.0.6", "Unauthorized connection for super-user: hue/h@R from IP 10.0.0.6"},
	} {
		t.Run(c.name, func(t *testing.T) {
			settings := map[string]string{"hadoop.security.authentication": "kerberos"}
			for _, s := range strings.Split(c.settings, ";") {
				k, v, _ := strings.Cut(s, "=")
				settings["hadoop.proxyuser.hue."+k] = v
			}
			p, err := NewProxies(settings, groups, hosts)
			if err != nil {
				t.Fatal(err)
			}
			err = p.Authorize(context.Background(), c.caller+"/h@R", c.caller, c.owner, netip.MustParseAddr(c.peer))
			var d *Denied
			if c.want == "" && err != nil || c.want != "" && (!errors.As(err, &d) || d.Text != c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	p, _ := NewProxies(map[string]string{"hadoop.proxyuser.hue.users": "*", "hadoop.proxyuser.hue.hosts": "10.0.0.0/8"}, nil, hosts)
	if err := p.Authorize(context.Background(), "hue@R", "hue", "bob", netip.Addr{}); err == nil {
		t.Error("a peer without an address is let in")
	}
}

func TestBadProxySettings(t *testing.T) {
	for k, v := range map[string]string{
		"hadoop.proxyuser.hue": "*", "hadoop.proxyuser.a.b.users": "*", "hadoop.proxyuser.hue.host": "*", "hadoop.proxyuser..users": "*",
		"hadoop.proxyuser.hue.hosts": "*,10.0.0.1", "hadoop.proxyuser.hive.hosts": "10.0.0.0/33",
	} {
		if _, err := NewProxies(map[string]string{k: v}, nil, nil); err == nil {
			t.Errorf("%s=%s: accepted", k, v)
		}
	}
}

// counting says how often it was asked.
type counting struct {
	list  []string
	err   error
	asked int
}

func (c *counting) Of(string) ([]string, error) { c.asked++; return c.list, c.err }

func TestCachedGroups(t *testing.T) {
	now := time.Unix(1700000000, 0)
	src := &counting{list: []string{"a"}}
	c := NewCachedGroups(src, time.Minute)
	c.now = func() time.Time { return now }
	ask := func() {
		if _, err := c.Of("u"); err != nil && src.err == nil {
			t.Fatal(err)
		}
	}
	ask()
	ask()
	if src.asked != 1 {
		t.Errorf("asked %d times, want 1", src.asked)
	}
	now = now.Add(time.Minute)
	src.list = nil
	ask()
	now = now.Add(29 * time.Second)
	ask()
	if src.asked != 2 {
		t.Errorf("no group: asked %d times, want 2", src.asked)
	}
	now, src.err = now.Add(time.Second), errors.New("down")
	ask()
	ask()
	if src.asked != 4 {
		t.Errorf("a failure is remembered: asked %d times, want 4", src.asked)
	}
}

func TestStaticGroups(t *testing.T) {
	g, err := ParseStaticGroups("a=x,y; b=;c=z")
	if err != nil || len(g) != 3 || strings.Join(g["a"], "+") != "x+y" || len(g["b"]) != 0 {
		t.Errorf("got %v, %v", g, err)
	}
	for _, s := range []string{"a", "=x", "a=x;a=y"} {
		if g, err := ParseStaticGroups(s); err == nil {
			t.Errorf("%q: got %v", s, g)
		}
	}
	if list, err := (SystemGroups{}).Of("no-such-user-here"); err != nil || list != nil {
		t.Errorf("an unknown user: got %v, %v", list, err)
	}
	if list, err := (SystemGroups{}).Of("root"); err != nil || len(list) == 0 {
		t.Errorf("root: got %v, %v", list, err)
	}
}
