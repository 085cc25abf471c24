package checker

import (
	"slices"

	"lockcheck/checker/history"
)

// FoundEarly are the properties whose violation can be known while a run still goes on: there are findings that nothing
// which is recorded later takes back (see sofar.go). Of the others the end of the run decides.
func FoundEarly() (names []Name) {
	for _, p := range properties {
		if p.stable != nil {
			names = append(names, p.Name)
		}
	}
	return names
}

// Found reports whether a judgement has what the load of a run was to end at (history.Plan.Until). Nothing asked for is
// never found.
func (r *Result) Found(until []string) bool {
	violated := func(name string) bool {
		return slices.ContainsFunc(r.Properties, func(p Property) bool { return string(p.Name) == name && p.Verdict == Violation })
	}
	switch {
	case slices.Contains(until, history.UntilViolation):
		return r.Violations() > 0
	case slices.Contains(until, history.UntilExposed):
		return len(r.Exposure) > 0 && !slices.ContainsFunc(r.Exposure, func(x Exposure) bool { return x.Count < x.Min })
	}
	return len(until) > 0 && !slices.ContainsFunc(until, func(name string) bool { return !violated(name) })
}
