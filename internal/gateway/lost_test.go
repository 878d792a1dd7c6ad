package gateway

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"regexp"
	"testing"

	"hmsgate/frame"
	"hmsgate/internal/hms"
	"hmsgate/internal/wiretest"
	"hmsgate/profiles"
)

// replayWords are upon which clients send a call again (package session says
// which clients).
var replayWords = regexp.MustCompile(`(?i)JDO[a-zA-Z]*Exception|TProtocol|TTransport|TApplication|Got exception`)

// TestEveryCallLost: a metastore reads a call of each method and closes. What
// writes is sent once, and no client may take the answer as a reason to send it
// again (L20: Iceberg 14096 and 11814, a metadata_location went back so); what
// reads is asked once more where its row says so, and ends in an error upon
// which clients ask again themselves (L21).
func TestEveryCallLost(t *testing.T) {
	inv := sweepInventory(t, "apache-4.1.0")
	g := &sweepMessage{inv: inv, codec: hms.NewCodec(inv), kinds: sweepKinds(t), used: map[string]bool{}}
	r := sweepServe(t, sweepTwo("apache-4.1.0"))
	writes, reads := 0, 0
	for _, method := range inv.Order {
		row := &r.plans.Method([]byte(method)).Row
		if row.Oneway {
			continue
		}
		m, err := (&sweepCase{g, method}).make(&sweepForms[5], r.seq) // apache__sales
		if err != nil {
			t.Fatal(err)
		}
		r.seq++
		answered, got, err := r.exchange(m.call, nil, false)
		closed := errors.Is(err, io.EOF)
		if err != nil && !closed {
			t.Fatalf("%s: %v", method, err)
		}
		r.hangUp()
		if len(got) == 0 {
			continue // answered or refused here
		}
		sent := map[string]int{}
		for _, c := range got {
			sent[c.catalog]++
		}
		most := 1
		if row.Replay {
			most = 2
		}
		for catalog, n := range sent {
			if n != most {
				t.Errorf("%s: catalog %s got it %d times, want %d", method, catalog, n, most)
			}
		}
		if w := replayWords.Find(answered); w != nil {
			t.Errorf("%s: the answer holds %q, upon which clients replay the call", method, w)
		}
		if lostWrites(row) {
			writes++
			lostWrite(t, row, answered, closed)
		} else {
			reads++
			if !closed && !isFault(answered, frame.InternalError) {
				t.Errorf("%s: got %.200q, want an internal error or the connection closed", method, answered)
			}
		}
	}
	if t.Logf("%d writes, %d reads", writes, reads); writes < 90 || reads < 80 {
		t.Errorf("%d writes and %d reads were lost, want at least 90 and 80", writes, reads)
	}
}

// lostWrites says whether a method's outcome matters once it is unknown.
func lostWrites(row *profiles.Row) bool {
	switch row.Class {
	case profiles.Read, profiles.List, profiles.Global, profiles.Local:
		return false
	}
	return !row.Replay
}

// lostWrite checks that the client is told that nobody knows, by an exception
// that its method declares or else by one that it does not take for a fault of
// the connection, nor for a method that is not there.
func lostWrite(t *testing.T, row *profiles.Row, answered []byte, closed bool) {
	t.Helper()
	m, err := wiretest.Parse(answered)
	switch {
	case closed || err != nil:
		t.Errorf("%s: the connection was closed, upon which clients replay the call", row.Method)
	case !bytes.Contains(answered, []byte("outcome unknown")):
		t.Errorf("%s: got %.200q, want that the outcome is unknown", row.Method, answered)
	case row.Meta == 0 && row.InvalidOperation == 0 && !isFault(answered, frame.InvalidProtocol):
		t.Errorf("%s: got %.200q, want a protocol fault", row.Method, answered)
	case m.Type == wiretest.TypeReply:
		want := row.Meta
		if row.Lost != "" {
			want = row.InvalidOperation
		}
		if id := int16(binary.BigEndian.Uint16(answered[m.Body+1:])); id != want || want == 0 {
			t.Errorf("%s: declared exception %d, want %d", row.Method, id, want)
		}
	}
}

func isFault(answered []byte, kind frame.AppType) bool {
	m, err := wiretest.Parse(answered)
	tail := binary.BigEndian.AppendUint32([]byte{wiretest.WireI32, 0, 2}, uint32(kind))
	return err == nil && m.Type == wiretest.TypeException && bytes.HasSuffix(m.Bytes, append(tail, 0))
}
