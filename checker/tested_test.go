package checker

import (
	"fmt"
	"strings"
	"testing"

	"lockcheck/checker/explain"
	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// A property of which nothing happened that it could have judged does not pass: one history for each (J9).
func TestWhatHadNothingToJudgeDoesNotPass(t *testing.T) {
	const alone = `
		1.0 a acquire h1
		1.1 a acquire:ok h1 token=1 session=s1
		1.2 a release h1
		1.3 a release:ok h1`
	const nothing = "1.0 a acquire h1"
	jobs, released := jobsPlan(history.AtLeastOnce), plainPlan()
	released.Release = history.ReleaseUnchecked
	table := map[model.Name]struct {
		plan history.Plan
		text string
		want model.Verdict
		says string
	}{
		model.MutualExclusion: {plainPlan(), alone + strings.NewReplacer("1.", "2.", " a ", " b ", "h1", "h2", "token=1", "token=2", "s1", "s2").Replace(alone) + "\nfinal",
			model.Inconclusive, "no overlap could be seen"},
		model.LockLinearizability:     {plainPlan(), alone, model.NotApplicable, "any answers"},
		model.EarlyExpiry:             {plainPlan(), alone + "\nfinal", model.NotApplicable, "no grant was protected"},
		model.ReleaseByOwner:          {released, alone + "\nfinal", model.NotApplicable, "no grant was protected"},
		model.TokenMonotonicity:       {plainPlan(), alone, model.Inconclusive, "no two tokens to compare"},
		model.StaleWrite:              {plainPlan(), alone + "\nfinal", model.Inconclusive, "none could be stale"},
		model.LostUpdate:              {plainPlan(), strings.Replace(turn(1, "a", "h1", "1", "", "v1")+turn(2, "b", "h2", "2", "v1", "v2"), "write:ok", "write:info", 2), model.Inconclusive, "no update could be lost"},
		model.ResourceLinearizability: {plainPlan(), turn(1, "a", "h1", "1", "", "v1") + "final", model.Inconclusive, "any order explains"},
		model.ResourceIntegrity:       {underTest(history.CompareTokens), nothing, model.Inconclusive, "handled no request"},
		model.DoubleExecution:         {jobs, nothing, model.Inconclusive, "no record of a slot"},
		model.MissedExecution:         {jobs, nothing, model.NotApplicable, "no slot was due"},
		model.Liveness:                {plainPlan(), "1.0 harness phase heal\n1.1 harness phase final", model.Inconclusive, "no client asked"},
	}
	for _, name := range Names() {
		test := table[name]
		t.Run(string(name), func(t *testing.T) {
			result, _, err := Check(record(t, test.plan, test.text), Options{Properties: []model.Name{name}})
			if err != nil {
				t.Fatal(err)
			}
			if p := propertyOf(result, name); p.Verdict != test.want || !strings.Contains(p.Reason, test.says) {
				t.Errorf("%s: %q, want %s: %q", p.Verdict, p.Reason, test.want, test.says)
			}
			if result.Verdict != model.Inconclusive {
				t.Errorf("the run: %s", result.Verdict)
			}
		})
	}
}

// The table above has all properties, and with a little more each of them passes.
func TestWhatHadSomethingToJudgePasses(t *testing.T) {
	tested := plainPlan()
	result, _ := judgeText(t, tested, `tested
		1.0 a acquire h1
		1.0 a lease:ok session=s1 ttl=2 seen=1.0
		1.1 a acquire:ok h1 token=1 session=s1
		1.5 a release h1
		1.6 a release:ok h1 owned=true held=1.4
		final`)
	for _, p := range result.Properties {
		if p.Verdict != model.Pass && p.Name != model.ReleaseByOwner {
			t.Errorf("%s: %s: %s", p.Name, p.Verdict, p.Reason)
		}
	}
}

// What a release removes once its hold was lost is tested only if one was asked for: where faults are meant to make losses that is required,
// and elsewhere the pass says so. A client that does not declare what its releases do is judged by no pass.
func TestReleaseByOwnerNeedsAReleaseAfterALoss(t *testing.T) {
	const grants = `tested
		1.0 a lease:ok session=sa ttl=2 seen=1
		1.0 a acquire h1
		1.1 a acquire:ok h1 token=1 session=sa
		1.2 b acquire h2
		1.3 nemesis pause:invoke 1 target=a
		1.4 nemesis pause:ok 1 target=a
		3.2 nemesis pause:heal 1 target=a
		3.3 nemesis pause:healed 1 target=a
		3.4 b acquire:ok h2 token=2
		3.45 a lost h1 session=sa held=3.2`
	const released = `
		3.5 a release h1
		3.6 a release:fail h1 code=not-owned owned=false`
	const end = `
		3.9 b release h2
		4.0 b release:ok h2 owned=true held=3.8
		final`
	pastLease := []history.Requirement{{Name: history.PastLease("pauses"), Min: 1}}
	for name, test := range map[string]struct {
		release  history.ReleaseKind
		exposure []history.Requirement
		text     string
		want     model.Verdict
		says     string
		count    int64
	}{
		"released after its loss":                    {history.ReleaseUnchecked, pastLease, grants + released + end, model.Pass, "", 1},
		"its answer alone says that it was lost":     {history.ReleaseUnchecked, pastLease, strings.NewReplacer("3.45 a lost h1 session=sa held=3.2", "", "1.0 a acquire h1", "1.0 a acquire h1\n1.05 b acquire h2", "1.2 b acquire h2", "").Replace(grants) + released + end, model.Pass, "", 1},
		"not released":                               {history.ReleaseUnchecked, pastLease, grants + end, model.Inconclusive, "was not tested", 0},
		"not released, and no loss was meant":        {history.ReleaseUnchecked, nil, grants + end, model.Pass, "was not tested", 0},
		"given back before":                          {history.ReleaseUnchecked, pastLease, strings.NewReplacer("3.5 a release", "1.25 a release", "3.6 a release:fail h1 code=not-owned owned=false", "1.27 a release:ok h1 owned=true").Replace(strings.Replace(grants, "1.3 nem", released+"\n1.3 nem", 1)) + end, model.Inconclusive, "was not tested", 0},
		"by a client that does not say what it does": {"", pastLease, grants + released + end, model.NotApplicable, `declare "release"`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			plan := plainPlan()
			plan.Release, plan.Exposure = test.release, test.exposure
			result, _ := judgeText(t, plan, test.text)
			if p := propertyOf(result, model.ReleaseByOwner); p.Verdict != test.want || !strings.Contains(p.Reason, test.says) {
				t.Errorf("%s: %q, want %s", p.Verdict, p.Reason, test.want)
			}
			for _, e := range result.Exposure {
				if e.Name == history.ExposureLostReleases && e.Count != test.count {
					t.Errorf("%+v", e)
				}
			}
		})
	}
}

// What clients are asked to do in the load is counted; what comes in the final phase is none of it.
func TestWhatClientsAreAskedToDoIsCounted(t *testing.T) {
	result, _ := judgeText(t, plainPlan(), `tested
		1.0 a lease:ok session=sa ttl=2 seen=1
		1.0 a acquire h1
		1.1 a acquire:ok h1 token=1 session=sa
		1.2 b acquire h2 try=true
		1.3 b acquire:fail h2 code=busy
		1.5 a lease:ok session=sa ttl=2 seen=1.4
		1.6 c acquire h3
		1.7 c acquire:fail h3 code=cancelled
		1.75 d acquire h4
		1.8 a release h1
		1.9 a release:ok h1 owned=true held=1.75
		2.0 harness phase heal
		2.1 d acquire:fail h4 code=cancelled
		final`)
	got := map[string]int64{}
	for _, e := range result.Exposure {
		got[e.Name] = e.Count
	}
	for name, want := range map[string]int64{history.ExposureRenewals: 1, history.ExposureGivenUp: 1, history.ExposureTries: 1, history.ExposureLostReleases: 0, history.ExposureContended: 1} {
		if got[name] != want {
			t.Errorf("%s: %d, want %d", name, got[name], want)
		}
	}
}

// Grants are contended in the load only: the fresh sessions of the final phase come by themselves.
func TestGrantsOfTheFinalPhaseAreNotContended(t *testing.T) {
	result, _ := judgeText(t, plainPlan(), `
		1.0 a acquire h1
		1.1 a acquire:ok h1 token=1 session=sa
		1.2 a release h1
		1.3 a release:ok h1
		2.0 harness phase heal
		2.1 harness phase final
		2.2 f1 acquire f1
		2.3 f1 acquire:ok f1 token=2
		2.4 f2 acquire f2
		2.5 f1 release f1
		2.6 f1 release:ok f1 held=2.45
		2.7 f2 acquire:ok f2 token=3`)
	if e := result.Exposure[0]; e.Name != history.ExposureContended || e.Count != 0 {
		t.Errorf("%+v", e)
	}
}

// A story has the releases of other holds between a grant and its loss, the last few of them.
func TestAStoryShowsWhatOthersReleased(t *testing.T) {
	plan := plainPlan()
	plan.Nodes = 3
	const text = `
		0.1 c acquire h0
		0.2 c acquire:ok h0 token=1 session=sc
		1.0 a lease:ok session=sa ttl=2 seen=1
		1.0 a acquire h1
		1.1 a acquire:ok h1 token=2 session=sa
		1.4 c release h0
		1.5 c release:ok h0 owned=true
		1.6 b acquire h2
		1.7 b acquire:ok h2 token=3`
	events, requests := parse(t, text)
	rec := (&explain.Witness{Plan: plan, Events: events, Requests: requests}).Recording()
	result, m, err := Check(rec, Options{})
	if err != nil {
		t.Fatal(err)
	}
	found := propertyOf(result, model.EarlyExpiry).Findings
	if len(found) != 1 || !strings.Contains(storyText(found[0]), "c sent the request that deletes the record of k") && !strings.Contains(storyText(found[0]), "c released k") {
		t.Fatalf("%+v", found)
	}
	for _, name := range []model.Name{model.EarlyExpiry, model.TokenMonotonicity} { // the story of a witness is that of the whole
		for i, w := range must(Witnesses(rec, result, m, Options{})) {
			if w.Missing != "" || w.Plan.Excerpt.Property != string(name) {
				continue
			}
			again, _, err := Check(w.Recording(), Options{})
			if err != nil || len(propertyOf(again, name).Findings) == 0 || storyText(propertyOf(again, name).Findings[0]) != storyText(propertyOf(result, name).Findings[0]) {
				t.Errorf("witness %d: %v: %+v", i, err, propertyOf(again, name).Findings)
			}
		}
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// Two holders that the service let in write in turn; a lease that a pause outlived later has nothing to do with their stale writes.
func TestStaleWritesAreCountedForTheLeasesThatTheyCameOf(t *testing.T) {
	const text = `
		0.1 x acquire h8
		0.2 x acquire:ok h8 token=1
		0.3 y acquire h9
		0.4 y acquire:ok h9 token=2
		0.5 y write h9 value=v9
		0.6 @ write h9
		0.7 y write:ok h9
		0.8 x write h8 value=v8
		0.9 @ write h8
		0.95 x write:ok h8
		1.0 a lease:ok session=sa ttl=2 seen=1
		1.0 a acquire h1
		1.1 a acquire:ok h1 token=3 session=sa
		1.3 nemesis pause:invoke 1 target=a
		1.4 nemesis pause:ok 1 target=a
		3.2 nemesis pause:heal 1 target=a
		3.3 nemesis pause:healed 1 target=a
		3.35 a lost h1 session=sa held=3.2
		3.4 b acquire h2
		3.5 b acquire:ok h2 token=4
		3.6 b write h2 value=v2 base=v8
		3.7 @ write h2
		3.8 b write:ok h2`
	const late = `
		3.85 a write h1 value=v1 base=v8
		3.9 @ write h1
		3.95 a write:ok h1`
	for text, want := range map[string][3]int64{text: {1, 0, 1}, text + late: {2, 1, 1}} {
		result, _ := judgeText(t, plainPlan(), text)
		if s := result.Stats; [3]int64{s.StaleAccepted, s.StaleOutlived, s.OutlivedLeases} != want {
			t.Errorf("%d stale, %d of %d outlived leases, want %v", s.StaleAccepted, s.StaleOutlived, s.OutlivedLeases, want)
		}
	}
}

// Clients that fail without a reason, or confirm their holds late, are counted: what they do is hardly tested.
func TestClientsThatKeepARunFromTesting(t *testing.T) {
	hold := func(at float64, client, hold string, held float64) string {
		return strings.NewReplacer("C", client, "H", hold).Replace(fmt.Sprintf(`
			%.1f C acquire H
			%.1f C acquire:ok H token=%.0f
			%.1f C release H
			%.1f C release:ok H held=%.1f`, at, at+.1, at, at+2, at+2.1, held))
	}
	failures := ""
	for i := range 10 {
		failures += fmt.Sprintf("\n%d.1 f acquire f%d\n%d.2 f acquire:fail f%d", 20+i, i, 20+i, i)
	}
	for name, test := range map[string]struct {
		text string
		want string
	}{
		"confirms late":        {hold(1, "a", "h1", 1.2) + hold(5, "a", "h2", 5.5), "[{a 0 2 1800000000}]"},
		"once":                 {hold(1, "a", "h1", 1.2) + hold(5, "a", "h2", 6.9), "[]"},
		"confirms in time":     {hold(1, "a", "h1", 2.9) + hold(5, "a", "h2", 6.9), "[]"},
		"fails without a code": {failures, "[{f 10 0 0}]"},
		"fails, and says why":  {strings.ReplaceAll(failures, "acquire:fail", "acquire:fail code=busy"), "[]"},
		"fails a few times":    {failures[:len(failures)-len("\n29.2 f acquire:fail f9")], "[]"},
		"another was paused": {hold(1, "a", "h1", 1.2) + hold(5, "a", "h2", 5.5) + `
			8.0 nemesis pause:invoke 1 target=b
			8.1 nemesis pause:ok 1 target=b
			9.0 nemesis pause:heal 1 target=b
			9.1 nemesis pause:healed 1 target=b`, "[{a 0 2 1800000000}]"},
	} {
		result, _ := judgeText(t, plainPlan(), test.text)
		if got := fmt.Sprint(result.Stats.OddClients); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}
