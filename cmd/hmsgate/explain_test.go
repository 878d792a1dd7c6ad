package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hmsgate/profiles"
)

func TestExplainCommand(t *testing.T) {
	const text = "listen: :0\nlistener.trino: {bind: ':0', default-catalog: apache, frontend-profile: apache-3.1.3}\n" +
		"routing.default-catalog: hdp\ncatalog:\n  hdp: {uris: thrift://h:1}\n  apache: {uris: thrift://h:2}\n"
	two, all := filepath.Join(t.TempDir(), "two.yaml"), filepath.Join(t.TempDir(), "all.yaml")
	for file, more := range map[string]string{two: "", all: "routing.federated-lists: all\n"} {
		if err := os.WriteFile(file, []byte(text+more), 0o644); err != nil {
			t.Fatal(err)
		}
	}
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
		{"a merged list", []string{"get_databases", "-c", two, "pattern=apache__s*"},
			"  answered here: merge-names\n  catalog  hdp, not asked: nothing of it can be meant\n" +
				"  catalog  apache, asked\n  uri      thrift://h:2\n" +
				"  db_pattern@ \"apache__s*\" is sent as \"s*\"\n  merged   names sorted, each once\n", false},
		{"a list that one catalog answers", []string{"get_databases_req", "-c", two, "pattern=*"},
			"  catalog  hdp, by default catalog\n", false},
		{"the same by setting", []string{"get_databases_req", "-c", all, "pattern=*"},
			"  merged   elements in the order of the catalogs\n", false},
		{"a merged list of one catalog", []string{"get_databases_req", "-c", all, "pattern=*", "cat=apache"},
			"  catalog  apache, by ", false},
		{"a kind that the method lacks", []string{"get_table", "-c", two, "pattern=x"},
			`argument "pattern=x": want KEY=VALUE; calls of get_table hold db`, true},
		{"no kinds at all", []string{"get_all_functions", "-c", two, "db=x"},
			`argument "db=x": calls of get_all_functions hold no names`, true},
		{"a listener", []string{"get_table", "-c", two, "--listener", "trino", "db=sales"},
			"front apache-3.1.3, back auto", false},
		{"a listener's default catalog", []string{"get_table", "-c", two, "--listener", "trino", "db=sales"},
			"  catalog  apache, by ", false},
		{"a front beside a listener", []string{"get_table", "-c", two, "--listener", "trino", "--front", "apache-4.0.0", "db=sales"},
			"front apache-4.0.0, back auto", false},
		{"no such listener", []string{"get_table", "-c", two, "--listener", "x", "db=sales"},
			`no listener "x" in the configuration: there are server, trino`, true},
		{"a listener of nothing", []string{"get_table", "--listener", "trino"}, "give one with -c FILE", true},
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

// Every answer that merges says how.
func TestMergedHow(t *testing.T) {
	for _, a := range profiles.Answers() {
		if strings.HasPrefix(a, "merge-") || strings.HasPrefix(a, "all-") {
			if mergedHow[a] == "" {
				t.Errorf("%s: explain does not say how it merges", a)
			}
		}
	}
	for a := range mergedHow {
		if !slices.Contains(profiles.Answers(), a) {
			t.Errorf("%s is no answer", a)
		}
	}
}
