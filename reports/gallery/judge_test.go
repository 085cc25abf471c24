package gallery

import (
	"strings"
	"testing"

	"lockcheck/checker/model"
	"lockcheck/reports/compare"
	"lockcheck/reports/compare/config"
)

// expecting is a half of a scenario on etcd.
func expecting(all ...config.Expected) config.Half {
	return config.Half{Name: config.Failure, Flags: []compare.Flag{{Name: "backend", Value: "etcd"}}, Expect: all}
}

func want(name model.Name, verdicts ...model.Verdict) config.Expected {
	return config.Expected{Wanted: compare.Wanted{Property: name, Verdicts: verdicts}}
}

func by(e config.Expected, cause string) config.Expected {
	e.Cause = cause
	return e
}

// ran is a run that came to a verdict.
func ran(verdict model.Verdict, all ...compare.Property) compare.Run {
	return compare.Run{Verdict: verdict, Reason: "it showed nothing", Properties: all, Versions: map[string]string{"etcd": "3.7.3"}}
}

func is(name model.Name, verdict model.Verdict, causes ...string) compare.Property {
	return compare.Property{Name: name, Verdict: verdict, Causes: causes}
}

func unexposed(run compare.Run) compare.Run {
	run.Exposure = []model.Exposure{{Name: "pauses", Count: 0, Min: 1}}
	return run
}

func TestJudge(t *testing.T) {
	const (
		mutex, stale, lost              = model.MutualExclusion, model.StaleWrite, model.LostUpdate
		violation, pass, masked, unsure = model.Violation, model.Pass, model.Masked, model.Inconclusive
	)
	for name, test := range map[string]struct {
		half config.Half
		run  compare.Run
		want Outcome
		says string
	}{
		"as expected":                     {expecting(want(mutex, violation)), ran(violation, is(mutex, violation)), Reproduced, ""},
		"with other harm":                 {expecting(want(mutex, violation)), ran(violation, is(mutex, violation), is(lost, violation)), Reproduced, ""},
		"one of two":                      {expecting(want(mutex, violation), want(stale, violation)), ran(violation, is(mutex, violation), is(stale, pass)), NotReproduced, "stale-write is pass, expected violation"},
		"either will do":                  {expecting(want(mutex, violation), want(lost, pass, violation)), ran(violation, is(mutex, violation), is(lost, violation)), Reproduced, ""},
		"it passed":                       {expecting(want(mutex, violation)), ran(pass, is(mutex, pass)), NotReproduced, "mutual-exclusion is pass"},
		"it does not apply":               {expecting(want(stale, violation)), ran(pass, is(stale, model.NotApplicable)), NotReproduced, "stale-write is n/a"},
		"masked is no violation":          {expecting(want(mutex, violation)), ran(pass, is(mutex, masked)), NotReproduced, "mutual-exclusion is masked"},
		"it was not judged":               {expecting(want(mutex, violation)), ran(pass), NotReproduced, "mutual-exclusion was not judged"},
		"other harm alone":                {expecting(want(mutex, violation)), ran(violation, is(mutex, pass), is(lost, violation)), NotReproduced, "mutual-exclusion is pass"},
		"the cause":                       {expecting(by(want(mutex, violation), "pause of holder")), ran(violation, is(mutex, violation, "kill of leader", "pause of holder")), Reproduced, ""},
		"another cause":                   {expecting(by(want(mutex, violation), "pause of holder")), ran(violation, is(mutex, violation, "kill of leader")), NotReproduced, "put down to kill of leader, expected pause of holder"},
		"nothing happened":                {expecting(want(mutex, violation)), ran(unsure, is(mutex, pass)), Inconclusive, "it showed nothing"},
		"too little happened":             {expecting(want(mutex, violation)), unexposed(ran(violation, is(mutex, pass), is(lost, violation))), Inconclusive, "pauses: 0, at least 1 required"},
		"found although little happened":  {expecting(want(mutex, violation)), unexposed(ran(violation, is(mutex, violation))), Reproduced, ""},
		"the property is unknown":         {expecting(want(mutex, violation)), ran(pass, is(mutex, unsure)), Inconclusive, "mutual-exclusion is inconclusive"},
		"a contrast":                      {expecting(want(mutex, masked)), ran(pass, is(mutex, masked), is(stale, pass)), Reproduced, ""},
		"a contrast with any violation":   {expecting(want(mutex, masked)), ran(violation, is(mutex, masked), is(stale, violation)), NotReproduced, "stale-write is violated, expected no violation"},
		"a contrast that may overlap":     {expecting(want(stale, pass), want(mutex, pass, violation)), ran(violation, is(stale, pass), is(mutex, violation)), Reproduced, ""},
		"and no more than that":           {expecting(want(stale, pass), want(mutex, pass, violation)), ran(violation, is(stale, pass), is(mutex, violation), is(lost, violation)), NotReproduced, "lost-update is violated"},
		"a contrast that expects nothing": {expecting(), ran(violation, is(mutex, violation)), NotReproduced, "mutual-exclusion is violated"},
		"a contrast that shows nothing":   {expecting(want(mutex, pass)), ran(unsure, is(mutex, pass)), Inconclusive, "it showed nothing"},
		"a violation is certain":          {expecting(want(mutex, pass)), unexposed(ran(violation, is(mutex, violation))), NotReproduced, "mutual-exclusion is violation"},
		"a contrast half unknown":         {expecting(want(mutex, pass)), ran(pass, is(mutex, pass), is(stale, unsure)), Inconclusive, "stale-write is inconclusive"},
		"something is missing":            {expecting(want(mutex, violation)), compare.Run{ExitCode: 69, Error: "no server"}, Unavailable, "no server"},
		"it was interrupted":              {expecting(want(mutex, violation)), compare.Run{ExitCode: 130, Error: "interrupted"}, NotRun, "interrupted"},
		"a bug":                           {expecting(want(mutex, violation)), compare.Run{ExitCode: 70, Error: "a bug"}, Failed, "a bug"},
	} {
		t.Run(name, func(t *testing.T) {
			got, reason := Judge(test.half, test.run)
			if got != test.want || !strings.Contains(reason, test.says) || (got == Reproduced) != (reason == "") {
				t.Errorf("%s: %q, want %s: %q", got, reason, test.want, test.says)
			}
		})
	}
}

func TestTheExitCodeOfAGallery(t *testing.T) {
	items := func(outcomes ...Outcome) (r Record) {
		for _, o := range outcomes {
			r.Items = append(r.Items, Item{Outcome: o})
		}
		return r
	}
	for want, r := range map[int][]Record{
		0:   {items(), items(Reproduced, Reproduced)},
		1:   {items(Reproduced, NotReproduced, Inconclusive, Unavailable)},
		2:   {items(Reproduced, Inconclusive), items(NotRun)},
		69:  {items(Inconclusive, Unavailable, Reproduced)},
		70:  {items(Failed, NotReproduced)},
		64:  {{Items: []Item{{Outcome: Failed, Run: &compare.Run{ExitCode: 64}}}}},
		130: {{Interrupted: true, Items: items(NotReproduced).Items}},
	} {
		for _, r := range r {
			if got := r.Code(); got != want {
				t.Errorf("%+v: exit %d, want %d", r.Items, got, want)
			}
		}
	}
}

func TestTheTableSaysWhyWhatIsNotReproducedIsNot(t *testing.T) {
	r := Record{Items: []Item{
		{Name: "one", Half: config.Failure, Outcome: Reproduced, Run: &compare.Run{DurationNS: 12e9}},
		{Name: "one", Half: config.Contrast, Outcome: NotReproduced, Reason: "stale-write is violated", Run: &compare.Run{DurationNS: 3e9}},
		{Name: "two", Half: config.Failure, Outcome: Unavailable, Reason: "no server\x1b[2J\nat all"},
		{Name: "two", Half: config.Contrast, Outcome: NotRun},
	}}
	var text strings.Builder
	if err := Table(&text, r, "out/gallery-1"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"SCENARIO", "15.0 s", "one, contrast: not reproduced: stale-write is violated\n",
		"two, failure: unavailable: no server", "report    out/gallery-1/gallery.html\n", "1 of 4 runs reproduced, 1 not reproduced, 1 unavailable, 1 not run\n"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, text.String())
		}
	}
	if strings.Contains(text.String(), "\x1b") {
		t.Error("it prints what a terminal obeys")
	}
}

// A directory that was written can be gone on with, and one of something else is refused.
func TestARecordIsReadAsItWasWritten(t *testing.T) {
	dir := t.TempDir()
	if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), "is no directory of lockcheck gallery") {
		t.Errorf("an empty directory: %v", err)
	}
	r := Record{Version: FormatVersion, Seed: 7, Interrupted: true, Items: []Item{{Name: "one", Outcome: Reproduced, Run: &compare.Run{Seed: 7}}, {Name: "two", Outcome: Unavailable, Run: &compare.Run{}}, {Name: "three", Outcome: NotRun}}}
	if err := r.Save(dir); err != nil {
		t.Fatal(err)
	}
	got, err := Read(dir)
	if err != nil || got.Seed != 7 || len(got.Items) != 3 || got.Items[0].Run.Seed != 7 || got.Items[2].Run != nil {
		t.Errorf("read as %+v (%v)", got, err)
	}
	r.Version = 99
	if err := r.Save(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), "of format 99") {
		t.Errorf("of another format: %v", err)
	}
}

// Of several runs one shows a failure, and all have to show a contrast; what could not be run costs itself, and is made again.
func TestTakeOfSeveralRuns(t *testing.T) {
	failure, contrast := expecting(want(model.StaleWrite, model.Violation)), expecting()
	contrast.Name = config.Contrast
	hit, miss := ran(model.Violation, is(model.StaleWrite, model.Violation)), ran(model.Pass, is(model.StaleWrite, model.Pass))
	unmade := compare.Run{Error: "no server", ExitCode: 69}
	unsure := unexposed(ran(model.Inconclusive, is(model.StaleWrite, model.Pass)))
	for name, test := range map[string]struct {
		half    config.Half
		planned int
		runs    []compare.Run
		outcome Outcome
		says    string // the rate
		kept    int
	}{
		"one of four":            {failure, 4, []compare.Run{miss, hit, miss, miss}, Reproduced, "1 of 4 (25 %, 95 % interval 0 to 81 %)", 4},
		"none of two":            {failure, 2, []compare.Run{miss, miss}, NotReproduced, "0 of 2 (0 %, 95 % interval 0 to 85 %)", 2},
		"none yet":               {failure, 3, []compare.Run{miss, miss}, NotRun, "0 of 2", 2},
		"one yet":                {failure, 3, []compare.Run{hit}, Reproduced, "1 of 1", 1},
		"one could not be made":  {failure, 3, []compare.Run{unmade, hit, unsure}, Reproduced, "1 of 1", 2},
		"nothing could tell":     {failure, 2, []compare.Run{unsure, unsure}, Inconclusive, "no run could tell", 2},
		"a contrast":             {contrast, 2, []compare.Run{miss, miss}, Reproduced, "2 of 2 (100 %, 95 % interval 15 to 100 %)", 2},
		"a contrast that fails":  {contrast, 3, []compare.Run{miss, hit}, NotReproduced, "1 of 2", 2},
		"a contrast in part":     {contrast, 3, []compare.Run{miss, miss}, NotRun, "2 of 2", 2},
		"a contrast, one unmade": {contrast, 2, []compare.Run{miss, unmade}, Unavailable, "1 of 1", 1},
	} {
		item := Item{Name: "a", Half: test.half.Name, Repeated: &Repeated{Planned: test.planned}}
		item.Take(test.half, test.runs)
		if item.Outcome != test.outcome || !strings.HasPrefix(item.Repeated.String(), test.says) || !strings.Contains(Line(item), test.says) || len(item.Kept(test.half)) != test.kept {
			t.Errorf("%s: %s, %d kept", name, Line(item), len(item.Kept(test.half)))
		}
		if page := pageOf(t, Record{Repeat: test.planned, Items: []Item{item}}); strings.Count(page, test.says) < 2 {
			t.Errorf("%s: the page lacks the rate", name)
		}
	}
}
