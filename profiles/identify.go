package profiles

import (
	"fmt"
	"strings"
)

// Ask calls a method without arguments on a metastore: the text of a string
// result, and whether the metastore knows the method.
type Ask func(method string) (text string, known bool, err error)

// Identify finds out which interface version a metastore has, by what it says
// of itself and, since 2.3 to 3.1.3 all say "3.0" (seen on real servers; the
// constant is HiveMetaStore.getVersion's), by what it does not know. It
// returns the label of the nearest inventory.
func Identify(ask Ask) (label, version string, err error) {
	version, known, err := ask("getVersion")
	if err != nil {
		return "", "", err
	}
	if !known || version == "" {
		return "", "", fmt.Errorf("the metastore does not tell its version")
	}
	if !strings.HasPrefix(version, "3.0") {
		return nearest(version), version, nil
	}
	if _, known, err = ask("get_catalogs"); err != nil {
		return "", "", err
	} else if !known {
		return "apache-2.3.10", version, nil
	}
	if _, known, err = ask("get_all_materialized_view_objects_for_rewriting"); err != nil {
		return "", "", err
	} else if known {
		return "hdp-3.1.5.0-152", version, nil
	}
	return "apache-3.1.3", version, nil
}

// nearest is the inventory that shares most of a version's numbers, the
// newest of those: "4.1.7" is apache-4.1.0, "5.0.0" the newest of all.
func nearest(version string) string {
	want := strings.FieldsFunc(version, func(r rune) bool { return r == '.' || r == '-' })
	best, most := "", -1
	for _, l := range Labels() {
		have, ok := strings.CutPrefix(l, "apache-")
		if !ok || strings.HasPrefix(have, "master") {
			continue
		}
		n := 0
		for i, part := range strings.Split(have, ".") {
			if i >= len(want) || want[i] != part {
				break
			}
			n++
		}
		if n >= most {
			best, most = l, n
		}
	}
	return best
}

// Alive says whether a metastore answers at all.
func Alive(ask Ask) bool {
	_, _, err := ask("getStatus")
	return err == nil
}
