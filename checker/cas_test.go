package checker

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"lockcheck/checker/explain"
	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/checker/testkit"
)

// casOverlap is two holders that both believe; what they do with the resource comes behind it.
const casOverlap = `
	1.00 a acquire h1
	1.00 b acquire h2
	1.10 a acquire:ok h1
	1.20 b acquire:ok h2
	1.21 a read h1
	1.22 @ read h1
	1.23 a read:ok h1
	1.24 b read h2
	1.25 @ read h2
	1.26 b read:ok h2
	1.50 a lost h1 held=1.4
	1.50 b lost h2 held=1.4
	`

const (
	aWrites = `
	1.51 a write h1 value=v1
	1.52 @ write h1
	1.53 a write:ok h1`
	bIsRejected = `
	1.54 b write h2 value=v2
	1.55 @ write h2 rejected
	1.56 b write:fail h2 code=rejected`
)

func TestOverlapIsMaskedWhereBasesAreCompared(t *testing.T) {
	for name, test := range map[string]struct {
		plan history.Plan
		text string
		want model.Verdict
		why  string
	}{
		"one of two was rejected": {casPlan(), casOverlap + aWrites + bIsRejected, model.Masked,
			"clients believed in one lock at the same time, and compare-and-set let no update be lost"},
		"both were built on what was there": {casPlan(), casOverlap + aWrites + `
			1.54 b write h2 value=v2 base=v1
			1.55 @ write h2
			1.56 b write:ok h2`, model.Violation, "not masked: resource-linearizability is violated on k"},
		"one wrote": {casPlan(), casOverlap + aWrites, model.Violation,
			"not masked: the resource handled writes of 1 client on k, so compare-and-set had nothing to decide between"},
		"none wrote": {casPlan(), casOverlap, model.Violation,
			"not masked: the resource handled writes of 0 clients on k, so compare-and-set had nothing to decide between"},
		"the other wrote another lock's register": {casPlan(), casOverlap + aWrites + `
			2.00 b acquire h3 key=l
			2.10 b acquire:ok h3
			2.20 b write h3 value=w1
			2.30 @ write h3
			2.40 b write:ok h3`, model.Violation, "not masked: the resource handled writes of 1 client on k, so compare-and-set had nothing to decide between"},
		"an update was lost": {casPlan(), casOverlap + aWrites + `
			1.54 b write h2 value=v2
			1.55 @ write h2
			1.56 b write:ok h2`, model.Violation, "not masked: lost-update is violated on k"},
		"a plain resource": {untokened(), casOverlap + aWrites + bIsRejected, model.Violation, ""},
	} {
		t.Run(name, func(t *testing.T) {
			result, _ := judgeText(t, test.plan, test.text)
			if p := propertyOf(result, model.MutualExclusion); p.Verdict != test.want || p.Reason != test.why {
				t.Errorf("%s: %s", p.Verdict, p.Reason)
			}
		})
	}
}

// A write of a superseded holder that was built on the current value harms nothing that compare-and-set promises.
func TestCompareAndSetMakesNoWriteStale(t *testing.T) {
	const late = `
		1.0 a acquire h1
		1.1 a acquire:ok h1 token=1
		1.2 a read h1
		1.3 @ read h1
		1.4 a read:ok h1
		2.0 b acquire h2
		2.1 b acquire:ok h2 token=2
		2.2 b read h2
		2.3 @ read h2
		2.4 b read:ok h2
		2.5 a write h1 value=v1
		2.6 @ write h1
		2.7 a write:ok h1
		2.8 b write h2 value=v2
		2.9 @ write h2 %s
		3.0 b write:%s`
	plain := strings.NewReplacer(" %s", "", ":%s", ":ok h2").Replace(late)
	verdicts(t, plainPlan(), plain, "stale-write:1 lost-update:1 resource-linearizability:1")
	plan := plainPlan()
	plan.Resource = history.ResourceCAS
	result := verdicts(t, plan, strings.NewReplacer("%s", "rejected", ":%s", ":fail h2 code=rejected").Replace(strings.Replace(late, " %s", " rejected", 1)), "")
	if p := propertyOf(result, model.StaleWrite); p.Verdict != model.NotApplicable || !strings.Contains(p.Reason, "compare-and-set, not by who holds the lock") || result.Stats.StaleAccepted != 0 {
		t.Errorf("%+v, %d stale", p, result.Stats.StaleAccepted)
	}
	// One that accepts all is found by what it loses.
	verdicts(t, plan, plain, "lost-update:1 resource-linearizability:1")
}

// Compare-and-set protects each write, and not a hold that writes twice: the next holder read what was half done.
func TestCompareAndSetDoesNotJoinTheWritesOfAHold(t *testing.T) {
	verdicts(t, casPlan(), `
		1.0 a acquire h1
		1.1 a acquire:ok h1
		1.2 a write h1 value=v1
		1.3 @ write h1
		1.4 a write:ok h1
		1.5 b acquire h2
		1.6 b acquire:ok h2
		1.7 b read h2
		1.8 @ read h2
		1.9 b read:ok h2
		2.0 a write h1 value=v2 base=v1
		2.1 @ write h1
		2.2 a write:ok h1`, "resource-linearizability:1")
}

func TestARejectionUnderCompareAndSetIsTold(t *testing.T) {
	text := strings.NewReplacer(" token=33 %s", " rejected", "write:%s", "write:fail h1 code=rejected").Replace(classic)
	result, judged := judgeText(t, casPlan(), text)
	f := propertyOf(result, model.MutualExclusion).Findings[0]
	if want := "c2 wrote v1, built on the initial value: rejected, the value was v2"; !strings.Contains(storyText(f), want) {
		t.Errorf("the story lacks %q:\n%s", want, storyText(f))
	}
	if judged.Locks[0].ValueBefore(1) != "" || judged.Locks[0].ValueBefore(100) != "v2" {
		t.Error("the values of the register are not known")
	}
}

// An excerpt lacks most writes: what a rejected one was compared with is not known there, and is neither judged nor told.
func TestAnExcerptDoesNotSayWhatWasCompared(t *testing.T) {
	plan := casPlan()
	plan.Excerpt = &history.Excerpt{Finding: "mutual-exclusion-1", Property: string(model.MutualExclusion)}
	result, m := judgeText(t, plan, casOverlap+bIsRejected)
	if p := propertyOf(result, model.MutualExclusion); p.Verdict != model.Violation {
		t.Errorf("%s: %s", p.Verdict, p.Reason)
	}
	f := model.Finding{ToNS: m.EndNS}
	explain.NewStory(m, &f, m.Holds[1], nil).Finish()
	if want := "rejected, the value was another by then"; !strings.Contains(storyText(f), want) {
		t.Errorf("the story lacks %q:\n%s", want, storyText(f))
	}
}

// An overlap that compare-and-set may turn out to have masked is no violation yet; one on a key where an update was lost is.
func TestOverlapsUnderCompareAndSetAreOpenUntilTheEnd(t *testing.T) {
	const later = "\n2.5 c acquire h8\n9.0 d acquire h9\ncut"
	lost := strings.NewReplacer(" rejected", "", "fail h2 code=rejected", "ok h2").Replace(bIsRejected)
	for name, test := range map[string]struct {
		text string
		want model.Verdict
	}{
		"nothing was compared so far": {casOverlap, model.Inconclusive},
		"one wrote so far":            {casOverlap + aWrites, model.Inconclusive},
		"an update was lost":          {casOverlap + aWrites + lost, model.Violation},
		"one of two was rejected":     {casOverlap + aWrites + bIsRejected, model.Masked},
	} {
		events, requests := parse(t, test.text+later)
		result, _, err := Check(model.Recording{Plan: casPlan(), Events: testkit.Rows(events), Requests: testkit.Rows(requests)}, Options{SoFar: true})
		if err != nil {
			t.Fatal(err)
		}
		if p := propertyOf(result, model.MutualExclusion); p.Verdict != test.want {
			t.Errorf("%s: %s: %s", name, p.Verdict, p.Reason)
		}
	}
}

// What a resource accepted wrongly is a defect only where it is not found by what was lost, and nothing that is still to come can
// show that it was.
func TestAWriteThatCompareAndSetHadToReject(t *testing.T) {
	unacknowledged := casOverlap + strings.Replace(aWrites, "write:ok", "write:info", 1) + strings.NewReplacer(" rejected", "", "fail h2 code=rejected", "ok h2").Replace(bIsRejected)
	_, _, err := Check(record(t, casPlan(), unacknowledged), Options{})
	if want := "the resource accepted request 6 (seq 4), which was built on the initial value, and not on the value that k had"; !errors.Is(err, model.ErrDefect) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v; want %q", err, want)
	}
	events, requests := parse(t, unacknowledged+"\ncut")
	if _, _, err := Check(model.Recording{Plan: casPlan(), Events: testkit.Rows(events), Requests: testkit.Rows(requests)}, Options{SoFar: true}); err != nil {
		t.Errorf("while the run goes on: %v", err)
	}
	verdicts(t, untokened(), unacknowledged, "mutual-exclusion:1 stale-write:1 resource-linearizability:1")
}

// A run recorded before plans named their resource is judged as it was, and as one that names what its workload implied.
func TestARecordingFromBeforeResourcesWereNamed(t *testing.T) {
	accepted := strings.NewReplacer(" %s", "", "write:%s", "write:ok h1").Replace(classic)
	rejected := strings.NewReplacer(" %s", " rejected mark=34", "write:%s", "write:fail h1 code=rejected").Replace(classic)
	for name, test := range map[string]struct {
		plan    history.Plan
		implied history.Resource
		text    string
		want    string
	}{
		"lock":                        {plainPlan(), history.ResourcePlain, accepted, "mutual-exclusion:1 stale-write:1 lost-update:1 resource-linearizability:1"},
		"fencing":                     {fencedPlan(), history.ResourceFenced, rejected, "mutual-exclusion:1"},
		"fencing that let it through": {fencedPlan(), history.ResourceFenced, accepted, "mutual-exclusion:1 stale-write:1 lost-update:1 resource-linearizability:1"},
	} {
		t.Run(name, func(t *testing.T) {
			before := verdicts(t, test.plan, test.text, test.want)
			test.plan.Resource = test.implied
			named, _ := judgeText(t, test.plan, test.text)
			a, errA := json.Marshal(before)
			b, errB := json.Marshal(named)
			if errA != nil || errB != nil || !bytes.Equal(a, b) {
				t.Errorf("judged otherwise:\n%s\n%s", a, b)
			}
		})
	}
}
