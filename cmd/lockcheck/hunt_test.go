package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/clusters/provider/local"
	"lockcheck/cmd/internal/harness"
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
		"an unknown arm":          {[]string{"--backend=etcd", "--arm=chance"}, "--arm=chance: say hunt, uniform or mixes"},
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
			if agreed := showsOf(t, dir); agreed != [3]bool{test.want != exitPass, test.want != exitPass, test.want != exitPass} {
				t.Errorf("exit %d, and that something failed say hunt.json, the page and junit.xml: %v", test.want, agreed)
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

// showsOf reports whether each file of a hunt says that it failed: its exit code, its page and its test report.
func showsOf(t *testing.T, dir string) (failed [3]bool) {
	t.Helper()
	r, err := hunts.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, at := range map[string]int{hunts.HTMLFile: 1, hunts.JUnitFile: 2} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		failed[at] = strings.Contains(string(text), `<header class="top violation">`) || strings.Contains(string(text), "<failure")
	}
	failed[0] = r.ExitCode == exitViolation
	return failed
}

// What ended a hunt before its time is the exit code in hunt.json, too.
func TestTheExitCodeOfAHuntThatFailed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "hunt-20261130T010203")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	h, err := hunt.Create(dir, hunt.Header{}, hunt.NewSearch(nemesis.Menu{Conditions: nemesis.Conditions{TTL: 2 * time.Second, Servers: 3, Clients: 5, Limit: 12 * time.Second}}, 1))
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	s := &huntShown{h: h, of: &huntShow{}, run: &runFlags{}, dir: dir, out: output{out: io.Discard, errOut: io.Discard}}
	err = s.end(t.Context(), &hunt.UnmadeError{Code: exitUnavailable, Why: "no server"})
	if r, read := hunts.Read(dir); exitCode(err) != exitUnavailable || read != nil || r.ExitCode != exitUnavailable {
		t.Errorf("exit %d, in hunt.json %d, %v", exitCode(err), r.ExitCode, read)
	}
}

// resumed is a hunt with one find that was begun with a header, and is resumed with some flags, its runs being over.
func resumed(t *testing.T, header hunt.Header, args ...string) (dir, stdout string, code int) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "hunt-20261130T010203")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	header.Seed, header.Budget = 7, time.Hour
	menu := nemesis.Menu{Conditions: nemesis.Conditions{TTL: 2 * time.Second, Servers: 3, Clients: 5, Limit: 12 * time.Second}}
	begun, err := hunt.Create(dir, header, hunt.NewSearch(menu, 7))
	if err != nil {
		t.Fatal(err)
	}
	lost := hunt.Find{Signature: "early-expiry: acquire | acquire", Property: model.EarlyExpiry, Summary: "lost", Shape: "acquire | acquire"}
	ctx, stop := context.WithCancel(t.Context())
	one := func(context.Context, hunt.Trial) hunt.Outcome {
		return hunt.Outcome{Verdict: model.Violation, Finds: []hunt.Find{lost}, Dir: "runs/cell-1/a"}
	}
	if err := errors.Join(begun.Go(ctx, 1, one, func(hunt.Ended) { stop() }), begun.Close()); err != nil {
		t.Fatal(err)
	}
	var f huntFlags
	flags := pflag.NewFlagSet("hunt", pflag.ContinueOnError)
	f.bind(flags)
	if header, err = hunt.ReadHeader(dir); err == nil {
		err = errors.Join(flags.Parse(args), f.show.check(flags, header))
	}
	if err != nil {
		t.Fatal(err)
	}
	h, err := hunt.Resume(dir, hunt.NewSearch(menu, 7))
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	var out strings.Builder
	err = (&huntShown{h: h, of: &f.show, run: &f.run, dir: dir, out: output{out: &out, errOut: io.Discard}}).end(t.Context(), nil)
	return dir, out.String(), exitCode(err)
}

// A resumed hunt has the gate and the known finds that it was begun with, unless it is told others.
func TestAResumedHuntKnowsItsFinds(t *testing.T) {
	begun := hunt.Header{FailOn: failOnNew, Known: "finds.yaml", KnownFinds: []config.Find{{Property: model.EarlyExpiry, Reason: "known for long", File: "finds.yaml", Line: 3}}}
	none := filepath.Join(t.TempDir(), "none.yaml")
	if err := os.WriteFile(none, []byte("known: []\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args []string
		want int
		says string
	}{
		{nil, exitPass, "known (finds.yaml:3): known for long"},
		{[]string{"--fail-on=any"}, exitViolation, "known (finds.yaml:3): known for long"},
		{[]string{"--known=" + none}, exitViolation, "NEW: none.yaml does not list it"},
	} {
		if _, stdout, code := resumed(t, begun, test.args...); code != test.want || !strings.Contains(stdout, test.says) {
			t.Errorf("%q: exit %d, want %d and %q\n%s", test.args, code, test.want, test.says, stdout)
		}
	}
	dir := t.TempDir()
	header := `{"version":1,"lockcheck":"` + harness.Version() + `","flags":["--backend=etcd"],"for":["service"],"seed":1,"budget_ns":60000000000}` + "\n"
	if err := os.WriteFile(filepath.Join(dir, hunts.JournalFile), []byte(header), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := lockcheck(t, "hunt", "--resume="+dir, "--fail-on=new"); got.code != exitUsage || !strings.Contains(got.stderr, "--fail-on=new needs --known=FILE") {
		t.Errorf("exit %d: %s", got.code, got.stderr)
	}
}

// The files of a hunt are read on other machines: they name no directory of this one.
func TestTheFilesOfAHuntNameNoDirectory(t *testing.T) {
	known := filepath.Join(t.TempDir(), "known.yaml")
	if err := os.WriteFile(known, []byte("known:\n  - {property: early-expiry, reason: known for long}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	dir, stdout, code := resumed(t, hunt.Header{}, "--known="+known)
	if code != exitViolation || !strings.Contains(stdout, "lockcheck shrink "+filepath.Join(dir, "1")) {
		t.Errorf("exit %d: %s", code, stdout)
	}
	for name, has := range map[string]string{hunts.JSONFile: "known.yaml:2", hunts.HTMLFile: "hunt-20261130T010203/1", hunts.JUnitFile: "lockcheck shrink hunt-20261130T010203/1", hunts.JournalFile: ""} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !strings.Contains(string(text), has) || strings.Contains(string(text), filepath.Dir(dir)) || strings.Contains(string(text), filepath.Dir(known)) {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
	}
}

func TestTextsNameNoDirectory(t *testing.T) {
	here := t.TempDir()
	t.Chdir(here)
	dir := filepath.Join(here, "out", "hunt-1")
	for text, want := range map[string]string{
		"open " + dir + "/runs/cell-1/a/nodes/n1.log: no space": "open runs/cell-1/a/nodes/n1.log: no space",
		"in " + here + "/mine.sh:3 and \"" + here + "/a\"":      "in mine.sh:3 and \"a\"",
		"open /elsewhere" + here + "/a":                         "open /elsewhere" + here + "/a",
		"/usr/bin/redis-server ended":                           "/usr/bin/redis-server ended",
	} {
		if got := portable(text, dir); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for path, want := range map[string]string{dir: "out/hunt-1", "/elsewhere/hunt-1": "hunt-1", "../out": "../out"} {
		if got := portablePath(path); got != want {
			t.Errorf("%s is named %q, want %q", path, got, want)
		}
	}
}

// The findings that a run has witnesses of hide no fourth of another shape.
func TestEachShapeOfARunIsFound(t *testing.T) {
	dir := recordLate(t, true, func(r *recording) {
		r.update("c1", "h1", "10", "d", "c")
		r.update("c1", "h1", "10", "e", "d")
		write := r.begin("c1", history.Event{F: history.Write, Key: "k1", Hold: "h1", Token: "10", Value: "f", Base: "e", WorkNS: 1e6})
		r.request(write, history.Request{Kind: history.KindWrite, Hold: "h1", Token: "10", Value: "f", Base: "e"})
		r.event(history.Event{Process: "c1", Client: "c1", Type: history.Info, Op: write, F: history.Write, Key: "k1", Hold: "h1"})
	})
	finds, err := hunt.FindsOf(dir, []model.Name{model.StaleWrite})
	if err != nil || !slices.ContainsFunc(finds, func(f hunt.Find) bool { return strings.Contains(f.Shape, "write info") }) {
		t.Errorf("%v, %+v", err, finds)
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
