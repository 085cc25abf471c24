package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"lockcheck/checker/model"
	"lockcheck/clusters"
	"lockcheck/cmd/internal/harness"
	"lockcheck/reports/compare"
	"lockcheck/reports/rundir"
)

// processRunner makes each run as a process of its own: a run enters namespaces by starting its program again, which it
// can do only once.
type processRunner struct {
	program    string
	dir        string // of the comparison
	sideBySide int    // runs that may be at work at the same time, here and in other shards
	notice     func(line string)
}

// Run makes one run and reads what it says.
func (r *processRunner) Run(ctx context.Context, job compare.Job) compare.Run {
	flags := append(arguments(job.Flags), fmt.Sprintf("--seed=%d", job.Seed))
	own := job.RunDir()
	runs := filepath.Join(r.dir, filepath.FromSlash(own))
	failed := failedRun(job, exitDefect)

	_ = os.Mkdir(runs, 0o755) // if that fails, the run says why it has no place
	beside := []string{"--out=" + runs, "--json", "--quiet"}
	if rate := ratePerRun(job.Flags, r.sideBySide); rate > 0 {
		beside = append(beside, fmt.Sprintf("--%s=%d", clusters.FlagMaxRate, rate))
	}
	if job.Expect != nil {
		words, err := expectedWords(job.Expect)
		if err != nil {
			failed.Error = fmt.Sprintf("cannot tell the run what is expected of it: %v", err)
			return failed
		}
		beside = append(beside, "--"+expectedFlag+"="+words)
	}
	cmd := harness.Process(ctx, r.program, append(append([]string{"run"}, flags...), beside...)...)
	var stdout bytes.Buffer
	tail := &harness.Tail{Max: 4 << 10}
	stderr := &noticed{to: tail, notice: r.notice}
	cmd.Stdout, cmd.Stderr = &stdout, stderr
	before := latest(runs)
	err := harness.RunProcess(cmd)
	stderr.end()
	if after := latest(runs); after != before {
		failed.Dir = path.Join(own, after)
	}
	if cmd.ProcessState == nil {
		failed.Error = fmt.Sprintf("cannot start %s: %v", r.program, err)
		return failed
	}
	code := cmd.ProcessState.ExitCode()
	if code < 0 {
		failed.Error = fmt.Sprintf("the run was ended from outside (%v)", cmd.ProcessState)
		return failed
	}
	run, err := read(stdout.Bytes(), code)
	if err != nil {
		failed.ExitCode, failed.Error = code, strings.TrimSpace(tail.String())
		if _, verdict := verdictOf[code]; verdict || failed.Error == "" {
			failed.Error = strings.TrimSpace(err.Error() + "\n" + failed.Error)
		}
		return failed
	}
	run.Seed, run.Command, run.Dir, run.ExitCode = job.Seed, failed.Command, failed.Dir, code
	if report := path.Join(run.Dir, rundir.ReportFile); run.Dir != "" {
		if _, err := os.Stat(filepath.Join(r.dir, filepath.FromSlash(report))); err == nil {
			run.Report = report
		} else {
			run.Unwritten = cmp.Or(strings.TrimPrefix(strings.TrimSpace(tail.String()), "lockcheck: warning: "), "it is not there")
		}
	}
	return run
}

// failedRun is a run that came to no verdict, or has not yet.
func failedRun(job compare.Job, code int) compare.Run {
	return compare.Run{Seed: job.Seed, Command: slices.Concat([]string{"lockcheck", "run"}, arguments(job.Flags), []string{fmt.Sprintf("--seed=%d", job.Seed)}), ExitCode: code,
		Properties: []compare.Property{}, Exposure: []model.Exposure{}, Story: []string{}}
}

// verdictOf are the exit codes of runs that came to a verdict.
var verdictOf = map[int]model.Verdict{exitPass: model.Pass, exitViolation: model.Violation, exitInconclusive: model.Inconclusive}

// makesRuns is what runs are made with: lockcheck's own program, and a context until a signal comes. The first one ends the runs at work,
// which clean up; a second one ends this program, and the runs with it.
func makesRuns(ctx context.Context) (program string, until context.Context, stop func(), err error) {
	if program, err = os.Executable(); err != nil {
		return "", nil, nil, fmt.Errorf("cannot find lockcheck's own program, which makes the runs: %w", err)
	}
	until, stop = harness.UntilEnded(ctx)
	context.AfterFunc(until, stop)
	return program, until, stop, nil
}

// read takes the results that a run printed. They have to agree with its exit code.
func read(text []byte, code int) (compare.Run, error) {
	verdict, ok := verdictOf[code]
	if !ok {
		return compare.Run{}, fmt.Errorf("the run came to no verdict (exit %d)", code)
	}
	var results rundir.Results
	if err := json.Unmarshal(text, &results); err != nil {
		return compare.Run{}, fmt.Errorf("the run exited with %d, and its results cannot be read: %w", code, err)
	}
	if results.Verdict != verdict {
		return compare.Run{}, errors.New("the run exited with " + fmt.Sprint(code) + ", and its results say " + string(results.Verdict))
	}
	return compare.NewRun(results), nil
}

// latest is the name of the newest run in a directory, "" if there is none.
func latest(runs string) string {
	name, err := os.Readlink(filepath.Join(runs, "latest"))
	if err != nil {
		return ""
	}
	return name
}
