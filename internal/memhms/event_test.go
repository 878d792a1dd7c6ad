package memhms

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"testing"

	"hmsgate/internal/hms"
)

// text is an event's message in the clear.
func (r *rig) text(e hms.Struct) map[string]any {
	r.Helper()
	raw := []byte(e.Str("message"))
	if e["messageFormat"] == "gzip(json-2.0)" {
		b, err := base64.StdEncoding.DecodeString(e.Str("message"))
		if err != nil {
			r.Fatal(err)
		}
		z, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			r.Fatal(err)
		}
		if raw, err = io.ReadAll(z); err != nil {
			r.Fatal(err)
		}
	}
	var out map[string]any
	if err := json.Unmarshal(raw, &out); err != nil {
		r.Fatalf("%s: %v", raw, err)
	}
	return out
}

func TestEvents(t *testing.T) {
	each(t, func(t *testing.T, r *rig, label string) {
		r.createDB("d")
		r.createTable(simple("d", "t", "ds", "string"))
		from := r.ok("get_current_notificationEventId", nil).(hms.Struct)["eventId"]
		r.is(int64(2), from)
		r.addParts("d", "t", []string{"1"})
		n := r.get("d", "t")
		n["owner"] = "you"
		r.ok("alter_table", hms.Struct{"dbname": "d", "tbl_name": "t", "new_tbl": n})
		r.ok("fire_listener_event", hms.Struct{"rqst": hms.Struct{"successful": true, "dbName": "d", "tableName": "t",
			"partitionVals": []string{"1"},
			"data":          hms.Struct{"insertData": hms.Struct{"filesAdded": []string{"file:/f"}}}}})
		r.ok("drop_partition", hms.Struct{"db_name": "d", "tbl_name": "t", "part_vals": []string{"1"}})
		r.ok("drop_table", hms.Struct{"dbname": "d", "name": "t"})
		events := r.ok("get_next_notification", hms.Struct{"rqst": hms.Struct{"lastEvent": from,
			"maxEvents": 100}}).(hms.Struct).Structs("events")
		var kinds []string
		for _, e := range events {
			kinds = append(kinds, e.Str("eventType"))
			m := r.text(e)
			if m["db"] != "d" || m["table"] != "t" || m["timestamp"] != float64(1_700_000_000) {
				t.Errorf("%s: %v", e["eventType"], m)
			}
			for _, k := range []string{"tableObjJson", "tableObjBeforeJson", "tableObjAfterJson", "ptnObjJson"} {
				if s, ok := m[k].(string); ok && !json.Valid([]byte(s)) {
					t.Errorf("%s: %s is not JSON: %s", e["eventType"], k, s)
				}
			}
		}
		r.is([]string{"ADD_PARTITION", "ALTER_TABLE", "INSERT", "DROP_PARTITION", "DROP_TABLE"}, hms.ListOf(kinds))
		if l := r.ok("get_next_notification", hms.Struct{"rqst": hms.Struct{"lastEvent": 0,
			"maxEvents": 1}}).(hms.Struct).Structs("events"); len(l) != 1 || l[0]["eventType"] != "CREATE_DATABASE" {
			t.Errorf("first: %v", l)
		}
		if r.has("get_notification_events_count") {
			r.is(int64(5), r.ok("get_notification_events_count", hms.Struct{"rqst": hms.Struct{"fromEventId": from,
				"dbName": "d"}}).(hms.Struct)["eventsCount"])
		}
	})
}
