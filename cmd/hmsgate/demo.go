package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"hmsgate/internal/config"
	"hmsgate/internal/gateway"
	"hmsgate/internal/memhms"
	"hmsgate/profiles"
)

// The demo's two metastores: catalog and interface version. The first is the
// default catalog.
var demoCatalogs = []struct{ name, label string }{{"hdp", "apache-3.1.3"}, {"apache", "apache-3.1.3"}}

func demoCommand() *cobra.Command {
	var once bool
	var port int
	c := &cobra.Command{
		Use:   "demo [--once] [--port N]",
		Short: "Run two embedded metastores behind one port, with a tour",
		Long: `Start two in-memory metastores and the gateway in front of them, fill them, take a short tour as a
client would, and stay up, so that you can point a client of your own at it. Needs no network and
leaves nothing behind.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return demo(c.OutOrStdout(), port, once) },
	}
	c.Flags().BoolVar(&once, "once", false, "end after the tour")
	c.Flags().IntVar(&port, "port", 9083, "port to listen on, or the next free one")
	return c
}

func demo(out io.Writer, port int, once bool) error {
	seen := &witness{}
	var servers []*memhms.Server
	defer func() {
		for _, s := range servers {
			s.Close()
		}
	}()
	var uris []string
	for i, cat := range demoCatalogs {
		s, addr, err := embedded(cat.name, cat.label, seen.watch(i))
		if err != nil {
			return err
		}
		servers = append(servers, s)
		uris = append(uris, addr)
		fmt.Fprintf(out, "metastore %-7s %s  %s\n", cat.name, addr, cat.label)
	}
	g, err := demoGateway(uris, port)
	if err != nil {
		return err
	}
	defer g.Close()
	fmt.Fprintf(out, "gateway           %s  admin http://%s\n", g.Addr(), g.AdminAddr())
	if err := tour(out, g.Addr().String(), seen); err != nil {
		return err
	}
	if once {
		return nil
	}
	fmt.Fprintf(out, `
The gateway stays up; Ctrl-C ends it. Point a client at it, for example

  pip install 'pyiceberg[hive]'
  python3 -c 'from pyiceberg.catalog import load_catalog as c; print(c("x", type="hive", uri="thrift://%s").list_namespaces())'

`, g.Addr())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	defer signal.Stop(signals)
	<-signals
	return g.Drain(context.Background())
}

// embedded starts a filled in-memory metastore on a free port.
func embedded(name, label string, onCall witnessFunc) (*memhms.Server, string, error) {
	inv, err := profiles.Load(label)
	if err != nil {
		return nil, "", err
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", err
	}
	s := memhms.New(memhms.Config{Inventory: inv, Name: name, OnCall: onCall})
	memhms.Demo(name)(s)
	go func() { _ = s.Serve(ln) }()
	return s, "thrift://" + ln.Addr().String(), nil
}

// demoGateway starts the gateway on port or the next free one.
func demoGateway(uris []string, port int) (*gateway.Gateway, error) {
	addr, err := freeAddr(port)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "listen: %s\nadmin: 127.0.0.1:0\nlog: {level: warn, format: console}\nrouting.default-catalog: %s\ncatalog:\n", addr, demoCatalogs[0].name)
	for i, cat := range demoCatalogs {
		fmt.Fprintf(&b, "  %s: {uris: %s}\n", cat.name, uris[i])
	}
	cfg, err := config.Parse("demo.yaml", config.YAML, []byte(b.String()))
	if err != nil {
		return nil, err
	}
	log := zerolog.Nop() // the tour shows what matters
	g, err := gateway.New(cfg, log, version)
	if err != nil {
		return nil, err
	}
	return g, g.Start()
}

// freeAddr is the first free address from a port on; port 0 leaves the choice
// to the system.
func freeAddr(port int) (string, error) {
	var last error
	for p := port; p < port+100; p++ {
		addr := fmt.Sprintf("127.0.0.1:%d", p)
		ln, err := net.Listen("tcp", addr)
		if err != nil {
			last = err
			continue
		}
		defer ln.Close()
		return ln.Addr().String(), nil
	}
	return "", fmt.Errorf("no free port from %d on: %w", port, last)
}
