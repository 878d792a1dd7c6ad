// Package outbound owns how a connection to a metastore comes to be: TCP, TLS
// and SASL, the gateway's own Kerberos login, and the delegation tokens by
// which metastores see the client instead of the gateway. It does not choose
// the metastore (package route), carries no messages (package session) and
// knows no mechanism from inside (package sasl). It is a package of its own
// since the sessions, the probes and the keeper of locks all dial by it, and
// none of them is to know how.
//
//	session   messages
//	Conn      SASL: source and sink of tokens, with Stream
//	          TLS
//	Over      the session's own reads and writes, with their deadlines
//	          TCP
//
// # Never a weaker connection than asked for
//
// What a catalog's settings say is what is done or there is no connection.
// No other protection than the listed ones, no plain connection where SASL or
// TLS is set, and never the gateway's identity for a client whose token is not
// given out.
//
// # As the client
//
// A metastore with SASL is told no user (set_ugi is an echo there): the
// gateway asks it, on a connection of its own, for a delegation token of the
// client's user, and logs in with that by DIGEST-MD5. A token is of one
// instance and one user, since another instance behind the same name may not
// know it. It is fetched by one goroutine however many clients wait, used for
// 20 hours or most of its life, fetched once more when the metastore says that
// it does not know it, and given back when a thousand others were used since.
// That a user may not be impersonated is remembered for a minute, and told to
// the client at once: it is no fault of the metastore's.
//
// # Time
//
// Everything ends with the caller's context, which is a share of
// routing.connect-patience: the ticket, the handshake, the negotiation. The
// context's end closes the socket under them. A ticket is fetched before TCP
// is dialled, so that a metastore sees nothing of a KDC that is down.
//
// # Memory
//
// Java seals a whole reply in one token; a session reads it with
// sasl.DataLimits.Stream and asks Settled before a message's last byte goes
// on. What the gateway calls itself is held until it is verified.
package outbound
