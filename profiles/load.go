package profiles

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
)

//go:embed data/inventory/*.txt data/*.yaml
var data embed.FS

const inventoryDir = "data/inventory"

// AutoLabel is the label of the union of all inventories.
const AutoLabel = "auto"

// labels reads the names of the embedded inventories.
var labels = sync.OnceValue(func() []string {
	entries, err := data.ReadDir(inventoryDir)
	if err != nil {
		panic(err) // the folder is compiled in
	}
	var out []string
	for _, e := range entries {
		out = append(out, strings.TrimSuffix(e.Name(), ".txt"))
	}
	slices.Sort(out)
	return out
})

// Labels are the labels of the inventories that are built in, sorted.
func Labels() []string { return slices.Clone(labels()) }

var loaded sync.Map // label -> func() (*Inventory, error)

// Load returns a built-in inventory. The first call for a label parses it.
func Load(label string) (*Inventory, error) {
	if !slices.Contains(labels(), label) {
		return nil, fmt.Errorf("no profile %q: there are %s", label, strings.Join(labels(), ", "))
	}
	once, _ := loaded.LoadOrStore(label, sync.OnceValues(func() (*Inventory, error) {
		f, err := data.Open(path.Join(inventoryDir, label+".txt"))
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return Parse(label, f)
	}))
	return once.(func() (*Inventory, error))()
}

// all returns every built-in inventory, in the order of Labels.
func all() ([]*Inventory, error) {
	var out []*Inventory
	for _, label := range labels() {
		inv, err := Load(label)
		if err != nil {
			return nil, err
		}
		out = append(out, inv)
	}
	return out, nil
}
