package checker

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/internal/simulated"
	"lockcheck/checker/model"
)

func TestNoExposureNoPass(t *testing.T) {
	plan := plainPlan()
	plan.Exposure = []history.Requirement{{Name: history.ExposureContended, Min: 1}, {Name: history.PastLease("pauses"), Min: 1}}
	alone := `tested
		1.0 a lease:ok session=sa ttl=2 seen=1
		1.0 a acquire h1
		1.1 a acquire:ok h1 token=1 session=sa
		`
	result, _ := judgeText(t, plan, alone+"2 a release h1\n2.1 a release:ok h1 owned=true\nfinal")
	if want := "no client ever waited for a lock that another held; no pause of a holder outlived its lease"; result.Verdict != model.Inconclusive || result.Reason != want {
		t.Errorf("%s: %s", result.Verdict, result.Reason)
	}
	result, _ = judgeText(t, plan, alone+`
		1.2 b acquire h2
		1.3 nemesis pause:invoke 1 target=a
		1.4 nemesis pause:ok 1 target=a
		3.2 nemesis pause:heal 1 target=a
		3.3 nemesis pause:healed 1 target=a
		3.4 b acquire:ok h2 token=2
		3.5 a exit h1 held=3.2
		3.6 b release h2
		3.7 b release:ok h2 owned=true
		final`)
	if result.Verdict != model.Pass {
		t.Errorf("%s: %s", result.Verdict, result.Reason)
	}
	want := map[string]int64{history.ExposureContended: 1, history.ExposureWriters: 2, "pauses": 1, history.OfHolders("pauses"): 1, history.PastLease("pauses"): 1}
	for _, e := range result.Exposure {
		if e.Count != want[e.Name] {
			t.Errorf("%s: %d", e.Name, e.Count)
		}
	}
	plan.Exposure = []history.Requirement{{Name: "eclipses", Min: 1}}
	if result, _ = judgeText(t, plan, alone+"2 a release h1\n2.1 a release:ok h1 owned=true\nfinal"); result.Verdict != model.Inconclusive || !strings.Contains(result.Reason, `cannot count "eclipses"`) {
		t.Errorf("%s: %s", result.Verdict, result.Reason)
	}
}

func TestAPauseThatEndsInsideTheLeaseOutlivesNothing(t *testing.T) {
	result, _ := judgeText(t, plainPlan(), `
		1.0 a lease:ok session=sa ttl=2 seen=1
		1.0 a acquire h1
		1.1 a acquire:ok h1 token=1 session=sa
		1.3 nemesis pause:invoke 1 target=a
		1.4 nemesis pause:ok 1 target=a
		2.9 nemesis pause:heal 1 target=a
		2.95 nemesis pause:healed 1 target=a
		3.5 a exit h1 held=3.2`)
	if result.Stats.OutlivedLeases != 0 {
		t.Errorf("%+v", result.Stats)
	}
}

func TestVerdictsOfRuns(t *testing.T) {
	const quiet = "tested\n1 a acquire h1\n1.1 a acquire:ok h1 token=1\n1.2 a release h1\n1.3 a release:ok h1 owned=true\n"
	for name, test := range map[string]struct {
		text string
		want model.Verdict
	}{
		"all well":                           {quiet + "final", model.Pass},
		"no end mark":                        {quiet + "final\ncut", model.Inconclusive},
		"a violation outweighs unknowns":     {quiet + "2 b acquire h2\n2.1 b acquire:ok h2 token=1\ncut", model.Violation},
		"nothing happened, so nothing is ok": {"cut", model.Inconclusive},
	} {
		t.Run(name, func(t *testing.T) {
			if result, _ := judgeText(t, plainPlan(), test.text); result.Verdict != test.want || (test.want != model.Pass) != (result.Reason != "") {
				t.Errorf("%s: %q", result.Verdict, result.Reason)
			}
		})
	}
}

func TestOverlapIsMaskedOnlyWhereTokensAreCompared(t *testing.T) {
	const overlap = `
		1.00 a acquire h1
		1.00 b acquire h2
		1.10 a acquire:ok h1 token=1
		1.20 b acquire:ok h2 token=2
		1.21 a read h1
		1.22 @ read h1 token=1
		1.23 a read:ok h1
		1.50 a lost h1 held=1.4
		1.50 b lost h2 held=1.4`
	const both = overlap + `
		1.51 b read h2
		1.52 @ read h2 token=2
		1.53 b read:ok h2`
	blind := fencedPlan()
	blind.Tokens = history.TokensNone
	for name, test := range map[string]struct {
		plan history.Plan
		text string
		want model.Verdict
	}{
		"plain":               {plainPlan(), both, model.Violation},
		"fenced":              {fencedPlan(), both, model.Masked},
		"fenced, tokenless":   {blind, both, model.Violation},
		"only one was fenced": {fencedPlan(), overlap, model.Violation},
		"one presented the other's token": {fencedPlan(), overlap + `
			1.51 b read h2
			1.52 @ read h2 token=1
			1.53 b read:ok h2`, model.Violation},
		"the other was told in time, and used the lock before": {fencedPlan(), `
			0.50 b acquire h0
			0.60 b acquire:ok h0 token=0
			0.61 b read h0
			0.62 @ read h0 token=0
			0.63 b read:ok h0
			0.70 b release h0
			0.71 b release:ok h0 owned=true` + overlap, model.Masked},
		"one that was rejected was compared, too": {fencedPlan(), overlap + `
			1.51 b write h2 value=v2
			1.52 @ write h2 token=2
			1.53 b write:ok h2
			1.54 a write h1 value=v1
			1.55 @ write h1 token=1 rejected
			1.56 a write:fail h1 code=rejected`, model.Masked},
	} {
		t.Run(name, func(t *testing.T) {
			if result, _ := judgeText(t, test.plan, test.text); propertyOf(result, model.MutualExclusion).Verdict != test.want {
				t.Errorf("%s: %s", propertyOf(result, model.MutualExclusion).Verdict, propertyOf(result, model.MutualExclusion).Reason)
			}
		})
	}
}

func TestStaleWriteUnmasksTheOverlap(t *testing.T) {
	text := strings.Replace(strings.Replace(classic, "%s", "", 1), "write:%s", "write:ok h1", 1)
	result, _ := judgeText(t, fencedPlan(), text)
	if p := propertyOf(result, model.MutualExclusion); p.Verdict != model.Violation || p.Reason != "not masked: stale-write is violated on k" {
		t.Errorf("%+v", p)
	}
}

func TestPropertiesCanBeChosen(t *testing.T) {
	rec := record(t, plainPlan(), "1 a acquire h1\nfinal")
	if _, _, err := Check(rec, Options{Properties: []model.Name{"luck"}}); !errors.Is(err, ErrUnknownProperty) || !strings.Contains(err.Error(), `"luck"; there are mutual-exclusion, `) {
		t.Errorf("got %v", err)
	}
	result, _, err := Check(record(t, plainPlan(), "1 a acquire h1\nfinal"), Options{Properties: []model.Name{model.Liveness, model.StaleWrite}})
	if err != nil || len(result.Properties) != 2 || result.Properties[0].Name != model.StaleWrite || result.Properties[1].Name != model.Liveness {
		t.Errorf("%+v, %v", result, err)
	}
}

func TestFindingsAreBoundedAndCounted(t *testing.T) {
	var text strings.Builder
	for n := range 4 {
		fmt.Fprintf(&text, "%[1]d.0 c acquire h%[1]d\n%[1]d.1 c acquire:ok h%[1]d token=5\n%[1]d.2 c release h%[1]d\n%[1]d.3 c release:ok h%[1]d\n", n+1)
	}
	result, _, err := Check(record(t, plainPlan(), text.String()), Options{MaxFindings: 2})
	if err != nil {
		t.Fatal(err)
	}
	if p := propertyOf(result, model.TokenMonotonicity); p.Count != 3 || len(p.Findings) != 2 || p.Findings[1].ID != "token-monotonicity-2" {
		t.Errorf("count %d, findings %+v", p.Count, p.Findings)
	}
}

// The same recording gives the same bytes, so that two checks of a run can be compared as files.
func TestResultsAreTheSameBytesEveryTime(t *testing.T) {
	violated := 0
	for seed := range uint64(6) {
		var first []byte
		for range 3 {
			o := on(simulated.Queue, cuts)
			o.Seed, o.Guard = seed, simulated.GuardNone
			run := simulated.Simulate(o)
			result, _, err := Check(again(run.Plan, run.Events, run.Requests), Options{})
			if err != nil {
				t.Fatal(err)
			}
			violated += len(namesViolated(result))
			text, err := json.Marshal(result)
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = text
			}
			if !bytes.Equal(first, text) {
				t.Fatalf("seed %d: two checks differ", seed)
			}
			if bytes.Contains(text, []byte("null")) {
				t.Fatalf("seed %d: a list is null", seed)
			}
		}
	}
	if violated == 0 {
		t.Error("nothing was found, so little was compared")
	}
}

func TestPorcupineDrawsWhatItCouldNotOrder(t *testing.T) {
	text := strings.Replace(strings.Replace(classic, "%s", "", 1), "write:%s", "write:ok h1", 1)
	_, model := judgeText(t, checkedPlan(), text+"\n50 x acquire x1\n50.1 x acquire:ok x1 token=9999999\n50.2 y acquire y1\n50.3 y acquire:ok y1 token=99999999\n50.4 x release x1\n50.5 x release:ok x1 owned=true")
	if len(model.Windows) != 2 {
		t.Fatalf("%d windows", len(model.Windows))
	}
	for _, w := range model.Windows {
		var page bytes.Buffer
		if err := w.Draw(&page); err != nil || !bytes.Contains(page.Bytes(), []byte("<html")) || w.FromNS > w.ToNS {
			t.Errorf("%s: %v, %d bytes", w.Property, err, page.Len())
		}
	}
}

func TestStats(t *testing.T) {
	text := strings.Replace(strings.Replace(classic, "%s", "rejected mark=34", 1), "write:%s", "write:fail h1 code=rejected", 1)
	result, _ := judgeText(t, fencedPlan(), text)
	s := result.Stats
	if s.Ops != 11 || s.OK != 10 || s.Fail != 1 || s.Info != 0 {
		t.Errorf("ops %d ok %d fail %d info %d", s.Ops, s.OK, s.Fail, s.Info)
	}
	if l := s.Latency["acquire"]; l.Count != 4 || l.MaxNS != ns("2.3") || l.P50NS != ns("0.1") {
		t.Errorf("latency of acquire %+v", l)
	}
	// c4 was granted at 2.60 and c2 told at 3.44; c2 was paused at 0.21.
	if s.LossSignal.Count != 1 || s.LossSignal.MaxNS != ns("0.84") || s.TakeOver.Count != 1 || s.TakeOver.MaxNS != ns("2.39") {
		t.Errorf("loss signal %+v, take-over %+v", s.LossSignal, s.TakeOver)
	}
	// The load phase is 4.51 s: acquires succeeded in its 1st and 3rd second, c4 waited in its 2nd, no client after that.
	if s.Availability != model.Rounded(3.51/4.51, 10000) {
		t.Errorf("availability %v", s.Availability)
	}
}
