// Package peers holds no code, only tests: this library against an MIT KDC,
// MIT's GSSAPI library and the JDK's SASL under libthrift. Each prints why it
// is left out where its peer is not installed; with CI=true that is a failure.
//
// Debian has all of it: krb5-kdc krb5-admin-server krb5-user libthrift-java
// libslf4j-java python3-gssapi, and a JDK. A realm is made for each run, on
// loopback, on free ports, in a folder of its own.
package peers
