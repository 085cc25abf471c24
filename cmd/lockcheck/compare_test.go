package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"lockcheck/checker/model"
	"lockcheck/cmd/internal/harness"
	"lockcheck/reports/compare"
	"lockcheck/reports/compare/config"
)

// Every cell is looked at before the first run: a mistake in the last one costs no hour.
func TestMistakesOfComparisons(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		file string
		says []string
	}{
		"no matrix":                    {[]string{"compare"}, "", []string{"lockcheck.yaml", "lockcheck init", "--backends=consul,etcd"}},
		"unknown backend":              {[]string{"compare", "--backends=etcd,floppy"}, "", []string{"--backends: there is no backend \"floppy\"", "there is no backend"}},
		"unknown nemesis":              {[]string{"compare", "--nemeses=none,comet"}, "", []string{"comet", "none, pause"}},
		"unknown workload":             {[]string{"compare", "--workloads=sleep"}, "", []string{"sleep", "lock, fencing"}},
		"nothing that there is":        {[]string{"compare", "--backends=etcd", "--nemeses=noen", "--workloads=lok"}, "", []string{"--nemeses: there is no nemesis \"noen\" (did you mean none?)", "\n--workloads: there is no workload \"lok\" (did you mean lock?)"}},
		"a backend twice":              {[]string{"compare", "--backends=etcd,etcd"}, "", []string{"--backends=etcd,etcd", "twice"}},
		"a lease that one cannot":      {[]string{"compare", "--backends=redis,etcd", "--ttl=2500ms"}, "", []string{"etcd / none / lock", "2.5s", "3s"}},
		"no lease":                     {[]string{"compare", "--backends=etcd", "--ttls=2s,long"}, "", []string{`--ttls: "long" is no length of time`}},
		"leases that are none":         {[]string{"compare", "--backends=etcd", "--ttls="}, "", []string{"--ttls names nothing", "1s,2s,5s"}},
		"a file's that one cannot":     {[]string{"compare"}, inMatrix("ttls: [2s, 2500ms]"), []string{`lockcheck.yaml:26:14: backend etcd: `, "2.5s"}},
		"a lease twice":                {[]string{"compare", "--backends=etcd", "--ttls=2s,2000ms"}, "", []string{"2s and 2000ms are the same lease"}},
		"one lease beside several":     {[]string{"compare", "--backends=etcd", "--ttls=2s,5s", "--ttl=3s"}, "", []string{"--ttl sets one lease"}},
		"a backend's own lease":        {[]string{"compare", "--ttls=2s,5s"}, strings.Replace(config.Example, "  etcd:\n", "  etcd: {ttl: 3s}\n", 1), []string{"backend etcd has a ttl of its own"}},
		"a lease the file has not":     {[]string{"compare", "--ttls=2s,5s"}, inMatrix("ttls: [2s, 3s]"), []string{`the matrix of lockcheck.yaml has no "5s"; it has: 2s, 3s`}},
		"a lease that cannot be":       {[]string{"compare"}, inMatrix("ttls: [2s, long]"), []string{`lockcheck.yaml:26:14: ttls: "long" is no length of time`}},
		"no resource":                  {[]string{"compare", "--backends=etcd", "--resources=plain,disc"}, "", []string{`--resources: there is no resource "disc"`, "plain, fenced, cas"}},
		"resources that are none":      {[]string{"compare", "--backends=etcd", "--resources="}, "", []string{"--resources names nothing", "plain,fenced,cas"}},
		"a resource twice":             {[]string{"compare", "--backends=etcd", "--resources=cas,cas"}, "", []string{"cas and cas are the same resource"}},
		"one resource beside several":  {[]string{"compare", "--backends=etcd", "--resources=plain,cas", "--resource=cas"}, "", []string{"--resource sets one resource"}},
		"a backend's own resource":     {[]string{"compare", "--file=lockcheck.yaml", "--resources=plain,cas"}, strings.Replace(config.Example, "  etcd:\n", "  etcd: {resource: cas}\n", 1), []string{"backend etcd has a resource of its own"}},
		"a resource the file has not":  {[]string{"compare", "--resources=cas"}, inMatrix("resources: [plain]"), []string{`the matrix of lockcheck.yaml has no "cas"; it has: plain`}},
		"a resource of a file":         {[]string{"compare"}, inMatrix("resources: [plain, disc]"), []string{`lockcheck.yaml:26:22: resources: there is no resource "disc"`}},
		"tokens that no client shows":  {[]string{"compare", "--backends=etcd", "--workloads=lock", "--resources=plain,fenced"}, "", []string{"etcd / none / lock / resource fenced", "workload lock shows it none", "take workload fencing"}},
		"the same in a file":           {[]string{"compare", "--file=lockcheck.yaml", "--workloads=lock"}, inMatrix("resources: [cas, redis]"), []string{"lockcheck.yaml:26:20: the cell etcd / none / lock / resource redis"}},
		"one run under two names":      {[]string{"compare", "--backends=etcd", "--workloads=lock,fencing", "--resources=plain"}, "", []string{"etcd / none / fencing / resource plain", "etcd / none / lock / resource plain once more"}},
		"the same of a file":           {[]string{"compare"}, inMatrix("resources: [cas]"), []string{"lockcheck.yaml:28:21: ", "once more"}},
		"one of several that cannot":   {[]string{"compare", "--backends=redis,etcd", "--ttls=3s,2500ms"}, "", []string{"etcd / none / lock / ttl 2500ms"}},
		"a shard without a seed":       {[]string{"compare", "--backends=etcd", "--shard=1/2"}, "", []string{"--shard=1/2", "--seed"}},
		"a shard without a cell":       {[]string{"compare", "--backends=etcd", "--shard=7/9", "--seed=1"}, "", []string{"--shard=7/9 has nothing to run", "divided into 4"}},
		"a fault that one cannot have": {[]string{"compare", "--backends=etcd,redlock", "--nemeses=none,failover"}, "", []string{"redlock / failover / lock", "has no leader"}},
		"no shard":                     {[]string{"compare", "--backends=etcd", "--shard=3/2"}, "", []string{"--shard", "2/5"}},
		"no repeat":                    {[]string{"compare", "--backends=etcd", "--repeat=0"}, "", []string{"--repeat=0"}},
		"too many runs":                {[]string{"compare", "--backends=etcd", "--repeat=1000000"}, "", []string{"--repeat=1000000: a cell has 1 to 10000 runs"}},
		"known to what is no share":    {[]string{"compare", "--backends=etcd", "--until-known=15"}, "", []string{"--until-known=15: use a percentage between 0 and 50, such as 15%"}},
		"known to nothing":             {[]string{"compare", "--backends=etcd", "--until-known=0%"}, "", []string{"between 0 and 50"}},
		"known to no number":           {[]string{"compare", "--backends=etcd", "--until-known=nan%"}, "", []string{"between 0 and 50"}},
		"known by too few runs":        {[]string{"compare", "--backends=etcd", "--until-known=5%", "--repeat=10"}, "", []string{"not even 10 runs without a violation", "--until-known=18% or more, or a higher --repeat"}},
		"a rate that is always met":    {[]string{"compare"}, strings.Replace(config.Example, "stale-write: violation", `stale-write: {rate: ">=0"}`, 1), []string{"lockcheck.yaml:", ": no number of runs decides a rate of >=0"}},
		"two for standard output":      {[]string{"compare", "--backends=etcd", "--json", "--annotations"}, "", []string{"--annotations", "--json"}},
		"no such file":                 {[]string{"compare", "--file=no.yaml"}, "", []string{"no.yaml"}},
		"a file that is none":          {[]string{"compare"}, "backends: {etcd: }\nmatrix: {nemesis: none}\n", []string{"lockcheck.yaml:2:10", "nemeses"}},
		"what the file does not have":  {[]string{"compare", "--file=lockcheck.yaml", "--backends=redis"}, config.Example, []string{"--backends", `no "redis"`, "etcd"}},
		"an unknown setting":           {[]string{"compare"}, strings.Replace(config.Example, "  etcd:\n", "  etcd: {set: {colour: red}}\n", 1), []string{"colour", "heartbeat-interval"}},
		"no such guard in a file":      {[]string{"compare"}, inFile("guard: after"), []string{`lockcheck.yaml:9:10: guard: there is no guard "after"; there are: none, before-work, before-write`}},
		"no such provider in a file":   {[]string{"compare"}, inFile("provider: moon"), []string{`lockcheck.yaml:9:13: provider: there is no provider "moon"; there are: auto, local, docker`}},
		"a word for clients":           {[]string{"compare"}, inFile("clients: many"), []string{`lockcheck.yaml:9:12: clients: "many" is no number from 2 to 100`}},
		"one client in a file":         {[]string{"compare"}, inFile("clients: 1"), []string{`lockcheck.yaml:9:12: clients=1: use 2 to 100`}},
		"no node in a file":            {[]string{"compare"}, inFile("nodes: 0"), []string{`lockcheck.yaml:9:10: nodes=0: use 1 to 1000`}},
		"a lease without a unit":       {[]string{"compare"}, inFile("ttl: 2"), []string{`lockcheck.yaml:9:8: ttl: "2" is no length of time from 1ms to 24h, such as 30s`}},
		"no time in a file":            {[]string{"compare"}, inFile("time-limit: 1ms"), []string{`lockcheck.yaml:9:15: time-limit=1ms: use 1s to 24h`}},
		"no such resource in a file":   {[]string{"compare"}, inFile("resource: cass"), []string{`lockcheck.yaml:9:13: resource: there is no resource "cass" (did you mean cas?); there are: plain, fenced, cas`}},
		"no such execution in a file":  {[]string{"compare"}, inFile("execution: never"), []string{`lockcheck.yaml:9:14: execution: there is no execution "never"; there are: at-least-once`}},
		"a slot that no cell has":      {[]string{"compare"}, inFile("slot: 1s"), []string{"--slot=1s: only workload jobs understands it, and the matrix has none"}},
		"a seed in a file":             {[]string{"compare"}, inFile("seed: 3"), []string{`lockcheck.yaml:9:3: defaults has no key "seed"; there are: client, client-image, client-arg, resource, guard,`}},
		"nothing to merge":             {[]string{"merge"}, "", []string{"directories of comparisons"}},
		"no comparison":                {[]string{"merge", "."}, "", []string{"compare.json is missing"}},
		"a file that exists":           {[]string{"init"}, "mine", []string{"lockcheck.yaml exists", "left as it is"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			if c.file != "" {
				if err := os.WriteFile(config.Name, []byte(c.file), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			code, stderr := mistake(t, c.args)
			if code != exitUsage {
				t.Errorf("exit %d, want %d", code, exitUsage)
			}
			for _, say := range c.says {
				if !strings.Contains(stderr, say) {
					t.Errorf("it does not say %q:\n%s", say, stderr)
				}
			}
			left, err := filepath.Glob("*")
			if err != nil || len(left) > 1 || len(left) == 1 && left[0] != config.Name {
				t.Errorf("it left %q (%v)", left, err)
			}
			if text, _ := os.ReadFile(config.Name); string(text) != c.file {
				t.Errorf("the file was changed:\n%s", text)
			}
		})
	}
}

// inFile is the example with another default first.
func inFile(setting string) string {
	return strings.Replace(config.Example, "\ndefaults:\n  time-limit: 30s\n", "\ndefaults:\n  "+setting+"\n", 1)
}

// inMatrix is the example with a key of the matrix before the others.
func inMatrix(key string) string {
	return strings.Replace(config.Example, "\nmatrix:\n", "\nmatrix:\n  "+key+"\n", 1)
}

// plannedIn are the cells of a file and arguments, so many.
func plannedIn(t *testing.T, name, file string, args []string, want int) (cells []plannedCell) {
	t.Helper()
	if err := os.WriteFile(config.Name, []byte(file), 0o644); err != nil {
		t.Fatal(err)
	}
	got := lockcheck(t, append([]string{"compare", "--list", "--json", "--provider=local"}, args...)...)
	if err := json.Unmarshal([]byte(got.stdout), &cells); err != nil || len(cells) != want {
		t.Fatalf("%s: %d cells, %v\n%s", name, len(cells), err, got.stderr)
	}
	return cells
}

// Several leases are a dimension of the matrix, no matter where they are named: each cell sets its own, and no default does.
func TestLeasesAreADimension(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, test := range map[string]struct {
		file string
		args []string
		want []string
	}{
		"of the file":            {inMatrix("ttls: [2s, 5s]"), nil, []string{"2s", "5s"}},
		"one of the file's":      {inMatrix("ttls: [2s, 5s]"), []string{"--ttls=5s"}, []string{"5s"}},
		"for a file without any": {config.Example, []string{"--ttls=3s,5s"}, []string{"3s", "5s"}},
		"without a file":         {"", []string{"--backends=etcd", "--ttls=3s,5s"}, []string{"3s", "5s"}},
	} {
		for i, c := range plannedIn(t, name, test.file, test.args, 4*len(test.want)) {
			ttl := test.want[i%len(test.want)]
			if c.TTL != ttl || strings.Count(strings.Join(c.Flags, " "), "--ttl=") != 1 || !slices.Contains(c.Flags, "--ttl="+ttl) {
				t.Errorf("%s: cell %d has ttl %q and %q, want %s", name, i, c.TTL, c.Flags, ttl)
			}
		}
	}
}

// Versions of the servers are a dimension, which lists no program: cells are planned where the servers are not.
func TestVersionsAreADimension(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, test := range map[string]struct {
		file string
		args []string
		want []string
	}{
		"of the file":    {inMatrix(`versions: ["3.4", 3.10]`), nil, []string{"3.4", "3.10"}}, // the second is no number
		"without a file": {"", []string{"--backends=etcd", "--versions=3.4.23,3.7"}, []string{"3.4.23", "3.7"}},
	} {
		for i, c := range plannedIn(t, name, test.file, test.args, 4*len(test.want)) {
			if version := test.want[i%len(test.want)]; c.Version != version || !slices.Contains(c.Flags, "--server-version="+version) {
				t.Errorf("%s: cell %d has version %q and %q, want %s", name, i, c.Version, c.Flags, version)
			}
		}
	}
	for _, test := range []struct {
		args string
		code int
		says []string
	}{
		{"--versions=new", 64, []string{"--versions=new", "3.4.23"}},
		{"--versions=3.4,3.4", 64, []string{"the same version"}},
		{"--versions=3.4 --server-version=3.5", 64, []string{"leave out --server-version"}},
		{"--versions=3.4 --provider=docker", 64, []string{"--server-version is for --provider=local", "--image"}},
		{"--versions=1.2.3", 69, []string{"--server-version=1.2.3", "there are: 3.7.3 (built in)", "scripts/servers"}},
	} {
		got := lockcheck(t, append([]string{"compare", "--backends=etcd", "--nemeses=none", "--workloads=lock"}, strings.Fields(test.args)...)...)
		for _, says := range test.says {
			if got.code != test.code || !strings.Contains(got.stderr, says) {
				t.Errorf("%s: exit %d, want %d and %q:\n%s", test.args, got.code, test.code, says, got.stderr)
			}
		}
	}
}

// Several resources are a dimension, too. Unless a workload is named it is the one that shows tokens; jobs shows them as well, and cells
// that make no sense can be excluded.
func TestResourcesAreADimension(t *testing.T) {
	t.Chdir(t.TempDir())
	const excluded = "\nexclude:\n  - {workload: lock, resource: fenced}\n  - {workload: fencing, resource: [plain, cas]}\n"
	whole, _, _ := strings.Cut(config.Example, "\nexpectations:")
	for name, test := range map[string]struct {
		file string
		args []string
		want []string // of the first nemesis
	}{
		"of the file":            {strings.Replace(whole, "\nmatrix:\n", "\nmatrix:\n  resources: [plain, fenced]\n", 1), []string{"--file=lockcheck.yaml", "--workloads=fencing"}, []string{"fencing plain", "fencing fenced"}},
		"one of the file's":      {strings.Replace(whole, "\nmatrix:\n", "\nmatrix:\n  resources: [plain, fenced]\n", 1), []string{"--file=lockcheck.yaml", "--workloads=fencing", "--resources=fenced"}, []string{"fencing fenced"}},
		"for a file without any": {whole, []string{"--file=lockcheck.yaml", "--workloads=lock", "--resources=plain,cas"}, []string{"lock plain", "lock cas"}},
		"with some excluded":     {strings.Replace(whole, "\nmatrix:\n", excluded+"matrix:\n  resources: [plain, fenced, cas]\n", 1), nil, []string{"lock plain", "lock cas", "fencing fenced"}},
		"without a file":         {"", []string{"--backends=etcd", "--resources=plain,fenced,cas"}, []string{"fencing plain", "fencing fenced", "fencing cas"}},
		"of jobs":                {"", []string{"--backends=etcd", "--workloads=jobs,fencing", "--resources=plain,fenced"}, []string{"jobs plain", "jobs fenced", "fencing plain", "fencing fenced"}},
	} {
		if err := os.WriteFile(config.Name, []byte(test.file), 0o644); err != nil {
			t.Fatal(err)
		}
		var cells []plannedCell
		got := lockcheck(t, append([]string{"compare", "--list", "--json", "--provider=local"}, test.args...)...)
		if err := json.Unmarshal([]byte(got.stdout), &cells); err != nil || len(cells) != 2*len(test.want) {
			t.Fatalf("%s: %d cells, %v\n%s", name, len(cells), err, got.stderr)
		}
		for i, want := range test.want {
			c := cells[i]
			if c.Workload+" "+c.Resource != want || strings.Count(strings.Join(c.Flags, " "), "--resource=") != 1 || !slices.Contains(c.Flags, "--resource="+c.Resource) {
				t.Errorf("%s: cell %d is %v with %q, want %s", name, i, c.Cell, c.Flags, want)
			}
		}
	}
}

// Flags of a matrix set a file aside, with all that it expects; which should not first show in the result.
func TestAFileThatIsSetAsideIsTold(t *testing.T) {
	t.Chdir(t.TempDir())
	byFlags, byFile := compare.Spec{}, compare.Spec{File: config.Name}
	if note := unread(byFlags); note != "" {
		t.Errorf("where there is no file: %q", note)
	}
	if err := os.WriteFile(config.Name, []byte(config.Example), 0o644); err != nil {
		t.Fatal(err)
	}
	if note := unread(byFlags); !strings.Contains(note, "--file="+config.Name) {
		t.Errorf("said %q, want how the file would be read", note)
	}
	if note := unread(byFile); note != "" {
		t.Errorf("of a file that was read: %q", note)
	}
}

func TestNemesesAreTakenApart(t *testing.T) {
	got := splitNemeses([]string{"none,pause", "pause:holder,1.5ttl", "partition", "kill:leader,pause"})
	want := []string{"none", "pause", "pause:holder,1.5ttl", "partition", "kill:leader,pause"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// What the help says of a comparison for which no nemesis is named is what it is made under.
func TestDefaultNemesesAreThoseOfTheHelp(t *testing.T) {
	var f compareFlags
	flags := pflag.NewFlagSet("compare", pflag.ContinueOnError)
	f.bind(flags)
	if err := flags.Parse([]string{"--backends=etcd"}); err != nil {
		t.Fatal(err)
	}
	spec, err := f.spec(flags)
	if err != nil {
		t.Fatal(err)
	}
	if got := splitNemeses([]string{strings.Join(spec.Nemeses, ",")}); !slices.Equal(got, []string{"none", "pause"}) {
		t.Errorf("made under %q", got)
	}
	if help := flags.Lookup("nemeses").Usage; !strings.Contains(help, "(default: none,pause)") {
		t.Errorf("the help says: %s", help)
	}
}

// Flags go before the file, and the file's own project example is one that can be run.
func TestFlagsGoBeforeTheFile(t *testing.T) {
	var f compareFlags
	flags := pflag.NewFlagSet("compare", pflag.ContinueOnError)
	f.bind(flags)
	if err := flags.Parse([]string{"--file=../../scripts/compare.yaml", "--nemeses=pause", "--repeat=9", "--ttl=4s", "--set=b=2", "--set=a=1"}); err != nil {
		t.Fatal(err)
	}
	spec, err := f.spec(flags)
	if err != nil {
		t.Fatal(err)
	}
	tasks := spec.Tasks(compare.Whole)
	if len(tasks) != 2*len(harness.Backends) {
		t.Errorf("%d cells, want every backend with 2 workloads under pause", len(tasks))
	}
	for _, task := range tasks {
		args := arguments(task.Flags)
		limit := "--time-limit=12s"
		if slices.Contains(args, "--backend=consul") {
			limit = "--time-limit=36s" // of its own
		}
		for _, want := range []string{"--nemesis=pause", "--ttl=4s", limit, "--set=a=1", "--set=b=2"} {
			if !slices.Contains(args, want) {
				t.Errorf("%v: %q lacks %s", task.Cell, args, want)
			}
		}
		if task.Repeat != 9 || task.Expect == nil || task.Expect.Implicit {
			t.Errorf("%v: at most %d runs, expected is %+v", task.Cell, task.Repeat, task.Expect)
		}
	}
}

// A run that says one thing and exits with another has told nothing.
func TestResultsAgreeWithTheExitCode(t *testing.T) {
	for _, test := range []struct {
		text string
		code int
		want model.Verdict // "": refused
	}{
		{`{"verdict":"pass"}`, 0, model.Pass}, {`{"verdict":"violation"}`, 1, model.Violation}, {`{"verdict":"inconclusive"}`, 2, model.Inconclusive},
		{`{"verdict":"pass"}`, 1, ""}, {`{"verdict":"violation"}`, 0, ""}, {`{"verdict":"viol`, 1, ""}, {"", 0, ""}, {`{"verdict":"pass"}`, 69, ""}, {`{}`, 0, ""},
	} {
		run, err := read([]byte(test.text), test.code)
		if run.Verdict != test.want || (err == nil) != (test.want != "") {
			t.Errorf("%q with exit %d is read as %q (%v)", test.text, test.code, run.Verdict, err)
		}
	}
}

// How long a comparison takes is told from the plans of its runs, before any was made.
func TestACellsTimeIsThatOfItsPlan(t *testing.T) {
	for want, flags := range map[time.Duration][]compare.Flag{
		30 * time.Second: {{Name: "backend", Value: "etcd"}},
		7 * time.Second:  {{Name: "backend", Value: "redis"}, {Name: "nemesis", Value: "pause"}, {Name: "time-limit", Value: "7s"}},
	} {
		if got, err := (&planner{seed: 7, onPaper: true}).plan(t.Context(), flags); got != want || err != nil {
			t.Errorf("%v: %v, %v; want %v", flags, got, err, want)
		}
	}
}
