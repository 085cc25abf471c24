package reports

import (
	"cmp"
	"slices"

	"lockcheck/checker"
)

// disturbance is what befell the harness or the machine itself, and is no fault of the plan's: it stood still, or somebody
// set its wall clock. Nothing is blamed on it; it is shown because whoever looks at what happened then has to know.
type disturbance struct {
	FromNS, ToNS int64
	Kind         string // the word for it in tables
	Class        string // of its mark in pictures
	Words        string
}

const (
	stallKind, stallClass = "stall", "stall"
	stepKind, stepClass   = "clock set", "set"
)

// disturbances are all that a run has, in the order of time.
func disturbances(m *checker.Model) []disturbance {
	var all []disturbance
	for _, s := range m.Stalls {
		all = append(all, disturbance{s.FromNS, s.ToNS, stallKind, stallClass, "the harness or the machine stalled for " + span(s.ToNS-s.FromNS)})
	}
	for _, s := range m.Steps {
		way := "forward"
		if s.ByNS < 0 {
			way = "back"
		}
		all = append(all, disturbance{s.FromNS, s.ToNS, stepKind, stepClass, "the machine's wall clock was set " + way + " by " + span(max(s.ByNS, -s.ByNS))})
	}
	slices.SortStableFunc(all, func(a, b disturbance) int { return cmp.Compare(a.FromNS, b.FromNS) })
	return all
}
