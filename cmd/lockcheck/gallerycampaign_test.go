package main

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lockcheck/checker/model"
	"lockcheck/cmd/internal/campaign"
	"lockcheck/cmd/internal/harness"
	"lockcheck/cmd/internal/scenarios"
	"lockcheck/reports/compare"
	"lockcheck/reports/compare/config"
	"lockcheck/reports/gallery"
)

// galleryOfTwo is a gallery of both halves of a scenario of which nothing was run yet.
func galleryOfTwo(t *testing.T) *galleryCampaign {
	t.Helper()
	s, err := scenarios.Named("pause-holder", known())
	if err != nil {
		t.Fatal(err)
	}
	g := &galleryCampaign{(&galleryFlags{}).newRun()}
	for _, half := range []config.Half{s.Failure, s.Contrast} {
		g.add(s, half, runFlagsOf(half, ""))
	}
	return g
}

// madeShard is what a pod makes of one run of a gallery.
func madeShard(t *testing.T, g *galleryCampaign, dir string, shard int, run compare.Run, change func(*gallery.Record)) {
	t.Helper()
	part, _ := galleryShard(g.record, shard)
	run.Command = part.Items[0].Command
	part.Items[0].Run = &run
	if change != nil {
		change(&part)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := part.Save(dir); err != nil {
		t.Fatal(err)
	}
}

// violated and masked are runs that the halves of pause-holder expect.
var (
	violated = compare.Run{Verdict: model.Violation, Dir: "runs/cell-1/a", Report: "runs/cell-1/a/report.html", ExitCode: 1, Properties: []compare.Property{
		{Name: model.MutualExclusion, Verdict: model.Violation, Causes: []string{"pause of holder"}},
		{Name: model.StaleWrite, Verdict: model.Violation, Causes: []string{"pause of holder"}}}}
	masked = compare.Run{Verdict: model.Pass, Properties: []compare.Property{
		{Name: model.MutualExclusion, Verdict: model.Masked}, {Name: model.StaleWrite, Verdict: model.Pass}}}
)

func TestOnlyTheRunOfAShardIsTaken(t *testing.T) {
	for name, c := range map[string]struct {
		outcome campaign.Outcome
		change  func(*gallery.Record)
		want    string // in the error; "" if there is none
	}{
		"its own":                    {},
		"what a pod could not make":  {campaign.Outcome{ExitCode: exitUnavailable}, nil, ""},
		"an end before its end":      {change: func(r *gallery.Record) { r.Interrupted = true }, want: "not whole"},
		"nothing for a reason":       {campaign.Outcome{ExitCode: exitUsage, Log: "no such"}, func(r *gallery.Record) { r.Interrupted = true }, "could run nothing"},
		"no run":                     {change: func(r *gallery.Record) { r.Items[0].Run = nil }, want: "not whole"},
		"another half":               {change: func(r *gallery.Record) { r.Items[0].Half = config.Contrast }, want: "not those of pause-holder, failure"},
		"another seed":               {change: func(r *gallery.Record) { r.Items[0].Command = append(r.Items[0].Command, "--seed=9") }, want: "not those of"},
		"two runs":                   {change: func(r *gallery.Record) { r.Items = append(r.Items, r.Items[0]) }, want: "not those of"},
		"a report of elsewhere":      {change: func(r *gallery.Record) { r.Items[0].Run.Report = "../../x" }, want: "lead out"},
		"an exit code of its choice": {change: func(r *gallery.Record) { r.Items[0].Run.ExitCode = 256 }, want: "exit code 256"},
	} {
		g, dir := galleryOfTwo(t), t.TempDir()
		madeShard(t, g, dir, 1, violated, c.change)
		c.outcome.Shard = 1
		err := g.accept(dir, c.outcome)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", name, err, c.want)
		}
	}
}

// A gallery whose plan came back from a Job is the one that was submitted, and what pods made of it is judged here.
func TestTheRunsOfPodsAreOneGallery(t *testing.T) {
	text, digest, err := galleryOfTwo(t).plan()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		second *compare.Run // of the contrast; nil if it is missing
		want   [2]gallery.Outcome
		code   int
	}{
		"all as expected":     {&masked, [2]gallery.Outcome{gallery.Reproduced, gallery.Reproduced}, exitPass},
		"the contrast failed": {&violated, [2]gallery.Outcome{gallery.Reproduced, gallery.NotReproduced}, exitViolation},
		"one is missing":      {nil, [2]gallery.Outcome{gallery.Reproduced, gallery.NotRun}, exitInconclusive},
	} {
		t.Run(name, func(t *testing.T) {
			of, err := readGalleryPlan(text)
			if err != nil {
				t.Fatal(err)
			}
			if _, again, err := of.plan(); err != nil || again != digest || of.shards() != 2 {
				t.Fatalf("%d shards, digest %s, %v; it was %s", of.shards(), again, err, digest)
			}
			dir := t.TempDir()
			results := map[int]string{1: filepath.Join(dir, "shards", "1", "results")}
			madeShard(t, galleryOfTwo(t), results[1], 1, violated, func(r *gallery.Record) { r.Items[0].Outcome = gallery.NotReproduced })
			var missing []campaign.Missing
			if c.second == nil {
				missing = []campaign.Missing{{Shard: 2, Why: "its pod was ended"}}
			} else {
				results[2] = filepath.Join(dir, "shards", "2", "results")
				madeShard(t, galleryOfTwo(t), results[2], 2, *c.second, nil)
			}
			var printed bytes.Buffer
			heldUp, err := of.conclude(dir, results, missing, output{out: &printed, errOut: &printed})
			if (err == nil) != (c.code == exitPass) || err != nil && harness.ExitCode(err) != c.code || len(heldUp) > 0 {
				t.Errorf("%v, held up: %q\n%s", err, heldUp, printed.String())
			}
			whole, err := gallery.Read(dir)
			if err != nil || len(whole.Items) != 2 || whole.Interrupted || [2]gallery.Outcome{whole.Items[0].Outcome, whole.Items[1].Outcome} != c.want {
				t.Fatalf("%v: %+v", err, whole)
			}
			if report := whole.Items[0].Run.Report; report != "shards/1/results/runs/cell-1/a/report.html" {
				t.Errorf("its report is %s", report)
			}
			if c.second == nil && whole.Items[1].Reason != "its pod was ended" {
				t.Errorf("it is missing because of %q", whole.Items[1].Reason)
			}
		})
	}
}

func TestAPlanOfAnotherGalleryIsRefused(t *testing.T) {
	g := galleryOfTwo(t)
	for name, change := range map[string]func(*gallery.Record){
		"another version":     func(r *gallery.Record) { r.Lockcheck = "0.0.1" },
		"an unknown scenario": func(r *gallery.Record) { r.Items[0].Name = "gone" },
		"another format":      func(r *gallery.Record) { r.Version = 99 },
	} {
		plan := galleryCampaign{g.galleryRun}
		plan.record.Items = slices.Clone(plan.record.Items)
		change(&plan.record)
		text, _, err := plan.plan()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := readGalleryPlan(text); err == nil {
			t.Errorf("%s: it is taken", name)
		}
	}
}

// conclusion is what the runs of two pods come to.
func conclusion(t *testing.T, g *galleryCampaign, first, second compare.Run) (heldUp []string, printed string, err error) {
	t.Helper()
	dir := t.TempDir()
	results := map[int]string{1: filepath.Join(dir, "a"), 2: filepath.Join(dir, "b")}
	madeShard(t, g, results[1], 1, first, nil)
	madeShard(t, g, results[2], 2, second, nil)
	var said bytes.Buffer
	heldUp, err = g.conclude(dir, results, nil, output{out: &said, errOut: &said})
	return heldUp, said.String(), err
}

// What a run did not find while its harness was held up may be missing because of that, whether it was expected or not; what it found
// counts. That holds also when the gallery is gone on with.
func TestWhatAHeldUpRunDidNotFindIsInconclusive(t *testing.T) {
	held := func(run compare.Run) compare.Run {
		run.StalledNS = int64(time.Second)
		return run
	}
	clean := compare.Run{Verdict: model.Pass, Properties: []compare.Property{{Name: model.MutualExclusion, Verdict: model.Pass}, {Name: model.StaleWrite, Verdict: model.Pass}}}
	for name, c := range map[string]struct {
		first, second compare.Run // of failure and contrast
		want          [2]gallery.Outcome
	}{
		"found, and masked without a stale write": {held(violated), held(masked), [2]gallery.Outcome{gallery.Reproduced, gallery.Inconclusive}},
		"not found, and found":                    {held(clean), held(violated), [2]gallery.Outcome{gallery.Inconclusive, gallery.NotReproduced}},
	} {
		g := galleryOfTwo(t)
		heldUp, printed, _ := conclusion(t, g, c.first, c.second)
		if got := [2]gallery.Outcome{g.record.Items[0].Outcome, g.record.Items[1].Outcome}; got != c.want {
			t.Errorf("%s: %v, want %v\n%s", name, got, c.want, printed)
		}
		if len(heldUp) != 2 || !strings.HasSuffix(heldUp[0], string(c.want[0])) || !strings.HasSuffix(heldUp[1], string(c.want[1])) {
			t.Errorf("%s: held up: %q", name, heldUp)
		}
		again := lockcheck(t, "gallery", "--resume="+g.dir, "--json")
		back, err := gallery.Parse([]byte(again.stdout))
		if err != nil || len(back.Items) != 2 || [2]gallery.Outcome{back.Items[0].Outcome, back.Items[1].Outcome} != c.want {
			t.Errorf("%s: gone on with, %v: %+v", name, err, back.Items)
		}
	}
}

// A contrast that expects nothing but passes is the one that a held-up run would come to most easily.
func TestAHeldUpRunThatPassedIsInconclusive(t *testing.T) {
	s, err := scenarios.Named("etcd-leaseid-token", known())
	if err != nil {
		t.Fatal(err)
	}
	var all []compare.Property
	for _, e := range s.Contrast.Expect {
		all = append(all, compare.Property{Name: e.Property, Verdict: model.Pass})
	}
	run := compare.Run{Verdict: model.Pass, Properties: all}
	item := gallery.Item{Run: &run, InPod: true}
	if item.Take(s.Contrast, []compare.Run{run}); item.Outcome != gallery.Reproduced {
		t.Fatalf("%s: %s", item.Outcome, item.Reason)
	}
	run.ThrottledNS = int64(time.Second)
	if item.Take(s.Contrast, []compare.Run{run}); item.Outcome != gallery.Inconclusive || !strings.Contains(item.Reason, "was throttled for 1.00 s") {
		t.Errorf("%s: %s", item.Outcome, item.Reason)
	}
	item.InPod = false
	if item.Take(s.Contrast, []compare.Run{run}); item.Outcome != gallery.Reproduced {
		t.Errorf("made here, beside nothing: %s: %s", item.Outcome, item.Reason)
	}
}

// What may be violated as well as not is no matter to a failure that came.
func TestAHeldUpRunThatFoundWhatItHadToCounts(t *testing.T) {
	half := config.Half{Name: config.Failure, Expect: []config.Expected{
		{Wanted: compare.Wanted{Property: model.MutualExclusion, Verdicts: []model.Verdict{model.Violation}}},
		{Wanted: compare.Wanted{Property: model.StaleWrite, Verdicts: []model.Verdict{model.Pass, model.Violation}}},
	}}
	run := compare.Run{Verdict: model.Violation, StalledNS: int64(time.Second), Properties: []compare.Property{
		{Name: model.MutualExclusion, Verdict: model.Violation}, {Name: model.StaleWrite, Verdict: model.Pass}}}
	item := gallery.Item{Run: &run, InPod: true}
	if item.Take(half, []compare.Run{run}); item.Outcome != gallery.Reproduced {
		t.Errorf("%s: %s", item.Outcome, item.Reason)
	}
	half.Expect[1].Verdicts = []model.Verdict{model.Pass}
	if item.Take(half, []compare.Run{run}); item.Outcome != gallery.Inconclusive {
		t.Errorf("it had to pass: %s: %s", item.Outcome, item.Reason)
	}
}

// What is here stays known by its Job as long as it could not be put together.
func TestResultsThatCannotBePutTogetherLeaveTheJob(t *testing.T) {
	for name, spoil := range map[string]func(dir string, results map[int]string){
		"no place for the gallery": func(dir string, _ map[int]string) { _ = os.Mkdir(filepath.Join(dir, gallery.JSONFile), 0o755) },
		"a shard that was changed": func(_ string, results map[int]string) {
			r, _ := gallery.Read(results[1])
			r.Items[0].Run = nil
			_ = r.Save(results[1])
		},
		"a shard that is no gallery": func(_ string, results map[int]string) { _ = os.Remove(filepath.Join(results[1], gallery.JSONFile)) },
	} {
		g, dir := galleryOfTwo(t), t.TempDir()
		results := map[int]string{1: filepath.Join(dir, "a")}
		madeShard(t, g, results[1], 1, violated, nil)
		spoil(dir, results)
		var said bytes.Buffer
		if _, err := g.conclude(dir, results, nil, output{out: &said, errOut: &said}); !errors.Is(err, errNotConcluded) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A pod names its report as it likes; a terminal must not obey it.
func TestTheNameOfAReportIsShownPlain(t *testing.T) {
	run := violated
	run.Report = "runs/\x1b[2J"
	var said bytes.Buffer
	if err := gallery.One(&said, gallery.Item{Run: &run}, "dir"); err != nil || strings.ContainsRune(said.String(), '\x1b') {
		t.Errorf("%v: %q", err, said.String())
	}
}

// What a pod cannot make a run of is said, and ends the campaign; the pod does not end as if it had been killed.
func TestAPodSaysWhyItCanMakeNoRun(t *testing.T) {
	text, _, err := galleryOfTwo(t).plan()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		plan  []byte
		shard int
		want  string
	}{
		"no plan":         {[]byte("{"), 1, "the plan cannot be read"},
		"no such run":     {text, 3, "it has no run 3"},
		"another program": {bytes.Replace(text, []byte(`"lockcheck": "`), []byte(`"lockcheck": "other`), 1), 1, "the campaign was made by lockcheck other"},
	} {
		outcome, err := shardOfGallery(t.Context(), c.plan, c.shard, 2, t.TempDir())
		if err != nil || outcome.Shard != c.shard || outcome.ExitCode != exitUsage || !strings.Contains(outcome.Log, c.want) {
			t.Errorf("%s: %+v, %v", name, outcome, err)
		}
	}
}

// Pods share the repetitions of a scenario, each with the seed that it has here.
func TestPodsShareTheRunsOfAScenario(t *testing.T) {
	s, err := scenarios.Named("pause-holder", known())
	if err != nil {
		t.Fatal(err)
	}
	newOne := func() *galleryCampaign {
		g := &galleryCampaign{(&galleryFlags{}).newRun()}
		g.record.Repeat, g.record.Seed = 3, 7
		for _, half := range []config.Half{s.Failure, s.Contrast} {
			g.add(s, half, runFlagsOf(half, ""))
		}
		return g
	}
	g := newOne()
	if g.shards() != 6 {
		t.Fatalf("%d shards, want 6", g.shards())
	}
	dir, results := t.TempDir(), map[int]string{}
	for shard := 1; shard <= 6; shard++ {
		results[shard] = filepath.Join(dir, "shards", strconv.Itoa(shard))
		run := violated
		if shard%2 == 0 {
			run = masked
		}
		madeShard(t, g, results[shard], shard, run, nil)
		if err := g.accept(results[shard], campaign.Outcome{Shard: shard}); err != nil {
			t.Errorf("shard %d: %v", shard, err)
		}
		if other := shard%6 + 1; g.accept(results[shard], campaign.Outcome{Shard: other}) == nil {
			t.Errorf("shard %d is taken for %d", shard, other)
		}
	}
	for name, c := range map[string]struct {
		without int
		want    [2]gallery.Outcome
	}{"all": {0, [2]gallery.Outcome{gallery.Reproduced, gallery.Reproduced}}, "a failure is missing": {3, [2]gallery.Outcome{gallery.Reproduced, gallery.Reproduced}},
		"a contrast is missing": {4, [2]gallery.Outcome{gallery.Reproduced, gallery.NotRun}}} {
		g, some := newOne(), maps.Clone(results)
		delete(some, c.without)
		var missing []campaign.Missing
		if c.without > 0 {
			missing = []campaign.Missing{{Shard: c.without, Why: "its pod was ended"}}
		}
		var said bytes.Buffer
		if _, err := g.conclude(dir, some, missing, output{out: &said, errOut: &said}); err != nil && c.want[1] == gallery.Reproduced {
			t.Errorf("%s: %v", name, err)
		}
		whole, err := gallery.Read(dir)
		if err != nil || [2]gallery.Outcome{whole.Items[0].Outcome, whole.Items[1].Outcome} != c.want {
			t.Fatalf("%s: %v: %s", name, err, said.String())
		}
		if runs := whole.Items[0].Repeated.Runs; runs[0].Seed != 7 || runs[len(runs)-1].Seed != 9 || c.without == 0 && whole.Items[1].Repeated.Reproduced != 3 {
			t.Errorf("%s: %s", name, said.String())
		}
	}
}
