package config

import (
	"fmt"
	"io"
	"strings"
)

const referenceHead = `# Configuration

This page is generated from the table the program reads its configuration with
(` + "`go test ./internal/config -run TestReferencePage -update`" + `).

A file is YAML (` + "`.yaml`, `.yml`" + `) or Java properties (` + "`.properties`" + `). Keys are dotted. In YAML
nested maps and dotted keys mean the same and may be mixed, and a list may stand where a comma
separated value may. A ` + "`.properties`" + ` file is what hms-proxy reads, and has its defaults.

- ` + "`<n>`" + ` stands for the name of a catalog or listener: letters, digits, ` + "`_` and `-`" + `.
- Durations are a number in the key's unit, or a number with ns, us, ms, s, m, h or d.
- Sizes are bytes, or a number with KB, MB or GB, 1024 each; KiB, MiB and GiB mean the same.
- Truth values are true and false, choices are read in any letter case.
- An unknown key, a key that is set twice (under one name or two), and keys that contradict each
  other are errors. All findings are reported at once, with file and line.
- Keys in the last two sections are those of hms-proxy. The first kind has no effect here. The
  second belongs to features this version does not have: values that ask for nothing are accepted,
  any other is refused.
`

// WriteReference writes the reference page.
func WriteReference(w io.Writer) error {
	var b strings.Builder
	b.WriteString(referenceHead)
	for _, s := range sections {
		fmt.Fprintf(&b, "\n## %s\n\n", s.title)
		switch s.rows[0].standing {
		case noted:
			writeNoted(&b, s.rows)
		case later:
			writeLater(&b, s.rows)
		default:
			writeLive(&b, s.rows)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeLive(b *strings.Builder, rows []row) {
	b.WriteString("| key | default | default in .properties | values | meaning |\n|---|---|---|---|---|\n")
	for i := range rows {
		r := &rows[i]
		yaml, _ := r.defaultIn(YAML)
		peer, _ := r.defaultIn(Properties)
		ours, theirs := code(yaml), code(peer)
		if r.derived != "" {
			ours, theirs = prose(r.derived), prose(r.derived)
		}
		doc := prose(r.doc)
		for _, a := range r.aliases {
			doc += " Also " + code(a.key) + "."
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", code(r.key), cell(ours), cell(theirs), cell(r.short()), cell(doc))
	}
}

func writeNoted(b *strings.Builder, rows []row) {
	b.WriteString("| key | why |\n|---|---|\n")
	for i := range rows {
		fmt.Fprintf(b, "| %s | %s |\n", code(rows[i].key), cell(rows[i].note))
	}
}

func writeLater(b *strings.Builder, rows []row) {
	b.WriteString("| key | accepted values | remark |\n|---|---|---|\n")
	for i := range rows {
		r := &rows[i]
		remark := r.note
		if r.peerOn != "" {
			remark = r.peerOn
		}
		off := strings.Join(r.off, ", ")
		if off == "" {
			off = "none"
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", code(r.key), cell(off), cell(remark))
	}
}

// short is the type of a row in a few words.
func (r *row) short() string {
	switch r.kind {
	case kindInt:
		if r.max == 0 {
			return fmt.Sprintf("number, at least %d", r.min)
		}
		return fmt.Sprintf("%d to %d", r.min, r.max)
	case kindDuration:
		return "duration, " + unitWords[r.unit]
	case kindSize:
		return "size"
	case kindChoice:
		return strings.Join(r.allowed, ", ")
	case kindChoices:
		return "list of " + strings.Join(r.allowed, ", ")
	case kindNames:
		return "list of names"
	case kindURIs:
		return "list of thrift://host:port"
	case kindHost:
		return "host or address"
	case kindProfile:
		return "auto, or an inventory"
	case kindFile:
		return "a file"
	case kindFiles:
		return "list of files"
	}
	return r.allows()
}

func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + s + "`"
}

// prose keeps <n> from being read as HTML outside of code.
func prose(s string) string { return strings.ReplaceAll(s, "<n>", "&lt;n&gt;") }

func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
