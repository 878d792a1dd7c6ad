package sasl_test

import (
	"context"
	"encoding/base64"
	"net/netip"
	"strings"
	"testing"

	"hmsgate/sasl"
	"hmsgate/sasl/digest"
	"hmsgate/sasl/token"
)

// A token from the authority, used as Hive's client uses it: over the whole
// negotiation. What is refused looks the same from outside, whatever it was.
func TestTokenLogin(t *testing.T) {
	ctx := context.Background()
	a, err := token.New(token.Config{Store: token.NewMemory(), ShortName: func(p string) (string, error) {
		short, _, _ := strings.Cut(p, "@")
		return short, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Start(ctx); err != nil {
		t.Fatal(err)
	}
	server := &sasl.Server{Mechanisms: []sasl.ServerMechanism{&digest.Server{Secrets: a, QOP: sasl.Auth | sasl.AuthConf}}}
	alice := sasl.Identity{Principal: "alice@R", User: "alice"}
	text, err := a.Issue(ctx, alice, netip.Addr{}, "alice", "")
	if err != nil {
		t.Fatal(err)
	}
	tok, err := token.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	login := &digest.Login{User: base64.StdEncoding.EncodeToString(tok.Identifier), Password: base64.StdEncoding.EncodeToString(tok.Password),
		QOP: []sasl.QOP{sasl.AuthConf}}
	_, s, cerr, serr := duel(t, server, login)
	if cerr != nil || serr != nil {
		t.Fatal(cerr, serr)
	}
	if s.Identity.User != "alice" || s.Identity.RealUser != "alice@R" || s.Identity.Token == "" || s.Identity.Mechanism != "DIGEST-MD5" {
		t.Errorf("got %+v", s.Identity)
	}
	if _, err := a.Issue(ctx, s.Identity, netip.Addr{}, "alice", ""); err == nil {
		t.Error("a token makes another token")
	}
	wrong := *login
	wrong.Password = base64.StdEncoding.EncodeToString([]byte("another password...."))
	forged := *login
	forged.User = base64.StdEncoding.EncodeToString(token.Identifier{Owner: "root", Max: 1 << 42, Key: 5}.Append(nil))
	var heard []string
	for _, l := range []*digest.Login{&wrong, &forged, login} {
		if l == login {
			if err := a.Cancel(ctx, alice, text); err != nil {
				t.Fatal(err)
			}
		}
		_, s, cerr, serr := duel(t, server, l)
		if s != nil || cerr == nil || serr == nil {
			t.Fatal("let in")
		}
		heard = append(heard, cerr.Error())
		for _, secret := range []string{text, login.Password, base64.RawURLEncoding.EncodeToString(tok.Password)} {
			if strings.Contains(cerr.Error()+serr.Error(), secret) {
				t.Errorf("an error holds a secret: %v / %v", cerr, serr)
			}
		}
	}
	if heard[0] != heard[1] || heard[1] != heard[2] || !strings.Contains(heard[0], sasl.RefusalText) {
		t.Errorf("an oracle: %q", heard)
	}
}
