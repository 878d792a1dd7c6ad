package config

import (
	"path/filepath"
	"sort"
	"strings"
)

const importPrefix = "profiles.import."

var profileRows = []row{
	{key: "profiles.import", kind: kindFiles,
		doc: "Interface descriptions (.thrift) of metastores that are not built in. Each is called as its file: " +
			"cdp-3.1.3000.thrift is the interface version cdp-3.1.3000. A name is VENDOR-VERSION and begins its version " +
			"with that of the Hive it is built on, 2, 3 or 4. Relative paths are from the folder of the configuration, " +
			"those of includes (fb303) from the file that includes. No metastore is taken for one of these by itself: " +
			"catalog.<n>.runtime-profile says which has it."},
	{key: "profiles.import.*", kind: kindFile,
		doc: "The same with a name of its own: profiles.import.cdp-3.1.3000: vendor/hive_metastore.thrift."},
}

// vendors collects the interface descriptions to import, by line.
func (l *loader) vendors() {
	add := func(s setting, label, path string) {
		if !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(l.name), path)
		}
		l.imports = append(l.imports, importUse{at: s, label: label, path: path})
	}
	for _, path := range items(l.text("profiles.import")) {
		add(l.get("profiles.import", ""), strings.TrimSuffix(filepath.Base(path), ".thrift"), path)
	}
	for key, s := range l.set {
		if label, ok := strings.CutPrefix(key, importPrefix); ok {
			add(s, label, s.value)
		}
	}
	sort.SliceStable(l.imports, func(i, j int) bool { return l.imports[i].at.line < l.imports[j].at.line })
}

// CheckImports hands each interface description that the file wants imported
// to take, by the lines of the file, and reports what it says of them.
func (c *Config) CheckImports(take func(label, path string) error) error {
	var es Errors
	for _, i := range c.imports {
		if err := take(i.label, i.path); err != nil {
			es = append(es, &Error{File: c.File, Line: i.at.line, Key: i.at.key, Value: i.at.raw,
				Problem: "cannot be imported: " + err.Error()})
		}
	}
	if len(es) == 0 {
		return nil
	}
	return es.sorted()
}
