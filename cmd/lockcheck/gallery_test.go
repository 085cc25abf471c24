package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lockcheck/checker/model"
	"lockcheck/cmd/internal/harness"
	"lockcheck/cmd/internal/scenarios"
	"lockcheck/reports/compare"
	"lockcheck/reports/compare/config"
	"lockcheck/reports/gallery"
)

// Every scenario can be planned, both halves of it, and an editor that holds its file against the schema finds nothing.
func TestEveryScenarioCanBePlanned(t *testing.T) {
	_, schema := schemaOf(t, "--scenario")
	all, err := scenarios.All(known())
	if err != nil {
		t.Fatal(err)
	}
	commands := map[string]string{}
	for _, s := range all {
		t.Run(s.Name, func(t *testing.T) {
			if err := bySchema(t, schema, scenarios.Text(s.Name)); err != nil {
				t.Errorf("the schema refuses it: %v", err)
			}
			for _, half := range []config.Half{s.Failure, s.Contrast} {
				if err := halfMistake(s, half); err != nil {
					t.Errorf("%s: %v", half.Name, err)
				}
				command := strings.Join(arguments(half.Flags), " ")
				if other := commands[command]; half.Name == config.Failure && other != "" {
					t.Errorf("the %s is the same run as %s", half.Name, other)
				}
				commands[command] = s.Name + ", " + string(half.Name)
			}
			if !slices.ContainsFunc(s.Failure.Expect, func(e config.Expected) bool { return len(e.Verdicts) == 1 }) {
				t.Error("its failure expects nothing for certain")
			}
			if !answers(s.Contrast, s.Failure) {
				t.Error("its contrast may have every violation that its failure must have")
			}
		})
	}
}

// answers reports whether some property has to be violated in one half of a scenario and must not be in the other: without one, the
// contrast shows nothing that the failure lacks.
func answers(contrast, failure config.Half) bool {
	may := func(half config.Half, name model.Name) bool {
		return slices.ContainsFunc(half.Expect, func(e config.Expected) bool {
			return e.Property == name && slices.Contains(e.Verdicts, model.Violation)
		})
	}
	if contrast.ExpectsViolation() {
		contrast, failure = failure, contrast
	}
	return slices.ContainsFunc(failure.Expect, func(e config.Expected) bool {
		return slices.Equal(e.Verdicts, []model.Verdict{model.Violation}) && !may(contrast, e.Property)
	})
}

// knownFailures are the names in the first column of the list of known failures, which the gallery goes by.
var knownFailures = strings.Fields(`
	pause-holder fence-holds fence-unseen
	etcd-lock-after-lease-expired etcd-campaign-phantom etcd-session-done-lag etcd-leaseid-token etcd-old-leader-revokes
	etcd-stale-unlock-retry etcd-zombie-waiter
	zk-orphan-node zk-belief zk-release-others-node
	redis-failover-loses-lock redis-get-del-release redis-setnx-no-expire
	redlock-clock-jump redlock-restart-amnesia redlock-expired-on-arrival redlock-pause
	rueidis-blackhole rueidis-client-skew extend-resurrects
	consul-unnoticed-loss k8s-two-leaders drift-bound`)

// Each known failure has a scenario of its name, or a reason why there is none.
func TestEveryKnownFailureIsInTheGallery(t *testing.T) {
	for _, name := range knownFailures {
		listed := slices.ContainsFunc(scenarios.Without, func(w scenarios.Known) bool { return w.Name == name })
		if slices.Contains(scenarios.Names(), name) == listed {
			t.Errorf("%s is no scenario and has no reason, or is both", name)
		}
	}
}

func TestNamesOfScenarios(t *testing.T) {
	names := scenarios.Names()
	if len(names) < 25 || !slices.IsSorted(names) {
		t.Errorf("the scenarios are %v", names)
	}
	var without []string
	for _, w := range scenarios.Without {
		without = append(without, w.Name)
		if len(w.Reason) < 20 || !strings.HasSuffix(w.Reason, ".") {
			t.Errorf("%s has no reason: %q", w.Name, w.Reason)
		}
	}
	if !slices.IsSorted(without) {
		t.Errorf("those without are not sorted: %v", without)
	}
	all := slices.Concat(names, without)
	slices.Sort(all)
	if len(slices.Compact(slices.Clone(all))) != len(all) {
		t.Errorf("a name is there twice: %v", all)
	}
	for _, name := range all {
		if !regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`).MatchString(name) {
			t.Errorf("%q is no name", name)
		}
	}
}

func TestTheGalleryIsListed(t *testing.T) {
	got := lockcheck(t, "gallery")
	for _, want := range []string{"pause-holder: ", "  expected    mutual-exclusion: violation by pause of holder, stale-write: violation by pause of holder\n",
		"Known failures without a scenario:\n", "  etcd-zombie-waiter: "} {
		if got.code != exitPass || !strings.Contains(got.stdout, want) {
			t.Errorf("exit %d, it does not say %q", got.code, want)
		}
	}
	if measured := regexp.MustCompile(`(?m)^  reproduced  in [1-9]\d* of [1-9]\d* runs, \d{4}-\d\d-\d\d$`); len(measured.FindAllString(got.stdout, -1)) != len(scenarios.Names()) {
		t.Errorf("it does not say of each in how many runs it was reproduced:\n%s", got.stdout)
	}
	if got := lockcheck(t, "gallery", "--quiet"); got.stdout != strings.Join(scenarios.Names(), "\n")+"\n" {
		t.Errorf("with --quiet it is\n%s", got.stdout)
	}
	var listed struct {
		Scenarios []gallery.Listed
		Without   []scenarios.Known
	}
	if err := json.Unmarshal([]byte(lockcheck(t, "gallery", "--json").stdout), &listed); err != nil || len(listed.Scenarios) != len(scenarios.Names()) || len(listed.Without) != len(scenarios.Without) {
		t.Errorf("with --json it has %d and %d (%v)", len(listed.Scenarios), len(listed.Without), err)
	}
}

// What a scenario does is a command line, which can be copied.
func TestAScenarioIsACommand(t *testing.T) {
	const failure = "lockcheck run --backend=etcd --nemesis=pause:holder@work,2ttl --until=mutual-exclusion,stale-write --time-limit=60s --work=20ms..120ms"
	const contrast = "lockcheck run --backend=etcd --nemesis=pause:holder@work,2ttl --workload=fencing --time-limit=12s --work=20ms..120ms"
	for want, args := range map[string][]string{
		failure + "\n" + contrast + "\n":                                                     nil,
		contrast + "\n":                                                                      {"--contrast"},
		failure + " --seed=7\n" + contrast + " --seed=7\n":                                   {"--seed=7"},
		failure + " --provider=docker\n" + contrast + " --provider=docker\n":                 {"--provider=docker"},
		failure + " --provider=local --seed=0\n" + contrast + " --provider=local --seed=0\n": {"--provider=local", "--seed=0"},
	} {
		got := lockcheck(t, append([]string{"gallery", "pause-holder", "--print", "--quiet"}, args...)...)
		if got.code != exitPass || got.stdout != want {
			t.Errorf("%v: exit %d\n%swant\n%s", args, got.code, got.stdout, want)
		}
	}
}

func TestMistakesAtTheGallery(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return "--file=" + path
	}
	pause := scenarios.Text("pause-holder")
	changed := func(name, old, with string) string {
		text := strings.Replace(pause, old, with, 1)
		if text == pause {
			t.Fatalf("%s: nothing was changed", name)
		}
		return file(name, text)
	}
	earlier := t.TempDir()
	if err := (gallery.Record{Version: gallery.FormatVersion, Lockcheck: "0.0.1"}).Save(earlier); err != nil {
		t.Fatal(err)
	}
	gone := t.TempDir()
	if err := (gallery.Record{Version: gallery.FormatVersion, Lockcheck: harness.Version(), Items: []gallery.Item{{Name: "gone"}}}).Save(gone); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		args []string
		says string
	}{
		"an unknown scenario":           {[]string{"pause-hodler"}, `there is no scenario "pause-hodler" (did you mean pause-holder?); there are: bsm-redislock-lost-release, bsm-redislock-`},
		"one without a scenario":        {[]string{"etcd-zombie-waiter"}, "the known failure etcd-zombie-waiter has no scenario: Liveness counts 30 s"},
		"nearly one without":            {[]string{"etcd-zombie-waiters"}, `there is no scenario "etcd-zombie-waiters" (did you mean etcd-zombie-waiter?), and the known failure etcd-zombie-waiter has none: Liveness counts 30 s`},
		"the second of two unknown":     {[]string{"pause-holder", "zk-believe"}, `there is no scenario "zk-believe" (did you mean zk-belief?)`},
		"a scenario twice":              {[]string{"pause-holder", "zk-belief", "pause-holder"}, "pause-holder is named twice"},
		"a scenario and a file":         {[]string{"pause-holder", "--file=" + filepath.Join(dir, "none.yaml")}, "pause-holder and --file both say what to run: choose one"},
		"all and a directory":           {[]string{"--all", "--resume=" + dir}, "--all and --resume both say what to run: choose one"},
		"a contrast of none":            {[]string{"--contrast"}, "--contrast is for scenarios that are named"},
		"a contrast of all":             {[]string{"--all", "--contrast"}, "--all runs both halves"},
		"print of none":                 {[]string{"--print"}, "--print needs a scenario, --file or --all"},
		"print as JSON":                 {[]string{"pause-holder", "--print", "--json"}, "leave one of the two out"},
		"a provider for the list":       {[]string{"--provider=local"}, " is for runs, and the gallery is only listed"},
		"no job":                        {[]string{"--all", "--jobs=0"}, "--jobs=0: use 1 to 64"},
		"rates of runs":                 {[]string{"pause-holder", "--rates", "--until-known=15%"}, "--until-known is for runs, and --rates makes none"},
		"known to what is no share":     {[]string{"pause-holder", "--until-known=15"}, "--until-known=15: use a percentage between 0 and 50"},
		"an unknown provider":           {[]string{"pause-holder", "--provider=cloud"}, "cloud"},
		"no file":                       {[]string{"--file=" + filepath.Join(dir, "none.yaml")}, "none.yaml: no such file"},
		"a mistake in a file":           {[]string{changed("a.yaml", "teaches:", "teeches:")}, `a.yaml:3:1: the scenario has no key "teeches" (did you mean teaches?)`},
		"a nemesis in a file":           {[]string{changed("b.yaml", "pause:holder@work,2ttl", "pause:hodler@work")}, "b.yaml:5:10: nemesis"},
		"a rule in a file":              {[]string{changed("c.yaml", "time-limit: 60s", "time-limit: 60")}, "c.yaml:7:13: time-limit"},
		"what a backend refuses":        {[]string{changed("d.yaml", "until:", "client: redsync\nuntil:")}, "d.yaml:6:9: --client: backend etcd has no client"},
		"what a contrast cannot be":     {[]string{changed("e.yaml", "  workload: fencing", "  workload: fencing\n  nemesis: clock:resource")}, "e.yaml:15:12: nemesis"},
		"a lease no backend can have":   {[]string{changed("f.yaml", "  workload: fencing", "  workload: fencing\n  ttl: 2500ms")}, "f.yaml:15:8: "},
		"YAML that is none":             {[]string{file("g.yaml", "title: [")}, "g.yaml:1:1: this is no YAML"},
		"resume of nothing":             {[]string{"--resume=" + filepath.Join(dir, "none")}, "--resume: there is no gallery"},
		"resume of something else":      {[]string{"--resume=" + dir}, "is no directory of lockcheck gallery: it has no gallery.json"},
		"resume of another version":     {[]string{"--resume=" + earlier}, "it was run by lockcheck 0.0.1"},
		"resume with another seed":      {[]string{"--resume=" + earlier, "--seed=7"}, "--seed cannot change what the gallery in"},
		"resume of what is gone":        {[]string{"--resume=" + gone}, `there is no scenario "gone"`},
		"a campaign of a file":          {[]string{changed("h.yaml", "title:", "title: Our"), "--on=kubernetes", "--image=i"}, "--file cannot stand beside --on=kubernetes: pods have the scenarios of lockcheck only"},
		"a campaign of the list":        {[]string{"--on=kubernetes", "--image=i"}, " is for runs, and the gallery is only listed"},
		"a campaign with an engine":     {[]string{"pause-holder", "--on=kubernetes", "--image=i", "--provider=docker"}, "a pod has no engine"},
		"a campaign without an image":   {[]string{"pause-holder", "--on=kubernetes"}, "--image is needed"},
		"a campaign somewhere else":     {[]string{"pause-holder", "--on=moon", "--image=i"}, "--on=moon"},
		"an image for runs here":        {[]string{"pause-holder", "--image=i"}, "--image means something with --on=kubernetes only"},
		"pods for runs here":            {[]string{"pause-holder", "--parallel=2"}, "--parallel means something with --on=kubernetes only"},
		"a scenario and a Job":          {[]string{"pause-holder", "--attach-job=x"}, "--attach-job comes back to what was decided; pause-holder cannot change that"},
		"a flag that the gallery lacks": {[]string{"pause-holder", "--nemesis=none"}, "unknown flag: --nemesis"},
	} {
		t.Run(name, func(t *testing.T) {
			out := t.TempDir()
			args := append([]string{"gallery"}, test.args...)
			if !strings.HasPrefix(test.args[0], "--resume") {
				args = append(args, "--out="+out)
			}
			got := lockcheck(t, args...)
			if got.code != exitUsage || !strings.Contains(got.stderr, test.says) || got.stdout != "" {
				t.Errorf("exit %d: %s\nwant %q", got.code, got.stderr, test.says)
			}
			if left, _ := os.ReadDir(out); len(left) > 0 {
				t.Errorf("it left %v", left)
			}
		})
	}
}

// What was run counts when a gallery is resumed, wherever in its file a scenario names its provider, and with the provider that was
// asked for then.
func TestAResumedGalleryKeepsWhatWasRun(t *testing.T) {
	s, err := scenarios.Named("redis-power-cut", known())
	if err != nil {
		t.Fatal(err)
	}
	for _, provider := range []string{"", "docker"} {
		run := compare.Run{Seed: 7, Verdict: model.Violation, Properties: []compare.Property{
			{Name: model.TokenMonotonicity, Verdict: model.Violation, Causes: []string{"power cut of all"}}}}
		flags := append(arguments(runFlagsOf(s.Failure, provider)), "--seed=7")
		item := gallery.Item{Name: s.Name, Half: config.Failure, Command: append([]string{"lockcheck", "run"}, flags...), Outcome: gallery.Reproduced, Run: &run}
		dir := t.TempDir()
		record := gallery.Record{Version: gallery.FormatVersion, Lockcheck: harness.Version(), Seed: 7, Provider: provider, Interrupted: true, Items: []gallery.Item{item}}
		if err := record.Save(dir); err != nil {
			t.Fatal(err)
		}
		got := lockcheck(t, "gallery", "--resume="+dir)
		if got.code != exitPass || strings.Contains(got.stderr, "1 of 1") {
			t.Errorf("provider %q: exit %d; it was run again:\n%s", provider, got.code, got.stderr)
		}
		page, err := os.ReadFile(filepath.Join(dir, gallery.HTMLFile))
		if err != nil || !strings.Contains(string(page), "1 of 1 run reproduced") || strings.Contains(string(page), "still running") {
			t.Errorf("its page is not that of a gallery that is over (%v)", err)
		}
	}
}

// Without its lock client a scenario is not run, and what has to be built is named.
func TestALockClientThatIsNotBuilt(t *testing.T) {
	t.Chdir(t.TempDir())
	got := lockcheck(t, "gallery", "rueidis-blackhole")
	if got.code != exitUnavailable || !strings.Contains(got.stdout, "failure: unavailable: the lock client rueidislock is looked for in .cache/libraries, where it is not") ||
		!strings.Contains(got.stdout, "scripts/libraries rueidislock") {
		t.Errorf("exit %d: %s%s", got.code, got.stdout, got.stderr)
	}
}

// A user's own file is listed and printed as lockcheck's own are.
func TestAScenarioOfTheUsers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ours.yaml")
	if err := os.WriteFile(path, []byte(scenarios.Text("fence-holds")), 0o600); err != nil {
		t.Fatal(err)
	}
	got := lockcheck(t, "gallery", "--file="+path, "--print", "--contrast", "--quiet")
	if want := "lockcheck run --backend=etcd --workload=fencing --nemesis=pause:holder@work,2ttl --resource=plain --until=mutual-exclusion,stale-write --time-limit=60s --work=20ms..120ms\n"; got.code != exitPass || got.stdout != want {
		t.Errorf("exit %d\n%s%swant\n%s", got.code, got.stdout, got.stderr, want)
	}
}

// The schema and the parser are of one mind about a scenario's file.
func TestTheSchemaOfAScenarioRefusesWhatTheParserRefuses(t *testing.T) {
	_, schema := schemaOf(t, "--scenario")
	file := regexp.MustCompile(`(?m)^measured:.*\n`).ReplaceAllString(scenarios.Text("pause-holder"), "")
	for name, test := range map[string]struct {
		old, with string
		good      bool
	}{
		"as it is":                   {"until:", "until:", true},
		"measured":                   {"backend:", "measured: {seeds: 20, reproduced: 19, date: \"2026-01-31\"}\nbackend:", true},
		"taken away in the contrast": {"  workload: fencing", "  workload: fencing\n  client:", true},
		"verdicts in a list":         {"stale-write: pass", "stale-write: [pass, violation]", true},
		"no version":                 {"backend:", "server-version:\nbackend:", false},
		"an unknown key":             {"teaches:", "teeches:", false},
		"no title":                   {"title:", "fixed-in:", false},
		"nothing for a word":         {"until: mutual-exclusion,stale-write", "until:", false},
		"an unknown backend":         {"backend: etcd", "backend: floppy", false},
		"an unknown property":        {"stale-write: pass", "stale-wrote: pass", false},
		"an unknown verdict":         {"stale-write: pass", "stale-write: fine", false},
		"a cause alone":              {"{verdict: violation, cause", "{cause", false},
		"no contrast":                {file[strings.Index(file, "contrast:"):], "", false},
		"no reason":                  {"  because:", "  #", false},
		"half measured":              {"backend:", "measured: {seeds: 20}\nbackend:", false},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(file, test.old, test.with, 1)
			if text == file && test.old != test.with {
				t.Fatal("nothing was changed")
			}
			_, err := config.ParseScenario("s.yaml", "s", []byte(text), known())
			if bySchema := bySchema(t, schema, text); (err == nil) != test.good || (bySchema == nil) != test.good {
				t.Errorf("good: %v; the parser: %v; the schema: %v", test.good, err, bySchema)
			}
		})
	}
}
