package checker

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"lockcheck/checker/history"
)

func TestResourceLinearizability(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"two updates built on one value, and the storage took both": {`
			1.0 a acquire h1
			1.0 b acquire h2
			1.1 a acquire:ok h1 token=1
			1.2 b acquire:ok h2 token=2
			1.3 a read h1
			1.31 @ read h1
			1.32 a read:ok h1
			1.4 b read h2
			1.41 @ read h2
			1.42 b read:ok h2
			1.5 a write h1 value=v1
			1.6 b write h2 value=v2
			1.7 @ write h2
			1.8 a write:info h1
			1.8 b write:info h2
			1.9 @ write h1`, "stale-write:1 resource-linearizability:1"},
		"an unknown write that never arrived": {`
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=1
			1.3 a read h1
			1.31 @ read h1
			1.32 a read:ok h1
			1.5 a write h1 value=v1
			1.8 a write:info h1
			2.0 b acquire h2
			2.2 b acquire:ok h2 token=2
			2.4 b read h2
			2.41 @ read h2
			2.42 b read:ok h2
			2.5 b write h2 value=v2
			2.6 @ write h2
			2.7 b write:ok h2`, ""},
		"who only read may be ordered anywhere in between": {`
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=1
			1.2 a read h1
			1.3 @ read h1
			1.4 a read:ok h1
			1.5 a write h1 value=v1
			1.6 @ write h1 rejected
			1.7 a write:fail h1 code=rejected
			2.0 b acquire h2
			2.2 b acquire:ok h2 token=2
			2.4 b read h2
			2.41 @ read h2
			2.42 b read:ok h2`, ""},
		"a write that was given up lands after the next": {`
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=1
			1.2 a write h1 value=v1
			1.3 a write:info h1
			1.4 a.2 write h1 value=v2
			1.5 @ write h1
			1.6 a.2 write:ok h1
			1.7 @ write h1 nth=1
			1.8 a.2 release h1
			1.9 a.2 release:ok h1 owned=true
			2.0 b acquire h2
			2.2 b acquire:ok h2 token=2
			2.4 b read h2
			2.41 @ read h2
			2.42 b read:ok h2`, "lost-update:1"},
		"a hold that finds another's value after its own": {`
			1.0 a acquire h1
			1.0 b acquire h2
			1.1 a acquire:ok h1 token=2
			1.1 b acquire:ok h2 token=1
			1.2 a write h1 value=v1
			1.3 @ write h1
			1.4 a write:ok h1
			1.5 b write h2 value=v2 base=v1
			1.6 @ write h2
			1.7 b write:ok h2
			1.8 a read h1
			1.9 @ read h1
			2.0 a read:ok h1`, "stale-write:1 resource-linearizability:1"},
	} {
		t.Run(name, func(t *testing.T) {
			result := verdicts(t, plainPlan(), test.text, test.want)
			if p := result.of(ResourceLinearizability); p.ConfirmedBy != "porcupine" {
				t.Errorf("confirmed by %q: %s", p.ConfirmedBy, p.Reason)
			}
		})
	}
}

func TestLiveness(t *testing.T) {
	const start = `
		1.0 a acquire h1
		1.1 a acquire:ok h1 token=1 session=sa
		2.0 harness phase final
		2.1 f1 acquire f1
		`
	const probes = `
		3.0 harness probe:invoke 1
		3.1 harness probe:ok 1
		`
	for name, test := range map[string]struct {
		text string
		want Verdict
	}{
		"two sessions in a row":       {"1 a acquire h1\n2 a acquire:ok h1 token=1\nfinal", Pass},
		"never got there":             {"1 a acquire h1\n2 a acquire:ok h1 token=1", Inconclusive},
		"one session only":            {start + "2.2 f1 acquire:ok f1 token=2", Inconclusive},
		"nobody for a long time":      {start + probes + "40 harness phase end", Violation},
		"not long enough to say":      {start + probes + "20 harness phase end", Inconclusive},
		"the service is down as well": {start + "3.0 harness probe:invoke 1\n3.1 harness probe:info 1\n40 harness phase end", Inconclusive},
		"the service came back late":  {start + "15 harness probe:invoke 1\n16 harness probe:info 1\n17 harness probe:invoke 2\n17.1 harness probe:ok 2\n40 harness phase end", Inconclusive},
		"the harness stood still":     {start + probes + "30 harness stall from=10\n40 harness phase end", Inconclusive},
		"a failed try, then success": {start + `
			2.2 f1 acquire:fail f1 code=refused
			2.3 f2 acquire f2
			2.4 f2 acquire:ok f2 token=2
			2.5 f3 acquire f3
			2.6 f3 acquire:ok f3 token=3`, Pass},
		"a waiter whose session is gone waits on": {`
			1.0 b lease:ok session=sb ttl=2 seen=1
			1.1 b acquire h1
			4.0 b lease:fail session=sb
			40 harness phase heal
			final`, Violation},
		"a waiter that has another session": {`
			1.0 b lease:ok session=sb ttl=2 seen=1
			1.1 b acquire h1
			4.0 b lease:fail session=sb
			5.0 b lease:ok session=sc ttl=2 seen=5
			40 harness phase heal
			final`, Pass},
		"a waiter that a fault keeps busy": {`
			1.0 b lease:ok session=sb ttl=2 seen=1
			1.1 b acquire h1
			4.0 b lease:fail session=sb
			5.0 nemesis pause:invoke 1 target=n1
			5.1 nemesis pause:ok 1 target=n1
			38.0 nemesis pause:heal 1 target=n1
			38.1 nemesis pause:healed 1 target=n1
			40 harness phase heal
			final`, Pass},
	} {
		t.Run(name, func(t *testing.T) {
			result, _ := judgeText(t, plainPlan(), test.text)
			if p := result.of(Liveness); p.Verdict != test.want {
				t.Errorf("%s: %s, want %s", p.Verdict, p.Reason, test.want)
			}
		})
	}
	elsewhere := plainPlan()
	elsewhere.SameKernel = false
	if result, _ := judgeText(t, elsewhere, start+probes+"40 harness phase end"); result.of(Liveness).Verdict != NotApplicable {
		t.Errorf("on another machine: %s", result.of(Liveness).Verdict)
	}
}

func TestNoExposureNoPass(t *testing.T) {
	plan := plainPlan()
	plan.Exposure = []history.Requirement{{Name: history.ExposureContended, Min: 1}, {Name: history.ExposureOutlived, Min: 1}}
	alone := `
		1.0 a lease:ok session=sa ttl=2 seen=1
		1.0 a acquire h1
		1.1 a acquire:ok h1 token=1 session=sa
		`
	result, _ := judgeText(t, plan, alone+"2 a release h1\n2.1 a release:ok h1 owned=true\nfinal")
	if want := "no client ever waited for a lock that another held; no pause of a holder outlived its lease"; result.Verdict != Inconclusive || result.Reason != want {
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
	if result.Verdict != Pass {
		t.Errorf("%s: %s", result.Verdict, result.Reason)
	}
	want := map[string]int64{history.ExposureContended: 1, history.ExposurePaused: 1, history.ExposurePausedHolder: 1, history.ExposureOutlived: 1}
	for _, e := range result.Exposure {
		if e.Count != want[e.Name] {
			t.Errorf("%s: %d", e.Name, e.Count)
		}
	}
	plan.Exposure = []history.Requirement{{Name: "eclipses", Min: 1}}
	if result, _ = judgeText(t, plan, alone+"2 a release h1\n2.1 a release:ok h1 owned=true\nfinal"); result.Verdict != Inconclusive || !strings.Contains(result.Reason, `cannot count "eclipses"`) {
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
	const quiet = "1 a acquire h1\n1.1 a acquire:ok h1 token=1\n1.2 a release h1\n1.3 a release:ok h1 owned=true\n"
	for name, test := range map[string]struct {
		text string
		want Verdict
	}{
		"all well":                           {quiet + "final", Pass},
		"no end mark":                        {quiet + "final\ncut", Inconclusive},
		"a violation outweighs unknowns":     {quiet + "2 b acquire h2\n2.1 b acquire:ok h2 token=1\ncut", Violation},
		"nothing happened, so nothing is ok": {"cut", Inconclusive},
	} {
		t.Run(name, func(t *testing.T) {
			if result, _ := judgeText(t, plainPlan(), test.text); result.Verdict != test.want || (test.want != Pass) != (result.Reason != "") {
				t.Errorf("%s: %q", result.Verdict, result.Reason)
			}
		})
	}
}

func TestOverlapIsMaskedOnlyWhereTokensAreCompared(t *testing.T) {
	const overlap = `
		1.0 a acquire h1
		1.0 b acquire h2
		1.1 a acquire:ok h1 token=1
		1.2 b acquire:ok h2 token=2
		1.5 a lost h1 held=1.4
		1.5 b lost h2 held=1.4`
	blind := fencedPlan()
	blind.Tokens = history.TokensNone
	for _, test := range []struct {
		plan history.Plan
		want Verdict
	}{{plainPlan(), Violation}, {fencedPlan(), Masked}, {blind, Violation}} {
		if result, _ := judgeText(t, test.plan, overlap); result.of(MutualExclusion).Verdict != test.want {
			t.Errorf("fenced %v, tokens %s: %s", test.plan.Fenced, test.plan.Tokens, result.of(MutualExclusion).Verdict)
		}
	}
}

func TestStaleWriteUnmasksTheOverlap(t *testing.T) {
	text := strings.Replace(strings.Replace(classic, "%s", "", 1), "write:%s", "write:ok h1", 1)
	result, _ := judgeText(t, fencedPlan(), text)
	if p := result.of(MutualExclusion); p.Verdict != Violation || p.Reason != "not masked: stale-write is violated on k" {
		t.Errorf("%+v", p)
	}
}

func TestContradictionsAreDefects(t *testing.T) {
	const grant = "1.0 a acquire h1\n1.1 a acquire:ok h1 token=1\n"
	for name, test := range map[string]struct{ text, want string }{
		"an acknowledged write that the log lacks": {grant + "1.2 a write h1 value=v1\n1.3 a write:ok h1\n1.4 a read h1\n1.5 @ read h1", "write 2 of hold h1 was answered ok (event 3), but the resource's log does not hold it"},
		"an acknowledged read that the log lacks":  {grant + "1.2 a read h1\n1.3 a read:ok h1\n1.4 a read h1\n1.5 @ read h1", "read 2 of hold h1 was answered ok"},
		"an acknowledged write that was rejected":  {grant + "1.2 a write h1 value=v1\n1.2 @ write h1 rejected\n1.3 a write:ok h1", "was answered ok"},
		"a failed write that was applied":          {grant + "1.2 a write h1 value=v1\n1.2 @ write h1\n1.3 a write:fail h1", "reported as certainly not done"},
		"a rejection that the log lacks":           {grant + "1.2 a write h1 value=v1\n1.3 a write:fail h1 code=rejected", "reported as rejected"},
		"a read that returned something else":      {grant + "1.2 a read h1\n1.2 @ read h1\n1.3 a read:ok h1 value=x", `returned "x"`},
		"a value written twice":                    {grant + "1.2 a write h1 value=v1\n1.3 a write h1 value=v1", `writes the value "v1" to k, which is not unique`},
		"a base that nobody wrote":                 {grant + "1.2 a write h1 value=v1 base=v0\n1.3 @ write h1", `built on "v0", a value that nobody had written`},
		"handled twice":                            {grant + "1.2 a write h1 value=v1\n1.3 @ write h1\n1.4 @ write h1", "request 2 was handled twice"},
		"completed twice":                          {grant + "1.2 a acquire:ok h1", "event 3 completes operation 1 a second time"},
		"a hold of another client":                 {grant + "1.2 b release h1", "names hold h1 of client a"},
		"a hold acquired twice":                    {grant + "1.2 a acquire h1", "acquires hold h1 a second time"},
		"a fault healed that never began":          {grant + "1.2 nemesis pause:heal 1 target=a", "belongs to fault 1000001, which never began"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := Check(record(t, plainPlan(), test.text), Options{})
			if !errors.Is(err, ErrDefect) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestUnknownsCompletedByNobodyAreDefects(t *testing.T) {
	for name, e := range map[string]history.Event{
		"completion": {TimeNS: 1, Process: "a", Client: "a", Type: history.OK, F: history.Acquire, Op: 1, Hold: "h"},
		"release":    {TimeNS: 1, Process: "a", Client: "a", Type: history.Invoke, F: history.Release, Op: 1, Hold: "h"},
		"lost":       {TimeNS: 1, Process: "a", Client: "a", Type: history.Info, F: history.Lost, Hold: "h"},
		"probe":      {TimeNS: 1, Process: "harness", Type: history.OK, F: history.Probe, Op: 1},
	} {
		rec := recordingOf(t, plainPlan(), func() ([]history.Event, []history.Request) { return []history.Event{e}, nil })
		if _, _, err := Check(rec, Options{}); !errors.Is(err, ErrDefect) {
			t.Errorf("%s: %v", name, err)
		}
	}
	rec := recordingOf(t, plainPlan(), func() ([]history.Event, []history.Request) {
		return []history.Event{{TimeNS: 1, Process: "harness", Type: history.Info, F: history.Phase, Value: history.PhaseEnd}},
			[]history.Request{{Seq: 1, Request: "9", Key: "k", Kind: history.KindRead, Hold: "h", Outcome: history.Applied}}
	})
	if _, _, err := Check(rec, Options{}); !errors.Is(err, ErrDefect) {
		t.Errorf("stray request: %v", err)
	}
}

// A harness that is killed loses the end of its history, not of the resource's log.
func TestRequestsBeyondACutHistoryAreLeftOut(t *testing.T) {
	events, requests := parse(t, `
		1.0 a acquire h1
		1.1 a acquire:ok h1 token=1
		1.2 a write h1 value=v1
		1.3 @ write h1
		1.4 a write:ok h1
		1.5 a write h1 value=v2 base=v1
		1.6 @ write h1
		cut`)
	requests[1].Request = "77"
	rec := recordingOf(t, plainPlan(), func() ([]history.Event, []history.Request) { return events, requests })
	result, model, err := Check(rec, Options{})
	if err != nil || result.violated() != "" || model.Requests.Len() != 1 {
		t.Errorf("%v, %d requests, violated: %s", err, model.Requests.Len(), result.violated())
	}
}

func TestMistakesInFilesAreHandedOn(t *testing.T) {
	rec := Recording{Plan: plainPlan(), Events: history.Events(strings.NewReader("{}\n"), "history.jsonl"), Requests: history.Requests(strings.NewReader(""), "resource.jsonl")}
	if _, _, err := Check(rec, Options{}); !errors.Is(err, history.ErrMalformed) || errors.Is(err, ErrDefect) || !strings.HasPrefix(err.Error(), "history.jsonl:1:") {
		t.Errorf("got %v", err)
	}
	rec.Events = history.Events(strings.NewReader(""), "history.jsonl")
	rec.Requests = history.Requests(strings.NewReader("{}\n"), "resource.jsonl")
	if _, _, err := Check(rec, Options{}); !errors.Is(err, history.ErrMalformed) || !strings.HasPrefix(err.Error(), "resource.jsonl:1:") {
		t.Errorf("got %v", err)
	}
	rec.Plan.Tokens = "?"
	if _, _, err := Check(rec, Options{}); !errors.Is(err, history.ErrMalformed) {
		t.Errorf("got %v", err)
	}
}

func TestPropertiesCanBeChosen(t *testing.T) {
	rec := record(t, plainPlan(), "1 a acquire h1\nfinal")
	if _, _, err := Check(rec, Options{Properties: []Name{"luck"}}); !errors.Is(err, ErrUnknownProperty) || !strings.Contains(err.Error(), `"luck"; there are mutual-exclusion, `) {
		t.Errorf("got %v", err)
	}
	result, _, err := Check(record(t, plainPlan(), "1 a acquire h1\nfinal"), Options{Properties: []Name{Liveness, StaleWrite}})
	if err != nil || len(result.Properties) != 2 || result.Properties[0].Name != StaleWrite || result.Properties[1].Name != Liveness {
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
	if p := result.of(TokenMonotonicity); p.Count != 3 || len(p.Findings) != 2 || p.Findings[1].ID != "token-monotonicity-2" {
		t.Errorf("count %d, findings %+v", p.Count, p.Findings)
	}
}

// The same recording gives the same bytes: whoever checks a run again compares files.
func TestResultsAreTheSameBytesEveryTime(t *testing.T) {
	for seed := range uint64(6) {
		var first []byte
		for range 3 {
			w := simulate(seed, false, true, false, flaws{grantTwice: 0.05, oldToken: 0.05, foreignRelease: 0.2})
			text, err := json.Marshal(w.check(t))
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
}

func TestPorcupineDrawsWhatItCouldNotOrder(t *testing.T) {
	text := strings.Replace(strings.Replace(classic, "%s", "", 1), "write:%s", "write:ok h1", 1)
	_, model := judgeText(t, plainPlan(), text+"\n50 x acquire x1\n50.1 x acquire:ok x1 token=9999999\n50.2 y acquire y1\n50.3 y acquire:ok y1 token=99999999\n50.4 x release x1\n50.5 x release:ok x1 owned=true")
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
	// The load phase is 4.51 s: acquires succeeded in its 1st and 3rd second, c4 waited in its 2nd, nobody after that.
	if s.Availability != rounded(3.51/4.51, 10000) {
		t.Errorf("availability %v", s.Availability)
	}
}
