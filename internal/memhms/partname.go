package memhms

import (
	"fmt"
	"net/url"
	"strings"

	"hmsgate/internal/hms"
)

func init() {
	add("partition_name_to_vals", func(_ *Server, c *call) (any, error) {
		_, vals := splitPartName(c.str("partname"))
		return hms.ListOf(vals), nil
	}, "")
	add("partition_name_to_spec", func(_ *Server, c *call) (any, error) {
		keys, vals := splitPartName(c.str("partname"))
		out := map[string]string{}
		for i := range keys {
			out[keys[i]] = vals[i]
		}
		return hms.MapOf(out), nil
	}, "")
	add("partition_name_has_valid_characters", func(*Server, *call) (any, error) { return true, nil }, "")
}

// noValue stands for an empty value in names (hive.exec.default.partition.name).
const noValue = "__HIVE_DEFAULT_PARTITION__"

// escapePath is FileUtils.escapePathName.
func escapePath(v string) string {
	if v == "" {
		return noValue
	}
	var b strings.Builder
	for i := 0; i < len(v); i++ {
		if ch := v[i]; ch < 0x20 || ch == 0x7f || strings.IndexByte("\"#%'*/:=?\\{[]^", ch) >= 0 {
			fmt.Fprintf(&b, "%%%02X", ch)
		} else {
			b.WriteByte(ch)
		}
	}
	return b.String()
}

// partName is "ds=2024-01-01/hr=1" (Warehouse.makePartName).
func partName(keys []hms.Struct, vals []string) string {
	parts := make([]string, 0, len(keys))
	for i, v := range vals {
		if i < len(keys) {
			parts = append(parts, escapePath(ident(keys[i].Str("name")))+"="+escapePath(v))
		}
	}
	return strings.Join(parts, "/")
}

func splitPartName(name string) (keys, vals []string) {
	if name == "" {
		return nil, nil
	}
	for _, p := range strings.Split(name, "/") {
		k, v, _ := strings.Cut(p, "=")
		keys, vals = append(keys, unescape(k)), append(vals, unescape(v))
	}
	return keys, vals
}

func unescape(s string) string {
	if out, err := url.PathUnescape(s); err == nil {
		return out
	}
	return s
}

// javaList is a list as Java prints it.
func javaList(l []string) string { return "[" + strings.Join(l, ", ") + "]" }

// nameFor checks the number of values and makes the name.
func nameFor(t *table, vals []string) (string, error) {
	keys := t.obj.Structs("partitionKeys")
	if len(keys) != len(vals) || len(keys) == 0 {
		var names []string
		for _, k := range keys {
			names = append(names, k.Str("name"))
		}
		return "", throw(meta, "Invalid partition key & values; keys [%s], values [%s]", trailing(names),
			trailing(vals))
	}
	return partName(keys, vals), nil
}

// trailing joins the way Warehouse.makePartName's message does.
func trailing(l []string) string {
	out := ""
	for _, s := range l {
		out += s + ", "
	}
	return out
}

// noPartition is the usual text for values that no partition has.
func noPartition(vals []string) string { return "partition values=" + javaList(vals) }

// partVals are the values that a call names, in either form.
func (c *call) partVals() []string {
	if v := c.strs("partvals", "partvalues", "partitionvalues", "values"); v != nil {
		return v
	}
	_, vals := splitPartName(c.str("partname", "name"))
	return vals
}
