package memhms

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"

	"hmsgate/frame"
	"hmsgate/internal/hms"
	"hmsgate/profiles"
)

func init() {
	add("get_current_notificationEventId", func(s *Server, _ *call) (any, error) {
		return hms.Struct{"eventId": s.nexts["event"]}, nil
	}, "")
	add("get_next_notification", (*Server).nextEvents, "events")
	add("get_notification_events_count", (*Server).countEvents, "eventsCount")
	add("fire_listener_event", (*Server).fireEvent, "")
}

// eventLog is the notification log, oldest first. Messages have the form of the
// listener that writes it: JSON ("json-0.2") up to 3.1, base64 over gzip over JSON
// from 4.0 on. Keys and their order are those of recorded messages. A message is
// made when somebody reads it: what it is about never changes.
type eventLog struct{ events []event }

type event struct {
	e    hms.Struct // NotificationEvent without its message
	text func() *message
}

// message is a JSON object in the making, in order.
type message struct{ b bytes.Buffer }

func (m *message) put(key string, v any) *message {
	raw, err := json.Marshal(v)
	if err != nil { // only what JSON has goes in here
		raw = []byte("null")
	}
	if m.b.Len() > 0 {
		m.b.WriteByte(',')
	}
	k, _ := json.Marshal(key)
	m.b.Write(k)
	m.b.WriteByte(':')
	m.b.Write(raw)
	return m
}

// about begins the message of an event on a database or a table of it.
func (s *Server) about(db string, t hms.Struct) *message {
	m := (&message{}).put("server", "").put("servicePrincipal", "").put("db", db)
	if t != nil {
		m.put("table", t.Str("tableName"))
		if s.era.catalogs {
			m.put("tableType", t.Str("tableType"))
		}
	}
	return m
}

// object is a Thrift object in Thrift's JSON, as these messages carry it.
func (s *Server) object(name string, v hms.Struct) string {
	text, err := s.codec.JSON(&profiles.TypeRef{Wire: frame.Struct, Name: name}, v)
	if err != nil {
		return ""
	}
	return text
}

// note writes an event.
func (s *Server) note(kind, cat, db, table string, text func(now int64) *message) {
	now := s.now()
	e := hms.Struct{"eventId": s.next("event"), "eventTime": int32(now), "eventType": kind, "dbName": db,
		"messageFormat": "json-0.2"}
	if table != "" {
		e["tableName"] = table
	}
	if s.era.catalogs {
		e["catName"] = cat
	}
	if s.era.four {
		e["messageFormat"] = "gzip(json-2.0)"
	}
	s.log.events = append(s.log.events, event{e, func() *message { return text(now) }})
}

// whole is an event with its message.
func (s *Server) whole(e event) hms.Struct {
	text := "{" + e.text().b.String() + "}"
	if s.era.four {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Write([]byte(text))
		z.Close()
		text = base64.StdEncoding.EncodeToString(b.Bytes())
	}
	return with(e.e, "message", text)
}

func (s *Server) noteTable(kind string, t hms.Struct, text func(now int64) *message) {
	s.note(kind, t.Str("catName"), t.Str("dbName"), t.Str("tableName"), text)
}

func (s *Server) noteDatabase(kind string, db hms.Struct) {
	s.note(kind, db.Str("catalogName"), db.Str("name"), "", func(now int64) *message {
		return s.about(db.Str("name"), nil).put("timestamp", now)
	})
}

// asSent is a new table before the store filled what the client left out, which is
// what the listener sees.
func asSent(t, sent hms.Struct) hms.Struct {
	out := t.Clone()
	if sent["rewriteEnabled"] == nil {
		delete(out, "rewriteEnabled")
	}
	for _, f := range []string{"skewedInfo", "storedAsSubDirectories"} {
		if sd := out.Struct("sd"); sent.Struct("sd")[f] == nil {
			delete(sd, f)
		}
	}
	return out
}

func (s *Server) noteCreate(t hms.Struct) {
	s.noteTable("CREATE_TABLE", t, func(now int64) *message {
		return s.about(t.Str("dbName"), t).put("tableObjJson", s.object("Table", t)).put("timestamp", now).
			put("files", []string{})
	})
}

func (s *Server) noteDrop(t hms.Struct) {
	s.noteTable("DROP_TABLE", t, func(now int64) *message {
		m := s.about(t.Str("dbName"), t)
		if s.era.catalogs {
			m.put("tableObjJson", s.object("Table", t))
		}
		return m.put("timestamp", now)
	})
}

func (s *Server) noteAlter(old, t hms.Struct) {
	s.noteTable("ALTER_TABLE", old, func(now int64) *message {
		m := s.about(old.Str("dbName"), old).put("tableObjBeforeJson", s.object("Table", old)).
			put("tableObjAfterJson", s.object("Table", t))
		if s.era.catalogs {
			m.put("isTruncateOp", "false")
		}
		m.put("timestamp", now)
		if s.era.four {
			m.put("writeId", t.Int("writeId"))
		}
		return m
	})
}

// keyValues are a partition's keys with their values.
func keyValues(t, p hms.Struct) map[string]string {
	out, vals := map[string]string{}, hms.Strings(p["values"])
	for i, k := range t.Structs("partitionKeys") {
		if i < len(vals) {
			out[k.Str("name")] = vals[i]
		}
	}
	return out
}

// partFiles are the files of a new partition: none.
type partFiles struct {
	Name  string   `json:"partitionName"`
	Files []string `json:"files"`
}

// notePartitions writes ADD_PARTITION and DROP_PARTITION.
func (s *Server) notePartitions(kind string, t hms.Struct, parts []hms.Struct) {
	if len(parts) == 0 {
		return
	}
	s.noteTable(kind, t, func(now int64) *message {
		var keys []map[string]string
		var objs []string
		files := []partFiles{}
		for _, p := range parts {
			keys = append(keys, keyValues(t, p))
			objs = append(objs, s.object("Partition", p))
			if !s.era.four {
				files = append(files, partFiles{partName(t.Structs("partitionKeys"), hms.Strings(p["values"])),
					[]string{}})
			}
		}
		m := s.about(t.Str("dbName"), t).put("tableObjJson", s.object("Table", t)).put("timestamp", now).
			put("partitions", keys)
		if kind == "ADD_PARTITION" {
			m.put("partitionListJson", objs).put("partitionFiles", files)
		}
		return m
	})
}

func (s *Server) notePartition(t, old, p hms.Struct) {
	s.noteTable("ALTER_PARTITION", t, func(now int64) *message {
		m := s.about(t.Str("dbName"), t).put("tableObjJson", s.object("Table", t))
		if s.era.catalogs {
			m.put("isTruncateOp", "false")
		}
		return m.put("timestamp", now).put("keyValues", keyValues(t, p)).
			put("partitionObjBeforeJson", s.object("Partition", old)).
			put("partitionObjAfterJson", s.object("Partition", p))
	})
}

// nextEvents knows the filters that 4.x added to the request.
func (s *Server) nextEvents(c *call) (any, error) {
	out, most := []any{}, c.num("maxevents")
	skip, tables := c.strs("eventtypeskiplist"), c.strs("tablenames")
	for _, ev := range s.log.events {
		e := ev.e
		if e.Int("eventId") <= c.num("lastevent") || most > 0 && int64(len(out)) >= most {
			continue
		}
		if contains(skip, e.Str("eventType")) || len(tables) > 0 && !contains(tables, e.Str("tableName")) ||
			!same(c.str("dbname"), e.Str("dbName")) || !same(c.str("catname"), e.Str("catName")) {
			continue
		}
		out = append(out, s.whole(ev))
	}
	return out, nil
}

func (s *Server) countEvents(c *call) (any, error) {
	n := int64(0)
	for _, ev := range s.log.events {
		if ev.e.Int("eventId") > c.num("fromeventid") && same(c.str("dbname"), ev.e.Str("dbName")) {
			n++
		}
	}
	return n, nil
}

// fireEvent writes the event of an insert; 4.x answers with its id.
func (s *Server) fireEvent(c *call) (any, error) {
	n := c.db()
	t := s.findTable(n, c.table())
	if t == nil {
		return nil, errInternal
	}
	files, vals, obj := hms.Strings(c.strct("data").Struct("insertData")["filesAdded"]), c.strs("partitionvals"), t.obj
	part := hms.Struct{"values": hms.ListOf(vals)}
	if p := t.parts[partName(obj.Structs("partitionKeys"), vals)]; p != nil {
		part = p.obj
	}
	s.noteTable("INSERT", obj, func(now int64) *message {
		m := s.about(obj.Str("dbName"), obj)
		if !s.era.catalogs {
			return m.put("timestamp", now).put("files", files).put("partKeyVals", keyValues(obj, part))
		}
		m.put("tableObjJson", s.object("Table", obj))
		if part["sd"] != nil {
			m.put("ptnObjJson", s.object("Partition", part))
		}
		return m.put("timestamp", now).put("replace", "true").put("files", files)
	})
	if s.era.four {
		return hms.Struct{"eventIds": []any{s.nexts["event"]}}, nil
	}
	return nil, nil
}
