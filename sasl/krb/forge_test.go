package krb

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/jcmturner/gofork/encoding/asn1"
	"github.com/jcmturner/gokrb5/v8/asn1tools"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"

	"hmsgate/sasl"
)

const (
	testService = "hive/gw.test.local@TEST.LOCAL"
	otherSPN    = "hive/other.test.local@TEST.LOCAL"
)

// forgery is a KDC and a client in one: it makes any ticket and request.
type forgery struct {
	service   types.EncryptionKey // the ticket's key
	kvno      int
	sname     types.PrincipalName
	srealm    string
	part      messages.EncTicketPart
	auth      types.Authenticator
	options   []int
	ticketEnc func(*types.EncryptedData)
	authEnc   func(*types.EncryptedData)
	inner     func([]byte) []byte // of the AP-REQ
	token     func([]byte) []byte
}

func testKey(t testing.TB, id int32) types.EncryptionKey {
	e, ok := enctypeOf(id)
	if !ok {
		t.Fatalf("no enctype %d", id)
	}
	return newKey(e)
}

// testKeytab has two versions of a key of each enctype, and another service's.
func testKeytab(t testing.TB) *Keytab {
	k := &Keytab{path: "test.keytab", now: time.Now, looked: time.Now().Add(time.Hour)}
	for _, p := range []string{otherSPN, testService} {
		for kvno := uint32(2); kvno <= 3; kvno++ {
			for _, e := range enctypes {
				k.entries = append(k.entries, keyEntry{principal: p, kvno: kvno, key: newKey(e)})
			}
		}
	}
	k.looked = time.Now().Add(time.Hour)
	k.now = func() time.Time { return k.looked }
	return k
}

func shortName(p string) (string, error) {
	name, realm, _ := strings.Cut(p, "@")
	if realm != "TEST.LOCAL" && realm != "RIG.TEST" {
		return "", sasl.Errorf(sasl.Name, "no rule fits %q", p)
	}
	name, _, _ = strings.Cut(name, "/")
	return name, nil
}

func testAcceptor(t testing.TB, k *Keytab, q sasl.QOP) *Acceptor {
	a, err := NewAcceptor(AcceptorConfig{Keytab: k, Principals: []string{testService}, QOP: q, ShortName: shortName})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// newForgery is right in every point.
func newForgery(t testing.TB, k *Keytab, etype int32) *forgery {
	now := time.Now().UTC()
	key, kvno, _ := k.newest(testService, etype)
	alice := types.PrincipalName{NameType: 1, NameString: []string{"alice"}}
	f := &forgery{
		service: key,
		kvno:    int(kvno),
		sname:   types.PrincipalName{NameType: 3, NameString: []string{"hive", "gw.test.local"}},
		srealm:  "TEST.LOCAL",
		part: messages.EncTicketPart{
			Flags: types.NewKrbFlags(), Key: testKey(t, etype), CRealm: "TEST.LOCAL", CName: alice,
			AuthTime: now.Truncate(time.Second), StartTime: now.Truncate(time.Second), EndTime: now.Add(time.Hour).Truncate(time.Second),
		},
		auth: types.Authenticator{AVNO: 5, CRealm: "TEST.LOCAL", CName: alice, Cksum: newChecksum(),
			CTime: now.Truncate(time.Second), Cusec: now.Nanosecond() / 1000, SubKey: testKey(t, etype), SeqNumber: newSequence()},
		options: []int{optionMutualRequired},
	}
	return f
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func (f *forgery) ticket() messages.Ticket {
	b := asn1tools.AddASNAppTag(must(asn1.Marshal(f.part)), 3)
	t := messages.Ticket{TktVNO: 5, Realm: f.srealm, SName: f.sname, EncPart: must(encrypt(b, f.service, usageTicket, f.kvno))}
	if f.ticketEnc != nil {
		f.ticketEnc(&t.EncPart)
	}
	return t
}

func (f *forgery) build() []byte {
	b := must(f.auth.Marshal())
	ap := messages.APReq{PVNO: 5, MsgType: applicationAPReq, APOptions: types.NewKrbFlags(), Ticket: f.ticket(),
		EncryptedAuthenticator: must(encrypt(b, f.part.Key, usageAuthenticator, 0))}
	for _, o := range f.options {
		types.SetFlag(&ap.APOptions, o)
	}
	if f.authEnc != nil {
		f.authEnc(&ap.EncryptedAuthenticator)
	}
	in := must(ap.Marshal())
	if f.inner != nil {
		in = f.inner(in)
	}
	tok := appendContextToken(nil, idAPReq, in)
	if f.token != nil {
		tok = f.token(tok)
	}
	return tok
}

// client is the initiator's side of a forgery whose ticket is good.
func (f *forgery) client(q ...sasl.QOP) *initiation {
	return &initiation{qop: q, ticket: &Ticket{Service: testService, ticket: f.ticket(), key: f.part.Key,
		client: f.part.CName, realm: f.part.CRealm, End: f.part.EndTime}}
}

// established plays a whole exchange without Thrift around it.
func established(t testing.TB, etype int32, q sasl.QOP) (client, server sasl.Outcome) {
	k := testKeytab(t)
	cx := newForgery(t, k, etype).client(q)
	sx := testAcceptor(t, k, q).Begin(netip.MustParseAddr("127.0.0.1"))
	token, err := cx.request()
	if err != nil {
		t.Fatal(err)
	}
	for done := false; ; {
		reply, d, err := sx.Step(token)
		if err != nil {
			t.Fatalf("acceptor: %v", err)
		}
		if d {
			if !done {
				t.Fatal("acceptor is done before the initiator")
			}
			return cx.Outcome(), sx.Outcome()
		}
		if token, done, err = cx.Step(reply); err != nil {
			t.Fatalf("initiator: %v", err)
		}
	}
}
