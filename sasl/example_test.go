package sasl_test

import (
	"fmt"
	"io"
	"net"
	"net/netip"

	"hmsgate/sasl"
	"hmsgate/sasl/digest"
)

// A server and a client of one process: they negotiate, then exchange a
// message through the layer they agreed on.
func ExampleServer_Negotiate() {
	server := &sasl.Server{Mechanisms: []sasl.ServerMechanism{
		&digest.Server{Secrets: users{"alice": "wonderland"}, QOP: sasl.AuthInt | sasl.AuthConf},
	}}
	a, b := net.Pipe()
	go func() {
		defer b.Close()
		s, err := server.Negotiate(b, netip.MustParseAddr("192.0.2.1"))
		if err != nil {
			fmt.Println(err)
			return
		}
		to := s.Sink(b)
		fmt.Fprintf(to, "hello %s, this is under %s", s.Identity.User, s.QOP)
		if err := to.End(); err != nil {
			fmt.Println(err)
		}
	}()
	s, err := sasl.Negotiate(a, &digest.Login{User: "alice", Password: "wonderland", QOP: []sasl.QOP{sasl.AuthConf, sasl.AuthInt}}, sasl.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	got, err := io.ReadAll(s.Source(a, sasl.DataLimits{}))
	fmt.Printf("%s %v\n", got, err)
	// Output: hello alice, this is under auth-conf <nil>
}
