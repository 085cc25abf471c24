//go:build e2e

// The map of the whole: real servers, real processes, real faults, through the command that users run. One seed a case;
// LOCKCHECK_SEEDS=20 (scripts/soak) repeats each case over that many.
package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lockcheck/checker"
	"lockcheck/checker/model"
	"lockcheck/reports/rundir"
)

// Programs under test, built once: as users get it, and with the planted defects.
var program, planted, plantedResource string

func TestMain(m *testing.M) {
	os.Exit(build(m))
}

func build(m *testing.M) int {
	dir, err := os.MkdirTemp("", "lockcheck-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil { // the unprivileged run has to reach it
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	program, planted, plantedResource = filepath.Join(dir, "lockcheck"), filepath.Join(dir, "planted"), filepath.Join(dir, "resource")
	for _, args := range [][]string{
		{"build", "-o", program, "."},
		{"build", "-tags", "planted", "-ldflags", "-X lockcheck/cmd/internal/harness.prefixPlant=" + takenPrefix, "-o", planted, "."},
		{"build", "-tags", "planted", "-ldflags", "-X lockcheck/cmd/internal/harness.resourcePlant=compare-nothing", "-o", plantedResource, "."},
	} {
		if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "go %v: %v\n%s", args, err, out)
			return 1
		}
	}
	if err := buildElectors(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// seeds are what each case runs with.
func seeds() []int {
	n, _ := strconv.Atoi(os.Getenv("LOCKCHECK_SEEDS"))
	var all []int
	for seed := 1; seed <= max(n, 1); seed++ {
		all = append(all, seed)
	}
	return all
}

// outcome is what a finished command left.
type outcome struct {
	code           int
	stdout, stderr string
	out            string // the --out directory
	results        rundir.Results
}

func (o outcome) run() string { return filepath.Join(o.out, "latest") }

func (o outcome) of(t *testing.T, name model.Name) model.Property {
	t.Helper()
	for _, p := range o.results.Properties {
		if p.Name == name {
			return p
		}
	}
	t.Fatalf("results.json has no property %s\n%s", name, o.stderr)
	return model.Property{}
}

func (o outcome) violated() []model.Name {
	var names []model.Name
	for _, p := range o.results.Properties {
		if p.Verdict == model.Violation {
			names = append(names, p.Name)
		}
	}
	return names
}

// lockcheck runs the command to its end, in a directory of its own unless the arguments name one.
//
// A run during which the machine's own wall clock was set by a good part of a lease (a virtual machine that was halted
// and got its time back) shows something, but not what the case is about: it is run once more, and says so.
func lockcheck(t *testing.T, binary string, args ...string) outcome {
	t.Helper()
	for again := 2; ; again-- {
		o := outcome{out: t.TempDir()}
		cmd := command(binary, append(args, "--out="+o.out)...)
		o = finish(t, cmd, o)
		by := time.Duration(o.results.Stats.ClockSteppedNS)
		if again == 0 || by < time.Duration(o.results.EffectiveMS)*time.Millisecond/4 || by == 0 {
			return o
		}
		t.Logf("the machine's wall clock was set by %v while this ran (exit %d): once more", by, o.code)
	}
}

// atOnce runs a command to its end that starts no server, such as one that is refused: it waits for no place.
func atOnce(t *testing.T, binary string, args ...string) outcome {
	t.Helper()
	out := t.TempDir()
	return finishAtOnce(t, command(binary, append(args, "--out="+out)...), outcome{out: out})
}

// finish runs a command of lockcheck to its end, in its turn.
func finish(t *testing.T, cmd *exec.Cmd, o outcome) outcome {
	t.Helper()
	defer placeFor(cmd)()
	return finishAtOnce(t, cmd, o)
}

// finishAtOnce is for tests that have a place: time that counts from the start must not pass while they wait for one.
func finishAtOnce(t *testing.T, cmd *exec.Cmd, o outcome) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	began := time.Now()
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	o.code, o.stdout, o.stderr = cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
	noteCost(t, cmd, time.Since(began))
	if text, err := os.ReadFile(filepath.Join(o.run(), rundir.ResultsFile)); err == nil {
		if err := json.Unmarshal(text, &o.results); err != nil {
			t.Fatalf("results.json: %v", err)
		}
		if err := rundir.Validate(o.run()); err != nil {
			t.Errorf("a recorded file departs from its schema (lockcheck schema): %v", err)
		}
	}
	t.Cleanup(func() {
		if t.Failed() {
			keep(t, o)
		}
	})
	return o
}

// keep saves what a failed case left behind, for those who have to understand it.
func keep(t *testing.T, o outcome) {
	t.Logf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
	if to := os.Getenv("LOCKCHECK_KEEP"); to != "" {
		where := filepath.Join(to, strings.ReplaceAll(t.Name(), "/", "_"))
		if err := os.CopyFS(where, os.DirFS(o.run())); err != nil {
			t.Log(err)
		}
		t.Logf("the run is kept in %s", where)
	}
}

// serviceProperties are what a lock service and its client promise.
var serviceProperties = func() (names []model.Name) {
	for _, p := range checker.Properties() {
		if p.Layer == model.LayerService {
			names = append(names, p.Name)
		}
	}
	return names
}()

var pauseRun = []string{"run", "--backend=etcd", "--nemesis=pause", "--time-limit=14s"}

// A lease cannot keep a paused holder from believing that it still holds: exclusion breaks and stale writes get through.
func TestPauseBreaksThePlainLock(t *testing.T) {
	t.Parallel()
	for _, seed := range seeds() {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			t.Parallel()
			o := lockcheck(t, program, endingAt(harmed, slices.Concat(pauseRun, []string{"--workload=lock", fmt.Sprintf("--seed=%d", seed)})...)...)
			if o.code != 1 {
				t.Errorf("exit %d, want 1", o.code)
			}
			for _, name := range []model.Name{model.MutualExclusion, model.StaleWrite} {
				if p := o.of(t, name); p.Verdict != model.Violation || p.Count == 0 {
					t.Errorf("%s is %s, want violation", name, p.Verdict)
				}
			}
			mustPass(t, o, serviceProperties...)
			if lossSignals(t, o) == 0 {
				t.Error("leases were outlived, and no client was told")
			}
			if stale := o.of(t, model.StaleWrite); len(stale.Findings) > 0 {
				readsLikeTheClassic(t, stale.Findings[0])
			}
			sameWhenCheckedAgain(t, o)
		})
	}
}

// lossSignals counts how often a library told its user that the lock was gone.
func lossSignals(t *testing.T, o outcome) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(o.run(), rundir.HistoryFile))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(text), `"f":"lost"`)
}

func mustPass(t *testing.T, o outcome, names ...model.Name) {
	t.Helper()
	for _, name := range names {
		if p := o.of(t, name); p.Verdict != model.Pass {
			t.Errorf("%s is %s (%s), want pass: no fault of this run can make a correct service break it", name, p.Verdict, p.Reason)
		}
	}
}

// readsLikeTheClassic wants the well-known story, in its order.
func readsLikeTheClassic(t *testing.T, f model.Finding) {
	t.Helper()
	var story []string
	for _, line := range f.Story {
		story = append(story, line.Text)
	}
	text := strings.Join(story, "\n")
	rest := text
	for _, step := range []string{"acquired", "paused", "acquired", "resumed", "accepted"} {
		_, after, found := strings.Cut(rest, step)
		if !found {
			t.Errorf("the story lacks %q after what comes before it:\n%s", step, text)
			return
		}
		rest = after
	}
	if f.Cause.Kind == "" || f.Cause.Fault == 0 {
		t.Errorf("the finding names no cause: %+v", f.Cause)
	}
}

// sameWhenCheckedAgain judges the directory alone and wants the same results, byte for byte but for the time.
func sameWhenCheckedAgain(t *testing.T, o outcome) {
	t.Helper()
	path := filepath.Join(o.run(), rundir.ResultsFile)
	before := withoutTime(t, path)
	cmd := exec.Command(program, "check", o.run(), "--quiet")
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Fatal(err)
	}
	if code := cmd.ProcessState.ExitCode(); code != o.code {
		t.Errorf("check exits %d, the run exited %d", code, o.code)
	}
	if after := withoutTime(t, path); before != after {
		t.Errorf("check wrote other results:\n%s\n---\n%s", before, after)
	}
}

func withoutTime(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.Contains(line, `"checked_at"`) })
	return strings.Join(lines, "\n")
}

// With a second program busy on every core the service may lose a lease and say so; what it may not lose is a promise, and what
// was not lost must not be found.
func TestCalmRunsOnABusyMachine(t *testing.T) {
	for _, seed := range seeds() {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			calm := keepBusy(runtime.NumCPU())
			defer calm()
			o := lockcheck(t, program, "run", "--backend=etcd", "--nemesis=none", "--workload=lock", "--time-limit=8s",
				fmt.Sprintf("--seed=%d", seed))
			mustPass(t, o, serviceProperties...)
			if o.code != 0 && !leaseWasLost(t, o) {
				t.Errorf("exit %d, violated %v, and no client was told that a lease was lost", o.code, o.violated())
			}
		})
	}
}

// keepBusy burns that many cores in this process, which is not lockcheck's, until the function it returns is called.
func keepBusy(cores int) (calm func()) {
	var stop atomic.Bool
	for range cores {
		go func() {
			for !stop.Load() {
			}
		}()
	}
	return func() { stop.Store(true) }
}

// leaseWasLost reports whether the history itself has what explains a lost lock: a library that told its user, or a server
// that answered that the lease is gone. Without either, a finding was invented.
func leaseWasLost(t *testing.T, o outcome) bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(o.run(), rundir.HistoryFile))
	if err != nil {
		t.Fatal(err)
	}
	return lossSignals(t, o) > 0 || strings.Contains(string(text), `"type":"fail","f":"renew"`)
}

// On loopback, where namespaces are refused, pauses work all the same.
func TestPauseWithoutNamespaces(t *testing.T) {
	t.Parallel()
	o := outcome{out: t.TempDir()}
	cmd := exec.Command(program, endingAt(harmed, slices.Concat(pauseRun, []string{"--seed=3", "--time-limit=10s", "--out=" + o.out})...)...)
	cmd.Env = append(os.Environ(), "LOCKCHECK_NAMESPACES=off")
	if o = finish(t, cmd, o); o.code != 1 {
		t.Errorf("exit %d, want 1", o.code)
	}
}

// A run that the user stops leaves with 130 and keeps what it has.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	o := outcome{out: t.TempDir()}
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	cmd := exec.CommandContext(ctx, program, "run", "--backend=etcd", "--nemesis=pause", "--time-limit=60s", "--out="+o.out)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	defer placeFor(cmd)()
	interrupted, recorded := make(chan time.Time, 1), filepath.Join(o.run(), rundir.HistoryFile)
	go func() { // not before there is something to judge, however long the start takes
		if inEffect(recorded, effectTimeout) {
			interrupted <- time.Now()
			interrupt()
		}
	}()
	if o = finishAtOnce(t, cmd, o); o.code != 130 {
		t.Fatalf("exit %d, want 130", o.code)
	}
	if took := time.Since(<-interrupted); took > 30*time.Second {
		t.Errorf("it took %v to stop", took)
	}
	cmd = exec.Command(program, "check", o.run(), "--quiet")
	text, _ := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != 1 && code != 2 {
		t.Errorf("what was recorded is judged with exit %d, want a violation or inconclusive:\n%s", code, text)
	}
}
