package checker

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/internal/simulated"
	"lockcheck/checker/model"
	"lockcheck/checker/property"
	"lockcheck/checker/testkit"
)

// otherwise is a history that goes on in another way after its first n lines: what was pending is answered differently, or never,
// clients end, and the watchdog tells of stalls and clock steps that began shortly before.
func otherwise(r *rand.Rand, events []history.Event, n int) []history.Event {
	all, gone := slices.Clone(events[:n]), map[string]bool{}
	for _, e := range events[n:] {
		if e.Client != "" && gone[e.Client] {
			continue
		}
		answer := e.Client != "" && e.Op != 0 && e.Type != history.Invoke
		if answer && r.IntN(3) == 0 {
			answerOtherwise(r, &e)
		}
		if e.F != history.Phase && r.IntN(20) == 0 {
			all = append(all, watchdogTells(r, e.TimeNS, events[n-1].TimeNS))
		}
		all = append(all, e)
		if answer && r.IntN(200) == 0 {
			gone[e.Client] = true
			all = append(all, history.Event{TimeNS: e.TimeNS, Process: e.Client, Client: e.Client, Type: history.Info, F: history.Exit, Code: history.CodeDied})
		}
	}
	for i := range all {
		all[i].Index = int64(i)
	}
	return all
}

// answerOtherwise gives an operation another answer, one that a client may have given.
func answerOtherwise(r *rand.Rand, e *history.Event) {
	yes := true
	switch kind := r.IntN(6); {
	case kind == 0 && e.F != history.Read && e.F != history.Write: // of those the resource's log knows
		e.Type, e.Code, e.Token, e.Session = history.Info, "", "", ""
	case kind == 1 && e.F == history.Release:
		e.Type, e.Owned, e.Code = history.OK, &yes, ""
	case kind == 2 && e.F == history.Release:
		e.Type, e.Owned, e.Code = history.Fail, nil, history.CodeNotOwned
	case kind == 3 && e.F == history.Release:
		e.Type, e.Owned, e.Code = history.Fail, nil, history.CodeRefused
	case kind == 4 && e.Token != "":
		e.Token = "1"
	case kind == 5:
		e.HeldNS, e.SeenNS = 0, 0
	}
}

// watchdogTells is a stall or a step of the clock that is recorded now, and began less than a tick before, or before the cut.
func watchdogTells(r *rand.Rand, now, cut int64) history.Event {
	late := r.Int64N(property.WatchTick)
	e := history.Event{TimeNS: now, Process: history.HarnessProcess, Type: history.Info, F: history.Stall, FromNS: max(min(now, cut+property.WatchTick)-late, 0)}
	if r.IntN(2) == 0 {
		e.F, e.SkewNS = history.ClockStep, r.Int64N(4e9)
	}
	return e
}

// What is reported of a beginning is a finding of the whole, however the run goes on. The load of a run is ended for it (--until), and
// what follows then is another run than the one that would have followed.
func TestNoContinuationTakesAFindingBack(t *testing.T) {
	var seen testkit.Tally
	testkit.InParallel(t, testkit.Histories(t, 600), func(seed uint64) error {
		r := rand.New(rand.NewPCG(seed, 29))
		run := anyRun(r, seed)
		opts := Options{MaxFindings: 1 << 30, Unconfirmed: true}
		soFar := opts
		soFar.SoFar = true
		for range 12 {
			n := 1 + r.IntN(len(run.events)-1)
			part, _, err := Check(run.cut(n, true), soFar)
			if err != nil {
				return nil // a contradiction is a defect, however far it goes
			}
			found := reportedIn(part)
			for range min(len(found), 6) {
				whole, _, err := Check(model.Recording{Plan: run.plan, Events: testkit.Rows(otherwise(r, run.events, n)), Requests: testkit.Rows(run.requests)}, opts)
				if err != nil {
					continue // such a run cannot be
				}
				seen.Add("cuts", 1)
				all := reportedIn(whole)
				for what, count := range found {
					name, _, _ := strings.Cut(what, " ")
					seen.Add(name, int64(count))
					if all[what] < count {
						return fmt.Errorf("up to line %d (%s) it is reported %d times of %s, and %d times of a run that goes on otherwise\n%s", n, history.Moment(run.events[n-1].TimeNS), count, what, all[what], storyOf(propertyOf(part, model.Name(name)), what))
					}
				}
			}
		}
		return nil
	})
	for _, name := range FoundEarly() {
		if n := seen.N[string(name)]; n < 100 && seen.N["cuts"] > 1000 {
			t.Errorf("%s was reported %d times only: the histories prove nothing", name, n)
		}
	}
}

// anyRun is a run in which much goes wrong: a small one, or one of the simulated worlds.
func anyRun(r *rand.Rand, seed uint64) recorded {
	if seed%4 == 0 {
		o := testkit.AnyWorld(seed)
		if m := mutants[r.IntN(len(mutants))]; r.IntN(3) > 0 {
			o.Defect = m.defect
		}
		sim := simulated.Simulate(o)
		return recorded{sim.Plan, late(r, sim.Events), sim.Requests}
	}
	s := testkit.RandomHistory(seed, soFarTastes[seed%uint64(len(soFarTastes))])
	run := stretched(recorded{s.Plan, late(r, s.Events), s.Requests})
	run.plan.Release = []history.ReleaseKind{"", history.ReleaseChecked, history.ReleaseUnchecked}[r.IntN(3)]
	return run
}
