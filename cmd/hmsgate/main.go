package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

// version is set by the linker (make build).
var version = "dev"

// Exit codes (doc.go).
const (
	exitFailed = 1
	exitUsage  = 2
)

// usageError is the caller's mistake.
type usageError struct{ error }

func main() {
	if err := root().Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "hmsgate:", err)
		var usage usageError
		if errors.As(err, &usage) {
			os.Exit(exitUsage)
		}
		os.Exit(exitFailed)
	}
}

func root() *cobra.Command {
	c := &cobra.Command{
		Use:   "hmsgate",
		Short: "A byte-level Thrift gateway in front of several Hive Metastores",
		Long: `hmsgate stands in front of several Hive Metastores and looks like one. Clients keep their
thrift://host:9083; names such as apache__sales lead to the metastore that owns them, and
every byte that is not a name is copied unseen.

A first look, with two embedded metastores:   hmsgate demo
Against your own:                             hmsgate serve -c hmsgate.yaml`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       version,
	}
	c.SetVersionTemplate("hmsgate {{.Version}}\n")
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	c.AddCommand(serveCommand(), checkCommand(), explainCommand(), demoCommand(), versionCommand())
	c.CompletionOptions.HiddenDefaultCmd = true
	return c
}

// noArgs is cobra.NoArgs as a usage error.
func noArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("unexpected argument %q", args[0])}
	}
	return nil
}
