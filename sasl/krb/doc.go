// Package krb owns GSSAPI with Kerberos 5 for SASL: the acceptor, the
// initiator, security layers, our own login with a keytab, and the keytabs.
// It is the only package that knows gokrb5, of which it uses ASN.1, keytab
// and krb5.conf parsing and the ticket crypto. It does not map names (a
// function is given to it) and keeps no credentials of clients.
//
//	60 len oid 0100 AP-REQ     [ticket(usage 2)] [authenticator(usage 11): checksum 8003, subkey, seq]
//	60 len oid 0200 AP-REP     [ctime, cusec, subkey, seq](usage 12)
//	05 04 flags ff EC RRC seq body       wrap token, RFC 4121; usages 22 (acceptor), 24 (initiator)
//	wrap(mask | size(3))   wrap(choice | size(3) | authzid)
//
// # Decisions
//
// Never gokrb5's verification: its v8.4.4 compares no client realm (its issue
// 577), slices short ciphers out of range before any authentication (its pull
// request 580), and panics on an empty service name. apreq.go has the
// checklist, in order, before anything is answered: frame, version, service
// among the configured ones, enctype and length, decryption with any version
// of that service's keys, flags and times, session key, authenticator's name
// and realm, skew, addresses, realm path, checksum and flags, subkey, replay,
// name mapping. All of it also runs under recover; the fuzz targets count a
// recovered panic as a failure.
//
// A fresh subkey in every AP-REP: a recorded session replayed at another
// instance, whose replay cache knows nothing, dies at its first wrap token
// (test). The cache is a second line, two generations of twice the skew, 1 M
// entries, and refuses when it is full.
//
// Enctypes 17 to 20, the context's from the keys and never from the ticket:
// a KDC gives tickets of 20 with keys of 18. RC4 and DES3 are refused.
//
// PACs and forwarded credentials are not decoded. Channel bindings are not
// looked at, since Hive's clients send none.
//
// Keys that leave a replaced keytab stay good for a week, for the tickets
// that were made with them; a restart forgets them at once.
//
// Login speaks with KDCs itself (kdc.go, exchange.go): gokrb5's client gets
// stuck on a renewable ticket that outlives an outage, hands out tickets to
// their last second, shuffles a shared list without a lock, and allocates
// what a KDC's length says. Ours logs in by keytab after four fifths of a
// ticket's life, uses what it has while no KDC answers, tries KDCs in turn
// for 3 s each beginning with the one that answered last, and remembers that
// none did for 2 s. One caller at a time asks; others wait for it no longer than
// their own context lasts. Over TCP only. Chains of more than one foreign realm are
// not followed beyond what the KDCs refer to.
//
// # Speed
//
// Keys are derived once a connection; tokens are sealed and opened in place.
// Best of six runs, two shared cores, November 2026, MB/s of plain text, 0 allocations:
//
//	                    seal 1 KB  seal 64 KB  open 1 KB  open 64 KB  gokrb5 seal 1 KB, 64 KB
//	18 auth-conf        384        502         370        572         41, 183
//	18 auth-int         816        1080        866        1206
//	20 auth-conf        184        245         220        287         54, 132
//	20 auth-int         321        494         311        487
//
// gokrb5 allocates 95 times and six bytes for each of the message's. A
// handshake costs 0.50 ms of CPU for both sides together, most of it gokrb5's
// key derivation; 2 per core may be in it at a time, so strangers cannot take
// the machine.
package krb
