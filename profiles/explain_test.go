package profiles

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata/plans.golden")

// TestGoldenPlans: the printed plans of all methods. A change of rules shows
// as a diff; run with -update and review it.
func TestGoldenPlans(t *testing.T) {
	const file = "testdata/plans.golden"
	var got bytes.Buffer
	if err := ExplainAll(&got, Auto()); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	g, w := strings.Split(got.String(), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(g), len(w)) {
		if at(g, i) != at(w, i) {
			t.Fatalf("%s:%d: got %q, want %q", file, i+1, at(g, i), at(w, i))
		}
	}
}

func TestExplain(t *testing.T) {
	for _, c := range []struct {
		method string
		want   []string
	}{
		{"get_table", []string{
			"get_table\n  front auto, back auto\n  class read, where names\n  replay, cache table\n",
			"  refused with 1:MetaException 2:NoSuchObjectException\n",
			"    1  dbname  string  db@\n",
			"    0.2 ", "success.dbName", "success.sd.cols",
			"see Table", "success.viewOriginalText",
		}},
		{"add_dynamic_partitions", []string{"rqst.dbname", "db, latch", "db, unless latched", "  reply: copied unseen"}},
		{"shutdown", []string{"class local, where nowhere\n  answer nothing, oneway\n  call: copied unseen"}},
		{"add_write_ids_to_min_history", []string{"2.{k}", "table_full", "2.{v}", "write_id"}},
		{"get_partition_names", []string{"refused with an application exception"}},
	} {
		t.Run(c.method, func(t *testing.T) {
			var got bytes.Buffer
			if err := Explain(&got, Auto(), c.method); err != nil {
				t.Fatal(err)
			}
			for _, want := range c.want {
				if !strings.Contains(got.String(), want) {
					t.Errorf("got\n%s\nwant %q in it", got.String(), want)
				}
			}
		})
	}
	err := Explain(&bytes.Buffer{}, Auto(), "get_nothing")
	if err == nil || !strings.Contains(err.Error(), `no method "get_nothing" in profile auto`) {
		t.Errorf("got %v, want an error that names the method", err)
	}
}
