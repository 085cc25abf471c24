package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/reports"
)

// ran is what a command left behind.
type ran struct {
	code           int
	stdout, stderr string
}

// lockcheck runs a command as main does.
func lockcheck(t *testing.T, args ...string) ran {
	t.Helper()
	capture := func(file **os.File) func() string {
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		before := *file
		*file = write
		text := make(chan string)
		go func() {
			all, _ := io.ReadAll(read)
			text <- string(all)
		}()
		return func() string {
			*file = before
			write.Close()
			defer read.Close()
			return <-text
		}
	}
	stdout, stderr := capture(&os.Stdout), capture(&os.Stderr)
	code := execute(t.Context(), args)
	return ran{code, stdout(), stderr()}
}

// recording writes events and requests as a run does. Every call is a millisecond later than the one before.
type recording struct {
	t                *testing.T
	events, requests *history.Writer
	now, op          int64
	index, seq       int64
}

func (r *recording) event(e history.Event) {
	r.t.Helper()
	r.now += 1e6
	e.TimeNS, e.Index = r.now, r.index
	r.index++
	if err := r.events.Event(e); err != nil {
		r.t.Fatal(err)
	}
}

func (r *recording) phase(name string) {
	r.event(history.Event{Process: history.HarnessProcess, Type: history.Info, F: history.Phase, Value: name})
}

func (r *recording) begin(client string, e history.Event) int64 {
	r.op++
	e.Process, e.Client, e.Type, e.Op = client, client, history.Invoke, r.op
	r.event(e)
	return r.op
}

func (r *recording) end(client string, op int64, e history.Event) {
	e.Process, e.Client, e.Type, e.Op = client, client, history.OK, op
	r.event(e)
}

// granted completes an acquire.
func (r *recording) granted(client, hold, token string, op int64) {
	r.event(history.Event{Process: client, Client: client, Type: history.OK, F: history.Renew, Session: "s-" + client, SeenNS: r.now, TTLNS: 2e9})
	r.end(client, op, history.Event{F: history.Acquire, Key: "k1", Hold: hold, Session: "s-" + client, Token: token, SeenNS: r.now})
}

// update reads, writes and waits for neither.
func (r *recording) update(client, hold, token, value, base string) {
	read := r.begin(client, history.Event{F: history.Read, Key: "k1", Hold: hold, Token: token})
	r.request(read, history.Request{Kind: history.KindRead, Hold: hold, Token: token, Value: base})
	r.end(client, read, history.Event{F: history.Read, Key: "k1", Hold: hold, Value: base, HeldNS: r.now})
	write := r.begin(client, history.Event{F: history.Write, Key: "k1", Hold: hold, Token: token, Value: value, Base: base, WorkNS: 1e6})
	r.request(write, history.Request{Kind: history.KindWrite, Hold: hold, Token: token, Value: value, Base: base})
	r.end(client, write, history.Event{F: history.Write, Key: "k1", Hold: hold, HeldNS: r.now})
}

func (r *recording) request(op int64, q history.Request) {
	r.t.Helper()
	r.seq++
	q.Seq, q.Request, q.Key, q.Outcome, q.TimeNS = r.seq, strconv.FormatInt(op, 10), "k1", history.Applied, r.now
	if err := r.requests.Request(q); err != nil {
		r.t.Fatal(err)
	}
}

func (r *recording) release(client, hold string) {
	owned := true
	op := r.begin(client, history.Event{F: history.Release, Key: "k1", Hold: hold, Session: "s-" + client})
	r.end(client, op, history.Event{F: history.Release, Key: "k1", Hold: hold, Session: "s-" + client, Owned: &owned, HeldNS: r.now - 1e6})
}

// record makes a run directory: c2 waits for c1, both update. With stale, c1 updates once more after c2 did.
func record(t *testing.T, stale bool) string {
	t.Helper()
	plan := history.Plan{Version: history.FormatVersion, Run: "r1", Backend: "etcd", LockClient: "test", Workload: "lock",
		Nemesis: "none", Guard: "before-work", Provider: "local", Seed: 3, Nodes: 3, Clients: 2, Keys: 1, TTLMS: 2000,
		EffectiveMS: 2000, ElectionMS: 1000, Tokens: history.TokensOrdered, SameKernel: true,
		Exposure: []history.Requirement{{Name: history.ExposureContended, Min: 1}}}
	dir, err := reports.Create(t.TempDir(), plan, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	if err := dir.WritePlan(plan); err != nil {
		t.Fatal(err)
	}
	var events, requests bytes.Buffer
	r := &recording{t: t, events: history.NewWriter(&events), requests: history.NewWriter(&requests)}
	r.phase(history.PhaseLoad)
	first := r.begin("c1", history.Event{F: history.Acquire, Key: "k1", Hold: "h1"})
	r.granted("c1", "h1", "10", first)
	second := r.begin("c2", history.Event{F: history.Acquire, Key: "k1", Hold: "h2"})
	r.update("c1", "h1", "10", "a", "")
	if !stale {
		r.release("c1", "h1")
	}
	r.granted("c2", "h2", "12", second)
	r.update("c2", "h2", "12", "b", "a")
	if stale {
		r.update("c1", "h1", "10", "c", "b")
		r.release("c1", "h1")
	}
	r.release("c2", "h2")
	r.phase(history.PhaseHeal)
	r.phase(history.PhaseFinal)
	for i, client := range []string{"f1", "f2"} {
		hold := "final" + client
		op := r.begin(client, history.Event{F: history.Acquire, Key: "k1", Hold: hold})
		r.granted(client, hold, strconv.Itoa(20+i), op)
		r.release(client, hold)
	}
	r.phase(history.PhaseEnd)
	for path, text := range map[string][]byte{dir.HistoryPath(): events.Bytes(), dir.ResourcePath(): requests.Bytes()} {
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir.Path()
}

func TestCheckJudgesARunFromItsDirectoryAlone(t *testing.T) {
	for name, test := range map[string]struct {
		stale bool
		code  int
		words []string
	}{
		"clean":       {false, exitPass, []string{"✓ PASS: etcd without faults", "report.html", "mutual-exclusion"}},
		"stale write": {true, exitViolation, []string{"✗ UNSAFE: etcd without faults: 1 stale write accepted", "✗ violation"}},
	} {
		t.Run(name, func(t *testing.T) {
			run := record(t, test.stale)
			got := lockcheck(t, "check", run)
			if got.code != test.code || got.stderr != "" {
				t.Fatalf("exit code %d, want %d\n%s%s", got.code, test.code, got.stdout, got.stderr)
			}
			for _, want := range test.words {
				if !strings.Contains(got.stdout, want) {
					t.Errorf("%q is missing in\n%s", want, got.stdout)
				}
			}
			for _, file := range []string{reports.ResultsFile, reports.ReportFile} {
				if info, err := os.Stat(filepath.Join(run, file)); err != nil || info.Size() == 0 {
					t.Errorf("%s was not written: %v", file, err)
				}
			}
		})
	}
}

func TestCheckingTwiceGivesTheSameResults(t *testing.T) {
	run := record(t, true)
	var texts []string
	for range 2 {
		if got := lockcheck(t, "check", "--quiet", run); got.code != exitViolation {
			t.Fatalf("%+v", got)
		}
		text, err := os.ReadFile(filepath.Join(run, reports.ResultsFile))
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, regexp.MustCompile(`"checked_at": "[^"]*"`).ReplaceAllString(string(text), ""))
	}
	if texts[0] != texts[1] || len(texts[0]) < 200 {
		t.Errorf("two checks differ:\n%s\n%s", texts[0], texts[1])
	}
}

func TestCheckJSONPrintsTheResultsAndNothingElse(t *testing.T) {
	run := record(t, true)
	got := lockcheck(t, "check", run, "--json")
	text, err := os.ReadFile(filepath.Join(run, reports.ResultsFile))
	if err != nil {
		t.Fatal(err)
	}
	if got.stdout != string(text) || got.stderr != "" || got.code != exitViolation {
		t.Errorf("printed %q and %q, code %d", got.stdout, got.stderr, got.code)
	}
	var results reports.Results
	if err := json.Unmarshal([]byte(got.stdout), &results); err != nil || results.Verdict != "violation" || results.Seed != 3 {
		t.Errorf("read back %+v, %v", results, err)
	}
}

func TestCheckQuietIsOneLine(t *testing.T) {
	got := lockcheck(t, "check", record(t, false), "--quiet")
	if strings.Count(got.stdout, "\n") != 1 || !strings.HasPrefix(got.stdout, "✓ PASS") {
		t.Errorf("printed %q", got.stdout)
	}
}

func TestPartOfAVerdictDoesNotTakeThePlaceOfTheWhole(t *testing.T) {
	run := record(t, true)
	lockcheck(t, "check", run)
	before := contents(t, run)
	got := lockcheck(t, "check", run, "--property=token-monotonicity,liveness")
	if got.code != exitPass || strings.Contains(got.stdout, "stale-write") {
		t.Errorf("code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	same(t, before, contents(t, run))
}

func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if text, err := os.ReadFile(filepath.Join(dir, entry.Name())); err == nil {
			files[entry.Name()] = string(text)
		}
	}
	return files
}

func same(t *testing.T, before, after map[string]string) {
	t.Helper()
	for name := range before {
		if before[name] != after[name] {
			t.Errorf("%s was overwritten", name)
		}
	}
	for name := range after {
		if _, ok := before[name]; !ok {
			t.Errorf("%s was left behind", name)
		}
	}
}

func TestCheckRefusesWhatItCannotReadAndOverwritesNothing(t *testing.T) {
	cut := func(file string, keep func(text string) string) func(t *testing.T, run string) {
		return func(t *testing.T, run string) {
			path := filepath.Join(run, file)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(keep(string(text))), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	line := func(n int, with string) func(string) string {
		return func(text string) string {
			lines := strings.SplitAfter(text, "\n")
			lines[n-1] = with + "\n"
			return strings.Join(lines, "")
		}
	}
	remove := func(file string) func(t *testing.T, run string) {
		return func(t *testing.T, run string) {
			if err := os.Remove(filepath.Join(run, file)); err != nil {
				t.Fatal(err)
			}
		}
	}
	short := func(text string) string { return text[:len(text)-9] }
	for name, test := range map[string]struct {
		spoil func(t *testing.T, run string)
		args  []string
		want  []string
	}{
		"malformed line of the history":     {cut(reports.HistoryFile, line(4, "{not json}")), nil, []string{"history.jsonl:4"}},
		"malformed line of the resource":    {cut(reports.ResourceFile, line(2, `{"seq":"x"}`)), nil, []string{"resource.jsonl:2"}},
		"unknown type in the history":       {cut(reports.HistoryFile, line(2, `{"index":1,"time_ns":5,"process":"c1","type":"maybe","f":"acquire"}`)), nil, []string{"history.jsonl:2", "maybe"}},
		"history cut in the middle":         {cut(reports.HistoryFile, short), nil, []string{"history.jsonl:"}},
		"resource cut in the middle":        {cut(reports.ResourceFile, short), nil, []string{"resource.jsonl:"}},
		"plan cut in the middle":            {cut(reports.PlanFile, short), nil, []string{"plan.json"}},
		"no history":                        {remove(reports.HistoryFile), nil, []string{"history.jsonl is missing"}},
		"no resource log":                   {remove(reports.ResourceFile), nil, []string{"resource.jsonl is missing"}},
		"no plan":                           {remove(reports.PlanFile), nil, []string{"plan.json is missing"}},
		"unknown property":                  {nil, []string{"--property=mutual-exclusion,stale-writes"}, []string{`unknown property "stale-writes"`, "stale-write", "liveness"}},
		"no property":                       {nil, []string{"--property="}, []string{"names no property", "stale-write"}},
		"unknown flag":                      {nil, []string{"--jason"}, []string{"--jason", "--help"}},
		"two directories":                   {nil, []string{"elsewhere"}, []string{"one run directory"}},
		"malformed line, with JSON wanted":  {cut(reports.HistoryFile, line(4, "{not json}")), []string{"--json"}, []string{"history.jsonl:4"}},
		"malformed line, one property only": {cut(reports.HistoryFile, line(4, "{not json}")), []string{"--property=liveness"}, []string{"history.jsonl:4"}},
	} {
		t.Run(name, func(t *testing.T) {
			run := record(t, true)
			lockcheck(t, "check", run)
			if test.spoil != nil {
				test.spoil(t, run)
			}
			before := contents(t, run)
			got := lockcheck(t, append([]string{"check", run}, test.args...)...)
			if got.code != exitUsage || got.stdout != "" {
				t.Errorf("exit code %d, want %d; printed %q", got.code, exitUsage, got.stdout)
			}
			for _, want := range test.want {
				if !strings.Contains(got.stderr, want) {
					t.Errorf("%q is missing in %q", want, got.stderr)
				}
			}
			same(t, before, contents(t, run))
		})
	}
	t.Run("no directory", func(t *testing.T) {
		missing := filepath.Join(t.TempDir(), "nothing")
		if got := lockcheck(t, "check", missing); got.code != exitUsage || !strings.Contains(got.stderr, missing) {
			t.Errorf("%+v", got)
		}
	})
}

func TestARecordingThatContradictsItselfIsADefect(t *testing.T) {
	run := record(t, false)
	path := filepath.Join(run, reports.ResourceFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// An acknowledged write that the resource never logged, although it logged what came later.
	lines := strings.SplitAfter(string(text), "\n")
	lines = slices.Delete(lines, 1, 2)
	for i := range lines {
		lines[i] = strings.Replace(lines[i], fmt.Sprintf(`"seq":%d,`, i+2), fmt.Sprintf(`"seq":%d,`, i+1), 1)
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := lockcheck(t, "check", run); got.code != exitDefect || !strings.Contains(got.stderr, "contradicts itself") {
		t.Errorf("%+v", got)
	}
}

// A file that was cut at the end of a line is whole line by line; that it is cut short shows all the same.
func TestAFileCutBetweenTwoLinesIsCutShort(t *testing.T) {
	for file, says := range map[string]string{
		reports.HistoryFile:  "without its end mark",
		reports.ResourceFile: "ends with line",
	} {
		t.Run(file, func(t *testing.T) {
			run := record(t, false)
			path := filepath.Join(run, file)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.SplitAfter(string(text), "\n") // the last is empty
			if err := os.WriteFile(path, []byte(strings.Join(lines[:len(lines)-2], "")), 0o644); err != nil {
				t.Fatal(err)
			}
			before := contents(t, run)
			got := lockcheck(t, "check", run)
			if got.code != exitUsage || !strings.Contains(got.stderr, file) || !strings.Contains(got.stderr, says) {
				t.Errorf("%+v", got)
			}
			same(t, before, contents(t, run))
		})
	}
}

func TestAKilledHarnesssRecordingIsJudgedAsFarAsItGoes(t *testing.T) {
	run := record(t, false)
	path := filepath.Join(run, reports.HistoryFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text[:len(text)-20], 0o644); err != nil { // torn within its last line
		t.Fatal(err)
	}
	if got := lockcheck(t, "check", run, "--partial"); got.code != exitInconclusive {
		t.Errorf("%+v", got)
	}
}

func TestAVerdictSurvivesADirectoryThatCannotBeWritten(t *testing.T) {
	run := record(t, true)
	// Permissions do not bind root, a directory in the file's place binds everybody.
	if err := os.MkdirAll(filepath.Join(run, reports.ResultsFile, "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	got := lockcheck(t, "check", run)
	if got.code != exitViolation || !strings.Contains(got.stdout, "UNSAFE") {
		t.Errorf("the verdict is gone: %+v", got)
	}
	if !strings.Contains(got.stderr, "warning: cannot write the results") {
		t.Errorf("no warning in %q", got.stderr)
	}
}

func TestCheckHelpHasAnExample(t *testing.T) {
	got := lockcheck(t, "check", "--help")
	if got.code != exitPass || !strings.Contains(got.stdout, "lockcheck check lockcheck-out/latest") || !strings.Contains(got.stdout, "stale-write") {
		t.Errorf("%+v", got)
	}
}
