package profiles

import "strings"

// Generations are sets of Hive generations that a client or backend may be of.
type Generations uint8

const (
	Gen2   Generations = 1 << iota // 2.x
	Gen3                           // 3.x, HDP 3 included
	Gen4                           // 4.x
	AnyGen = Gen2 | Gen3 | Gen4
)

// GenerationOf is the generation of an inventory's label: its first number
// ("apache-3.1.3", "hdp-3.1.5.0-152"), the newest for what has none.
func GenerationOf(label string) Generations {
	_, v, _ := strings.Cut(label, "-")
	switch {
	case strings.HasPrefix(v, "2."):
		return Gen2
	case strings.HasPrefix(v, "3."):
		return Gen3
	case label == AutoLabel:
		return AnyGen
	}
	return Gen4
}

// generations are those of the inventories that have a method.
func generations(method string, invs []*Inventory) Generations {
	var g Generations
	for _, inv := range invs {
		if inv.Methods[method] != nil {
			g |= GenerationOf(inv.Label)
		}
	}
	return g
}

// Reader is what a client has shown of itself, as far as replies and refusals
// depend on it.
type Reader uint8

const (
	Unsure Reader = iota // may be of any generation
	Since3               // of 3.x or later: it has catalogs
	Since4               // of 4.x
	readers
)

func (r Reader) String() string { return [...]string{"unsure", "3.x or later", "4.x"}[r] }

// ReaderOf is the reader that a client is, of which these generations are
// possible.
func ReaderOf(possible Generations) Reader {
	switch {
	case possible == Gen4:
		return Since4
	case possible != 0 && possible&Gen2 == 0:
		return Since3
	}
	return Unsure
}

// labels of the inventories by which replies for a reader are made; an unsure
// reader gets them as they are, but for what would end some reader.
var readerLabels = [readers]string{Since3: "apache-3.1.3", Since4: "apache-4.2.0"}
