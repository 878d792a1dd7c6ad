package identity_test

import (
	"context"
	"fmt"
	"net/netip"

	"hmsgate/sasl/identity"
)

func ExampleMapping() {
	m, err := identity.NewMapping(`RULE:[2:$1@$0](nn@.*)s/.*/hdfs/ DEFAULT`, "CORP.EXAMPLE", "hadoop")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range []string{"nn/host1@CORP.EXAMPLE", "alice@CORP.EXAMPLE", "mallory@ELSEWHERE"} {
		short, err := m.Short(name)
		fmt.Println(short, err)
	}
	// Output:
	// hdfs <nil>
	// alice <nil>
	//  sasl: name: no auth_to_local rule fits "mallory@ELSEWHERE"
}

func ExampleProxies_Authorize() {
	p, err := identity.NewProxies(map[string]string{
		"hadoop.proxyuser.hue.groups": "analysts",
		"hadoop.proxyuser.hue.hosts":  "10.1.0.0/16",
	}, identity.StaticGroups{"bob": {"analysts"}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	fmt.Println(p.Authorize(ctx, "hue/h@R", "hue", "bob", netip.MustParseAddr("10.1.2.3")))
	fmt.Println(p.Authorize(ctx, "hue/h@R", "hue", "carol", netip.MustParseAddr("10.1.2.3")))
	fmt.Println(p.Authorize(ctx, "hue/h@R", "hue", "bob", netip.MustParseAddr("10.2.0.1")))
	// Output:
	// <nil>
	// User: hue/h@R is not allowed to impersonate carol
	// Unauthorized connection for super-user: hue/h@R from IP 10.2.0.1
}
