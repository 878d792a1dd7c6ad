package main

import (
	"flag"
	"fmt"
	"net"
	"os"
	"strings"
	"time"
)

func main() {
	if len(os.Args) < 2 {
		fail(fmt.Errorf("usage: bench all|soak|backend|pipe|codec|spin|walk|matrix|big|hold|short, see the package's doc.go"))
	}
	a := os.Args[2:]
	var err error
	switch name := os.Args[1]; name {
	case "all":
		err = all(a)
	case "soak":
		err = soak(a)
	case "backend":
		err = serve(a, 1, func(ln net.Listener) { serveBackend(ln) })
	case "pipe":
		err = serve(a, 2, func(ln net.Listener) { servePipe(ln, a[1]) })
	case "codec":
		err = serve(a, 4, func(ln net.Listener) { serveCodec(ln, a[1], a[2], a[3]) })
	case "walk":
		var b strings.Builder
		if err = walkTable(&b, time.Second); err == nil {
			fmt.Print(b.String())
		}
	case "spin":
		spin()
	case "matrix", "big", "hold", "short":
		err = one(name, a)
	default:
		err = fmt.Errorf("bench: unknown command %q", name)
	}
	if err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// serve listens on the first argument, says where, and serves until the process is ended.
func serve(args []string, want int, f func(net.Listener)) error {
	if len(args) != want {
		return fmt.Errorf("bench: got %d arguments, want %d, see the package's doc.go", len(args), want)
	}
	ln, err := net.Listen("tcp", args[0])
	if err != nil {
		return err
	}
	raiseFileLimit()
	fmt.Println(ln.Addr())
	f(ln)
	return nil
}

// one runs a part of the measurement on targets that are already there.
func one(name string, args []string) error {
	fs := flag.NewFlagSet(name, flag.ExitOnError)
	rounds := fs.Int("rounds", 3, "turns of each target")
	dur := fs.Duration("dur", 800*time.Millisecond, "of one turn")
	clients := fs.Int("clients", idleClients, "connections of hold")
	if err := fs.Parse(args); err != nil {
		return err
	}
	raiseFileLimit()
	r := run{when: time.Now(), rushes: map[string][]rush{}}
	for _, s := range fs.Args() {
		t, err := parseTarget(s)
		if err != nil {
			return err
		}
		r.targets = append(r.targets, t)
	}
	return r.part(name, *rounds, *dur, *clients)
}
