package main

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"lockcheck/checker/model"
	"lockcheck/clusters/provider/local"
	"lockcheck/cmd/internal/hunt"
	"lockcheck/nemesis"
	"lockcheck/reports/compare/config"
	"lockcheck/reports/hunts"
)

// What a hunt cannot do is refused before anything is written.
func TestAHuntThatCannotBe(t *testing.T) {
	for name, test := range map[string]struct {
		args []string
		says string
	}{
		"no backend":              {nil, "--backend is missing"},
		"a budget below one run":  {[]string{"--backend=etcd", "--budget=10s"}, "--budget=10s: use 1m to 720h"},
		"an unknown property":     {[]string{"--backend=etcd", "--for=early-expry"}, `--for: there is no property "early-expry" (did you mean early-expiry?)`},
		"nothing to look for":     {[]string{"--backend=etcd", "--for="}, "--for names nothing"},
		"no jobs":                 {[]string{"--backend=etcd", "--jobs=0"}, "--jobs=0"},
		"fewer than no finds":     {[]string{"--backend=etcd", "--finds=-1"}, "--finds=-1"},
		"its own faults":          {[]string{"--backend=etcd", "--nemesis=pause"}, "unknown flag: --nemesis"},
		"a budget below the load": {[]string{"--backend=etcd", "--budget=1m", "--time-limit=1h"}, "one run with --time-limit=1h0m0s takes longer"},
		"a resume with no jobs":   {[]string{"--resume=not-there", "--jobs=0"}, "--jobs=0"},
		"a resume of nothing":     {[]string{"--resume=not-there"}, "--resume: there is no hunt"},
		"a resume of other":       {[]string{"--resume=not-there", "--backend=etcd"}, "leave it out beside --resume"},
		"an end of no load":       {[]string{"--backend=etcd", "--until=expozed"}, `--until: there is no property "expozed"`},
		"an unknown client":       {[]string{"--backend=etcd", "--client=none"}, "none"},
		"another failure":         {[]string{"--backend=etcd", "--fail-on=nwe"}, "--fail-on=nwe: say any or new (did you mean new?)"},
		"new to nothing":          {[]string{"--backend=etcd", "--fail-on=new"}, "--fail-on=new needs --known=FILE"},
		"no file of known finds":  {[]string{"--backend=etcd", "--known=not-there.yaml"}, "--known: open not-there.yaml"},
		"a wrong file of finds":   {[]string{"--backend=etcd", "--known=hunt_test.go"}, "hunt_test.go:"},
	} {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			args := append([]string{"hunt"}, test.args...)
			if !strings.HasPrefix(name, "a resume") {
				args = append(args, "--out="+out)
			}
			got := lockcheck(t, args...)
			if got.code != exitUsage || !strings.Contains(got.stderr, test.says) {
				t.Errorf("exit %d, want 64 and %q in %s", got.code, test.says, got.stderr)
			}
			if _, err := os.Stat(out); err == nil {
				t.Error("it made its directory")
			}
		})
	}
}

// The runs of a hunt, and of one that is resumed, are asked for what the hunt was.
func TestAHuntHandsItsFlagsOn(t *testing.T) {
	var f, again huntFlags
	flags, others := pflag.NewFlagSet("hunt", pflag.ContinueOnError), pflag.NewFlagSet("again", pflag.ContinueOnError)
	f.bind(flags)
	again.bind(others)
	args := []string{"--backend=etcd", "--set=heartbeat-interval=50ms", "--set=election-timeout=500ms", "--client-arg=a,b", "--client-arg=c", "--work=20ms..100ms,long", "--ttl=3s", "--keys=2", "--until=exposed"}
	if err := errors.Join(flags.Parse(args), others.Parse(f.asked(flags))); err != nil {
		t.Fatal(err)
	}
	if words := f.asked(flags); len(words) != len(args) || !reflect.DeepEqual(f.run.Options, again.run.Options) {
		t.Errorf("it hands on %v", words)
	}
}

// A hunt is resumed as it was asked for, by the version that began it.
func TestAResumedHuntIsTheSame(t *testing.T) {
	dir := t.TempDir()
	header := `{"version":1,"lockcheck":"another","flags":["--backend=etcd"],"for":["service"],"seed":1,"budget_ns":60000000000}` + "\n"
	if err := os.WriteFile(filepath.Join(dir, hunts.JournalFile), []byte(header), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := lockcheck(t, "hunt", "--resume="+dir); got.code != exitUsage || !strings.Contains(got.stderr, "it was begun by lockcheck another") {
		t.Errorf("exit %d: %s", got.code, got.stderr)
	}
}

// A find that the file lists fails no gate of new ones; one that it does not list does, and each find fails a hunt without a gate.
func TestOnlyNewFindsFailTheGate(t *testing.T) {
	find := func(property model.Name) hunt.Find {
		return hunt.Find{Signature: string(property), Property: property, Summary: "lost", Shape: "acquire | acquire"}
	}
	for name, test := range map[string]struct {
		failOn string
		finds  []hunt.Find
		want   int
	}{
		"nothing":              {failOnNew, nil, exitPass},
		"a known one":          {failOnNew, []hunt.Find{find(model.EarlyExpiry)}, exitPass},
		"a new one":            {failOnNew, []hunt.Find{find(model.EarlyExpiry), find(model.LockLinearizability)}, exitViolation},
		"a known one, no gate": {failOnAny, []hunt.Find{find(model.EarlyExpiry)}, exitViolation},
	} {
		t.Run(name, func(t *testing.T) {
			f := huntFlags{show: huntShow{failOn: test.failOn, finds: []config.Find{{Property: model.EarlyExpiry, Reason: "known for long", File: "finds.yaml", Line: 3}}}}
			f.run.Backend = "etcd"
			dir := filepath.Join(t.TempDir(), "hunt-20261130T010203")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			menu := nemesis.Menu{Conditions: nemesis.Conditions{TTL: 2 * time.Second, Servers: 3, Clients: 5, Limit: 12 * time.Second}}
			h, err := hunt.Create(dir, hunt.Header{}, hunt.NewSearch(menu, 1))
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			h.Trials = []hunt.Ended{{Trial: hunt.Trial{N: 1, Nemesis: "pause"}, Outcome: hunt.Outcome{Finds: test.finds}, News: hunt.News{New: test.finds}}}
			var stdout, stderr strings.Builder
			s := &huntShown{h: h, of: &f.show, run: &f.run, dir: dir, out: output{out: &stdout, errOut: &stderr}}
			if got := s.code(s.save(false)); got != test.want {
				t.Errorf("exit %d, want %d", got, test.want)
			}
			s.list(s.record(false))
			if known := len(test.finds) > 0; known != strings.Contains(stdout.String(), "known (finds.yaml:3): known for long") {
				t.Errorf("it says\n%s", stdout.String())
			}
			if _, err := hunts.Read(dir); err != nil {
				t.Error(err)
			}
		})
	}
}

// A hunt in which no run taught anything tested nothing: 2, whatever gate it has.
func TestAHuntThatTaughtNothing(t *testing.T) {
	s := &huntShown{h: &hunt.Hunt{}, of: &huntShow{failOn: failOnNew}, run: &runFlags{}}
	for name, trials := range map[string][]hunt.Ended{"no run": nil, "barren": {{Outcome: hunt.Outcome{Barren: "no fault took effect"}}}} {
		s.h.Trials = trials
		if code := s.code(s.record(false)); code != exitInconclusive {
			t.Errorf("%s: exit %d", name, code)
		}
	}
	s.h.Trials = append(s.h.Trials, hunt.Ended{Outcome: hunt.Outcome{Verdict: model.Pass}})
	if code := s.code(s.record(false)); code != exitPass {
		t.Errorf("exit %d", code)
	}
}

// What doctor finds missing is drawn in no hunt.
func TestFaultsThatTheMachineCannotMake(t *testing.T) {
	got := lackingOf([]local.Ability{{Name: "tbf", Missing: "no module"}, {Name: "ptrace"}, {Name: local.AbilityNamespaces, Missing: "forbidden"}})
	for kind, want := range map[string]bool{"rate": true, "partition": true, "clock": false, "pause": false, "kill": false} {
		if got[kind] != want {
			t.Errorf("%s is lacking: %t", kind, got[kind])
		}
	}
}

// A resume has the budget and settings of its hunt, and can be held against another file of known finds.
func TestWhatAResumeMaySay(t *testing.T) {
	for args, says := range map[string]string{"--budget=1h": "leave it out beside --resume", "--finds=3": "leave it out beside --resume", "--seed=1": "leave it out beside --resume",
		"--fail-on=any": "there is no hunt", "--junit=j.xml": "there is no hunt"} {
		if got := lockcheck(t, "hunt", "--resume=not-there", args); got.code != exitUsage || !strings.Contains(got.stderr, says) {
			t.Errorf("%s: exit %d, %s", args, got.code, got.stderr)
		}
	}
}
