package krb

import (
	"crypto/rand"
	"encoding/binary"
	"time"

	"github.com/jcmturner/gofork/encoding/asn1"
	"github.com/jcmturner/gokrb5/v8/asn1tools"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"

	"hmsgate/sasl"
)

const (
	applicationAPRep    = 15
	applicationAPRepEnc = 27
)

// newSequence draws a first sequence number of 30 bits, which no
// implementation takes for a negative one.
func newSequence() int64 {
	var b [4]byte
	rand.Read(b[:])
	return int64(binary.BigEndian.Uint32(b[:]) & 0x3fffffff)
}

// buildAPRep answers a verified request with a fresh subkey: a session
// recorded earlier, replayed here or at another instance, then has the wrong
// key for its first wrap token.
func buildAPRep(r request) ([]byte, contextKeys, error) {
	base := r.ticket.Key
	if len(r.auth.SubKey.KeyValue) > 0 {
		base = r.auth.SubKey
	}
	e, err := checkKey(base, "context key")
	if err != nil {
		return nil, contextKeys{}, err
	}
	part := messages.EncAPRepPart{CTime: r.auth.CTime, Cusec: r.auth.Cusec, Subkey: newKey(e), SequenceNumber: newSequence()}
	b, err := asn1.Marshal(part)
	if err != nil {
		return nil, contextKeys{}, sasl.Errorf(sasl.Internal, "AP-REP: %w", err)
	}
	enc, err := encrypt(asn1tools.AddASNAppTag(b, applicationAPRepEnc), r.ticket.Key, usageAPReply, 0)
	if err != nil {
		return nil, contextKeys{}, err
	}
	if b, err = asn1.Marshal(messages.APRep{PVNO: 5, MsgType: applicationAPRep, EncPart: enc}); err != nil {
		return nil, contextKeys{}, sasl.Errorf(sasl.Internal, "AP-REP: %w", err)
	}
	return appendContextToken(nil, idAPRep, asn1tools.AddASNAppTag(b, applicationAPRep)), contextKeys{
		acceptor: true,
		key:      part.Subkey,
		subkey:   true,
		sendSeq:  uint64(part.SequenceNumber),
		recvSeq:  uint64(uint32(r.auth.SeqNumber)), // old MIT may write it negative
	}, nil
}

// readAPRep checks an acceptor's answer to our authenticator.
func readAPRep(token []byte, session types.EncryptionKey, auth types.Authenticator) (k contextKeys, err error) {
	defer func() {
		if x := recover(); x != nil {
			err = sasl.Errorf(sasl.Internal, "panic while reading an AP-REP: %T", x)
		}
	}()
	id, inner, err := parseContextToken(token)
	if err != nil {
		return k, err
	}
	switch id {
	case idAPRep:
	case idError:
		return k, acceptorError(inner)
	default:
		return k, sasl.Errorf(sasl.Protocol, "token id %04x, want an AP-REP", id)
	}
	var rep messages.APRep
	if err := rep.Unmarshal(inner); err != nil {
		return k, sasl.Errorf(sasl.Protocol, "AP-REP of %d bytes is not well formed", len(inner))
	}
	plain, err := decrypt(rep.EncPart, session, usageAPReply, "AP-REP")
	if err != nil {
		return k, err
	}
	var part messages.EncAPRepPart
	if err := part.Unmarshal(plain); err != nil {
		return k, sasl.Errorf(sasl.Protocol, "inside of the AP-REP is not well formed")
	}
	if part.Cusec != auth.Cusec || part.CTime.Unix() != auth.CTime.Unix() {
		return k, sasl.Errorf(sasl.Credentials, "the server does not prove that it holds the service's key")
	}
	k = contextKeys{key: auth.SubKey, sendSeq: uint64(uint32(auth.SeqNumber)), recvSeq: uint64(uint32(part.SequenceNumber))}
	if part.Subkey.KeyType != 0 || len(part.Subkey.KeyValue) > 0 {
		if _, err := checkKey(part.Subkey, "server's subkey"); err != nil {
			return k, err
		}
		k.key, k.subkey = part.Subkey, true
	}
	return k, nil
}

// acceptorError reads a KRB-ERROR, for the log.
func acceptorError(b []byte) error {
	var e messages.KRBError
	if err := e.Unmarshal(b); err != nil {
		return sasl.Errorf(sasl.Protocol, "error token is not well formed")
	}
	return krbError(e, "server")
}

// krbError turns a KRB-ERROR into a reason.
func krbError(e messages.KRBError, who string) error {
	switch e.ErrorCode {
	case 37: // KRB_AP_ERR_SKEW
		return sasl.Errorf(sasl.Skew, "%s: %w (its clock is %v ahead of ours)", who, kdcCode(e.ErrorCode), time.Until(e.STime).Round(time.Second))
	case 6, 7: // KDC_ERR_C_PRINCIPAL_UNKNOWN, KDC_ERR_S_PRINCIPAL_UNKNOWN
		return sasl.Errorf(sasl.NoKey, "%s: %w", who, kdcCode(e.ErrorCode))
	}
	return sasl.Errorf(sasl.Credentials, "%s: %w", who, kdcCode(e.ErrorCode))
}
