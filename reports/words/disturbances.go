package words

import (
	"cmp"
	"maps"
	"slices"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// Disturbance is what befell the harness, the machine or a client by itself, and is no fault of the plan's: it stood still, its wall clock
// was set, or it was silent. It is never counted as a cause; it is shown because a reader of what happened then has to know.
type Disturbance struct {
	FromNS, ToNS int64
	Kind         string // the word for it in tables
	Class        string // of its mark in pictures
	Words        string
	Client       string // that was silent; "" of the machine
}

// The kinds of disturbances: their words in tables, and their names in style sheets.
const (
	StallKind, StallClass = "stall", "stall"
	StepKind, StepClass   = "clock set", "set"

	SilenceKind, SilenceClass = "silence", "silent"
)

// Disturbances are all that a run has, in the order of time.
func Disturbances(m *model.Model) []Disturbance {
	var all []Disturbance
	for _, s := range m.Stalls {
		all = append(all, Disturbance{s.FromNS, s.ToNS, StallKind, StallClass, "the harness or the machine stalled for " + history.Duration(s.ToNS-s.FromNS), ""})
	}
	for _, s := range m.Steps {
		way := "forward"
		if s.ByNS < 0 {
			way = "back"
		}
		all = append(all, Disturbance{s.FromNS, s.ToNS, StepKind, StepClass, "the machine's wall clock was set " + way + " by " + history.Duration(max(s.ByNS, -s.ByNS)), ""})
	}
	for _, name := range slices.Sorted(maps.Keys(m.Clients)) {
		for _, s := range m.Clients[name].Silent {
			all = append(all, Disturbance{s.FromNS, s.ToNS, SilenceKind, SilenceClass, Clip(name, MaxName) + " " + model.Unheard + " for " + history.Duration(s.ToNS-s.FromNS), name})
		}
	}
	slices.SortStableFunc(all, func(a, b Disturbance) int { return cmp.Compare(a.FromNS, b.FromNS) })
	return all
}
