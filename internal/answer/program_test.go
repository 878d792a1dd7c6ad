package answer_test

import (
	"slices"
	"testing"

	"hmsgate/internal/answer"
	"hmsgate/internal/hms"
	"hmsgate/profiles"
)

// TestEveryNameIsAnAnswer: rows and bridges name what there is, all of it.
func TestEveryNameIsAnAnswer(t *testing.T) {
	have, err := answer.Answers(answer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	names := slices.Concat(profiles.Answers(), profiles.Programs())
	for _, n := range names {
		if have[n] == nil {
			t.Errorf("no implementation of %s", n)
		}
	}
	for n := range have {
		if !slices.Contains(names, n) {
			t.Errorf("%s: nothing may name it", n)
		}
	}
}

// A filter on names alone is applied here; one that has more to it is the
// metastore's to understand. Names compare as Hive's do.
func TestTableLists(t *testing.T) {
	f := newFront(t)
	c := f.dial("apache-4.1.0")
	const name = `hive_filter_field_tableName__ like "orders"`
	for _, filter := range []string{name, name + ` or hive_filter_field_tableName__ like "zzz"`, name + ` and hive_filter_field_owner__ = "hive"`} {
		v, err := c.try("get_table_names_by_filter", hms.Struct{"dbname": "sales", "filter": filter, "max_tables": int16(-1)})
		asked := len(f.hdp.calls("get_table_names_by_filter"))
		switch {
		case filter == name && (err != nil || !slices.Equal(hms.Strings(v), names("orders")) || asked != 0):
			t.Errorf("%s: got %v, %v, metastore asked %d times", filter, v, err, asked)
		case filter != name && asked == 0:
			t.Errorf("%s: got %v, %v, and the metastore was not asked", filter, v, err)
		}
	}
	v := c.must("get_table_objects_by_name_req", hms.Struct{"req": hms.Struct{"dbName": "sales", "tblNames": []any{"ORDERS"}, "tablesPattern": "*"}})
	if got := v.(hms.Struct).List("tables"); len(got) != 1 {
		t.Errorf("a name in capitals and a pattern: got %v, want the table", got)
	}
}
