// Package krbtest is for tests of what stands on package krb: a KDC within the
// process, on loopback, that gives its principals tickets and checks nothing
// but keys; and MIT's (MIT), where that is installed.
package krbtest

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"

	"hmsgate/sasl/krb"
)

// Realm is the KDC's.
const Realm = "GO.TEST"

const (
	etype = 18
	kvno  = 2

	usageTicket   = 2 // RFC 4120, 7.5.1
	usageASReply  = 3
	usageTGSReply = 8
	messageAS     = 11
	messageTGS    = 13
	tagASReq      = 0x6a
	padTGSReq     = 1
	replyMost     = 1 << 16
)

// KDC serves until its test ends.
type KDC struct {
	Conf string // krb5.conf

	t    testing.TB
	dir  string
	keys *keytab.Keytab
	mu   sync.Mutex // guards what follows
	life time.Duration
}

// New makes a realm with principals ("alice", "hive/localhost").
func New(t testing.TB, principals ...string) *KDC {
	t.Helper()
	k := &KDC{t: t, dir: t.TempDir(), keys: keytab.New(), life: time.Hour}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	k.Conf = filepath.Join(k.dir, "krb5.conf")
	const conf = "[libdefaults]\n default_realm = %[1]s\n dns_lookup_kdc = false\n[realms]\n %[1]s = {\n  kdc = %[2]s\n }\n"
	k.file(k.Conf, fmt.Appendf(nil, conf, Realm, ln.Addr()))
	for _, p := range append(principals, "krbtgt/"+Realm) {
		if err := k.keys.AddEntry(p, Realm, p+"'s secret", time.Now(), kvno, etype); err != nil {
			t.Fatal(err)
		}
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer c.Close()
				_ = c.SetDeadline(time.Now().Add(10 * time.Second))
				if err := k.serve(c); err != nil {
					t.Errorf("KDC: %v", err)
				}
			})
		}
	})
	t.Cleanup(func() { ln.Close(); all.Wait() })
	return k
}

func (k *KDC) file(path string, b []byte) {
	k.t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		k.t.Fatal(err)
	}
}

// Life sets how long tickets to come live.
func (k *KDC) Life(d time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.life = d
}

// Keytab writes a file with the principals' keys and returns its name.
func (k *KDC) Keytab(principals ...string) string {
	k.t.Helper()
	kt := keytab.New()
	for _, p := range principals {
		if err := kt.AddEntry(p, Realm, p+"'s secret", time.Now(), kvno, etype); err != nil {
			k.t.Fatal(err)
		}
	}
	b, err := kt.Marshal()
	if err != nil {
		k.t.Fatal(err)
	}
	path := filepath.Join(k.dir, strings.ReplaceAll(strings.Join(principals, "+"), "/", ".")+".keytab")
	k.file(path, b)
	return path
}

// Login is a principal that will ask this KDC.
func (k *KDC) Login(principal string) *krb.Login {
	k.t.Helper()
	kt, err := krb.OpenKeytab(k.Keytab(principal))
	if err != nil {
		k.t.Fatal(err)
	}
	l, err := krb.NewLogin(k.Conf, principal+"@"+Realm, kt)
	if err != nil {
		k.t.Fatal(err)
	}
	return l
}

// serve answers one request: 4 bytes of length, then the message, both ways.
func (k *KDC) serve(c net.Conn) error {
	var head [4]byte
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return nil // nobody asked
	}
	n := binary.BigEndian.Uint32(head[:])
	if n == 0 || n > replyMost {
		return fmt.Errorf("request of %d bytes", n)
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(c, b); err != nil {
		return err
	}
	answer := k.ticketGranting
	if b[0] == tagASReq {
		answer = k.authentication
	}
	reply, err := answer(b)
	if err != nil {
		return err
	}
	_, err = c.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(reply))), reply...))
	return err
}

// authentication is the AS exchange (RFC 4120, 3.1), without preauthentication.
func (k *KDC) authentication(b []byte) ([]byte, error) {
	var req messages.ASReq
	if err := req.Unmarshal(b); err != nil {
		return nil, err
	}
	key, _, err := k.keys.GetEncryptionKey(req.ReqBody.CName, Realm, kvno, etype)
	if err != nil {
		return unknown(6, req.ReqBody.SName) // KDC_ERR_C_PRINCIPAL_UNKNOWN
	}
	f, err := k.grant(req.ReqBody.CName, req.ReqBody, key, usageASReply, messageAS)
	if err != nil {
		return nil, err
	}
	return (&messages.ASRep{KDCRepFields: f}).Marshal()
}

// ticketGranting is the TGS exchange (RFC 4120, 3.3).
func (k *KDC) ticketGranting(b []byte) ([]byte, error) {
	var req messages.TGSReq
	if err := req.Unmarshal(b); err != nil {
		return nil, err
	}
	for _, p := range req.PAData {
		var ap messages.APReq
		if p.PADataType != padTGSReq || ap.Unmarshal(p.PADataValue) != nil {
			continue
		}
		if err := ap.Ticket.DecryptEncPart(k.keys, nil); err != nil {
			return nil, err
		}
		if _, _, err := k.keys.GetEncryptionKey(req.ReqBody.SName, Realm, kvno, etype); err != nil {
			return unknown(7, req.ReqBody.SName) // KDC_ERR_S_PRINCIPAL_UNKNOWN
		}
		in := &ap.Ticket.DecryptedEncPart
		f, err := k.grant(in.CName, req.ReqBody, in.Key, usageTGSReply, messageTGS)
		if err != nil {
			return nil, err
		}
		return (&messages.TGSRep{KDCRepFields: f}).Marshal()
	}
	return nil, fmt.Errorf("TGS-REQ without a ticket")
}

func (k *KDC) grant(client types.PrincipalName, body messages.KDCReqBody, key types.EncryptionKey, usage uint32,
	kind int) (messages.KDCRepFields, error) {
	k.mu.Lock()
	life := k.life
	k.mu.Unlock()
	now := time.Now().UTC().Truncate(time.Second)
	t, session, err := messages.NewTicket(client, Realm, body.SName, Realm, types.NewKrbFlags(), k.keys, etype, kvno,
		now, now, now.Add(life), now)
	if err != nil {
		return messages.KDCRepFields{}, err
	}
	part := messages.EncKDCRepPart{Key: session, Nonce: body.Nonce, Flags: types.NewKrbFlags(),
		LastReqs: []messages.LastReq{{LRValue: now}}, AuthTime: now, StartTime: now, EndTime: now.Add(life), RenewTill: now, SRealm: Realm, SName: body.SName}
	b, err := part.Marshal()
	if err != nil {
		return messages.KDCRepFields{}, err
	}
	enc, err := crypto.GetEncryptedData(b, key, usage, kvno)
	return messages.KDCRepFields{PVNO: 5, MsgType: kind, CRealm: Realm, CName: client, Ticket: t, EncPart: enc}, err
}

func unknown(code int32, service types.PrincipalName) ([]byte, error) {
	e := messages.NewKRBError(service, Realm, code, "")
	return e.Marshal()
}
