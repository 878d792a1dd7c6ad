package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"hmsgate/profiles"
	"hmsgate/rewrite"
	"hmsgate/route"
)

// argKinds are the arguments of explain: what a call may name.
var argKinds = []struct {
	key  string
	kind rewrite.Kind
	doc  string
}{
	{"db", rewrite.DBAt, "a database as a client writes it: sales, apache__sales, @hive#sales"},
	{"cat", rewrite.Cat, "a catalog field"},
	{"pattern", rewrite.PatternAt, "a database pattern"},
	{"table", rewrite.TableFull, "a full table name, db.table"},
	{"policy", rewrite.Policy, "a replication policy"},
}

func explainCommand() *cobra.Command {
	var file, front, back string
	var all bool
	c := &cobra.Command{
		Use:   "explain METHOD [key=value ...] [-c FILE]",
		Short: "Say what the gateway does with a method, and where a call would go",
		Long:  explainHelp(),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := explainSite(file)
			if err != nil {
				return err
			}
			plans, err := s.profiles.Plans(front, back)
			if err != nil {
				return usageError{err}
			}
			out := c.OutOrStdout()
			if all {
				if len(args) > 0 {
					return usageError{fmt.Errorf("--all takes no method, got %q", args[0])}
				}
				return profiles.ExplainAll(out, plans)
			}
			if len(args) == 0 {
				return usageError{fmt.Errorf("no method: give one, or --all")}
			}
			if err := profiles.Explain(out, plans, args[0]); err != nil {
				return usageError{err}
			}
			if len(args) == 1 {
				return nil
			}
			return explainRoute(out, plans, s.table, args[0], args[1:])
		},
	}
	c.Flags().StringVarP(&file, "config", "c", "", "configuration whose catalogs decide, and whose imported versions may be named")
	c.Flags().StringVar(&front, "front", profiles.AutoLabel, "client's interface version, or auto")
	c.Flags().StringVar(&back, "back", profiles.AutoLabel,
		"metastore's interface version: how it serves the method, by which bridge")
	c.Flags().BoolVar(&all, "all", false, "all methods, compact")
	return c
}

// explainSite is the configuration's, or the built-in versions without one.
func explainSite(file string) (*site, error) {
	if file != "" {
		return loadSite(file)
	}
	set, err := profiles.Builtin()
	return &site{profiles: set}, err
}

func explainHelp() string {
	var b strings.Builder
	b.WriteString("Print a method's row and its plans. With arguments and a configuration also the catalog that a call\n" +
		"with these names goes to, why, and what its backend will read.\n\nArguments (each may be repeated):\n\n")
	for _, a := range argKinds {
		fmt.Fprintf(&b, "    %-8s %s\n", a.key, a.doc)
	}
	b.WriteString("\nInterface versions: " + strings.Join(profiles.Labels(), ", "))
	return b.String()
}

// name is one argument of explain.
type name struct {
	kind rewrite.Kind
	text string
}

func parseNames(args []string) ([]name, error) {
	var out []name
	for _, arg := range args {
		key, value, ok := strings.Cut(arg, "=")
		found := false
		for _, a := range argKinds {
			if ok && a.key == key {
				out, found = append(out, name{a.kind, value}), true
			}
		}
		if !found {
			var keys []string
			for _, a := range argKinds {
				keys = append(keys, a.key)
			}
			return nil, fmt.Errorf("argument %q: want KEY=VALUE with a key of %s", arg, strings.Join(keys, ", "))
		}
	}
	return out, nil
}

// explainRoute says where a call that names these things goes.
func explainRoute(out io.Writer, plans *profiles.Plans, table *route.Table, method string, args []string) error {
	names, err := parseNames(args)
	if err != nil {
		return usageError{err}
	}
	if table == nil {
		return usageError{fmt.Errorf("where a call goes depends on the configuration: give one with -c FILE")}
	}
	var b route.Binding
	b.Reset(table, nil)
	for _, n := range names {
		b.Add(n.kind, []byte(n.text))
	}
	p := plans.Method([]byte(method))
	fmt.Fprintf(out, "\nroute\n")
	if p.Answer != "" {
		fmt.Fprintf(out, "  answered here: %s\n", p.Answer)
	}
	cat, refusal := b.Route(&p.Row)
	if refusal != nil {
		fmt.Fprintf(out, "  refused (%s): %s\n", refusal.Reason, refusal.Text)
		return nil
	}
	fmt.Fprintf(out, "  catalog  %s, by %s\n", cat.Name, b.How())
	for _, u := range cat.Backend().URIs() {
		fmt.Fprintf(out, "  uri      thrift://%s\n", u.Addr())
	}
	call := b.Call(true)
	for _, n := range names {
		to, err := call.Append(nil, n.kind, []byte(n.text))
		if err != nil {
			fmt.Fprintf(out, "  %-8s %q: refused: %v\n", n.kind, n.text, err)
			continue
		}
		fmt.Fprintf(out, "  %-8s %q is sent as %q\n", n.kind, n.text, to)
	}
	return nil
}
