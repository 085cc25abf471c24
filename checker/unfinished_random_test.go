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

// identity is how a finding is recognized in another judgement: its property and its holds.
func identity(name model.Name, f *model.Finding) string {
	holds := slices.Sorted(slices.Values(f.Holds))
	return string(name) + " " + strings.Join(holds, " ")
}

// reported counts the findings of all properties that are violated.
func reportedIn(r *model.Result) map[string]int {
	all := map[string]int{}
	for _, p := range r.Properties {
		if p.Verdict != model.Violation {
			continue
		}
		for _, f := range p.Findings {
			all[identity(p.Name, &f)]++
		}
	}
	return all
}

// recorded is a run as a whole, to be cut short.
type recorded struct {
	plan     history.Plan
	events   []history.Event
	requests []history.Request
}

// cut is the recording as it was when the first n lines of the history had been written, and no more of the resource's
// log than was there then, or, as when the history is written in blocks, all of it that the history may lag behind.
func (r *recorded) cut(n int, lags bool) model.Recording {
	at := r.events[n-1].TimeNS
	requests := r.requests
	if !lags {
		requests = slices.Clone(requests[:0])
		for _, q := range r.requests {
			if q.TimeNS <= at {
				requests = append(requests, q)
			}
		}
	}
	return model.Recording{Plan: r.plan, Events: testkit.Rows(r.events[:n]), Requests: testkit.Rows(requests)}
}

// lastsFrom judges the beginnings of a run so far, and the whole: what was reported of a beginning has to be a finding of
// the whole. It counts what was reported.
func (r *recorded) lastsFrom(cuts []int, lags bool, seen *testkit.Tally) error {
	opts := Options{MaxFindings: 1 << 30, Unconfirmed: true}
	whole, _, err := Check(model.Recording{Plan: r.plan, Events: testkit.Rows(r.events), Requests: testkit.Rows(r.requests)}, opts)
	if err != nil {
		return nil // a contradiction is a defect, however far it goes
	}
	all := reportedIn(whole)
	opts.SoFar = true
	for _, n := range cuts {
		part, _, err := Check(r.cut(n, lags), opts)
		if err != nil {
			return fmt.Errorf("up to line %d: %w", n, err)
		}
		seen.Add("cuts", 1)
		for what, count := range reportedIn(part) {
			name, _, _ := strings.Cut(what, " ")
			seen.Add(name, int64(count))
			if all[what] < count {
				p := propertyOf(part, model.Name(name))
				return fmt.Errorf("up to line %d (%s) it is reported %d times of %s, and %d times in the end\n%s", n, history.Moment(r.events[n-1].TimeNS), count, what, all[what], storyOf(p, what))
			}
		}
	}
	return nil
}

func storyOf(p model.Property, what string) string {
	for _, f := range p.Findings {
		if identity(p.Name, &f) == what {
			return f.Summary + "\n" + storyText(f)
		}
	}
	return ""
}

// late is a history whose watchdog was late: what it records stands some lines further down, which were read before it
// had its turn.
func late(r *rand.Rand, events []history.Event) []history.Event {
	events = slices.Clone(events)
	for i := len(events) - 2; i >= 0; i-- {
		if e := events[i]; e.Process == history.HarnessProcess && (e.F == history.Stall || e.F == history.ClockStep) {
			for n := r.IntN(5); n > 0 && i+1 < len(events) && events[i+1].F != history.Phase && events[i+1].TimeNS-e.TimeNS < property.WatchTick; n-- {
				events[i], events[i+1] = events[i+1], events[i]
				i++
			}
			events[i].TimeNS = max(events[i].TimeNS, events[max(i-1, 0)].TimeNS)
		}
	}
	for i := range events {
		events[i].Index = int64(i)
	}
	return events
}

// stretched is a history in which everything takes ten times as long, so that there is much that the watchdog has seen.
func stretched(run recorded) recorded {
	events, requests := slices.Clone(run.events), slices.Clone(run.requests)
	for i := range events {
		for _, ns := range []*int64{&events[i].TimeNS, &events[i].SeenNS, &events[i].HeldNS, &events[i].TTLNS, &events[i].FromNS, &events[i].SkewNS} {
			*ns *= 10
		}
	}
	for i := range requests {
		requests[i].TimeNS *= 10
	}
	run.plan.TTLMS, run.plan.EffectiveMS, run.plan.DriftMS = 10*run.plan.TTLMS, 10*run.plan.EffectiveMS, 10*run.plan.DriftMS
	return recorded{run.plan, events, requests}
}

// Every finding reported of a beginning of a small history is a finding of the whole.
func TestFindingsOfABeginningAreFindingsOfTheWhole(t *testing.T) {
	var seen testkit.Tally
	testkit.InParallel(t, testkit.Histories(t, 3000), func(seed uint64) error {
		s := testkit.RandomHistory(seed, soFarTastes[seed%uint64(len(soFarTastes))])
		r := rand.New(rand.NewPCG(seed, 19))
		run := recorded{s.Plan, late(r, s.Events), s.Requests}
		if r.IntN(4) > 0 {
			run = stretched(run)
		}
		run.plan.Release = []history.ReleaseKind{"", history.ReleaseChecked, history.ReleaseUnchecked}[r.IntN(3)]
		var cuts []int
		for n := range run.events {
			cuts = append(cuts, n+1)
		}
		return run.lastsFrom(cuts, r.IntN(2) == 0, &seen)
	})
	sawEach(&seen, t, 100, model.MutualExclusion, model.LockLinearizability, model.EarlyExpiry, model.TokenMonotonicity, model.StaleWrite, model.LostUpdate, model.ResourceLinearizability, model.DoubleExecution)
}

// The same of simulated runs with everything that can go wrong, cut at random and just before each line that may excuse.
func TestFindingsOfABeginningOfASimulatedRunAreFindingsOfTheWhole(t *testing.T) {
	var seen testkit.Tally
	testkit.InParallel(t, testkit.Histories(t, 150), func(seed uint64) error {
		r := rand.New(rand.NewPCG(seed, 23))
		o := testkit.AnyWorld(seed)
		if m := mutants[r.IntN(len(mutants))]; r.IntN(3) > 0 {
			o.Defect = m.defect
		}
		sim := simulated.Simulate(o)
		run := recorded{sim.Plan, late(r, sim.Events), sim.Requests}
		return run.lastsFrom(someCuts(r, run.events, 60), r.IntN(2) == 0, &seen)
	})
	sawEach(&seen, t, 20, model.MutualExclusion, model.LockLinearizability, model.EarlyExpiry, model.TokenMonotonicity, model.StaleWrite, model.LostUpdate, model.ResourceLinearizability)
}

// someCuts are places before lines that may excuse what was found, and random ones.
func someCuts(r *rand.Rand, events []history.Event, n int) (cuts []int) {
	for i := 1; i < len(events); i++ {
		if e := &events[i]; e.F == history.Stall || e.F == history.ClockStep || e.F == history.Lost || e.F == history.Exit || r.IntN(len(events)) < n {
			cuts = append(cuts, i)
		}
	}
	return cuts
}

func sawEach(c *testkit.Tally, t *testing.T, minReports int64, names ...model.Name) {
	t.Helper()
	t.Logf("%d beginnings", c.N["cuts"])
	for _, name := range names {
		t.Logf("%s: reported %d times", name, c.N[string(name)])
		if c.N[string(name)] < minReports && c.N["cuts"] > 10_000 {
			t.Errorf("%s was hardly ever reported: the histories prove nothing", name)
		}
	}
}

// soFarTastes are histories in which much goes wrong, of each kind.
var soFarTastes = []testkit.Taste{
	{Wild: 0.3, Accesses: 0.4, Linger: 0.5, Late: 0.1, Held: 0.8, Promises: 0.8},
	{Wild: 0.3, Accesses: 0.4, Linger: 0.5, Late: 0.1, Held: 0.8, Promises: 0.8, Session: true},
	{Wild: 0.15, Accesses: 0.6, Linger: 0.3, Late: 0.3, Held: 0.6, Promises: 0.6, Session: true},
	{Wild: 0.3, Accesses: 0.5, Linger: 0.4, Late: 0.2, Held: 0.8, Promises: 0.8, Plain: true},
	{Wild: 0.2, Accesses: 0.2, Linger: 0.6, Late: 0.1, Held: 0.9, Promises: 0.9, Try: true},
	{Wild: 0.3, Accesses: 0.7, Linger: 0.3, Late: 0.2, Held: 0.9, Promises: 0.5, Cas: true},
	{Wild: 0.5, Accesses: 0.9, Linger: 0.3, Late: 0.2, Held: 0.9, Promises: 0.5, Jobs: history.AtLeastOnce},
	{Wild: 0.5, Accesses: 0.8, Linger: 0.3, Late: 0.2, Held: 0.9, Promises: 0.5, Jobs: history.Idempotent},
}
