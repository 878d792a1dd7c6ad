package krb

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/iana/errorcode"
	"github.com/jcmturner/gokrb5/v8/messages"

	"hmsgate/sasl"
)

const (
	kdcPatience = 3 * time.Second // for one KDC, then the next is asked
	kdcReplyMax = 1 << 20

	kdcUnavailable  = 29 // KDC_ERR_SVC_UNAVAILABLE
	kdcPreauthNeed  = 25 // KDC_ERR_PREAUTH_REQUIRED
	kdcPreauthFails = 24 // KDC_ERR_PREAUTH_FAILED
)

// kdcCode is a KRB-ERROR's code; the KDC's own text is not repeated.
type kdcCode int32

func (c kdcCode) Error() string { return errorcode.Lookup(int32(c)) }

// realms asks the KDCs of krb5.conf, over TCP only: gokrb5's own transport
// truncates large UDP replies, allocates what a KDC's length says, takes a
// short read for a failure and shuffles a shared list without a lock.
type realms struct {
	cfg *config.Config

	mu    sync.Mutex
	first map[string]int // the KDC that answered last, by realm
}

// addresses lists a realm's KDCs, the one that answered last first.
func (r *realms) addresses(realm string) ([]string, int, error) {
	var list []string
	for _, x := range r.cfg.Realms {
		if x.Realm == realm {
			list = x.KDC
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(list) == 0 && r.cfg.LibDefaults.DNSLookupKDC {
		n, found, err := r.cfg.GetKDCs(realm, true)
		if err != nil {
			return nil, 0, sasl.Errorf(sasl.Unavailable, "looking up the KDCs of realm %q: %w", realm, err)
		}
		for i := 1; i <= n; i++ {
			list = append(list, found[i])
		}
	}
	if len(list) == 0 {
		return nil, 0, sasl.Errorf(sasl.Unavailable, "krb5.conf names no KDC for realm %q", realm)
	}
	return list, r.first[realm] % len(list), nil
}

// ask sends a request to the realm's KDCs in turn until one answers.
func (r *realms) ask(ctx context.Context, realm string, request []byte) ([]byte, error) {
	list, first, err := r.addresses(realm)
	if err != nil {
		return nil, err
	}
	var failures []error
	for i := range list {
		k := (first + i) % len(list)
		reply, err := askOne(ctx, list[k], request)
		if err == nil {
			var e messages.KRBError
			if bad := parseKDCError(reply, &e); bad && e.ErrorCode == kdcUnavailable {
				err = kdcCode(e.ErrorCode)
			} else {
				r.mu.Lock()
				r.first[realm] = k
				r.mu.Unlock()
				return reply, nil
			}
		}
		failures = append(failures, fmt.Errorf("%s: %w", list[k], err))
		if ctx.Err() != nil {
			break
		}
	}
	return nil, sasl.Errorf(sasl.Unavailable, "no KDC of realm %q answers: %w", realm, errors.Join(failures...))
}

// parseKDCError says whether a reply is a KRB-ERROR.
func parseKDCError(reply []byte, e *messages.KRBError) bool {
	const tagKRBError = 0x60 | 30 // APPLICATION 30, constructed
	return len(reply) > 0 && reply[0] == tagKRBError && e.Unmarshal(reply) == nil
}

// askOne: 4 bytes of length, then the message, both ways (RFC 4120, 7.2.2).
func askOne(ctx context.Context, address string, request []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, kdcPatience)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if t, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(t); err != nil {
			return nil, err
		}
	}
	if _, err := conn.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(request))), request...)); err != nil {
		return nil, err
	}
	var head [4]byte
	if _, err := io.ReadFull(conn, head[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n == 0 || n > kdcReplyMax {
		return nil, fmt.Errorf("reply of %d bytes, at most %d", n, kdcReplyMax)
	}
	b, err := io.ReadAll(io.LimitReader(conn, int64(n)))
	if err == nil && len(b) < int(n) {
		err = io.ErrUnexpectedEOF
	}
	return b, err
}
