package gateway

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"hmsgate/internal/answer"
	"hmsgate/profiles"
	"hmsgate/rewrite"
)

// TestSweepBites: without any one of the rules the sweep goes red. With -short
// or under the race detector it is a sample of the rules.
func TestSweepBites(t *testing.T) {
	cases, kinds := sweepCases(t, false)
	where := map[string][]*sweepCase{} // place -> methods that have it
	for i := range cases {
		c := &cases[i]
		c.g.used = map[string]bool{}
		if _, err := c.make(&sweepForms[0], sweepFirst); err != nil {
			t.Fatal(err)
		}
		for place := range c.g.used {
			where[place] = append(where[place], c)
		}
	}
	every, bitten := 1, 0
	if testing.Short() || sweepRace {
		every = 23
	}
	for i, place := range slices.Sorted(maps.Keys(where)) {
		if i%every != 0 || !sweepRuled(t, place, where[place]) {
			continue
		}
		bitten++
		t.Run(place, func(t *testing.T) { sweepBite(t, place, kinds[place], where[place]) })
	}
	if least := 140 / every; bitten < least {
		t.Errorf("%d rules were taken away, want at least %d", bitten, least)
	}
}

// sweepRuled leaves out what a missing rule does not change: a bare result has
// no field, and an answer that is no merged list is made whatever the call
// says, or looks at the names itself.
func sweepRuled(t *testing.T, place string, cases []*sweepCase) bool {
	return !strings.HasSuffix(place, ".success") && slices.ContainsFunc(cases, func(c *sweepCase) bool {
		row := profiles.Auto().Method([]byte(c.method)).Row
		return !recBound(t, profiles.Auto(), c.method) && row.Answer == "" || strings.HasPrefix(row.Answer, "merge-")
	})
}

// sweepBite expects that some call that has the place fails without its rule.
func sweepBite(t *testing.T, place string, k rewrite.Kind, cases []*sweepCase) {
	plans, err := sweepWithout(place)
	if err != nil {
		return // plans that contradict themselves are found even before
	}
	o := sweepTwo("apache-4.1.0")
	o.change = func(g *Gateway) { sweepReplan(t, g, plans) }
	r := sweepServe(t, o)
	for _, c := range cases[:min(len(cases), 12)] {
		for i := range sweepForms {
			f := &sweepForms[i]
			if f.old || f.home || !c.applies(f) || !sweepMatters(t, c, f) {
				continue
			}
			if r.sweep(c, f) != nil {
				return
			}
		}
	}
	t.Errorf("without the rule for %s (%s) all of %d methods are still swept clean", place, k, len(cases))
}

// sweepWithout compiles the plans of all versions without one rule: it gives
// the field another name, and rules find fields by name alone.
func sweepWithout(place string) (*profiles.Plans, error) {
	all, err := profiles.AutoInventory()
	if err != nil {
		return nil, err
	}
	inv := *all
	owner, name, _ := strings.Cut(place, ".")
	rename := func(fields []profiles.Field) []profiles.Field {
		fields = slices.Clone(fields)
		for i := range fields {
			if fields[i].Name == name {
				fields[i].Name = "unruled"
			}
		}
		return fields
	}
	if s := inv.Structs[owner]; s != nil {
		changed := *s
		changed.Fields = rename(s.Fields)
		inv.Structs = maps.Clone(inv.Structs)
		inv.Structs[owner] = &changed
	}
	if m := inv.Methods[owner]; m != nil {
		changed := *m
		changed.Args = rename(m.Args)
		inv.Methods = maps.Clone(inv.Methods)
		inv.Methods[owner] = &changed
	}
	return profiles.Compile(&inv, &inv)
}

// sweepReplan gives a gateway that has not started other plans.
func sweepReplan(t testing.TB, g *Gateway, plans *profiles.Plans) {
	answers, err := answer.Answers(answer.Options{Name: g.cfg.Name, Started: g.started})
	if err != nil {
		t.Fatal(err)
	}
	for _, env := range g.envs {
		env.Plans = plans
		if err := env.Prepare(answers); err != nil {
			t.Fatal(err)
		}
	}
}
