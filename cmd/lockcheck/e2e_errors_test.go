//go:build e2e

package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"lockcheck/cmd/internal/harness"
	"lockcheck/reports/rundir"
)

// libraryWords are words of Go's libraries that mean nothing to users.
var libraryWords = regexp.MustCompile(`strconv|(^|\s)json:|invalid syntax|ParseInt|pflag|invalid argument|time: |goroutine`)

// What users get wrong, and what the program tells them to do about it. Run in a directory with a run (run), a comparison (comparison),
// and spoilt copies of the run.
func TestErrorsSayWhatToDo(t *testing.T) {
	t.Parallel()
	dir := spoilt(t)
	backends := strings.Join(harness.BackendNames(), ", ")
	for name, c := range map[string]struct {
		args []string
		says []string
	}{
		"a comparison for a run":         {[]string{"check", "comparison"}, []string{"is the directory of a comparison, not of a run", "lockcheck compare --check=comparison judges its recordings again", "such as lockcheck check comparison/runs/cell-1/2"}},
		"an archive":                     {[]string{"check", "run.tar.gz"}, []string{"is an archive: unpack it (tar -xf run.tar.gz)"}},
		"a zip file":                     {[]string{"check", "run.zip"}, []string{"is an archive: unpack it (unzip run.zip)"}},
		"a file of a run":                {[]string{"check", "run/history.jsonl"}, []string{"is a file; give the run directory it is in"}},
		"a torn history":                 {[]string{"check", "torn"}, []string{"torn/history.jsonl:", "the last line is torn", "--partial judges what came before it"}},
		"an unknown field of an event":   {[]string{"check", "field"}, []string{`field/history.jsonl:3: unknown field "colour"`, "another version of lockcheck"}},
		"an unknown field of a request":  {[]string{"check", "request"}, []string{`request/resource.jsonl:1: unknown field "colour"`}},
		"an unknown field of a plan":     {[]string{"check", "plan"}, []string{`plan/plan.json:2: unknown field "colour"`}},
		"a field of another kind":        {[]string{"check", "mistyped"}, []string{`mistyped/history.jsonl:3: `, `the field "index" cannot be a string`}},
		"a seed that is a word":          {[]string{"run", "--backend=etcd", "--seed=abc"}, []string{`--seed: "abc" is no whole number, such as 7`, "Try: lockcheck run --help"}},
		"no seed":                        {[]string{"run", "--backend=etcd", "--seed="}, []string{`--seed: "" is no whole number`}},
		"a seed beyond all numbers":      {[]string{"plan", "--backend=etcd", "--seed=99999999999999999999"}, []string{"--seed: 99999999999999999999 is further from zero"}},
		"a length of time that is none":  {[]string{"run", "--backend=etcd", "--ttl=soon"}, []string{`--ttl: "soon" is no length of time from 1ms to 24h, such as 30s`}},
		"a number of clients":            {[]string{"compare", "--backends=etcd", "--clients=some"}, []string{`--clients: "some" is no number from 2 to 100`}},
		"a number of jobs":               {[]string{"compare", "--backends=etcd", "--jobs=all"}, []string{`--jobs: "all" is no whole number, such as 7`}},
		"yes or no":                      {[]string{"run", "--backend=etcd", "--quiet=maybe"}, []string{`--quiet: "maybe" is no yes or no`}},
		"a mistyped flag":                {[]string{"run", "--backend=etcd", "--nemsis=pause"}, []string{"unknown flag: --nemsis (did you mean --nemesis?)"}},
		"a flag of another command":      {[]string{"run", "--backends=etcd"}, []string{"unknown flag: --backends (did you mean --backend?)"}},
		"a mistyped command":             {[]string{"chek", "run"}, []string{"Did you mean this?", "check"}},
		"a mistyped backend":             {[]string{"run", "--backend=etdc"}, []string{`there is no backend "etdc" (did you mean etcd?); there are: ` + backends}},
		"a mistyped nemesis":             {[]string{"run", "--backend=etcd", "--nemesis=pauze:holder"}, []string{`there is no nemesis "pauze" (did you mean pause?); there are: none, pause`}},
		"a mistyped target":              {[]string{"run", "--backend=etcd", "--nemesis=pause:hodler"}, []string{`there is no target "hodler" (did you mean holder?)`}},
		"a mistyped trigger":             {[]string{"run", "--backend=etcd", "--nemesis=pause:holder@wrok"}, []string{`there is no trigger "@wrok" (did you mean @work?)`}},
		"a mistyped client":              {[]string{"run", "--backend=etcd", "--client=concurency"}, []string{`has no client "concurency" (did you mean concurrency?); there are: concurrency`}},
		"a mistyped workload":            {[]string{"run", "--backend=etcd", "--workload=fencng"}, []string{`there is no workload "fencng" (did you mean fencing?)`}},
		"a mistyped guard":               {[]string{"run", "--backend=etcd", "--guard=before-wrok"}, []string{`there is no guard "before-wrok" (did you mean before-work?)`}},
		"a mistyped provider":            {[]string{"run", "--backend=etcd", "--provider=dokcer"}, []string{`there is no provider "dokcer" (did you mean docker?)`}},
		"a mistyped setting":             {[]string{"run", "--backend=etcd", "--set=pre-voet=true"}, []string{`there is no setting "pre-voet" (did you mean pre-vote?)`}},
		"a mistyped property":            {[]string{"check", "run", "--property=stale-wirte"}, []string{`unknown property "stale-wirte" (did you mean stale-write?)`}},
		"a mistyped backend of several":  {[]string{"compare", "--backends=redis,etdc"}, []string{`--backends: there is no backend "etdc" (did you mean etcd?)`}},
		"no backend of several":          {[]string{"compare", "--backends="}, []string{"--backends names nothing: leave it out, or name some of: " + backends}},
		"no nemesis of several":          {[]string{"compare", "--nemeses="}, []string{"--nemeses names nothing", "none, pause"}},
		"no workload of several":         {[]string{"compare", "--workloads=,"}, []string{"--workloads names nothing", "lock, fencing"}},
		"a comparison that is not there": {[]string{"compare", "--file=no.yaml"}, []string{"--file=no.yaml: there is no such file", "lockcheck init no.yaml"}},
		"a directory for a comparison":   {[]string{"compare", "--file=run"}, []string{"--file=run: ", "directory"}},
		"no server":                      {[]string{"run", "--backend=etcd", "--nodes=0"}, []string{"--nodes=0: use 1 to 1000"}},
		"no server of a plan":            {[]string{"plan", "--backend=etcd", "--nodes=0"}, []string{"--nodes=0: use 1 to 1000"}},
		"no server of a comparison":      {[]string{"compare", "--backends=etcd", "--nodes=0"}, []string{"--nodes=0: use 1 to 1000"}},
		"two lock clients":               {[]string{"run", "--backend=etcd", "--client=./mine", "--client-image=mine:1"}, []string{"--client=./mine and --client-image=mine:1 are two lock clients"}},
		"an image for local":             {[]string{"run", "--backend=etcd", "--provider=local", "--client-image=mine:1"}, []string{"--client-image is for --provider=docker, not for local: programs of this machine are named with --client=./NAME"}},
		"a command without an image":     {[]string{"run", "--backend=etcd", "--", "python3", "mine.py"}, []string{"--client-arg=python3 (or -- python3 mine.py) is for the container of a lock client: name its image with --client-image"}},
		"a command twice":                {[]string{"plan", "--backend=etcd", "--client-image=mine:1", "--client-arg=a", "--", "b"}, []string{"--client-arg and -- b both say what the lock client's image is to run"}},
		"a command before --":            {[]string{"compare", "--backends=etcd", "--client-image=mine:1", "b", "--", "c"}, []string{`takes flags only, and "b" is none`}},
		"no guard":                       {[]string{"run", "--backend=etcd", "--guard="}, []string{`there is no guard ""`, "before-work"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(program, c.args...)
			cmd.Dir = dir
			out, _ := cmd.CombinedOutput()
			if code := cmd.ProcessState.ExitCode(); code != 64 {
				t.Errorf("exit %d, want 64", code)
			}
			for _, say := range c.says {
				if !strings.Contains(string(out), say) {
					t.Errorf("it does not say %q", say)
				}
			}
			if words := libraryWords.FindString(string(out)); words != "" {
				t.Errorf("it speaks of %s", words)
			}
			if t.Failed() {
				t.Logf("it said\n%s", out)
			}
		})
	}
}

// spoilt is a directory with what TestErrorsSayWhatToDo needs.
func spoilt(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	makes := func(codes []int, name string, args ...string) {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		if name == program {
			defer placeFor(cmd)()
		}
		if out, err := cmd.CombinedOutput(); cmd.ProcessState == nil || !slices.Contains(codes, cmd.ProcessState.ExitCode()) {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
	}
	do := func(name string, args ...string) { t.Helper(); makes([]int{0}, name, args...) }
	do(program, "run", "--backend=etcd", "--provider=local", "--nemesis=none", untilExposed, atMost)
	// On a busy machine a second of it may have tested too little.
	makes([]int{0, 2}, program, "compare", "--backends=etcd", "--nemeses=none", "--workloads=lock", "--provider=local", "--time-limit=1s")
	do("cp", "-rL", "lockcheck-out/latest", "run")
	do("cp", "-r", "lockcheck-out/latest-compare/", "comparison")
	do("tar", "-czf", "run.tar.gz", "run")
	do("cp", "run.tar.gz", "run.zip") // its name is enough
	spoil := func(copied, file string, change func(string) string) {
		t.Helper()
		do("cp", "-r", "run", copied)
		path := filepath.Join(dir, copied, file)
		text, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, []byte(change(string(text))), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	inLine := func(n int, old, with string) func(string) string {
		return func(text string) string {
			lines := strings.SplitAfter(text, "\n")
			lines[n-1] = strings.Replace(lines[n-1], old, with, 1)
			return strings.Join(lines, "")
		}
	}
	spoil("torn", rundir.HistoryFile, func(text string) string { return text[:len(text)-20] })
	spoil("field", rundir.HistoryFile, inLine(3, "{", `{"colour":"red",`))
	spoil("mistyped", rundir.HistoryFile, inLine(3, `"index":2`, `"index":"2"`))
	spoil("request", rundir.ResourceFile, inLine(1, "{", `{"colour":"red",`))
	spoil("plan", rundir.PlanFile, inLine(2, "", `"colour": "red",`))
	return dir
}

// A run that is interrupted says how what it recorded is judged, and that command does it.
func TestAnInterruptedRunSaysHowItIsJudged(t *testing.T) {
	t.Parallel()
	o := outcome{out: t.TempDir()}
	cmd := exec.Command(program, "run", "--backend=etcd", "--provider=local", "--nemesis=none", "--time-limit=60s", "--out="+o.out)
	defer placeFor(cmd)()
	recorded := filepath.Join(o.run(), rundir.HistoryFile)
	go func() {
		for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) { // until it records
			if info, err := os.Stat(recorded); err == nil && info.Size() > 5000 {
				break
			}
		}
		_ = cmd.Process.Signal(os.Interrupt)
	}()
	if o = finishAtOnce(t, cmd, o); o.code != 130 {
		t.Errorf("exit %d, want 130", o.code)
	}
	found := regexp.MustCompile(`(?m)^lockcheck (check \S+) judges what was recorded`).FindStringSubmatch(o.stderr)
	if found == nil {
		t.Fatalf("it says\n%s", o.stderr)
	}
	check := exec.Command(program, strings.Fields(found[1])...)
	out, _ := check.CombinedOutput()
	if code := check.ProcessState.ExitCode(); code != 2 || !strings.Contains(string(out), "INCONCLUSIVE") {
		t.Errorf("%s: exit %d\n%s", found[0], code, out)
	}
}
