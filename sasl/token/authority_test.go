package token

import (
	"context"
	"encoding/base64"
	"errors"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"hmsgate/sasl"
)

var (
	ctx   = context.Background()
	peer  = netip.MustParseAddr("192.0.2.1")
	alice = sasl.Identity{Principal: "alice@R", User: "alice", Mechanism: "GSSAPI"}
	bob   = sasl.Identity{Principal: "bob@R", User: "bob", Mechanism: "GSSAPI"}
	hue   = sasl.Identity{Principal: "hue/h@R", User: "hue", Mechanism: "GSSAPI"}
	root  = sasl.Identity{Principal: "root@R", User: "root", Mechanism: "GSSAPI"}
)

// clock is moved by hand.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.now }
func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func short(p string) (string, error) {
	name, realm, _ := strings.Cut(p, "@")
	if realm != "R" {
		return "", errors.New("no rule fits")
	}
	name, _, _ = strings.Cut(name, "/")
	return name, nil
}

func newAuthority(t *testing.T, store Store, change func(*Config)) (*Authority, *clock) {
	c := &clock{now: time.Unix(1700000000, 0)}
	cfg := Config{Store: store, ShortName: short, Now: c.Now, Admins: []string{"root"},
		MayActFor: func(_ context.Context, principal, user, owner string, _ netip.Addr) error {
			if user == "hue" {
				return nil
			}
			return refuse("User: %s is not allowed to impersonate %s", principal, owner)
		}}
	if change != nil {
		change(&cfg)
	}
	a, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Start(ctx); err != nil {
		t.Fatal(err)
	}
	return a, c
}

func issue(t *testing.T, a *Authority, caller sasl.Identity, owner, renewer string) string {
	t.Helper()
	s, err := a.Issue(ctx, caller, peer, owner, renewer)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// userOf and secretOf are what a client sends for a token.
func userOf(t *testing.T, text string) string {
	tok, err := Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(tok.Identifier)
}

func secretOf(text string) string {
	tok, _ := Decode(text)
	return base64.StdEncoding.EncodeToString(tok.Password)
}

// login does what a DIGEST-MD5 server does with a right response.
func login(t *testing.T, a *Authority, text string) (sasl.Identity, error) {
	user := userOf(t, text)
	p, err := a.Password(user)
	if err != nil {
		return sasl.Identity{}, err
	}
	if p != secretOf(text) {
		return sasl.Identity{}, sasl.Errorf(sasl.Credentials, "wrong password")
	}
	return a.Admit(user, peer)
}

func TestIssueAndLogin(t *testing.T) {
	a, c := newAuthority(t, NewMemory(), nil)
	for _, x := range []struct {
		caller         sasl.Identity
		owner, renewer string
		user, real     string
		wantRenewer    string
	}{
		{alice, "alice", "hive/_HOST@R", "alice", "alice@R", "hive"},
		{alice, "alice@R", "", "alice", "alice@R", ""},
		{alice, "", "yarn", "alice", "alice@R", "yarn"},
		{hue, "bob", "hue", "bob", "hue/h@R", "hue"},
	} {
		text := issue(t, a, x.caller, x.owner, x.renewer)
		id, err := login(t, a, text)
		if err != nil || id.User != x.user || id.RealUser != x.real || !id.Expires.Equal(c.Now().Add(7*24*time.Hour)) {
			t.Errorf("%+v: got %+v, %v", x, id, err)
		}
		tok, _ := Decode(text)
		if d, _ := ParseIdentifier(tok.Identifier); d.Renewer != x.wantRenewer || tok.Kind != Kind || tok.Service != "" || len(tok.Password) != 20 {
			t.Errorf("%+v: got %+v", x, d)
		}
		if id.Token == "" || strings.Contains(id.Token, secretOf(text)) {
			t.Errorf("token's name: %q", id.Token)
		}
	}
}

func TestIssueRefusals(t *testing.T) {
	a, _ := newAuthority(t, NewMemory(), func(c *Config) { c.PerOwner, c.Total = 3, 5 })
	byToken, err := login(t, a, issue(t, a, alice, "alice", "alice"))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		name           string
		caller         sasl.Identity
		owner, renewer string
		want           string
	}{
		{"for somebody else", alice, "bob", "", "User: alice@R is not allowed to impersonate bob"},
		{"for an unmapped owner", hue, "bob@ELSEWHERE", "", "cannot be mapped"},
		{"unmapped renewer", alice, "alice", "x@ELSEWHERE", "No rules applied"},
		{"by a token connection", byToken, "alice", "", "only with kerberos"},
		{"by nobody", sasl.Identity{}, "alice", "", "only with kerberos"},
		{"owner of 2000 bytes", hue, strings.Repeat("o", 2000), "", "longer than"},
	} {
		_, err := a.Issue(ctx, x.caller, peer, x.owner, x.renewer)
		var r *Refused
		if !errors.As(err, &r) || !strings.Contains(r.Text, x.want) {
			t.Errorf("%s: got %v", x.name, err)
		}
	}
	var last string
	for range 2 {
		last = issue(t, a, alice, "alice/spelled.otherwise@R", "")
	}
	if _, err := a.Issue(ctx, alice, peer, "alice", ""); err == nil || !strings.Contains(err.Error(), "too many") {
		t.Errorf("a fourth token of one owner: got %v", err)
	}
	if err := a.Cancel(ctx, alice, last); err != nil {
		t.Fatal(err)
	}
	issue(t, a, alice, "alice", "")
	for _, who := range []string{"bob", "carol"} {
		issue(t, a, hue, who, "")
	}
	if _, err := a.Issue(ctx, hue, peer, "dave", ""); err == nil {
		t.Error("a sixth token of all")
	}
}

func TestLoginRefusals(t *testing.T) {
	a, c := newAuthority(t, NewMemory(), nil)
	text := issue(t, a, alice, "alice", "alice")
	other, _ := newAuthority(t, NewMemory(), nil)
	if _, err := login(t, other, text); err == nil {
		t.Error("another store's token logs in")
	}
	tok, _ := Decode(text)
	d, _ := ParseIdentifier(tok.Identifier)
	d.Owner = "root"
	forged := base64.StdEncoding.EncodeToString(d.Append(nil))
	if p, err := a.Password(forged); err != nil || p == secretOf(text) {
		t.Errorf("another owner, the same password: %v", err)
	}
	if _, err := a.Admit(forged, peer); err == nil {
		t.Error("a token that was never issued is admitted")
	}
	d.Key = 77
	if _, err := a.Password(base64.StdEncoding.EncodeToString(d.Append(nil))); sasl.ReasonOf(err) != sasl.Credentials {
		t.Errorf("unknown key id: got %v", err)
	}
	for _, user := range []string{"", "alice", "!!!!", base64.StdEncoding.EncodeToString(append(tok.Identifier, 0)),
		base64.RawStdEncoding.EncodeToString(tok.Identifier) + "\n", strings.Repeat("A", 5000)} {
		if _, err := a.Password(user); err == nil {
			t.Errorf("user %q: accepted", user[:min(len(user), 20)])
		}
	}
	if err := a.Cancel(ctx, alice, text); err != nil {
		t.Fatal(err)
	}
	if _, err := login(t, a, text); sasl.ReasonOf(err) != sasl.Expired {
		t.Errorf("cancelled: got %v", err)
	}
	text = issue(t, a, alice, "alice", "alice")
	c.move(7*24*time.Hour + time.Second)
	if _, err := login(t, a, text); sasl.ReasonOf(err) != sasl.Expired {
		t.Errorf("run out: got %v", err)
	}
}

func TestRenew(t *testing.T) {
	const day = 24 * time.Hour
	for _, auto := range []bool{true, false} {
		a, c := newAuthority(t, NewMemory(), func(c *Config) { c.NoAutoRenew = !auto })
		text := issue(t, a, alice, "alice", "bob")
		c.move(day + time.Second)
		if _, err := login(t, a, text); (err == nil) != auto {
			t.Errorf("auto renewal %v, past the renew date: got %v", auto, err)
		}
		end, err := a.Renew(ctx, bob, text)
		if want := c.Now().Add(day).UnixMilli(); err != nil || end != want {
			t.Errorf("got %d, %v, want %d", end, err, want)
		}
		if _, err := login(t, a, text); err != nil {
			t.Errorf("renewed: %v", err)
		}
		c.move(5*day + 12*time.Hour)
		end, err = a.Renew(ctx, bob, text)
		if d, _ := Decode(text); err != nil || end != mustParse(t, d.Identifier).Max {
			t.Errorf("near its end: got %d, %v", end, err)
		}
		for name, x := range map[string]struct {
			caller sasl.Identity
			text   string
		}{
			"owner is not the renewer": {alice, text}, "nobody": {sasl.Identity{}, text}, "garbage": {bob, "AAAA"},
			"no renewer": {sasl.Identity{}, issue(t, a, alice, "alice", "")}, "wrong password": {bob, damage(t, text)},
		} {
			var r *Refused
			if _, err := a.Renew(ctx, x.caller, x.text); !errors.As(err, &r) {
				t.Errorf("%s: got %v", name, err)
			} else if strings.Contains(r.Text, secretOf(text)) || strings.Contains(r.Text, x.text) {
				t.Errorf("%s: the text repeats the token: %s", name, r.Text)
			}
		}
		c.move(2 * day)
		if _, err := a.Renew(ctx, bob, text); err == nil {
			t.Error("renewed past its end")
		}
	}
}

func mustParse(t *testing.T, b []byte) Identifier {
	d, err := ParseIdentifier(b)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func damage(t *testing.T, text string) string {
	tok, err := Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	tok.Password[0] ^= 1
	return tok.Encode()
}

func TestCancel(t *testing.T) {
	a, _ := newAuthority(t, NewMemory(), nil)
	for name, x := range map[string]struct {
		caller sasl.Identity
		ok     bool
	}{"owner": {alice, true}, "renewer": {bob, true}, "admin": {root, true}, "real user, who is neither": {hue, false}, "nobody": {sasl.Identity{}, false}} {
		text := issue(t, a, hue, "alice", "bob")
		if err := a.Cancel(ctx, x.caller, damage(t, text)); err == nil {
			t.Errorf("%s: cancelled without the password", name)
		}
		if err := a.Cancel(ctx, x.caller, text); (err == nil) != x.ok {
			t.Errorf("%s: got %v, want ok %v", name, err, x.ok)
		}
		if _, err := login(t, a, text); (err == nil) == x.ok {
			t.Errorf("%s: then login says %v", name, err)
		}
		if x.ok && a.Cancel(ctx, x.caller, text) == nil {
			t.Errorf("%s: cancelled twice", name)
		}
	}
}
