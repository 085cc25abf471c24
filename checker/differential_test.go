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
	"lockcheck/checker/internal/search"
	"lockcheck/checker/model"
	"lockcheck/checker/property"
	"lockcheck/checker/testkit"
)

// second asks a second opinion of one property: what the oracle finds and what the checker does, in the same words. Empty
// means that nothing is violated.
type second struct {
	property model.Name
	taste    testkit.Taste
	oracle   func(*oracle) string
	checker  func(*judgement) string
}

func verdictOf(name model.Name) func(*judgement) string {
	return func(j *judgement) string {
		if o := j.outcome(name); len(o.Violations) > 0 {
			return "violated"
		}
		return ""
	}
}

// errNoOpinion is that the oracle's search was given up.
var errNoOpinion = errors.New("the oracle's search took too many steps")

const noOpinion = "no opinion"

func inWords(ask func(*oracle) search.Answer) func(*oracle) string {
	return func(o *oracle) string {
		return map[search.Answer]string{search.Illegal: "violated", search.Undecided: noOpinion}[ask(o)]
	}
}

func sorted(found map[string]bool) string { return strings.Join(slices.Sorted(maps.Keys(found)), " ") }

// seconds are the properties that are judged twice. The two linearizability properties are searched by Porcupine in a
// translation of its own; the others by the rules, read plainly.
var seconds = []second{
	{model.MutualExclusion, testkit.Taste{Wild: 1, Held: 1, Accesses: 0.4, Promises: 0.3, Linger: 0.5},
		func(o *oracle) string { return sorted(o.mutualExclusion()) },
		func(j *judgement) string {
			found := map[string]bool{}
			for _, h := range j.outcome(model.MutualExclusion).Violations {
				f := h.Finding()
				found[pairName(f.Holds[0], f.Holds[1])] = true
			}
			return sorted(found)
		}},
	{model.LockLinearizability, testkit.Taste{Wild: 0.7, Held: 1, Promises: 1, Linger: 0.3}, inWords((*oracle).lockExplained), verdictOf(model.LockLinearizability)},
	{model.LockLinearizability + " with tries", testkit.Taste{Wild: 0.6, Held: 1, Promises: 0.9, Linger: 0.3, Try: true}, inWords((*oracle).lockExplained), verdictOf(model.LockLinearizability)},
	{model.EarlyExpiry + " and " + model.ReleaseByOwner, testkit.Taste{Wild: 0.7, Held: 0.8, Promises: 1},
		func(o *oracle) string { return sorted(o.premature()) },
		func(j *judgement) string {
			found := map[string]bool{}
			for _, p := range j.m.EarlyLosses().Found {
				kind := model.EarlyExpiry
				if p.Removed != nil {
					kind = model.ReleaseByOwner
				}
				found[p.Hold.ID+" "+string(kind)] = true
			}
			return sorted(found)
		}},
	{model.TokenMonotonicity, testkit.Taste{Wild: 0.7, Session: true}, func(o *oracle) string {
		if len(o.tokenMonotonicity()) > 0 {
			return "violated"
		}
		return ""
	}, verdictOf(model.TokenMonotonicity)},
	{model.StaleWrite, testkit.Taste{Wild: 0.9, Accesses: 0.9, Late: 0.2}, nil, nil},
	{model.StaleWrite + " without tokens", testkit.Taste{Wild: 0.9, Accesses: 0.9, Late: 0.25, Plain: true}, nil, nil},
	{model.LostUpdate, testkit.Taste{Wild: 0.9, Accesses: 0.9, Late: 0.15}, func(o *oracle) string { return sorted(o.lostUpdate()) },
		func(j *judgement) string { return lostValues(j.outcome(model.LostUpdate)) }},
	{model.LostUpdate + " under compare-and-set", testkit.Taste{Wild: 0.9, Accesses: 0.95, Late: 0.15, Cas: true},
		func(o *oracle) string {
			if found := o.lostUpdate(); len(found) > 0 {
				return sorted(found)
			}
			return o.misplaced()
		},
		func(j *judgement) string {
			o := j.outcome(model.LostUpdate)
			if o.Defect != nil {
				o.Defect = nil
				return misplacedWrite
			}
			return lostValues(o)
		}},
	{model.DoubleExecution, testkit.Taste{Wild: 0.5, Accesses: 0.9, Late: 0.1, Jobs: history.AtLeastOnce}, func(o *oracle) string { return sorted(o.doubleExecution()) }, doubledSlots},
	{model.DoubleExecution + " with keys", testkit.Taste{Wild: 0.9, Accesses: 0.97, Late: 0.2, Jobs: history.Idempotent}, func(o *oracle) string { return sorted(o.doubleExecution()) }, doubledSlots},
	{model.ResourceLinearizability + " under compare-and-set", testkit.Taste{Wild: 1, Accesses: 0.95, Late: 0.15, Cas: true},
		inWords((*oracle).registerExplained), verdictOf(model.ResourceLinearizability)},
	{model.ResourceLinearizability, testkit.Taste{Wild: 1, Accesses: 0.95, Late: 0.15}, inWords((*oracle).registerExplained), verdictOf(model.ResourceLinearizability)},
}

// misplacedWrite is that compare-and-set accepted what it had to reject, and nothing that was acknowledged was lost.
const misplacedWrite = "defect"

func lostValues(o *property.Outcome) string {
	found := map[string]bool{}
	for _, h := range o.Violations {
		var value string
		fmt.Sscanf(h.Finding().Summary, "the update %s of", &value)
		found[value] = true
	}
	return sorted(found)
}

// staleAgrees compares J3: writes proven stale by (a) or (b) have to be the same. Of interleaved holds, of which one is
// stale, each pair is reported once, so each write that completes one has to have one of its pairs reported.
func staleAgrees(o *oracle, j *judgement) (violated bool, err error) {
	proven, either := o.staleWrite()
	reported := map[string]bool{}
	for _, w := range j.LateWrites() {
		switch {
		case w.Why != property.EitherLate && !proven[w.Write.Seq()]:
			return true, fmt.Errorf("the write %d is called stale and is not proven to be", w.Write.Seq())
		case w.Why == property.EitherLate && !slices.Contains(either[w.Write.Seq()], pairName(w.Hold.ID, w.Newer.ID)):
			return true, fmt.Errorf("%s and %s are said to interleave at %d: %v", w.Hold.ID, w.Newer.ID, w.Write.Seq(), either)
		case w.Why == property.EitherLate:
			reported[pairName(w.Hold.ID, w.Newer.ID)] = true
		default:
			delete(proven, w.Write.Seq())
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

func (s *second) compare(o *oracle, j *judgement) (violated bool, err error) {
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
			n := testkit.Histories(t, 20_000)
			var illegal atomic.Int64
			testkit.InParallel(t, n, func(seed uint64) error {
				h := testkit.RandomHistory(seed, s.taste)
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
func (s *second) judge(h *testkit.Scribe, steps int) (bool, error) {
	for i := range h.Events {
		if err := h.Events[i].Validate(); err != nil {
			return false, fmt.Errorf("event %d: %w", i, err)
		}
	}
	_, m, err := Check(scribedRecording(h), Options{Properties: []model.Name{}})
	if err != nil {
		return false, fmt.Errorf("%w\n%s", err, newOracle(h.Plan, h.Events, h.Requests))
	}
	j := newJudgement(m, Options{MaxFindings: 1 << 30}, nil)
	o := newOracle(h.Plan, h.Events, h.Requests)
	o.steps = steps
	violated, err := s.compare(o, j)
	for name, outcome := range j.outcomes {
		if outcome.Defect != nil {
			err = fmt.Errorf("%s: %w", name, outcome.Defect)
		}
	}
	if err != nil {
		return violated, fmt.Errorf("%w (drift %d ms)\n%s", err, h.Plan.DriftMS, o)
	}
	return violated, nil
}
