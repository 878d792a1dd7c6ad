package main

import (
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"hmsgate/internal/config"
	"hmsgate/internal/gateway"
)

func idleGateway(t *testing.T) *gateway.Gateway {
	t.Helper()
	cfg, err := config.Parse("one.yaml", config.YAML, []byte("listen: 127.0.0.1:0\ncatalog: {hdp: {uris: thrift://127.0.0.1:1}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.New(cfg, zerolog.Nop(), "test")
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// A service manager hears when clients can connect and when they no longer can.
func TestServiceManager(t *testing.T) {
	for _, name := range []string{filepath.Join(t.TempDir(), "s"), fmt.Sprintf("@hmsgate-test-%d", time.Now().UnixNano())} {
		ln, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
		if err != nil {
			t.Fatal(err)
		}
		defer ln.Close()
		t.Setenv("NOTIFY_SOCKET", name)
		heard := func(want string) {
			t.Helper()
			b := make([]byte, 100)
			_ = ln.SetReadDeadline(time.Now().Add(20 * time.Second))
			if n, err := ln.Read(b); err != nil || string(b[:n]) != want {
				t.Fatalf("got %q, %v, want %q", b[:n], err, want)
			}
		}
		g, done := idleGateway(t), make(chan error, 1)
		go func() { done <- serve(g) }()
		heard("READY=1")
		c, err := net.Dial("tcp", g.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
		if err := syscall.Kill(syscall.Getpid(), syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		heard("STOPPING=1")
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// One that was promised a word and cannot get it would kill the process later.
func TestServiceManagerGone(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", filepath.Join(t.TempDir(), "none"))
	if err := serve(idleGateway(t)); err == nil || !strings.Contains(err.Error(), "service manager") {
		t.Errorf("got %v, want an error about the service manager", err)
	}
}

// What the packages install is a configuration that works.
func TestPackagedConfiguration(t *testing.T) {
	cmd := checkCommand()
	cmd.SetArgs([]string{"-c", "../../packaging/hmsgate.yaml"})
	var out strings.Builder
	cmd.SetOut(&out)
	if err := cmd.Execute(); err != nil || !strings.Contains(out.String(), "good: 2 catalogs, default hdp") {
		t.Errorf("got %q, %v", out.String(), err)
	}
}
