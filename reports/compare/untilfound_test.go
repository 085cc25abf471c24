package compare

import (
	"strings"
	"testing"

	"lockcheck/checker/model"
)

// A run ends early only where nothing but violations is expected of it, and only once all of those were found.
func TestUntilIsFittedToWhatIsExpected(t *testing.T) {
	violated := func(names ...model.Name) []Wanted {
		var all []Wanted
		for _, name := range names {
			all = append(all, Wanted{Property: name, Verdicts: []model.Verdict{model.Violation}})
		}
		return all
	}
	either := Wanted{Property: model.LostUpdate, Verdicts: []model.Verdict{model.Violation, model.Pass}}
	for name, c := range map[string]struct {
		expecting bool
		expect    []Wanted
		until     string
		want      string // "" for a run that lasts its time
	}{
		"one violation":                    {true, violated(model.StaleWrite), "violation", "stale-write"},
		"two":                              {true, violated(model.StaleWrite, model.MutualExclusion), "violation", "stale-write,mutual-exclusion"},
		"one of two is named":              {true, violated(model.StaleWrite, model.MutualExclusion), "mutual-exclusion", "stale-write,mutual-exclusion"},
		"another is named":                 {true, violated(model.StaleWrite), "early-expiry", "stale-write,early-expiry"},
		"one may also pass":                {true, append(violated(model.StaleWrite), either), "violation", "stale-write"},
		"all may also pass":                {true, []Wanted{either}, "violation", ""},
		"one may be masked":                {true, append(violated(model.StaleWrite), Wanted{Property: model.MutualExclusion, Verdicts: []model.Verdict{model.Violation, model.Masked}}), "violation", ""},
		"one has to pass":                  {true, append(violated(model.StaleWrite), Wanted{Property: model.EarlyExpiry, Verdicts: []model.Verdict{model.Pass}}), "violation", ""},
		"one is known only at the end":     {true, violated(model.StaleWrite, model.ReleaseByOwner), "violation", ""},
		"exposure shows no violation":      {true, violated(model.StaleWrite), "exposed", ""},
		"nothing may be violated":          {true, nil, "violation", ""},
		"nothing is expected, all is told": {false, nil, "violation", ""},
	} {
		t.Run(name, func(t *testing.T) {
			spec := Spec{Backends: []Backend{{Name: "b", Kind: "etcd"}}, Nemeses: []string{"pause"}, Workloads: []string{"lock"},
				Override: []Flag{{FlagUntil, c.until}, {"keys", "2"}}, Expecting: c.expecting, Expectations: []Expectation{{Expect: c.expect}}}
			task := spec.Tasks(Whole)[0]
			got := ""
			for _, f := range task.Flags {
				if f.Name == FlagUntil {
					got = f.Value
				}
			}
			if got != c.want || task.EndsOnceFound() != (c.want != "") {
				t.Errorf("--until=%q, ends once found: %v; want %q", got, task.EndsOnceFound(), c.want)
			}
			if spec.Override[0].Value != c.until {
				t.Error("the comparison's own flag was changed")
			}
		})
	}
}

// Edited expectations change when runs end, and that is no other way of running them.
func TestUntilIsNoOtherWayOfRunning(t *testing.T) {
	spec := Spec{Backends: []Backend{{Name: "b", Kind: "etcd"}}, Nemeses: []string{"pause"}, Workloads: []string{"lock"},
		Override: []Flag{{FlagUntil, "violation"}}, Expecting: true,
		Expectations: []Expectation{{Expect: []Wanted{{Property: model.StaleWrite, Verdicts: []model.Verdict{model.Violation}}}}}}
	c := &Comparison{Basis: NewBasis("v1", 1, spec.Tasks(Whole))}
	spec.Expectations = nil
	if cells := c.RunOtherwise(spec); len(cells) > 0 {
		t.Errorf("%v were run otherwise, for --until alone", cells)
	}
	spec.Override = append(spec.Override, Flag{"keys", "2"})
	if cells := c.RunOtherwise(spec); len(cells) != 1 {
		t.Errorf("%v were run otherwise; want the one", cells)
	}
}

// Figures of a run that ended early are of less time: which cells those are is said below the table.
func TestWhichCellsMayEndEarlyIsSaid(t *testing.T) {
	spec := Spec{Backends: []Backend{{Name: "b", Kind: "etcd"}}, Nemeses: []string{"none", "pause"}, Workloads: []string{"lock"}, Override: []Flag{{FlagUntil, "violation"}}, Expecting: true,
		Expectations: []Expectation{{Pattern: Pattern{Nemeses: []string{"pause"}}, Expect: []Wanted{{Property: model.StaleWrite, Verdicts: []model.Verdict{model.Violation}}}}}}
	for until, want := range map[string]bool{"violation": true, "": false} {
		spec.Override[0].Value = until
		c := &Comparison{Basis: NewBasis("v1", 1, spec.Tasks(Whole))}
		text := strings.Join(c.notes(), "\n")
		if got := strings.Contains(text, "may be of less time: b / pause / lock"); got != want || strings.Contains(text, "b / none / lock") {
			t.Errorf("--until=%q: said: %v; want %v\n%s", until, got, want, text)
		}
	}
}
