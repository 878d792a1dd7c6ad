package route

import (
	"fmt"
	"hash/fnv"
	"strconv"

	"hmsgate/profiles"
	"hmsgate/rewrite"
)

// Locks and compactions are numbered by each metastore for itself. An id of
// another catalog than the default one reaches the client as
//
//	slot << 48 | id
//
// where slot is the catalog's own number. So a check, heartbeat or release
// finds its metastore in the id, without memory and by any instance of the
// gateway, and never meets another metastore's lock of the same number. Slots
// up to 16383 keep ids below 2^62: positive in Java, and apart from the ids
// that the Java proxy makes up.
const (
	slotShift = 48
	maxSlot   = 1<<14 - 1
	idMask    = 1<<slotShift - 1
)

// Slot is a catalog's slot unless the configuration says otherwise: a
// hash of its name, the same in every instance and after every restart.
func Slot(name string) uint16 {
	h := fnv.New32a()
	for i := 0; i < len(name); i++ {
		h.Write([]byte{lower(name[i])})
	}
	return uint16(h.Sum32()%maxSlot) + 1
}

// setSlots gives each catalog its slot; the default catalog has none.
func (t *Table) setSlots() error {
	taken := map[uint16]*Catalog{}
	for _, c := range t.catalogs {
		if c == t.def {
			c.slot = 0
			continue
		}
		if c.slot == 0 {
			c.slot = Slot(c.Name)
		}
		if c.slot > maxSlot {
			return fmt.Errorf("catalog %q: id slot %d: allowed is 1 to %d", c.Name, c.slot, maxSlot)
		}
		if o := taken[c.slot]; o != nil {
			return fmt.Errorf("catalogs %q and %q share id slot %d: give one another with catalog.<n>.id-slot",
				o.Name, c.Name, c.slot)
		}
		taken[c.slot] = c
	}
	return nil
}

// slotted says whether ids of a kind carry a slot.
func slotted(k rewrite.Kind) bool { return k == rewrite.LockID || k == rewrite.CompactionID }

// addID takes in an id, eight bytes big-endian: one with a slot names a catalog.
func (b *Binding) addID(v []byte) {
	if len(v) != 8 {
		return
	}
	id := int64(0)
	for _, c := range v {
		id = id<<8 | int64(c)
	}
	if c := b.tbl.ofID(id); c != nil {
		b.addHint(c, ByID, strconv.AppendInt(nil, id, 10))
	}
}

// ofID is the catalog whose slot an id carries; nil for none.
func (t *Table) ofID(id int64) *Catalog {
	if id < 1<<slotShift || id>>slotShift > maxSlot {
		return nil
	}
	for _, c := range t.catalogs {
		if c.slot == uint16(id>>slotShift) {
			return c
		}
	}
	return nil
}

// ID implements rewrite.Names. Transactions and write ids live in the default
// catalog: another metastore has none of that number, or somebody else's. A
// plain write there (Hive 4 tells drop_database its transaction) is done
// outside of any transaction; what works with the transaction is refused.
func (n *inward) ID(k rewrite.Kind, id int64) (int64, error) {
	def := n.b.tbl.def
	switch {
	case slotted(k):
		if c := n.b.tbl.ofID(id); c != nil && c != n.cat || c == nil && n.cat != def && id > 0 {
			return 0, n.refuse(ByID, strconv.AppendInt(nil, id, 10))
		}
		if n.cat.slot != 0 {
			return id & idMask, nil
		}
	case k == rewrite.TxnID && id > 0 && n.cat != def && n.b.class == profiles.Write:
		return 0, nil
	case (k == rewrite.TxnID || k == rewrite.WriteID) && id > 0 && n.cat != def:
		return 0, &Refusal{Exception: Meta, Reason: Elsewhere, Text: textAcidElsewhere(n.b.method, n.cat, def)}
	}
	return id, nil
}

// ID implements rewrite.Names. An id too large to carry a slot is no id a
// metastore counts to; it is refused, not cut.
func (n *outward) ID(k rewrite.Kind, id int64) (int64, error) {
	if !slotted(k) || n.cat.slot == 0 || id <= 0 {
		return id, nil
	}
	if id > idMask {
		return 0, fmt.Errorf("%s %d of catalog %q: at most %d can be told from other catalogs' ids", k, id, n.cat.Name, int64(idMask))
	}
	return int64(n.cat.slot)<<slotShift | id, nil
}
