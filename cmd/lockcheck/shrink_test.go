package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/cmd/internal/harness"
	"lockcheck/cmd/internal/hunt"
	"lockcheck/nemesis"
	"lockcheck/reports/compare"
	"lockcheck/reports/compare/config"
	"lockcheck/reports/hunts"
)

// What cannot be shrunk is refused before anything is started or written.
func TestWhatCannotBeShrunk(t *testing.T) {
	violated, passed := record(t, true), record(t, false)
	for name, test := range map[string]struct {
		args []string
		says string
	}{
		"no run":                  {nil, "shrink takes one run directory"},
		"a run that is not there": {[]string{"not-there"}, "there is no run directory not-there"},
		"a run that passed":       {[]string{passed}, "its verdict is pass: there is no violation to shrink"},
		"another property":        {[]string{violated, "--property=stale-wirte"}, "is not violated"},
		"a run without faults":    {[]string{violated}, "had no faults: there is nothing to leave out"},
		"a budget below one run":  {[]string{violated, "--budget=1s"}, "--budget=1s: use 1m to 720h"},
		"no jobs":                 {[]string{violated, "--jobs=0"}, "--jobs=0: use 1 to 64"},
		"no confirmation":         {[]string{violated, "--confirm=0"}, "--confirm=0: use 1 to 1000"},
	} {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			got := lockcheck(t, append([]string{"shrink", "--out=" + out}, test.args...)...)
			if got.code != exitUsage || !strings.Contains(got.stderr, test.says) {
				t.Errorf("exit %d, want 64 and %q in %s", got.code, test.says, got.stderr)
			}
			if _, err := os.Stat(out); err == nil {
				t.Error("it made its directory")
			}
		})
	}
}

// What shrink writes is a scenario that the gallery runs: the smallest plan, and its contrast.
func TestAShrunkPlanIsAScenario(t *testing.T) {
	plan := func(text string) hunt.Plan {
		spec, err := nemesis.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return hunt.Plan{Nemesis: spec, Clients: 2, Keys: 1}
	}
	s := shrinking{property: model.StaleWrite, plan: &history.Plan{Backend: "redis",
		Command: []string{"lockcheck", "run", "--backend=redis", "--set=down-after-milliseconds=500", "--nemesis=pause", "--seed=7", "--clients=5", "--time-limit=12s"}}}
	contrast := plan("pause:holder@work,0.5ttl")
	contrast.Clients = 5
	var text bytes.Buffer
	if err := s.scenario(&text, hunt.Shrunk{Plan: plan("pause:holder@work,2ttl"), Contrast: &contrast, ContrastRate: hunt.Rate{Runs: 8}}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "scenario.yaml")
	if err := os.WriteFile(path, text.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	scenario, err := readScenario(path)
	if err != nil {
		t.Fatalf("%v\n%s", err, text.String())
	}
	if got := lockcheck(t, "gallery", "--file="+path, "--print"); got.code != exitPass || !strings.Contains(got.stdout, "pause:holder@work,2ttl") {
		t.Errorf("lockcheck gallery --file: exit %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	for half, want := range map[config.HalfName][]compare.Flag{
		config.Failure:  {{Name: "nemesis", Value: "pause:holder@work,2ttl"}, {Name: "clients", Value: "2"}, {Name: "set", Value: "down-after-milliseconds=500"}},
		config.Contrast: {{Name: "nemesis", Value: "pause:holder@work,0.5ttl"}, {Name: "clients", Value: "5"}},
	} {
		flags := strings.Join(arguments(runFlagsOf(scenario.Half(half), "")), " ")
		for _, flag := range want {
			if !strings.Contains(flags, "--"+flag.Name+"="+flag.Value) {
				t.Errorf("%s has %s, and not %v", half, flags, flag)
			}
		}
	}
}

// A find of a hunt stands for its run, its property and its signature.
func TestAFindIsShrunk(t *testing.T) {
	run := record(t, true)
	dir, err := hunts.CreateDir(t.TempDir(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	r := hunts.Record{Version: hunts.FormatVersion, Finds: []hunts.Find{{N: 1, Property: model.MutualExclusion, Signature: "mutual-exclusion: acquire | acquire"}}}
	if err := r.Save(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"1", "2"} {
		if err := os.Symlink(run, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	is, find, err := findAt(filepath.Join(dir, "1"))
	if err != nil || !is || find.Signature != r.Finds[0].Signature {
		t.Errorf("%t, %+v, %v", is, find, err)
	}
	if _, _, err := findAt(filepath.Join(dir, "2")); err == nil || !strings.Contains(err.Error(), "the hunt has 1 find") {
		t.Errorf("%v", err)
	}
	if is, _, err := findAt(run); is || err != nil {
		t.Errorf("a run is a find, %v", err)
	}
	if signature, err := signatureOf(run, model.MutualExclusion); err != nil || !strings.HasPrefix(signature, string(model.MutualExclusion)) {
		t.Errorf("%q, %v", signature, err)
	}
	if got := lockcheck(t, "shrink", filepath.Join(dir, "1")); got.code != exitUsage || !strings.Contains(got.stderr, "had no faults") {
		t.Errorf("exit %d: %s", got.code, got.stderr)
	}
}

// Another violation of the same property is not the find that is shrunk, and makes no contrast either.
func TestOnlyTheSameFindCounts(t *testing.T) {
	dir := record(t, true)
	signature, err := signatureOf(dir, model.MutualExclusion)
	if err != nil {
		t.Fatal(err)
	}
	run := func(v model.Verdict) compare.Run {
		return compare.Run{Verdict: model.Violation, Properties: []compare.Property{{Name: model.MutualExclusion, Verdict: v}}}
	}
	s := shrinking{property: model.MutualExclusion, signature: signature}
	if got := s.shown(run(model.Violation), dir); got != hunt.ShownYes {
		t.Errorf("the same: %s", got)
	}
	if got := s.shown(run(model.Pass), dir); got != hunt.ShownNo {
		t.Errorf("none: %s", got)
	}
	s.signature = "mutual-exclusion: another"
	if got := s.shown(run(model.Violation), dir); got != hunt.ShownUnknown {
		t.Errorf("another: %s", got)
	}
}

// Without a terminal nobody is asked, and a yes is needed.
func TestWhoAgreesToShrinkARareFind(t *testing.T) {
	out := output{out: io.Discard, errOut: io.Discard}
	for answer, want := range map[string]bool{"y\n": true, "\n": false, "no\n": false} {
		f := shrinkFlags{ask: strings.NewReader(answer)}
		if f.agrees(hunt.Rate{Hits: 2, Runs: 10}, time.Hour, out) != want {
			t.Errorf("%q: want %t", answer, want)
		}
	}
	if f := (shrinkFlags{}); f.agrees(hunt.Rate{Hits: 2, Runs: 10}, time.Hour, out) {
		t.Error("nobody was asked")
	}
}

// What a shrinking had when its budget was spent, or the user ended it, is said: nothing is lost.
func TestAnUnfinishedShrinkingSaysWhatItHas(t *testing.T) {
	spec, err := nemesis.Parse("pause:holder@work,2ttl")
	if err != nil {
		t.Fatal(err)
	}
	s := shrinking{property: model.StaleWrite, plan: &history.Plan{Backend: "redis", Nemesis: "pause", Command: []string{"lockcheck", "run", "--backend=redis"}}}
	shrunk := hunt.Shrunk{Plan: hunt.Plan{Nemesis: spec, Clients: 2, Keys: 1}, Before: hunt.Rate{Hits: 9, Runs: 10}, Cut: true}
	for says, r := range map[string]result{"interrupted before all was tried": {interrupted: true}, "the budget of 10m0s was spent": {dir: t.TempDir(), story: story{"runs/report.html", 7}}} {
		var stdout strings.Builder
		f := shrinkFlags{budget: 10 * time.Minute}
		err := f.show(s, shrunk, r, output{out: &stdout, errOut: io.Discard})
		if err == nil || !strings.Contains(stdout.String(), says) || !strings.Contains(stdout.String(), "lockcheck run --backend=redis --work=20ms..120ms --nemesis=pause:holder@work,2ttl --clients=2 --keys=1") {
			t.Errorf("%v\n%s", err, stdout.String())
		}
	}
}

// The schedule of the run that shows a shrunk plan is a plan file: lockcheck run --plan makes the same faults, and knows no directory of the shrinking.
func TestAShrunkPlanIsAPlanFile(t *testing.T) {
	spec, err := nemesis.Parse("pause:holder@work,2ttl")
	if err != nil {
		t.Fatal(err)
	}
	s := shrinking{property: model.StaleWrite, plan: &history.Plan{Backend: "redis", Nemesis: "pause",
		Command: []string{"lockcheck", "run", "--backend=redis", "--nemesis=pause", "--seed=3", "--out=elsewhere", "--time-limit=12s"}}}
	dir := t.TempDir()
	var stdout strings.Builder
	err = (&shrinkFlags{}).show(s, hunt.Shrunk{Plan: hunt.Plan{Nemesis: spec, Clients: 2, Keys: 1}}, result{dir: dir, story: story{"runs/report.html", 7}}, output{out: &stdout, errOut: io.Discard})
	path := filepath.Join(dir, "plan.json")
	if err != nil || !strings.Contains(stdout.String(), "lockcheck run --plan="+path) {
		t.Fatalf("%v\n%s", err, stdout.String())
	}
	f, err := planned(path, runFlagSet(t, "--plan="+path))
	if err != nil {
		t.Fatal(err)
	}
	again, err := preparedPlan(&f)
	if err != nil || again.Seed != 7 || again.Clients != 2 || len(again.Schedule) == 0 || again.Schedule[0].Steps[0].Fault != "pause" || strings.Contains(strings.Join(again.Command, " "), "elsewhere") {
		t.Errorf("%v, %+v", err, again)
	}
}

// A shrunk plan without a contrast makes no scenario, and shrink says why. A confirmed rate is said even where the budget ended later.
func TestWhatShrinkSaysOfItsEnd(t *testing.T) {
	spec, err := nemesis.Parse("pause:holder@work,2ttl")
	if err != nil {
		t.Fatal(err)
	}
	s := shrinking{property: model.StaleWrite, plan: &history.Plan{Backend: "redis", Nemesis: "pause", Command: []string{"lockcheck", "run", "--backend=redis"}}}
	shrunk := hunt.Shrunk{Plan: hunt.Plan{Nemesis: spec, Clients: 2, Keys: 1}, Before: hunt.Rate{Hits: 9, Runs: 10}, Rate: hunt.Rate{Hits: 18, Runs: 20}, Confirmed: true}
	for name, test := range map[string]struct {
		cut  bool
		r    result
		want error
		says string
	}{
		"no contrast": {false, result{}, nil, "scenario  none: it needs a contrast"},
		"a budget":    {true, result{}, harness.ExitStatus(exitInconclusive), "its steps are not measured"},
		"no verdicts": {true, result{unmade: &hunt.UnmadeError{Code: exitUnavailable, Why: "no server"}}, harness.ExitStatus(exitUnavailable), "the last: no server"},
	} {
		var stdout strings.Builder
		f := shrinkFlags{budget: 10 * time.Minute}
		shrunk.Cut = test.cut
		if err := f.show(s, shrunk, test.r, output{out: &stdout, errOut: io.Discard}); err != test.want {
			t.Errorf("%s: %v", name, err)
		}
		if !strings.Contains(stdout.String(), test.says) || !strings.Contains(stdout.String(), "rate      18 of 20") {
			t.Errorf("%s: it says\n%s", name, stdout.String())
		}
	}
}
