package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestExplainCommand(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		want string // in the output, or in the error
		fail bool
	}{
		{"any backend", []string{"get_table"}, "front auto, back auto", false},
		{"a bridge", []string{"get_table", "--back", "apache-4.1.0"}, "at this backend: as get_table_req\n", false},
		{"a pair", []string{"drop_partitions_req", "--front", "apache-3.1.3", "--back", "apache-4.1.0"},
			"refused: a partition expression of another Hive generation", false},
		{"no such version", []string{"get_table", "--back", "apache-9"}, `no profile "apache-9": there are apache-2.3.10, `, true},
		{"no such method", []string{"get_tabel", "--back", "apache-4.1.0"}, `no method "get_tabel"`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := explainCommand()
			var out bytes.Buffer
			cmd.SetOut(&out)
			cmd.SetErr(&out)
			cmd.SetArgs(c.args)
			err := cmd.Execute()
			got := out.String()
			if err != nil {
				got = err.Error()
			}
			if (err != nil) != c.fail || !strings.Contains(got, c.want) {
				t.Errorf("got %s (error: %v), want %q in it", got, err, c.want)
			}
		})
	}
}
