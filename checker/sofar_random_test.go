package checker

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/internal/simulated"
)

// identity is how a finding is recognized in another judgement: its property and its holds.
func identity(name Name, f *Finding) string {
	holds := slices.Sorted(slices.Values(f.Holds))
	return string(name) + " " + strings.Join(holds, " ")
}

// reported counts the findings of all properties that are violated.
func (r *Result) reported() map[string]int {
	all := map[string]int{}
	for _, p := range r.Properties {
		if p.Verdict != Violation {
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
func (r *recorded) cut(n int, lags bool) Recording {
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
	return Recording{Plan: r.plan, Events: rows(r.events[:n]), Requests: rows(requests)}
}

// lastsFrom judges the beginnings of a run so far, and the whole: what was reported of a beginning has to be a finding of
// the whole. It counts what was reported.
func (r *recorded) lastsFrom(cuts []int, lags bool, seen *tally) error {
	opts := Options{MaxFindings: 1 << 30, Unconfirmed: true}
	whole, _, err := Check(Recording{Plan: r.plan, Events: rows(r.events), Requests: rows(r.requests)}, opts)
	if err != nil {
		return nil // a contradiction is a defect, however far it goes
	}
	all := whole.reported()
	opts.SoFar = true
	for _, n := range cuts {
		part, _, err := Check(r.cut(n, lags), opts)
		if err != nil {
			return fmt.Errorf("up to line %d: %w", n, err)
		}
		seen.add("cuts", 1)
		for what, count := range part.reported() {
			name, _, _ := strings.Cut(what, " ")
			seen.add(name, int64(count))
			if all[what] < count {
				p := part.of(Name(name))
				return fmt.Errorf("up to line %d (%s) it is reported %d times of %s, and %d times in the end\n%s", n, history.Moment(r.events[n-1].TimeNS), count, what, all[what], storyOf(p, what))
			}
		}
	}
	return nil
}

func storyOf(p Property, what string) string {
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
			for n := r.IntN(5); n > 0 && i+1 < len(events) && events[i+1].F != history.Phase && events[i+1].TimeNS-e.TimeNS < watchTick; n-- {
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
	var seen tally
	inParallel(t, histories(t, 3000), func(seed uint64) error {
		s := randomHistory(seed, soFarTastes[seed%uint64(len(soFarTastes))])
		r := rand.New(rand.NewPCG(seed, 19))
		run := recorded{s.plan, late(r, s.events), s.requests}
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
	seen.sawEach(t, 100, MutualExclusion, LockLinearizability, EarlyExpiry, TokenMonotonicity, StaleWrite, LostUpdate, ResourceLinearizability, DoubleExecution)
}

// The same of simulated runs with everything that can go wrong, cut at random and just before each line that may excuse.
func TestFindingsOfABeginningOfASimulatedRunAreFindingsOfTheWhole(t *testing.T) {
	var seen tally
	inParallel(t, histories(t, 150), func(seed uint64) error {
		r := rand.New(rand.NewPCG(seed, 23))
		o := anyWorld(seed)
		if m := mutants[r.IntN(len(mutants))]; r.IntN(3) > 0 {
			o.Defect = m.defect
		}
		sim := simulated.Simulate(o)
		run := recorded{sim.Plan, late(r, sim.Events), sim.Requests}
		return run.lastsFrom(someCuts(r, run.events, 60), r.IntN(2) == 0, &seen)
	})
	seen.sawEach(t, 20, MutualExclusion, LockLinearizability, EarlyExpiry, TokenMonotonicity, StaleWrite, LostUpdate, ResourceLinearizability)
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

func (c *tally) sawEach(t *testing.T, minReports int64, names ...Name) {
	t.Helper()
	t.Logf("%d beginnings", c.n["cuts"])
	for _, name := range names {
		t.Logf("%s: reported %d times", name, c.n[string(name)])
		if c.n[string(name)] < minReports && c.n["cuts"] > 10_000 {
			t.Errorf("%s was hardly ever reported: the histories prove nothing", name)
		}
	}
}

// soFarTastes are histories in which much goes wrong, of each kind.
var soFarTastes = []taste{
	{wild: 0.3, accesses: 0.4, linger: 0.5, late: 0.1, held: 0.8, promises: 0.8},
	{wild: 0.3, accesses: 0.4, linger: 0.5, late: 0.1, held: 0.8, promises: 0.8, session: true},
	{wild: 0.15, accesses: 0.6, linger: 0.3, late: 0.3, held: 0.6, promises: 0.6, session: true},
	{wild: 0.3, accesses: 0.5, linger: 0.4, late: 0.2, held: 0.8, promises: 0.8, plain: true},
	{wild: 0.2, accesses: 0.2, linger: 0.6, late: 0.1, held: 0.9, promises: 0.9, try: true},
	{wild: 0.3, accesses: 0.7, linger: 0.3, late: 0.2, held: 0.9, promises: 0.5, cas: true},
	{wild: 0.5, accesses: 0.9, linger: 0.3, late: 0.2, held: 0.9, promises: 0.5, jobs: history.AtLeastOnce},
	{wild: 0.5, accesses: 0.8, linger: 0.3, late: 0.2, held: 0.9, promises: 0.5, jobs: history.Idempotent},
}
