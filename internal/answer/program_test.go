package answer_test

import (
	"slices"
	"testing"

	"hmsgate/internal/answer"
	"hmsgate/profiles"
)

// TestEveryNameIsAnAnswer: rows and bridges name what there is, all of it.
func TestEveryNameIsAnAnswer(t *testing.T) {
	have, err := answer.Answers(answer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	names := slices.Concat(profiles.Answers(), profiles.Programs())
	for _, n := range names {
		if have[n] == nil {
			t.Errorf("no implementation of %s", n)
		}
	}
	for n := range have {
		if !slices.Contains(names, n) {
			t.Errorf("%s: nothing may name it", n)
		}
	}
}
