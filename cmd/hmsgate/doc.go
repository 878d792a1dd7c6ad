// Command hmsgate is the gateway and what an operator needs around it: serve,
// check, explain, demo and version. It reads flags and prints; what it runs is
// in internal/gateway, what it explains in profiles and route.
//
// Exit codes: 1 for what went wrong, 2 for a command line or configuration
// that cannot work.
package main
