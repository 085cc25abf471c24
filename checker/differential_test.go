package checker

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"lockcheck/checker/history"
)

// second asks a second opinion of one property: what the oracle finds and what the checker does, in the same words. Empty
// means that nothing is violated.
type second struct {
	property Name
	taste    taste
	oracle   func(*oracle) string
	checker  func(*judge) string
}

func verdictOf(name Name) func(*judge) string {
	return func(j *judge) string {
		if o := j.outcome(name); len(o.hits) > 0 {
			return "violated"
		}
		return ""
	}
}

// errNoOpinion is that the oracle's search was given up.
var errNoOpinion = errors.New("the oracle's search took too many steps")

const noOpinion = "no opinion"

func inWords(ask func(*oracle) answer) func(*oracle) string {
	return func(o *oracle) string { return map[answer]string{illegal: "violated", undecided: noOpinion}[ask(o)] }
}

func sorted(found map[string]bool) string { return strings.Join(slices.Sorted(maps.Keys(found)), " ") }

// seconds are the properties that are judged twice. The two linearizability properties are searched by Porcupine in a
// translation of its own; the others by the rules, read plainly.
var seconds = []second{
	{MutualExclusion, taste{wild: 1, held: 1, accesses: 0.4, promises: 0.3, linger: 0.5},
		func(o *oracle) string { return sorted(o.mutualExclusion()) },
		func(j *judge) string {
			found := map[string]bool{}
			for _, h := range j.outcome(MutualExclusion).hits {
				f := h.finding()
				found[pairName(f.Holds[0], f.Holds[1])] = true
			}
			return sorted(found)
		}},
	{LockLinearizability, taste{wild: 0.7, held: 1, promises: 1, linger: 0.3}, inWords((*oracle).lockExplained), verdictOf(LockLinearizability)},
	{LockLinearizability + " with tries", taste{wild: 0.6, held: 1, promises: 0.9, linger: 0.3, try: true}, inWords((*oracle).lockExplained), verdictOf(LockLinearizability)},
	{EarlyExpiry + " and " + ReleaseByOwner, taste{wild: 0.7, held: 0.8, promises: 1},
		func(o *oracle) string { return sorted(o.premature()) },
		func(j *judge) string {
			found := map[string]bool{}
			for _, p := range j.prematures().found {
				kind := EarlyExpiry
				if p.removed != nil {
					kind = ReleaseByOwner
				}
				found[p.hold.ID+" "+string(kind)] = true
			}
			return sorted(found)
		}},
	{TokenMonotonicity, taste{wild: 0.7, session: true}, func(o *oracle) string {
		if len(o.tokenMonotonicity()) > 0 {
			return "violated"
		}
		return ""
	}, verdictOf(TokenMonotonicity)},
	{StaleWrite, taste{wild: 0.9, accesses: 0.9, late: 0.2}, nil, nil},
	{StaleWrite + " without tokens", taste{wild: 0.9, accesses: 0.9, late: 0.25, plain: true}, nil, nil},
	{LostUpdate, taste{wild: 0.9, accesses: 0.9, late: 0.15}, func(o *oracle) string { return sorted(o.lostUpdate()) },
		func(j *judge) string { return lostValues(j.outcome(LostUpdate)) }},
	{LostUpdate + " under compare-and-set", taste{wild: 0.9, accesses: 0.95, late: 0.15, cas: true},
		func(o *oracle) string {
			if found := o.lostUpdate(); len(found) > 0 {
				return sorted(found)
			}
			return o.misplaced()
		},
		func(j *judge) string {
			o := j.outcome(LostUpdate)
			if o.defect != nil {
				o.defect = nil
				return misplacedWrite
			}
			return lostValues(o)
		}},
	{DoubleExecution, taste{wild: 0.5, accesses: 0.9, late: 0.1, jobs: history.AtLeastOnce}, func(o *oracle) string { return sorted(o.doubleExecution()) }, doubledSlots},
	{DoubleExecution + " with keys", taste{wild: 0.9, accesses: 0.97, late: 0.2, jobs: history.Idempotent}, func(o *oracle) string { return sorted(o.doubleExecution()) }, doubledSlots},
	{ResourceLinearizability + " under compare-and-set", taste{wild: 1, accesses: 0.95, late: 0.15, cas: true},
		inWords((*oracle).registerExplained), verdictOf(ResourceLinearizability)},
	{ResourceLinearizability, taste{wild: 1, accesses: 0.95, late: 0.15}, inWords((*oracle).registerExplained), verdictOf(ResourceLinearizability)},
}

// misplacedWrite is that compare-and-set accepted what it had to reject, and nothing that was acknowledged was lost.
const misplacedWrite = "defect"

func lostValues(o *outcome) string {
	found := map[string]bool{}
	for _, h := range o.hits {
		var value string
		fmt.Sscanf(h.finding().Summary, "the update %s of", &value)
		found[value] = true
	}
	return sorted(found)
}

// staleAgrees compares J3: writes proven stale by (a) or (b) have to be the same. Of interleaved holds, of which one is
// stale, each pair is reported once, so each write that completes one has to have one of its pairs reported.
func staleAgrees(o *oracle, j *judge) (violated bool, err error) {
	proven, either := o.staleWrite()
	reported := map[string]bool{}
	for _, w := range j.stale() {
		switch {
		case w.why != staleEither && !proven[w.write.Seq()]:
			return true, fmt.Errorf("the write %d is called stale and is not proven to be", w.write.Seq())
		case w.why == staleEither && !slices.Contains(either[w.write.Seq()], pairName(w.hold.ID, w.newer.ID)):
			return true, fmt.Errorf("%s and %s are said to interleave at %d: %v", w.hold.ID, w.newer.ID, w.write.Seq(), either)
		case w.why == staleEither:
			reported[pairName(w.hold.ID, w.newer.ID)] = true
		default:
			delete(proven, w.write.Seq())
			violated = true
		}
	}
	if len(proven) > 0 {
		return true, fmt.Errorf("stale, and not reported: %v", proven)
	}
	for seq, pairs := range either {
		if !slices.ContainsFunc(pairs, func(p string) bool { return reported[p] }) {
			return true, fmt.Errorf("none of the holds that interleave at %d is reported: %v, %v", seq, pairs, reported)
		}
	}
	return violated || len(either) > 0, nil
}

func (s *second) compare(o *oracle, j *judge) (violated bool, err error) {
	if s.oracle == nil {
		return staleAgrees(o, j)
	}
	want, got := s.oracle(o), s.checker(j)
	switch {
	case want == noOpinion:
		return false, errNoOpinion
	case want != got:
		return want != "", fmt.Errorf("the oracle finds %q, the checker %q", want, got)
	}
	return want != "", nil
}

// Every property's exact algorithm against a second opinion, on small random histories. LOCKCHECK_HISTORIES says how many
// of each.
func TestSecondOpinionsAgree(t *testing.T) {
	for _, s := range seconds {
		t.Run(string(s.property), func(t *testing.T) {
			n := histories(t, 20_000)
			var illegal atomic.Int64
			inParallel(t, n, func(seed uint64) error {
				h := randomHistory(seed, s.taste)
				violated, err := s.judge(h, 0)
				if violated {
					illegal.Add(1)
				}
				return err
			})
			share := float64(illegal.Load()) / float64(n)
			t.Logf("violated in %.0f %%", 100*share)
			if n >= 1000 && (share < 0.3 || share > 0.7) {
				t.Errorf("violated in %.0f %%: one-sided", 100*share)
			}
		})
	}
}

// judge compares the two opinions on one history. Steps bound a search of the oracle; 0 does not.
func (s *second) judge(h *scribe, steps int) (bool, error) {
	for i := range h.events {
		if err := h.events[i].Validate(); err != nil {
			return false, fmt.Errorf("event %d: %w", i, err)
		}
	}
	_, m, err := Check(h.recording(), Options{Properties: []Name{}})
	if err != nil {
		return false, fmt.Errorf("%w\n%s", err, newOracle(h.plan, h.events, h.requests))
	}
	j := newJudge(m, Options{MaxFindings: 1 << 30})
	o := newOracle(h.plan, h.events, h.requests)
	o.steps = steps
	violated, err := s.compare(o, j)
	for name, outcome := range j.outcomes {
		if outcome.defect != nil {
			err = fmt.Errorf("%s: %w", name, outcome.defect)
		}
	}
	if err != nil {
		return violated, fmt.Errorf("%w (drift %d ms)\n%s", err, h.plan.DriftMS, o)
	}
	return violated, nil
}
