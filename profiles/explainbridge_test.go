package profiles

import (
	"bytes"
	"strings"
	"testing"
)

// TestExplainBridge: what people read of a method at a known backend.
func TestExplainBridge(t *testing.T) {
	for _, c := range []struct {
		front, back, method string
		want                []string
	}{
		{AutoLabel, "apache-4.1.0", "get_table", []string{"at this backend: as get_table_req\n",
			"arguments become fields of 1\n",
			"1 dbname: its catalog becomes field 4, db_part\n", "0 success: unwrapped\n", "1 table: becomes 0\n"}},
		{AutoLabel, "apache-3.1.3", "create_table_req", []string{
			"at this backend: as create_table_with_environment_context or create_table_with_constraints\n",
			"not with primaryKeys", "not told: envContext\n", "3 primaryKeys: becomes 2\n"}},
		{AutoLabel, "apache-3.1.3", "alter_table_req",
			[]string{"refused: writeId: the backend would not know the write id\n",
				"2 dbName: at_db, becomes 1\n", "0 inserted: an empty struct\n"}},
		{AutoLabel, "apache-3.1.3", "get_partitions_req", []string{"0 success: wrapped, as field 1 of a struct\n",
			"inserted unless 4 is there: 5 bytes\n"}},
		{AutoLabel, "apache-3.1.3", "get_all_table_constraints", []string{"at this backend: program\n",
			"program constraints\n",
			"checkConstraints: get_check_constraints\n", "not told: validWriteIdList, tableId\n"}},
		{AutoLabel, "apache-3.1.3", "get_table_objects_by_name_req", []string{"at this backend: program for some\n",
			"tables-by-pattern"}},
		{AutoLabel, "apache-3.1.3", "get_dataconnectors", []string{"at this backend: here\n", "since: there are none\n"}},
		{AutoLabel, "apache-3.1.3", "get_index_by_name", []string{"at this backend: never\n",
			"since: no indexes since 3.0\n"}},
		{AutoLabel, "apache-2.3.10", "get_role_names", []string{"at this backend: same\n",
			"empty answer when the backend does not know it\n"}},
		{"apache-3.1.3", "apache-4.1.0", "drop_partitions_req",
			[]string{"refused: a partition expression of another Hive generation\n"}},
		{"apache-4.1.0", "apache-3.1.3", "show_locks", []string{"at this backend: program for some\n", "program locks-of-txn\n"}},
		{"apache-4.1.0", "apache-3.1.3", "add_partitions_req", []string{"at this backend: program for some\n",
			"refused: timestampStats: the backend has no statistics of timestamps\n", "    program add-partitions\n"}},
		{"apache-4.1.0", "apache-3.1.3", "allocate_table_write_ids",
			[]string{"at this backend: same\n", "refused: reallocate: the backend cannot reallocate write ids\n"}},
	} {
		t.Run(c.method+" at "+c.back, func(t *testing.T) {
			front, err := AutoInventory()
			if c.front != AutoLabel {
				front = mustLoad(t, c.front)
			}
			if err != nil {
				t.Fatal(err)
			}
			p, err := Compile(front, mustLoad(t, c.back))
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			if err := Explain(&got, p, c.method); err != nil {
				t.Fatal(err)
			}
			for _, want := range c.want {
				if !strings.Contains(got.String(), want) {
					t.Errorf("got\n%s\nwant %q in it", got.String(), want)
				}
			}
		})
	}
}
