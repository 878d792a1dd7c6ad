// Command bench measures a metastore gateway against other ways to reach the same backend, through sockets.
//
//	bench all -gateway bin/hmsgate    everything, in a few minutes, written to bench/RESULTS.md
//	bench soak -gateway bin/hmsgate   long replies and many clients: fails on resident memory, never on speed
//
// and the parts by themselves, against whatever listens:
//
//	bench backend ADDR                a fake metastore that answers from memory
//	bench pipe ADDR BACKEND           a proxy made of io.Copy, the floor for any Go gateway
//	bench codec ADDR BACKEND FROM TO  a proxy that decodes to structs, renames a database and encodes again
//	bench spin                        keeps the cores awake at idle priority
//	bench walk                        in memory: what finding and changing the names costs by itself
//	bench matrix|big|hold|short [flags] name,addr,db[,pid[,framed]] ...
//
// The rules, each learnt the hard way. Client, backend and proxy share the machine, so only ratios of one run
// mean anything: the targets take turns within a round, a figure is the median over the rounds, a ratio the median
// of the rounds' ratios. Replies are built from ordered bytes, so that every process that builds one gets the
// same bytes (generated structs write maps in random order). Each target's reply is walked once and its names
// counted before the clock starts; every timed reply is checked for header, sequence id and length. One connection
// on an idle virtual machine measures the hypervisor's wake-ups, so those rows run with "spin". Look at the last
// column, the share of the machine used by strangers, before believing a row.
//
// Through sockets the program knows nothing of how the gateway is built: it has its own few lines of Thrift. Only
// "walk" calls the gateway's packages, beside a token-by-token copy through apache/thrift.
package main
