package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"hmsgate/internal/config"
	"hmsgate/internal/gateway"
	"hmsgate/profiles"
	"hmsgate/route"
)

func serveCommand() *cobra.Command {
	var file string
	c := &cobra.Command{
		Use:   "serve -c FILE",
		Short: "Run the gateway",
		Long: `Run the gateway until SIGTERM or SIGINT, then drain: readiness off, listeners closed, calls in
flight finished. A second signal cuts.

The smallest configuration for two catalogs:

    listen: 127.0.0.1:9083
    admin: 127.0.0.1:19083
    routing.default-catalog: hdp
    catalog:
      hdp:    {uris: thrift://127.0.0.1:29083}
      apache: {uris: thrift://127.0.0.1:29084}`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := loadSite(file)
			if err != nil {
				return err
			}
			g, err := gateway.New(s.cfg, logger(s.cfg.Log), version)
			if err != nil {
				return usageError{err}
			}
			return serve(g)
		},
	}
	c.Flags().StringVarP(&file, "config", "c", "", "configuration: a .yaml or .properties file")
	return c
}

// site is a configuration and what it makes.
type site struct {
	cfg      *config.Config
	profiles *profiles.Set
	table    *route.Table
}

// loadSite reads a configuration and checks all that can be checked without
// opening a socket.
func loadSite(file string) (*site, error) {
	if file == "" {
		return nil, usageError{errors.New("no configuration: give one with -c FILE")}
	}
	cfg, err := config.Load(file)
	if err != nil {
		return nil, usageError{err}
	}
	s := &site{cfg: cfg}
	if s.profiles, err = gateway.Profiles(cfg); err != nil {
		return nil, usageError{err}
	}
	if s.table, err = gateway.Table(cfg); err != nil {
		return nil, usageError{fmt.Errorf("%s: %w", file, err)}
	}
	return s, nil
}

func logger(l config.Log) zerolog.Logger {
	level, err := zerolog.ParseLevel(l.Level)
	if err != nil {
		level = zerolog.InfoLevel
	}
	zerolog.TimeFieldFormat = zerolog.TimeFormatUnixMs
	var out zerolog.Logger
	if l.Format == "console" {
		out = zerolog.New(zerolog.ConsoleWriter{Out: os.Stderr, TimeFormat: "15:04:05.000", NoColor: !terminal(os.Stderr)})
	} else {
		zerolog.TimeFieldFormat = "2006-01-02T15:04:05.000Z07:00"
		out = zerolog.New(os.Stderr)
	}
	return out.Level(level).With().Timestamp().Logger()
}

func terminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// serve runs g until a signal, then drains it, and tells the service manager
// of both.
func serve(g *gateway.Gateway) error {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	defer signal.Stop(signals)
	if err := g.Start(); err != nil {
		return err
	}
	if err := notify("READY=1"); err != nil {
		g.Close()
		return fmt.Errorf("service manager: %w", err)
	}
	<-signals
	_ = notify("STOPPING=1") // it sees that for itself
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- g.Drain(ctx) }()
	select {
	case err := <-done:
		return err
	case <-signals:
		cancel()
		return <-done
	}
}
