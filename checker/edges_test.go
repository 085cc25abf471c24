package checker

import (
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// After the service said that a record is gone, only a client that compares before it deletes can prove that it had it.
func TestOwnedAfterTheRecordWasSaidToBeGone(t *testing.T) {
	const text = `
		1.0 a acquire h1
		1.1 a acquire:ok h1 token=1 session=sa
		1.2 a lease:fail session=sa
		1.3 a release h1
		1.4 a release:ok h1 owned=true`
	for release, want := range map[history.ReleaseKind]string{
		history.ReleaseChecked: "lock-linearizability:1", history.ReleaseUnchecked: "", "": "",
	} {
		plan := plainPlan()
		plan.Release = release
		verdicts(t, plan, text, want)
	}
}

// Where nothing says when the service held a grant, any answers can be explained, and nothing was found out (J6).
func TestLockLinearizabilityNeedsSomethingToHoldOnTo(t *testing.T) {
	const blind = `
		1.0 a acquire h1
		1.1 a acquire:ok h1 token=1
		1.2 b acquire h2
		1.3 b acquire:ok h2 token=2
		1.4 a release h1
		1.5 a release:info h1`
	for name, test := range map[string]struct {
		text string
		want model.Verdict
	}{
		"nothing":              {blind, model.NotApplicable},
		"a lease":              {blind + "\n1.6 c lease:ok session=sc ttl=2 seen=1.6\n1.7 c acquire h3\n1.8 c acquire:ok h3 token=3 session=sc", model.Pass},
		"a proof":              {blind + "\n1.7 c acquire h3\n1.8 c acquire:ok h3 token=3\n1.9 c release h3\n2.0 c release:ok h3 owned=true", model.Pass},
		"a confirmed end":      {blind + "\n1.7 c acquire h3\n1.8 c acquire:ok h3 token=3 session=sc\n1.9 c lease:fail session=sc", model.Pass},
		"only its own release": {blind + "\n1.7 c acquire h3\n1.8 c acquire:ok h3 token=3\n1.9 c release h3\n2.0 c release:ok h3", model.NotApplicable},
		"a try that may fail":  {blind + "\n1.7 c acquire h3 try=true\n1.8 c acquire:fail h3 code=busy", model.NotApplicable},
	} {
		t.Run(name, func(t *testing.T) {
			result, _ := judgeText(t, plainPlan(), test.text)
			if p := propertyOf(result, model.LockLinearizability); p.Verdict != test.want || (test.want == model.NotApplicable) != (p.Reason != "" && p.ConfirmedBy == "") {
				t.Errorf("%s: %q, confirmed by %q", p.Verdict, p.Reason, p.ConfirmedBy)
			}
		})
	}
	atomic := untokened()
	atomic.TryAtomic = true
	result, _ := judgeText(t, atomic, "1 a acquire h1\n1.1 a acquire:info h1\n1.7 c acquire h3 try=true\n1.8 c acquire:fail h3 code=busy")
	if p := propertyOf(result, model.LockLinearizability); p.Verdict != model.Pass {
		t.Errorf("with a refused try that is evidence: %s, %s", p.Verdict, p.Reason)
	}
}

// Where every judged property is n/a nothing was tested, and that is no pass (J9).
func TestWhereNothingAppliesNothingPasses(t *testing.T) {
	const text = `
		1.0 a acquire h1
		1.1 a acquire:ok h1
		1.2 a release h1
		1.3 a release:ok h1 owned=true
		final`
	for name, test := range map[string]struct {
		properties []model.Name
		want       model.Verdict
	}{
		"no tokens, so nothing to judge": {[]model.Name{model.TokenMonotonicity}, model.Inconclusive},
		"one that applies beside it":     {[]model.Name{model.TokenMonotonicity, model.StaleWrite}, model.Pass},
	} {
		t.Run(name, func(t *testing.T) {
			result, _, err := Check(record(t, untokened(), "tested\n"+text), Options{Properties: test.properties})
			if err != nil {
				t.Fatal(err)
			}
			if result.Verdict != test.want || test.want == model.Inconclusive && !strings.Contains(result.Reason, "a plain lock gives no number") {
				t.Errorf("%s: %s", result.Verdict, result.Reason)
			}
		})
	}
}

// A client that takes no lock and whose requests the resource refuses tests nothing, and masks nothing (J9, J10).
func TestAClientThatTakesNoLockPassesNothing(t *testing.T) {
	plan := fencedPlan()
	plan.Exposure = []history.Requirement{{Name: history.ExposureWriters, Min: 2}}
	const text = `
		1.0 a acquire h1
		1.1 a acquire:ok h1 token=1
		1.2 b acquire h2
		1.3 b acquire:ok h2 token=2
		1.4 a write h1 value=v1
		1.5 a write:fail h1 code=refused held=1.4
		1.6 b write h2 value=v2
		1.7 b write:fail h2 code=refused held=1.6
		1.8 a release h1
		1.9 a release:ok h1
		final`
	result, _ := judgeText(t, plan, text)
	if p := propertyOf(result, model.MutualExclusion); p.Verdict != model.Violation || !strings.Contains(p.Reason, "handled requests with the tokens of 0 clients on k") {
		t.Errorf("%s: %s", p.Verdict, p.Reason)
	}
	alone := strings.ReplaceAll(text, "held=1.4", "") // no overlap is seen
	if result, _ = judgeText(t, plan, alone); result.Verdict != model.Inconclusive || !strings.Contains(result.Reason, "no write under a lock was handled by the resource and answered; mutual-exclusion: ") {
		t.Errorf("%s: %s", result.Verdict, result.Reason)
	}
}

// Writes count as far as the resource handled them and their clients were answered.
func TestWritersAreThoseWhoseWritesWereHandledAndAnswered(t *testing.T) {
	const grants = `
		1.0 a acquire h1
		1.1 a acquire:ok h1 token=1
		1.2 b acquire h2
		1.3 b acquire:ok h2 token=2
		1.4 a write h1 value=v1
		1.5 @ write h1 token=1
		1.6 a write:ok h1
		1.7 b write h2 value=v2
		`
	for name, test := range map[string]struct {
		end  string
		want int64
	}{
		"applied":      {"1.8 @ write h2 token=2\n1.9 b write:ok h2", 2},
		"rejected":     {"1.8 @ write h2 token=2 rejected mark=9\n1.9 b write:fail h2 code=rejected", 2},
		"not answered": {"1.8 @ write h2 token=2\n1.9 b write:info h2", 1},
		"not handled":  {"1.9 b write:fail h2 code=refused", 1},
	} {
		t.Run(name, func(t *testing.T) {
			plan := plainPlan()
			if test.end[9:] != "" && strings.Contains(test.end, "mark=9") {
				plan = fencedPlan()
			}
			text := grants + test.end
			if plan.Fenced { // the greater token has to have been used
				text = "0.1 c acquire h0\n0.2 c acquire:ok h0 token=9\n0.3 c read h0\n0.4 @ read h0 token=9\n0.5 c read:ok h0\n" +
					strings.Replace(grants, "@ write h1 token=1", "@ write h1 token=1 rejected mark=9", 1) + test.end
				text = strings.Replace(text, "a write:ok h1", "a write:fail h1 code=rejected", 1)
			}
			result, _ := judgeText(t, plan, text)
			for _, e := range result.Exposure {
				if e.Name == history.ExposureWriters && e.Count != test.want {
					t.Errorf("%d, want %d", e.Count, test.want)
				}
			}
		})
	}
}

// A client that reports no leases is exposed to a pause past its lease all the same: by the time to live it asked for.
func TestWithoutLeaseReportsExposureCountsFromTheGrant(t *testing.T) {
	const text = `
		1.0 a acquire h1
		1.1 a acquire:ok h1 token=1 session=sa
		1.3 nemesis pause:invoke 1 target=a
		1.4 nemesis pause:ok 1 target=a
		%s nemesis pause:heal 1 target=a
		%s nemesis pause:healed 1 target=a
		9.0 a exit h1 held=2.0`
	for until, want := range map[string]int64{"3.0": 0, "3.2": 1} {
		result, _ := judgeText(t, plainPlan(), strings.ReplaceAll(text, "%s", until))
		for _, e := range result.Exposure {
			if e.Name == history.PastLease("pauses") && e.Count != want {
				t.Errorf("until %s: %d, want %d", until, e.Count, want)
			}
		}
	}
	// That a session was over is no report of a lease: a lock that lives with a session may have none.
	result, _ := judgeText(t, plainPlan(), strings.Replace(strings.ReplaceAll(text, "%s", "3.2"), "9.0 a", "8.9 a lease:fail session=sa\n9.0 a", 1))
	for _, e := range result.Exposure {
		if e.Name == history.PastLease("pauses") && e.Count != 1 {
			t.Errorf("with the end of a session reported: %d, want 1", e.Count)
		}
	}
	// Where leases are reported, one that was not acknowledged proves nothing, as before.
	result, _ = judgeText(t, plainPlan(), "0.5 b lease:ok session=sb ttl=2 seen=0.5\n"+strings.ReplaceAll(text, "%s", "3.2"))
	for _, e := range result.Exposure {
		if e.Name == history.PastLease("pauses") && e.Count != 0 {
			t.Errorf("with leases reported: %d", e.Count)
		}
	}
}

// One superseded hold, or one lost grant, is one incident, however many findings it led to.
func TestFindingsOfOneHoldAreOneIncident(t *testing.T) {
	text := strings.Replace(strings.Replace(classic, "%s", "", 1), "write:%s", "write:ok h1", 1)
	result, _ := judgeText(t, plainPlan(), text)
	if result.Violations() < 4 || result.Incidents != 1 {
		t.Errorf("%d violations, %d incidents", result.Violations(), result.Incidents)
	}
	for _, p := range result.Properties {
		for _, f := range p.Findings {
			if f.Incident != "h1" || p.Incidents != 1 {
				t.Errorf("%s: incident %q, %d of %s", f.ID, f.Incident, p.Incidents, p.Name)
			}
		}
	}
	two, _ := judgeText(t, plainPlan(), `
		1.0 a acquire h1
		1.1 a acquire:ok h1 token=1
		1.2 b acquire h2
		1.3 b acquire:ok h2 token=2
		1.4 c acquire h3
		1.5 c acquire:ok h3 token=3
		1.7 a exit h1 held=1.65
		1.7 b exit h2 held=1.65
		1.7 c exit h3 held=1.65`)
	if p := propertyOf(two, model.MutualExclusion); p.Count != 3 || p.Incidents != 2 || two.Incidents != 2 {
		t.Errorf("three overlaps of three holds: %d findings, %d incidents, %d in all; want 3, 2 and 2", p.Count, p.Incidents, two.Incidents)
	}
}

// A lock client that keeps crashing tests nothing.
func TestAClientThatKeepsDyingIsInconclusive(t *testing.T) {
	const calm = "tested\n1 a acquire h1\n1.1 a acquire:ok h1 token=1\n1.2 a release h1\n1.3 a release:ok h1 owned=true\n"
	for name, test := range map[string]struct {
		deaths string
		count  int64
		want   model.Verdict
	}{
		"twice":         {"1.4 c2 exit code=died\n1.5 c2-2 exit code=died\n", 2, model.Pass},
		"three times":   {"1.4 c2 exit code=died\n1.5 c2-2 exit code=died\n1.6 c2-3 exit code=died\n", 3, model.Inconclusive},
		"three clients": {"1.4 c2 exit code=died\n1.5 c3 exit code=died\n1.6 c4 exit code=died\n", 3, model.Pass},
		"killed":        {"1.4 c2 exit\n1.5 c2-2 exit\n1.6 c2-3 exit\n", 0, model.Pass},
	} {
		t.Run(name, func(t *testing.T) {
			result, _ := judgeText(t, plainPlan(), calm+test.deaths+"final")
			if result.Verdict != test.want || result.Stats.ClientDeaths != test.count {
				t.Errorf("%s (%s), %d deaths", result.Verdict, result.Reason, result.Stats.ClientDeaths)
			}
		})
	}
}

func TestAttemptsAndOvertakes(t *testing.T) {
	const text = `
		1.0 a acquire h1
		1.1 a acquire:ok h1 token=1 attempts=1
		1.2 b acquire h2
		1.4 c acquire h3
		1.5 a release h1
		1.6 a release:ok h1 owned=true
		1.7 %s acquire:ok %s token=2 attempts=3 queued=1.3
		1.8 %s release %s
		1.9 %s release:ok %s owned=true
		2.0 %s acquire:ok %s token=3 attempts=4 queued=1.45`
	inTurn := strings.NewReplacer("1.7 %s acquire:ok %s", "1.7 b acquire:ok h2", "1.8 %s release %s", "1.8 b release h2",
		"1.9 %s release:ok %s", "1.9 b release:ok h2", "2.0 %s acquire:ok %s", "2.0 c acquire:ok h3").Replace(text)
	jumped := strings.NewReplacer("1.7 %s acquire:ok %s", "1.7 c acquire:ok h3", "queued=1.3", "queued=1.45", "1.8 %s release %s", "1.8 c release h3",
		"1.9 %s release:ok %s", "1.9 c release:ok h3", "2.0 %s acquire:ok %s", "2.0 b acquire:ok h2", "attempts=4 queued=1.45", "attempts=4 queued=1.3").Replace(text)
	for name, test := range map[string]struct {
		text string
		want int64
	}{
		"in turn":                            {inTurn, 0},
		"the second before the first":        {jumped, 1},
		"it was not known to have queued":    {strings.ReplaceAll(jumped, " queued=1.3", ""), 0},
		"it queued when the other had asked": {strings.ReplaceAll(jumped, "queued=1.3", "queued=1.42"), 0},
	} {
		t.Run(name, func(t *testing.T) {
			result, _ := judgeText(t, plainPlan(), test.text)
			if s := result.Stats; s.Overtakes != test.want || s.AttemptsPerGrant != 2.67 {
				t.Errorf("%d overtakes, %v attempts a grant; want %d and 2.67", s.Overtakes, s.AttemptsPerGrant, test.want)
			}
		})
	}
}

// A holder that is only slowed may give its lock back while it is: what goes on beyond the end of that lease was not past it.
func TestASlowedHolderThatReleasedInTimeOutlivedNothing(t *testing.T) {
	const text = `
		1.0 a acquire h1
		1.0 a lease:ok session=sa ttl=2 seen=1.0
		1.1 a acquire:ok h1 token=1 session=sa
		1.3 nemesis slow:invoke 1 target=a
		1.4 nemesis slow:ok 1 target=a
		%s a release h1
		4.1 a release:ok h1 owned=true
		4.5 nemesis slow:heal 1 target=a
		4.6 nemesis slow:healed 1 target=a
		9.0 a exit h1 held=2.0`
	for released, want := range map[string]int64{"2.0": 0, "4.0": 1} {
		result, _ := judgeText(t, plainPlan(), strings.ReplaceAll(text, "%s", released))
		for _, e := range result.Exposure {
			if e.Name == history.PastLease("slowdowns") && e.Count != want {
				t.Errorf("released at %s: %d, want %d", released, e.Count, want)
			}
		}
	}
}
