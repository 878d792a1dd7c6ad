package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hmsgate/profiles"
	"hmsgate/rewrite"
	"hmsgate/route"
)

// argKinds are the arguments of explain: what a call may name. Of several
// kinds the first that the method has is meant.
var argKinds = []struct {
	key   string
	kinds []rewrite.Kind
	doc   string
}{
	{"db", []rewrite.Kind{rewrite.DBAt, rewrite.DB}, "a database as a client writes it: sales, apache__sales, @hive#sales"},
	{"cat", []rewrite.Kind{rewrite.Cat}, "a catalog field"},
	{"pattern", []rewrite.Kind{rewrite.PatternAt, rewrite.Pattern}, "a database pattern"},
	{"table", []rewrite.Kind{rewrite.TableFull, rewrite.TableMaybe}, "a full table name, db.table"},
	{"policy", []rewrite.Kind{rewrite.Policy}, "a replication policy"},
}

// mergedHow says, by the answer that a row names, how the shares of several
// catalogs become one list; those of the second kind are merged by setting.
var mergedHow = map[string]string{
	"merge-names":      "names sorted, each once",
	"merge-table-meta": "elements in the order of the catalogs",
	"all-databases":    "elements in the order of the catalogs",
	"all-functions":    "elements in the order of the catalogs",
}

func explainCommand() *cobra.Command {
	var file, front, back, listener string
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
			def, profile, err := s.listener(listener)
			if err != nil {
				return usageError{err}
			}
			if listener != "" && !c.Flags().Changed("front") {
				front = profile
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
			return explainRoute(out, plans, s, def, args[0], args[1:])
		},
	}
	c.Flags().StringVarP(&file, "config", "c", "", "configuration whose catalogs decide, and whose imported versions may be named")
	c.Flags().StringVar(&front, "front", profiles.AutoLabel, "client's interface version, or auto")
	c.Flags().StringVar(&back, "back", profiles.AutoLabel,
		"metastore's interface version: how it serves the method, by which bridge")
	c.Flags().StringVar(&listener, "listener", "",
		"listener of the configuration that the client comes by: its default catalog and frontend profile")
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

// listener is what a listener of the configuration says of its clients; nil
// and "" for no name.
func (s *site) listener(name string) (def *route.Catalog, profile string, err error) {
	if name == "" {
		return nil, "", nil
	}
	if s.cfg == nil {
		return nil, "", fmt.Errorf("listener %q: listeners are the configuration's: give one with -c FILE", name)
	}
	var known []string
	for _, ln := range s.cfg.Listeners {
		if ln.Name == name {
			return s.table.Catalog(ln.DefaultCatalog), ln.FrontendProfile, nil
		}
		known = append(known, ln.Name)
	}
	return nil, "", fmt.Errorf("no listener %q in the configuration: there are %s", name, strings.Join(known, ", "))
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

// parseNames takes what a call of the method may hold.
func parseNames(p *profiles.MethodPlan, args []string) ([]name, error) {
	var out []name
	var allowed []string
	has := p.Kinds()
	kinds := map[string]rewrite.Kind{}
	for _, a := range argKinds {
		for _, k := range slices.Backward(a.kinds) {
			if has[k] {
				kinds[a.key] = k
			}
		}
		if _, ok := kinds[a.key]; ok {
			allowed = append(allowed, a.key)
		}
	}
	for _, arg := range args {
		key, value, ok := strings.Cut(arg, "=")
		k, has := kinds[key]
		switch {
		case len(allowed) == 0:
			return nil, fmt.Errorf("argument %q: calls of %s hold no names", arg, p.Method)
		case !ok || !has:
			return nil, fmt.Errorf("argument %q: want KEY=VALUE; calls of %s hold %s", arg, p.Method, strings.Join(allowed, ", "))
		}
		out = append(out, name{k, value})
	}
	return out, nil
}

// explainRoute says where a call that names these things goes.
func explainRoute(out io.Writer, plans *profiles.Plans, s *site, def *route.Catalog, method string, args []string) error {
	p := plans.Method([]byte(method))
	names, err := parseNames(p, args)
	if err != nil {
		return usageError{err}
	}
	if s.table == nil {
		return usageError{fmt.Errorf("where a call goes depends on the configuration: give one with -c FILE")}
	}
	var b route.Binding
	b.Reset(s.table, def)
	for _, n := range names {
		b.Add(n.kind, []byte(n.text))
	}
	fmt.Fprintf(out, "\nroute\n")
	if p.Answer != "" {
		fmt.Fprintf(out, "  answered here: %s\n", p.Answer)
	}
	how, merged := mergedHow[p.Answer]
	if merged && !strings.HasPrefix(p.Answer, "merge-") {
		merged = s.cfg.Routing.AllLists && !b.Hinted()
	}
	if merged {
		explainMerged(out, s.table, &b, names, how)
		return nil
	}
	cat, refusal := b.Route(&p.Row)
	if refusal != nil {
		fmt.Fprintf(out, "  refused (%s): %s\n", refusal.Reason, refusal.Text)
		return nil
	}
	fmt.Fprintf(out, "  catalog  %s, by %s\n", cat.Name, b.How())
	explainCatalog(out, cat, b.Call(true), names)
	return nil
}

// explainMerged says which catalogs have a part in a merged list.
func explainMerged(out io.Writer, t *route.Table, b *route.Binding, names []name, how string) {
	if r := b.Refused(); r != nil {
		fmt.Fprintf(out, "  refused (%s): %s\n", r.Reason, r.Text)
		return
	}
	for _, cat := range t.Catalogs() {
		call, ok := b.ForCatalog(cat, true)
		if !ok {
			fmt.Fprintf(out, "  catalog  %s, not asked: nothing of it can be meant\n", cat.Name)
			continue
		}
		fmt.Fprintf(out, "  catalog  %s, asked\n", cat.Name)
		explainCatalog(out, cat, call, names)
	}
	fmt.Fprintf(out, "  merged   %s\n", how)
}

// explainCatalog says what a catalog's backend will read.
func explainCatalog(out io.Writer, cat *route.Catalog, call rewrite.Names, names []name) {
	for _, u := range cat.Backend().URIs() {
		fmt.Fprintf(out, "  uri      thrift://%s\n", u.Addr())
	}
	for _, n := range names {
		to, err := call.Append(nil, n.kind, []byte(n.text))
		if err != nil {
			fmt.Fprintf(out, "  %-8s %q: refused: %v\n", n.kind, n.text, err)
			continue
		}
		fmt.Fprintf(out, "  %-8s %q is sent as %q\n", n.kind, n.text, to)
	}
}
