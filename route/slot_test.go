package route

import (
	"encoding/binary"
	"errors"
	"testing"

	"hmsgate/profiles"
	"hmsgate/rewrite"
)

func slotTable(t *testing.T, slots ...uint16) (*Table, error) {
	t.Helper()
	cfg := Config{Default: "hdp", Separator: "__", PreserveBackendCatalog: true}
	for i, name := range []string{"hdp", "apache", "third"} {
		c := CatalogConfig{Name: name, URIs: []string{"h:1"}}
		if i < len(slots) {
			c.IDSlot = slots[i]
		}
		cfg.Catalogs = append(cfg.Catalogs, c)
	}
	return New(cfg)
}

func wireID(id int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(id)) }

// An id of another catalog comes back with its slot, leads back there, and
// arrives there as it was.
func TestIDsThereAndBack(t *testing.T) {
	tbl, err := slotTable(t)
	if err != nil {
		t.Fatal(err)
	}
	row := &profiles.Row{Method: "check", Class: profiles.Lock}
	for _, c := range tbl.Catalogs() {
		var b Binding
		b.Reset(tbl, nil)
		b.cat = c
		out, err := b.Reply().ID(rewrite.LockID, 7)
		if err != nil {
			t.Fatal(err)
		}
		if (out == 7) != (c == tbl.Default()) || out <= 0 || out >= 1<<62 {
			t.Errorf("%s: id 7 comes out as %d", c.Name, out)
		}
		b.Reset(tbl, nil)
		b.Add(rewrite.LockID, wireID(out))
		got, refusal := b.Route(row)
		if refusal != nil || got != c {
			t.Fatalf("id %d of %s: got %v, %v", out, c.Name, got, refusal)
		}
		if in, err := b.Call(true).ID(rewrite.LockID, out); err != nil || in != 7 {
			t.Errorf("%s: id %d goes in as %d, %v; want 7", c.Name, out, in, err)
		}
	}
}

func TestIDsRefused(t *testing.T) {
	tbl, err := slotTable(t, 0, 5, 6)
	if err != nil {
		t.Fatal(err)
	}
	var b Binding
	b.Reset(tbl, nil)
	b.Add(rewrite.DB, []byte("apache__sales"))
	if _, r := b.Route(&profiles.Row{Method: "lock", Class: profiles.Lock}); r != nil {
		t.Fatal(r)
	}
	names := b.Call(true)
	for _, c := range []struct {
		what string
		kind rewrite.Kind
		id   int64
		ok   bool
	}{
		{"its own lock", rewrite.LockID, 5<<48 | 9, true},
		{"another catalog's lock", rewrite.LockID, 6<<48 | 9, false},
		{"a lock of the default catalog", rewrite.LockID, 9, false},
		{"no transaction", rewrite.TxnID, 0, true},
		{"a transaction", rewrite.TxnID, 3, false},
		{"no write id", rewrite.WriteID, -1, true},
		{"a write id", rewrite.WriteID, 1, false},
	} {
		_, err := names.ID(c.kind, c.id)
		var r *Refusal
		if (err == nil) != c.ok || err != nil && !errors.As(err, &r) {
			t.Errorf("%s: got %v, want ok %v", c.what, err, c.ok)
		}
	}
	// a plain write of a client that is in a transaction is done outside of it
	b.Reset(tbl, nil)
	b.Add(rewrite.DB, []byte("apache__sales"))
	if _, r := b.Route(&profiles.Row{Method: "drop", Class: profiles.Write}); r != nil {
		t.Fatal(r)
	}
	if id, err := b.Call(true).ID(rewrite.TxnID, 3); id != 0 || err != nil {
		t.Errorf("the transaction of a plain write: got %d, %v; want 0", id, err)
	}
	if _, err := b.Reply().ID(rewrite.LockID, 1<<48); err == nil {
		t.Error("an id of 2^48 was cut")
	}
	// two catalogs' ids in one call
	b.Reset(tbl, nil)
	b.Add(rewrite.CompactionID, wireID(5<<48|1))
	b.Add(rewrite.CompactionID, wireID(6<<48|1))
	if c, r := b.Route(&profiles.Row{Method: "abort"}); r == nil {
		t.Errorf("ids of two catalogs went to %s", c.Name)
	}
}

func TestSlotsConfigured(t *testing.T) {
	if _, err := slotTable(t, 0, 5, 5); err == nil {
		t.Error("two catalogs with one slot")
	}
	if _, err := slotTable(t, 0, 16384); err == nil {
		t.Error("a slot that is too large")
	}
	a, err := slotTable(t)
	if err != nil {
		t.Fatal(err)
	}
	b, err := slotTable(t)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range a.Catalogs() {
		if c.slot != b.Catalogs()[i].slot {
			t.Errorf("%s: slots %d and %d", c.Name, c.slot, b.Catalogs()[i].slot)
		}
	}
}
