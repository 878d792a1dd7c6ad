package gateway

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"hmsgate/internal/hms"
	"hmsgate/internal/memhms"
	"hmsgate/internal/wiretest"
	"hmsgate/profiles"
	"hmsgate/sasl"
	"hmsgate/sasl/digest"
	"hmsgate/sasl/token"
)

// sealedConn is an authenticated client's connection as hms.Client wants it.
type sealedConn struct{ *secureClient }

func (c sealedConn) Read(p []byte) (int, error) { return c.source.Read(p) }

func (c sealedConn) Write(p []byte) (int, error) {
	n, err := c.sink.Write(p)
	if err == nil {
		err = c.sink.End()
	}
	return n, err
}

// asker makes calls as an authenticated client.
type asker struct {
	t testing.TB
	*hms.Client
}

func (c *secureClient) asker() *asker {
	inv, err := profiles.Load("apache-3.1.3")
	if err != nil {
		c.t.Fatal(err)
	}
	return &asker{c.t, hms.NewClient(sealedConn{c}, inv, hms.Options{})}
}

func (a *asker) try(method string, args hms.Struct) (any, error) {
	ctx, cancel := context.WithTimeout(context.Background(), wiretest.Patience)
	defer cancel()
	return a.Call(ctx, method, args)
}

func (a *asker) must(method string, args hms.Struct) any {
	a.t.Helper()
	v, err := a.try(method, args)
	if err != nil {
		a.t.Fatalf("%s: %v", method, err)
	}
	return v
}

// refused wants a MetaException whose text has a part.
func (a *asker) refused(part, method string, args hms.Struct) {
	a.t.Helper()
	v, err := a.try(method, args)
	var x *hms.Exception
	if !errors.As(err, &x) || x.Type != "MetaException" || !strings.Contains(err.Error(), part) {
		a.t.Errorf("%s: got %v, %v, want a MetaException with %q", method, v, err, part)
	}
}

func (a *asker) token(owner, renewer string) string {
	a.t.Helper()
	return a.must("get_delegation_token", hms.Struct{"token_owner": owner, "renewer_kerberos_principal_name": renewer}).(string)
}

// tokenLogin is what Hive's clients make of a token's text.
func tokenLogin(t testing.TB, text string, q sasl.QOP) *digest.Login {
	t.Helper()
	k, err := token.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	return &digest.Login{User: base64.StdEncoding.EncodeToString(k.Identifier), Password: base64.StdEncoding.EncodeToString(k.Password),
		QOP: []sasl.QOP{q}}
}

// secretsOf are all spellings of a token that a log must not have.
func secretsOf(t testing.TB, text string) []string {
	k, err := token.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	return []string{text, base64.StdEncoding.EncodeToString(k.Password), base64.RawURLEncoding.EncodeToString(k.Password),
		fmt.Sprintf("%x", k.Password)}
}

// memory is a metastore in memory that remembers what it was asked.
func memory(t testing.TB) (addr string, asked func(method string) int) {
	inv, err := profiles.Load("apache-3.1.3")
	if err != nil {
		t.Fatal(err)
	}
	calls := make(chan string, 1<<16)
	s := memhms.New(memhms.Config{Inventory: inv, Name: "mem", OnCall: func(_ int, method string, _ hms.Struct) { calls <- method }})
	memhms.Demo("hdp")(s)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { defer close(done); s.Serve(ln) }()
	t.Cleanup(func() { s.Close(); <-done })
	var seen []string
	return ln.Addr().String(), func(method string) int {
		for len(calls) > 0 {
			seen = append(seen, <-calls)
		}
		n := 0
		for _, m := range seen {
			if m == method {
				n++
			}
		}
		return n
	}
}

// storeCalls are those of metastores that share a token store.
var storeCalls = map[string]hms.Struct{
	"add_token": {"token_identifier": "a", "delegation_token": "b"}, "remove_token": {"token_identifier": "a"},
	"get_token": {"token_identifier": "a"}, "get_all_token_identifiers": nil,
	"add_master_key": {"key": "k"}, "update_master_key": {"seq_number": int32(1), "key": "k"},
	"remove_master_key": {"key_seq": int32(1)}, "get_master_keys": nil,
}

// L69: GSSAPI first, then DIGEST-MD5 with the token, under every protection;
// no metastore hears of it. What a token may and may not.
func TestL69DelegationTokens(t *testing.T) {
	k := newRealm(t, "alice", "bob", "hue/localhost", "hive/localhost")
	addr, asked := memory(t)
	g, log := startGateway(t, addr, kerberos(k, "log.calls: true", "security.proxyuser.hue: {users: bob, hosts: 127.0.0.1}")...)
	alice := mustLogin(t, g, initiator(k.login("alice"), sasl.AuthConf)).asker()
	text := alice.token("alice@"+realmName, "bob/_HOST@"+realmName)
	secrets := secretsOf(t, text)
	logged(t, log, "delegation token issued", `"user":"alice"`, `renewer=\"bob\"`)
	for _, q := range allProtections {
		c := mustLogin(t, g, tokenLogin(t, text, q))
		if id := c.session; id.QOP != q {
			t.Errorf("got %v, want %v", id.QOP, q)
		}
		a := c.asker()
		if got := a.must("get_table", hms.Struct{"dbname": "sales", "tbl_name": "orders"}).(hms.Struct).Str("tableName"); got != "orders" {
			t.Errorf("%v: got table %q", q, got)
		}
		a.refused("can be issued only with kerberos", "get_delegation_token", hms.Struct{"token_owner": "alice", "renewer_kerberos_principal_name": "alice"})
		logged(t, log, "client authenticated", `"mechanism":"DIGEST-MD5"`, `"protection":"`+q.String()+`"`, `"user":"alice"`, `seq=`)
	}

	bob := mustLogin(t, g, initiator(k.login("bob"), sasl.Auth)).asker()
	if end := bob.must("renew_delegation_token", hms.Struct{"token_str_form": text}).(int64); time.Until(time.UnixMilli(end)) < 23*time.Hour {
		t.Errorf("renewed until %v", time.UnixMilli(end))
	}
	alice.refused("non-matching renewer", "renew_delegation_token", hms.Struct{"token_str_form": text})
	alice.refused("token is not valid", "renew_delegation_token", hms.Struct{"token_str_form": "abc"})
	alice.refused("User: alice@GO.TEST is not allowed to impersonate bob", "get_delegation_token",
		hms.Struct{"token_owner": "bob", "renewer_kerberos_principal_name": "bob"})
	alice.refused("No rules applied to the renewer", "get_delegation_token",
		hms.Struct{"token_owner": "alice", "renewer_kerberos_principal_name": "x@ELSEWHERE"})

	// A proxy user gets a token for bob, and acts as bob with it.
	hue := mustLogin(t, g, initiator(k.login("hue/localhost"), sasl.Auth)).asker()
	for2 := hue.token("bob", "hue")
	secrets = append(secrets, secretsOf(t, for2)...)
	mustLogin(t, g, tokenLogin(t, for2, sasl.Auth)).asker().must("get_all_databases", nil)
	logged(t, log, "client authenticated", `"user":"bob"`, `realUser=\"hue/localhost@GO.TEST\"`)
	hue.refused("User: hue/localhost@GO.TEST is not allowed to impersonate alice", "get_delegation_token",
		hms.Struct{"token_owner": "alice", "renewer_kerberos_principal_name": "hue"})

	// A cancelled token opens nothing, and sounds like any other refusal.
	mallory := mustLogin(t, g, initiator(k.login("hue/localhost"), sasl.Auth)).asker()
	mallory.refused("is not authorized to cancel", "cancel_delegation_token", hms.Struct{"token_str_form": text})
	bob.must("cancel_delegation_token", hms.Struct{"token_str_form": text})
	wrong := tokenLogin(t, for2, sasl.Auth)
	wrong.Password = base64.StdEncoding.EncodeToString([]byte("01234567890123456789"))
	for _, l := range []*digest.Login{tokenLogin(t, text, sasl.Auth), wrong, {User: "alice", Password: "x", QOP: []sasl.QOP{sasl.Auth}}} {
		_, err := login(t, g, l, nil)
		var p *sasl.PeerError
		if !errors.As(err, &p) || p.Status != sasl.Bad || p.Text != sasl.RefusalText {
			t.Errorf("got %v", err)
		}
	}
	logged(t, log, `"mechanism":"DIGEST-MD5"`, `"reason":"expired"`, "cancelled")
	logged(t, log, `"mechanism":"DIGEST-MD5"`, `"reason":"credentials"`)

	for method, args := range storeCalls {
		if _, err := alice.try(method, args); err == nil || !strings.Contains(err.Error(), "token stores are not for clients") {
			t.Errorf("%s: got %v", method, err)
		}
	}
	methods := []string{"get_delegation_token", "renew_delegation_token", "cancel_delegation_token", "set_ugi"}
	for method := range storeCalls {
		methods = append(methods, method)
	}
	for _, m := range slices.Sorted(slices.Values(methods)) {
		if asked(m) != 0 {
			t.Errorf("a metastore has heard %s", m)
		}
	}
	for _, s := range secrets {
		if strings.Contains(log.String(), s) {
			t.Errorf("the log has %q", s)
		}
	}
}

// Without a login there are no tokens, and no store's secrets either.
func TestTokensWithoutLogin(t *testing.T) {
	addr, asked := memory(t)
	const text = "Delegation tokens require Kerberos/SASL on the proxy front door"
	g, _ := startGateway(t, addr)
	inv, err := profiles.Load("apache-3.1.3")
	if err != nil {
		t.Fatal(err)
	}
	plain := &asker{t, hms.NewClient(dialGateway(t, g), inv, hms.Options{})}
	byPassword, _ := startGateway(t, addr, "security: {mode: PLAIN, plain-without-tls: true, users-file: "+usersFile(t, "alice:"+aliceHash)+"}")
	alice := mustLogin(t, byPassword, sasl.PlainLogin{User: "alice", Password: "wonderland"}).asker()
	for _, a := range []*asker{plain, alice} {
		a.refused(text, "get_delegation_token", hms.Struct{"token_owner": "alice", "renewer_kerberos_principal_name": "alice"})
		a.refused(text, "renew_delegation_token", hms.Struct{"token_str_form": "x"})
		a.refused(text, "cancel_delegation_token", hms.Struct{"token_str_form": "x"})
	}
	for method, args := range storeCalls {
		if _, err := plain.try(method, args); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: got %v", method, err)
		}
		if asked(method) != 0 {
			t.Errorf("the metastore has heard %s", method)
		}
	}
	alice.must("get_all_databases", nil)
}
