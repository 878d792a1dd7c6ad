package gateway

import (
	"bytes"
	"fmt"
	"testing"

	"hmsgate/frame"
	"hmsgate/internal/hms"
	"hmsgate/internal/wiretest"
	"hmsgate/profiles"
)

// TestRecordingsAreWalked: every message of every real client and server is
// walked to its last byte, by skip and by plan, of all versions in one and of
// the pair at hand; no planned value has another type; a rename there and
// back gives the same bytes.
func TestRecordingsAreWalked(t *testing.T) {
	run, renamed := newRecRun(), 0
	plans := map[string]*profiles.Plans{}
	msgs := recMessages(t)
	for i := range msgs {
		m := &msgs[i]
		if m.plan == nil {
			t.Errorf("%s: no inventory has method %s", m.recording, m.Method)
			continue
		}
		if err := recSkipped(m.Bytes); err != nil {
			t.Errorf("%s %s: %v", m.recording, m.Method, err)
		}
		for _, p := range []*profiles.Plans{profiles.Auto(), recPlans(t, plans, m, m.sender(), m.sender())} {
			n, err := recThereAndBack(run, p, m)
			if err != nil {
				t.Errorf("%s %s, plans of %s: %v", m.recording, m.Method, p.Front, err)
			}
			renamed += n
		}
		// What differs between the two versions is edited: the walk ends where it should, and that is all.
		pair := recPlans(t, plans, m, m.client, m.server)
		if _, err := run.whole(m.Bytes, m.call, pair, pair.Method([]byte(m.Method)), nil); err != nil {
			t.Errorf("%s %s, front %s back %s: %v", m.recording, m.Method, pair.Front, pair.Back, err)
		}
	}
	if t.Logf("%d messages, %d names and ids", len(msgs), renamed); len(msgs) < 5000 || renamed < 20000 {
		t.Errorf("%d messages with %d names and ids, want at least 5000 and 20000", len(msgs), renamed)
	}
}

// recSkipped skips a message and must end at its end.
func recSkipped(msg []byte) error {
	w := frame.NewWindow(bytes.NewReader(msg), nil)
	defer w.Release()
	w.Start(0, 0)
	if _, err := w.Header(false); err != nil {
		return err
	}
	if err := w.Skip(frame.Struct, 0); err != nil {
		return err
	}
	if w.Pos() != int64(len(msg)) {
		return fmt.Errorf("skipped %d of %d bytes", w.Pos(), len(msg))
	}
	return nil
}

// recPlans is the plans of two versions, those of all where one is not known
// or lacks the method.
func recPlans(t *testing.T, plans map[string]*profiles.Plans, m *recMessage, front, back string) *profiles.Plans {
	t.Helper()
	if front == "" {
		return profiles.Auto()
	}
	key := front + " " + back
	if plans[key] == nil {
		p, err := profiles.Compile(sweepLoad(t, front), sweepLoad(t, back))
		if err != nil {
			t.Fatal(err)
		}
		plans[key] = p
	}
	if p := plans[key]; p.Method([]byte(m.Method)) != nil {
		return p
	}
	return profiles.Auto()
}

// recThereAndBack renames a message and back, and counts what it renamed.
func recThereAndBack(run *recRun, p *profiles.Plans, m *recMessage) (int, error) {
	plan := p.Method([]byte(m.Method))
	plain, err := run.whole(m.Bytes, m.call, p, plan, nil) // a required field that the version lacks is added
	if err != nil {
		return 0, err
	}
	there, back := &recNames{prefix: "p__", all: true}, &recNames{prefix: "p__", all: true, remove: true}
	out, err := run.whole(m.Bytes, m.call, p, plan, there)
	if err != nil {
		return 0, err
	}
	if run.k.Unseen > 0 {
		return 0, fmt.Errorf("%d planned values of another type", run.k.Unseen)
	}
	if bytes.Equal(out, plain) != (there.edits == 0) {
		return 0, fmt.Errorf("%d names edited, yet bytes are equal: %v", there.edits, there.edits != 0)
	}
	if out, err = run.whole(out, m.call, p, plan, back); err != nil {
		return 0, fmt.Errorf("back: %w", err)
	}
	return there.edits, sweepSame("there and back", out, plain)
}

// TestRecordingsHoldKnownFields: read and written by the sender's own
// inventory a message is the same again, so no field of it is unknown.
func TestRecordingsHoldKnownFields(t *testing.T) {
	msgs, checked := recMessages(t), 0
	for i := range msgs {
		m := &msgs[i]
		label := m.sender()
		if label == "" || m.Type == wiretest.TypeException {
			continue
		}
		inv := sweepLoad(t, label)
		if inv.Methods[m.Method] == nil {
			continue // a call that this version does not know
		}
		checked++
		if err := recRecoded(hms.NewCodec(inv), m); err != nil {
			t.Errorf("%s %s by %s: %v", m.recording, m.Method, label, err)
		}
	}
	if t.Logf("%d messages", checked); checked < 4000 {
		t.Errorf("%d messages checked, want at least 4000", checked)
	}
}

func recRecoded(c *hms.Codec, m *recMessage) error {
	v, err := c.DecodeMessage(m.Bytes)
	if err != nil {
		return err
	}
	var out []byte
	switch {
	case m.call:
		out, err = c.EncodeCall(m.Method, m.Seq, v.Args)
	case v.Thrown != nil:
		out, err = c.EncodeReply(m.Method, m.Seq, v.Thrown)
	default:
		out, err = c.EncodeReply(m.Method, m.Seq, v.Result)
	}
	if err != nil {
		return err
	}
	if len(out) == len(m.Bytes) {
		return nil // fields in another order, or the same bytes
	}
	return sweepSame("written again", out, m.Bytes)
}

// TestRecordingsInPieces: however the stream is cut, raw and framed, the same
// bytes come out. Messages up to 4 KB are cut at every byte, longer ones at
// 200 places; with -short and under the race detector at a sample of them.
func TestRecordingsInPieces(t *testing.T) {
	run, msgs, cuts := newRecRun(), recMessages(t), 0
	names := &recNames{prefix: "apache__"}
	unique := map[string]bool{}
	for i := range msgs {
		m := &msgs[i]
		key := string(m.Bytes[:8+len(m.Method)]) + string(m.Bytes[m.Body:])
		if m.plan == nil || unique[key] {
			continue
		}
		unique[key] = true
		want, err := run.whole(m.Bytes, m.call, profiles.Auto(), m.plan, names)
		if err != nil {
			t.Fatal(err)
		}
		for _, framed := range []bool{false, true} {
			n, err := recPieces(run, m, framed, want)
			if cuts += n; err != nil {
				t.Errorf("%s %s, framed %v, cut %d: %v", m.recording, m.Method, framed, n, err)
			}
		}
	}
	t.Logf("%d messages, %d cuts", len(unique), cuts)
}

func recPieces(run *recRun, m *recMessage, framed bool, want []byte) (cuts int, err error) {
	stream := m.Bytes
	if framed {
		stream = wiretest.Framed(stream)
	}
	step := 1
	if len(stream) > 4<<10 {
		step = len(stream)/200 + 1
	}
	if testing.Short() || sweepRace {
		step *= 41
	}
	names := &recNames{prefix: "apache__"}
	for at := 1; at < len(stream); at += step {
		run.part = recParts{stream[:at], stream[at:]}
		var got []byte
		if framed {
			got, err = run.edit(frame.NewFrameReader(&run.part, 0), m.call, profiles.Auto(), m.plan, names)
		} else {
			got, err = run.edit(&run.part, m.call, profiles.Auto(), m.plan, names)
		}
		cuts++
		if err == nil {
			err = sweepSame("the output", got, want)
		}
		if err != nil {
			return at, err
		}
	}
	return cuts, nil
}
