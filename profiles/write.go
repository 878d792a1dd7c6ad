package profiles

import (
	"bufio"
	"fmt"
	"io"
	"sort"
	"strconv"
	"strings"
)

var marks = [...]string{Default: ":", Required: "!", Optional: "?"}

var structWords = [...]string{Plain: "struct", Union: "union", Exception: "exception"}

// Write writes the inventory as text that Parse reads back: methods in the
// order of the IDL, structs and enums by name.
func (inv *Inventory) Write(w io.Writer) error {
	out := bufio.NewWriter(w)
	for _, name := range inv.Order {
		fmt.Fprintln(out, inv.Methods[name])
	}
	for _, name := range sortedKeys(inv.Structs) {
		fmt.Fprintln(out, inv.Structs[name])
	}
	for _, name := range sortedKeys(inv.Enums) {
		fmt.Fprintln(out, inv.Enums[name])
	}
	return out.Flush()
}

// String is the method's line.
func (m *Method) String() string {
	words := "method "
	if m.Base {
		words = "base "
	}
	if m.Oneway {
		words += "oneway "
	}
	s := words + m.Name + "(" + fieldText(m.Args, false) + ") " + m.Returns.String()
	if len(m.Throws) > 0 {
		s += " throws " + fieldText(m.Throws, true)
	}
	return s
}

// String is the struct's line.
func (s *Struct) String() string {
	return strings.TrimRight(structWords[s.Kind]+" "+s.Name+" "+fieldText(s.Fields, false), " ")
}

// String is the enum's line.
func (e *Enum) String() string {
	names := sortedKeys(e.Values)
	sort.SliceStable(names, func(i, j int) bool { return e.Values[names[i]] < e.Values[names[j]] })
	var b strings.Builder
	b.WriteString("enum " + e.Name)
	for _, n := range names {
		b.WriteString(" " + n + "=" + strconv.Itoa(int(e.Values[n])))
	}
	return b.String()
}

func fieldText(fields []Field, thrown bool) string {
	var b strings.Builder
	for i, f := range fields {
		if i > 0 {
			b.WriteString("; ")
		}
		id := strconv.Itoa(int(f.ID))
		b.WriteString(id)
		if !thrown || f.Name != "o"+id {
			b.WriteString(marks[f.Req] + f.Name)
		}
		b.WriteString(" " + f.Type.String())
		if f.Value != "" {
			b.WriteString("=" + f.Value)
		}
	}
	return b.String()
}
