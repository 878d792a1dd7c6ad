package main

import (
	"fmt"
	"slices"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"hmsgate/internal/gateway"
	"hmsgate/internal/outbound"
)

func checkCommand() *cobra.Command {
	var file string
	var print bool
	c := &cobra.Command{
		Use:   "check -c FILE [--print]",
		Short: "Check a configuration without running it",
		Long: `Check a configuration: every error with file, line, key, value and what is allowed, and the keytab, krb5.conf and
certificates that it names. With --print
the effective value of every key and where it came from. Exit code 0 when it is good, 2 when not.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := loadSite(file)
			if err != nil {
				return err
			}
			if err := gateway.CheckSecurity(s.cfg); err != nil {
				return usageError{err}
			}
			// The files it names; no KDC and no metastore is asked.
			if _, err := outbound.New(s.cfg, outbound.Options{Log: zerolog.Nop()}); err != nil {
				return usageError{err}
			}
			for _, note := range slices.Concat(s.cfg.Notes, s.profiles.Notes(), s.table.Warnings()) {
				fmt.Fprintln(c.ErrOrStderr(), note)
			}
			if print {
				return s.cfg.WriteEffective(c.OutOrStdout())
			}
			fmt.Fprintf(c.OutOrStdout(), "%s: good: %d catalogs, default %s\n", file, len(s.cfg.Catalogs), s.table.Default().Name)
			return nil
		},
	}
	c.Flags().StringVarP(&file, "config", "c", "", "configuration: a .yaml or .properties file")
	c.Flags().BoolVar(&print, "print", false, "print the effective value of every key")
	return c
}
