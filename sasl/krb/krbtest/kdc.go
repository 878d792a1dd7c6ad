// Package krbtest has a KDC in memory, for tests of what logs in to something:
// no program is run, and it can be stopped, started and given new keys. It
// knows one realm, one enctype (18) and no policy: whoever shows the name of a
// principal gets a ticket under that principal's key.
package krbtest

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jcmturner/gofork/encoding/asn1"
	"github.com/jcmturner/gokrb5/v8/asn1tools"
	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/iana/errorcode"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

const (
	enctype   = 18
	encASPart = 25 // RFC 4120, 5.4.2: application tags
	encTGPart = 26
	paTGSReq  = 1
	largest   = 1 << 16
)

// KDC is one realm and the one who answers for it.
type KDC struct {
	Realm string
	tb    testing.TB
	dir   string
	addr  string

	mu     sync.Mutex // guards the rest
	life   time.Duration
	keys   map[string]*principal
	ln     net.Listener
	asked  map[string]int // requests by what they are for
	served sync.WaitGroup
}

type principal struct {
	kvno uint8
	kt   *keytab.Keytab // the present key alone
}

// New starts a KDC whose tickets last an hour. It ends with the test.
func New(tb testing.TB, realm string) *KDC {
	tb.Helper()
	k := &KDC{Realm: realm, tb: tb, dir: tb.TempDir(), life: time.Hour, keys: map[string]*principal{}, asked: map[string]int{}}
	k.Start()
	k.Rekey("krbtgt/" + realm)
	tb.Cleanup(k.Stop)
	return k
}

// Addr is host:port, also while the KDC is stopped.
func (k *KDC) Addr() string { return k.addr }

// Life sets how long further tickets last.
func (k *KDC) Life(d time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.life = d
}

// Asked counts the requests for tickets to a principal (without realm).
func (k *KDC) Asked(service string) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.asked[service]
}

// Conf is a krb5.conf that names this KDC, after others that a test may give.
func (k *KDC) Conf(before ...string) string {
	k.tb.Helper()
	text := "[libdefaults]\n default_realm = " + k.Realm + "\n dns_lookup_kdc = false\n[realms]\n " + k.Realm + " = {\n"
	for _, a := range append(before, k.addr) {
		text += "  kdc = " + a + "\n"
	}
	text += " }\n[domain_realm]\n localhost = " + k.Realm + "\n"
	path := filepath.Join(k.dir, "krb5.conf")
	k.check(os.WriteFile(path, []byte(text), 0o600))
	return path
}

// Rekey gives a principal (without realm) a new key, and makes it if there is
// none. It returns a keytab file of that key alone, always of the same name.
func (k *KDC) Rekey(name string) string {
	k.tb.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	p := k.keys[name]
	if p == nil {
		p = &principal{}
		k.keys[name] = p
	}
	p.kvno++
	var secret [16]byte
	rand.Read(secret[:])
	p.kt = keytab.New()
	k.check(p.kt.AddEntry(name, k.Realm, hex.EncodeToString(secret[:]), time.Now(), p.kvno, enctype))
	b, err := p.kt.Marshal()
	k.check(err)
	path := filepath.Join(k.dir, strings.ReplaceAll(name, "/", ".")+".keytab")
	k.check(os.WriteFile(path+".new", b, 0o600))
	k.check(os.Rename(path+".new", path))
	return path
}

func (k *KDC) check(err error) {
	k.tb.Helper()
	if err != nil {
		k.tb.Fatal(err)
	}
}

// Start listens again, where it did before.
func (k *KDC) Start() {
	k.tb.Helper()
	addr := k.addr
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	ln, err := net.Listen("tcp", addr)
	k.check(err)
	k.mu.Lock()
	k.ln, k.addr = ln, ln.Addr().String()
	k.mu.Unlock()
	k.served.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			k.served.Go(func() { k.serve(c) })
		}
	})
}

// Stop refuses connections until Start.
func (k *KDC) Stop() {
	k.mu.Lock()
	ln := k.ln
	k.mu.Unlock()
	ln.Close()
	k.served.Wait()
}

// serve answers one request: 4 bytes of length, then the message.
func (k *KDC) serve(c net.Conn) {
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	var head [4]byte
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > largest {
		return
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(c, b); err != nil {
		return
	}
	reply := k.answer(b)
	_, _ = c.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(reply))), reply...))
}

func (k *KDC) answer(b []byte) []byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	var as messages.ASReq
	if as.Unmarshal(b) == nil {
		k.asked[as.ReqBody.SName.PrincipalNameString()]++
		client := k.keys[as.ReqBody.CName.PrincipalNameString()]
		if client == nil {
			return k.refuse(as.ReqBody.SName, errorcode.KDC_ERR_C_PRINCIPAL_UNKNOWN)
		}
		key := client.key()
		fields, ok := k.issue(as.ReqBody.CName, as.ReqBody, key, keyusage.AS_REP_ENCPART, encASPart)
		if !ok {
			return k.refuse(as.ReqBody.SName, errorcode.KDC_ERR_S_PRINCIPAL_UNKNOWN)
		}
		fields.MsgType = 11
		return must((&messages.ASRep{KDCRepFields: fields}).Marshal())
	}
	var tgs messages.TGSReq
	if tgs.Unmarshal(b) != nil {
		return nil
	}
	k.asked[tgs.ReqBody.SName.PrincipalNameString()]++
	tgt, ok := k.granting(tgs.PAData)
	if !ok {
		return k.refuse(tgs.ReqBody.SName, errorcode.KRB_AP_ERR_BAD_INTEGRITY)
	}
	fields, ok := k.issue(tgt.CName, tgs.ReqBody, tgt.Key, keyusage.TGS_REP_ENCPART_SESSION_KEY, encTGPart)
	if !ok {
		return k.refuse(tgs.ReqBody.SName, errorcode.KDC_ERR_S_PRINCIPAL_UNKNOWN)
	}
	fields.MsgType = 13
	return must((&messages.TGSRep{KDCRepFields: fields}).Marshal())
}

func (p *principal) key() types.EncryptionKey { return p.kt.Entries[0].Key }

// granting opens the ticket-granting ticket of a request.
func (k *KDC) granting(pads types.PADataSequence) (t messages.EncTicketPart, ok bool) {
	for _, p := range pads {
		var ap messages.APReq
		if p.PADataType != paTGSReq || ap.Unmarshal(p.PADataValue) != nil {
			continue
		}
		if ap.Ticket.Decrypt(k.keys["krbtgt/"+k.Realm].key()) != nil {
			return t, false
		}
		t = ap.Ticket.DecryptedEncPart
		return t, time.Now().Before(t.EndTime)
	}
	return t, false
}

// issue makes a ticket and what its owner is told of it, under key.
func (k *KDC) issue(client types.PrincipalName, body messages.KDCReqBody, key types.EncryptionKey, usage uint32, tag int) (messages.KDCRepFields, bool) {
	service := k.keys[body.SName.PrincipalNameString()]
	if service == nil {
		return messages.KDCRepFields{}, false
	}
	now := time.Now().UTC().Truncate(time.Second)
	end := now.Add(k.life)
	flags := types.NewKrbFlags()
	ticket, session, err := messages.NewTicket(client, k.Realm, body.SName, k.Realm, flags, service.kt, enctype,
		int(service.kvno), now, now, end, end)
	if err != nil {
		panic(err)
	}
	inner := must(asn1.Marshal(messages.EncKDCRepPart{Key: session, LastReqs: []messages.LastReq{{LRValue: now}}, Nonce: body.Nonce,
		Flags: flags, AuthTime: now, StartTime: now, EndTime: end, SRealm: k.Realm, SName: body.SName}))
	enc, err := crypto.GetEncryptedData(asn1tools.AddASNAppTag(inner, tag), key, usage, 0)
	if err != nil {
		panic(err)
	}
	return messages.KDCRepFields{PVNO: 5, CRealm: k.Realm, CName: client, Ticket: ticket, EncPart: enc}, true
}

func (k *KDC) refuse(service types.PrincipalName, code int32) []byte {
	e := messages.NewKRBError(service, k.Realm, code, "")
	return must(e.Marshal())
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err) // of a test
	}
	return b
}
