package outbound_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"hmsgate/internal/wiretest"
	"hmsgate/sasl"
)

const asCaller = ", impersonation-enabled: true"

// Each client is itself at the metastore, by one token a user, under every
// protection.
func TestImpersonation(t *testing.T) {
	kdc, own, theirs := newRealm(t)
	for _, q := range []sasl.QOP{sasl.Auth, sasl.AuthInt, sasl.AuthConf} {
		t.Run(q.String(), func(t *testing.T) {
			m := newMetastore(t, secured(theirs, q))
			s := newSite(t, m, sasled+qopNames[q]+asCaller, kerberos(kdc, own))
			alice, bob := s.as("alice"), s.as("bob")
			var want []string
			for range 3 {
				wantText(t, alice.table(), "alice")
				wantText(t, bob.table(), "bob")
				want = append(want, "alice DIGEST-MD5 get_table", "bob DIGEST-MD5 get_table")
			}
			if got := slices.DeleteFunc(m.calls(), isOwn); !slices.Equal(got, want) {
				t.Errorf("the metastore heard %q, want %q", got, want)
			}
			var all sync.WaitGroup
			for range 16 {
				c := s.as("carol")
				all.Go(func() { wantText(t, c.table(), "carol") })
			}
			all.Wait()
			if m.issuedTokens() != 3 {
				t.Errorf("got %d tokens for three users", m.issuedTokens())
			}
			for _, secret := range m.secrets() {
				if strings.Contains(s.log.String(), secret) {
					t.Error("a token is in the log")
				}
			}
		})
	}
}

// isOwn: calls of the gateway's own.
func isOwn(heard string) bool {
	return strings.HasPrefix(heard, "gw GSSAPI ") && strings.HasSuffix(heard, "_delegation_token")
}

// Who may not be impersonated, or is nobody, is refused and never the gateway.
func TestImpersonationRefused(t *testing.T) {
	kdc, own, theirs := newRealm(t)
	m := newMetastore(t, secured(theirs, sasl.Auth), func(m *metastore) { m.acts = map[string]bool{"alice": true} })
	s := newSite(t, m, sasled+"authentication"+asCaller, kerberos(kdc, own))
	bob := s.as("bob")
	for range 3 {
		wantText(t, bob.table(), "catalog 'hdp' does not let gw/localhost@TEST.LOCAL act for user 'bob': its metastores need hadoop.proxyuser.gw.hosts")
	}
	wantText(t, s.as("alice").table(), "alice")
	wantText(t, s.client().table(), "Kerberos caller identity is unavailable for impersonation")
	wantText(t, s.as("").table(), "Kerberos caller identity is unavailable for impersonation")
	wantText(t, s.as("a\nb").table(), "user name is empty, too long or not printable")
	wantText(t, s.as(strings.Repeat("x", 300)).table(), "user name is empty, too long or not printable")
	if got := slices.DeleteFunc(m.calls(), isOwn); len(got) != 1 || got[0] != "alice DIGEST-MD5 get_table" {
		t.Errorf("the metastore heard %q", got)
	}
	if n := m.issuedTokens(); n != 2 { // bob's denial was kept
		t.Errorf("the metastore was asked %d times for tokens, want 2", n)
	}
	if log := s.log.String(); !strings.Contains(log, "User: gw/localhost@TEST.LOCAL is not allowed to impersonate bob") {
		t.Errorf("the log does not say why:\n%s", log)
	}
}

// A metastore that kept its tokens in memory is given new ones; one that
// forgets them at once is unreachable, and not asked for ever.
func TestForgottenToken(t *testing.T) {
	kdc, own, theirs := newRealm(t)
	m := newMetastore(t, secured(theirs, sasl.Auth))
	s := newSite(t, m, sasled+"authentication"+asCaller, kerberos(kdc, own)+"routing.connect-patience-ms: 10\n")
	c := s.as("alice")
	wantText(t, c.table(), "alice")
	m.forget()
	m.cut()
	wantText(t, c.table(), "alice")
	wantText(t, s.as("alice").table(), "alice")
	if n := m.issuedTokens(); n != 2 {
		t.Errorf("got %d tokens, want 2", n)
	}
	m.amnesia.Store(true)
	m.forget()
	wantText(t, s.as("alice").table(), "catalog 'hdp' cannot be reached")
	if n := m.issuedTokens(); n < 3 || n > 6 {
		t.Errorf("got %d tokens", n)
	}
	if got := slices.DeleteFunc(m.calls(), isOwn); len(got) != 3 {
		t.Errorf("the metastore heard %q", got)
	}
}

// Without SASL the client's own set_ugi says it, and must.
func TestImpersonationWithoutSASL(t *testing.T) {
	m := newMetastore(t)
	s := newSite(t, m, asCaller, "")
	alice, bob := s.as("alice"), s.as("bob")
	for range 2 {
		wantText(t, alice.table(), "alice")
		wantText(t, bob.table(), "bob")
	}
	wantText(t, s.client().table(), "Kerberos caller identity is unavailable for impersonation")
	var got []string
	for _, h := range m.calls() {
		if strings.HasSuffix(h, "get_table") {
			got = append(got, h)
		}
	}
	if want := []string{"alice  get_table", "bob  get_table", "alice  get_table", "bob  get_table"}; !slices.Equal(got, want) {
		t.Errorf("the metastore heard %q, want %q", got, want)
	}
}

// A list over all catalogs is asked as the client everywhere.
func TestImpersonatedFanout(t *testing.T) {
	kdc, own, theirs := newRealm(t)
	m, other := newMetastore(t, secured(theirs, sasl.AuthConf)), newMetastore(t, secured(theirs, sasl.Auth))
	s := newSite(t, m, sasled+"privacy"+asCaller, fmt.Sprintf(
		"  apache: {uris: %s, runtime-profile: apache-3.1.3%sauthentication%s}\nrouting.default-catalog: hdp\n%s",
		other.uri(), sasled, asCaller, kerberos(kdc, own)))
	c := s.as("alice")
	m2 := c.call("get_all_databases", wiretest.Struct(nil).Stop())
	wantText(t, m2, "apache__of_alice")
	wantText(t, m2, "of_alice")
	other.mu.Lock()
	other.acts = map[string]bool{}
	other.mu.Unlock()
	wantText(t, s.as("bob").call("get_all_databases", wiretest.Struct(nil).Stop()), "catalog 'apache' does not let")
}
