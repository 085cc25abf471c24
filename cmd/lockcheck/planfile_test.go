package main

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"lockcheck/checker/history"
	"lockcheck/cmd/internal/harness"
	"lockcheck/cmd/internal/scenarios"
	"lockcheck/reports/compare/config"
	"lockcheck/reports/rundir"
)

// printedPlan is what lockcheck plan --json prints, changed.
func printedPlan(t *testing.T, nemesis string, change func(*history.Plan)) string {
	t.Helper()
	var out bytes.Buffer
	cmd := planCommand()
	cmd.SetOut(&out)
	cmd.SetArgs([]string{"--backend=etcd", "--nemesis=" + nemesis, "--seed=3", "--time-limit=8s", "--json"})
	if err := cmd.Execute(); err != nil {
		t.Fatal(err)
	}
	var plan history.Plan
	if err := json.Unmarshal(out.Bytes(), &plan); err != nil {
		t.Fatal(err)
	}
	change(&plan)
	text, err := json.MarshalIndent(plan, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// runFlagSet has the flags of run that name a plan, and those of runs.
func runFlagSet(t *testing.T, args ...string) *pflag.FlagSet {
	t.Helper()
	given := pflag.NewFlagSet("run", pflag.ContinueOnError)
	new(runFlags).bind(given)
	given.String("replay", "", "")
	given.String("plan", "", "")
	if err := given.Parse(args); err != nil {
		t.Fatal(err)
	}
	return given
}

var onePause = []history.Round{{After: "1.5s", Steps: []history.Step{{Fault: "pause", Target: "client(2)", Trigger: "acquire", For: "0.5ttl"}}}}

// A plan file in which nothing was changed makes what its seed draws; one with another schedule exactly that, and its replay, too.
func TestAPlanFileDecidesTheSchedule(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, c := range map[string]struct {
		change func(*history.Plan)
		steps  []string // nil: as drawn
	}{
		"as printed":       {func(*history.Plan) {}, nil},
		"another schedule": {func(p *history.Plan) { p.Schedule = onePause }, []string{"after 1.5s: pause:client(2)@acquire for 1s (0.50 TTL)"}},
		"words left out":   {func(p *history.Plan) { p.Schedule, p.Steps, p.Exposure = onePause, nil, nil }, []string{"after 1.5s: pause:client(2)@acquire for 1s (0.50 TTL)"}},
	} {
		text := printedPlan(t, "pause", c.change)
		if err := os.WriteFile("p.json", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var drawn history.Plan
		_ = json.Unmarshal([]byte(printedPlan(t, "pause", func(*history.Plan) {})), &drawn)
		f, err := planned("p.json", runFlagSet(t, "--plan=p.json", "--provider=local"))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		made, err := preparedPlan(&f)
		if err != nil {
			t.Fatal(err)
		}
		want := c.steps
		if want == nil {
			want = drawn.Steps
			if !reflect.DeepEqual(made.Exposure, drawn.Exposure) {
				t.Errorf("%s: it needs %v, want %v", name, made.Exposure, drawn.Exposure)
			}
		}
		if !reflect.DeepEqual(made.Steps, want) || made.PlanFile != "p.json" || made.Seed != 3 || f.Where.Provider != "local" {
			t.Errorf("%s: %q of seed %d from %q by %s, want %q", name, made.Steps, made.Seed, made.PlanFile, f.Where.Provider, want)
		}
		replaysAlike(t, made)
	}
}

// A plan from before there was a choice, and a scenario, have short work alone; a plan file says what is done.
func TestPlansWithoutLongHoldsHaveNone(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, old := range map[string]bool{"recorded before": true, "as printed": false} {
		text := printedPlan(t, "none", func(p *history.Plan) {
			p.Tokens = history.TokensNone
			if old {
				p.Work, p.Exposure = nil, p.Exposure[:2]
				p.Command = slices.DeleteFunc(p.Command, func(arg string) bool { return strings.HasPrefix(arg, "--work=") })
			}
		})
		if err := os.WriteFile(rundir.PlanFile, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		replay, err := replayed(".", runFlagSet(t, "--replay=."))
		if err != nil {
			t.Fatal(err)
		}
		file, err := planned(rundir.PlanFile, runFlagSet(t, "--plan="+rundir.PlanFile))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, f := range []*runFlags{&replay, &file} {
			made, err := preparedPlan(f)
			if err != nil {
				t.Fatal(err)
			}
			if w := made.Works(); old != (w == history.DefaultWork) || old == w.Tries {
				t.Errorf("%s: %v", name, w)
			}
		}
	}
	all, err := scenarios.All(known())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		for _, half := range []config.Half{s.Failure, s.Contrast} {
			if args := arguments(runFlagsOf(half, "")); !slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "--work=") }) {
				t.Errorf("%s, %s: %q", s.Name, half.Name, args)
			}
		}
	}
}

func replaysAlike(t *testing.T, made history.Plan) {
	t.Helper()
	made.Tokens = history.TokensNone
	dir := t.TempDir()
	var text bytes.Buffer
	if err := history.WritePlan(&text, made); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/"+rundir.PlanFile, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := replayed(dir, runFlagSet(t, "--replay="+dir))
	if err != nil {
		t.Fatal(err)
	}
	again, err := preparedPlan(&f)
	if err != nil || !reflect.DeepEqual(again.Schedule, made.Schedule) || !reflect.DeepEqual(again.Exposure, made.Exposure) || again.PlanFile != made.PlanFile {
		t.Errorf("%v: replayed as %+v, want %+v", err, again.Schedule, made.Schedule)
	}
}

// What is wrong with a plan file is the user's mistake, told with its place, and nothing is started.
func TestMistakesInAPlanFile(t *testing.T) {
	t.Chdir(t.TempDir())
	at := `p\.json:\d+:\d+: `
	for name, c := range map[string]struct {
		change func(*history.Plan)
		text   func(string) string
		args   []string
		says   string
	}{
		"a target that is not there": {change: func(p *history.Plan) {
			p.Schedule = []history.Round{{After: "1s", Steps: []history.Step{{Fault: "pause", Target: "client(9)", For: "1s"}}}}
		}, says: at + `"pause:client\(9\).*there is no client\(9\): the run has 5 clients`},
		"a field that follows":  {change: func(p *history.Plan) { p.TTLMS = 7 }, says: at + "ttl_ms follows from command"},
		"a setting":             {change: func(p *history.Plan) { p.Settings["heartbeat-interval"] = "7" }, says: at + "settings follows from command"},
		"a lease as granted":    {change: func(p *history.Plan) { p.EffectiveMS = 7 }, says: at + "effective_ttl_ms follows from command"},
		"words alone":           {change: func(p *history.Plan) { p.Steps = []string{"after 1s: kill:leader"} }, says: at + "steps are the schedule in words"},
		"needs alone":           {change: func(p *history.Plan) { p.Exposure = p.Exposure[:1] }, says: at + "what a run needs follows"},
		"no schedule":           {change: func(p *history.Plan) { p.Schedule = nil }, says: at + "the plan has no schedule"},
		"a flag of the command": {change: func(p *history.Plan) { p.Command = append(p.Command, "--clients=1") }, says: at + ".*--clients=1"},
		"no such flag":          {change: func(p *history.Plan) { p.Command = append(p.Command, "--klients=1") }, says: at + ".*klients"},
		"no JSON":               {text: func(s string) string { return s[:len(s)-2] }, says: at + "this is no JSON: it ends too early"},
		"another seed beside":   {args: []string{"--seed=4", "--ttl=1s"}, says: "--plan makes .*: leave out --seed, --ttl"},
		"two plans":             {args: []string{"--replay=x"}, says: "two plans"},
	} {
		t.Run(name, func(t *testing.T) {
			text := printedPlan(t, "pause", func(p *history.Plan) {
				if c.change != nil {
					c.change(p)
				}
			})
			if c.text != nil {
				text = c.text(text)
			}
			if err := os.WriteFile("p.json", []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			code, stderr := mistake(t, append([]string{"run", "--plan=p.json"}, c.args...))
			if code != harness.ExitUsage || !regexp.MustCompile(c.says).MatchString(stderr) {
				t.Errorf("exit %d; want %d and %s:\n%s", code, harness.ExitUsage, c.says, stderr)
			}
			if left, err := os.ReadDir("."); err != nil || len(left) != 1 {
				t.Errorf("it left %v (%v)", left, err)
			}
		})
	}
	if code, stderr := mistake(t, []string{"run", "--plan=no.json"}); code != harness.ExitUsage || !strings.Contains(stderr, "--plan=no.json") {
		t.Errorf("no such file: exit %d\n%s", code, stderr)
	}
}
