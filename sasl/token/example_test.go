package token_test

import (
	"context"
	"fmt"
	"net/netip"

	"hmsgate/sasl"
	"hmsgate/sasl/token"
)

func ExampleAuthority() {
	ctx, peer := context.Background(), netip.MustParseAddr("192.0.2.1")
	a, err := token.New(token.Config{Store: token.NewMemory(), ShortName: func(p string) (string, error) { return "hive", nil }})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := a.Start(ctx); err != nil {
		fmt.Println(err)
		return
	}
	alice := sasl.Identity{Principal: "alice@R", User: "alice", Mechanism: "GSSAPI"}
	text, err := a.Issue(ctx, alice, peer, "alice", "hive/_HOST@R")
	if err != nil {
		fmt.Println(err)
		return
	}
	t, _ := token.Decode(text)
	d, _ := token.ParseIdentifier(t.Identifier)
	fmt.Println(d)
	fmt.Println(a.Cancel(ctx, sasl.Identity{User: "mallory"}, text))
	fmt.Println(a.Cancel(ctx, alice, text))
	// Output:
	// owner="alice" renewer="hive" realUser="alice@R" seq=1 key=0
	// mallory is not authorized to cancel the token (owner="alice" renewer="hive" realUser="alice@R" seq=1 key=0)
	// <nil>
}
