package smallworld

import (
	"slices"
	"time"

	"lockcheck/checker/history"
	"lockcheck/nemesis"
)

// Conditions are what the schedules of a run are drawn under.
func (o Options) Conditions() nemesis.Conditions {
	return nemesis.Conditions{Seed: o.Seed, TTL: time.Duration(o.TTLNS), Limit: time.Duration(o.LimitNS), Servers: o.Lock.Servers, Clients: o.Clients, Leaderless: o.Lock.Recipe == Quorum}
}

// Menu is all that a world executes. Left out is what it cannot do, or no lock could bear: a majority that starts without its data, and monotonic
// clocks that jump.
func Menu(l Lock) nemesis.Menu {
	o := Usual(l, 0)
	return nemesis.Menu{
		Conditions: o.Conditions(),
		Constants:  []time.Duration{time.Duration(o.TTLNS), electionMS * time.Millisecond},
		Takes: func(spec nemesis.Spec) bool {
			return !slices.ContainsFunc(spec, func(mix []nemesis.Fault) bool { return slices.ContainsFunc(mix, refuses) })
		},
	}
}

func refuses(f nemesis.Fault) bool {
	return !slices.Contains(Faults, history.F(f.Kind)) || slices.ContainsFunc(f.Words, func(word string) bool { return slices.Contains(leftOut, word) })
}

// leftOut are options that a world does not execute.
var leftOut = []string{"empty", "monotonic", "torn", "journaled"}

// Play makes the run that a spec and a seed lead to.
func Play(l Lock, spec string, seed int64) (*Run, error) {
	o := Usual(l, seed)
	n, err := nemesis.New(spec, o.Conditions())
	if err != nil {
		return nil, err
	}
	o.Nemesis, o.Schedule = spec, n.Schedule()
	return Simulate(o), nil
}

// Mixes are the default mixes of all kinds that a world executes.
func Mixes(l Lock) (all []string) {
	for _, name := range Faults {
		if _, err := nemesis.New(string(name), Usual(l, 0).Conditions()); err == nil {
			all = append(all, string(name))
		}
	}
	return all
}
