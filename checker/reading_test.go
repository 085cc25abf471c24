package checker

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// reread judges a script with failures read as recorded and as unknown.
func reread(t *testing.T, plan history.Plan, text string) (recorded, unknown *model.Result) {
	t.Helper()
	recorded, _, contradiction := Check(record(t, plan, text), Options{})
	if contradiction != nil && !errors.Is(contradiction, model.ErrDefect) {
		t.Fatal(contradiction)
	}
	unknown, _, err := Check(record(t, plan, text), Options{FailedAs: history.Info})
	if err != nil {
		t.Fatal(err)
	}
	unknown.Against(recorded, contradiction)
	return recorded, unknown
}

// The first is the lesson of a public etcd history: releases that failed with "lease not found" make it illegal, and
// whether they were reported so or as done is the client's choice.
func TestWhatDependsOnHowFailuresAreRead(t *testing.T) {
	const leaseNotFound = `tested
		0.9 a lease:ok session=sa ttl=2 seen=0.9
		1.0 a acquire h1
		1.1 a acquire:ok h1 token=1 session=sa
		1.2 b acquire h2
		1.3 a release h1
		1.4 a release:fail h1 code=not-owned owned=false
		1.5 b acquire:ok h2 token=2
		1.6 b release h2
		1.7 b release:ok h2 owned=true
		final`
	for name, test := range map[string]struct {
		plan                history.Plan
		text                string
		recorded, unknown   string // violated
		verdict, asRecorded model.Verdict
		depends             bool
	}{
		"a release failed with 'lease not found' inside its lease": {plainPlan(), leaseNotFound,
			"early-expiry:1", "", model.Pass, model.Violation, true},
		"a lease report says the same: it is no operation": {plainPlan(),
			strings.Replace(leaseNotFound, "1.4 a", "1.4 a lease:fail session=sa\n1.4 a", 1),
			"early-expiry:1", "", model.Pass, model.Violation, true},
		"the server said so before a release was asked for": {plainPlan(), `
			0.9 a lease:ok session=sa ttl=2 seen=0.9
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=1 session=sa
			1.2 a lease:fail session=sa
			1.3 a release h1
			1.4 a release:fail h1 code=not-owned owned=false
			final`, "lock-linearizability:1 early-expiry:1", "lock-linearizability:1 early-expiry:1", model.Violation, model.Violation, false},
		"a write that a guard held back stays undone": {plainPlan(), `tested
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=1
			1.2 a write h1 value=v1
			1.3 a write:fail h1 code=guard
			1.4 a release h1
			1.5 a release:ok h1 owned=true
			final`, "", "", model.Pass, model.Pass, false},
		"a write that the resource rejected stays rejected": {fencedPlan(), `tested fenced
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=1
			3.0 b acquire h2
			3.1 b acquire:ok h2 token=2
			3.2 b read h2
			3.3 @ read h2 token=2
			3.4 b read:ok h2
			3.5 a write h1 value=v1
			3.6 @ write h1 rejected token=1 mark=2
			3.7 a write:fail h1 code=rejected
			final`, "", "", model.Pass, model.Pass, false},
		"a write that was called failed, and that the resource did": {plainPlan(), `
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=1
			1.5 a write h1 value=v1
			3.0 b acquire h2
			3.1 b acquire:ok h2 token=2
			3.2 b write h2 value=v2
			3.3 @ write h2
			3.4 b write:ok h2
			3.6 @ write h1
			3.7 a write:fail h1 code=refused
			final`, "contradiction", "stale-write:1 lost-update:1", model.Violation, "", true},
		"an acquire that failed may have been granted, which is no harm": {plainPlan(), `tested
			1.0 a acquire h1
			1.1 a acquire:fail h1 code=cancelled
			1.2 b acquire h2
			1.3 b acquire:ok h2 token=2
			1.4 b release h2
			1.5 b release:ok h2 owned=true
			final`, "", "", model.Pass, model.Pass, false},
	} {
		t.Run(name, func(t *testing.T) {
			recorded, unknown := reread(t, test.plan, test.text)
			was := "contradiction"
			if recorded != nil {
				was = namesViolated(recorded)
			}
			if got := namesViolated(unknown); was != test.recorded || got != test.unknown {
				t.Errorf("as recorded %q, want %q; failures unknown %q, want %q", was, test.recorded, got, test.unknown)
			}
			r := unknown.OutcomeReading
			if unknown.Verdict != test.verdict || r.Recorded != test.asRecorded || r.Depends == nil || *r.Depends != test.depends || r.FailedAs != history.Info {
				t.Errorf("verdict %s, reading %+v (depends %v)", unknown.Verdict, r, *r.Depends)
			}
		})
	}
}

// A failed try is evidence only if it certainly failed (R7).
func TestATryOfUnknownOutcomeIsNoEvidence(t *testing.T) {
	plan := checkedPlan()
	plan.TryAtomic = true
	recorded, unknown := reread(t, plan, `
		1.0 a acquire h1 try=true
		1.1 a acquire:fail h1 code=busy
		final`)
	if namesViolated(recorded) != "lock-linearizability:1" || namesViolated(unknown) != "" || !*unknown.OutcomeReading.Depends {
		t.Errorf("as recorded %q, failures unknown %q", namesViolated(recorded), namesViolated(unknown))
	}
	changed := unknown.OutcomeReading.Changed
	if !slices.Equal(changed, []model.ReadingChange{{Property: model.LockLinearizability, Verdict: model.Pass, Recorded: model.Violation}}) {
		t.Errorf("changed: %+v", changed)
	}
}

func TestFiguresAreOfWhatWasRecorded(t *testing.T) {
	recorded, unknown := reread(t, plainPlan(), `
		1.0 a acquire h1
		1.1 a acquire:ok h1 token=1
		1.2 a write h1 value=v1
		1.3 a write:fail h1 code=guard
		1.4 a write h1 value=v2
		1.5 a write:fail h1 code=unanswered`)
	for _, r := range []*model.Result{recorded, unknown} {
		if r.Stats.Fail != 2 || r.Stats.Info != 0 || r.Stats.Guarded != 2 || r.Stats.Unanswered != 1 {
			t.Errorf("%+v", r.Stats)
		}
	}
	if recorded.OutcomeReading.FailedAs != history.Fail || recorded.OutcomeReading.Depends != nil {
		t.Errorf("%+v", recorded.OutcomeReading)
	}
	if _, _, err := Check(record(t, plainPlan(), "1 a acquire h1"), Options{FailedAs: history.OK}); !errors.Is(err, ErrReading) {
		t.Error(err)
	}
}
